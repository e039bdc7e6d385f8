package odes_test

import (
	"context"
	"fmt"
	"log"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

const decay = `
model Decay
time t : [h] from 0 to 10 [h]
param k  = 0.3 [1/h]
param x0 = 1 [mg]
state x = x0
x' = -k*x
objective left = final(x)
objective area = integral(x)
solver { method = dopri5  rtol = 1e-9  atol = 1e-12 }
`

func ExampleModel_Sensitivities() {
	m, err := odes.Parse("decay.ode", decay, odes.ParseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := m.Sensitivities(context.Background(), odes.Options{Wrt: []string{"k", "x0"}})
	if err != nil {
		log.Fatal(err)
	}
	for i, value := range s.Values {
		fmt.Printf("%s = %.6f %s\n", value.Name, value.Value, value.Unit)
		for _, v := range s.Variables {
			fmt.Printf("  by %s: %.5f\n", v, s.Derivative(i, v)[0])
		}
	}
	// Output:
	// left = 0.049787 mg
	//   by k: -0.49787
	//   by x0: 0.04979
	// area = 3.167376 mg*h
	//   by k: -8.89835
	//   by x0: 3.16738
}

// Second derivatives: all of them, or the product of the Hessian with a vector.
func ExampleSensitivities_Second() {
	m, err := odes.Parse("decay.ode", decay, odes.ParseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := m.Sensitivities(context.Background(), odes.Options{
		Of: []string{"left"}, Wrt: []string{"k", "x0"},
		Settings:  []odes.Setting{{Key: "sens.order", Value: "2"}},
		Direction: []float64{1, 0.5}, // of k and x0
	})
	if err != nil {
		log.Fatal(err)
	}
	h := s.Second(0)
	for i := range s.Columns {
		fmt.Printf("%8.5f\n", h[i*s.Columns:(i+1)*s.Columns])
	}
	fmt.Printf("times the direction: %.5f\n", s.Products)
	// Output:
	// [ 4.97871 -0.49787]
	// [-0.49787  0.00000]
	// times the direction: [4.72977 -0.49787]
}

// Compile once, run with other values: a Model is immutable.
func ExampleOptions() {
	m, err := odes.Parse("decay.ode", decay, odes.ParseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for _, k := range []float64{0.1, 0.2, 0.4} {
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Set:      []odes.Assignment{{Name: "k", Values: []float64{k}}},
			Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-6"}},
			Of:       []string{"left"},
			Wrt:      []string{"k"},
		})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("k = %.1f: left = %.4f, d left/d k = %.4f\n", k, s.Values[0].Value, s.Gradient[0])
	}
	// Output:
	// k = 0.1: left = 0.3679, d left/d k = -3.6788
	// k = 0.2: left = 0.1353, d left/d k = -1.3534
	// k = 0.4: left = 0.0183, d left/d k = -0.1832
}

func ExampleModel_Solve() {
	m, err := odes.Parse("decay.ode", decay, odes.ParseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	s, err := m.Solve(context.Background(), odes.Options{Times: []float64{0, 5, 10}})
	if err != nil {
		log.Fatal(err)
	}
	for _, o := range s.Outputs {
		for i, t := range s.T {
			fmt.Printf("%s(%g) = %.4f\n", o.Name, t, o.Values[i])
		}
	}
	// Output:
	// x(0) = 1.0000
	// x(5) = 0.2231
	// x(10) = 0.0498
}

func ExampleModel_Costates() {
	m, err := odes.Parse("decay.ode", decay, odes.ParseOptions{})
	if err != nil {
		log.Fatal(err)
	}
	c, err := m.Costates(context.Background(), odes.Options{Of: []string{"left"}})
	if err != nil {
		log.Fatal(err)
	}
	x := c.Of[0][0]
	fmt.Printf("d %s / d %s(0) = %.5f, at the end %.0f\n", c.Objectives[0].Name, x.Name, x.Values[0],
		x.Values[len(c.T)-1])
	// Output:
	// d left / d x(0) = 0.04979, at the end 1
}

func ExampleParse_errors() {
	_, err := odes.Parse("wrong.ode", "state x = 1\nx' = -(x + 2\n", odes.ParseOptions{})
	for _, d := range diag.Of(err) {
		at := d.Span.Begin()
		fmt.Printf("line %d, column %d, %s: %s\n", at.Line, at.Column, d.Code, d.Message)
	}
	// Output:
	// line 2, column 13, unclosed-bracket: expected ")" to close the parenthesis opened at 2:7
}
