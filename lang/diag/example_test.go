package diag_test

import (
	"os"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

func ExampleWrite() {
	f := source.NewFile("decay.ode", "x' = -k*x**2\n")
	var list diag.List
	at := source.Span{File: f, Start: 9, End: 11}
	list.Errorf("foreign-operator", at, "the power operator is ^").Fix(at, "^", "write x^2")
	if err := diag.Write(os.Stdout, list.All(), diag.Plain); err != nil {
		panic(err)
	}
	// Output:
	// decay.ode:1:10: error: the power operator is ^ [foreign-operator]
	//   1 | x' = -k*x**2
	//     |          ^^
	// fix: write x^2
	//   1 | x' = -k*x^2
	//     |          +
}
