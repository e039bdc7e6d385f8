// Package sedml translates simulation experiments in SED-ML, and COMBINE archives that hold them with their models,
// into the language of odes.
//
// D. Waltemath et al., Reproducible computational biology experiments with SED-ML, BMC Systems Biology 5 (2011) 198,
// and F. T. Bergmann et al., COMBINE archive and OMEX format, BMC Bioinformatics 15 (2014) 369, say what these mean.
package sedml

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/exchange/sbml/comp"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// IsArchive reports whether a text is an archive.
func IsArchive(text string) bool { return strings.HasPrefix(text, "PK\x03\x04") }

// Is reports whether a text is in SED-ML, by its first element.
func Is(text string) bool {
	text = text[:min(len(text), 4096)]
	return strings.Contains(text, "<") && firstTag().MatchString(text)
}

var firstTag = lazy.Regexp(`^\s*(?:\x{feff})?(?:<\?[^>]*\?>\s*|<!--(?s:.*?)-->\s*)*<(?:\w+:)?sedML\b`)

// experiment is one that is being translated.
type experiment struct {
	file  *source.File // the archive, or the file in SED-ML
	list  *diag.List
	text  string      // of the file
	zip   *zip.Reader // of an archive
	files fs.FS       // beside a file in SED-ML

	script   *source.File // in SED-ML
	folder   string       // of the script, in the archive
	document *sbml.Element
}

// failure is what is wrong, with its place.
type failure struct {
	file *source.File
	at   sbml.Place
	text string
}

func (f *failure) Error() string { return f.text }

func (x *experiment) fail(at *sbml.Element, format string, args ...any) error {
	f := &failure{file: x.script, text: fmt.Sprintf(format, args...)}
	if f.file == nil {
		f.file = x.file
	}
	if at != nil {
		f.at = sbml.At(at.Span())
	}
	return f
}

// Translate writes one task of a file in the language of odes: that of a name or, if it is "", the first. Files has the
// models beside a file that is no archive. It reports to list what is wrong or cannot be translated, and returns nil
// then.
func Translate(file *source.File, files fs.FS, task, end string, list *diag.List) *source.File {
	x := &experiment{file: file, files: files, list: list, text: file.Text()}
	if IsArchive(x.text) {
		x.file = source.NewFile(file.Name(), "") // no message shows its bytes
	}
	out, err := x.translate(task, end)
	if err == errReported {
		return nil
	}
	if err != nil {
		at := source.Span{File: x.file}
		if f, ok := err.(*failure); ok {
			at.File = f.file
			at.Start, at.End = f.at.Span()
		}
		list.Errorf(parser.CodeForeignFile, at, "%v", err)
		return nil
	}
	return out
}

func (x *experiment) translate(task, end string) (*source.File, error) {
	if !IsArchive(x.text) {
		x.script = x.file
	} else if err := x.open(); err != nil {
		return nil, err
	}
	if x.script == nil { // a model without an experiment
		return x.model(end)
	}
	var err error
	if x.document, err = sbml.Parse(x.script.Text()); err != nil {
		at, _ := sbml.Where(err)
		return nil, &failure{x.script, at, err.Error()}
	}
	return x.task(task)
}

// open reads an archive, and finds its experiment.
func (x *experiment) open() error {
	r, err := zip.NewReader(strings.NewReader(x.text), int64(len(x.text)))
	if err != nil {
		return x.fail(nil, "the archive cannot be read: %v", err)
	}
	x.zip = r
	name := ""
	if manifest, err := x.entry("manifest.xml"); err == nil {
		document, err := sbml.Parse(manifest)
		if err != nil {
			return x.fail(nil, "manifest.xml: %v", err)
		}
		for _, c := range document.Children() {
			if c.Name() != "content" || !strings.Contains(strings.ToLower(c.Attr("format")), "sed-ml") {
				continue
			}
			if name == "" || c.Attr("master") == "true" {
				name = path.Clean(c.Attr("location"))
			}
		}
	}
	for _, f := range r.File {
		if name == "" && strings.HasSuffix(strings.ToLower(f.Name), ".sedml") {
			name = f.Name
		}
	}
	if name == "" {
		return nil
	}
	text, err := x.entry(name)
	if err != nil {
		return x.fail(nil, "%s: %v", name, err)
	}
	x.script, x.folder = x.inside(name, text), path.Dir(name)
	return nil
}

// inside names a file of the archive.
func (x *experiment) inside(name, text string) *source.File {
	return source.NewFile(x.file.Name()+"/"+name, strings.TrimPrefix(text, "\ufeff"))
}

// beside opens what a model refers to. Its path is that in the archive, or from the folder of the script.
func (x *experiment) beside(model *source.File, at string) comp.Open {
	if x.zip == nil {
		return comp.Beside(x.files, model, at)
	}
	return func(name string) (*source.File, error) {
		text, err := x.entry(path.Join(path.Dir(at), name))
		return x.inside(path.Join(path.Dir(at), name), text), err
	}
}

// entry reads a file of the archive.
func (x *experiment) entry(name string) (string, error) {
	i := slices.IndexFunc(x.zip.File, func(f *zip.File) bool { return path.Clean(f.Name) == path.Clean(name) })
	if i < 0 {
		return "", fmt.Errorf("the archive has no file %q", name)
	}
	r, err := x.zip.File[i].Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, input.MaxText+1))
	if len(b) > input.MaxText {
		return "", fmt.Errorf("it is longer than %d MB", input.MaxText>>20)
	}
	return string(b), err
}

// model translates the only model of an archive without an experiment.
func (x *experiment) model(end string) (*source.File, error) {
	var found *source.File
	var at string
	for _, f := range x.zip.File {
		if name := strings.ToLower(f.Name); !strings.HasSuffix(name, ".xml") && !strings.HasSuffix(name, ".sbml") {
			continue
		}
		text, err := x.entry(f.Name)
		if err != nil {
			return nil, x.fail(nil, "%s: %v", f.Name, err)
		}
		if !sbml.Is(text) {
			continue
		}
		if found != nil {
			return nil, x.fail(nil, "the archive has several models and no experiment: unpack it, as by unzip, and "+
				"name the model in it")
		}
		found, at = x.inside(f.Name, text), f.Name
	}
	if found == nil {
		return nil, x.fail(nil, "this is an archive without an experiment in SED-ML or a model in SBML: unpack it, "+
			"as by unzip, and name the model in it")
	}
	return translated(comp.Translate(found, x.beside(found, at), sbml.Options{To: end, Name: x.file.Name()}, x.list))
}

// errReported stands for what is in the list already.
var errReported = errors.New("see above")

func translated(out *source.File) (*source.File, error) {
	if out == nil {
		return nil, errReported
	}
	return out, nil
}

// named returns the member of a list with an id, or nil.
func (x *experiment) named(list, id string) *sbml.Element {
	for _, e := range x.document.List(list) {
		if e.Attr("id") == id {
			return e
		}
	}
	return nil
}

// task translates one.
func (x *experiment) task(asked string) (*source.File, error) {
	tasks := x.document.List("listOfTasks")
	if len(tasks) == 0 {
		return nil, x.fail(nil, "the experiment has no task")
	}
	names := make([]string, len(tasks))
	for i, t := range tasks {
		names[i] = t.Attr("id")
	}
	of, run := tasks[0], 0
	if asked != "" {
		of, run = x.find(tasks, asked)
		if of == nil {
			return nil, x.fail(nil, "there is no task %q; there are %s", asked, strings.Join(names, ", "))
		}
	}
	var sets []setting
	simple := of
	if of.Name() == "repeatedTask" {
		var err error
		if simple, sets, err = x.scan(of, asked, run); err != nil {
			return nil, err
		}
	}
	if simple.Name() != "task" {
		return nil, x.fail(simple, "the task %s is a <%s>, which odes does not read", simple.Attr("id"), simple.Name())
	}
	course := x.named("listOfSimulations", simple.Attr("simulationReference"))
	if course == nil {
		return nil, x.fail(simple, "there is no simulation %q", simple.Attr("simulationReference"))
	}
	times, start, err := x.course(course)
	if err != nil {
		return nil, err
	}
	m, where, model, err := x.changed(simple.Attr("modelReference"), simple, 0)
	if err != nil {
		return nil, err
	}
	if model, err = comp.Flatten(model, x.beside(m, where)); err != nil {
		at, _ := sbml.Where(err)
		if of := at.File(); of != nil {
			m = of
		}
		return nil, &failure{m, at, err.Error()}
	}
	read := sbml.ReadTree(m, model, x.list)
	if read == nil {
		return nil, errReported
	}
	tail := &sbml.Items{}
	if asked != "" {
		items, err := x.apply(read, sets)
		if err != nil {
			return nil, err
		}
		tail.Item("experiment %s {%s }", read.Free(asked), items)
	}
	out, err := translated(read.Text(sbml.Options{
		From: number(start), To: number(times[len(times)-1]), Name: x.file.Name(), Tail: tail,
	}, x.list))
	if err != nil {
		return nil, err
	}
	out.Ask(times)
	if asked == "" && len(tasks) > 1 {
		x.list.Notef(parser.CodeForeignFile, source.Span{File: x.script}, "of the tasks %s this is the first; --in %s "+
			"gives another", strings.Join(names, ", "), names[1])
	}
	return out, nil
}

func number(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// find returns the task of a name; of a scan, whose runs are scan_1, scan_2 and so on, also which run it is.
func (x *experiment) find(tasks []*sbml.Element, asked string) (of *sbml.Element, run int) {
	for _, t := range tasks {
		if t.Attr("id") == asked {
			return t, 0
		}
	}
	name, count, _ := cutLast(asked, "_")
	run, err := strconv.Atoi(count)
	for _, t := range tasks {
		if err == nil && run > 0 && t.Attr("id") == name && t.Name() == "repeatedTask" {
			return t, run
		}
	}
	return nil, 0
}

func cutLast(text, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(text, sep)
	if i < 0 {
		return text, "", false
	}
	return text[:i], text[i+len(sep):], true
}

// stochastic are methods that draw random numbers, by their numbers in KiSAO, and others are no time courses.
var (
	stochastic = []int{
		3, 15, 16, 22, 27, 28, 29, 36, 38, 39, 40, 45, 48, 51, 56, 57, 58, 59, 74, 75, 76, 77, 78, 79, 81, 82, 84, 95,
		241, 278, 319, 323, 324, 329, 330, 331, 333, 335, 348, 349, 350, 351, 352, 358, 359, 360, 561, 562, 563, 564,
		566, 581, 582, 585, 591, 595, 615,
	}
	balances = []int{437, 497, 527, 528, 531, 532, 533, 534, 554, 580, 602}
)

// course reads a uniform time course: the times of its outputs, and where it starts.
func (x *experiment) course(e *sbml.Element) (times []float64, start float64, err error) {
	if a := e.Child("algorithm"); a != nil {
		id := a.Attr("kisaoID")
		n, _ := strconv.Atoi(strings.TrimLeft(id[strings.LastIndexAny(id, ":_")+1:], "0"))
		switch {
		case slices.Contains(stochastic, n):
			return nil, 0, x.fail(a, "this is a stochastic simulation (%s): odes solves equations without noise", id)
		case slices.Contains(balances, n):
			return nil, 0, x.fail(a, "this is a problem of flux balance (%s): it has no time, and odes does not "+
				"solve it", id)
		}
	}
	if e.Name() != "uniformTimeCourse" {
		return nil, 0, x.fail(e, "the simulation %s is a <%s>: odes reads uniform time courses; steady(x) in an "+
			"objective is a steady state", e.Attr("id"), e.Name())
	}
	var v [4]float64
	points := "numberOfPoints"
	if e.Attr(points) == "" {
		points = "numberOfSteps"
	}
	for i, name := range []string{"initialTime", "outputStartTime", "outputEndTime", points} {
		if v[i], err = strconv.ParseFloat(e.Attr(name), 64); err != nil || math.IsNaN(v[i]) || math.IsInf(v[i], 0) {
			return nil, 0, x.fail(e, "%s of the simulation %s is %q, which is no number", name, e.Attr("id"),
				e.Attr(name))
		}
	}
	if !(v[0] <= v[1] && v[1] <= v[2] && v[0] < v[2]) {
		return nil, 0, x.fail(e, "the simulation %s ends before it starts", e.Attr("id"))
	}
	const most = 10_000_000
	n := int(v[3])
	if v[3] < 1 || v[3] > most || float64(n) != v[3] {
		return nil, 0, x.fail(e, "the simulation %s has %s outputs: from 1 to %d are possible", e.Attr("id"),
			e.Attr(points), most)
	}
	if v[1] == v[2] {
		return []float64{v[2]}, v[0], nil
	}
	for i := range n + 1 {
		times = append(times, v[1]+(v[2]-v[1])*float64(i)/float64(n))
	}
	times[n] = v[2]
	return times, v[0], nil
}
