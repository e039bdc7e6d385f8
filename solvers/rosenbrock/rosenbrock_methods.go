package rosenbrock

import (
	"sync"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/tableau"
)

// Family holds the Rosenbrock methods, for stiff systems.
var Family = solvers.Family{
	Name: "Rosenbrock",
	Doc: "Linearly implicit methods for stiff models: each stage solves a system of linear equations with the " +
		"Jacobian at the start of the step, which is factored once a step.",
	Methods: rosenbrockMethods(),
}

// rosenbrockTables lists the tables of the family.
var rosenbrockTables = []*rosenbrockTable{
	(*rosenbrockTable)(&tableau.Rosenbrock23), (*rosenbrockTable)(&tableau.ROS3P),
	(*rosenbrockTable)(&tableau.Rodas3), (*rosenbrockTable)(&tableau.Rodas4), rodas4p, rodas5p,
}

var rodas4p, rodas5p = (*rosenbrockTable)(&tableau.Rodas4P), (*rosenbrockTable)(&tableau.Rodas5P)

func rosenbrockMethods() []*solvers.Spec {
	var list []*solvers.Spec
	for _, t := range rosenbrockTables {
		read := sync.OnceValue(func() *rosenbrockScheme { return newRosenbrockScheme(t) })
		can := solvers.DenseDerivatives | solvers.SecondOrder | solvers.ComplexSteps | solvers.TangentErrors |
			solvers.StageSums | solvers.NeedsJacobian
		if t.Algebraic {
			can |= solvers.MassMatrix
		}
		list = append(list, &solvers.Spec{
			Name: t.Name, Title: t.Title, Prose: t.Prose, Source: t.Source, Order: t.Order, Embedded: t.Embedded,
			Can: can,
			New: func(size solvers.Size, lanes int) solvers.Method { return newRosenbrock(read(), size, lanes) },
		})
	}
	return list
}
