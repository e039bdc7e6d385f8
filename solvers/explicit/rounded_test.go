package explicit

import (
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/kept"
	"odes.dev/odes/solvers/tableau"
)

// TestKeptTables holds the tables that are kept in double precision against the exact ones. They are those of the
// methods that runs use which name none.
func TestKeptTables(t *testing.T) {
	var names []string
	var tables []any
	for _, tab := range []*tableau.Tableau{&tableau.Dopri5, &tableau.Dop853} {
		x, err := tab.Coefficients()
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, "&tableau."+strings.ToUpper(tab.Name[:1])+tab.Name[1:])
		tables = append(tables, *roundedFrom(x))
	}
	kept.Tables(t, "explicit", "rounded_kept.go", "package explicit\n\n"+
		"import \"odes.dev/odes/solvers/tableau\"\n\nvar keptTableaus = []struct {\nof *tableau.Tableau\nrounded\n}{\n",
		names, tables)
}
