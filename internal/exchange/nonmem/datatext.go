package nonmem

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/exchange/sbml"
)

// recordItems are the data items that odes reads of records of doses, by their names.
var recordItems = []string{"AMT", "RATE", "EVID", "II", "ADDL", "SS", "MDV", "DUR"}

// needs reports whether the table of the model has a data item.
func (w *writer) needs(name string) bool {
	switch {
	case name == "ID" || name == "DV" || name == "AMT" || name == "TIME" && (!w.indexed || w.columns[name] != ""):
		return true
	case w.columns[name] != "" || w.columns["\x00"+name] != "":
		return true
	case slices.Contains(w.inputs, name):
		if name == "CMT" || name == "DUR" {
			return len(w.doses()) > 1 && name == "CMT"
		}
		return !w.pred && slices.Contains(recordItems, name)
	}
	return name == "START" || strings.HasPrefix(name, "KIND") || strings.HasPrefix(name, "LIMIT")
}

// hasDoses reports whether the model has an item of doses: for records, and for data items that change in time.
func (w *writer) hasDoses() bool {
	if w.pred {
		return w.follows()
	}
	return len(w.doses()) > 0 || w.follows() || w.eventful()
}

// follows reports whether a formula reads a data item that changes in time.
func (w *writer) follows() bool {
	for name := range w.columns {
		if name[0] != 0 && !w.data.fixed(name) {
			return true
		}
	}
	return false
}

// eventful reports whether rows are neither doses nor measurements.
func (w *writer) eventful() bool { return len(w.observed) < len(w.data.rows) }

// dataItem writes the table: the file, where odes reads the same from it, or its numbers.
func (w *writer) dataItem() {
	if text, ok := w.file(); ok {
		w.items.Item("%s", text)
		return
	}
	measured := w.isMeasured()
	w.items.Item("data %s {", w.table)
	for k, name := range w.data.columns {
		if !w.needs(name) && !w.mentioned(name) {
			continue
		}
		w.column(w.columnName(name), func(row int) string {
			x := w.data.rows[row][k]
			switch {
			case name == "DV" && (x.missing || !measured[row]), x.missing && w.data.heads[k] < 0:
				return "nan"
			}
			return decimal(x.value)
		})
	}
	if w.indexed || w.data.column("TIME") == nil {
		ids := w.data.column("ID")
		n := 0
		w.column("time", func(row int) string {
			if n++; row == 0 || ids[row] != ids[row-1] {
				n = 1
			}
			return strconv.Itoa(n)
		})
	}
	w.items.Line("}")
}

// isMeasured says which rows are measurements.
func (w *writer) isMeasured() map[int]bool {
	in := map[int]bool{}
	for _, row := range w.observed {
		in[row] = true
	}
	return in
}

// mentioned reports whether a noise names a column of the table.
func (w *writer) mentioned(name string) bool {
	found := false
	for _, l := range w.leaves {
		for _, e := range []*expr{l.sd, l.limit} {
			if e != nil {
				visit(e, func(x *expr) bool { found = found || x.op == column && x.name == name; return true })
			}
		}
	}
	return found
}

// column writes the numbers of a column.
func (w *writer) column(name string, of func(row int) string) {
	var lines []string
	line := ""
	const wide = 90
	for row := range w.data.rows {
		if len(line) > wide {
			lines, line = append(lines, line), ""
		}
		line += of(row) + ", "
	}
	w.items.Line("  %s = [%s]", name, strings.TrimSuffix(strings.Join(append(lines, line), "\n    "), ", "))
}

// file writes the table as the file that it is, if odes reads the same from it.
func (w *writer) file() (string, bool) {
	t := w.data
	if t.skipped || !t.commas || t.header == nil || t.clock || t.ragged || w.indexed || t.column("TIME") == nil ||
		strings.HasPrefix(t.path, "..") || strings.HasPrefix(t.path, "/") || strings.ContainsAny(t.path, "\\\"") ||
		!strings.HasSuffix(strings.ToLower(t.path), ".csv") {
		return "", false
	}
	seen := map[string]bool{}
	taken := map[int]string{}
	for i, k := range t.heads {
		if k >= len(t.header) {
			return "", false
		}
		taken[k] = t.columns[i]
	}
	names := ""
	for k, head := range t.header {
		head = strings.TrimSpace(head)
		item, ok := taken[k]
		name := w.columnName(item)
		switch {
		case seen[head], head == "", strings.ContainsFunc(head, func(r rune) bool {
			return r < ' ' ||
				r == '"' || r == '\\'
		}),
			strings.Contains(head, "["):
			return "", false
		case !ok:
			if slices.Contains(append([]string{"CMT", "TIME"}, recordItems...), strings.ToUpper(head)) {
				return "", false // odes would read what NONMEM drops
			}
		case head != name:
			names += fmt.Sprintf(", %s = %q", name, head)
		}
		seen[head] = true
	}
	if !w.whole() {
		return "", false
	}
	return fmt.Sprintf("data %s = csv(%q%s)", w.table, t.path, names), true
}

// whole reports whether what the table of the file lacks is missing for odes as for NONMEM.
func (w *writer) whole() bool {
	t := w.data
	harmless := []string{"AMT", "RATE", "II", "ADDL", "SS", "MDV", "CMT"}
	measured := w.isMeasured()
	hasDoses := w.hasDoses()
	for i, name := range t.columns {
		if !w.needs(name) && !w.mentioned(name) {
			continue
		}
		for row := range t.rows {
			c := t.rows[row][i]
			switch {
			case name == "DV" && !measured[row]:
				if !hasDoses && !c.missing {
					return false
				}
			case c.missing && name != "DV" && !slices.Contains(harmless, name):
				return false
			}
		}
	}
	return true
}

// dosesItem writes which state takes which doses.
func (w *writer) dosesItem(t *sbml.Items) {
	if !w.hasDoses() {
		return
	}
	all := w.doses()
	var lines []string
	for i := range w.compartments {
		if !all[i+1] && !(len(all) == 0 && i+1 == w.dose) {
			continue
		}
		line := w.states[i]
		if len(all) > 1 {
			line += fmt.Sprintf(" where CMT == %d", i+1)
			if i+1 == w.dose {
				line += " or CMT == 0"
			}
		}
		for _, word := range [][2]string{{"ALAG", "lag"}, {"F", "f"}, {"D", "dur"}, {"R", "rate"}} {
			name := fmt.Sprintf("%s%d", word[0], i+1)
			if e := w.pk.get(name); e != nil && all[i+1] {
				line += fmt.Sprintf("  %s = %s", word[1], w.printer.text(e))
			}
		}
		lines = append(lines, "  "+line)
	}
	if w.pred {
		lines = []string{"  " + w.states[0]}
	}
	for i := range all {
		if i > len(w.compartments) {
			w.fail(w.data.at, "a dose has CMT %d, and the model has %d compartments", i, len(w.compartments))
		}
	}
	for row := range w.data.rows {
		k := w.dosed(row)
		rate := w.data.get("RATE", row)
		const modelled = -2
		if k == 0 || rate >= 0 || math.IsNaN(rate) {
			continue
		}
		name := fmt.Sprintf("R%d", k)
		if rate == modelled {
			name = fmt.Sprintf("D%d", k)
		}
		if w.pk.get(name) == nil {
			w.fail(w.data.at, "a dose has RATE %v, for which $PK has to set %s", rate, name)
		}
	}
	t.Item("doses %s {\n%s\n}", w.table, strings.Join(lines, "\n"))
}
