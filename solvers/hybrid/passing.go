package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/solvers"
)

// Passing is a System whose right-hand side has parts that may be large in a small part of a step: bells of states,
// which no stage may come near. On the dense output they are functions of time, and what is between the nodes of a step
// is looked for there.
type Passing interface {
	solvers.System
	// NarrowStates lists the states that these parts read. Without any, the other methods are not called.
	NarrowStates() []int
	// Calm reports whether no part becomes much larger than at (t0, y0) while these states stay within [least, most],
	// up to t1. It costs little where it is true of one step after the other.
	Calm(t0, t1 float64, y0, least, most []float64) bool
	// Look looks for what the parts do along a path of these states that their values at times, the nodes of the step
	// in ascending order, do not show. It returns the end of the path if there is nothing, or that of a shorter step
	// that comes nearer, or shows more of it. Stages may be off the path by off, so that they need not show what is
	// narrower. part names the part in question. It is not sure where looking took too long.
	Look(p *bernstein.Path, times, off []float64) (end float64, part string, sure bool)
	// Beside looks for parts that are large within off of the states of a path, but not on it: where the path turns,
	// and at its end if it is the last one. It returns a time and a part, "" for none.
	Beside(p *bernstein.Path, off []float64, last bool) (t float64, part string)
}

// passing is the part of a Solver that keeps steps from passing over narrow parts.
type passing struct {
	narrow          Passing // nil for none
	states          []int
	y0, least, most []float64
	off, low, high  []float64 // how far these states may be off, and bounds of them with that
	path            bernstein.Path
	bases           []*bernstein.Basis // of each member of the method
	near            float64            // while a narrow part is: a time as long as some passages take; else 0
}

// mayBeOff is how many times its tolerance a state may be off in the course of a run.
const mayBeOff = 10

// passages is how many times longer near is than the shortest step there.
const passages = 1000

func newPassing(sys solvers.System, members []solvers.Info) passing {
	narrow, ok := sys.(Passing)
	if !ok || len(narrow.NarrowStates()) == 0 {
		return passing{}
	}
	p := passing{narrow: narrow, states: narrow.NarrowStates()}
	n, degree := len(p.states), 0
	for i := range members {
		p.bases = append(p.bases, bernstein.Of(members[i].ReadDegree()))
		degree = max(degree, p.bases[i].N)
	}
	p.y0, p.least, p.most = make([]float64, n), make([]float64, n), make([]float64, n)
	p.off, p.low, p.high = make([]float64, n), make([]float64, n), make([]float64, n)
	for range degree + 1 {
		p.path.Values = append(p.path.Values, make([]float64, n))
	}
	return p
}

// passes reports whether the trial step, which is accurate enough, passes over something that its stages do not show.
// It is to be made again then, and shorter.
func (v *sight) passes(s *Solver) bool {
	p, tr := &v.passing, s.trial
	_, cheap := s.choice.members[s.member].(solvers.Arithmetical) // whose rows are slopes
	if cheap = cheap && p.between(s, len(s.info.Nodes)); !cheap {
		p.follow(s)
	}
	p.widen(s)
	if p.narrow.Calm(tr.T, tr.T1, p.y0, p.low, p.high) {
		p.near = 0
		return false
	}
	calm := p.narrow.Calm(tr.T, tr.T1, p.y0, p.least, p.most)
	if cheap {
		p.follow(s)
	}
	if calm {
		p.near = 0
		return p.skirts(s)
	}
	if near := float64(passages * tr.H); p.near == 0 || near < p.near {
		p.near = near
	}
	v.setTimes(tr)
	end, part, sure := p.narrow.Look(&p.path, v.times, p.off)
	h := end - tr.T
	switch {
	case !sure, end < tr.T1 && h < s.least(s.t):
		s.warn(solvers.Warning{Kind: solvers.Unresolved, T: tr.T, Name: part, Instant: -1})
		return false
	case !(end < tr.T1):
		return p.skirts(s)
	case s.opts.Fixed > 0:
		s.warn(solvers.Warning{Kind: solvers.Unseen, T: end, Name: part, Instant: -1})
		return false
	}
	s.stats.Rejected++
	s.cut, s.h, p.near = h, h, float64(passages*h)
	return true
}

// skirts warns of parts that are large beside the trial step, where that matters. It returns false.
func (p *passing) skirts(s *Solver) bool {
	if t, part := p.narrow.Beside(&p.path, p.off, s.trial.T1 >= s.sched.times[1]); part != "" && s.warns() {
		s.warn(solvers.Warning{Kind: solvers.Skirted, T: t, Name: part, Instant: -1})
	}
	return false
}

// widen makes bounds of the states those of the exact solution.
func (p *passing) widen(s *Solver) {
	for j, i := range p.states {
		p.off[j] = float64(mayBeOff * s.tol.Scale(i, p.least[j], p.most[j]))
		p.low[j], p.high[j] = p.least[j]-p.off[j], p.most[j]+p.off[j]
	}
}

// between bounds the states over the trial step by their values at its ends and the slopes of its stages, and a little
// more. It is cheap, and may be false.
func (p *passing) between(s *Solver, stages int) bool {
	s.lane.load()
	tr, w := s.trial, s.size.N+s.size.Q
	for j, i := range p.states {
		low, high := tr.K[i], tr.K[i]
		for at := i + w; at < stages*w; at += w {
			low, high = min(low, tr.K[at]), max(high, tr.K[at])
		}
		more := float64(0.25 * (high - low))
		p.y0[j] = tr.Y0[i]
		p.least[j], p.most[j] = bernstein.Between(tr.Y0[i], tr.Y1[i], tr.H, low-more, high+more)
		if !(p.most[j]-p.least[j] <= math.MaxFloat64) {
			return false
		}
	}
	return true
}

// follow reads the states along the trial step, and bounds them.
func (p *passing) follow(s *Solver) {
	s.lane.load()
	tr := s.trial
	p.path.T, p.path.H, p.path.T1, p.path.Basis = tr.T, tr.H, tr.T1, p.bases[s.member]
	for k, theta := range p.path.Nodes {
		y := s.yi
		switch theta {
		case 0:
			y = tr.Y0
		case 1:
			y = tr.Y1
		default:
			s.interpolate(tr, theta)
		}
		for j, i := range p.states {
			p.path.Values[k][j] = y[i]
		}
	}
	copy(p.y0, p.path.Values[0])
	p.path.Bounds(p.least, p.most)
}
