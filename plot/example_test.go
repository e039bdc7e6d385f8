package plot_test

import (
	"fmt"
	"os"

	"odes.dev/odes/plot"
)

func ExampleText() {
	bars := &plot.Bars{
		Title: "derivatives of height",
		Items: []plot.Bar{{Label: "e", Value: 2.54}, {Label: "T", Value: 0.68}, {Label: "v0", Value: -0.4}},
	}
	if err := plot.Text(os.Stdout, bars, plot.Terminal{Width: 40}); err != nil {
		panic(err)
	}
	// Output:
	// derivatives of height
	//   e      │███████████████████████ +2.54
	//   T      │██████▏ +0.68
	//   v0 ▐███│ -0.4
}

func ExampleSpark() {
	fmt.Println(plot.Spark([]float64{0, 1, 4, 9, 16, 9, 4, 1, 0}, 9))
	// Output:
	// ▁▁▃▅█▅▃▁▁
}
