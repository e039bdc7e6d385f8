package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
	"odes.dev/odes/repl"
)

// fitCmd is odes fit.
type fitCmd struct {
	global
	Model string `arg:"" help:"Model file; - is standard input."`
	setFlag
	solverFlags
	Solver  string `placeholder:"NAME" help:"Use this solver block. --solver.rtol=1e-9 sets a key of it."`
	Fit     string `placeholder:"NAME" help:"Use this fit block. --fit.over=[a,b] sets a key of it."`
	Starts  int    `placeholder:"N" help:"How many searches: short for --fit.starts."`
	Seed    int    `placeholder:"N" help:"Where they start: short for --fit.seed."`
	Refits  int    `name:"bootstrap" placeholder:"N" help:"Intervals from so many refits to rows drawn again."`
	Workers string `placeholder:"WHERE" default:"0" help:"{searchers}"`
	natsFlags
	Resume string     `placeholder:"FILE" help:"Keep searches in this file, and leave out those that it holds."`
	Log    string     `placeholder:"FILE" help:"Write the iterations of all searches to this file, as lines of JSON."`
	Draw   []string   `sep:"none" placeholder:"WHAT[=FILE]" help:"Draw {fitpictures}. May be repeated."`
	Memory string     `placeholder:"SIZE" help:"The most memory that the process may take, such as 2GB."`
	Format formatFlag `placeholder:"FORMAT"` // fillHelp adds the help
	Output string     `short:"o" type:"result" placeholder:"FILE" help:"{fitoutput}"`
}

// fitPictures lists the pictures of a fit, for help.
func fitPictures() string {
	names, docs := repl.FitPictures()
	for i := range names {
		names[i] += " (" + docs[i] + ")"
	}
	return enumerate(names, "or") + ", on the terminal or to a file (" + pictureEndings() + ")"
}

// Run fits the model.
func (k *fitCmd) Run(c *call) error {
	model, output := "", k.Output
	if strings.HasSuffix(output, ".ode") {
		model, output = output, ""
	}
	f, err := c.format("fit", k.Format, output)
	if err != nil {
		return err
	}
	c.configure(k.global, k.Format)
	opts, err := k.options(c)
	if err != nil {
		return err
	}
	pictures, err := k.pictures()
	if err != nil {
		return err
	}
	m, source, err := k.load(c)
	if err != nil {
		return err
	}
	var saved *sink
	if model != "" { // a fit that cannot be saved is not begun
		if saved, err = c.open(model); err != nil {
			return err
		}
		defer saved.discard()
	}
	out, err := c.open(output)
	if err != nil {
		return err
	}
	defer out.discard()
	kept, err := k.keep(source, &opts)
	if err != nil {
		return err
	}
	end := func() {}
	if k.elsewhere() {
		if opts.Backend, end, err = k.searchers(c, k.Workers); err != nil {
			return err
		}
		opts.Source = source
	}
	defer end()
	bar := c.attach(&opts.Options)
	if tell := opts.Progress; tell != nil {
		opts.Progress = nil
		opts.Told = func(at fit.Progress) {
			bar.mu.Lock()
			if bar.note = ""; at.Evaluations > 0 {
				bar.note = ", " + count(at.Evaluations, "run")
			}
			if !math.IsNaN(at.Best) {
				bar.note += fmt.Sprintf(", best %.8g", at.Best)
			}
			bar.mu.Unlock()
			tell(repl.FitProgress(at))
		}
	}
	var result *fit.Result
	const patience = time.Minute // for what is told of the best point so far
	err, returned := c.workFor(patience, func() (err error) {
		result, err = fit.Run(c.ctx, m, opts)
		return err
	})
	bar.clear()
	if kept != nil {
		if e := kept.close(); e != nil && err == nil {
			err = e
		}
	}
	if err != nil || !returned {
		if returned && result != nil && f.Messages && output == "" { // programs read that it failed
			_ = f.Fit(out, heading(m), result, c.tableOptions(out)) // the error of the fit is the one to report
		}
		return c.failedFit(err)
	}
	c.diagnose(result.Warnings)
	if w := result.Stats.Steady; w.Searches > 0 && c.verbose && !c.quiet {
		fmt.Fprintln(c.err, steadyWork(w))
	}
	if err := f.Fit(out, heading(m), result, c.tableOptions(out)); err != nil {
		return out.failure(err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	if model != "" {
		if err := k.save(c, saved, model, source.Text, m, result); err != nil {
			return err
		}
	}
	if err := k.drawAll(c, pictures, m, result); err != nil {
		return err
	}
	switch {
	case c.ctx.Err() != nil:
		return status(exitInterrupted)
	case result.Status != "ok":
		return status(exitRun)
	}
	return nil
}

// steadyWork says what searches for steady states took.
func steadyWork(w fit.SteadyWork) string {
	count := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	text := count(w.Searches, "steady state", "steady states") + ": " +
		count(w.Steps, "step of runs", "steps of runs") + ", " +
		count(w.Newton, "step of Newton's method", "steps of Newton's method")
	if w.Periods > 0 {
		text += ", " + count(w.Periods, "period", "periods")
	}
	if w.Warm+w.Known == 0 {
		return text
	}
	text += fmt.Sprintf("; %d began at that of the last values, and %d were known", w.Warm, w.Known)
	if w.Saved > 0 { // periods are not counted
		text += ", which saved about " + count(w.Saved, "step", "steps")
	}
	text += "; " + count(w.Confirmed, "minimum was", "minima were") + " confirmed by runs from the initial values"
	if w.Repeated > 0 {
		text += ", and " + count(w.Repeated, "search was", "searches were") + " made anew"
	}
	return text
}

// failedFit returns the error of a fit that has no result.
func (c *call) failedFit(err error) error {
	if errors.Is(err, fit.ErrNoMinimum) && c.ctx.Err() == nil {
		text := err.Error()
		if list := diag.Of(err); list != nil { // they name the place
			c.diagnose(list)
			text, _, _ = strings.Cut(text, ":")
		}
		c.complain("fit", text)
		return status(exitRun)
	}
	return err
}

// options returns those of the fit.
func (k *fitCmd) options(c *call) (o fit.Options, err error) {
	flags := modelFlags{setFlag: k.setFlag, solverFlags: k.solverFlags, Solver: k.Solver, Memory: k.Memory}
	if o.Options, err = flags.options(c); err != nil {
		return o, err
	}
	if k.Starts < 0 || k.Seed < 0 || k.Refits < 0 {
		return o, usagef("--starts, --seed and --bootstrap take whole numbers from 0")
	}
	if !k.elsewhere() {
		if o.Workers, err = strconv.Atoi(k.Workers); err != nil || o.Workers < 0 {
			return o, usagef("--workers takes a whole number from 0, local:8 or nats://host, not %q", k.Workers)
		}
	}
	o.Fit, o.Starts = k.Fit, k.Starts
	if k.Seed > 0 {
		o.Settings = append(o.Settings, odes.Setting{Key: "fit.seed", Value: fmt.Sprint(k.Seed)})
	}
	if k.Refits > 0 {
		o.Settings = append(o.Settings, odes.Setting{Key: "fit.intervals", Value: "bootstrap"},
			odes.Setting{Key: "fit.bootstrap", Value: fmt.Sprint(k.Refits)})
	}
	return o, nil
}

// elsewhere tells whether others make the searches.
func (k *fitCmd) elsewhere() bool { return strings.Contains(k.Workers, ":") }

// load returns the model, and what it was read from.
func (k *fitCmd) load(c *call) (m *odes.Model, source ensemble.Source, err error) {
	err = c.work(func() error {
		text, name, folder, err := c.source(k.Model)
		if err != nil {
			return err
		}
		files := input.Folder(folder, &c.seen)
		if m, source, err = ensemble.ReadSource(name, text, files); err != nil {
			return err
		}
		var told diag.List // as reading it did
		if translated, language := compile.Import(name, text, files, "", &told); language != "" {
			source.Text, source.Files = translated.Text(), nil // where estimates can be written
		}
		return nil
	})
	if err != nil {
		return nil, source, c.modelError(err)
	}
	c.diagnose(m.Warnings())
	return m, source, nil
}

// save writes the model with the estimates to out, which is called path.
func (k *fitCmd) save(c *call, out *sink, path, text string, m *odes.Model, r *fit.Result) error {
	fitted, left := repl.WithValues(m, text, r.Assignments())
	if old, err := parser.Format(path, text); err == nil && old == text { // it stays in its standard form
		if formatted, err := parser.Format(path, fitted); err == nil {
			fitted = formatted
		}
	}
	if _, err := io.WriteString(out, fitted); err != nil {
		return out.failure(err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	for _, a := range left {
		c.complain("fit", fmt.Sprintf("%s has no value in the text that could be replaced: %s is without the estimate",
			a.Name, path))
	}
	return nil
}

// fitPicture is a picture that was asked for.
type fitPicture struct{ what, path, format string }

// pictures reads the flags --draw.
func (k *fitCmd) pictures() (list []fitPicture, err error) {
	names, _ := repl.FitPictures()
	for _, text := range k.Draw {
		var p fitPicture
		p.what, p.path, _ = strings.Cut(text, "=")
		if !slices.Contains(names, p.what) {
			return nil, usagef("--draw %s: there are %s", text, enumerate(names, "and"))
		}
		if p.path != "" {
			at := strings.LastIndexByte(p.path, '.')
			if p.format = strings.ToLower(p.path[at+1:]); !slices.Contains(plot.Formats(), p.format) {
				return nil, usagef("cannot tell the format from %q: choose a name that ends in %s", p.path,
					pictureEndings())
			}
		}
		list = append(list, p)
	}
	return list, nil
}

// drawAll draws the pictures that were asked for.
func (k *fitCmd) drawAll(c *call, pictures []fitPicture, m *odes.Model, result *fit.Result) error {
	fitted := repl.Fitted{Model: m}
	if slices.ContainsFunc(pictures, func(p fitPicture) bool { return p.what == "data" }) && k.Model != "-" {
		fitted.Session = c.session(false)
		if err := c.start(fitted.Session, k.Model, k.setFlag, k.solverFlags); err != nil {
			return err
		}
	}
	for _, p := range pictures {
		if err := p.draw(c, fitted, result); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the picture.
func (p fitPicture) draw(c *call, of repl.Fitted, r *fit.Result) error {
	picture, err := repl.FitPicture(c.ctx, of, r, p.what)
	if err != nil {
		c.complain("fit", err.Error())
		return nil
	}
	return c.write(p.path, func(w io.Writer) error {
		if p.format != "" {
			return plot.Write(w, p.format, picture, plot.Page{})
		}
		return plot.Text(w, picture, plot.Terminal{Width: c.width(c.out), Colour: c.colour(c.out)})
	})
}

// keptStarts is the file of --resume. It holds one line for each search, each with a checksum, behind one that says
// what they are of.
type keptStarts struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

// resume reads the searches that the file of --resume holds, and lets those to come be added.
func (k *fitCmd) resume(source ensemble.Source, o *fit.Options) (*keptStarts, error) {
	if k.Resume == "" {
		return nil, nil
	}
	h := sha256.New()
	fmt.Fprint(h, source.Text, "\x00", k.Set, o.Settings, o.Solver, o.Fit)
	for _, name := range slices.Sorted(maps.Keys(source.Files)) { // data, among others
		fmt.Fprintf(h, "\x00%s\x00%d\x00%s", name, len(source.Files[name]), source.Files[name])
	}
	key := "odes fit 2 " + hex.EncodeToString(h.Sum(nil))
	if info, err := os.Stat(k.Resume); err == nil && !info.Mode().IsRegular() { // reading some devices does not end
		return nil, output.Wrap(k.Resume, errors.New("it is no file"))
	}
	old, err := os.ReadFile(k.Resume)
	if head := key + "\n"; len(old) < len(head) && strings.HasPrefix(head, string(old)) { // it was begun, and no more
		old = nil
	}
	switch {
	case err == nil && len(old) > 0:
		first, rest, _ := strings.Cut(string(old), "\n")
		if first != key {
			return nil, usagef("--resume %s: it holds searches of another model or version of odes, or with other "+
				"data, values or settings; name another file, or remove it", k.Resume)
		}
		var damaged *fit.DamagedError
		if o.Done, err = fit.ReadStarts(rest); errors.As(err, &damaged) {
			return nil, usagef("--resume %s: line %d is damaged: its checksum is not that of its text; remove "+
				"the line, "+
				"and that search is made anew", k.Resume, damaged.Line+1)
		}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, &odes.FileError{Path: k.Resume, Err: err}
	}
	file, err := os.OpenFile(k.Resume, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, output.Wrap(k.Resume, err)
	}
	if err = file.Truncate(int64(bytes.LastIndexByte(old, '\n') + 1)); err == nil && len(old) == 0 {
		_, err = fmt.Fprintln(file, key)
	}
	if err != nil { // before anything is searched for
		file.Close()
		if len(old) == 0 {
			os.Remove(k.Resume)
		}
		return nil, output.Wrap(k.Resume, err)
	}
	kept := &keptStarts{file: file}
	o.Found = kept.add
	return kept, nil
}

// keep opens the files in which a fit keeps what it does, those of --resume and --log; nil for neither.
func (k *fitCmd) keep(source ensemble.Source, o *fit.Options) (keepers, error) {
	var all keepers
	kept, err := k.resume(source, o)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		all = append(all, kept)
	}
	if k.Log == "" {
		return all, nil
	}
	file, err := os.Create(k.Log)
	if err != nil {
		return nil, errors.Join(output.Wrap(k.Log, err), all.close())
	}
	log := &iterationLog{file: file}
	o.Iterated = log.add
	return append(all, log), nil
}

// keepers are the files in which a fit keeps what it does.
type keepers []interface{ close() error }

func (all keepers) close() (err error) {
	for _, k := range all {
		if e := k.close(); err == nil {
			err = e
		}
	}
	return err
}

// iterationLog is the file of --log.
type iterationLog struct {
	file *os.File
	err  error
}

// add writes an iteration as a line of JSON, without the numbers that JSON lacks. It is called by one goroutine at a
// time.
func (l *iterationLog) add(at fit.Iteration) {
	line := map[string]any{
		"search": at.Search, "iteration": at.Iteration, "evaluations": at.Evaluations, "seconds": at.Seconds,
	}
	for name, v := range map[string]float64{
		"value": at.Value, "violation": at.Violation, "slope": at.Slope, "promised": at.Promised, "radius": at.Radius,
	} {
		if v-v == 0 {
			line[name] = v
		}
	}
	text, err := json.Marshal(line) // keys are sorted
	if err == nil {
		_, err = l.file.Write(append(text, '\n'))
	}
	if l.err == nil {
		l.err = err
	}
}

func (l *iterationLog) close() error {
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return output.Wrap(l.file.Name(), l.err)
}

func (k *keptStarts) add(s fit.Start) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, err := k.file.WriteString(fit.WriteStart(s)); err != nil && k.err == nil {
		k.err = err
	}
}

func (k *keptStarts) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.file.Close(); k.err == nil {
		k.err = err
	}
	return output.Wrap(k.file.Name(), k.err)
}
