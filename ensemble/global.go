package ensemble

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
)

// Estimate is a number with the interval that holds it with a probability of 95 %.
type Estimate struct{ Value, Lower, Upper float64 }

// resamples is how often a sample is drawn again for an interval, with replacement (B. Efron, Ann. Statist. 7:1, 1979,
// doi:10.1214/aos/1176344552).
const resamples = 200

// Values keeps the values of all members of a design in memory, for what needs all of them at a time.
type Values struct {
	p    *Problem
	list []float64 // [members][values]; NaN for those that failed
}

// NewValues returns room for the values of p.
func NewValues(p *Problem) *Values { return &Values{p: p} }

// Add adds the rows of a chunk.
func (v *Values) Add(c *Chunk) {
	t := &v.p.Table
	for i := range c.Status {
		row := c.Rows[i*t.Width():]
		v.list = append(v.list, row[len(t.Params):len(t.Params)+len(t.Values)]...)
	}
}

// Of returns the values of objective k, member by member; NaN for those that failed.
func (v *Values) Of(k int) []float64 {
	m := len(v.p.Table.Values)
	list := make([]float64, 0, len(v.list)/max(m, 1))
	for at := k; at < len(v.list); at += m {
		list = append(list, v.list[at])
	}
	return list
}

// groups returns the values of objective k in groups of n members, without those that lack a number, and how many lack
// one. Members that are not there yet belong to no group.
func (v *Values) groups(k, n int) (list [][]float64, left int) {
	m := len(v.p.Table.Values)
	for at := 0; (at+n)*m <= len(v.list); at += n {
		g := make([]float64, n)
		for i := range g {
			g[i] = v.list[(at+i)*m+k]
		}
		if slices.ContainsFunc(g, func(x float64) bool { return x-x != 0 }) {
			left++
			continue
		}
		list = append(list, g)
	}
	return list, left
}

// Index is how much of the variance of an objective comes from one axis: First by itself, Total with all that it acts
// together with. First is estimated as A. Saltelli et al. do (Comput. Phys. Commun. 181:259, 2010,
// doi:10.1016/j.cpc.2009.09.018); Jansen and Total as M. J. W. Jansen does (Comput. Phys. Commun. 117:35, 1999,
// doi:10.1016/S0010-4655(98)00154-4).
type Index struct {
	Objective, Axis      string
	First, Jansen, Total Estimate
}

// Indices returns the Sobol indices of a saltelli design, objective by objective, and how many groups of members were
// left out because a value is missing.
func (v *Values) Indices() (list []Index, left int) {
	d := len(v.p.points.names)
	for k, o := range v.p.Table.Values {
		groups, out := v.groups(k, d+2)
		left += out
		all := v.resample(groups, 3*d, func(pick func(i int) []float64, n int, to []float64) { sobol(pick, n, d, to) })
		for i, name := range v.p.points.names {
			list = append(list, Index{o.Name, name, all[i], all[d+i], all[2*d+i]})
		}
	}
	return list, left
}

// sobol writes first[d], Jansen's first[d] and total[d] of n groups.
func sobol(pick func(i int) []float64, n, d int, to []float64) {
	var mean, squares float64
	for i := range n {
		g := pick(i)
		mean += g[0] + g[1]
	}
	mean /= float64(2 * n)
	for i := range n {
		g := pick(i)
		a, b := g[0]-mean, g[1]-mean
		squares += float64(a*a) + float64(b*b)
		for k := range d {
			ab := g[2+k] - mean
			to[k] += float64(b * (ab - a))
			to[d+k] += float64((b - ab) * (b - ab))
			to[2*d+k] += float64((a - ab) * (a - ab))
		}
	}
	variance := squares / float64(2*n)
	for k := range d {
		to[k] /= float64(float64(n) * variance)
		to[d+k] = 1 - to[d+k]/float64(2*float64(n)*variance)
		to[2*d+k] /= float64(2 * float64(n) * variance)
	}
}

// resample estimates size numbers of groups, with intervals by resampling groups.
func (v *Values) resample(
	groups [][]float64, size int, estimate func(pick func(i int) []float64, n int, to []float64),
) []Estimate {
	n := len(groups)
	out := make([]Estimate, size)
	if n == 0 {
		for i := range out {
			out[i] = Estimate{math.NaN(), math.NaN(), math.NaN()}
		}
		return out
	}
	to := make([]float64, size)
	estimate(func(i int) []float64 { return groups[i] }, n, to)
	again := make([][]float64, size) // [size][resamples]
	r := elem.NewRand(v.p.Job.Design.Seed)
	picked := make([]int, n)
	for range resamples {
		for i := range picked {
			picked[i] = int(r.Float64() * float64(n))
		}
		x := make([]float64, size)
		estimate(func(i int) []float64 { return groups[picked[i]] }, n, x)
		for i := range x {
			again[i] = append(again[i], x[i])
		}
	}
	for i := range out {
		slices.Sort(again[i])
		at := func(q float64) float64 { return again[i][int(q*(resamples-1)+0.5)] }
		out[i] = Estimate{to[i], at(0.025), at(0.975)}
	}
	return out
}

// Effect sums up elementary effects: changes of an objective over the change of one axis, whose length counts as 1.
// Mean has their mean, Size that of their absolute values (F. Campolongo, J. Cariboni, A. Saltelli, Environ. Model.
// Softw. 22:1509, 2007, doi:10.1016/j.envsoft.2006.10.004), SD their standard deviation: effects that differ come from
// a function that is not linear, or from axes that act together.
type Effect struct {
	Objective, Axis string
	Mean, Size, SD  Estimate
}

// Effects returns the elementary effects of a morris design, objective by objective, and how many paths were left out
// because a value is missing.
func (v *Values) Effects() (list []Effect, left int) {
	d := len(v.p.points.names)
	unit := v.p.Job.Design.morris(d)
	for k, o := range v.p.Table.Values {
		m := len(v.p.Table.Values)
		var groups [][]float64 // of each path: the effects by all axes
		u, w := make([]float64, d), make([]float64, d)
		for at := 0; (at+d+1)*m <= len(v.list); at += d + 1 {
			g := make([]float64, d)
			whole := true
			for i := range d {
				unit(at+i, u)
				unit(at+i+1, w)
				for axis := range d {
					if step := w[axis] - u[axis]; step != 0 {
						g[axis] = (v.list[(at+i+1)*m+k] - v.list[(at+i)*m+k]) / step
						whole = whole && g[axis]-g[axis] == 0
					}
				}
			}
			if !whole {
				left++
				continue
			}
			groups = append(groups, g)
		}
		all := v.resample(groups, 3*d, func(pick func(i int) []float64, n int, to []float64) {
			for axis := range d {
				var s Summary
				size := 0.0
				for i := range n {
					x := pick(i)[axis]
					s.moments(x)
					size += math.Abs(x)
				}
				to[axis], to[d+axis], to[2*d+axis] = s.Mean, size/float64(n), s.SD()
			}
		})
		for i, name := range v.p.points.names {
			list = append(list, Effect{o.Name, name, all[i], all[d+i], all[2*d+i]})
		}
	}
	return list, left
}

// Derivative is the mean of the squared derivatives of an objective along an axis, DGSM. Bound is what the total Sobol
// index is at most: the mean times the constant of Poincaré's inequality for the axis, over the variance (I. M. Sobol',
// S. Kucherenko, Math. Comput. Simul. 79:3009, 2009, doi:10.1016/j.matcom.2009.01.023; M. Lamboni et al., Math. Comput.
// Simul. 87:45, 2013, doi:10.1016/j.matcom.2013.02.002). It is NaN for distributions of which the constant is not
// known. For lognormal and loguniform axes the derivatives are those by the logarithm.
type Derivative struct {
	Objective, Axis string
	Mean, Bound     Estimate
}

// Slopes sum up squared derivatives while rows come.
type Slopes struct {
	p       *Problem
	axes    []slope
	squares []Summary // [values][axes]
	values  []Summary
}

// slope says how to read the derivative by an axis.
type slope struct {
	column   int // of a row of the gradient; -1 for none
	param    int
	log      bool
	constant float64
}

// NewSlopes returns sums for p, whose rows must have derivatives.
func NewSlopes(p *Problem) (*Slopes, error) {
	s := &Slopes{p: p}
	t := &p.Table
	for k, a := range p.Job.Design.Axes {
		at := -1
		for _, x := range t.Variables {
			for e := range x.Size() {
				if name := x.Element(e); name == a.Name {
					at = x.Offset + e
				}
			}
		}
		if at < 0 {
			return nil, fmt.Errorf("there is no derivative by %s: name it with --wrt", a.Name)
		}
		x := slope{column: at, param: k, constant: math.NaN()}
		args := Floats(a.Args)
		switch a.Dist {
		case "uniform":
			w := min(args[1], float64(a.Hi)) - max(args[0], float64(a.Lo))
			x.constant = float64(w*w) / float64(math.Pi*math.Pi)
		case "loguniform":
			w := elem.Log(min(args[1], float64(a.Hi)) / max(args[0], float64(a.Lo)))
			x.log, x.constant = true, float64(w*w)/float64(math.Pi*math.Pi)
		case "normal":
			x.constant = float64(args[1] * args[1])
		case "lognormal":
			x.log, x.constant = true, float64(args[1]*args[1])
		case "laplace":
			x.constant = 4 * float64(args[1]*args[1])
		case "exponential":
			x.constant = 4 / float64(args[0]*args[0])
		}
		s.axes = append(s.axes, x)
	}
	s.squares = make([]Summary, len(t.Values)*len(s.axes))
	s.values = make([]Summary, len(t.Values))
	return s, nil
}

// Add adds the rows of a chunk.
func (s *Slopes) Add(c *Chunk) {
	t := &s.p.Table
	for i, status := range c.Status {
		row := c.Rows[i*t.Width() : (i+1)*t.Width()]
		values := row[len(t.Params):]
		gradient := values[len(t.Values):]
		if status == Failed || slices.ContainsFunc(values, func(x float64) bool { return x-x != 0 }) {
			continue
		}
		for k := range t.Values {
			s.values[k].moments(values[k])
			for j, a := range s.axes {
				g := gradient[k*t.Columns+a.column]
				if a.log {
					g = float64(g * row[a.param])
				}
				s.squares[k*len(s.axes)+j].moments(float64(g * g))
			}
		}
	}
}

// Derivatives returns what the rows so far say, objective by objective.
func (s *Slopes) Derivatives() (list []Derivative) {
	for k, o := range s.p.Table.Values {
		v := &s.values[k]
		variance := v.squares / float64(v.N)
		for j, a := range s.axes {
			q := &s.squares[k*len(s.axes)+j]
			room := 1.959963984540054 * q.SD() / math.Sqrt(float64(q.N))
			e := Estimate{q.Mean, q.Mean - room, q.Mean + room}
			f := a.constant / variance
			list = append(list, Derivative{
				o.Name, s.p.points.names[j], e,
				Estimate{float64(f * e.Value), float64(f * e.Lower), float64(f * e.Upper)},
			})
		}
	}
	return list
}
