package result

import "math"

// Population is an integral over random effects, subject by subject.
type Population struct {
	Method       string  // "focei", "agq(n = 5)", as solver.marginal writes it
	Value        float64 // nll(), the negative log likelihood
	OFV          float64 // NONMEM's objective: 2 nll() − n log(2 pi)
	Measurements int     // n, those that have a density: neither missing nor below a limit
	// Effects are the names of random effects, with those of the elements of vectors.
	Effects  []string
	Subjects []Subject // in file order
}

// Subject is what one subject contributes, with its random effects.
type Subject struct {
	Name string
	// Lacks tells which random effects the subject does not have, since no row is of their occasion; nil for none.
	Lacks        []bool
	Value, OFV   float64
	Measurements int
	// Mode has the most probable random effects given the data and the params (NONMEM's ETAs, or EBEs), and Errors
	// their standard deviations; nil for fo, whose effects are at zero.
	Mode, Errors []float64
	// Hessian is that of the negative log density of data and random effects at the mode, [effects][effects].
	Hessian []float64
	// Omega is the matrix of covariances of the random effects, [effects][effects].
	Omega    []float64
	Gradient []float64 // of Value, by the variables; nil where it was not asked for
	Modes    int       // that were met
	Doubt    string    // what is doubtful about the mode; "" for nothing
	Runs     int
}

// Shrinkage returns, for each effect, one minus the ratio of the standard deviation of the modes of all subjects to
// that of the distribution: NONMEM's ETA shrinkage by standard deviations. NaN where there are fewer than two modes.
func (p *Population) Shrinkage() []float64 {
	out := make([]float64, len(p.Effects))
	for k := range out {
		n, sum, square, omega := 0.0, 0.0, 0.0, 0.0
		for i := range p.Subjects {
			s := &p.Subjects[i]
			if s.Mode == nil || s.Lacks != nil && s.Lacks[k] {
				continue
			}
			n++
			sum += s.Mode[k]
			square += float64(s.Mode[k] * s.Mode[k])
			omega += s.Omega[k*len(p.Effects)+k]
		}
		variance := (square - float64(sum*sum/n)) / (n - 1)
		out[k] = 1 - math.Sqrt(variance*n/omega)
	}
	return out
}

// Effects says how the random effects of an experiment are distributed: normally around zero.
type Effects struct {
	Experiment string
	Names      []string  // in file order
	Sizes      []int     // how many elements each has
	Elements   []string  // the names of all elements
	Omega      []float64 // their covariances, [elements][elements]
	Root       []float64 // lower triangular: Omega = Root·Rootᵀ
}

// Each calls f with the name of each random effect and its values among all of an experiment.
func (e *Effects) Each(values []float64, f func(name string, values []float64)) {
	for i, name := range e.Names {
		f(name, values[:e.Sizes[i]])
		values = values[e.Sizes[i]:]
	}
}
