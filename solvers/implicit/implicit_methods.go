// Package implicit makes implicit Runge–Kutta methods of tables, and additive ones, which solve equations with a part
// of the rates: steps, tangents, transposes, second derivatives, complex steps.
package implicit

import (
	"fmt"
	"math/big"
	"slices"
	"sync"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/tableau"
)

// The values of θ that make the θ-method stable for whatever decays.
const (
	leastTheta = 0.5
	mostTheta  = 1
)

// Family holds the implicit Runge–Kutta methods, for stiff systems.
var Family = solvers.Family{
	Name: "implicit Runge–Kutta",
	Doc: "Methods for stiff models whose stages solve nonlinear equations, by Newton's method: one after the other " +
		"with one matrix, or all at once.",
	Methods: implicitMethods(),
	Settings: []solvers.MethodSetting{
		{Name: "theta", Doc: "sets the weight of the end in method = theta", Not: "has none", Any: true},
	},
	With: func(m *solvers.Spec, values map[string]float64) (*solvers.Spec, error) {
		theta := values["theta"]
		switch {
		case m.Name != "theta":
			return nil, fmt.Errorf("theta sets the weight of the end in method = theta; %s has none", m.Name)
		case !(theta >= leastTheta && theta <= mostTheta):
			return nil, fmt.Errorf("theta = %g: theta takes %g to %d, where it is stable for whatever decays",
				theta, leastTheta, mostTheta)
		}
		return thetaMethod(theta), nil
	},
}

func implicitMethods() []*solvers.Spec {
	var list []*solvers.Spec
	for _, t := range tableau.Implicits() {
		words := implicitTable{Implicit: t}
		list = append(list, implicitSpec(words, func(t implicitTable) *implicitTable { return &t }))
	}
	trapezoidal := thetaWords
	trapezoidal.Name, trapezoidal.Title = "trapezoidal", "trapezoidal rule 2(3)"
	trapezoidal.Order, trapezoidal.Embedded = 2, 3
	trapezoidal.Prose = "For mildly stiff models at crude tolerances, and for Crank–Nicolson's scheme of parabolic " +
		"equations: A-stable, without damping of what decays fast. The estimate compares with Simpson's rule."
	list = append(list,
		implicitSpec(trapezoidal, func(t implicitTable) *implicitTable { return thetaTable(t, 0.5) }), thetaMethod(0.5))
	for _, m := range []struct {
		stages int
		table  func(t implicitTable, s int) *implicitTable
		order  int
		name   string
		title  string
		prose  string
		source string
	}{
		{2, gaussTable, 4, "gauss4", "Gauss 4(3)", gaussProse, gaussSource},
		{3, gaussTable, 6, "gauss6", "Gauss 6(4)", gaussProse, gaussSource},
		{2, radauTable, 3, "radau3", "Radau IIA 3(2)", radauProse, radauSource},
		{3, radauTable, 5, "radau5", "Radau IIA 5(3)", radauProse, radauSource},
		{5, radauTable, 9, "radau9", "Radau IIA 9(5)", radauProse, radauSource},
		{7, radauTable, 13, "radau13", "Radau IIA 13(7)", radauProse, radauSource},
		{3, lobattoTable, 4, "lobatto_iiic4", "Lobatto IIIC 4(3)", lobattoProse, lobattoSource},
	} {
		w := implicitTable{Implicit: tableau.Implicit{
			Name: m.name, Title: m.title, Prose: m.prose, Source: m.source, Order: m.order,
		}}
		switch w.Order {
		case 2 * m.stages: // Gauss
			w.Embedded, w.DenseOrder = 1+m.stages, 1+m.stages
		default:
			w.Embedded, w.DenseOrder = m.stages, m.stages
		}
		list = append(list, implicitSpec(w, func(t implicitTable) *implicitTable { return m.table(t, m.stages) }))
	}
	return append(list, radauMethod(list))
}

const (
	gaussProse = "For oscillations without damping, over long times, at tight tolerances: A-stable and symplectic, " +
		"of the greatest order that so many stages can have. It does not damp what decays fast. All stages are " +
		"solved at once. The estimate compares slopes within the step."
	gaussSource = "E. Hairer, S. P. Nørsett, G. Wanner, Solving Ordinary Differential Equations I, section II.7; " +
		"estimate: derived for odes, docs/methods.md"
	radauProse = "For stiff models at tight tolerances: L-stable and stiffly accurate, with all stages solved at " +
		"once. The estimate is a divided difference of slopes."
	radauSource = "E. Hairer, G. Wanner, Journal of Computational and Applied Mathematics 111 (1999) 93–111, " +
		"doi:10.1016/S0377-0427(99)00134-X; estimate: as in their code RADAU5, and derived for odes, docs/methods.md"
	lobattoProse = "For stiff models at moderate tolerances: L-stable, algebraically stable and stiffly accurate, " +
		"with stages at both ends, all solved at once. The estimate is the difference of the slopes at the start."
	lobattoSource = "F. H. Chipman, BIT Numerical Mathematics 11 (1971) 384–388, doi:10.1007/BF01939405; " +
		"E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.5; estimate: derived for " +
		"odes, docs/methods.md"
)

// radauMethod returns the method whose order follows the run, of those in the list.
func radauMethod(list []*solvers.Spec) *solvers.Spec {
	var members []*solvers.Spec
	for _, name := range []string{"radau5", "radau9", "radau13"} {
		members = append(members, list[slices.IndexFunc(list, func(m *solvers.Spec) bool { return m.Name == name })])
	}
	m := solvers.Switching("radau", members...)
	m.Title = "Radau IIA 5, 9, 13"
	m.Prose = "For stiff models at tight tolerances: each step has order 5, 9 or 13. The order becomes higher where " +
		"Newton's method converges fast, and lower where it converges slowly. With steps of fixed length it is 5."
	return m
}

// implicitSpec returns the method of a table, whose figures are found when the method is first made.
func implicitSpec(t implicitTable, table func(t implicitTable) *implicitTable) *solvers.Spec {
	read := sync.OnceValue(func() *implicitScheme { return newImplicitScheme(table(t)) })
	return &solvers.Spec{
		Name: t.Name, Title: t.Title, Prose: t.Prose, Source: t.Source, Order: t.Order, Embedded: t.Embedded,
		Can: solvers.DenseDerivatives | solvers.SecondOrder | solvers.ComplexSteps | solvers.TangentErrors |
			solvers.StageSums | solvers.NeedsJacobian | solvers.MassMatrix,
		New: func(size solvers.Size, lanes int) solvers.Method { return newImplicitRungeKutta(read(), size, lanes) },
	}
}

var thetaWords = implicitTable{Implicit: tableau.Implicit{
	Name: "theta", Title: "θ-method 1(2)",
	Prose: "For parabolic equations at crude tolerances: y₁ = y₀ + h ((1-θ) f₀ + θ f₁). With the " +
		"setting theta = 0.5, the default, it is the trapezoidal rule, and with 1 backward Euler. What decays " +
		"fast is multiplied by 1 - 1/θ. The estimate compares with Simpson's rule.",
	Source: "E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, section IV.3; estimate: derived for " +
		"odes, docs/methods.md",
	Order: 1, Embedded: 2, DenseOrder: 1,
}}

// thetas keeps the methods by θ: float64 → *Spec.
var thetas sync.Map

// thetaMethod returns the method with that θ.
func thetaMethod(theta float64) *solvers.Spec {
	if m, ok := thetas.Load(theta); ok {
		return m.(*solvers.Spec)
	}
	words := thetaWords
	if theta == 0.5 {
		words.Order, words.Embedded, words.Title = 2, 3, "θ-method 2(3)"
	}
	m := implicitSpec(words, func(t implicitTable) *implicitTable { return thetaTable(t, theta) })
	kept, _ := thetas.LoadOrStore(theta, m)
	return kept.(*solvers.Spec)
}

// thetaTable fills in the figures of the method with θ. Its third row is the slope in the middle of Hermite's cubic,
// (y₀ + y₁)/2 + h/8 (k₀ - k₁), for Simpson's rule.
func thetaTable(t implicitTable, theta float64) *implicitTable {
	th := real512(theta)
	rest := real512(0).Sub(real512(1), th)
	sixth, eighth := real512(0).Quo(real512(1), real512(6)), real512(0.125)
	half := func(x *big.Float) *big.Float { return real512(0).Mul(real512(0.5), x) }
	ends := []*big.Float{rest, th}
	t.B, t.Filter, t.Twice = figuresOf(ends), tableau.Decimal(th), true
	t.A = t.B + "\n" + figuresOf([]*big.Float{real512(0).Add(half(rest), eighth), real512(0).Sub(half(th), eighth)})
	t.E = figuresOf([]*big.Float{real512(0).Sub(rest, sixth), real512(0).Sub(th, sixth)}) + " -2/3"
	if t.DenseB, t.DenseOrder = tableau.Decimal(rest)+"\n"+tableau.Decimal(th), 1; theta == 0.5 {
		t.DenseB, t.DenseOrder = "1 -1/2\n0 1/2", 2
	}
	return &t
}
