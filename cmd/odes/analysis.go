package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
	"odes.dev/odes/repl"
)

// analysisCmd is the command of an analysis, as its row describes it.
type analysisCmd struct {
	kong.Plugins // one struct: all flags

	row *analysis.Row `kong:"-"`
}

func init() { // what the tables of commands have of analyses
	for _, a := range analysis.Rows() {
		settable = append(settable, a.Name)
		if a.Formats == nil {
			formatted[a.Name] = a.Formatted
		}
		for _, e := range a.Examples {
			examples[a.Name] = append(examples[a.Name], example{e.Line, e.Does})
		}
		for _, f := range a.Flags {
			var keys []string
			if key := a.Full(&f); key != "" {
				keys = append(keys, key)
			}
			for _, s := range f.Also {
				keys = append(keys, s.Key+"="+s.Value)
			}
			if keys != nil {
				shorts[a.Name+" "+f.Name] = keys
			}
		}
	}
}

// analysisBegin and analysisEnd are what stands before and behind the flags of a row.
type (
	analysisBegin struct {
		reading
		Model string `arg:"" help:"Model file; - is standard input."`
	}
	analysisRun struct {
		setFlag
		solverFlags
		Solver string `placeholder:"NAME" help:"Use this solver block. --solver.rtol=1e-9 sets a key of it."`
	}
	analysisEnd struct {
		Memory string     `placeholder:"SIZE" help:"The most memory that the process may take, such as 2GB."`
		Format formatFlag `placeholder:"FORMAT"` // fillHelp adds the help
	}
)

// fieldTypes are the types of flags; values are read back as texts.
var fieldTypes = map[analysis.Kind]reflect.Type{
	analysis.Text: reflect.TypeFor[string](), analysis.Whole: reflect.TypeFor[*int](),
	analysis.Natural: reflect.TypeFor[*uint64](), analysis.Switch: reflect.TypeFor[bool](),
	analysis.Names: reflect.TypeFor[string](), analysis.Times: reflect.TypeFor[string](),
	analysis.Many: reflect.TypeFor[[]string](), analysis.File: reflect.TypeFor[string](),
}

// newAnalysisCmd makes the command of an analysis: a struct with a field for each flag.
func newAnalysisCmd(a *analysis.Row) *analysisCmd {
	embedded := func(name string, t reflect.Type) reflect.StructField {
		return reflect.StructField{Name: name, Type: t, Tag: `embed:""`}
	}
	fields := []reflect.StructField{embedded("Begin", reflect.TypeFor[analysisBegin]())}
	if b := a.Behind; b != nil {
		tag := fmt.Sprintf(`arg:"" optional:"" name:%q help:%q`, b.Name, b.Help)
		fields = append(fields, reflect.StructField{
			Name: "Behind", Type: reflect.TypeFor[[]string](), Tag: reflect.StructTag(tag),
		})
	}
	fields = append(fields, embedded("Run", reflect.TypeFor[analysisRun]()))
	tail := []reflect.StructField{embedded("End", reflect.TypeFor[analysisEnd]()), outputField(a)}
	if a.Formats != nil {
		tail[0] = reflect.StructField{
			Name: "Format", Type: reflect.TypeFor[string](),
			Tag: reflect.StructTag(fmt.Sprintf(`placeholder:"FORMAT" help:%q`, a.FormatHelp)),
		}
	}
	for i, f := range a.All() {
		if f.Requests {
			continue
		}
		if f.Name == analysis.Output.Name {
			fields, tail = append(fields, tail...), nil
			continue
		}
		tag := fmt.Sprintf("name:%q placeholder:%q help:%q", f.Name, f.Placeholder, f.Help)
		if f.Short != "" {
			tag += fmt.Sprintf(" short:%q", f.Short)
		}
		if f.Alias != "" {
			tag += fmt.Sprintf(" aliases:%q", f.Alias)
		}
		if f.Default != "" {
			tag += fmt.Sprintf(" default:%q", f.Default)
		}
		if f.Kind == analysis.Many {
			tag += ` sep:"none"`
		}
		fields = append(fields, reflect.StructField{
			Name: fmt.Sprintf("Flag%d", i), Type: fieldTypes[f.Takes()], Tag: reflect.StructTag(tag),
		})
		if f.Workers {
			fields = append(fields, embedded("Nats", reflect.TypeFor[natsFlags]()))
		}
	}
	fields = append(fields, tail...)
	return &analysisCmd{row: a, Plugins: kong.Plugins{reflect.New(reflect.StructOf(fields)).Interface()}}
}

// outputField is the flag of the output.
func outputField(a *analysis.Row) reflect.StructField {
	tag := fmt.Sprintf(`short:"o" type:"result" placeholder:"FILE" help:%q`, cmp.Or(a.OutputHelp, "{output}"))
	return reflect.StructField{Name: "Output", Type: reflect.TypeFor[string](), Tag: reflect.StructTag(tag)}
}

// part returns a part of the struct of flags.
func part[T any](k *analysisCmd, name string) (t T) {
	if f := reflect.ValueOf(k.Plugins[0]).Elem().FieldByName(name); f.IsValid() {
		t = f.Interface().(T)
	}
	return t
}

// values returns the values of the flags of the row that were given.
func (k *analysisCmd) values() analysis.Values {
	values := analysis.Values{}
	for i, f := range k.row.All() {
		switch v := part[any](k, fmt.Sprintf("Flag%d", i)).(type) {
		case string:
			values[f.Name] = v
		case []string:
			values[f.Name] = strings.Join(v, "\n")
		case *int:
			if v != nil {
				values[f.Name] = strconv.Itoa(*v)
			}
		case *uint64:
			if v != nil {
				values[f.Name] = strconv.FormatUint(*v, 10)
			}
		case bool:
			if v {
				values[f.Name] = "on"
			}
		}
		if values[f.Name] == "" {
			delete(values, f.Name)
		}
	}
	return values
}

// Help is the part of --help that kong asks a command for.
func (k *analysisCmd) Help() string { return exampleHelp(k.row.Name) }

// Run computes the analysis and writes its result.
func (k *analysisCmd) Run(c *call) error {
	begin, end := part[analysisBegin](k, "Begin"), part[analysisEnd](k, "End")
	model, output := "", part[string](k, "Output")
	if k.row.Sets && strings.HasSuffix(output, ".ode") {
		model, output = output, ""
	}
	values := k.values()
	f, err := k.format(c, end.Format, output, values)
	if err != nil {
		return err
	}
	c.configure(begin.global, end.Format)
	c.json = c.json || part[string](k, "Format") == "json"
	ask := &analysis.Ask{
		Values: values, Seen: &c.seen, Set: part[analysisRun](k, "Run").Set,
		Behind: strings.Join(part[[]string](k, "Behind"), " "), Format: f, Path: output,
		Note: func(code, text string) {
			if !c.quiet || !strings.HasPrefix(text, "note: ") {
				c.complain(diag.Code(code), text)
			}
		},
		Workers: func(where string) (analysis.Backend, func(), error) {
			return part[natsFlags](k, "Nats").elsewhere(c, where)
		},
	}
	if k.row.Check != nil {
		if err := k.row.Check(ask.Values); err != nil {
			return err
		}
	}
	if ask.Options, err = k.options(c, end.Memory); err != nil {
		return err
	}
	pictures, err := k.pictures(ask.Values)
	if err != nil {
		return err
	}
	if err := k.load(c, begin.Model, ask); err != nil {
		return err
	}
	var saved *sink
	if model != "" { // what cannot be saved is not begun
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
	ask.Direct = out.direct()
	result, err := k.compute(c, ask, out)
	if err != nil {
		return err
	}
	c.diagnose(result.Warnings)
	if c.verbose && !c.quiet {
		for _, line := range result.Work {
			fmt.Fprintln(c.err, line)
		}
	}
	if err := k.write(c, ask, out, result); err != nil {
		return err
	}
	if model != "" {
		if err := k.save(c, saved, model, ask, result); err != nil {
			return err
		}
	}
	if err := k.draw(c, pictures, ask, result); err != nil {
		return err
	}
	switch {
	case c.ctx.Err() != nil:
		return status(exitInterrupted)
	case result.Status != "" && result.Status != "ok":
		return status(exitRun)
	}
	return nil
}

// format returns the format of the result: of a row with formats of its own, the one of that name or ending.
func (k *analysisCmd) format(
	c *call, asked formatFlag, output string, values analysis.Values,
) (*report.Format, error) {
	if k.row.Formats == nil {
		return c.format(k.row.Name, asked, output)
	}
	name, list := part[string](k, "Format"), k.row.Written(values)
	if name == "" && output == "" {
		return list[0], nil
	}
	if name == "" {
		name = strings.ToLower(strings.TrimPrefix(filepath.Ext(output), "."))
	}
	at := slices.IndexFunc(list, func(f *report.Format) bool {
		return f.Name == name || f.Ending == name &&
			name != ""
	})
	switch {
	case at < 0:
		return nil, usagef("cannot write %q: choose %s", name, enumerate(report.Names(list), "or"))
	case list[at].Rows && output == "":
		return nil, usagef("%s holds all members: name a file with -o", name)
	}
	return list[at], nil
}

// rowsHelp is the help on formats of an analysis that writes rows to a file.
func rowsHelp(a *analysis.Row) string {
	text := "On standard output: table or json, of statistics. In the output file: "
	var list []string
	for _, f := range a.Written(nil) {
		if f.Rows {
			list = append(list, f.Name+" "+f.Doc)
		}
	}
	return text + enumerate(list, "or") + "; without it, its ending decides."
}

// options returns those of the runs, but for what flags of the row say of them.
func (k *analysisCmd) options(c *call, memory string) (odes.Options, error) {
	run := part[analysisRun](k, "Run")
	flags := modelFlags{setFlag: run.setFlag, solverFlags: run.solverFlags, Solver: run.Solver, Memory: memory}
	for _, f := range k.row.All() {
		if v := k.values()[f.Name]; f.Kind == analysis.Whole && strings.HasPrefix(v, "-") {
			return odes.Options{}, usagef("--%s takes a whole number from 0", f.Name)
		}
	}
	return flags.options(c)
}

// load reads the model.
func (k *analysisCmd) load(c *call, path string, ask *analysis.Ask) error {
	bar := c.reading(path, "compiling")
	err := c.work(func() error {
		text, name, folder, err := c.source(path)
		if err != nil {
			return err
		}
		ask.Model, ask.Source, err = ensemble.ParseSource(name, text, odes.ParseOptions{
			Files: input.Folder(folder, &c.seen), Experiment: ask.Values[analysis.In.Name], Done: c.ctx.Done(),
		})
		return err
	})
	bar.clear()
	if err != nil {
		return c.modelError(err)
	}
	c.diagnose(ask.Model.Warnings())
	if k.row.Run != nil {
		memory.Keep(ask.Model.Memory(ask.Options))
	}
	return nil
}

// compute computes the analysis. Its error is told already, or is to be.
func (k *analysisCmd) compute(c *call, ask *analysis.Ask, out *sink) (result *analysis.Result, err error) {
	bar := c.watch("working")
	if bar.quit != nil {
		if k.row.Run != nil {
			ask.Options.Progress = bar.update
		}
		ask.Tell = func(p analysis.Progress) {
			bar.mu.Lock()
			bar.note = p.Note
			bar.mu.Unlock()
			bar.update(odes.Progress{Phase: p.Phase, Steps: p.Steps, Done: p.Done})
		}
	}
	patience, returned := max(k.row.Waits(), time.Second), false
	err, returned = c.workFor(patience, func() (err error) {
		result, err = k.row.Compute(c.ctx, ask)
		return err
	})
	bar.clear()
	if returned && err == nil && c.ctx.Err() != nil && k.row.Waits() == 0 { // too late for the user
		err = context.Cause(c.ctx)
	}
	if err == nil {
		return result, nil
	}
	if !returned {
		return nil, err
	}
	if result != nil && result.Despite != nil && result.Despite(ask.Format) && ask.Path == "" {
		_ = result.WriteAs(ask.Format, out, heading(ask.Model), c.tableOptions(out)) // the error is the one to report
	}
	if e := ask.End(false); e != nil {
		return nil, e
	}
	if _, ok := err.(*analysis.NoResultError); ok && c.ctx.Err() == nil {
		return nil, c.without(k.row.Name, err)
	}
	return nil, err
}

// without tells that an analysis has no result, though nothing is wrong with what was asked for.
func (c *call) without(name string, err error) error {
	text := err.Error()
	if list := diag.Of(err); list != nil { // they name the place
		c.diagnose(list)
		text, _, _ = strings.Cut(text, ":")
	}
	c.complain(diag.Code(name), text)
	return status(exitRun)
}

// save writes the model with the values that were found to out, which is called path.
func (k *analysisCmd) save(c *call, out *sink, path string, ask *analysis.Ask, r *analysis.Result) error {
	text, _ := ask.Text()
	found, left := repl.WithValues(ask.Model, text, r.Found)
	if old, err := parser.Format(path, text); err == nil && old == text { // it stays in its standard form
		if formatted, err := parser.Format(path, found); err == nil {
			found = formatted
		}
	}
	if _, err := io.WriteString(out, found); err != nil {
		return out.failure(err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	for _, a := range left {
		c.complain(diag.Code(k.row.Name),
			fmt.Sprintf("%s has no value in the text that could be replaced: %s is without "+
				"the estimate", a.Name, path))
	}
	return nil
}

// write writes the result, and for people what there is to say beside a file with rows.
func (k *analysisCmd) write(c *call, ask *analysis.Ask, out *sink, r *analysis.Result) error {
	about := heading(ask.Model)
	write := func() error { return r.WriteAs(ask.Format, out, about, c.tableOptions(out)) }
	var err error
	if ask.Format.Rows { // which may take long
		err = c.work(write)
	} else { // all of it, after Ctrl-C as well
		err = write()
	}
	if err != nil {
		return out.failure(err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	if err := ask.End(true); err != nil {
		return err
	}
	beside := ask.Format.Rows || k.row.Sums && ask.Path != "" && !ask.Format.Abridged && !ask.Format.Messages
	if !beside || c.quiet {
		return nil
	}
	if err := r.WriteAs(k.row.Written(ask.Values)[0], c.out, about, c.tableOptions(c.out)); err != nil {
		return cannotPrint(err)
	}
	return nil
}

// picturesHelp lists the pictures of an analysis, for help.
func picturesHelp(a *analysis.Row) string {
	var list []string
	for _, p := range a.Pictures {
		list = append(list, p.Name+" ("+p.Doc+")")
	}
	return enumerate(list, "or") + ", on the terminal or to a file (" + pictureEndings() + ")"
}

// picture is a picture that was asked for.
type picture struct{ what, path, format string }

// pictures reads the flag that asks for pictures.
func (k *analysisCmd) pictures(values analysis.Values) (list []picture, err error) {
	names := k.row.Drawn()
	for text := range strings.SplitSeq(values[k.row.Draw], "\n") {
		if text == "" {
			continue
		}
		var p picture
		p.what, p.path, _ = strings.Cut(text, "=")
		if len(names) == 1 && p.what != names[0] { // nothing else can be meant
			p.what, p.path = names[0], text
		} else if !slices.Contains(names, p.what) {
			return nil, usagef("--%s %s: there are %s", k.row.Draw, text, enumerate(names, "and"))
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

// draw draws the pictures that were asked for.
func (k *analysisCmd) draw(c *call, list []picture, ask *analysis.Ask, r *analysis.Result) error {
	if len(list) == 0 {
		return nil
	}
	about := &analysis.About{Info: ask.Model.Info()}
	_, members := r.Of.(*report.Ensemble)
	if path := part[analysisBegin](k, "Begin").Model; path != "-" && !members { // a pipe is read once
		session, run := c.session(false), part[analysisRun](k, "Run")
		if err := c.start(session, path, run.setFlag, run.solverFlags); err != nil {
			return err
		}
		about = repl.About(c.ctx, session, ask.Model, r.Found)
	}
	for _, p := range list {
		if err := p.draw(c, k.row, about, r); err != nil {
			return err
		}
	}
	return nil
}

// draw draws the picture.
func (p picture) draw(c *call, row *analysis.Row, about *analysis.About, r *analysis.Result) error {
	drawn, err := row.Picture(about, r.Of, p.what)
	if errors.As(err, new(*analysis.WrongError)) {
		return err
	}
	if err != nil {
		c.complain(diag.Code(row.Name), err.Error())
		return nil
	}
	return c.write(p.path, func(w io.Writer) error {
		if p.format != "" {
			return plot.Write(w, p.format, drawn, plot.Page{})
		}
		return plot.Text(w, drawn, plot.Terminal{Width: c.width(c.out), Colour: c.colour(c.out)})
	})
}

// dynamic returns what kong needs to know the commands of analyses beside cmd: of all beside all commands, and the only
// one where it is an analysisCmd.
func dynamic(cmd any) (static any, options []kong.Option) {
	var list []*analysisCmd
	switch cmd := cmd.(type) {
	case *commands:
		for _, a := range analysis.Rows() {
			list = append(list, newAnalysisCmd(a))
		}
	case *analysisCmd:
		return &struct{}{}, []kong.Option{kong.DynamicCommand(cmd.row.Name, cmd.row.Help, "", cmd)}
	}
	for _, k := range list {
		options = append(options, kong.DynamicCommand(k.row.Name, k.row.Help, "", k))
	}
	return cmd, options
}

// besideRun puts the commands of analyses behind that of runs.
func besideRun(k *kong.Kong) error {
	ours := func(n *kong.Node) bool { return analysis.Named(n.Name) != nil }
	others := slices.DeleteFunc(slices.Clone(k.Model.Children), ours)
	at := 1 + slices.IndexFunc(others, func(n *kong.Node) bool { return n.Name == "run" })
	if at > 0 {
		k.Model.Children = slices.Insert(others, at, slices.DeleteFunc(k.Model.Children, func(n *kong.Node) bool {
			return !ours(n)
		})...)
	}
	return nil
}
