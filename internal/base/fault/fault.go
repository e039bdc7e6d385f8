// Package fault lets tests refuse what systems refuse seldom, such as memory, at each place where it is asked for.
package fault

import "sync/atomic"

// Point is a question that a system may answer with no. The zero value never refuses.
type Point struct{ at, asked atomic.Int64 }

// Refuses reports whether this question is to be refused. It is asked once for each question.
func (p *Point) Refuses() bool {
	at := p.at.Load()
	return at > 0 && p.asked.Add(1) == at
}

// At refuses the n-th question from now on, n >= 1, and no other, until restore is called.
func (p *Point) At(n int) (restore func()) {
	p.asked.Store(0)
	p.at.Store(int64(n))
	return func() { p.at.Store(0) }
}

// Met reports whether the question that is to be refused has been asked.
func (p *Point) Met() bool { return p.asked.Load() >= p.at.Load() }
