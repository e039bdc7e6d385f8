package regimen

import (
	"fmt"
	"slices"

	"odes.dev/odes/lang/ast"
)

// Unused says what to write in an experiment for it to have the doses of a table; "" where one is made from the table
// or uses it, or where there are none.
func Unused(experiments []*ast.Experiment, table string, columns []string) (use string) {
	for _, it := range experiments {
		if it.From != nil && it.From.Name == table || slices.ContainsFunc(it.Items, func(x *ast.ExpItem) bool {
			return x.Use != nil && x.Use.Name == table
		}) {
			return ""
		}
		m, is := it.By.(*ast.Member)
		if it.From == nil || !is {
			continue
		}
		column := m.Name.Name
		if !slices.Contains(columns, column) {
			column = columns[0]
		}
		use = fmt.Sprintf("use %s where %s == %s.%s", table, column, it.From.Name, m.Name.Name)
	}
	if use == "" && len(experiments) > 0 {
		use = "use " + table
	}
	return use
}
