package solvers

import (
	"sync"

	"odes.dev/odes/solvers/tableau"
)

// rosenbrockFamily holds the Rosenbrock methods, for stiff systems.
var rosenbrockFamily = Family{
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

func rosenbrockMethods() []*Spec {
	var list []*Spec
	for _, t := range rosenbrockTables {
		read := sync.OnceValue(func() *rosenbrockScheme { return newRosenbrockScheme(t) })
		can := DenseDerivatives | SecondOrder | ComplexSteps | TangentErrors | StageSums | NeedsJacobian
		if t.Algebraic {
			can |= MassMatrix
		}
		list = append(list, &Spec{
			Name: t.Name, Title: t.Title, Prose: t.Prose, Source: t.Source, Order: t.Order, Embedded: t.Embedded,
			Can: can,
			New: func(size Size, lanes int) Method { return newRosenbrock(read(), size, lanes) },
		})
	}
	return list
}
