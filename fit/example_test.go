package fit_test

import (
	"context"
	"fmt"
	"log"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// Fits the model of the tutorial.
func ExampleRun() {
	m, err := odes.ParseFile("../docs/tutorial/fit.ode")
	if err != nil {
		log.Fatal(err)
	}
	r, err := fit.Run(context.Background(), m, fit.Options{Starts: 5})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("%s = %.4f\n", r.Objective.Name, r.Objective.Value)
	for _, x := range r.Estimates {
		fmt.Printf("%-3s %8.5f ± %.2g\n", x.Text(), x.Value, x.StdErr)
	}
	// Output:
	// loss = 4.7976
	// ka   0.94432 ± 0.45
	// k    0.17781 ± 0.026
	// V   21.96023 ± 2.9
	// lag  0.37274 ± 0.25
	// sd   0.09833 ± 0.018
}
