package stdlib_test

import (
	"fmt"

	"odes.dev/odes/stdlib"
)

func ExampleFind() {
	f := stdlib.Find("hypot", stdlib.Elementwise)
	fmt.Println(f.Doc)
	fmt.Println(f.Value)
	fmt.Println(f.Derivatives()[0])
	// Output:
	// length of the vector (a, b), without overflow
	// sqrt(a^2 + b^2)
	// if hypot(a, b) == 0 then 0 else a/hypot(a, b)
}
