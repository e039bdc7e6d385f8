// Package redose puts other doses into the table of a model: odes run --in subject_3 --doses new.csv. The records of
// one subject, or all of a model without experiments, are taken from another file; measurements and covariates stay.
package redose

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"odes.dev/odes/data"
	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	regimens "odes.dev/odes/typecheck/regimen"
)

// Model returns the text and the files of a model, in which the table of the doses holds those of another file. That is
// about one experiment, or "" for a model without any. A table that is written in the model becomes one of a file.
func Model(f *ast.File, files fs.FS, experiment string, doses *data.Table) (text string, with fs.FS, err error) {
	if doses, err = whole(doses); err != nil {
		return "", nil, err
	}
	r := &regimen{model: f, doses: doses}
	if err := r.find(files, experiment); err != nil {
		return "", nil, err
	}
	if err := r.read(); err != nil {
		return "", nil, err
	}
	table, err := r.merge()
	if err != nil {
		return "", nil, err
	}
	text = f.Source.Text()
	if r.written != nil {
		at := r.written.Span
		lines := strings.Repeat("\n", strings.Count(at.Text(), "\n")) // what follows stays on its line
		text = text[:at.Start] + fmt.Sprintf("data %s = csv(%q)", r.written.Name.Span.Text(), r.table.Name) + lines +
			text[at.End:]
	}
	return text, &over{FS: files, name: path.Clean(strings.ReplaceAll(r.table.Name, "\\", "/")), text: table}, nil
}

// whole returns a table with the lines of its rows, which one that a program has made may lack.
func whole(t *data.Table) (*data.Table, error) {
	to := *t
	rows := 0
	for i, c := range t.Cells {
		if i == 0 {
			rows = len(c)
		}
		if len(c) != rows {
			return nil, fmt.Errorf("the columns of %s differ in length", t.Name)
		}
	}
	if len(t.Cells) != len(t.Columns) {
		return nil, fmt.Errorf("%s has %d columns with %d names", t.Name, len(t.Cells), len(t.Columns))
	}
	for len(to.Lines) < rows {
		to.Lines = append(slices.Clip(to.Lines), len(to.Lines)+2) // below its names
	}
	return &to, nil
}

// Table reads a table of doses from a text, as it would from a file of that name: its ending tells how.
func Table(name, text string) (*data.Table, error) {
	base := path.Base(strings.ReplaceAll(name, "\\", "/"))
	if !fs.ValidPath(base) || base == "." {
		base = "doses.csv"
	}
	return data.ReadTable(&over{FS: nothing{}, name: base, text: []byte(text)}, base)
}

// nothing is a folder without files.
type nothing struct{}

// Open opens no file.
func (nothing) Open(name string) (fs.File, error) {
	return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
}

// over is files of which one has another text.
type over struct {
	fs.FS
	name string
	text []byte
}

// Open opens a file.
func (o *over) Open(name string) (fs.File, error) {
	if name == o.name {
		return &file{bytes.NewReader(o.text), name}, nil
	}
	return o.FS.Open(name)
}

// file is a file in memory, and what is known of it.
type file struct {
	*bytes.Reader
	name string
}

func (f *file) Stat() (fs.FileInfo, error) { return f, nil }

func (f *file) Close() error { return nil }

func (f *file) Name() string { return path.Base(f.name) }

func (f *file) Mode() fs.FileMode { return 0o444 }

func (f *file) ModTime() time.Time { return time.Time{} }

func (f *file) IsDir() bool { return false }

func (f *file) Sys() any { return nil }

// regimen is another regimen for the table of a model.
type regimen struct {
	model *ast.File
	doses *data.Table
	item  *ast.Doses
	table *data.Table // of the model
	// written is the table where it is written in the model; nil where it is a file.
	written *ast.Data
	named   map[string]int // columns of the table by their names in the model
	rows    []int          // of the subject, from 0
	of      string         // the subject, for messages

	kinds *records.Table // the rows of the table
	given *records.Table // those of the doses

	inputs    map[int]string // columns of the table that the model interpolates, with the kind of it
	occasions []int          // columns of occasions
}

// find finds the table, and the rows of the subject.
func (r *regimen) find(files fs.FS, experiment string) error {
	for _, it := range r.model.Items {
		if d, is := it.(*ast.Doses); is {
			if r.item != nil {
				return errors.New("the model has doses in several tables, so it is not clear which of them are meant")
			}
			r.item = d
		}
	}
	if r.item == nil {
		return errors.New("the model has no records of doses, so there is nothing that others take the place of; " +
			"they are said by: doses D { gut }")
	}
	name := r.item.Table.Name
	var call *ast.Call
	for _, it := range r.model.Items {
		d, is := it.(*ast.Data)
		switch {
		case !is || d.Name.Name != name:
		case d.Value == nil:
			r.written = d
		default:
			call, _ = d.Value.(*ast.Call)
		}
	}
	var err error
	switch file := fileOf(call); {
	case r.written != nil:
		call = &ast.Call{Args: make([]ast.Arg, 1)}
		r.table, err = inModel(r.written)
	case file != nil:
		r.table, err = data.ReadTable(files, file.Value)
	default:
		err = fmt.Errorf("there is no table %q that is data %[1]s = csv(…) or data %[1]s { … }", name)
	}
	if err != nil {
		return err
	}
	r.named = map[string]int{}
	taken := map[int]bool{}
	for _, a := range call.Args[1:] {
		if s, is := a.Value.(*ast.String); is && a.Key != nil {
			if k := column(r.table, s.Value); k >= 0 {
				r.named[a.Key.Name], taken[k] = k, true
			}
		}
	}
	for k, h := range r.table.Columns {
		if _, is := r.named[bare(h)]; !is && !taken[k] {
			r.named[bare(h)] = k
		}
	}
	inputs, occasions := regimens.Inputs(r.model, name)
	r.inputs = map[int]string{}
	for name, kind := range inputs {
		if k, is := r.named[name]; is {
			r.inputs[k] = kind
		}
	}
	for _, name := range occasions {
		if k, is := r.named[name]; is {
			r.occasions = append(r.occasions, k)
		}
	}
	return r.subject(name, experiment)
}

// fileOf returns the file of csv(…); nil where that is none.
func fileOf(call *ast.Call) *ast.String {
	if call == nil || len(call.Args) == 0 {
		return nil
	}
	file, _ := call.Args[0].Value.(*ast.String)
	return file
}

// inModel reads a table that is written in the model.
func inModel(d *ast.Data) (*data.Table, error) {
	t := &data.Table{Name: "the table " + d.Name.Name}
	for _, s := range d.Settings {
		a, is := s.Value.(*ast.Array)
		if !is || len(a.For) > 0 {
			return nil, fmt.Errorf("column %s of %s is no list of numbers or texts, so that rows cannot be changed",
				s.Key.Name, d.Name.Name)
		}
		heading := s.Key.Name
		if a.Unit != nil {
			heading += " " + a.Unit.Pos().Text()
		}
		var cells []string
		for _, e := range a.Elems {
			cell := e.Pos().Text()
			if text, is := e.(*ast.String); is {
				cell = text.Value
			}
			cells = append(cells, cell)
		}
		if t.Lines == nil {
			t.Lines = make([]int, len(cells))
		}
		if len(cells) != len(t.Lines) {
			return nil, fmt.Errorf("the columns of %s differ in length", d.Name.Name)
		}
		t.Columns, t.Cells = append(t.Columns, heading), append(t.Cells, cells)
	}
	return t, nil
}

// subject finds the rows of the experiment.
func (r *regimen) subject(table, experiment string) error {
	var names []string
	for _, it := range r.model.Items {
		e, is := it.(*ast.Experiment)
		if !is || e.From == nil || e.From.Name != table {
			continue
		}
		by, is := e.By.(*ast.Member)
		if !is {
			continue
		}
		k, is := r.named[by.Name.Name]
		if !is {
			continue
		}
		at := map[string]string{} // experiments by the values of the column
		for i, cell := range cells(r.table, k) {
			if at[cell] == "" {
				name := e.Name.Name + "_" + records.Plain(cell)
				for base, n := name, 2; slices.Contains(names, name); n++ {
					name = base + "_" + strconv.Itoa(n)
				}
				at[cell], names = name, append(names, name)
			}
			if at[cell] == experiment {
				r.rows, r.of = append(r.rows, i), experiment
			}
		}
	}
	base, _, occasion := strings.Cut(experiment, "_occasion_")
	switch {
	case len(r.rows) > 0:
		return nil
	case len(names) == 0 && experiment == "":
		for i := range r.table.Lines {
			r.rows = append(r.rows, i)
		}
		return nil
	case len(names) > 0 && experiment == "":
		return fmt.Errorf("other doses are those of one experiment: say which, such as %s", names[0])
	case occasion && slices.Contains(names, base):
		return fmt.Errorf("other doses take the place of those of all occasions: those of %s", base)
	}
	return fmt.Errorf("the experiment %q is not made from the rows of %q, so it has no doses", experiment, table)
}

// recordColumn returns the column of the table that holds a column of records; -1 for none.
func (r *regimen) recordColumn(name string) int {
	for _, it := range r.item.Items {
		if it.Target != nil {
			break
		}
		if m, is := it.Value.(*ast.Member); is && it.Key != nil && strings.EqualFold(it.Key.Name, name) {
			if k, is := r.named[m.Name.Name]; is {
				return k
			}
		}
	}
	for _, n := range sorted(r.named) {
		if strings.EqualFold(n, name) {
			return r.named[n]
		}
	}
	return -1
}

// own returns the column of the new doses that stands for column k of the table, which records call name; -1 for none.
func (r *regimen) own(k int, name string) (int, error) {
	at := -1
	for i, h := range r.doses.Columns {
		if k >= 0 && strings.EqualFold(bare(h), bare(r.table.Columns[k])) ||
			name != "" && strings.EqualFold(bare(h), name) {
			at = i
		}
	}
	if at >= 0 && k >= 0 {
		if a, b := unit(r.doses.Columns[at]), unit(r.table.Columns[k]); a != b && a != "" {
			return -1, fmt.Errorf("%s has %s, and %s has %s: write both in one unit", r.doses.Name, r.doses.Columns[at],
				r.table.Name, r.table.Columns[k])
		}
	}
	return at, nil
}

// read reads the records of both tables, and checks the new ones.
func (r *regimen) read() error {
	r.kinds = &records.Table{Columns: map[string][]float64{}}
	r.given = &records.Table{Columns: map[string][]float64{}}
	times, is := r.named["time"]
	if !is {
		return fmt.Errorf("%s has no column of times", r.table.Name)
	}
	at, err := r.own(times, "time")
	switch {
	case err != nil:
		return err
	case at < 0:
		return fmt.Errorf("%s has no column %s; it has %s", r.doses.Name, r.table.Columns[times],
			strings.Join(r.doses.Columns, ", "))
	}
	if r.kinds.Times, err = r.table.Numbers(times); err != nil {
		return err
	}
	if r.given.Times, err = r.doses.Numbers(at); err != nil {
		return err
	}
	for _, name := range records.Columns {
		k := r.recordColumn(name)
		if k >= 0 {
			if r.kinds.Columns[name], err = r.table.Numbers(k); err != nil {
				return err
			}
		}
		if at, err = r.own(k, name); err != nil {
			return err
		}
		if at >= 0 {
			if r.given.Columns[name], err = r.doses.Numbers(at); err != nil {
				return err
			}
		}
	}
	return r.check()
}

// check refuses what is no regimen.
func (r *regimen) check() error {
	if r.given.Columns[records.Amount] == nil {
		return fmt.Errorf("%s has no column AMT, so it has no doses; it has %s", r.doses.Name,
			strings.Join(r.doses.Columns, ", "))
	}
	all := make([]bool, len(r.given.Times))
	for i, x := range r.given.Times {
		all[i] = true
		switch {
		case x != x:
			return fmt.Errorf("%s, row %d: there is no time", r.doses.Name, i+1)
		case i > 0 && x < r.given.Times[i-1]:
			return fmt.Errorf("%s, row %d: the time goes back from %v to %v", r.doses.Name, i+1, r.given.Times[i-1], x)
		case r.given.KindOf(i) == records.Measurement || r.given.KindOf(i) == records.OtherEvent:
			return fmt.Errorf("%s, row %d: no dose is given; measurements stay those of %s", r.doses.Name, i+1,
				r.table.Name)
		}
	}
	if _, err := r.given.Read(all); err != nil {
		return fmt.Errorf("%s, %w", r.doses.Name, err)
	}
	last := -1
	for _, i := range r.rows {
		if last >= 0 && r.kinds.Times[i] < r.kinds.Times[last] {
			return fmt.Errorf("%s has several occasions, and other doses are those of one", r.of)
		}
		last = i
	}
	return nil
}

// merge writes the table with the new doses. At equal times they stand behind measurements.
func (r *regimen) merge() ([]byte, error) {
	of := map[int]bool{}
	for _, i := range r.rows {
		of[i] = true
	}
	header := slices.Clone(r.table.Columns)
	from := make([]int, len(header)) // columns of the new doses
	isRecord := map[int]string{}
	for _, name := range append([]string{"time"}, records.Columns...) {
		k := r.recordColumn(name)
		if name == "time" {
			k = r.named["time"]
		}
		at, err := r.own(k, name)
		if err != nil {
			return nil, err
		}
		if k < 0 && (at >= 0 || name == records.Kind && r.stays()) { // the table has no such column
			k = len(header)
			header, from = append(header, name), append(from, at)
		}
		if k >= 0 {
			isRecord[k] = name
			from[k] = at
		}
	}
	for k := range r.table.Columns {
		if _, is := isRecord[k]; is {
			continue
		}
		at, err := r.own(k, "")
		if err != nil {
			return nil, err
		}
		from[k] = at
	}
	out := [][]string{header}
	next := 0
	add := func(until float64, strict bool) {
		for ; next < len(r.given.Times) && (r.given.Times[next] < until || !strict); next++ {
			like := r.like(next)
			row := make([]string, len(header))
			for k := range row {
				name, is := isRecord[k]
				switch {
				case from[k] >= 0:
					row[k] = r.doses.Cells[from[k]][next]
				case !is:
					row[k] = r.covariate(k, like, r.given.Times[next])
				case name == records.Kind || name == records.Missed:
					row[k] = "1"
				default:
					row[k] = "0"
				}
			}
			out = append(out, row)
		}
	}
	end := r.rows[len(r.rows)-1]
	for i := range r.table.Lines {
		if of[i] {
			add(r.kinds.Times[i], true)
		}
		kind := r.kinds.KindOf(i)
		given := of[i] && kind != records.Measurement && kind != records.OtherEvent
		if !given || r.stays() {
			out = append(out, r.old(i, len(header), given, isRecord))
		}
		if i == end {
			add(0, false)
		}
	}
	var b strings.Builder
	w := csv.NewWriter(&b)
	if strings.HasSuffix(strings.ToLower(r.table.Name), ".tsv") {
		w.Comma = '\t'
	}
	if err := w.WriteAll(out); err != nil {
		return nil, err
	}
	return []byte(b.String()), nil
}

// old returns a row of the table, with as many cells. One that was given is a record that gives nothing.
func (r *regimen) old(i, cells int, given bool, isRecord map[int]string) []string {
	row := make([]string, cells)
	for k := range row {
		name := isRecord[k]
		switch {
		case given && name == records.Kind:
			row[k] = strconv.Itoa(records.OtherEvent)
		case given && name != "" && name != "time":
			row[k] = "0"
		case k < len(r.table.Cells):
			row[k] = r.table.Cells[k][i]
		case name == records.Kind:
			row[k] = "." // as its amount says
		default:
			row[k] = "0"
		}
	}
	return row
}

// stays reports whether rows of doses stay, as rows that give nothing: the model reads something else of them.
func (r *regimen) stays() bool { return len(r.inputs)+len(r.occasions) > 0 }

// covariate returns what a new dose has in a column of the table that its file lacks. What the model reads along its
// run stays as it is; the rest is that of a row of the table.
func (r *regimen) covariate(k, like int, time float64) string {
	kind, input := r.inputs[k]
	values, err := r.table.Numbers(k)
	if !input && !slices.Contains(r.occasions, k) || err != nil {
		return r.table.Cells[k][like]
	}
	var of regimens.Input
	for _, i := range r.rows {
		if x := values[i]; x == x {
			of.Times, of.Values = append(of.Times, r.kinds.Times[i]), append(of.Values, x)
		}
	}
	if !input {
		kind = "previous"
	}
	if x := of.At(kind, time); x == x {
		return strconv.FormatFloat(x, 'g', -1, 64)
	}
	return "." // which is left out
}

// like returns the row of the subject that a new dose takes from what its file does not have: its last record up to
// then, else its first one, else its first row.
func (r *regimen) like(dose int) int {
	first, last := -1, -1
	for _, i := range r.rows {
		switch r.kinds.KindOf(i) {
		case records.Measurement, records.OtherEvent:
			continue
		}
		if first < 0 {
			first = i
		}
		if r.kinds.Times[i] <= r.given.Times[dose] {
			last = i
		}
	}
	switch {
	case last >= 0:
		return last
	case first >= 0:
		return first
	}
	return r.rows[0]
}

// bare is a heading without its unit, and unit is that.
func bare(heading string) string {
	name, _, _ := strings.Cut(heading, "[")
	return strings.TrimSpace(name)
}

func unit(heading string) string {
	if _, u, is := strings.Cut(heading, "["); is {
		return "[" + u
	}
	return ""
}

// column finds a column by its heading, with or without the unit.
func column(t *data.Table, heading string) int {
	if k := slices.Index(t.Columns, heading); k >= 0 {
		return k
	}
	return slices.IndexFunc(t.Columns, func(h string) bool { return bare(h) == bare(heading) })
}

// cells returns a column as names of experiments are made from it.
func cells(t *data.Table, k int) []string {
	list := make([]string, len(t.Cells[k]))
	numbers, err := t.Numbers(k)
	for i := range list {
		if list[i] = strings.TrimSpace(t.Cells[k][i]); err == nil {
			list[i] = strconv.FormatFloat(numbers[i], 'g', -1, 64)
		}
	}
	return list
}

func sorted(m map[string]int) []string {
	var list []string
	for name := range m {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
