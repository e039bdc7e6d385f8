package tapec

import (
	"fmt"
	"strconv"
	"strings"
)

// Name says what an input or output of a tape binds to: which value of a model
// (Role, and Of or the number in it), and which derivative of that value
// (Variation). Its text is the name that tapes carry: "p.k" is param k, "bar.p.k"
// its cotangent. Names are comparable, so they serve as keys of maps.
//
// Only String and ParseName know the text form. Transformations such as VJP take
// tapes with any names, since all they do is put the prefix of a variation in front.
type Name struct {
	Variation Variation
	Role      Role
	Of        string // what the role is of: "k" in "p.k", "3" in "F.3"; "" for a role that stands alone
}

// Variation tells a value from its derivatives.
type Variation uint8

// The variations. Those from Cotangent on add up where several tapes write one.
const (
	Primal           Variation = iota // the value itself
	Tangent                           // its derivative in a direction
	Cotangent                         // the derivative of something by it
	CotangentTangent                  // the tangent of its cotangent, of which second derivatives are made
	NumVariations
)

var variations = [NumVariations]string{
	Tangent:          "dot.",
	Cotangent:        "bar.",
	CotangentTangent: "dot.bar.",
}

// Of returns the text of a name's variation: the prefix of v in front of name.
func (v Variation) Of(name string) string { return variations[v] + name }

// Role is the part that a value plays in a model.
type Role uint8

// The roles, each with the form of its text.
const (
	noRole Role = iota

	// What a model is evaluated at.
	Time         // t
	State        // y.x, right limits where there are two
	LeftState    // ym.x
	Param        // p.k
	Discrete     // d.g, right limits where there are two
	LeftDiscrete // dm.g
	HeldMode     // m.0, by the number of the Mode
	KeptMode     // kept.0: what a Mode is to stay while others are chosen; +Inf to choose it as well
	Fired        // fired, one-hot over the elements of an event
	DataRow      // row, an entry for each column of the table

	// What tapes make of it.
	Rate         // dy.x
	Residual     // res.0, by the number of the model.Residual
	DelayOf      // tau.delay.1, a delay that moves
	Integrand    // dq.0, by the number of the Functional
	Functionals  // F.0, by the number of the Functional
	Objectives   // psi, all elements of all objectives
	Times        // T, of the instants
	Margins      // rho, of the guards
	Truths       // truth, of the guards
	ClockMargins // crho, of the clocks
	ClockTruths  // ctruth, of the clocks
	SignalValues // signal, all elements of what Signals finds
	InnerValues  // inner, all elements of what Narrow parts are functions of
	NarrowValues // narrow, all elements of what Narrow finds
	Priority     // prio, of all elements of events
	Holds        // ok, which asserts hold
	Gaps         // gap, the largest abs(left - right) of each invariant, then the largest side of each
	SavedOutput  // out.height
	RunWork      // c.0, work on params alone, done once a run
	SegmentWork  // e.0, work on what changes at events only, done once between two of them
	SharedWork   // w.0, work of a transpose that needs no cotangent, done once for all of them

	// What transformations add.
	Factor     // factor.0, of outer products; see Defer
	RowSide    // row.dot.p.A, of a matrix with one nonzero element; see Elements
	ColumnSide // column.dot.p.A
	Step       // step.k0.dy.x, what a tape of a whole step reads
	Made       // made.k1.dy.x, what it makes
	Entries    // jac.0, entries of a Jacobian
	numRoles
)

// form is how a role's text goes on behind its prefix.
type form uint8

const (
	alone    form = iota // it does not
	named                // a dot and any text
	numbered             // a dot and a number from 0
)

var roles = [numRoles]struct {
	prefix string
	form   form
}{
	Time:         {"t", alone},
	State:        {"y", named},
	LeftState:    {"ym", named},
	Param:        {"p", named},
	Discrete:     {"d", named},
	LeftDiscrete: {"dm", named},
	HeldMode:     {"m", numbered},
	KeptMode:     {"kept", numbered},
	Fired:        {"fired", alone},
	DataRow:      {"row", alone},
	Rate:         {"dy", named},
	Residual:     {"res", numbered},
	DelayOf:      {"tau", named},
	Integrand:    {"dq", numbered},
	Functionals:  {"F", numbered},
	Objectives:   {"psi", alone},
	Times:        {"T", alone},
	Margins:      {"rho", alone},
	Truths:       {"truth", alone},
	ClockMargins: {"crho", alone},
	ClockTruths:  {"ctruth", alone},
	SignalValues: {"signal", alone},
	InnerValues:  {"inner", alone},
	NarrowValues: {"narrow", alone},
	Priority:     {"prio", alone},
	Holds:        {"ok", alone},
	Gaps:         {"gap", alone},
	SavedOutput:  {"out", named},
	RunWork:      {"c", numbered},
	SegmentWork:  {"e", numbered},
	SharedWork:   {"w", numbered},
	Factor:       {"factor", numbered},
	RowSide:      {"row", named},
	ColumnSide:   {"column", named},
	Step:         {"step", named},
	Made:         {"made", named},
	Entries:      {"jac", numbered},
}

// Name returns the name of a role that stands alone, such as Time.
func (r Role) Name() Name {
	r.must(alone)
	return Name{Role: r}
}

// Called returns the name of what is called so in a role: State.Called("x") is "y.x".
func (r Role) Called(of string) Name {
	r.must(named)
	return Name{Role: r, Of: of}
}

// Number returns the name of the i-th in a role: Functionals.Number(3) is "F.3".
func (r Role) Number(i int) Name {
	r.must(numbered)
	return Name{Role: r, Of: strconv.Itoa(i)}
}

// must panics unless names of r have a form.
func (r Role) must(f form) {
	if r == noRole || r >= numRoles || roles[r].form != f {
		panic(fmt.Sprintf("tapec: names of role %d (%s) have another form", r, r))
	}
}

// String returns the text that names of r begin with, without its dot.
func (r Role) String() string {
	if r == noRole || r >= numRoles {
		return "no role"
	}
	return roles[r].prefix
}

// String returns the text of n.
func (n Name) String() string {
	text := n.Variation.Of(n.Role.String())
	if roles[n.Role].form == alone {
		return text
	}
	return text + "." + n.Of
}

// As returns n in another variation.
func (n Name) As(v Variation) Name {
	n.Variation = v
	return n
}

// Primal returns the name of what n is a variation of.
func (n Name) Primal() Name { return n.As(Primal) }

// Bar returns the name of the cotangent of n, a value.
func (n Name) Bar() Name {
	if n.Variation != Primal {
		panic(fmt.Sprintf("tapec: %v has no cotangent", n))
	}
	return n.As(Cotangent)
}

// Dot returns the name of the tangent of n, a value or a cotangent.
func (n Name) Dot() Name {
	switch n.Variation {
	case Primal:
		return n.As(Tangent)
	case Cotangent:
		return n.As(CotangentTangent)
	}
	panic(fmt.Sprintf("tapec: %v has no tangent", n))
}

// Number returns the number in a name such as "F.3".
func (n Name) Number() int {
	i, err := strconv.Atoi(n.Of)
	if err != nil {
		panic(fmt.Sprintf("tapec: %v has no number", n))
	}
	return i
}

// VariationOf returns the variation of the name that a text is of.
func VariationOf(text string) Variation {
	for v := CotangentTangent; v > Primal; v-- { // the longest prefix first
		if strings.HasPrefix(text, variations[v]) {
			return v
		}
	}
	return Primal
}

// ParseName reads the text of a name. An error tells of text that names nothing:
// of a role that does not exist, or that has another form.
func ParseName(text string) (Name, error) {
	n := Name{Variation: VariationOf(text)}
	rest := text[len(variations[n.Variation]):]
	prefix, of, dotted := strings.Cut(rest, ".")
	for r := noRole + 1; r < numRoles; r++ {
		if row := &roles[r]; row.prefix == prefix && (row.form != alone) == dotted {
			n.Role, n.Of = r, of
			if err := row.form.check(of); err != nil {
				return Name{}, fmt.Errorf("%q names nothing in a model: %w", text, err)
			}
			return n, nil
		}
	}
	return Name{}, fmt.Errorf("%q names nothing in a model: no role %q", text, prefix)
}

func (f form) check(of string) error {
	switch f {
	case named:
		if of == "" {
			return fmt.Errorf("nothing follows the dot")
		}
	case numbered:
		if i, err := strconv.Atoi(of); err != nil || i < 0 || strconv.Itoa(i) != of {
			return fmt.Errorf("%q is not a number", of)
		}
	}
	return nil
}

// MustName is ParseName for names of tapes that were made here: it panics where ParseName fails.
func MustName(text string) Name {
	n, err := ParseName(text)
	if err != nil {
		panic("tapec: " + err.Error())
	}
	return n
}

// ByName makes a function that picks inputs or outputs by their text, as Split
// and others take them, of one that picks them by their Name.
func ByName(pick func(Name) bool) func(text string) bool {
	return func(text string) bool { return pick(MustName(text)) }
}
