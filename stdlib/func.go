// Package stdlib is the table of what models can call: functions, operators,
// constants, units and embedded modules, each declared in one row from which
// the checker, the tape compiler, the derivatives, the help and the tests are
// derived. It is data; it evaluates nothing.
package stdlib

import (
	"fmt"
	"strings"
	"sync"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
)

// Class says how a function treats shapes, and so how it is checked and lowered.
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

// UnitRule says how units go through an elementwise function.
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
	Deriv   []string // of a Body, its derivatives by each parameter, for the reader; of an Op, the op has them
	Value   string   // the formula, for help
	Domain  string
	Kinks   string // where it is not differentiable
	Doc     string // one sentence
	Source  string
	Cases   []Case

	// Of distributions, whose Body is the negative logarithm of the density at y:
	Centre string // the parameter that the observed expression gives; "" for a prior only
	Log    bool   // Centre is the logarithm of the observed expression, and y is positive
	Scale  string // the parameter that has the unit of y, besides Centre
	Counts bool   // y is a whole number from 0
	Below  string // the negative logarithm of the probability of less than `from` (of its logarithm, with Log); "" where there is none

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

// Definition returns the tree of Body, lets and a result, whose free names are
// those of Args (and y, the observed value, for Noise). It is parsed on first
// use and shared: do not change it.
func (f *Func) Definition() *ast.Fn { return f.body.of(f.Name, f.Body) }

// BelowDefinition returns the tree of Below, whose free names are those of Args
// and `from`. It is shared: do not change it.
func (f *Func) BelowDefinition() *ast.Fn { return f.below.of(f.Name+" below", f.Below) }

// Case is an executed example of a row: f(In…) = Out.
type Case struct {
	In  []float64
	Out float64
}

// ParseUnit parses a unit in brackets, "[mg/L]"; nil when it is not one. It
// serves the headers of data files.
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
