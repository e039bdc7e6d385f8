package infix_test

import (
	"errors"
	"strings"
	"testing"

	"odes.dev/odes/internal/exchange/infix"
	"odes.dev/odes/internal/exchange/sbml"
)

var dialect = &infix.Dialect{
	Levels: []infix.Level{
		{Operators: map[string]string{"<": "lt", "<=": "leq", "==": "eq"}},
		{Operators: map[string]string{"+": "plus", "-": "minus"}, Chains: true},
		{Operators: map[string]string{"*": "times", "/": "divide"}, Chains: true},
	},
	Prefixes: map[string]string{"-": "minus", "+": "plus"}, Powers: []string{"**", "^"}, Starts: "$", Inside: ".",
	Name: func(name string, at sbml.Place) (*sbml.Element, error) { return sbml.Leaf(at, "ci", name), nil },
	Call: func(name string, args []*sbml.Element, at sbml.Place) (*sbml.Element, error) {
		return sbml.Apply(at, name, args...), nil
	},
}

// text writes an expression with brackets around all operators.
func text(e *sbml.Element) string {
	if len(e.Children()) == 0 {
		if e.Text() == "" {
			return e.Name()
		}
		return e.Text()
	}
	var list []string
	for _, c := range e.Children() {
		list = append(list, text(c))
	}
	return "(" + strings.Join(list, " ") + ")"
}

// TestParse: operators bind as the dialect says.
func TestParse(t *testing.T) {
	for formula, want := range map[string]string{
		"1 - 2 - x":                            "(minus (minus 1 2) x)",
		"-a^2^b":                               "(minus (power a (power 2 b)))",
		"a**-b*c":                              "(times (power a (minus b)) c)",
		"a+b*c<=-d":                            "(leq (plus a (times b c)) (minus d))",
		"(a+b)*.5e-1":                          "(times (plus a b) .5e-1)",
		"f(a, 1.)/$g.h_2":                      "(divide (f a 1.) $g.h_2)",
		"2e":                                   "",
		"f()":                                  "(f)",
		" + - a":                               "(minus a)",
		"a<b<c":                                "",
		"a b":                                  "",
		"(a":                                   "",
		"f(a,":                                 "",
		"a+":                                   "",
		"1..2":                                 "",
		"é":                                    "",
		strings.Repeat("(", 2000):              "",
		strings.Repeat("-", 2000):              "",
		"a^" + strings.Repeat("-", 2000) + "b": "",
	} {
		e, err := infix.Parse(dialect, formula, 10)
		if want == "" {
			var wrong *infix.Error
			if !errors.As(err, &wrong) {
				t.Errorf("%.20s: %v, want an error", formula, err)
				continue
			}
			if from, to := wrong.At.Span(); from < 10 || to < from || to > 10+len(formula) {
				t.Errorf("%.20s: an error from %d to %d", formula, from, to)
			}
			continue
		}
		if err != nil || text(e) != want {
			t.Errorf("%s: %v, want %s", formula, e, want)
		}
	}
}

// FuzzParse: every text is a formula or has an error in it.
func FuzzParse(f *testing.F) {
	f.Add("-a^2 + f(b, 1e3)/(c <= d)")
	f.Fuzz(func(t *testing.T, formula string) {
		if e, err := infix.Parse(dialect, formula, 0); (e == nil) != (err != nil) {
			t.Errorf("%v, %v", e, err)
		}
	})
}
