package vm

import "slices"

// allotter hands out places in the register file, first fit, and takes back those of dead values.
type allotter struct {
	free []span // ascending, never touching
	end  int
}

type span struct{ at, size int }

// take returns a place for size elements.
func (a *allotter) take(size int) int {
	best := -1
	for i, s := range a.free {
		if s.size >= size && (best < 0 || s.size < a.free[best].size) {
			best = i
		}
	}
	if best < 0 {
		at := a.end
		if n := len(a.free); n > 0 && a.free[n-1].at+a.free[n-1].size == a.end {
			at = a.free[n-1].at // extend the last free place
			a.free = a.free[:n-1]
		}
		a.end = at + size
		return at
	}
	s := &a.free[best]
	at := s.at
	s.at += size
	s.size -= size
	if s.size == 0 {
		a.free = slices.Delete(a.free, best, best+1)
	}
	return at
}

// give takes a place back.
func (a *allotter) give(at, size int) {
	i, _ := slices.BinarySearchFunc(a.free, at, func(s span, at int) int { return s.at - at })
	a.free = slices.Insert(a.free, i, span{at, size})
	if i+1 < len(a.free) && at+size == a.free[i+1].at {
		a.free[i].size += a.free[i+1].size
		a.free = slices.Delete(a.free, i+1, i+2)
	}
	if i > 0 && a.free[i-1].at+a.free[i-1].size == at {
		a.free[i-1].size += a.free[i].size
		a.free = slices.Delete(a.free, i, i+1)
	}
}
