package ast_test

import (
	"fmt"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

func ExampleFormat() {
	var list diag.List
	f := parser.Parse(source.NewFile("decay.ode", "param k=0.5 [1/s]#rate\nx'=- k*x"), &list)
	fmt.Print(ast.Format(f))
	fmt.Print(ast.Dump(f))
	// Output:
	// param k = 0.5 [1/s]  #rate
	// x' = -k*x
	// (param (var k (unit 0.5 [1/s])))
	// ('= x (* (- k) x))
}
