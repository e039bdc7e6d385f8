package record

import (
	"fmt"
	"math"
	"slices"
)

// CheckpointKind says which states of a run a Trajectory keeps.
type CheckpointKind uint8

// The kinds of checkpointing.
const (
	// CheckpointAuto keeps every step with its stages while Trajectory.Limit allows it. Beyond that it keeps only
	// states, and where these grow too many, every second of them, every fourth and so on.
	CheckpointAuto  CheckpointKind = iota
	CheckpointAll                  // every step with its stages
	CheckpointEvery                // the state before every k-th step
	// CheckpointBinomial keeps a given number of states, placed so that as few steps as possible are recomputed.
	CheckpointBinomial
)

// Checkpoint says what a Trajectory keeps of a run. What it does not keep is recomputed when it is read, to the same
// bits.
type Checkpoint struct {
	Kind  CheckpointKind
	Every int // of CheckpointEvery: k; 0 and 1 mean every state
	// Of CheckpointBinomial: the number of states in memory and in a file, the state at the start included. If both
	// are 0, half of Trajectory.Limit is filled with states in memory. Of CheckpointEvery: with RAM above 0 only so
	// many states, the last ones, are in memory, and all others are in a file.
	RAM, Disk int
	// Of CheckpointBinomial: what is kept are whole steps, each with its stages and its end. They are not recomputed
	// for their stages. RAM and Disk then count steps; the state at the start is kept besides.
	Stages bool
}

// InFile reports whether some of the states are in a file, however few they are.
func (c Checkpoint) InFile() bool { return c.Disk > 0 || c.Kind == CheckpointEvery && c.RAM > 0 }

// String returns the policy as a settings block has it.
func (c Checkpoint) String() string {
	switch {
	case c.Kind == CheckpointEvery && c.RAM > 0:
		return fmt.Sprintf("states(every = %d, ram = %d)", max(c.Every, 1), c.RAM)
	case c.Kind == CheckpointEvery && c.Every > 1:
		return fmt.Sprintf("states(%d)", c.Every)
	case c.Kind == CheckpointEvery:
		return "states"
	case c.Kind != CheckpointBinomial:
		return "all"
	}
	word, one := "revolve", "binomial"
	if c.Stages {
		word, one = "stages", "stages"
	}
	switch {
	case c.Disk > 0 && c.RAM == 0:
		return fmt.Sprintf("%s(disk = %d)", word, c.Disk)
	case c.Disk > 0:
		return fmt.Sprintf("%s(ram = %d, disk = %d)", word, c.RAM, c.Disk)
	case c.RAM > 0:
		return fmt.Sprintf("%s(%d)", one, c.RAM)
	}
	return one
}

// Replays returns the least number of steps to recompute in order to have the states before all of n steps one after
// the other, from the last step to the first, with room for s states, that at the start included:
//
//	t(n, s) = r n - β(s+1, r-1),   β(s, r) = C(s+r, s),   r the least number with n ≤ β(s, r).
//
// Where the stages of a step are wanted as well, it is recomputed once more.
//
// Source: Griewank, Walther, ACM Transactions on Mathematical Software 26 (2000) 19–45 (algorithm 799).
func Replays(n, s int) int {
	s = max(min(s, n), 1) // more states save nothing
	steps := 0
	for r := 0; beta(s, r) < n; r++ {
		steps += n - beta(s, r) // β(s+1, r-1) is the sum of β(s, i) for i < r
	}
	return steps
}

// ReplaysOfStages returns the least number of steps to recompute in order to have all of n steps with their stages one
// after the other, from the last to the first, once they have been made: with room for s steps, and the state at the
// start at hand. A step that is kept ends in a state to go on from and needs no recomputing. With m steps made before
// the first of those that are kept,
//
//	F(n, s) = min over m: m + F(n-m, s-1) + F(m-1, s),   F(n, 0) = n (n+1)/2,
//
// counts the n steps of the run as well. That is the recursion of [Replays]: F(n, s) = t(n+1, s+1).
//
// Source: Zhang, Constantinescu, Optimal checkpointing for adjoint multistage time-stepping schemes, arXiv 2106.13879.
func ReplaysOfStages(n, s int) int {
	return Replays(n+1, min(s, n)+1) - n
}

// Split returns the number m of steps, out of n > 1, after which the next state is kept, with room for s > 1 states.
// This leaves m + t(m, s) + t(n-m, s-1) steps to recompute. Since t is convex and piecewise linear, with slope r
// where β(s, r-1) ≤ n ≤ β(s, r), that is least from m = max(β(s, r-2), n - β(s-1, r)) to the value returned.
func Split(n, s int) int {
	s = min(s, n)
	r := repetitions(n, s)
	return min(beta(s, r-1), n-beta(s-1, r-1))
}

// repetitions returns the least r with n ≤ β(s, r): no step is made more often.
func repetitions(n, s int) int {
	r := 0
	for beta(s, r) < n {
		r++
	}
	return r
}

// beta returns β(s, r) = C(s+r, s), 0 for negative arguments, and at most math.MaxInt32.
func beta(s, r int) int {
	if s < 0 || r < 0 {
		return 0
	}
	k, b := min(s, r), 1
	for i := 1; i <= k; i++ {
		if b = b * (s + r - k + i) / i; b > math.MaxInt32 {
			return math.MaxInt32
		}
	}
	return b
}

// place decides, before unit u of a run that is being made, which of the states kept so far stay, and whether the
// state before u is kept. It returns the level of u's state, or -1.
//
// The binomial placement does not know how many steps are to come. At every time the states lie so that no step would
// be recomputed more often than with the best placement for the steps so far. Every state has a level. A state is
// dispensable when a later one has a higher level. While there is room, a new state gets level 0. Otherwise it takes
// the place of a dispensable state; and if there is none, that of the last state, and its level is one higher.
//
// Where the number of units is known, up to that number only those states are kept that the way back wants first.
//
// Source: Wang, Moin, Iaccarino, SIAM Journal on Scientific Computing 31 (2009) 2549–2567; see Stumm, Walther, SIAM
// Journal on Scientific Computing 32 (2010) 836–854.
func (s *states) place(u int) (level int) {
	n := len(s.list) - s.gaps
	switch {
	case u < s.next:
		return -1
	case u < s.expected:
		s.next = s.after(u, s.room()-n-1)
		return 0
	case n < s.room():
		return 0
	case n == 0:
		return -1
	}
	// The last of the dispensable states goes. A state of level 0 behind the others makes none of them dispensable: the
	// search goes on where it found the one before. Nor does one that is not dispensable: when it was the last of all,
	// those of lower levels before it went.
	last := len(s.list) - 1
	if s.scanned < 0 {
		s.scanned, s.most = last, s.list[last].level
	}
	for s.scanned > 0 {
		s.scanned--
		if k := &s.list[s.scanned]; !k.gone && k.level < s.most {
			s.release(k)
			k.gone = true
			if s.gaps++; s.gaps > len(s.list)/8 {
				s.settle() // what comes before the gaps stays where it is
			}
			return 0
		}
	}
	s.settle() // the next search passes all of them
	last = len(s.list) - 1
	level = s.list[last].level + 1
	s.drop(last)
	return level
}

// expect places states for a run of so many units; 0 for a number that is not known.
func (s *states) expect(units int) {
	s.expected = units
	s.next = s.after(0, s.room())
}

// after returns the unit after u before which a state is kept, with room for so many more; expected where none is.
func (s *states) after(u, room int) int {
	if left := s.expected - u; left > 1 && room > 0 {
		return u + s.split(left, room)
	}
	return s.expected
}

// Split returns the number of steps, out of so many that are left, after which the next state is kept, with room for
// so many more.
func (s *states) split(left, room int) int {
	if s.whole {
		left++ // see ReplaysOfStages
	}
	return Split(left, min(room, left)+1)
}

// spread drops states until at most n are left, spread evenly over all units.
func (s *states) spread(n, units int) {
	s.settle()
	if len(s.list) <= n {
		return
	}
	gap := (units + n) / (n + 1)
	next := gap
	for i := 0; i < len(s.list); {
		if k := &s.list[i]; k.unit < next || i >= n {
			s.drop(i)
			continue
		}
		next = s.list[i].unit + gap
		i++
	}
}

// strided drops the states of units that are not multiples of stride.
func (s *states) strided(stride int) {
	s.settle()
	s.list = slices.DeleteFunc(s.list, func(k keptState) bool {
		if k.unit%stride == 0 {
			return false
		}
		s.release(&k)
		return true
	})
}
