package source_test

import (
	"fmt"

	"odes.dev/odes/lang/source"
)

func ExampleFile_Position() {
	f := source.NewFile("decay.ode", "state x = 1\nx' = -μ*x\n")
	at := source.Span{File: f, Start: 18, End: 20}
	p := at.Begin()
	fmt.Printf("%q at %s:%d:%d\n", at.Text(), f.Name(), p.Line, p.Column)
	// Output:
	// "μ" at decay.ode:2:7
}
