package rosenbrock

import (
	"testing"

	"odes.dev/odes/internal/testing/kept"
)

// TestKeptTables holds the tables that are kept in double precision against the exact ones. They are those of the
// methods that runs use which name none.
func TestKeptTables(t *testing.T) {
	var names []string
	var tables []any
	for _, tab := range []*rosenbrockTable{rodas4p, rodas5p} {
		x, err := tab.figures()
		if err != nil {
			t.Fatal(err)
		}
		names, tables = append(names, tab.Name), append(tables, *x.rounded())
	}
	kept.Tables(t, "rosenbrock", "rosenbrock_kept.go", "package rosenbrock\n\n"+
		"var keptRosenbrocks = []struct {\nof *rosenbrockTable\nrosenbrockRounded\n}{\n", names, tables)
}
