package typecheck_test

import (
	"fmt"
	"os"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/typecheck"
)

func ExampleCheck() {
	const text = `model Decay
time t : [s] from 0 to 10
param k = 0.5 [1/s]
state x = 1 [mg]
x' = -k*x
objective J = final(x)
`
	var list diag.List
	m := typecheck.Check(parser.Parse(source.NewFile("decay.ode", text), &list), typecheck.Env{}, &list)
	if m == nil {
		panic(list.Err())
	}
	for _, s := range m.States {
		fmt.Println(s.Name, "in", s.Type.Unit)
	}
	if err := model.Dump(os.Stdout, m); err != nil {
		panic(err)
	}
	// Output:
	// x in mg
	// model Decay
	// time t : [s] from 0 to 10
	// param k : [1/s] = 0.5
	// state x : [mg] = 1
	// x' = (-k * x)
	// objective J : [mg] = final(x)
}
