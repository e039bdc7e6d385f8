package fit

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/target"
)

// What priors add to the objective, at a value v of a param: the negative logarithm of the density. Normal and
// lognormal ones are squares. What does not depend on v is apart.

// priorRow is ½ square² + rest, with derivatives by v. curve is not negative.
type priorRow struct {
	square, bySquare    float64
	rest, byRest, curve float64
}

// priorRows are the densities, by name; args are in the order of the language.
var priorRows = map[string]func(v float64, a []float64) priorRow{
	"normal": func(v float64, a []float64) priorRow {
		return priorRow{square: (v - a[0]) / a[1], bySquare: 1 / a[1]}
	},
	"lognormal": positive(func(v float64, a []float64) priorRow {
		return priorRow{
			square: (elem.Log(v) - a[0]) / a[1], bySquare: 1 / float64(v*a[1]), rest: elem.Log(v), byRest: 1 / v,
		}
	}),
	"laplace": func(v float64, a []float64) priorRow {
		return priorRow{rest: math.Abs(v-a[0]) / a[1], byRest: math.Copysign(1, v-a[0]) / a[1]}
	},
	"loglaplace": positive(func(v float64, a []float64) priorRow {
		d := elem.Log(v) - a[0]
		return priorRow{
			rest: math.Abs(d)/a[1] + elem.Log(v), byRest: (math.Copysign(1, d)/a[1] + 1) / v,
		}
	}),
	"student": func(v float64, a []float64) priorRow {
		nu, z := a[0], (v-a[1])/a[2]
		d := 1 + z*z/nu
		slope := (nu + 1) * z / (nu * d) / a[2]
		return priorRow{
			rest: (nu + 1) / 2 * elem.Log(d), byRest: slope, curve: (nu + 1) / ((nu + 3) * float64(a[2]*a[2])),
		}
	},
	"uniform": func(v float64, a []float64) priorRow {
		if v < a[0] || v > a[1] {
			return priorRow{rest: math.Inf(1)}
		}
		return priorRow{}
	},
	"gamma": positive(func(v float64, a []float64) priorRow {
		return priorRow{
			rest: a[1]*v - (a[0]-1)*elem.Log(v), byRest: a[1] - (a[0]-1)/v, curve: max((a[0]-1)/float64(v*v), 0),
		}
	}),
	"beta": positive(func(v float64, a []float64) priorRow {
		if v >= 1 {
			return priorRow{rest: math.Inf(1)}
		}
		w := 1 - v
		return priorRow{
			rest:   -(a[0]-1)*elem.Log(v) - (a[1]-1)*elem.Log(w),
			byRest: -(a[0]-1)/v + (a[1]-1)/w,
			curve:  max((a[0]-1)/float64(v*v)+(a[1]-1)/float64(w*w), 0),
		}
	}),
	"lkj": func(v float64, a []float64) priorRow {
		if !(v > -1 && v < 1) {
			return priorRow{rest: math.Inf(1)}
		}
		d, k := 1-float64(v*v), a[0]-1
		return priorRow{
			rest: -k * elem.Log(d), byRest: 2 * k * v / d, curve: max(2*k*(1+float64(v*v))/float64(d*d), 0),
		}
	},
	"exponential": func(v float64, a []float64) priorRow {
		if v < 0 {
			return priorRow{rest: math.Inf(1)}
		}
		return priorRow{rest: a[0] * v, byRest: a[0]}
	},
	"cauchy": func(v float64, a []float64) priorRow { return cauchyRow(v-a[0], a[1]) },
	"half_cauchy": func(v float64, a []float64) priorRow {
		if v < 0 {
			return priorRow{rest: math.Inf(1)}
		}
		return cauchyRow(v, a[0])
	},
	"half_normal": func(v float64, a []float64) priorRow {
		if v < 0 {
			return priorRow{rest: math.Inf(1)}
		}
		return priorRow{square: v / a[0], bySquare: 1 / a[0]}
	},
	"inverse_gamma": positive(func(v float64, a []float64) priorRow {
		return priorRow{
			rest: (a[0]+1)*elem.Log(v) + a[1]/v, byRest: (a[0] + 1 - a[1]/v) / v,
			curve: max((float64(2*a[1])/v-a[0]-1)/float64(v*v), 0),
		}
	}),
}

func cauchyRow(d, s float64) priorRow {
	z := d / s
	return priorRow{
		rest: elem.Log1p(float64(z * z)), byRest: 2 * z / (1 + float64(z*z)) / s, curve: 0.5 / float64(s*s),
	}
}

// priorConstants are the parts of the negative logarithms that do not depend on v.
var priorConstants = map[string]func(a []float64) float64{
	"normal":        func(a []float64) float64 { return elem.Log(a[1]) + logRootTwoPi },
	"lognormal":     func(a []float64) float64 { return elem.Log(a[1]) + logRootTwoPi },
	"laplace":       func(a []float64) float64 { return elem.Log(2 * a[1]) },
	"loglaplace":    func(a []float64) float64 { return elem.Log(2 * a[1]) },
	"uniform":       func(a []float64) float64 { return elem.Log(a[1] - a[0]) },
	"gamma":         func(a []float64) float64 { return elem.Lgamma(a[0]) - float64(a[0]*elem.Log(a[1])) },
	"exponential":   func(a []float64) float64 { return -elem.Log(a[0]) },
	"cauchy":        func(a []float64) float64 { return elem.Log(math.Pi * a[1]) },
	"half_cauchy":   func(a []float64) float64 { return elem.Log(math.Pi / 2 * a[0]) },
	"half_normal":   func(a []float64) float64 { return elem.Log(a[0]) + logRootTwoPi - math.Ln2 },
	"inverse_gamma": func(a []float64) float64 { return elem.Lgamma(a[0]) - float64(a[0]*elem.Log(a[1])) },
	"beta": func(a []float64) float64 {
		return elem.Lgamma(a[0]) + elem.Lgamma(a[1]) - elem.Lgamma(a[0]+a[1])
	},
	"lkj": func(a []float64) float64 {
		return elem.Lgamma(a[0]) - elem.Lgamma(a[0]+0.5) + elem.Log(math.Pi)/2
	},
	"student": func(a []float64) float64 {
		return elem.Lgamma(a[0]/2) - elem.Lgamma((a[0]+1)/2) + elem.Log(a[0]*math.Pi)/2 + elem.Log(a[2])
	},
}

// positive makes a density zero where v is not positive.
func positive(f func(v float64, a []float64) priorRow) func(v float64, a []float64) priorRow {
	return func(v float64, a []float64) priorRow {
		if !(v > 0) {
			return priorRow{rest: math.Inf(1)}
		}
		return f(v, a)
	}
}

// priorsOf yields the coordinates of the params that have priors, with these.
func (sp *space) priorsOf() func(func(int, *odes.Draw) bool) {
	return func(yield func(int, *odes.Draw) bool) {
		for k := range sp.priors {
			for i := range sp.coords {
				c := &sp.coords[i]
				its := c.block == nil && (sp.names[c.variable] == sp.priors[k].Name || c.name == sp.priors[k].Name)
				if its && !yield(i, &sp.priors[k]) {
					return
				}
			}
		}
	}
}

var (
	squaredPriors  = []string{"normal", "lognormal", "half_normal"}
	absolutePriors = []string{"laplace", "loglaplace"}
)

// separate returns a prior for each element of those whose arguments differ between elements, and leaves out those that
// depend on params: these are no terms of one coordinate each, and objectives that read them are not read row by row.
func separate(priors []odes.Draw, symbols []odes.Symbol) (list []odes.Draw) {
	for _, prior := range priors {
		if len(prior.Of) > 0 {
			continue
		}
		each := prior.Each(nil)
		if each == nil {
			list = append(list, prior)
			continue
		}
		at := slices.IndexFunc(symbols, func(s odes.Symbol) bool { return s.Kind == "param" && s.Name == prior.Name })
		for i := range each {
			each[i].Name = symbols[at].Element(i)
		}
		list = append(list, each...)
	}
	return list
}

// support makes the ends of densities that end at a value bounds of the search.
func (sp *space) support() {
	for i, prior := range sp.priorsOf() {
		lo, hi := math.Inf(-1), math.Inf(1)
		switch prior.Dist {
		case "uniform":
			lo, hi = prior.Args[0], prior.Args[1]
		case "exponential", "half_normal", "half_cauchy":
			lo = 0
		}
		x := &sp.coords[i]
		x.lo, x.hi = max(x.lo, lo), min(x.hi, hi)
		x.first = min(max(x.first, x.lo), x.hi)
		sp.start[i] = x.of(x.first)
	}
}

// priorsAmong counts those of priorsOf that have one of some kinds.
func (sp *space) priorsAmong(kinds []string) int {
	n := 0
	for _, prior := range sp.priorsOf() {
		if slices.Contains(kinds, prior.Dist) {
			n++
		}
	}
	return n
}

// priors adds what the priors add to the objective.
func (s *sums) priors(x []float64) {
	w := s.e.comparison.PriorWeight
	if w == 0 {
		return
	}
	n := len(x)
	for i, prior := range s.e.p.priorsOf() {
		v := s.e.p.coords[i].value(x[i])
		r, slope := priorRows[prior.Dist](v, prior.Args), s.slopes[i]
		if slices.Contains(squaredPriors, prior.Dist) {
			root := math.Sqrt(w)
			s.at.R[s.row] = float64(root * r.square)
			if s.want >= optim.Slopes {
				to := s.at.J[s.row*n : (s.row+1)*n]
				clear(to)
				to[i] = float64(root * r.bySquare * slope)
			}
			s.row++
		}
		if s.kinks != nil && slices.Contains(absolutePriors, prior.Dist) {
			value, bySlope := 0.0, 0.0
			value, bySlope, r = absolutePrior(prior, v)
			s.kinks.U[s.kink], s.kinks.W[s.kink] = value, w
			if s.want >= optim.Slopes {
				to := s.kinks.J[s.kink*n : (s.kink+1)*n]
				clear(to)
				to[i] = float64(bySlope * slope)
			}
			s.kink++
		}
		s.at.Rest += float64(w * (r.rest + constantOf(prior)))
		if s.want >= optim.Slopes {
			s.at.Gradient[i] += float64(w * r.byRest * slope)
			s.at.Curvature[i*n+i] += float64(w * r.curve * slope * slope)
		}
	}
}

// absolutePrior returns the number of which the prior of v is the absolute value, its derivative, and the rest.
func absolutePrior(prior *odes.Draw, v float64) (value, by float64, rest priorRow) {
	a := prior.Args
	if prior.Dist == "laplace" {
		return (v - a[0]) / a[1], 1 / a[1], priorRow{}
	} else if !(v > 0) {
		return 0, 0, priorRow{rest: math.Inf(1)}
	}
	logV := elem.Log(v)
	return (logV - a[0]) / a[1], 1 / float64(v*a[1]), priorRow{rest: logV, byRest: 1 / v}
}

// constantOf is the part of a prior that does not depend on its param.
func constantOf(p *odes.Draw) float64 { return priorConstants[p.Dist](p.Args) + elem.Log(p.Mass) }

// fixedPriors adds up the priors of params that are not searched for.
func (p *problem) fixedPriors(weight float64) error {
	return p.fixedValues(func(prior *odes.Draw, _ string, v float64) {
		r := priorRows[prior.Dist](v, prior.Args)
		p.fixed += float64(weight * (r.square*r.square/2 + r.rest + constantOf(prior)))
	})
}

// fixedValues calls f for each value that has a prior and is not searched for, with its name.
func (p *problem) fixedValues(f func(prior *odes.Draw, name string, v float64)) error {
	symbols, err := p.model.Symbols(p.opts.Set)
	if err != nil {
		return err
	}
	for k := range p.priors {
		prior := &p.priors[k]
		base, one := target.Array(prior.Name), strings.Contains(prior.Name, "[")
		if slices.Contains(p.names, base) {
			continue
		}
		for _, x := range symbols {
			if x.Kind != "param" || x.Name != base {
				continue
			}
			for i, v := range x.Values {
				if name := x.Element(i); !one || name == prior.Name {
					f(prior, name, v)
				}
			}
		}
	}
	return nil
}

// unsupported ends a message with which values that the searches begin with lie where their priors are zero; "" for
// none.
func (p *problem) unsupported() string {
	var list []string
	note := func(prior *odes.Draw, name string, v float64) {
		if math.IsInf(priorRows[prior.Dist](v, prior.Args).rest, 1) || v < prior.Lo || v > prior.Hi {
			args := make([]string, len(prior.Args))
			for i, x := range prior.Args {
				args[i] = diag.Number(x)
			}
			list = append(list, fmt.Sprintf("the prior of %s, %s(%s), is zero at its value %s",
				name, prior.Dist, strings.Join(args, ", "), diag.Number(v)))
		}
	}
	for i, prior := range p.priorsOf() {
		note(prior, p.coords[i].name, p.coords[i].value(p.start[i]))
	}
	if p.fixedValues(note) != nil || len(list) == 0 {
		return ""
	}
	const most = 5
	if n := len(list) - most; n > 0 {
		list = append(list[:most], fmt.Sprintf("and so are %d more", n))
	}
	return "; " + strings.Join(list, "; ") + ": begin with values where priors are not zero, or give other priors"
}
