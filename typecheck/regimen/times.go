package regimen

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/units"
)

// Times are what a table that is observed at other times than its own is made of (Env.Times). The model goes on to read
// what it reads of the table: rows of doses, of events, of inputs and of occasions stay. Rows at the new times are
// added, and they alone are observed.
type Times struct {
	File    *ast.File
	Name    string // of the table
	Times   []float64
	Clock   int // the column of times
	Columns []string
	Data    [][]float64
	Texts   []Texts
	// Choose evaluates a condition on rows of the table. It returns false if that takes more than the table.
	Choose func(ast.Expr) ([]bool, bool)

	*readers
	// Where rows are records of doses, records reads them, and named tells which columns are theirs; else nil.
	records *records.Table
	named   map[string]string
	marked  []bool  // rows of doses and events
	courses [][]int // the rows of each subject, each occasion with a clock of its own, in time
	data    [][]float64
	from    []int
	added   []bool
	known   map[part]Input
}

// Texts is a column of texts.
type Texts struct {
	Name  string
	Cells []string
}

// Move returns the columns of the new table, for each row that of the old one which it has its texts from, and which
// rows were added. The last result is false for a table that is not observed, which stays as it is.
func (t *Times) Move() (data [][]float64, from []int, added []bool, ok bool) {
	t.recorded()
	if t.readers = readersOf(t); len(t.observed) == 0 {
		return nil, nil, nil, false
	}
	t.mark()
	t.split()
	t.data, t.known = make([][]float64, len(t.Data)), map[part]Input{}
	t.write(t.groups())
	return t.data, t.from, t.added, true
}

// recorded finds the columns of records of doses.
func (t *Times) recorded() {
	for _, item := range t.File.Items {
		if it, is := item.(*ast.Doses); is && it.Table.Name == t.Name {
			t.named = Named(it, t.Columns)
			t.records = &records.Table{Times: t.Data[t.Clock], Columns: map[string][]float64{}}
		}
	}
	for i, name := range t.Columns {
		if t.named[name] != "" {
			t.records.Columns[t.named[name]] = t.Data[i]
		}
	}
}

// mark finds the rows of doses and events.
func (t *Times) mark() {
	t.marked = make([]bool, len(t.Data[t.Clock]))
	for i := range t.marked {
		t.marked[i] = t.records != nil && t.records.KindOf(i) != records.Measurement
	}
	for _, conditions := range t.events {
		all := make([]bool, len(t.marked))
		for i := range all {
			all[i] = true
		}
		for _, e := range conditions {
			rows, ok := t.Choose(e)
			for i := range all {
				all[i] = all[i] && (!ok || rows[i])
			}
		}
		for i, in := range all {
			t.marked[i] = t.marked[i] || in
		}
	}
}

// split finds the courses in time.
func (t *Times) split() {
	at := map[string]int{}
	for i, key := range t.keys(t.subjects) {
		k, known := at[key]
		if !known {
			k = len(t.courses)
			at[key], t.courses = k, append(t.courses, nil)
		}
		t.courses[k] = append(t.courses[k], i)
	}
	if t.records == nil {
		return
	}
	var pieces [][]int
	for _, course := range t.courses {
		rows := make([]bool, len(t.marked))
		for _, i := range course {
			rows[i] = true
		}
		its, why := t.records.Occasions(rows, false)
		if why != "" { // an error of those who read the rows
			pieces = append(pieces, course)
			continue
		}
		for _, piece := range its {
			var list []int
			for i, in := range piece {
				if in {
					list = append(list, i)
				}
			}
			pieces = append(pieces, list)
		}
	}
	t.courses = pieces
}

// keys returns what the rows have in some columns and conditions.
func (t *Times) keys(of keyed) []string {
	keys := make([]string, len(t.marked))
	for i, name := range t.Columns {
		for row := range keys {
			if slices.Contains(of.columns, name) {
				keys[row] += "\x00" + strconv.FormatFloat(t.Data[i][row], 'g', -1, 64)
			}
		}
	}
	for _, text := range t.Texts {
		for row := range keys {
			if slices.Contains(of.columns, text.Name) {
				keys[row] += "\x00" + text.Cells[row]
			}
		}
	}
	for _, holds := range of.conditions {
		for row := range keys {
			keys[row] += "\x00" + strconv.FormatBool(holds[row])
		}
	}
	return keys
}

// kind is measurements of one kind in one course.
type kind struct {
	course int
	rows   []int // in time
}

// groups lists the kinds of measurements in the order in which they first come.
func (t *Times) groups() (list []*kind) {
	of := t.kinds
	for _, text := range t.Texts {
		of.columns = append(of.columns, text.Name)
	}
	keys := t.keys(of)
	course := make([]int, len(keys))
	for k, rows := range t.courses {
		for _, i := range rows {
			course[i] = k
		}
	}
	at := map[string]*kind{}
	for i, key := range keys {
		if t.marked[i] && !t.measured(i) {
			continue
		}
		key = strconv.Itoa(course[i]) + key
		if at[key] == nil {
			at[key] = &kind{course: course[i]}
			list = append(list, at[key])
		}
		at[key].rows = append(at[key].rows, i)
	}
	for _, g := range list {
		t.sort(g.rows)
	}
	return list
}

// measured reports whether the row of an event is that of a measurement, too.
func (t *Times) measured(row int) bool {
	if t.records != nil {
		return false
	}
	return slices.ContainsFunc(t.Columns, func(name string) bool {
		return t.observed[name] && !math.IsNaN(t.Data[slices.Index(t.Columns, name)][row])
	})
}

// sort orders rows by their times. Those of one time stay in their order.
func (t *Times) sort(rows []int) {
	slices.SortStableFunc(rows, func(a, b int) int { return cmp.Compare(t.Data[t.Clock][a], t.Data[t.Clock][b]) })
}

// row is a row to be written.
type row struct {
	of   int   // the row of the table; -1 for a new one
	kind *kind // of measurements at the new time; nil for none
	time float64
}

// write writes the rows. Those of a course follow in time, measurements behind all else at a time. Where no row of the
// table stays, one kind follows after the other.
func (t *Times) write(kinds []*kind) {
	kept := make([][]row, len(t.courses))
	some := t.records != nil
	for k, rows := range t.courses {
		for _, i := range rows {
			if t.read || t.marked[i] {
				kept[k], some = append(kept[k], row{of: i, time: t.Data[t.Clock][i]}), true
			}
		}
	}
	sorted := make([][]int, len(t.courses))
	for k, rows := range t.courses {
		sorted[k] = slices.Clone(rows)
		t.sort(sorted[k])
	}
	for _, g := range kinds {
		for _, at := range t.Times {
			r := row{of: -1, kind: g, time: at}
			if !some {
				t.add(r, sorted[g.course])
				continue
			}
			r.of = t.there(r, sorted[g.course])
			same := func(x row) bool { return x.of == r.of && r.of >= 0 }
			if k := slices.IndexFunc(kept[g.course], same); k >= 0 {
				kept[g.course][k] = r
				continue
			}
			kept[g.course] = append(kept[g.course], r)
		}
	}
	for k, rows := range kept {
		if slices.Equal(sorted[k], t.courses[k]) { // else time goes back, which is for others to report
			slices.SortStableFunc(rows, func(a, b row) int { return cmp.Compare(a.time, b.time) })
		}
		for _, r := range rows {
			t.add(r, sorted[k])
		}
	}
}

// there returns the row of a measurement that stays, of the kind of r and at its time, behind the doses and events of
// this time; -1 for none.
func (t *Times) there(r row, course []int) int {
	n := t.before(r.kind.rows, r.time)
	if n == 0 || !t.read {
		return -1
	}
	i := r.kind.rows[n-1]
	if t.Data[t.Clock][i] != r.time || t.marked[i] {
		return -1
	}
	for k := t.before(course, r.time) - 1; course[k] != i; k-- {
		if t.marked[course[k]] {
			return -1
		}
	}
	return i
}

// add adds a row to the new table. The rows of its course are in time.
func (t *Times) add(r row, course []int) {
	t.added = append(t.added, r.kind != nil)
	of := r.of
	if of < 0 {
		of = r.kind.rows[max(0, t.before(r.kind.rows, r.time)-1)]
	}
	t.from = append(t.from, of)
	for i, name := range t.Columns {
		x := r.time
		if r.of >= 0 {
			x = t.Data[i][r.of]
		}
		missing := math.IsNaN(x) && r.kind != nil && (t.observed[name] || t.noise[name])
		if r.of < 0 && i != t.Clock || missing {
			x = t.number(i, name, r, course)
		}
		t.data[i] = append(t.data[i], x)
	}
}

// before returns how many of some rows, which are in time, are not later than a time.
func (t *Times) before(rows []int, time float64) int {
	return sort.Search(len(rows), func(k int) bool { return t.Data[t.Clock][rows[k]] > time })
}

// number is what a new row has in column i. It does not make a record or an event of the row, nor another kind of
// measurement, and it leaves the course of an input as it is. Otherwise it is the last of its subject.
func (t *Times) number(i int, name string, r row, course []int) float64 {
	rows := r.kind.rows
	switch kind, input := t.inputs[name]; {
	case t.named[name] != "":
		return 0
	case slices.Contains(t.subjects.columns, name) || slices.Contains(t.kinds.columns, name):
		return t.Data[i][t.from[len(t.from)-1]]
	case t.choosing[name]:
		return t.last(i, t.measurements(rows), r.time, math.NaN())
	case t.observed[name]:
		return t.last(i, rows, r.time, 1) // any number will do
	case t.noise[name]:
		return t.last(i, rows, r.time, math.NaN())
	case input:
		return t.input(i, kind, r.time, course)
	}
	return t.last(i, course, r.time, math.NaN())
}

// last returns the last number in a column among rows up to a time, or the first one, or what it has without any.
func (t *Times) last(i int, rows []int, time, without float64) float64 {
	n := t.before(rows, time)
	for k := n - 1; k >= 0; k-- {
		if x := t.Data[i][rows[k]]; !math.IsNaN(x) {
			return x
		}
	}
	for _, k := range rows[n:] {
		if x := t.Data[i][k]; !math.IsNaN(x) {
			return x
		}
	}
	return without
}

// input returns what an input is at a time, so that a row with it does not change the course of the input.
func (t *Times) input(i int, kind string, time float64, course []int) float64 {
	key := part{i, &course[0]}
	in, known := t.known[key]
	if !known {
		for _, k := range course {
			if x := t.Data[i][k]; !math.IsNaN(x) {
				in.Times, in.Values = append(in.Times, t.Data[t.Clock][k]), append(in.Values, x)
			}
		}
		t.known[key] = in
	}
	return in.At(kind, time)
}

// Input is the rows, in time, from which `interp` reads an input.
type Input struct{ Times, Values []float64 }

// At returns what the input is at a time by a kind of `interp`: a row with it does not change the input. It is NaN,
// which is left out, where no number has this effect.
func (in *Input) At(kind string, time float64) float64 {
	n := len(in.Times)
	before := sort.Search(n, func(k int) bool { return in.Times[k] > time })
	from := sort.SearchFloat64s(in.Times, time)
	switch {
	case n == 0 || kind != "previous" && kind != "next" && kind != "linear":
		return math.NaN()
	case kind == "next":
		return in.Values[min(from, n-1)]
	case before == 0:
		return in.Values[0]
	case kind == "previous" || before == n || from < before:
		return in.Values[before-1]
	}
	a, b := in.Times[before-1], in.Times[before]
	part := (time - a) / (b - a)
	return in.Values[before-1] + float64(part*(in.Values[before]-in.Values[before-1]))
}

// measurements returns rows without those of events.
func (t *Times) measurements(rows []int) (list []int) {
	for _, k := range rows {
		if !t.marked[k] {
			list = append(list, k)
		}
	}
	return list
}

// part is a column in the rows of a course, by the first of these.
type part struct {
	column int
	course *int
}

// readers are who reads a table, by its columns.
type readers struct {
	subjects, kinds keyed             // what tells runs apart, and observations of a run
	observed        map[string]bool   // columns that hold measurements
	noise           map[string]bool   // columns that the noise of observations reads
	events          [][]ast.Expr      // what chooses rows at whose times there are events, each as conditions that hold
	choosing        map[string]bool   // columns that these read
	inputs          map[string]string // columns that are interpolated, with the kind of it
	occasions       []string          // columns whose entries are those of random effects
	read            bool              // the model reads the table besides
}

// keyed is what tells rows apart: columns, and conditions on others.
type keyed struct {
	columns    []string
	conditions [][]bool
}

func readersOf(t *Times) *readers {
	r := &readers{
		observed: map[string]bool{}, noise: map[string]bool{}, choosing: map[string]bool{}, inputs: map[string]string{},
	}
	for _, item := range t.File.Items {
		if it, is := item.(*ast.Observe); is && it.From != nil {
			if name, is := t.member(it.From); is {
				r.observed[name] = true
			}
		}
	}
	for _, item := range t.File.Items {
		switch it := item.(type) {
		case *ast.Observe:
			r.observe(t, it)
		case *ast.Experiment:
			r.experiment(t, it)
		}
	}
	r.model(t)
	return r
}

// Inputs lists the columns of a table that a model reads along its run: those that it interpolates, with the kind of
// it, and those whose entries are occasions.
func Inputs(f *ast.File, table string) (interpolated map[string]string, occasions []string) {
	r := &readers{inputs: map[string]string{}}
	r.model(&Times{File: f, Name: table})
	return r.inputs, r.occasions
}

// model enters what the equations of a model read.
func (r *readers) model(t *Times) {
	for _, item := range t.File.Items {
		switch it := item.(type) {
		case *ast.Experiment, *ast.Doses, *ast.Objective, *ast.Constraint, *ast.Settings:
		case *ast.Observe:
			ast.Inspect(it.Value, func(n ast.Node) bool { return r.input(t, n) })
		default:
			ast.Inspect(item, func(n ast.Node) bool { return r.input(t, n) })
		}
	}
}

// observe enters what an observation reads: its noise row by row.
func (r *readers) observe(t *Times, it *ast.Observe) {
	if _, is := t.member(it.From); !is {
		return
	}
	for _, e := range joined(it.Where) {
		r.kinds.by(t, r, e)
	}
	for _, name := range t.columnsIn(it.Noise) {
		r.noise[name] = true
	}
}

// experiment enters what an experiment reads.
func (r *readers) experiment(t *Times, it *ast.Experiment) {
	if it.From != nil && it.From.Name == t.Name {
		if name, is := t.member(it.By); is {
			r.subjects.enter(t, r, []string{name})
		}
	}
	for _, x := range it.Items {
		switch {
		case x.Use != nil && x.Use.Name == t.Name:
			for _, e := range joined(x.Where) {
				r.subjects.by(t, r, e)
			}
		case x.Time != nil && len(t.columnsIn(x.Time)) > 0:
			var own []ast.Expr
			for _, e := range joined(x.Where) {
				if t.foreign(e) {
					r.subjects.by(t, r, e)
					continue
				}
				own = append(own, e)
				for _, name := range t.columnsOf(e) {
					r.choosing[name] = true
				}
			}
			r.events = append(r.events, own)
		}
	}
}

// input enters what the model reads of a table.
func (r *readers) input(t *Times, n ast.Node) bool {
	if m, is := n.(*ast.Member); is {
		_, its := t.member(m)
		r.read = r.read || its
	}
	if v, is := n.(*ast.Var); is && v.By != nil {
		r.occasions = append(r.occasions, t.columnsIn(v.By)...)
	}
	call, is := n.(*ast.Call)
	if !is || len(call.Args) < 3 {
		return true
	}
	fun, is := call.Fun.(*ast.Name)
	name, its := t.member(call.Args[1].Value)
	if !is || fun.Name != "interp" || !its {
		return true
	}
	kind := "linear"
	for _, a := range call.Args {
		if word, is := a.Value.(*ast.Name); is && a.Key != nil {
			kind = word.Name
		}
	}
	if other, known := r.inputs[name]; known && other != kind {
		kind = "several"
	}
	r.inputs[name] = kind
	return true
}

// by enters one of the conditions that hold together where a row is chosen: by the numbers that it compares, if these
// must be equal to something, or by whether it holds. Times are what changes.
func (k *keyed) by(t *Times, r *readers, e ast.Expr) {
	names := t.columnsOf(e)
	equal := true
	ast.Inspect(e, func(n ast.Node) bool {
		b, is := n.(*ast.Binary)
		equal = equal && (!is || !b.Op.Comparison() || b.Op == ast.Equal || b.Op == ast.NotEqual)
		return true
	})
	measures := slices.ContainsFunc(names, func(name string) bool { return r.observed[name] })
	timed := slices.Contains(names, t.Columns[t.Clock])
	if (!equal || measures) && !timed {
		if rows, ok := t.Choose(e); ok {
			k.conditions = append(k.conditions, rows)
			return
		}
	}
	k.enter(t, r, names)
}

// enter enters columns.
func (k *keyed) enter(t *Times, r *readers, names []string) {
	for _, name := range names {
		if name != t.Columns[t.Clock] && !r.observed[name] && t.named[name] == "" {
			k.columns = append(k.columns, name)
		}
	}
}

// member returns the column that D.column names, for the table.
func (t *Times) member(e ast.Node) (string, bool) {
	for {
		p, is := e.(*ast.Paren)
		if !is {
			break
		}
		e = p.X
	}
	m, is := e.(*ast.Member)
	if !is {
		return "", false
	}
	of, is := m.X.(*ast.Name)
	return m.Name.Name, is && of.Name == t.Name
}

// columnsIn lists the columns that D.column names in an expression; nil in none.
func (t *Times) columnsIn(e ast.Node) (list []string) {
	if e == nil {
		return nil
	}
	ast.Inspect(e, func(n ast.Node) bool {
		if name, is := t.member(n); is {
			list = append(list, name)
		}
		return true
	})
	return list
}

// columnsOf lists the columns that a condition on rows reads, with or without the name of the table.
func (t *Times) columnsOf(e ast.Expr) (list []string) {
	ast.Inspect(e, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Member:
			if name, is := t.member(n); is {
				list = append(list, name)
			}
			return false
		case *ast.Name:
			text := func(x Texts) bool { return x.Name == n.Name }
			if slices.Contains(t.Columns, n.Name) || slices.ContainsFunc(t.Texts, text) {
				list = append(list, n.Name)
			}
		}
		return true
	})
	return list
}

// foreign reports whether a condition reads another table.
func (t *Times) foreign(e ast.Expr) (is bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		m, member := n.(*ast.Member)
		if member {
			_, its := t.member(m)
			is = is || !its
		}
		return !member
	})
	return is
}

// joined lists the conditions that must all hold for e to hold; nil for none.
func joined(e ast.Expr) []ast.Expr {
	switch x := e.(type) {
	case nil:
		return nil
	case *ast.Paren:
		return joined(x.X)
	case *ast.Binary:
		if x.Op == ast.And {
			return append(joined(x.X), joined(x.Y)...)
		}
	}
	return []ast.Expr{e}
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
