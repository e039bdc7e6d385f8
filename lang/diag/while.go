package diag

// What parses, checks and compiles a text can take long, and has a list in hand wherever it is. So the list tells that
// nobody waits any more.

// Abandoned is what Look panics with. Those recover it who gave the list to work by While.
type Abandoned struct{}

// While makes work with the list end once done is closed: at its next Look.
func (l *List) While(done <-chan struct{}) { l.done = done }

// Done is what While was called with.
func (l *List) Done() <-chan struct{} { return l.done }

// Ended reports whether nobody waits any more. What the list holds means nothing then.
func (l *List) Ended() bool {
	select {
	case <-l.done:
		return true
	default:
		return false
	}
}

// Look panics with Abandoned if nobody waits any more. Loops over what a text may have thousands of call it.
func (l *List) Look() {
	if l.done != nil && l.Ended() {
		panic(Abandoned{})
	}
}

// Leave recovers the panic of Look, where it is deferred.
func Leave() {
	switch p := recover().(type) {
	case nil, Abandoned:
	default:
		panic(p)
	}
}
