package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/roots"
)

// Guards that are not affine in time and states are no polynomials on the dense output, however near the polynomials
// through their samples may come. They are enclosed: Bernstein's coefficients bound the states over a part of the step,
// and interval arithmetic bounds the guards over the ranges of the states. Where that leaves zero out over the whole
// step, there is nothing more to do. Else the step is halved, left parts first, until each part has no zero, or is
// monotone, or is so short that the guard is zero there but for rounding. A sample is added where the guard has
// another sign than at the sample before.
//
// That has bounds. Where they are reached, the step is tried anew up to where nothing is hidden, or a warning says that
// something may be.

// The bounds of the search.
const (
	fullBoxes = 16384 // parts that may be looked at, beyond boxCredit a step
	boxCredit = 16
	mostBoxes = 1500 // in a step
	partLevel = 48   // halvings
	// leastPart is the part of a step that must have been settled for the step to end there when mostBoxes is used up.
	leastPart = 0x1p-6
	// faint is the part of the largest margin so far below which a margin near zero is not told from one that is zero.
	faint = 1e-11
)

// enclosures is the part of a Solver that encloses guards.
type enclosures struct {
	sys            solvers.Enclosing
	guards, states []int
	values         [][]float64     // [n+1][states] at the nodes of the trial step, for the largest degree n of a member
	left, right    [][]float64     // [level][states·(n+1)] Bernstein's coefficients
	off            []float64       // [states] how far rounding takes the polynomials from the states
	y, yd          []solvers.Range // [states]
	rho, slope     []solvers.Range // [guards] over the part looked at last
	ends, spare    []solvers.Range // [guards] at an end of the step
	noise          []float64       // [guards] how much of a margin may be rounding
	doubt          [][]bool        // [level][guards]
	used           int             // parts that were looked at in this step
	credit         int
	limit          float64 // behind it nothing matters: something fires there
	settled        float64 // where nothing more may be looked at; nothing is hidden before it
	open           []bool  // [guards] that may be hidden behind it
	retaken        int     // trial steps in a row that retakes ended
	retakes        int     // trial steps that it ended in this run
	broken         bool
	err            error
}

func newEnclosures(sys solvers.System, members []solvers.Info) enclosures {
	e := enclosures{}
	var ok bool
	if e.sys, ok = sys.(solvers.Enclosing); !ok {
		return e
	}
	if e.guards, e.states = e.sys.Bent(); len(e.guards) == 0 {
		return e
	}
	n, g, degree := len(e.states), len(e.guards), 0
	for i := range members {
		degree = max(degree, members[i].ReadDegree())
	}
	for range degree + 1 {
		e.values = append(e.values, make([]float64, n))
	}
	for range partLevel + 1 {
		e.left, e.right = append(e.left, make([]float64, n*(degree+1))), append(e.right, make([]float64, n*(degree+1)))
		e.doubt = append(e.doubt, make([]bool, g))
	}
	e.off, e.y, e.yd = make([]float64, n), make([]solvers.Range, n), make([]solvers.Range, n)
	e.ends, e.spare = make([]solvers.Range, g), make([]solvers.Range, g)
	e.rho, e.slope, e.noise = make([]solvers.Range, g), make([]solvers.Range, g), make([]float64, g)
	e.open = make([]bool, g)
	return e
}

// keep notes the states that bent guards read at node k of the trial step.
func (s *Solver) keep(k int, y []float64) {
	for j, i := range s.boxes.states {
		s.boxes.values[k][j] = y[i]
	}
}

// hidden adds the samples that enclosures show to be missing. It returns false where the step is to be tried anew:
// shorter, or because a guard is not a number.
func (s *Solver) hidden() (ok bool, err error) {
	e := &s.boxes
	e.credit = min(e.credit+boxCredit, fullBoxes)
	n := s.N
	for j := range e.states {
		largest, last := 0.0, 0.0
		for k, v := range e.values[:n+1] {
			largest = max(largest, math.Abs(v[j]))
			w := v[j]
			if k == 0 || k == n {
				w *= 0.5
			}
			if k%2 == 1 {
				w = -w
			}
			last += w
		}
		// The last coefficient is zero but for rounding, if the dense output is what it is said to be.
		e.off[j] = float64(2*math.Abs(last))/float64(n) + float64(0x1p-52*s.Amplify*largest)
		for r := range n + 1 {
			sum := 0.0
			for k, v := range e.values[:n+1] {
				sum = math.FMA(s.Rows[r*(n+1)+k], v[j], sum)
			}
			e.left[0][j*(n+1)+r] = sum
		}
	}
	e.used, e.limit, e.broken, e.err = 0, 1, false, nil
	clear(e.open)
	if !s.doubtful(e.left[0], 0, 1, 0) {
		return true, nil
	}
	s.setNoise()
	s.firstFires()
	done := s.part(e.left[0], 0, 1, 0)
	e.credit = max(e.credit-e.used, 0)
	if !done {
		if e.broken {
			return false, e.err
		}
		// The parts that may be looked at are used up. A shorter step has as many again.
		if tr := s.trial; s.opts.Fixed == 0 && e.settled >= leastPart && e.credit > 0 {
			if h := float64(e.settled * tr.H); h > s.least() {
				s.stats.Rejected++
				s.cut = h
				return false, nil
			}
		}
		for g, i := range e.guards {
			if e.open[g] && !s.guards[i].Kink {
				s.warn(solvers.Warning{
					Kind: solvers.Hidden, T: math.FMA(e.settled, s.trial.H, s.trial.T), Name: s.guardName(i),
					Instant: -1,
				})
			}
		}
	}
	return true, nil
}

// setNoise sets how wide enclosures are at the ends of the step.
func (s *Solver) setNoise() {
	e := &s.boxes
	clear(e.noise)
	for _, k := range [2]int{0, s.N} {
		for j, x := range e.values[k] {
			e.y[j], e.yd[j] = solvers.Range{Lo: x - e.off[j], Hi: x + e.off[j]}, solvers.Range{}
		}
		t := math.FMA(s.Nodes[k], s.trial.H, s.trial.T)
		e.sys.Enclose(solvers.Range{Lo: t, Hi: t}, e.y, e.yd, e.ends, e.spare)
		for g, r := range e.ends {
			if w := r.Hi - r.Lo; w <= math.MaxFloat64 {
				e.noise[g] = max(e.noise[g], float64(8*w))
			}
		}
	}
	for g, i := range e.guards {
		e.noise[g] = max(e.noise[g], float64(faint*s.reach[i]))
	}
}

// firstFires sets the limit to the first sample at which something fires.
func (s *Solver) firstFires() {
	at := len(s.samples)
	for i := range s.guards {
		_, j := s.play(i, at)
		at = min(at, j)
	}
	if at < len(s.samples) {
		s.boxes.limit = s.samples[at].Theta
	}
}

// doubtful encloses the guards over [lo, hi] of the step, where b holds the coefficients of the states. It notes which
// guards may have another sign there than at the sample before, and reports whether there are any.
func (s *Solver) doubtful(b []float64, lo, hi float64, level int) (some bool) {
	e, tr, n := &s.boxes, s.trial, s.N
	w := float64((hi - lo) * tr.H)
	for j, off := range e.off {
		least, most, up, down := bernstein.Extremes(b[j*(n+1) : (j+1)*(n+1)])
		e.y[j] = solvers.Range{Lo: least - off, Hi: most + off}
		e.yd[j] = solvers.Range{
			Lo: float64(float64(n)*(up-float64(2*off))) / w,
			Hi: float64(float64(n)*(down+float64(2*off))) / w,
		}
	}
	t := solvers.Range{Lo: math.FMA(lo, tr.H, tr.T), Hi: math.FMA(hi, tr.H, tr.T)}
	if hi == 1 {
		t.Hi = max(t.Hi, tr.T1)
	}
	e.used++
	e.sys.Enclose(t, e.y, e.yd, e.rho, e.slope)
	before := s.sampleBefore(lo)
	for g, i := range e.guards {
		r := e.rho[g]
		same := r.Lo > 0 && before.Rho[i] > 0 || r.Hi < 0 && before.Rho[i] < 0
		e.doubt[level][g] = !s.arms[i].dead && !same
		some = some || e.doubt[level][g]
	}
	return some
}

// sampleBefore returns the last sample at theta or before.
func (s *Solver) sampleBefore(theta float64) *roots.Sample {
	p := s.start
	for _, q := range s.samples {
		if q.Theta > theta {
			break
		}
		p = q
	}
	return p
}

// part adds the samples that are missing within [lo, hi]. The guards have been enclosed there, and some are in doubt.
// It returns false where it is not finished.
func (s *Solver) part(b []float64, lo, hi float64, level int) bool {
	e, n := &s.boxes, s.N
	doubt := e.doubt[level]
	simple, small := true, true
	for g := range e.guards {
		if !doubt[g] {
			continue
		}
		r, d := e.rho[g], e.slope[g]
		bounded := d.Hi-d.Lo <= math.MaxFloat64
		tiny := r.Hi-r.Lo <= e.noise[g]
		simple = simple && (tiny || r.Lo > 0 || r.Hi < 0 || bounded && (d.Lo >= 0 || d.Hi <= 0))
		small = small && tiny
	}
	middle := float64(0.5 * (lo + hi))
	if simple || level == partLevel || !(float64((hi-lo)*s.trial.H) > float64(2*elem.ULP(s.trial.T1))) {
		return small || hi >= e.limit || s.shows(hi)
	}
	if e.used >= min(mostBoxes, e.credit) {
		e.settled = lo
		s.leaveOpen(level)
		return false
	}
	// The mean value, with the slopes over the whole part.
	clear := true
	if middle < e.limit {
		p, err := s.probeAt(middle)
		if p == nil {
			e.broken, e.err = true, err
			return false
		}
		for g, i := range e.guards {
			if doubt[g] {
				steep := max(math.Abs(e.slope[g].Lo), math.Abs(e.slope[g].Hi))
				far := float64(float64(float64(0.5*(hi-lo))*s.trial.H) * steep)
				at := s.sampleBefore(lo).Rho[i]
				clear = clear && roots.Sign(at) == roots.Sign(p.Rho[i]) && math.Abs(p.Rho[i])-far > e.noise[g]
			}
		}
		s.add(p)
		if clear {
			return true
		}
	}
	l, r := e.left[level+1], e.right[level+1]
	copy(r, b)
	for at := 0; at < len(e.states)*(n+1); at += n + 1 { // a member of a higher degree needs more room
		bernstein.Halve(l[at:at+n+1], r[at:at+n+1])
	}
	if s.doubtful(l, lo, middle, level+1) && !s.part(l, lo, middle, level+1) {
		if middle < e.limit && s.doubtful(r, middle, hi, level+1) {
			s.leaveOpen(level + 1)
		}
		return false
	}
	return middle >= e.limit || !s.doubtful(r, middle, hi, level+1) || s.part(r, middle, hi, level+1)
}

// leaveOpen notes the guards in doubt in the part of a level that was looked at last.
func (s *Solver) leaveOpen(level int) {
	for g, doubt := range s.boxes.doubt[level] {
		s.boxes.open[g] = s.boxes.open[g] || doubt
	}
}

// shows adds a sample at theta if it differs from the one before. It returns false where a guard is not a number.
func (s *Solver) shows(theta float64) bool {
	p, err := s.probeAt(theta)
	if p == nil {
		s.boxes.broken, s.boxes.err = true, err
		return false
	}
	s.add(p)
	return true
}

// add adds sample p if a bent guard has another sign there than at the sample before. Where something fires there,
// what comes later does not matter.
func (s *Solver) add(p *roots.Sample) {
	e := &s.boxes
	before := s.sampleBefore(p.Theta)
	for g, i := range e.guards {
		if s.arms[i].dead || p.Truth[i] == before.Truth[i] && roots.Sign(p.Rho[i]) == roots.Sign(before.Rho[i]) ||
			max(math.Abs(p.Rho[i]), math.Abs(before.Rho[i])) <= e.noise[g] {
			continue
		}
		s.insert(p)
		s.firstFires()
		e.credit = fullBoxes
		return
	}
	s.used--
}

// retakes reports whether the step is to be tried anew, up to sample at, if real steps do not show what bent guards do
// there. A peak may be narrower than the dense output is off. At the end of a step it is not.
func (s *Solver) retakes(at int) bool {
	// A guard that rests near its root seems to fire again and again: not many more steps are taken anew than events
	// are found.
	const inARow, beyond = 2, 16
	p := s.samples[at]
	if s.opts.Fixed > 0 || p.Theta == 1 || !(p.H > s.least()) ||
		s.boxes.retaken == inARow || s.boxes.retakes >= beyond+s.stats.Events+s.stats.Switches {
		return false
	}
	for _, i := range s.boxes.guards {
		if _, j := s.play(i, at+1); j == at {
			return true
		}
	}
	return false
}
