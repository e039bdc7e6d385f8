package lag

import (
	"math"
	"slices"
)

// stop is a time at which a step is to end. Order is that of the first derivative of a state that jumps there; that of
// what reads the state jumps one order lower. Truly is that order where stops are followed as if the state jumped at
// the start, and it does not.
type stop struct {
	t     float64
	order int
	truly int
	after int // the step at whose end its cause is, -1 for the start
}

// stops are those to come, by the delay after which they come. Their causes come in the order of time, and so do they.
type stops [][]stop

// opens empties the lists, of so many delays.
func (s *stops) opens(delays int) {
	for len(*s) < delays {
		*s = append(*s, nil)
	}
	for i := range *s {
		(*s)[i] = (*s)[i][:0]
	}
}

// enter enters a stop that comes after delay i, of length tau. What comes at one time is one.
func (s stops) enter(i int, tau float64, n stop) {
	tol, at := near(n.t, tau), len(s[i])
	for at > 0 && s[i][at-1].t >= n.t-tol {
		at--
	}
	if at < len(s[i]) && s[i][at].t <= n.t+tol {
		if n.truly < s[i][at].truly {
			s[i][at].truly, s[i][at].after = n.truly, n.after
		}
		s[i][at].order = min(s[i][at].order, n.order)
		return
	}
	s[i] = slices.Insert(s[i], at, n)
}

// first returns the first stop, infinite where there is none: the first of each delay that comes at one time, of the
// lowest order among them, and at the time of that which was known first, since its delay is longest.
func (s stops) first(tau []float64) stop {
	least := math.Inf(1)
	for _, list := range s {
		if len(list) > 0 {
			least = min(least, list[0].t)
		}
	}
	first, longest := stop{t: least, order: math.MaxInt, truly: math.MaxInt}, 0.0
	if math.IsInf(least, 1) { // as a rule, after a while
		return first
	}
	for i, list := range s {
		if len(list) == 0 || !(list[0].t <= least+near(least, tau[i])) {
			continue
		}
		first.truly = min(first.truly, list[0].truly)
		if first.order = min(first.order, list[0].order); tau[i] > longest {
			first.t, longest = list[0].t, tau[i]
		}
	}
	return first
}

// drop removes the stops that come at the time of the first one, and adds the causes of those of low order to list.
func (s stops) drop(first stop, tau []float64, list []cause) []cause {
	for i, of := range s {
		if len(of) > 0 && of[0].t <= first.t+near(first.t, tau[i]) {
			if of[0].truly <= bends {
				list = append(list, cause{of[0].after, i, of[0].truly})
			}
			s[i] = of[1:]
		}
	}
	return list
}
