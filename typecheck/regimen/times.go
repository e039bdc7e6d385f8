package regimen

import (
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/units"
)

// Times are what a table with other times than its own is made of (Env.Times).
type Times struct {
	Own   []float64 // of the rows
	Kinds []string  // of the rows: what measurements of one kind have in common
	// Where rows are records of doses, Subjects tells the subject of each row, and Records reads them; else nil.
	Subjects []string
	Records  *records.Table
}

// Pick is a row of the new table: one at a time, as the last row of its kind up to then, or the first, is. A record
// stays as it is.
type Pick struct {
	Rows   []int // of the kind, in the order of time
	At     int   // the one among them
	Time   float64
	Record bool
}

// Picks lists the rows that a table gets: for each kind one at each time. Records of doses stay, and stand before
// measurements of their time.
func (t *Times) Picks(times []float64) (list []Pick) {
	groups := map[string][]int{}
	var order []string
	var kept []int
	for i := range t.Own {
		key := t.Kinds[i]
		if t.Records != nil {
			key = t.Subjects[i] + "\x00" + key
			if kind := t.Records.KindOf(i); kind != records.Measurement {
				kept = append(kept, i)
				continue
			}
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	for _, key := range order {
		rows := groups[key]
		slices.SortStableFunc(rows, func(a, b int) int {
			switch x, y := t.Own[a], t.Own[b]; {
			case x < y:
				return -1
			case x > y:
				return 1
			}
			return 0
		})
		for _, at := range times {
			p := Pick{Rows: rows, Time: at}
			for i, row := range rows {
				if t.Own[row] <= at {
					p.At = i
				}
			}
			list = append(list, p)
		}
	}
	if t.Records == nil {
		return list
	}
	return t.withRecords(list, kept)
}

// withRecords puts records among new measurements of their subjects, in the order of subjects and of time.
func (t *Times) withRecords(measured []Pick, kept []int) (list []Pick) {
	var subjects []string
	of := map[string][]Pick{}
	for _, i := range kept {
		of[t.Subjects[i]] = append(of[t.Subjects[i]], Pick{Rows: []int{i}, Time: t.Own[i], Record: true})
	}
	for _, p := range measured {
		s := t.Subjects[p.Rows[0]]
		of[s] = append(of[s], p)
	}
	for _, s := range t.Subjects {
		if !slices.Contains(subjects, s) {
			subjects = append(subjects, s)
		}
	}
	for _, s := range subjects {
		its := of[s]
		slices.SortStableFunc(its, func(a, b Pick) int {
			switch {
			case a.Time < b.Time:
				return -1
			case a.Time > b.Time:
				return 1
			}
			return 0
		})
		list = append(list, its...)
	}
	return list
}

// Number is what the row has in a column: for a measurement the last number of its kind up to its time, or the first;
// 1 where all are missing, and 0 for what would make it a record.
func (p *Pick) Number(column []float64, record bool) float64 {
	if p.Record {
		return column[p.Rows[0]]
	}
	if record {
		return 0
	}
	for i := p.At; i >= 0; i-- {
		if x := column[p.Rows[i]]; !math.IsNaN(x) {
			return x
		}
	}
	for _, row := range p.Rows[p.At:] {
		if x := column[row]; !math.IsNaN(x) {
			return x
		}
	}
	return 1
}

// Named returns which columns of records those of a table are, by their names: those that the item names, or those that
// are called so.
func Named(it *ast.Doses, columns []string) map[string]string {
	list := map[string]string{}
	for _, x := range it.Items {
		if x.Target != nil {
			break
		}
		if m, is := x.Value.(*ast.Member); is && x.Key != nil {
			list[m.Name.Name] = strings.ToUpper(x.Key.Name)
		}
	}
	for _, name := range columns {
		if up := strings.ToUpper(name); list[name] == "" && slices.Contains(records.Columns, up) {
			list[name] = up
		}
	}
	return list
}

// Reading lists the columns of a table by whose values experiments are made, and those by which observations choose
// among its rows.
func Reading(f *ast.File, table string) (subjects, kinds []string) {
	for _, item := range f.Items {
		switch it := item.(type) {
		case *ast.Experiment:
			if m, is := it.By.(*ast.Member); is && it.From != nil && it.From.Name == table {
				subjects = append(subjects, m.Name.Name)
			}
		case *ast.Observe:
			if it.Where == nil {
				continue
			}
			ast.Inspect(it.Where, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.Name:
					kinds = append(kinds, n.Name)
				case *ast.Member:
					kinds = append(kinds, n.Name.Name)
					return false
				}
				return true
			})
		}
	}
	return subjects, kinds
}

// OtherClock is the warning about a column that is Unclocked: its name, that of the table, the units of the model's
// time and of the table's.
const OtherClock = "column %q of %q has no unit and counts with %s, the time of the model, but `time` of the table " +
	"is in %s: give the column a unit"

// Unclocked reports whether a column of records that counts in time has numbers and no unit.
func (t *Table) Unclocked(name string) bool {
	timed := name == records.Period || name == records.Length || name == records.Rate
	numbers := slices.ContainsFunc(t.Records.Columns[name], func(x float64) bool { return x > 0 })
	return timed && numbers && !t.Units[name].Known()
}

// Convert converts a column of records to another unit of the same dimension.
func (t *Table) Convert(name string, to units.Unit) {
	factor := units.Factor(t.Units[name], to)
	list := slices.Clone(t.Records.Columns[name])
	for i := range list {
		list[i] = float64(list[i] * factor)
	}
	t.Records.Columns[name], t.Units[name] = list, to
}
