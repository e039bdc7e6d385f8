package implicit

import (
	"cmp"
	"math"
	"strings"
	"sync"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
	"odes.dev/odes/solvers/tableau"
)

// additiveTable is a table with what methods make of it.
type additiveTable tableau.Additive

// Additive holds the methods that solve equations with a part of the rates.
var Additive = solvers.Family{
	Name: "additive Runge–Kutta",
	Doc: "Methods that treat terms of the rates that are linear in the states, such as diffusion, implicitly, " +
		"and all other terms explicitly (IMEX).",
	Methods: additiveMethods(),
}

func additiveMethods() []*solvers.Spec {
	var list []*solvers.Spec
	for _, t := range []*tableau.Additive{
		&tableau.ARS222, &tableau.ARS343, &tableau.KenCarp3, &tableau.KenCarp4, &tableau.KenCarp5,
	} {
		a := (*additiveTable)(t)
		words := implicitTable{Implicit: tableau.Implicit{
			Name: a.Name, Title: a.Title, Source: a.Source, Order: a.Order, Embedded: a.Embedded,
			Prose: "For large models at " + a.Tolerances + " tolerances with linear terms that are stiff and other " +
				"terms that are not, such as diffusion with mild reactions. Only the matrix of the linear terms is " +
				"factored. Steps must be short enough for the other terms to be stable.",
		}}
		m := implicitSpec(words, func(t implicitTable) *implicitTable { return a.expand(t) })
		m.Can = m.Can&^solvers.MassMatrix | solvers.SplitRates | solvers.StiffnessTest
		whole := m.New
		explicit := sync.OnceValue(func() *stages.Stability {
			return whole(solvers.Size{}, 0).(*implicitRungeKutta).explicitPart()
		})
		m.New = func(size solvers.Size, lanes int) solvers.Method {
			return &additive{whole(size, lanes).(*implicitRungeKutta), explicit()}
		}
		list = append(list, m)
	}
	return list
}

// additive is the Method of an additiveTable. The part that it evaluates has a stability interval, as explicit methods
// have.
type additive struct {
	*implicitRungeKutta
	explicit *stages.Stability
}

// StabilityInterval implements StiffnessDetector.
func (a *additive) StabilityInterval() float64 { return a.explicit.StabilityInterval() }

// StableAlong implements StiffnessDetector.
func (a *additive) StableAlong(cos float64) float64 { return a.explicit.StableAlong(cos) }

// Eigenvalue implements StiffnessDetector: the steps do not tell.
func (a *additive) Eigenvalue(*solvers.Step) float64 { return math.NaN() }

// Bounds implements PartDetector.
func (a *additive) Bounds() solvers.RatesPart { return solvers.ExplicitRates }

// explicitPart returns the stability of what is left where the implicit part of the rates is zero: it bounds the steps.
func (r *implicitScheme) explicitPart() *stages.Stability {
	own := func(t stages.Form) (out stages.Form) {
		for k, i := range t.Row {
			if r.tab.parts[i] == solvers.ExplicitRates {
				out.Row, out.C = append(out.Row, i), append(out.C, t.C[k])
			}
		}
		return out
	}
	var rows []stages.Form
	for _, a := range r.a {
		rows = append(rows, own(a))
	}
	end := own(r.b)
	s := stages.StabilityOf(r.rows, rows, &end)
	return &s
}

// expand fills in the figures of the method as one whose rows belong to a part each: of every stage the implicit row,
// which is solved for the slope f_I, and the explicit one, of the same value. Rows that nothing needs are left out.
func (a *additiveTable) expand(t implicitTable) *implicitTable {
	or := func(s, other string) []string { return strings.Split(cmp.Or(s, other), "\n") }
	rows := [2][]string{strings.Split(a.Implicit, "\n"), strings.Split(a.Explicit, "\n")}
	b := [2][]string{strings.Fields(a.B), strings.Fields(cmp.Or(a.BE, a.B))}
	e := [2][]string{strings.Fields(a.E), strings.Fields(cmp.Or(a.EE, a.E))}
	dense := [2][]string{or(a.DenseB, ""), or(a.DenseE, a.DenseB)}
	figure := func(list []string, j int) string {
		if j < len(list) {
			return list[j]
		}
		return "0"
	}
	stages := len(rows[0])
	type place struct{ stage, side int }
	var places []place
	for i := range stages {
		for side := range 2 {
			need := figure(b[side], i) != "0" || figure(e[side], i) != "0"
			for _, row := range rows[side] {
				need = need || figure(strings.Fields(row), i) != "0"
			}
			if need {
				places = append(places, place{i, side})
			}
		}
	}
	line := func(of func(p place) string) string {
		list := []string{"0"} // of row 0
		for _, p := range places {
			list = append(list, of(p))
		}
		return strings.Join(list, " ")
	}
	var figures []string
	betas := []string{"0"}
	t.parts = []solvers.RatesPart{solvers.WholeRates}
	for _, p := range places {
		figures = append(figures, line(func(q place) string {
			return figure(strings.Fields(rows[q.side][p.stage]), q.stage)
		}))
		betas = append(betas, figure(dense[p.side], p.stage))
		t.parts = append(t.parts, []solvers.RatesPart{solvers.ImplicitRates, solvers.ExplicitRates}[p.side])
	}
	t.A, t.DenseB = strings.Join(figures, "\n"), strings.Join(betas, "\n")
	t.B = line(func(p place) string { return figure(b[p.side], p.stage) })
	t.E = line(func(p place) string { return figure(e[p.side], p.stage) })
	t.DenseOrder = a.DenseOrder
	return &t
}

// guess returns the row whose slope is the first guess of row i.
func (t *implicitTable) guess(i int) int {
	for j := i - 1; j > 0 && t.parts != nil; j-- {
		if t.parts[j] == t.parts[i] {
			return j
		}
	}
	if t.parts != nil {
		return 0
	}
	return i - 1
}

// take makes f that of the part of row i.
func (r *implicitRungeKutta) take(f any, i int) {
	if r.tab.parts != nil {
		solvers.SplitOf(f).Take(r.tab.parts[i])
	}
}

// whole makes f whole again.
func (r *implicitRungeKutta) whole(f any) {
	if r.tab.parts == nil {
		return
	}
	if s := solvers.SplitOf(f); s != nil {
		s.Take(solvers.WholeRates)
	}
}
