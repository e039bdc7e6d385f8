package solvers

import "math"

// tie warns when a and b, next to each other at one time, give different
// results in the other order. Two explicit events that their priorities order are not a tie.
func (s *Solver) tie(a, b *member) {
	if a.kind != MarkFire || b.kind != MarkFire || b.caused ||
		a.priority != b.priority && a.instant >= 0 && b.instant >= 0 {
		return
	}
	both := [2]Firing{a.firing, b.firing}
	for k := range both {
		both[k].Nth = s.historyAt(both[k]).count
	}
	for k := range 2 {
		s.sys.Affect(both[k], s.t, s.y, s.d, s.ym, s.dm)
		s.sys.Enter(s.dm, s.m)
		s.sys.Affect(both[1-k], s.t, s.ym, s.dm, s.alt[k], s.altD[k])
		s.sys.Enter(s.d, s.m)
	}
	if !alike(s.alt[0], s.alt[1]) || !alike(s.altD[0], s.altD[1]) {
		s.warn(Warning{Kind: Tie, T: s.t, Name: s.memberName(a), Other: s.memberName(b), Instant: -1})
	}
}

// alike reports whether x and y agree to rounding.
func alike(x, y []float64) bool {
	for i, v := range x {
		if d := math.Abs(v - y[i]); d > float64(1e-12*max(math.Abs(v), math.Abs(y[i]))) {
			return false
		}
	}
	return true
}
