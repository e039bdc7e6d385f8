package typecheck

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// TestSharedTables: a table in the file is read once for all experiments where nothing in it is a name of the model;
// nan is none. Without that, the time of a check grows with the square of the number of subjects.
func TestSharedTables(t *testing.T) {
	for text, want := range map[string]bool{
		"time = [0, 1]  y = [nan, 2.5]":      true,
		"time = [0, inf]  y = [-1, pi]":      true,
		"time = [0, 1]  y = [k, 2.5]":        false,
		"time = [0, 1]  y = [`nan`, 2.5]":    false,
		"time = [0, 1]  y = [sqrt(2), 2.5]":  false,
		"time = [0, 1]  y = [2 [mg], 3] [g]": true,
	} {
		var l diag.List
		table := fmt.Sprintf("data D { %s }", strings.ReplaceAll(text, "  ", "\n"))
		f := parser.Parse(source.NewFile("t.ode", table), &l)
		if l.HasErrors() {
			t.Errorf("%s: %v", text, l.Err())
			continue
		}
		if got := common(f.Items[0].(*ast.Data)); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
