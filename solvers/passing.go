package solvers

import (
	"math"

	"odes.dev/odes/internal/base/bernstein"
)

// Passing is a System whose right-hand side has parts that may be large in a small part of a step: bells of states,
// which no stage may come near. On the dense output they are functions of time, and what is between the nodes of a step
// is looked for there.
type Passing interface {
	System
	// NarrowStates lists the states that these parts read. Without any, the other methods are not called.
	NarrowStates() []int
	// Calm reports whether no part becomes much larger than at (t0, y0) while these states stay within [least, most],
	// up to t1. It costs little where it is true of one step after the other.
	Calm(t0, t1 float64, y0, least, most []float64) bool
	// Look looks for what the parts do along a path of these states that their values at times, the nodes of the step
	// in ascending order, do not show. It returns the end of the path if there is nothing, or that of a shorter step
	// that comes nearer, or shows more of it. part names the part in question. It is not sure where looking took too
	// long.
	Look(p *bernstein.Path, times []float64) (end float64, part string, sure bool)
}

// passing is the part of a Solver that keeps steps from passing over narrow parts.
type passing struct {
	narrow          Passing // nil for none
	states          []int
	y0, least, most []float64
	path            bernstein.Path
	bases           []*bernstein.Basis // of each member of the method
	near            float64            // while a narrow part is: a time as long as some passages take; else 0
}

// passages is how many times longer near is than the shortest step there.
const passages = 1000

func newPassing(sys System, members []Info) passing {
	narrow, ok := sys.(Passing)
	if !ok || len(narrow.NarrowStates()) == 0 {
		return passing{}
	}
	p := passing{narrow: narrow, states: narrow.NarrowStates()}
	n, degree := len(p.states), 0
	for i := range members {
		p.bases = append(p.bases, bernstein.Of(guardDegree(members[i])))
		degree = max(degree, p.bases[i].N)
	}
	p.y0, p.least, p.most = make([]float64, n), make([]float64, n), make([]float64, n)
	for range degree + 1 {
		p.path.Values = append(p.path.Values, make([]float64, n))
	}
	return p
}

// passes reports whether the trial step, which is accurate enough, passes over something that its stages do not show.
// It is to be made again then, and shorter.
func (v *sight) passes(s *Solver) bool {
	p, tr := &v.passing, s.trial
	k, cheap := s.choice.members[s.member].(*rungeKutta)
	if cheap = cheap && p.between(s, len(k.info.Nodes)); !cheap {
		p.follow(s)
	}
	if p.narrow.Calm(tr.T, tr.T1, p.y0, p.least, p.most) {
		p.near = 0
		return false
	} else if cheap {
		p.follow(s)
	}
	if near := float64(passages * tr.H); p.near == 0 || near < p.near {
		p.near = near
	}
	v.setTimes(tr)
	end, part, sure := p.narrow.Look(&p.path, v.times)
	h := end - tr.T
	switch {
	case !sure, end < tr.T1 && h < s.least():
		s.warn(Warning{Kind: Unresolved, T: tr.T, Name: part, Instant: -1})
		return false
	case !(end < tr.T1):
		return false
	case s.opts.Fixed > 0:
		s.warn(Warning{Kind: Unseen, T: end, Name: part, Instant: -1})
		return false
	}
	s.stats.Rejected++
	s.cut, s.h, p.near = h, h, float64(passages*h)
	return true
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
		low, high = low-more, high+more
		a, b, h := tr.Y0[i], tr.Y1[i], tr.H
		p.y0[j], p.least[j], p.most[j] = a, min(a, b), max(a, b)
		if low < 0 && high > 0 { // between lines of these slopes through both ends
			p.most[j] = max(p.most[j], math.FMA(high/(high-low), b-a-float64(low*h), a))
			p.least[j] = min(p.least[j], math.FMA(low/(high-low), float64(high*h)-(b-a), a))
		}
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
	for j := range p.states {
		p.least[j], p.most[j] = math.Inf(1), math.Inf(-1)
	}
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
			x := y[i]
			p.path.Values[k][j] = x
			p.least[j], p.most[j] = min(p.least[j], x), max(p.most[j], x)
			if k == 0 {
				p.y0[j] = x
			}
		}
	}
}
