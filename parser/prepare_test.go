package parser_test

import (
	"sync"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// TestPrepare parses texts while a grammar is prepared, and after: one text takes it, and the others have their own.
//
//odes:goroutines
func TestPrepare(t *testing.T) {
	const text = "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k*x\nevent e when x < 0.5 { x = 1 }\n"
	for range 3 {
		var all sync.WaitGroup
		all.Go(parser.Prepare)
		for range 4 {
			all.Go(func() {
				var list diag.List
				if f := parser.Parse(source.NewFile("m.ode", text), &list); len(f.Items) != 5 || list.Len() > 0 {
					t.Errorf("%d items, and %v", len(f.Items), list.All())
				}
			})
		}
		all.Wait()
	}
}
