package vm_test

import (
	"fmt"

	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// The right-hand side of a logistic equation, for two lanes of states that share a rate.
func ExampleCompile() {
	t, err := tape.Parse("tape logistic\n in x lane\n in r\n %2 = mul r x : lane\n %3 = mul %2 x : lane\n" +
		" %4 = sub %2 %3 : lane\n out dx %4\n")
	if err != nil {
		panic(err)
	}
	p, err := vm.Compile(t, vm.Options{Lanes: 2})
	if err != nil {
		panic(err)
	}
	m := p.NewMachine() // one for each goroutine
	x, r, dx := []float64{0.5, 0.25}, []float64{2}, make([]float64, 2)
	m.SetInput(0, x)
	m.SetInput(1, r)
	m.SetOutput(0, dx, false)
	m.Run()
	fmt.Println(dx)
	x[0] = 0.75 // inputs are read where they are
	m.Run()
	fmt.Println(dx)
	// Output:
	// [0.5 0.375]
	// [0.375 0.375]
}
