// Package explicit makes explicit Runge–Kutta methods of tables, among them those of Chebyshev: steps, tangents,
// transposes, second derivatives, complex steps.
package explicit

import (
	"sync"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/tableau"
)

// Family holds the explicit Runge–Kutta methods, most of them pairs with an embedded error estimate.
var Family = solvers.Family{
	Name:    "explicit Runge–Kutta",
	Doc:     "Each stage is a right-hand side at a combination of earlier stages; a method is a table of coefficients.",
	Methods: explicitMethods(),
}

// explicitTables lists the tables of the family. A method is added by a table in a file of its own and a line here; the
// tests find it by themselves.
var explicitTables = []*tableau.Tableau{
	&tableau.Euler,
	&tableau.Heun, &tableau.Midpoint, &tableau.Ralston,
	&tableau.Fehlberg2, &tableau.Heun3, &tableau.Bs3, &tableau.Ssprk3,
	&tableau.Rk4, &tableau.Rk38,
	&tableau.Rkf45, &tableau.Ck45, &tableau.Dopri5, &tableau.Tsit5, &tableau.Bs5,
	&tableau.Rk6, &tableau.Rk6fm, &tableau.Vern6, &tableau.Vern7, &tableau.Vern8, &tableau.Rkf78, &tableau.Dopri8,
	&tableau.Dop853, &tableau.Vern9,
}

func explicitMethods() []*solvers.Spec {
	var list []*solvers.Spec
	for _, t := range explicitTables {
		list = append(list, Explicit(t))
	}
	return list
}

// Explicit returns the explicit Runge–Kutta method of a table, which must not change afterwards. Making the method
// panics where the figures of the table are malformed; Coefficients says why.
func Explicit(t *tableau.Tableau) *solvers.Spec {
	s := explicitSpec(func() *tableau.Tableau { return t })
	s.Name, s.Title, s.Prose, s.Source = t.Name, t.Title, t.Prose, t.Source
	s.Order, s.Embedded = t.Order, t.Embedded
	return s
}

// Hermite returns m with Hermite's cubic in the place of its own dense output: an explicit Runge–Kutta method, and the
// same Spec for the same one; nil for other methods. Steps do not change, but what is read between their ends is of
// order 3.
func Hermite(m *solvers.Spec) *solvers.Spec { return hermites()[m] }

var hermites = sync.OnceValue(func() map[*solvers.Spec]*solvers.Spec {
	of := map[*solvers.Spec]*solvers.Spec{}
	for i, t := range explicitTables {
		own := Family.Methods[i]
		of[own] = own
		if t.Dense != (tableau.Dense{}) {
			cubic := *t
			cubic.Dense = tableau.Dense{}
			of[own] = Explicit(&cubic)
		}
	}
	return of
})

// explicitSpec returns a Spec without words for the method of a table, which is asked for when the method is first
// made: rational arithmetic takes longer than solving a small model.
func explicitSpec(table func() *tableau.Tableau) *solvers.Spec {
	read := sync.OnceValue(func() *scheme { return newScheme(table()) })
	return &solvers.Spec{
		Can: solvers.DenseDerivatives | solvers.SecondOrder | solvers.ComplexSteps | solvers.TangentErrors |
			solvers.StageSums | solvers.StiffnessTest | solvers.WholeSteps,
		New: func(size solvers.Size, lanes int) solvers.Method { return newRungeKutta(read(), size, lanes) },
	}
}
