package analysis

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/data"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
)

// planned is what differs between members, and what is asked of them.
type planned struct {
	notes   []diag.Diagnostic
	indices *kindOfIndices // nil for none
}

// ofMembers are the flags of analyses that run a model for many sets of values.
var ofMembers = []Flag{
	Sens, Of, Wrt, Mode,
	{
		Name: "times", Kind: Times, Placeholder: "LIST", Request: "times",
		Help: "Outputs at these times instead of derivatives: from:step:to, or a list.",
	},
	{
		Name: "outputs", Kind: Names, Placeholder: "NAMES", Request: "outputs",
		Help: "Which outputs at --times, separated by commas; without it, all.",
	},
	{
		Name: "trust", Kind: Switch, Request: "trust",
		Help: "Compare every member with an independent run: about twice the time.",
	},
	Threads,
	{
		Name: "chunk", Kind: Whole, Placeholder: "N",
		Help: "Members that are computed at a time; 0 leaves it to odes.",
	},
	{Name: "workers", Workers: true, Placeholder: "WHERE", Help: "{workers}"},
	{
		Name: "draw", Kind: Many, Placeholder: "WHAT[=FILE]", Alias: "plot",
		Help: "Draw {memberpictures}. May be repeated.",
	},
	Output,
}

// behindMembers is what differs between members.
var behindMembers = &Behind{
	Name: "axes", Words: []string{"from", "to"},
	Help: "Values that differ between members: 'k ~ lognormal(0, 1)', or k from 0.1 to 10 points 20.", Request: "draw",
}

// memberFormats are the formats of members: statistics of them, or a file with all rows.
var memberFormats = func() (list []*report.Format) {
	for _, name := range []string{"table", "json"} {
		f := *report.FormatNamed(name)
		list = append(list, &f)
	}
	for _, f := range ensemble.Formats() {
		list = append(list, &report.Format{Name: f.Name, Doc: f.Doc, Rows: true})
	}
	return list
}()

func formatsOfMembers(Values) []*report.Format { return memberFormats }

// members runs members as plan says, which is given the settings of the ensemble block.
func members(
	ctx context.Context, a *Ask, plan func(a *Ask, job *ensemble.Job, block []odes.Setting) (*planned, error),
) (*Result, error) {
	o := a.Options
	job := &ensemble.Job{
		Model: a.Source, Set: ensemble.Assignments(o.Set), Solver: o.Solver, Sens: o.Sens, Of: o.Of, Wrt: o.Wrt,
		Chunk: a.Values.Number("chunk"), Times: ensemble.Reals(a.Times),
	}
	switch a.Values["trust"] {
	case "on":
		job.Trust = ensemble.All
	case "off":
		job.Trust = ensemble.None
	}
	var block []odes.Setting
	for _, s := range o.Settings {
		if strings.HasPrefix(s.Key, "ensemble.") {
			block = append(block, s)
		} else {
			job.Options = append(job.Options, s)
		}
	}
	var err error
	if job.Outputs, err = List("outputs", a.Values["outputs"]); err != nil {
		return nil, err
	}
	if text := a.Values["times"]; text != "" {
		at, err := TimesOf(text)
		if err != nil {
			return nil, err
		}
		job.Times = ensemble.Reals(at)
	}
	plans, err := plan(a, job, block)
	if err != nil {
		return nil, err
	}
	p, err := ensemble.OpenModel(job, a.Model)
	if err != nil {
		return nil, wrong(ctx, err)
	}
	if a.Format == nil {
		return forPrograms(ctx, a, p, plans)
	}
	return forPeople(ctx, a, p, plans)
}

// wrong returns an error of what was asked for; nil for nil.
func wrong(ctx context.Context, err error) error {
	if err == nil || diag.Of(err) != nil || ctx.Err() != nil {
		return err
	}
	return Wrongf("%v", err)
}

// axes reads what is named behind the model.
func (a *Ask) axes() ([]ensemble.Axis, error) {
	axes, err := ensemble.ReadAxes(a.Model, a.Options.Set, a.Behind)
	if err != nil {
		return nil, wrong(context.Background(), err)
	}
	return axes, nil
}

// members returns what is told how many of n members are done; nil where nobody listens.
func (a *Ask) members(n int) func(done int) {
	tell := a.Tell
	if tell == nil {
		return nil
	}
	return func(done int) {
		tell(Progress{Phase: odes.PhaseRuns, Steps: done, Done: float64(done) / float64(n)})
	}
}

// readRows reads a table of values. A heading names what is set, and may have a unit: `V [mL]`. Of a file of draws, the
// columns that are no values of the model are left out.
func readRows(m *odes.Model, path string, seen *input.Seen) (names []string, rows [][]float64, err error) {
	names, rows, _, err = readColumns(m, path, seen)
	return names, rows, err
}

// readColumns reads a table of values, and returns apart the columns that set nothing: see drawnName.
func readColumns(m *odes.Model, path string, seen *input.Seen) (
	names []string, rows [][]float64, others map[string][]float64, err error,
) {
	wrong := func(err error) error { return &odes.FileError{Path: path, Err: err} }
	t, err := data.ReadTable(input.Folder(filepath.Dir(path), seen), filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) { // the path is that of the command
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, nil, wrong(err)
	}
	symbols, err := m.Symbols(nil)
	if err != nil {
		return nil, nil, nil, err
	}
	others = map[string][]float64{}
	for k, head := range t.Columns {
		name, unit, _ := strings.Cut(head, " [")
		name, set := drawnName(m, strings.TrimSpace(name), symbols)
		column, err := t.Numbers(k)
		if err != nil {
			return nil, nil, nil, wrong(err)
		}
		if !set {
			others[name] = column
			continue
		}
		if slices.Contains(names, name) {
			return nil, nil, nil, wrong(fmt.Errorf("two columns are called %q", name))
		}
		if unit != "" {
			a, err := m.Convert(odes.Assignment{Name: name, Values: column, Unit: strings.TrimSuffix(unit, "]")})
			if err != nil {
				return nil, nil, nil, wrong(fmt.Errorf("column %q: %w", head, err))
			}
			column = a.Values
		}
		if rows == nil {
			rows = make([][]float64, len(column))
		}
		for i, x := range column {
			rows[i] = append(rows[i], x)
		}
		names = append(names, name)
	}
	if len(rows) == 0 {
		return nil, nil, nil, wrong(errors.New("it has no rows, only a heading; each row has the values of one member"))
	}
	return names, rows, others, nil
}

// forPeople runs all members of p and sums them up; where a format with rows is asked for, it keeps them in a journal.
func forPeople(ctx context.Context, a *Ask, p *ensemble.Problem, plan *planned) (*Result, error) {
	e := &report.Ensemble{Problem: p, Statistics: ensemble.NewStatistics(&p.Table)}
	config := ensemble.Config{
		Backend: ensemble.Local{Threads: a.Options.Threads}, Progress: a.members(p.Table.Members),
	}
	r := &Result{
		Of: e,
		Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
			if rows, ok := ensemble.FormatNamed(f.Name); ok && f.Rows {
				return rows.Write(w, p, config.Journal.Chunks(p, e.Findings))
			}
			if f.Name == "json" {
				return report.EnsembleJSON(w, h, e, opts)
			}
			return report.EnsembleTable(w, h, e, opts)
		},
		Despite: func(f *report.Format) bool {
			return ctx.Err() != nil && f.Name == "table" && e.Statistics.Members() > 0
		},
	}
	if a.Format.Rows {
		journal, err := a.journal(p)
		if err != nil {
			return nil, err
		}
		config.Journal = journal
	}
	if where := a.Values["workers"]; where != "" {
		backend, end, err := a.Workers(where)
		if err != nil {
			return nil, err
		}
		defer end()
		config.Backend = backend
	}
	if err := compute(ctx, a, e, plan, config); err != nil {
		e.Status = "partial"
		if j := config.Journal; ctx.Err() != nil && j != nil && !a.Direct {
			const say = "%d of %d parts are done and kept in %s.part; the same command goes on from there"
			a.note("kept", fmt.Sprintf(say, j.Len(), p.Chunks(), a.Path))
		}
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return r, err
	}
	r.Warnings = slices.Concat(plan.notes, e.Warnings())
	// That an objective has no value in some members, as the time of an event that does not come about, is an answer.
	if e.Statistics.Failed+e.Findings.Unconfirmed > 0 {
		r.Status = "partial"
	}
	return r, nil
}

// journal opens the file beside the output that keeps what is done.
func (a *Ask) journal(p *ensemble.Problem) (*ensemble.Journal, error) {
	part := a.Path + ".part"
	if a.Direct { // nothing stands beside it, and nothing is kept
		temp, err := os.CreateTemp("", "odes-*.part")
		if err != nil {
			return nil, output.Wrap(a.Path, err)
		}
		temp.Close()
		part = temp.Name()
		a.Later(func(bool) error { os.Remove(part); return nil })
	}
	j, err := ensemble.OpenJournal(part, p)
	if err != nil {
		return nil, &output.Error{Path: part, Err: journalAdvice(err)}
	}
	a.Later(func(written bool) error {
		defer j.Close()
		if !written {
			return nil
		}
		if err := j.Remove(); err != nil {
			return &output.Error{Path: part, Err: err}
		}
		return nil
	})
	if n := j.Len(); n > 0 {
		a.note("resumed", fmt.Sprintf("note: %d of %d parts were done before, and are kept", n, p.Chunks()))
	}
	return j, nil
}

func journalAdvice(err error) error {
	if errors.Is(err, ensemble.ErrOtherJob) {
		return fmt.Errorf("%w; remove it, or write to another file", ensemble.ErrOtherJob)
	}
	return err
}

// compute runs all members and sums them up.
func compute(ctx context.Context, a *Ask, e *report.Ensemble, plan *planned, config ensemble.Config) error {
	p := e.Problem
	var values *ensemble.Values
	var slopes *ensemble.Slopes
	points := p.Job.Design.Points
	if points == ensemble.Saltelli || points == ensemble.Morris || a.Values["draw"] != "" {
		values = ensemble.NewValues(p)
	}
	if plan.indices != nil && plan.indices.points == "" {
		var err error
		if slopes, err = ensemble.NewSlopes(p); err != nil {
			return wrong(ctx, err)
		}
	}
	listed := points == ensemble.Grid && p.Table.Members <= report.Readable
	config.Each = func(chunk *ensemble.Chunk) error {
		e.Statistics.Add(chunk)
		if listed {
			width := p.Table.Width()
			for i := range chunk.Status {
				e.Rows = append(e.Rows, slices.Clone(chunk.Rows[i*width:(i+1)*width]))
			}
			e.Ends = append(e.Ends, chunk.Status...)
		}
		if values != nil {
			values.Add(chunk)
		}
		if slopes != nil {
			slopes.Add(chunk)
		}
		return nil
	}
	found, err := ensemble.Run(ctx, p, config)
	if err != nil {
		return err
	}
	e.Findings = found
	e.Statistics.Conclude(found)
	e.Status = e.Statistics.Status()
	switch {
	case points == ensemble.Saltelli:
		e.Indices, e.Left = values.Indices()
	case points == ensemble.Morris:
		e.Effects, e.Left = values.Effects()
	case slopes != nil:
		e.Derivatives = slopes.Derivatives()
	}
	e.Values = values
	return nil
}
