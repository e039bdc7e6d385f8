// Package stdlib is the table of what models can call: functions, operators, constants, units and
// embedded modules. Each is declared in one row, from which the checker, the tape compiler, the
// derivatives, the help and the tests are derived. The package is data: it evaluates nothing, and
// knows no model and no solver.
package stdlib

import (
	"fmt"
	"strings"
	"sync"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
)

// Class says how a function treats shapes, and thereby how it is checked and lowered.
type Class uint8

// The classes.
const (
	Elementwise Class = iota // scalars broadcast; Op is applied element by element
	Comparison               // Elementwise, result is a condition
	Logic                    // and, or, not
	Reduction                // array → scalar: sum, prod, mean, min, max, norm; also over binders
	Structure                // transpose, diag, eye, ones, outer, dot, @ …: by name
	Grid                     // compile-time arrays: grid, logspace, steps, rand, randn
	Index                    // clamp, wrap: also whole numbers in subscripts
	Special                  // by name: noevent, pre, post, interp, load, csv, mass_action …
	Functional               // final, initial, integral …: only in objectives
	Noise                    // distributions of observe and priors
)

// UnitRule says how an elementwise function treats units.
type UnitRule uint8

// The unit rules.
const (
	UnitsNone    UnitRule = iota // arguments and result dimensionless
	UnitsSame                    // arguments and result share one unit
	UnitsProduct                 // *, dot, @, outer
	UnitsQuotient
	UnitsPower    // ^
	UnitsRoot     // square root; Cbrt: cube root
	UnitsSameToNo // arguments share one unit, result dimensionless (atan2, sign, comparisons)
	UnitsFree     // decided by name
)

// Func is a row of the table.
type Func struct {
	Name    string   // "tanh", or an operator: "+"
	Args    []string // names of the parameters, in order: {"x"}
	MinArgs int      // 0: all of Args
	Class   Class
	Op      tape.Op // for Elementwise, Comparison, Logic
	Units   UnitRule
	Mode    bool     // has jumps: on a state or time it is switched by an event (floor, sign, …)
	Body    string   // definition in odes syntax when there is no Op: "log(x)/log(10)"
	Deriv   []string // of a Body: its derivatives by each parameter, for the reader; an Op has its own
	Value   string   // the formula, for help
	Domain  string
	Kinks   string // where it is not differentiable
	Doc     string // one sentence
	Source  string
	Cases   []Case

	// For distributions, whose Body is the negative logarithm of the density at y:
	Centre string // the parameter that the observed expression gives; "" for a prior only
	Log    bool   // Centre is the logarithm of the observed expression, and y is positive
	Scale  string // the parameter that has the unit of y, besides Centre
	Counts bool   // y is a whole number from 0
	// the negative logarithm of the probability of less than `from` (with Log, of the logarithm of
	// y); "" where there is none
	Below string
	Mass  *Mass // nil: the probability within bounds has no closed form

	body, below definition
}

// definition is the body of a function in odes syntax, parsed on first use.
type definition struct {
	parse sync.Once
	tree  *ast.Fn
}

func (d *definition) of(name, text string) *ast.Fn {
	d.parse.Do(func() {
		if !strings.Contains(text, "return ") {
			text = "return " + text
		}
		var l diag.List
		file := parser.Parse(source.NewFile("std/"+name, "fn body() { "+text+" }"), &l)
		if l.HasErrors() || len(file.Items) != 1 {
			panic(fmt.Sprintf("stdlib: the definition of %s does not parse: %v", name, l.Err()))
		}
		d.tree = file.Items[0].(*ast.Fn)
	})
	return d.tree
}

// Definition returns the tree of Body: lets and a result, whose free names are those of Args (and
// y, the observed value, for Noise). It is parsed on first use and shared, so it must not be
// changed.
func (f *Func) Definition() *ast.Fn { return f.body.of(f.Name, f.Body) }

// BelowDefinition returns the tree of Below, whose free names are those of Args and `from`. It is
// shared, so it must not be changed.
func (f *Func) BelowDefinition() *ast.Fn { return f.below.of(f.Name+" below", f.Below) }

// Width returns the parameter of a distribution that says how far from the centre data lie; "" where the centre says
// that as well.
func (f *Func) Width() string {
	for _, a := range f.Args {
		if a != f.Centre && (f.Scale == "" || a == f.Scale) {
			return a
		}
	}
	return ""
}

// Case is an example of a row, which a test runs: f(In…) = Out.
type Case struct {
	In  []float64
	Out float64
}

// ParseUnit parses a unit in brackets, "[mg/L]". It returns nil for any other text. The headers of
// data files have such units.
func ParseUnit(text string) *ast.Unit {
	var l diag.List
	file := parser.Parse(source.NewFile("unit", "let x = 1 "+text), &l)
	if l.HasErrors() || len(file.Items) != 1 {
		return nil
	}
	let, ok := file.Items[0].(*ast.Let)
	if !ok {
		return nil
	}
	n, ok := let.Value.(*ast.Number)
	if !ok {
		return nil
	}
	return n.Unit
}

// NumberUnit returns the unit of a number of a distribution of a param with unit u.
func (f *Func) NumberUnit(key string, u units.Unit) units.Unit {
	switch key {
	case "lo", "hi":
		return u
	case "lambda":
		return units.One.Div(u)
	case f.Centre, f.Scale:
		if !f.Log {
			return u
		}
	case "mu", "s", "sd", "scale":
		if f.Centre == "" {
			return u
		}
	}
	return units.One
}

// Observable lists the distributions of observations.
func Observable() []string {
	var names []string
	for _, f := range Funcs() {
		if f.Class == Noise && f.Centre != "" {
			names = append(names, f.Name)
		}
	}
	return names
}
