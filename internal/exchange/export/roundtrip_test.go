package export_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/exchange/export"
	"odes.dev/odes/internal/testing/truth"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// exported writes a model.
func exported(format, name, text string, files fs.FS, experiment string) (string, []diag.Diagnostic, error) {
	var list diag.List
	m, _ := compile.Text(name, text, typecheck.Env{Files: files}, &list)
	if m == nil {
		return "", nil, list.Err()
	}
	written := export.Named(format).Write(m, experiment, "test", &list)
	return written, list.All(), list.Err()
}

// settings are those of both runs that are compared.
var settings = []odes.Setting{
	{Key: "solver.rtol", Value: "1e-11"},
	{Key: "solver.atol", Value: "1e-13"},
	{Key: "solver.max_steps", Value: "1e6"},
	{Key: "sens.trust", Value: "off"},
}

// roundTrip exports a model in SBML, reads it back and compares runs of both: at the start, at times and at the end. It
// returns the largest difference, relative to the largest value of the same output.
func roundTrip(name, text string, files fs.FS, most int) (worst float64, where string, err error) {
	first, err := odes.Parse(name, text, odes.ParseOptions{Files: files})
	if err != nil {
		return 0, "", err
	}
	symbols, err := first.Symbols(nil)
	if err != nil {
		return 0, "", err
	}
	reported := map[string]bool{}
	for _, s := range symbols {
		reported[s.Name] = reported[s.Name] || s.Kind == "output" && strings.Contains(text, "output ")
	}
	for _, s := range symbols {
		if (s.Kind == "state" || s.Kind == "alg" || s.Kind == "discrete") && !reported[s.Name] {
			text += "\noutput `" + s.Name + "`"
		}
	}
	written, _, err := exported("sbml", name, text, files, "")
	if err != nil {
		return 0, "", err
	}
	if len(written) > most {
		return 0, "", errLong
	}
	if first, err = odes.Parse(name, text, odes.ParseOptions{Files: files}); err != nil {
		return 0, "", err
	}
	a, err := run(first, nil)
	if err != nil {
		return 0, "", fmt.Errorf("%w: %w", errFirst, err)
	}
	var list diag.List
	end := strconv.FormatFloat(a.T[len(a.T)-1]-a.T[0], 'g', -1, 64)
	translated, _ := compile.Import(name+".xml", written, nil, end, &list)
	if translated == nil {
		return 0, "", fmt.Errorf("reading back: %w", list.Err())
	}
	back := translated.Text()
	if solver := solverBlock.FindString(text); solver != "" && !strings.Contains(solver, "stages") { // the same steps
		back = solverBlock.ReplaceAllString(back, "") + "\n" + solver
	}
	second, err := odes.Parse(name+" read back", back, odes.ParseOptions{})
	if err != nil {
		return 0, "", fmt.Errorf("reading back: %w", err)
	}
	b, err := run(second, a)
	if err != nil {
		return 0, "", fmt.Errorf("run of what was read back: %w", err)
	}
	times := 0 // that both have: a run may end earlier than that in SBML
	for times < min(len(a.T), len(b.T)) && math.Abs(a.T[times]-a.T[0]-b.T[times]) <= 1e-9*math.Abs(a.T[times]) {
		times++
	}
	if times < min(len(a.T), len(b.T))-2 {
		return 0, "", fmt.Errorf("times %v, and read back %v", a.T, b.T)
	}
	compared := 0
	for _, s := range a.Outputs {
		n := len(s.Values) / len(a.T)
		for e := range n {
			id := joinedName(s.Name, s.Shape, e)
			i := slices.IndexFunc(b.Outputs, func(o odes.Series) bool { return o.Name == id })
			if i < 0 {
				continue // it does not change, or its name is another
			}
			compared++
			largest := 1e-6
			for k := range times {
				largest = max(largest, math.Abs(s.Values[k*n+e]))
			}
			for k := range times {
				one, other := s.Values[k*n+e], b.Outputs[i].Values[k]
				if math.IsNaN(one) && math.IsNaN(other) || one == other {
					continue
				}
				d := math.Abs(one-other) / largest
				if math.IsNaN(d) {
					d = math.Inf(1)
				}
				if d > worst {
					worst, where = d, fmt.Sprintf("%s at %g: %g, and read back %g", id, a.T[k], s.Values[k*n+e],
						b.Outputs[i].Values[k])
				}
			}
		}
	}
	if compared == 0 {
		return 0, "", errors.New("nothing was compared")
	}
	return worst, where, nil
}

var solverBlock = regexp.MustCompile(`(?s)\nsolver \{.*?\n?\}`)

var (
	errFirst = errors.New("run of the model")
	errLong  = errors.New("long")
)

func joinedName(name string, shape []int, e int) string {
	text := ""
	for k := len(shape) - 1; k >= 0; k-- {
		text = fmt.Sprintf("_%d", e%shape[k]+1) + text
		e /= shape[k]
	}
	return strings.ReplaceAll(name, ".", "_") + text // names of components have dots
}

// run solves a model at eleven times of its own, or at those of another run, from its start.
func run(m *odes.Model, like *odes.Solution) (*odes.Solution, error) {
	o := odes.Options{Settings: settings}
	if like != nil {
		for _, t := range slices.Compact(slices.Clone(like.T)) { // at an event both limits appear
			o.Times = append(o.Times, t-like.T[0])
		}
		return m.Solve(context.Background(), o)
	}
	s, err := m.Solve(context.Background(), odes.Options{Settings: append(slices.Clone(settings), odes.Setting{
		Key: "solver.rtol", Value: "1e-3",
	})})
	if err != nil {
		return nil, err
	}
	for k := range 11 {
		o.Times = append(o.Times, s.From+(s.To-s.From)*(float64(k)/10))
	}
	return m.Solve(context.Background(), o)
}

var others = flag.String("others", "", "the files, as a pattern, of models that are exported instead of the examples")

// modelFiles returns the files of the examples.
func modelFiles(t *testing.T) []string {
	pattern := "../../../examples/*/*.ode"
	if *others != "" {
		pattern = *others
	}
	files, err := filepath.Glob(pattern)
	if err != nil || len(files) < 30 && *others == "" {
		t.Fatal(len(files), err)
	}
	if *others != "" {
		return files
	}
	return slices.DeleteFunc(files, func(f string) bool { // too long to be worth their time
		return slices.Contains([]string{
			"glv200.ode", "gray_scott.ode", "heat2d.ode", "heat2d_512.ode", "heat30.ode", "heat50.ode", "heat3d.ode",
		}, filepath.Base(f))
	})
}

// maxLength is how long an export may be that is tested; flags test longer ones.
const maxLength = 20_000

// TestRoundTrip exports the examples in SBML, and random models, and reads them back: they do the same.
func TestRoundTrip(t *testing.T) {
	compared := 0
	same := func(t *testing.T, name, text string, files fs.FS) {
		most := maxLength
		if *others != "" {
			most = math.MaxInt
		}
		d, where, err := roundTrip(name, text, files, most)
		var list *diag.ListError
		switch {
		case errors.Is(err, errLong), errors.Is(err, errFirst):
			t.Skip(err)
		case errors.As(err, &list) && slices.ContainsFunc(list.Diagnostics, func(d diag.Diagnostic) bool {
			return d.Code == export.CodeCannot
		}):
			t.Skip(err)
		case err != nil:
			t.Error(err)
		case d > 1e-7:
			t.Errorf("%.1e: %s", d, where)
		case *others != "":
			t.Logf("%.1e %s", d, where)
		}
		compared++
	}
	for _, f := range modelFiles(t) {
		t.Run(filepath.Base(f), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			same(t, filepath.Base(f), string(text), os.DirFS(filepath.Dir(f)))
		})
	}
	for _, f := range truth.Families {
		if *others == "" {
			t.Run("random/"+f.Name, func(t *testing.T) { same(t, f.Name, f.Draw(1).Text, nil) })
		}
	}
	if compared < 50 && *others == "" {
		t.Errorf("only %d models were compared", compared)
	}
}

// TestFunctionsComeBack exports functions that SBML does not have, each where its argument is small, large and between:
// what stands for them keeps their digits.
func TestFunctionsComeBack(t *testing.T) {
	argument := regexp.MustCompile(`\bs\b`)
	functions := []string{
		"log1p(s)", "log1p(-s/(1 + s))", "expm1(-s)", "expm1(min(s, 600))", "sigmoid(s)", "sigmoid(-min(s, 600))",
		"cbrt(-s)", "hypot(s, 3)", "hypot(s, 1/s)", "atan2(s, -2)", "atan2(-s, 1/s)", "mod(min(s, 1e9), 7)",
		"round(-s)", "sign(-s)",
	}
	text := "model A\ntime t from 0 to 1\nstate x = 1\nx' = 0\n"
	for i, size := range []string{"1e-12", "1e-3", "1", "30", "38", "1e3", "1e9", "1e14", "1e60"} {
		text += fmt.Sprintf("let s%d = %s*x\n", i, size)
		for k, f := range functions {
			f = argument.ReplaceAllString(f, fmt.Sprint("s", i))
			text += fmt.Sprintf("output f%d_%d = %s\n", i, k, f)
		}
	}
	worst, where, err := roundTrip("functions", text, nil, 10*maxLength)
	if err != nil || worst > 1e-14 {
		t.Errorf("%v %v %v", worst, where, err)
	}
}

// TestDelaysComeBack exports models with delays in SBML, reads them back and compares runs.
func TestDelaysComeBack(t *testing.T) {
	for name, text := range map[string]string{
		"fixed": `model A
time t from 0 to 5
param tau = 0.5, k[2] = [1, 2], lag[2] = [0.25, 1]
state x = 1, y[2] = [1, 2], z = 0.5
past z = sin(t)*k[1]
let late = delay(x, tau)
x' = -late
y[i]' = -delay(y[i], lag[i]) + k[i]*delay(x*t, tau) for i in 1:2
z' = -delay(z, tau)
event jump when x < 0.4 { x = 1 + delay(y[1], 0.5) }
output x, y, z
`,
		"moving": `model B
time t from 1 to 5
state x = 1, z = 0
x' = -delay(x, 1 + x^2/(1 + x^2))
z' = delay(t*x, t/3)
output x, z
`,
	} {
		worst, where, err := roundTrip(name, text, nil, maxLength)
		if err != nil || worst > 1e-8 {
			t.Errorf("%s: %v %v %v", name, worst, where, err)
		}
	}
}
