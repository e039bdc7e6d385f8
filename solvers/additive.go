package solvers

import (
	"cmp"
	"math"
	"strings"
	"sync"

	"odes.dev/odes/solvers/tableau"
)

// additiveTable is a table with what methods make of it.
type additiveTable tableau.Additive

// additiveFamily holds the methods that solve equations with a part of the rates.
var additiveFamily = Family{
	Name: "additive Runge–Kutta",
	Doc: "Methods that treat terms of the rates that are linear in the states, such as diffusion, implicitly, " +
		"and all other terms explicitly (IMEX).",
	Methods: additiveMethods(),
}

func additiveMethods() []*Spec {
	var list []*Spec
	for _, t := range []*tableau.Additive{
		&tableau.ARS222, &tableau.ARS343, &tableau.KenCarp3, &tableau.KenCarp4, &tableau.KenCarp5,
	} {
		a := (*additiveTable)(t)
		words := implicitTable{Implicit: tableau.Implicit{
			Name: a.Name, Title: a.Title, Source: a.Source, Order: a.Order, Embedded: a.Embedded,
			Prose: "For large models at " + a.Tolerances + " tolerances whose linear terms are stiff and whose " +
				"others are not, as diffusion with mild reactions: the matrix of the linear terms is the only one. " +
				"Steps are as short as keeps the others stable.",
		}}
		m := implicitSpec(words, func(t implicitTable) *implicitTable { return a.expand(t) })
		m.Can = m.Can&^MassMatrix | SplitRates | StiffnessTest
		whole := m.New
		explicit := sync.OnceValue(func() *scheme { return whole(Size{}, 0).(*implicitRungeKutta).explicitPart() })
		m.New = func(size Size, lanes int) Method {
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
	explicit *scheme
}

// StabilityInterval implements StiffnessDetector.
func (a *additive) StabilityInterval() float64 { return a.explicit.StabilityInterval() }

// StableAlong implements StiffnessDetector.
func (a *additive) StableAlong(cos float64) float64 { return a.explicit.StableAlong(cos) }

// Eigenvalue implements StiffnessDetector: the steps do not tell.
func (a *additive) Eigenvalue(*Step) float64 { return math.NaN() }

// explicitPart returns the method that is left where the implicit part of the rates is zero: what bounds the steps.
func (r *implicitScheme) explicitPart() *scheme {
	own := func(t terms) (out terms) {
		for k, i := range t.row {
			if r.tab.parts[i] == ExplicitRates {
				out.row, out.c = append(out.row, i), append(out.c, t.c[k])
			}
		}
		return out
	}
	s := &scheme{info: Info{Stages: r.rows}, c: r.c, b: own(r.b)}
	for _, a := range r.a {
		s.a = append(s.a, own(a))
	}
	s.findStability()
	s.rays = sync.OnceValue(s.findRays)
	return s
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
	t.parts = []RatesPart{WholeRates}
	for _, p := range places {
		figures = append(figures, line(func(q place) string {
			return figure(strings.Fields(rows[q.side][p.stage]), q.stage)
		}))
		betas = append(betas, figure(dense[p.side], p.stage))
		t.parts = append(t.parts, []RatesPart{ImplicitRates, ExplicitRates}[p.side])
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
		splitOf(f).Take(r.tab.parts[i])
	}
}

// whole makes f whole again.
func (r *implicitRungeKutta) whole(f any) {
	if r.tab.parts == nil {
		return
	}
	if s := splitOf(f); s != nil {
		s.Take(WholeRates)
	}
}
