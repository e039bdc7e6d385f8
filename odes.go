// Package odes computes gradients of models made of ordinary differential equations.
//
// A model is a text: states, parameters, equations, events and objectives. These are the types that
// a program meets, in order:
//
//   - Parse and ParseFile compile a text to a Model. It is immutable, and any number of goroutines may
//     share it. Its methods Info, Symbols, Observations and Experiments say what it declares.
//   - Model.Solve integrates and returns a Solution: outputs over time, values of objectives, events.
//   - Model.Sensitivities also differentiates and returns Sensitivities: values of objectives, and their
//     gradients by the wanted Variables; on request Hessians and estimated errors.
//   - Options choose values of parameters (Assignment), settings (Setting), objectives and variables.
//     The zero value follows the text.
//   - Model.Prepare returns a Runner, which repeats Sensitivities with other values and keeps its memory.
//   - Model.Verify compares gradients with two other ways to compute them, and results with those of an
//     independent run. It returns a Verification.
//   - Model.Costates returns the adjoint states over time, Model.Bench measures how long gradients take,
//     and Check looks for errors in a text without a run in mind.
//
// An error carries diagnostics, each with a code, a place in the text and a message: diag.Of lists them.
// A run that fails is a RunError, which also says how far it came; a file that cannot be read is a
// FileError. Results carry warnings and notes in the same form.
//
// Results are compared with those of an independent run, unless the setting sens.trust is off; Trust says
// which numbers are not confirmed. That takes about as long again.
//
// Unless a setting asks for another mode, gradients are those of the computed solution, by discrete
// adjoints of explicit Runge–Kutta methods, exact through events. docs/methods.md describes the methods
// and modes and cites their sources.
//
// This package joins the compiler, the solvers and the sensitivity methods. It must not know how a text
// is parsed, how the machine runs, or how a method makes its steps. It reads no file that it was not
// handed, and prints nothing.
package odes

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/limits"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/measured"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/target"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/vm"
)

// Backend returns how programs compute here: generic, avx2 (threaded code) or native (machine code
// made for the model). Results do not depend on it. The environment variable ODES_BACKEND chooses.
func Backend() string { return vm.Backend() }

// Model is a compiled model. It is immutable, and goroutines may share it.
//
// If a model has experiments, its outputs, events and functionals are those of the run without the
// changes of any experiment. nll() and its derivatives are sums over the experiments, which are solved
// in parallel.
type Model struct {
	engine *run.Model
	// again parses the text with an item more, and at other times unless these are nil; nil: it cannot be parsed again.
	again func(item string, times []float64) (*Model, error)
}

// Warnings returns the warnings and notes of compilation.
func (m *Model) Warnings() []diag.Diagnostic { return m.engine.Notes }

// Info says what a model is called and counts what it declares.
type Info struct {
	Name, Title string
	File        string
	Experiment  string // that it is the model of alone; "" for that of the file
	Time        string // name of the independent variable
	TimeUnit    string // "" when unknown or dimensionless

	// Counts of declarations; an array counts once.
	States, Algs, Params, Discretes, Events, Outputs, Objectives int

	// Conserved are sums of states that no run changes between two events, with their values at the start, as in
	// "E + ES = 1". Check fills it in for models of up to a few hundred states.
	Conserved []string

	// Doses are what records of doses give, in each run that has any. Check fills it in.
	Doses []Dosing
}

// Dosing is what records of doses in a table give in a run.
type Dosing struct {
	Experiment string // "" for the model as it stands
	Table      string
	Records    int
	Doses      int // with those of ADDL, up to the end of the run
	Infusions  int // of them
	Steady     int // records of steady states
	Resets     int
	First      float64
	Last       float64
	Amount     float64  // of all doses
	Into       []string // states
}

// dosing sums up the doses of a run.
func dosing(experiment string, m *model.Model) (list []Dosing) {
	for _, r := range m.Regimens {
		d := Dosing{
			Experiment: experiment, Table: r.Table, Records: len(r.Given), Resets: r.Resets, First: math.Inf(1),
			Last: math.Inf(-1),
		}
		for _, x := range r.Given {
			d.Doses += x.Doses
			if x.Infusion {
				d.Infusions += x.Doses
			}
			if x.Steady {
				d.Steady++
			}
			d.First, d.Last = min(d.First, x.Time), max(d.Last, x.Last)
			d.Amount += float64(float64(x.Doses) * x.Amount)
			for _, s := range x.Into {
				if !slices.Contains(d.Into, s) {
					d.Into = append(d.Into, s)
				}
			}
		}
		list = append(list, d)
	}
	return list
}

// Info returns what the model says about itself.
func (m *Model) Info() Info {
	c := m.engine.Checked
	i := Info{
		Experiment: m.engine.Checked.Alone,
		Name:       c.Name, Title: c.Title,
		States: len(c.Rates), Algs: len(c.States) - len(c.Rates), Params: len(c.Params),
		Outputs: len(c.Outputs), Objectives: len(c.Objectives),
	}
	for _, x := range c.Discretes {
		if !x.Hidden {
			i.Discretes++
		}
	}
	for _, x := range c.Events {
		if !x.Hidden {
			i.Events++
		}
	}
	if c.Source != nil {
		i.File = c.Source.Name()
	}
	if c.Time != nil {
		i.Time = c.Time.Name
		if u := c.Time.Type.Unit; u.Known() && !u.Plain() {
			i.TimeUnit = u.String()
		}
	}
	return i
}

// Symbol describes a name that a model declares.
type Symbol struct {
	Kind  string // "time", "param", "state", "alg", "discrete", "output", "objective" or "event"
	Name  string
	Doc   string
	Unit  string // "" when unknown or dimensionless
	Shape []int
	// Lo and Hi bound a param; ±Inf where nothing was written.
	Lo, Hi float64
	// Values are those of a param, row-major; nil for everything else. Control tells that they are those of a control:
	// the last axis has its pieces.
	Values  []float64
	Control bool
	// Written is the form in which elements are written where Name is of copies of a component: "c[].V"; else "".
	Written string
}

// Written returns the form in which elements of a name are written, "c[].V" for one of copies of a component; else "".
func (m *Model) Written(name string) string { return m.engine.Checked.Written(name) }

// Element returns the name of element k, from 0 and row by row: "k", "A[1,2]", "c[3].V".
func (s *Symbol) Element(k int) string { return target.Element(cmp.Or(s.Written, s.Name), s.Shape, k) }

// DerivativeUnit returns the unit of the derivative by v of an objective, or of an element of one
// ("y[3]"). It is "" when the unit is unknown or dimensionless.
func (m *Model) DerivativeUnit(objective string, v Variable) string {
	name := target.Array(objective)
	for _, o := range m.engine.Checked.Objectives {
		if o.Name != name {
			continue
		}
		symbols := m.engine.Checked.Params
		if v.Initial {
			symbols = m.engine.Checked.States
		}
		for _, s := range symbols {
			if u := o.Value.Type().Unit.Div(s.Type.Unit); s.Name == v.Name && u.Known() && !u.Plain() {
				return u.String()
			}
		}
	}
	return ""
}

// Symbols lists the declared names in the order of the kinds of Symbol. Values of params are those
// after the assignments of set.
func (m *Model) Symbols(set []Assignment) ([]Symbol, error) {
	var l diag.List
	pt := m.point(set, &l)
	if err := l.Err(); err != nil {
		return nil, err
	}
	c := m.engine.Checked
	var list []Symbol
	add := func(kind, name, doc string, t types.Type) *Symbol {
		s := Symbol{
			Kind: kind, Name: name, Written: c.Written(name), Doc: doc, Shape: t.Shape,
			Lo: math.Inf(-1), Hi: math.Inf(1),
		}
		if t.Unit.Known() && !t.Unit.Plain() {
			s.Unit = t.Unit.String()
		}
		list = append(list, s)
		return &list[len(list)-1]
	}
	if c.Time != nil {
		add("time", c.Time.Name, c.Time.Doc, c.Time.Type)
	}
	for _, p := range c.Params {
		s := add("param", p.Name, p.Doc, p.Type)
		s.Values, s.Control = pt.Param(p.Name), p.Control
		s.Lo, s.Hi, _ = limits.At(m.engine.System, pt, p)
	}
	for _, x := range c.States {
		kind := "state"
		if x.Kind == model.AlgSymbol {
			kind = "alg"
		}
		add(kind, x.Name, x.Doc, x.Type)
	}
	for _, x := range c.Discretes {
		if x.Hidden {
			continue
		}
		add("discrete", x.Name, x.Doc, x.Type)
	}
	for _, x := range c.Outputs {
		add("output", x.Name, x.Doc, x.Value.Type())
	}
	for _, x := range c.Objectives {
		add("objective", x.Name, x.Doc, x.Value.Type())
	}
	for _, x := range c.Events {
		if x.Hidden {
			continue
		}
		add("event", x.Name, x.Doc, types.Type{})
	}
	return list, nil
}

// Observation is what an observe item compares with data.
type Observation struct {
	Name, Doc string
	// Text is the observed expression as it stands in the file.
	Text string
	// Outputs are the outputs (states, if the model names no output) that equal the observed
	// expression.
	Outputs       []string
	Unit          string // of the values; "" when unknown or dimensionless
	Table, Column string
	// T and Values are the rows that count, in the order of the table. Rows with a missing value, and
	// those of other experiments, do not count.
	T, Values []float64
	// Ranges are the ranges of quantification of the rows. Of a value beyond its range, only that is
	// known. Ranges is nil when there are none, or when they depend on more than numbers and columns.
	Ranges []measured.Range
	// Noise is the name of the distribution of the data around the expression, such as normal. Width is the argument
	// that says how wide it is, as it stands in the file; "" for those that have none. Widths are its values in the
	// rows where it is a column of the table, else nil.
	Noise, Width string
	Widths       []float64
}

// Around returns the interval in which most data lie where the expression has the given value: as far as the width of
// the distribution to each side (a factor of exp(width) for distributions of logarithms), or the standard deviation of
// counts. Without a distribution nothing is known, and it returns value twice.
func (o Observation) Around(value, width float64) (lo, hi float64) {
	f := stdlib.Find(o.Noise, stdlib.Noise)
	switch {
	case f == nil:
		return value, value
	case f.Log:
		return float64(value * elem.Exp(-width)), float64(value * elem.Exp(width))
	case f.Counts && f.Width() == "":
		width = math.Sqrt(value)
	case f.Counts:
		width = math.Sqrt(value + float64(value*value)/width)
	}
	return value - width, value + width
}

// Observations lists what the model compares with data. A model with experiments lists all rows; each
// of its experiments lists those that it uses.
func (m *Model) Observations() []Observation {
	var list []Observation
	for _, o := range m.engine.Checked.Observations {
		x := Observation{
			Name: o.Name, Doc: o.Doc, Text: strings.Join(strings.Fields(o.As.Text()), " "), Table: o.Table.Name,
			Column: o.Table.Columns[o.Column],
			T:      slices.Clone(o.Table.Data[slices.Index(o.Table.Columns, "time")]),
			Values: slices.Clone(o.Table.Data[o.Column]), Ranges: slices.Clone(o.Ranges),
		}
		if u := o.Value.Type().Unit; u.Known() && !u.Plain() {
			x.Unit = u.String()
		}
		x.Noise = o.Noise.Name
		if w := o.Args[o.Noise.Width()]; w != nil {
			x.Width = strings.Join(strings.Fields(w.Span().Text()), " ")
			if row, is := w.(*model.Row); is {
				x.Widths = slices.Clone(o.Table.Data[row.Column])
			}
		}
		for _, out := range m.engine.Checked.Outputs {
			if o.Value == out.Value || words(o.As.Text()) == words(out.Value.Span().Text()) ||
				refersTo(o.Value) != nil && refersTo(o.Value) == refersTo(out.Value) {
				x.Outputs = append(x.Outputs, out.Name)
			}
		}
		list = append(list, x)
	}
	return list
}

// words returns an expression without its blanks, and without parentheses around the whole.
func words(text string) string {
	text = strings.Join(strings.Fields(text), "")
	if inner, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inner, ")") &&
		!strings.ContainsAny(inner[:len(inner)-1], "()") {
		return inner[:len(inner)-1]
	}
	return text
}

// refersTo returns the symbol if e is nothing but a reference to it; nil for other expressions.
func refersTo(e model.Expr) *model.Symbol {
	if ref, ok := e.(*model.Ref); ok {
		return ref.Sym
	}
	return nil
}

// Experiments returns the names of the model's experiments, in file order.
func (m *Model) Experiments() []string { return m.engine.Names() }

// Experiment returns the model under the changes of an experiment; nil if there is none of that name.
// Its objectives are what the experiment adds to each negative log likelihood that the model reads.
func (m *Model) Experiment(name string) *Model {
	for _, x := range m.engine.Experiments {
		if x.Name == name {
			return &Model{engine: x.Model}
		}
	}
	return nil
}
