package main

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
	"odes.dev/odes/plot"
	"odes.dev/odes/repl"
)

// membersFlags are the flags of commands that run a model for many sets of values.
type membersFlags struct {
	global
	Model string   `arg:"" help:"Model file; - is standard input."`
	Axes  []string `arg:"" optional:"" help:"What differs: 'k ~ lognormal(0, 1)', or k from 0.1 to 10 points 20."`
	setFlag
	solverFlags
	Solver  string `placeholder:"NAME" help:"Use this solver block. --solver.rtol=1e-9 sets a key of it."`
	Sens    string `placeholder:"NAME" help:"Use this sens block. --sens.mode=tangent sets a key of it."`
	Of      string `placeholder:"NAMES" help:"Objectives, separated by commas; without it, those of the sens block."`
	Wrt     string `placeholder:"NAMES" help:"What to differentiate by, separated by commas: k1,A,initial(x)."`
	Mode    string `placeholder:"MODE" help:"How to differentiate: {modes}."`
	Times   string `placeholder:"LIST" help:"Outputs at these times instead of derivatives: from:step:to, or a list."`
	Outputs string `placeholder:"NAMES" help:"Which outputs at --times, separated by commas; without it, all."`
	Trust   bool   `help:"Compare every member with an independent run: about twice the time."`
	Threads int    `placeholder:"N" help:"Threads; 0 means one for each core. Results do not depend on it."`
	Chunk   int    `placeholder:"N" help:"Members that are computed at a time; 0 leaves it to odes."`
	workersFlags
	slopes bool   // sum up squared derivatives
	Plot   string `placeholder:"FILE" help:"Draw a picture: lines, heat maps, or bands of outputs at --times."`
	Format string `placeholder:"FORMAT" help:"{rows}"`
	Output string `short:"o" type:"result" placeholder:"FILE" help:"{members}"`
}

// ensembleCmd is odes ensemble.
type ensembleCmd struct {
	membersFlags
	Ensemble string `placeholder:"NAME" help:"Use this ensemble block. --ensemble.n=100 sets a key of it."`
	N        *int   `short:"n" placeholder:"N" help:"Members: short for --ensemble.n."`
	Seed     uint64 `placeholder:"N" help:"Which values are drawn: short for --ensemble.seed."`
	Points   string `placeholder:"NAME" help:"How values are drawn: {points}. Short for --ensemble.points."`
	Rows     string `placeholder:"FILE" help:"{table}"`
	Values   bool   `help:"Compute values without derivatives."`
	Sobol    bool   `help:"Which values matter: Sobol indices, of n points in each sample."`
	Morris   bool   `help:"Which values matter: elementary effects, along n paths."`
	DGSM     bool   `name:"dgsm" help:"Which values matter: means of squared derivatives."`
}

// Run computes an ensemble.
func (e *ensembleCmd) Run(c *call) error {
	return e.run(c, func(m *odes.Model, job *ensemble.Job) error { return e.plan(c, m, job) })
}

// plan says which members there are.
func (e *ensembleCmd) plan(c *call, m *odes.Model, job *ensemble.Job) error {
	members := 0
	if e.N != nil {
		if members = *e.N; members < 1 {
			return usagef("-n takes a whole number from 1")
		}
	}
	var list []odes.Setting
	for _, s := range c.settings {
		switch {
		case s.Key == "ensemble.rows":
			if e.Rows = unquoted(s.Value); e.Rows == "" {
				return usagef("--ensemble.rows needs a file")
			}
		case strings.HasPrefix(s.Key, "ensemble."):
			list = append(list, s)
		}
	}
	for _, short := range []struct {
		key   string
		value any
		given bool
	}{{"n", members, e.N != nil}, {"seed", e.Seed, e.Seed != 0}, {"points", e.Points, e.Points != ""}} {
		if short.given {
			list = append(list, odes.Setting{Key: "ensemble." + short.key, Value: fmt.Sprint(short.value)})
		}
	}
	said, err := m.Members(e.Ensemble, list)
	if err != nil {
		return err
	}
	axes, err := e.axes(m, job)
	if err != nil {
		return err
	}
	if e.Rows != "" {
		if len(axes) > 0 {
			return usagef("--rows names a table, and %s is named behind the model; choose one of these", axes[0].Name)
		}
		said.Draws = nil
		if said.Names, said.Rows, err = readRows(m, e.Rows, &c.seen); err != nil {
			return err
		}
	}
	if job.Design, err = ensemble.DesignFor(m, said, axes); err != nil {
		return usagef("%v", err)
	}
	c.diagnose(said.Notes)
	asked := 0
	for _, kind := range []struct {
		on     bool
		points string
	}{{e.Sobol, ensemble.Saltelli}, {e.Morris, ensemble.Morris}, {e.DGSM, ""}} {
		if !kind.on {
			continue
		}
		if asked++; job.Design.Points == ensemble.Rows {
			return usagef("a table of values has no distributions; name them behind the model: 'k ~ lognormal(0, 1)'")
		}
		if kind.points != "" {
			job.Design.Points = kind.points
		}
	}
	if asked > 1 {
		return usagef("--sobol, --morris and --dgsm take members of different kinds; choose one")
	}
	job.Gradient = !e.Values && said.Gradient && !e.Sobol && !e.Morris && len(job.Times) == 0
	if e.slopes = e.DGSM; e.DGSM && !job.Gradient {
		return usagef("--dgsm needs derivatives, without --values and --times")
	}
	return nil
}

// readRows reads a table of values. A heading names what is set, and may have a unit: `V [mL]`.
func readRows(m *odes.Model, path string, seen *input.Seen) (names []string, rows [][]float64, err error) {
	t, err := data.ReadTable(input.Folder(filepath.Dir(path), seen), filepath.Base(path))
	if errors.Is(err, fs.ErrNotExist) { // the path is that of the command
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, nil, &odes.FileError{Path: path, Err: err}
	}
	for k, head := range t.Columns {
		column, err := t.Numbers(k)
		if err != nil {
			return nil, nil, &odes.FileError{Path: path, Err: err}
		}
		name, unit, _ := strings.Cut(head, " [")
		if name = strings.TrimSpace(name); slices.Contains(names, name) {
			return nil, nil, &odes.FileError{Path: path, Err: fmt.Errorf("two columns are called %q", name)}
		}
		if unit != "" {
			a, err := m.Convert(odes.Assignment{Name: name, Values: column, Unit: strings.TrimSuffix(unit, "]")})
			if err != nil {
				return nil, nil, &odes.FileError{Path: path, Err: fmt.Errorf("column %q: %w", head, err)}
			}
			column = a.Values
		}
		for i, x := range column {
			if k == 0 {
				rows = append(rows, make([]float64, len(t.Columns)))
			}
			rows[i][k] = x
		}
		names = append(names, name)
	}
	if len(rows) == 0 {
		return nil, nil, &odes.FileError{
			Path: path, Err: errors.New("it has no rows, only a heading; each row has the values of one member"),
		}
	}
	return names, rows, nil
}

// sweepCmd is odes sweep.
type sweepCmd struct {
	membersFlags
	Points   string `placeholder:"NAME" help:"Choose points within the ranges instead of a grid: {points}."`
	N        int    `short:"n" placeholder:"N" help:"How many points to choose, with --points."`
	Seed     uint64 `placeholder:"N" default:"1" help:"Which points are chosen, with --points."`
	Gradient bool   `help:"Compute derivatives as well."`
	Steady   bool   `help:"Follow the steady state along one range, past folds and through what is unstable."`
	Down     bool   `help:"With --steady, begin at the upper end of the range."`
}

// Run computes a sweep.
func (s *sweepCmd) Run(c *call) error {
	for _, o := range c.settings {
		if strings.HasPrefix(o.Key, "ensemble.") {
			return usagef("odes sweep takes no --%s: what is named behind the model says what differs", o.Key)
		}
	}
	if s.Steady {
		return s.follow(c)
	}
	return s.run(c, func(m *odes.Model, job *ensemble.Job) error {
		axes, err := s.axes(m, job)
		if err != nil {
			return err
		}
		if len(axes) == 0 {
			return usagef("sweep what? odes sweep %s k from 0.1 to 10", s.Model)
		}
		job.Design = ensemble.Design{Points: ensemble.Grid, Axes: axes}
		if s.Points != "" {
			n := s.N
			if n == 0 {
				n = ensemble.DefaultN
			}
			job.Design = ensemble.Design{Points: s.Points, N: n, Seed: s.Seed, Axes: axes}
		}
		job.Gradient = s.Gradient
		return nil
	})
}

// axes reads what is named behind the model.
func (f *membersFlags) axes(m *odes.Model, job *ensemble.Job) ([]ensemble.Axis, error) {
	axes, err := ensemble.ReadAxes(m, nil, strings.Join(f.Axes, " "))
	if err != nil {
		return nil, usagef("%v", err)
	}
	return axes, nil
}

// job writes what the flags say into a job.
func (f *membersFlags) job(c *call) (*ensemble.Job, error) {
	set, err := f.assignments(c)
	if err != nil {
		return nil, err
	}
	job := &ensemble.Job{
		Set: ensemble.Assignments(set), Solver: f.Solver, Sens: f.Sens, Chunk: f.Chunk,
	}
	if f.Trust {
		job.Trust = ensemble.All
	}
	for _, s := range f.settings(c) {
		if !strings.HasPrefix(s.Key, "ensemble.") {
			job.Options = append(job.Options, s)
		}
	}
	if f.Mode != "" {
		job.Options = append(job.Options, odes.Setting{Key: "sens.mode", Value: f.Mode})
	}
	if f.Threads < 0 || f.Chunk < 0 {
		return nil, usagef("--threads and --chunk take whole numbers from 0")
	}
	if job.Of, err = list("of", f.Of); err != nil {
		return nil, err
	}
	if job.Wrt, err = list("wrt", f.Wrt); err != nil {
		return nil, err
	}
	if job.Outputs, err = list("outputs", f.Outputs); err != nil {
		return nil, err
	}
	at, err := times(f.Times)
	job.Times = ensemble.Reals(at)
	return job, err
}

// destination says what is written where.
type destination struct {
	rows    *ensemble.Format // of all members; nil for none
	summary string           // "table" or "json"
	onlyFor bool             // the summary goes to the output file
}

func rowFormats() (names []string) {
	for _, f := range ensemble.Formats() {
		names = append(names, f.Name)
	}
	return names
}

func rowsHelp() string {
	text := "On standard output: table or json, of statistics. In the output file: "
	var list []string
	for _, f := range ensemble.Formats() {
		list = append(list, f.Name+" "+f.Doc)
	}
	return text + enumerate(list, "or") + "; without it, its ending decides."
}

// destination reads --format and -o.
func (f *membersFlags) destination(c *call) (d destination, err error) {
	d.summary = "table"
	name := f.Format
	if f.Output != "" && name == "" {
		name = strings.ToLower(strings.TrimPrefix(filepath.Ext(f.Output), "."))
	}
	rows, isRows := ensemble.FormatNamed(name)
	switch {
	case isRows && f.Output != "":
		d.rows = &rows
	case name == "json", name == "table", name == "txt", name == "" && f.Output == "":
		if name == "json" {
			d.summary = name
			c.json = f.Format == name
		}
		d.onlyFor = f.Output != ""
	case isRows:
		return d, usagef("%s holds all members: name a file with -o", name)
	default:
		names := append([]string{"table", "json"}, rowFormats()...)
		return d, usagef("cannot write %q: choose %s", name, enumerate(names, "or"))
	}
	return d, nil
}

// run computes what plan says, and writes it.
func (f *membersFlags) run(c *call, plan func(m *odes.Model, job *ensemble.Job) error) error {
	c.configure(f.global, formatFlag{})
	to, err := f.destination(c)
	if err != nil {
		return err
	}
	job, err := f.job(c)
	if err != nil {
		return err
	}
	p, err := f.problem(c, job, plan)
	if err != nil {
		return err
	}
	if f.Plot != "" && !slices.Contains(plot.Formats(), strings.TrimPrefix(filepath.Ext(f.Plot), ".")) {
		return usagef("cannot tell the format from %q: choose a name that ends in %s", f.Plot, pictureEndings())
	}
	out, err := c.open(f.Output)
	if err != nil {
		return err
	}
	defer out.discard()
	result := &report.Ensemble{Problem: p, Statistics: ensemble.NewStatistics(&p.Table)}
	config := ensemble.Config{Backend: ensemble.Local{Threads: f.Threads}}
	part := f.Output + ".part"
	if to.rows != nil {
		if out.direct() { // nothing stands beside it, and nothing is kept
			temp, err := os.CreateTemp("", "odes-*.part")
			if err != nil {
				return output.Wrap(f.Output, err)
			}
			temp.Close()
			part = temp.Name()
			defer os.Remove(part)
		}
		if config.Journal, err = ensemble.OpenJournal(part, p); err != nil {
			return &output.Error{Path: part, Err: journalAdvice(err)}
		}
		defer config.Journal.Close()
		if n := config.Journal.Len(); n > 0 && !c.quiet {
			c.complain("resumed", fmt.Sprintf("note: %d of %d parts were done before, and are kept", n, p.Chunks()))
		}
	}
	var end func()
	if config.Backend, end, err = f.backend(c, config.Backend); err != nil {
		return err
	}
	defer end()
	if err := f.compute(c, result, config); err != nil {
		if c.ctx.Err() != nil {
			f.interrupted(c, to, result, config.Journal, out.direct())
		}
		return err
	}
	c.diagnose(result.Warnings())
	if f.Plot != "" {
		picture, err := repl.Members(result)
		if err != nil {
			return usagef("%v", err)
		}
		format := strings.TrimPrefix(filepath.Ext(f.Plot), ".")
		err = c.write(f.Plot, func(w io.Writer) error { return plot.Write(w, format, picture, plot.Page{}) })
		if err != nil {
			return err
		}
	}
	write := report.EnsembleTable
	if to.summary == "json" {
		write = report.EnsembleJSON
	}
	switch {
	case to.rows != nil:
		err = c.work(func() error { return to.rows.Write(out, p, config.Journal.Chunks(p, result.Findings)) })
		if err != nil {
			return out.failure(err)
		}
		if err := out.commit(); err != nil {
			return err
		}
		if err := config.Journal.Remove(); err != nil {
			return &output.Error{Path: part, Err: err}
		}
		if c.quiet {
			return ended(result)
		}
		err = write(c.out, heading(p.Model), result, c.tableOptions(c.out))
	default:
		if err = write(out, heading(p.Model), result, c.tableOptions(out)); err == nil {
			err = out.commit()
		}
	}
	if err != nil {
		return out.failure(err)
	}
	return ended(result)
}

// ended returns the exit status of a result: members that failed or that are not confirmed are a failure. That an
// objective has no value in some members, as the time of an event that does not come about, is an answer.
func ended(e *report.Ensemble) error {
	if e.Statistics.Failed+e.Findings.Unconfirmed > 0 {
		return status(exitRun)
	}
	return nil
}

// problem compiles the model, with what differs between members.
func (f *membersFlags) problem(
	c *call, job *ensemble.Job, plan func(m *odes.Model, job *ensemble.Job) error,
) (p *ensemble.Problem, err error) {
	text, name, folder, err := c.source(f.Model)
	if err != nil {
		return nil, err
	}
	var m *odes.Model
	err = c.work(func() (err error) {
		m, job.Model, err = ensemble.ReadSource(name, text, input.Folder(folder, &c.seen))
		return err
	})
	if err != nil {
		return nil, c.modelError(err)
	}
	c.diagnose(m.Warnings())
	if err := plan(m, job); err != nil {
		return nil, err
	}
	err = c.work(func() (err error) {
		p, err = ensemble.OpenModel(job, m)
		return err
	})
	if err != nil && diag.Of(err) == nil && c.ctx.Err() == nil && !errors.Is(err, errInternal) {
		return nil, usagef("%v", err)
	}
	return p, err
}

func journalAdvice(err error) error {
	if errors.Is(err, ensemble.ErrOtherJob) {
		return fmt.Errorf("%w; remove it, or write to another file", ensemble.ErrOtherJob)
	}
	return err
}

// interrupted says what is kept.
func (f *membersFlags) interrupted(
	c *call, to destination, e *report.Ensemble, j *ensemble.Journal, direct bool,
) {
	if j != nil && !direct {
		const say = "%d of %d parts are done and kept in %s.part; the same command goes on from there"
		c.complain("kept", fmt.Sprintf(say, j.Len(), e.Problem.Chunks(), f.Output))
	}
	if to.rows == nil && to.summary == "table" && e.Statistics.Members() > 0 && f.Output == "" {
		_ = report.EnsembleTable(c.out, heading(e.Problem.Model), e, c.tableOptions(c.out))
	}
}

// compute runs all members and sums them up.
func (f *membersFlags) compute(c *call, e *report.Ensemble, config ensemble.Config) error {
	p := e.Problem
	var opts odes.Options
	bar := c.attach(&opts)
	if tell := opts.Progress; tell != nil {
		config.Progress = func(n int) {
			tell(odes.Progress{Phase: odes.PhaseRuns, Steps: n, Done: float64(n) / float64(p.Table.Members)})
		}
	}
	var values *ensemble.Values
	var slopes *ensemble.Slopes
	if points := p.Job.Design.Points; points == ensemble.Saltelli || points == ensemble.Morris || f.Plot != "" {
		values = ensemble.NewValues(p)
	}
	if f.slopes {
		var err error
		if slopes, err = ensemble.NewSlopes(p); err != nil {
			return usagef("%v", err)
		}
	}
	config.Each = func(chunk *ensemble.Chunk) error {
		e.Statistics.Add(chunk)
		if values != nil {
			values.Add(chunk)
		}
		if slopes != nil {
			slopes.Add(chunk)
		}
		return nil
	}
	found, err := ensemble.Run(c.ctx, p, config)
	bar.clear()
	if err != nil {
		e.Status = "partial"
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		return err
	}
	e.Findings = found
	e.Statistics.Conclude(found)
	e.Status = e.Statistics.Status()
	switch {
	case p.Job.Design.Points == ensemble.Saltelli:
		e.Indices, e.Left = values.Indices()
	case p.Job.Design.Points == ensemble.Morris:
		e.Effects, e.Left = values.Effects()
	case slopes != nil:
		e.Derivatives = slopes.Derivatives()
	}
	e.Values = values
	return nil
}
