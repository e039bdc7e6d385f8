package sens

// telling says how far a method has come with its passes over a run. Methods that go over it in one goroutine embed it.
type telling struct {
	tell   func(t, done float64, steps int)
	passes int // of the present gradient
	pass   int // those that are done
	steps  int
}

// SetTell implements Teller.
func (s *telling) SetTell(tell func(t, done float64, steps int)) { s.tell = tell }

// begin begins a gradient of so many passes.
func (s *telling) begin(passes int) {
	if s != nil {
		s.passes, s.pass, s.steps = passes, 0, 0
	}
}

// behind begins so many passes that come after others. Those count for the first half of the whole.
func (s *telling) behind(passes int) { s.passes, s.pass = 2*passes, passes }

// step tells, now and then, that i of the n steps of the present pass are done, up to time t.
func (s *telling) step(i, n int, t float64) {
	if s == nil || s.tell == nil {
		return
	}
	if s.steps++; s.steps%64 == 0 {
		part := (float64(s.pass) + float64(i)/float64(max(n, 1))) / float64(max(s.passes, 1))
		s.tell(t, min(part, 1), s.steps)
	}
}

// done tells that a pass is done.
func (s *telling) done() {
	if s != nil {
		s.pass++
	}
}
