package units_test

import (
	"fmt"

	"odes.dev/odes/lang/units"
)

// The units mg/L and ug/mL have the same dimension and the same scale.
func ExampleFactor() {
	mg, _ := units.Lookup("mg")
	liter, _ := units.Lookup("L")
	ug, _ := units.Lookup("ug")
	ml, _ := units.Lookup("mL")
	from, to := mg.Div(liter), ug.Div(ml)
	fmt.Println(from, "in", to, "is", units.Factor(from, to))
	fmt.Println(from.SameDimension(mg), from.SI())
	// Output:
	// mg/L in ug/mL is 1
	// false 0.001 m^-3 kg
}
