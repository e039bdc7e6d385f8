package result

import (
	"fmt"
	"math"
	"strings"
)

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
	Check    *Check // of Value; nil where it was not compared
}

// Check is what a look at the integral of a subject says that is independent of the method.
type Check struct {
	By         string // how Value was computed
	Value, OFV float64
	Error      float64 // the standard error of Value, or that of the draws which confirm a quadrature
	Modes      int     // about which more than a hundredth of the integral is
	// Better are random effects with a higher density than the mode that was found, and BetterValue is what the method
	// has about these; nil for none.
	Better      []float64
	BetterValue float64
}

// Far tells whether the OFV of a subject is off by more than 1: a likelihood ratio of 1.6.
func (s *Subject) Far() bool {
	return s.Check != nil && !(math.Abs(s.Check.OFV-s.OFV) <= 1+float64(8*s.Check.Error))
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

// Checked returns the integral that the checks of all subjects add up to; nil where one of them lacks.
func (p *Population) Checked() *Population {
	out := &Population{Measurements: p.Measurements, Effects: p.Effects}
	for i := range p.Subjects {
		c := p.Subjects[i].Check
		if c == nil || math.IsNaN(c.Value) {
			return nil
		}
		out.Value += c.Value
		out.OFV += c.OFV
		if i == 0 || len(c.By) > len(out.Method) { // where one had to be by draws, that is what is to be told
			out.Method = c.By
		}
	}
	return out
}

// Doubt is what is doubtful about integrals.
type Doubt struct {
	Text  string
	Wrong bool // the value is not that of the method
	Minor bool // it is to be known, and is no fault
}

// Off returns by how much OFV as the checks of all subjects have it differs from that of the method, with its standard
// error. It is NaN where a check lacks.
func (p *Population) Off() (by, err float64) {
	square := 0.0
	for i := range p.Subjects {
		s := &p.Subjects[i]
		if s.Check == nil {
			return math.NaN(), math.NaN()
		}
		by += s.Check.OFV - s.OFV
		square += float64(4 * s.Check.Error * s.Check.Error)
	}
	return by, math.Sqrt(square)
}

// Apart reports whether OFV differs from that of the checks by more than least, beyond four standard errors.
func (p *Population) Apart(least float64) bool {
	by, err := p.Off()
	return math.Abs(by) > least+float64(4*err)
}

// Doubts says what the checks of subjects find, in words.
func (p *Population) Doubts() (list []Doubt) {
	var better, several, far, lost []string
	for i := range p.Subjects {
		s := &p.Subjects[i]
		c := s.Check
		switch {
		case c == nil && !math.IsNaN(s.Value):
			lost = append(lost, s.Name)
		case c == nil:
		case c.Better != nil && s.Far():
			better = append(better, fmt.Sprintf("%s (%.5g about %s, where %.5g was found)", s.Name, c.BetterValue,
				place(p.Effects, c.Better), s.Value))
		case c.Modes > 1:
			several = append(several, fmt.Sprintf("%s (%d modes; OFV %.2f, not %.2f)", s.Name, c.Modes, c.OFV, s.OFV))
		case s.Far():
			far = append(far, fmt.Sprintf("%s by %+.2f", s.Name, c.OFV-s.OFV))
		}
	}
	if better != nil {
		list = append(list, Doubt{
			fmt.Sprintf("nll() is not to be trusted: the random effects have a better mode than the one that was "+
				"found in %s; write solver { marginal = %s }, which looks for more modes", some(better),
				p.More()), true, false,
		})
	}
	if several != nil {
		list = append(list, Doubt{
			fmt.Sprintf("random effects have several modes that matter in %s, so an approximation about one mode is "+
				"poor there: compare with marginal = imp(n = 10000)", some(several)), false, false,
		})
	}
	if far != nil {
		list = append(list, Doubt{
			fmt.Sprintf("OFV by %s is not that of an independent integral, which is closer to the "+
				"likelihood: most in %s", p.Method, some(far)), false, false,
		})
	}
	if by, err := p.Off(); better == nil && several == nil && len(p.Subjects) > 1 && p.Apart(1) {
		list = append(list, Doubt{
			fmt.Sprintf("OFV by %s differs from that of an independent integral by %+.2f in all, with a standard "+
				"error of %.2g: compare with marginal = imp(n = 10000)", p.Method, by, err), false, far == nil,
		})
	}
	if lost != nil {
		list = append(list, Doubt{
			fmt.Sprintf("nothing confirms the integrals of %s: runs of the comparison failed", some(lost)), false,
			false,
		})
	}
	return list
}

// More returns the method with more starts of searches, as solver.marginal writes it.
func (p *Population) More() string {
	const few = 64
	kind, args, _ := strings.Cut(strings.TrimSuffix(p.Method, ")"), "(")
	var list []string
	starts := few
	for _, a := range strings.Split(args, ", ") {
		if n, is := strings.CutPrefix(a, "starts = "); is {
			fmt.Sscan(n, &starts)
			starts *= 4
		} else if a != "" {
			list = append(list, a)
		}
	}
	return fmt.Sprintf("%s(%s)", kind, strings.Join(append(list, fmt.Sprintf("starts = %d", starts)), ", "))
}

// place writes values of random effects.
func place(names []string, values []float64) string {
	var list []string
	for i, x := range values {
		if x != 0 || len(values) == 1 {
			list = append(list, fmt.Sprintf("%s = %.4g", names[i], x))
		}
	}
	return strings.Join(list, ", ")
}

// some lists what is said of subjects: the first ten.
func some(list []string) string {
	const most = 10
	if n := len(list) - most; n > 0 {
		list = append(list[:most:most], fmt.Sprintf("%d more", n))
	}
	return strings.Join(list, ", ")
}
