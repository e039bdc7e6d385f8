package petab

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// law is a distribution of priors of version 2.
type law struct {
	numbers  int
	positive bool // its domain begins at 0
	// word is the distribution in the language, which counts what bounds cut away.
	word func(n []float64) string
	// Where there is none, term is minus the logarithm of the density of x, and cdf the probability of less.
	term func(x string, n []float64) string
	cdf  func(x float64, n []float64) float64
	// domain are the ends of the domain where the numbers say them.
	domain func(n []float64) (from, to float64)
}

func numbered(word string, numbers ...float64) string {
	var list []string
	for _, n := range numbers {
		list = append(list, decimal(n))
	}
	return word + "(" + strings.Join(list, ", ") + ")"
}

// as names a distribution of the language that has the same numbers.
func as(word string) func([]float64) string {
	return func(n []float64) string { return numbered(word, n...) }
}

// laws are the distributions of priors, by their names in version 2.
var laws = map[string]law{
	"normal":      {numbers: 2, word: as("normal")},
	"log-normal":  {numbers: 2, positive: true, word: as("lognormal")},
	"laplace":     {numbers: 2, word: as("laplace")},
	"log-laplace": {numbers: 2, positive: true, word: as("loglaplace")},
	"cauchy":      {numbers: 2, word: func(n []float64) string { return numbered("student", 1, n[0], n[1]) }},
	"chisquare": {
		numbers: 1, positive: true, word: func(n []float64) string { return numbered("gamma", n[0]/2, 0.5) },
	},
	"exponential": {
		numbers: 1, positive: true, word: func(n []float64) string { return numbered("exponential", 1/n[0]) },
	},
	"gamma": {
		numbers: 2, positive: true, word: func(n []float64) string { return numbered("gamma", n[0], 1/n[1]) },
	},
	"rayleigh": {
		numbers: 1, positive: true,
		cdf: func(x float64, n []float64) float64 { return -math.Expm1(-0.5 * square(x/n[0])) },
		term: func(x string, n []float64) string {
			return fmt.Sprintf("0.5*(%s/%s)^2 - log(%[1]s) + 2*log(%[2]s)", x, decimal(n[0]))
		},
	},
	"uniform": {
		numbers: 2,
		cdf:     func(x float64, n []float64) float64 { return (x - n[0]) / (n[1] - n[0]) },
		term:    func(_ string, n []float64) string { return numbered("log", n[1]-n[0]) },
		domain:  func(n []float64) (from, to float64) { return n[0], n[1] },
	},
	"log-uniform": {
		numbers: 2, positive: true,
		cdf: func(x float64, n []float64) float64 { return math.Log(x/n[0]) / math.Log(n[1]/n[0]) },
		term: func(x string, n []float64) string {
			return fmt.Sprintf("log(%s) + log(%s)", x, decimal(math.Log(n[1]/n[0])))
		},
		domain: func(n []float64) (from, to float64) { return n[0], n[1] },
	},
}

func square(x float64) float64 { return x * x }

// prior2 returns what stands behind the value of a parameter: its bounds, which its prior may narrow, and its prior. It
// adds to the objective what the language has no word for, and what the bounds cut away. Where some parameters have
// priors, that of others is uniform between their bounds.
func (p *problem) prior2(r row, name string, lower, upper float64, informed bool) (behind string) {
	kind := r.get("priorDistribution")
	var word string
	switch {
	case kind != "":
		l, numbers, ok := p.law(r, kind)
		if !ok {
			return ""
		}
		from, to := math.Inf(-1), math.Inf(1)
		if l.positive {
			from = 0
		}
		if l.domain != nil {
			from, to = l.domain(numbers)
		}
		lower, upper = max(lower, from), min(upper, to)
		if l.word != nil {
			p.priors = true
			word = " ~ " + l.word(numbers)
			break
		}
		within := func(x float64) float64 { // the bounds may be infinite
			switch {
			case x <= from:
				return 0
			case x >= to:
				return 1
			}
			return l.cdf(x, numbers)
		}
		share := within(upper) - within(lower)
		if !(share > 0) {
			p.errorAt(r, "priorDistribution", "the prior of %s is zero, or too small for a number, between its bounds",
				name)
			return ""
		}
		p.normaliser += math.Log(share)
		p.terms = append(p.terms, l.term(name, numbers))
	case informed && !math.IsInf(upper-lower, 1):
		p.normaliser += math.Log(upper - lower)
	}
	if !math.IsInf(lower, -1) || !math.IsInf(upper, 1) {
		behind = " in [" + decimal(lower) + ", " + decimal(upper) + "]"
	}
	return behind + word
}

// law returns the distribution and the numbers of a prior.
func (p *problem) law(r row, kind string) (l law, numbers []float64, ok bool) {
	l, ok = laws[kind]
	if !ok {
		p.errorAt(r, "priorDistribution", "odes has nothing like the prior %q of %s", kind, r.get("parameterId"))
		return l, nil, false
	}
	for part := range strings.SplitSeq(r.get("priorParameters"), ";") {
		v, err := strconv.ParseFloat(strings.TrimSpace(part), 64)
		if err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			numbers = append(numbers, v)
		}
	}
	if len(numbers) != l.numbers || strings.Count(r.get("priorParameters"), ";") != l.numbers-1 {
		p.errorAt(r, "priorParameters", "the prior of %s has the numbers %q: %s has %d, with ; between them",
			r.get("parameterId"), r.get("priorParameters"), kind, l.numbers)
		return l, nil, false
	}
	if l.domain != nil && !(numbers[0] < numbers[1]) || l.domain != nil && l.positive && numbers[0] <= 0 ||
		l.domain == nil && numbers[l.numbers-1] <= 0 || kind == "gamma" && numbers[0] <= 0 {
		p.errorAt(r, "priorParameters", "the prior of %s has the numbers %q, which %s cannot have",
			r.get("parameterId"), r.get("priorParameters"), kind)
		return l, nil, false
	}
	return l, numbers, true
}
