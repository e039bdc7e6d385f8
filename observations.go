package odes

import (
	"slices"
	"strings"

	"odes.dev/odes/typecheck"
)

// Observation is what an observe item compares with data.
type Observation struct {
	Name, Doc string
	// Text is the observed expression as it stands in the file.
	Text string
	// Outputs are those (states of a model that names none) that are the observed expression.
	Outputs       []string
	Unit          string // of the values; "" when unknown or dimensionless
	Table, Column string
	// T and Values are the rows that count, in the order of the table: those of the experiment, without missing values.
	T, Values []float64
	// Limits are their limits of quantification: of a value at or under its limit only that is known. nil when there are
	// none, or when they are computed from more than numbers and columns.
	Limits []float64
}

// Observations lists what the model compares with data. A model with
// experiments lists all rows, each of its experiments those that it uses.
func (m *Model) Observations() []Observation {
	var list []Observation
	for _, o := range m.checked.Observations {
		x := Observation{
			Name: o.Name, Doc: o.Doc, Text: strings.Join(strings.Fields(o.As.Text()), " "), Table: o.Table.Name, Column: o.Table.Columns[o.Column],
			T: slices.Clone(o.Table.Data[slices.Index(o.Table.Columns, "time")]), Values: slices.Clone(o.Table.Data[o.Column]), Limits: slices.Clone(o.Limits),
		}
		if u := o.Value.Type().Unit; u.Known() && !u.Plain() {
			x.Unit = u.String()
		}
		for _, out := range m.checked.Outputs {
			if o.Value == out.Value || words(o.As.Text()) == words(out.Value.Span().Text()) || refersTo(o.Value) != nil && refersTo(o.Value) == refersTo(out.Value) {
				x.Outputs = append(x.Outputs, out.Name)
			}
		}
		list = append(list, x)
	}
	return list
}

// words is an expression without its blanks, and without parentheses around the whole.
func words(text string) string {
	text = strings.Join(strings.Fields(text), "")
	if inner, ok := strings.CutPrefix(text, "("); ok && strings.HasSuffix(inner, ")") && !strings.ContainsAny(inner[:len(inner)-1], "()") {
		return inner[:len(inner)-1]
	}
	return text
}

// refersTo returns the symbol that e is the whole of; nil for anything else.
func refersTo(e typecheck.Expr) *typecheck.Symbol {
	if ref, ok := e.(*typecheck.Ref); ok {
		return ref.Sym
	}
	return nil
}

// Experiments returns the names of the model's experiments, in file order.
func (m *Model) Experiments() []string {
	var names []string
	for _, x := range m.experiments {
		names = append(names, x.name)
	}
	return names
}

// Experiment returns the model under the changes of an experiment; nil when
// there is none of that name. Its objectives are what the experiment adds to
// each negative log likelihood that the model reads.
func (m *Model) Experiment(name string) *Model {
	for _, x := range m.experiments {
		if x.name == name {
			return x.model
		}
	}
	return nil
}
