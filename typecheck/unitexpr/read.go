package unitexpr

import (
	"errors"
	"fmt"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Read reads a unit as a model writes it, without its brackets: "m/s^2". It knows the units of the language, and not
// those that a model declares.
func Read(text string) (units.Unit, error) {
	u := stdlib.ParseUnit("[" + text + "]")
	if u == nil {
		return units.Unit{}, fmt.Errorf("%q is not a unit", text)
	}
	var r reader
	unit := Evaluate(u, &r)
	return unit, r.err
}

// reader knows the units of the language, and keeps the first error.
type reader struct{ err error }

// Unit is that of a name.
func (r *reader) Unit(name string, _ source.Span) (units.Unit, bool) { return units.Lookup(name) }

// Mixes does not matter here.
func (r *reader) Mixes([2]string) {}

// OutOfRange keeps the error.
func (r *reader) OutOfRange(source.Span) { r.keep("an exponent of the unit is out of range") }

// NoUnit keeps the error, with advice.
func (r *reader) NoUnit(name string, at source.Span) {
	d := diag.Diagnostic{Message: fmt.Sprintf("%q is not a unit", name)}
	Meant(&d, name, at, nil)
	r.keep(d.Message)
}

func (r *reader) keep(message string) {
	if r.err == nil {
		r.err = errors.New(message)
	}
}
