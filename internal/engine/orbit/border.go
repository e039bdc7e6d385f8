package orbit

import (
	"cmp"
	"math"
	"slices"

	"odes.dev/odes/solvers"
)

// Border is what a period begins with, or what is left at its end, as the next one sees it: times that discretes hold
// are those of a period that begins at the same time as the run.
type Border struct {
	Y, D []float64 // states and discretes
	// Timed tells which discretes hold times.
	Timed []bool
	// Active are the discretes that events change and that wait to be read. They belong to the state that repeats.
	Active []int
	// Set are those that hold nothing: of executions that do not wait.
	Set []int
	// From tells, of the border at the end of a period, where each discrete was before executions were put in order.
	From []int
	// Waiting is how many executions wait in each queue.
	Waiting []int
	// Sizes are the largest values of discretes within the period before; nil where they are not known.
	Sizes []float64
	// Abs are the absolute tolerances of the states in that period, which may follow their sizes; likewise.
	Abs []float64
}

// Len returns the number of elements of the state that repeats.
func (b *Border) Len() int { return len(b.Y) + len(b.Active) }

// At returns element i of that state.
func (b *Border) At(i int) float64 {
	if i < len(b.Y) {
		return b.Y[i]
	}
	return b.D[b.Active[i-len(b.Y)]]
}

// Each calls do for each discrete at a place that the border decides: element k of the state that repeats, and whether
// it holds a time, or -1 where it holds nothing.
func (b *Border) Each(do func(k, at int, timed bool)) {
	for k, at := range b.Active {
		do(len(b.Y)+k, at, b.Timed[at])
	}
	for _, at := range b.Set {
		do(-1, at, false)
	}
}

// Moved returns a copy of b that is moved by delta.
func (b *Border) Moved(delta []float64) *Border {
	c := *b
	c.Y, c.D = slices.Clone(b.Y), slices.Clone(b.D)
	for i, x := range delta {
		if i < len(b.Y) {
			c.Y[i] += x
		} else {
			c.D[b.Active[i-len(b.Y)]] += x
		}
	}
	return &c
}

// Alike reports whether a and b have the same structure: the same discretes are active and hold times, and as many
// executions wait.
func (b *Border) Alike(a *Border) bool {
	return slices.Equal(a.Active, b.Active) && slices.Equal(a.Waiting, b.Waiting) && slices.Equal(a.Timed, b.Timed)
}

// Queue has the places of what is kept of the executions of one element of an event: of each slot the time, and what
// its trigger captured.
type Queue struct {
	When []int
	Kept [][]int
}

// Turn makes of discretes d at the end of a period, of which timed hold times, what the next period begins with:
// executions that wait are in the order of their times, and times are earlier by the length of the period. It fills
// D, Timed, Set, From and Waiting.
func (b *Border) Turn(d []float64, timed []bool, queues []Queue, t0, period float64) {
	b.D, b.Timed, b.Set = slices.Clone(d), slices.Clone(timed), nil
	b.From, b.Waiting = make([]int, len(d)), make([]int, len(queues))
	for i := range b.From {
		b.From[i] = i
	}
	for k, q := range queues {
		order := make([]int, len(q.When))
		for s := range order {
			order[s] = s
		}
		slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(d[q.When[i]], d[q.When[j]]) })
		for s, from := range order {
			for i, at := range append([]int{q.When[s]}, q.Kept[s]...) {
				old := append([]int{q.When[from]}, q.Kept[from]...)[i]
				if b.From[at] = old; d[q.When[from]] >= solvers.Never {
					b.D[at], b.Timed[at] = 0, false
					b.Set = append(b.Set, at)
				} else {
					b.D[at], b.Timed[at] = d[old], timed[old]
				}
			}
			if d[q.When[from]] >= solvers.Never {
				b.D[q.When[s]] = solvers.Never
			} else {
				b.Waiting[k]++
			}
		}
	}
	for i, is := range b.Timed {
		if !is {
			continue
		}
		if b.D[i] -= period; math.Abs(b.D[i]-t0) <= float64(Close*period) {
			b.D[i] = t0
		}
	}
	slices.Sort(b.Set)
}
