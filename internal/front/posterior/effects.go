package posterior

import (
	"context"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/draws"
	"odes.dev/odes/internal/base/nuts"
)

// effects are the random effects of a population, which are drawn with the params. Their coordinates stand behind those
// of the params, subject by subject. How far they are centred is how much the data of the subject tell of them where
// the likelihood, integrated over them, is largest: there chains begin, too.
type effects struct {
	subjects []subject
	n        int
}

// subject is where the effects of a subject are.
type subject struct {
	name    string
	number  int // from 1
	at, n   int // among all effects
	names   []string
	centred []float64
}

func (f *effects) size() int {
	if f == nil {
		return 0
	}
	return f.n
}

// centre is where the coordinates are before anything is known of params.
func (f *effects) centre() []float64 { return make([]float64, f.size()) }

// newJoint prepares densities of random effects, for tolerances that are multiplied by factor.
func (p *problem) newJoint(ctx context.Context, factor float64) (*odes.Joint, error) {
	o := p.opts.Options.While(ctx)
	o.Wrt, o.Progress, o.Threads, o.Of = p.names, nil, 1, []string{p.settings.Objective}
	j, err := p.model.Joint(factor, o)
	if err != nil {
		return nil, err
	}
	if p.random != nil {
		for i := range p.random.subjects {
			j.Centre(i, p.random.subjects[i].centred)
		}
	}
	return j, nil
}

// addEffects adds the random effects to what is drawn, and their part to the modes.
func (p *problem) addEffects(ctx context.Context, r *Result) error {
	j, err := p.setEffects(ctx, nil)
	if err != nil {
		return err
	}
	e := &evaluator{p: p, joint: j}
	e.begin()
	modes := r.Modes
	if len(modes) == 0 {
		q := p.start(0, nil)
		modes = []Mode{{q: q, scale: diagonal(p.sizes()[:len(q)])}}
	}
	for k := range modes {
		if err := p.extend(ctx, e, &modes[k], k == 0); err != nil {
			return err
		}
	}
	return nil
}

// setEffects makes random effects a part of what is drawn, and says how far they are centred: of each subject; nil for
// not at all.
func (p *problem) setEffects(ctx context.Context, centred [][]float64) (*odes.Joint, error) {
	j, err := p.newJoint(ctx, 1)
	if err != nil {
		return nil, err
	}
	f := &effects{}
	for i, name := range j.Subjects {
		names := j.Effects(i)
		s := subject{
			name: name, number: i + 1, at: f.n, n: len(names), names: names, centred: make([]float64, len(names)),
		}
		if centred != nil {
			s.centred = centred[i]
		}
		f.subjects = append(f.subjects, s)
		f.n += len(names)
	}
	// The evaluators that are there integrate.
	for len(p.idle) > 0 {
		<-p.idle
	}
	p.random = f
	return j, nil
}

// centred is how far the effects of each subject are.
func (f *effects) centred() (list [][]float64) {
	if f == nil {
		return nil
	}
	for i := range f.subjects {
		list = append(list, f.subjects[i].centred)
	}
	return list
}

func diagonal(sizes []float64) []float64 {
	n := len(sizes)
	l := make([]float64, n*n)
	for i, x := range sizes {
		l[i*n+i] = x
	}
	return l
}

// extend adds the random effects to a mode of the params: the most probable ones, with their own covariances. The first
// mode says how they are centred.
func (p *problem) extend(ctx context.Context, e *evaluator, m *Mode, first bool) error {
	n0, n := len(m.q), p.size()
	if err := e.move(m.q); err != nil {
		return err
	}
	if err := e.joint.Set(e.set...); err != nil {
		return err
	}
	scale := make([]float64, n*n)
	for i := range n0 {
		copy(scale[i*n:i*n+i+1], m.scale[i*n0:i*n0+i+1])
	}
	var values []float64
	for i := range p.random.subjects {
		s := &p.random.subjects[i]
		eta, hessian, omega, err := e.joint.Mode(ctx, i)
		if err != nil {
			return err
		}
		inverse := nuts.SoftAbs(hessian, ones(s.n)) // L of the covariance of the effects
		if inverse == nil {
			inverse = make([]float64, s.n*s.n)
			for k := range s.n {
				inverse[k*s.n+k] = math.Sqrt(omega[k*s.n+k])
			}
		}
		if first {
			for k := range s.n {
				v := 0.0
				for _, x := range inverse[k*s.n : k*s.n+k+1] {
					v += float64(x * x)
				}
				s.centred[k] = max(0, min(1, 1-v/omega[k*s.n+k]))
			}
			e.joint.Centre(i, s.centred)
		}
		by, z, err := e.joint.Spread(ctx, i, eta)
		if err != nil {
			return err
		}
		m.q, values = append(m.q, z...), append(values, eta...)
		// L of coordinates: by⁻¹ inverse, as both are lower triangles.
		for c := range s.n {
			column := make([]float64, s.n)
			for k := range s.n {
				if k >= c {
					column[k] = inverse[k*s.n+c]
				}
			}
			nuts.Whiten(by, column)
			for k := c; k < s.n; k++ {
				scale[(n0+s.at+k)*n+n0+s.at+c] = column[k]
			}
		}
	}
	m.scale = scale
	m.At = append(slices.Clone(m.At), values...)
	return nil
}

func ones(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 1
	}
	return out
}

// begin makes what a point is set by.
func (e *evaluator) begin() {
	for i, v := range e.p.settings.Over {
		e.set = append(e.set, odes.Assignment{Name: e.p.names[i], Values: make([]float64, v.Size())})
	}
}

// withEffects is the density with random effects that are drawn: of the priors and constraints, by a run for them, and
// of each subject.
func (e *evaluator) withEffects(ctx context.Context, q, g []float64) (float64, error) {
	p := e.p
	n0 := len(p.coords)
	clear(g)
	slopes := make([]float64, e.joint.Columns)
	if e.runner != nil {
		s, err := e.run(ctx, q, &e.runner)
		if err != nil {
			return 0, err
		}
		if p.settings.Rest == "" { // constraints alone
			e.value = 0
		} else {
			copy(slopes, s.Gradient[:len(slopes)])
		}
	} else {
		if err := e.move(q); err != nil {
			return 0, err
		}
		e.n++
		e.value = 0
	}
	lp := -e.value
	if err := e.joint.Set(e.set...); err != nil {
		return 0, rejected(err)
	}
	for i := range p.random.subjects {
		s := &p.random.subjects[i]
		value, gradient, err := e.joint.Density(ctx, i, q[n0+s.at:n0+s.at+s.n])
		switch {
		case ctx.Err() != nil:
			return 0, ctx.Err()
		case err != nil:
			return 0, rejected(err)
		case value-value != 0:
			return 0, &nuts.Rejection{Cause: "the density of a subject has no value"}
		}
		lp -= value
		for k := range s.n {
			g[n0+s.at+k] = -gradient[k]
		}
		for k, x := range gradient[s.n:] {
			slopes[k] += x
		}
	}
	for i := range p.coords {
		c := &p.coords[i]
		_, dx, _, log, dlog, _ := c.place(q[i])
		lp += log
		g[i] = dlog - float64(slopes[c.column]*dx)
	}
	return lp, nil
}

// values returns what is drawn at q: params, and random effects of which q has the coordinates.
func (e *evaluator) values(ctx context.Context, q []float64) ([]float64, error) {
	out := e.p.values(q)
	if e.p.random == nil {
		return out, nil
	}
	if err := e.move(q); err != nil {
		return nil, err
	}
	if err := e.joint.Set(e.set...); err != nil {
		return nil, err
	}
	for i := range e.p.random.subjects {
		s := &e.p.random.subjects[i]
		at := len(e.p.coords) + s.at
		eta, err := e.joint.Eta(ctx, i, q[at:at+s.n])
		if err != nil {
			return nil, err
		}
		out = append(out, eta...)
	}
	return out, nil
}

// dataOf is the negative log likelihood of the data with random effects, of values of a draw.
func (e *evaluator) dataOf(ctx context.Context, values []float64) (sum float64, err error) {
	for i := range e.p.coords {
		c := &e.p.coords[i]
		e.set[c.variable].Values[c.element] = values[i]
	}
	if err := e.joint.Set(e.set...); err != nil {
		return 0, err
	}
	for i := range e.p.random.subjects {
		s := &e.p.random.subjects[i]
		at := len(e.p.coords) + s.at
		x, err := e.joint.Data(ctx, i, values[at:at+s.n])
		if err != nil {
			return 0, err
		}
		sum += x
	}
	return sum, nil
}

// judge adds the random effects to the params of a result: each with its subject, eta[2] of subject_3 as
// eta[2,subject_3].
func (f *effects) judge(r *Result, at int) {
	if f == nil {
		return
	}
	for i := range f.subjects {
		s := &f.subjects[i]
		for k, name := range s.names {
			x := r.Column(at + s.at + k)
			a := Param{Subject: s.name, Summary: draws.Summarise(x)}
			base, index, is := strings.Cut(strings.TrimSuffix(name, "]"), "[")
			a.Name, a.Label = base, base+"["+s.name+"]"
			if is {
				a.Label = base + "[" + index + "," + s.name + "]"
				for text := range strings.SplitSeq(index, ",") {
					a.Index = append(a.Index, whole(text))
				}
			}
			a.Index = append(a.Index, s.number)
			a.MCSEQ5, a.MCSEMedian, a.MCSEQ95 = draws.MCSEQuantile(x, 0.05), draws.MCSEQuantile(x, 0.5),
				draws.MCSEQuantile(x, 0.95)
			r.Params = append(r.Params, a)
		}
	}
}

func whole(text string) (n int) {
	for _, c := range text {
		n = 10*n + int(c-'0')
	}
	return n
}
