package repl_test

import (
	"context"
	"os"

	"odes.dev/odes/repl"
)

func ExampleSession() {
	s := repl.New(repl.Config{})
	if err := s.OpenText("decay.ode", "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k\n"); err != nil {
		panic(err)
	}
	for _, entry := range []string{"final(x)", "k = 3", "final(x)^2"} {
		os.Stdout.WriteString("> " + entry + "\n")
		s.Do(context.Background(), os.Stdout, entry)
	}
	// Output:
	// > final(x)
	// -1
	// > k = 3
	// k = 3
	//             before  after  change
	//   final(x)      -1     -2  -100 %
	// > final(x)^2
	// 4
}
