package compile_test

import (
	"context"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/fstest"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/internal/testing/truth"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
)

var (
	mangledModels = flag.Int("mangled", 2000, "how many mangled models TestMangled draws")
	mangledFrom   = flag.Uint64("mangled-from", 0, "number of the first of them")
	mangledNow    = flag.String("mangled-now", "", "folder for the models at work, which show what ended the process")
	mangledSlow   = flag.Duration("mangled-slow", time.Minute, "how long a model may take")
)

// TestMangled changes models at random, and demands of each that it is formatted, checked, run and differentiated, or
// refused with a message: no panic, no run without end, no number that is not finite and not marked. A million take an
// hour or two:
//
//	go test -run 'TestMangled$' -timeout 0 . -mangled 1000000
//
//odes:goroutines
func TestMangled(t *testing.T) {
	t.Cleanup(memory.Force(2 << 30))
	debug.SetTraceback("all") // where a model hangs
	m := newMangler(t)
	from, n := seeds.Of(t, *mangledFrom), uint64(*mangledModels)
	if testing.Short() {
		n = min(n, 300)
	}
	var next, checked, ran, finished atomic.Uint64
	var workers sync.WaitGroup
	for range 2 {
		workers.Go(func() {
			for !t.Failed() || *mangledModels > 100_000 { // a long search lists all that it finds
				i := next.Add(1) - 1
				if i >= n {
					return
				}
				text, r := m.draw(from + i)
				v := &victim{text: text, number: from + i}
				v.survive(t, r)
				checked.Add(v.checked)
				ran.Add(v.ran)
				finished.Add(v.finished)
				if i%50_000 == 49_999 {
					t.Logf("%d models: %d were right, %d ran, %d to their end", i+1, checked.Load(), ran.Load(),
						finished.Load())
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%d models: %d were right, %d ran, %d to their end", n, checked.Load(), ran.Load(), finished.Load())
	if !t.Failed() && (checked.Load() < n/20 || finished.Load() < n/50) {
		t.Errorf("of %d models %d were right, %d ran to their end: too few to show anything", n, checked.Load(),
			finished.Load())
	}
}

// found are mangled models that ended badly once.
var found = map[string]string{
	"the direction of growth is not known where numbers overflow": `
time t from 0 to 5.3
param g = -1e300
state x = 0.6456, v = 0.3056, y = 0, z = 0
x' = v
v' = -g
y' = (if x > 1.0045 then 1.199 else 0) - 1.282*y
z' = 1.282*y - 0.1537*z
objective J = final(z)
`,
	"a condition changes between 0 and the least of all numbers": `
time t from 0 to 191.5
param a = 5e-324, w = 92.05405
state q = 1
q' = -0.3*q/191.5
objective J = integral(if (t - a)*(t - a - w) < 5e-324 then 1 else 0)
`,
	"a period is too short for the time to move": `
time t from 1.5 to 191.5
param P = 1e-308
state x = 0
event back every P from 0 + P { x = 0 }
x' = 1
objective J = final(x)
`,
	"a tolerance of zero asks the adjoint equation for steps without end": `
time t from 0 to 149.7
param f = 0.6465, r = 146.4
state a = 4.1, b = 2.17
a' = -f*a + r*b
b' = f*a - r*b
objective J = final(a)
solver { rtol = -0  method = ros3p }
sens   { mode = continuous }
`,
	"the first of a period is more periods before the run than can be counted": `
time t from 0 to 191.5
param P = 19.86
state x = 0
event back every P from -1e300 + P { x = 0 }
x' = 1
objective J = final(x)
`,
	"the coefficients of a guard's polynomial overflow": `
time t from 4081 to 4694.7
param r = 1e308, c = 0.3974
state x = 0
discrete n = 0
event e when x - floor(x) > c { n += 0.1 }
x' = r
objective J = final(n)
`,
	"a period becomes so short that most of its times are past": `
time t from 0 to 191.5
discrete P = 100
state x = 0
event shorter at 150 { P = 1e-12 }
event back every P { x = 0 }
x' = 1
objective J = final(x)
`,
}

// TestMangledFound runs the models that the search has found.
//
//odes:goroutines
func TestMangledFound(t *testing.T) {
	for name, text := range found {
		t.Run(name, func(t *testing.T) {
			(&victim{text: text}).survive(t, rand.New(rand.NewPCG(1, 1)))
		})
	}
}

// mangler makes models that are nearly right.
type mangler struct {
	texts [][]string // words, blanks and signs
	pool  []string   // of all texts
	sorts map[int][]string
}

var pieces = regexp.MustCompile(`[\p{L}_][\p{L}\d_]*|\d+(\.\d+)?([eE][-+]?\d+)?|[-+*/@^=<>!]+|` +
	`[][(){},:;'~.]|"[^"\n]*"|[ \t]+|\r?\n|#[^\n]*|[^\s]`)

func newMangler(t *testing.T) *mangler {
	m := &mangler{sorts: map[int][]string{}}
	add := func(text string) {
		list := pieces.FindAllString(text, -1)
		if len(list) == 0 {
			return
		}
		m.texts = append(m.texts, list)
		for _, w := range list {
			if strings.TrimSpace(w) != "" {
				m.pool = append(m.pool, w)
				m.sorts[sortOf(w)] = append(m.sorts[sortOf(w)], w)
			}
		}
	}
	for _, pattern := range []string{"examples/*/*.ode", "internal/engine/compile/testdata/wrong/*.ode"} {
		files, err := filepath.Glob(modeltest.Path(pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no models in %s: %v", pattern, err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			if !large.Match(text) {
				add(string(text))
			}
		}
	}
	for _, pattern := range []string{"parser/testdata/cases/*.txtar", "typecheck/testdata/*/*.txtar"} {
		files, _ := filepath.Glob(modeltest.Path(pattern))
		for _, file := range files {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			add(string(a.Files[0].Data))
		}
	}
	for i := range truth.Families {
		for seed := range uint64(6) {
			add(truth.Families[i].Draw(seed).Text)
		}
	}
	return m
}

// large are examples that take seconds: grids and lines of many points, networks.
var large = regexp.MustCompile(`const n[a-z]* *= *\d{2,}|\[\d{2,}(,\d+)?\]`)

// sortOf gives words that may stand in the same places the same number.
func sortOf(w string) int {
	c := w[0]
	switch {
	case c >= '0' && c <= '9':
		return 1
	case strings.ContainsAny(w, "+-*/@^"):
		return 2
	case strings.ContainsAny(w, "<>!=") && w != "=":
		return 3
	case parser.Reserved(w):
		return 4
	case c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || c == '_' || c > 127:
		return 5
	}
	return int(c) + 256
}

// extremes are numbers that programs stumble over.
var extremes = []string{
	"0", "-0", "1", "-1", "1e308", "1e309", "1e-308", "5e-324", "-1e300", "1e9", "2147483648", "1e18", "0.1", "1e-16",
	"nan", "inf", "1/0", "(0/0)", "9007199254740993", "100000000",
}

// draw returns model i, and the numbers that decide what is done to it.
func (m *mangler) draw(i uint64) (string, *rand.Rand) {
	r := rand.New(rand.NewPCG(i, 13))
	pick := func(list []string) string { return list[r.IntN(len(list))] }
	text := append([]string{}, m.texts[r.IntN(len(m.texts))]...)
	for range 1 + r.IntN(3) {
		at := r.IntN(len(text))
		for range 20 {
			if strings.TrimSpace(text[at]) != "" {
				break
			}
			at = r.IntN(len(text))
		}
		switch r.IntN(16) {
		case 0, 1, 2, 3, 4: // keeps the text grammatical more often
			if list := m.sorts[sortOf(text[at])]; len(list) > 0 {
				text[at] = pick(list)
			}
		case 5:
			text[at] = pick(m.pool)
		case 6:
			text[at] = pick(text) // a name of the model itself
		case 7, 8, 9:
			for k := range text {
				if j := (at + k) % len(text); sortOf(text[j]) == 1 {
					text[j] = pick(extremes)
					break
				}
			}
		case 10:
			text[at] = ""
		case 11:
			text[at] += " " + pick(m.pool)
		case 12:
			to := r.IntN(len(text))
			text[at], text[to] = text[to], text[at]
		case 13: // lines of another model
			other := m.texts[r.IntN(len(m.texts))]
			from := r.IntN(len(other))
			text[at] += "\n" + strings.Join(other[from:min(len(other), from+r.IntN(40))], "") + "\n"
		case 14: // the end is missing
			if r.IntN(4) == 0 {
				text = text[:at+1]
			}
		default: // bytes
			b := []byte(text[at])
			if len(b) > 0 {
				b[r.IntN(len(b))] = byte(r.IntN(256))
			}
			text[at] = string(b)
		}
		if len(text) == 0 || strings.Join(text, "") == "" {
			text = []string{"time"}
		}
		for k := range text {
			if text[k] == "" {
				text[k] = " "
			}
		}
	}
	return strings.Join(text, ""), r
}

// victim is a model while it is worked on.
type victim struct {
	text   string
	number uint64

	checked, ran, finished uint64
}

var mangledFiles = fstest.MapFS{
	"a.csv": {Data: []byte("1,2\n3,4\n")}, "d.csv": {Data: []byte("time,y\n0,1\n1,2\n")},
	"other.ode": {Data: []byte("const g = 9.81\nfunction f(x) = x^2\n")},
}

// survive does to a model what users do.
func (v *victim) survive(t *testing.T, r *rand.Rand) {
	if *mangledNow != "" {
		name := filepath.Join(*mangledNow, fmt.Sprintf("%d.ode", v.number))
		_ = os.WriteFile(name, []byte(v.text), 0o666)
		defer os.Remove(name)
	}
	begin := time.Now()
	ctx, cancel := context.WithTimeout(context.Background(), *mangledSlow)
	defer cancel()
	ended := make(chan struct{})
	defer close(ended)
	go func() { // what does not look at the context never ends, and the search with it
		select {
		case <-ended:
		case <-time.After(2 * *mangledSlow):
			panic(fmt.Sprintf("model %d does not end:\n%s", v.number, v.text))
		}
	}()
	wrong := ""
	func() {
		defer func() {
			if p := recover(); p != nil {
				wrong = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
			}
		}()
		wrong = v.try(ctx, r)
	}()
	if wrong == "" && time.Since(begin) > *mangledSlow {
		wrong = "it takes " + time.Since(begin).String()
	}
	if wrong != "" {
		t.Errorf("model %d: %s\n%s", v.number, wrong, v.text)
	}
}

// try returns what is wrong with how odes takes a model; "" for nothing.
func (v *victim) try(ctx context.Context, r *rand.Rand) (wrong string) {
	text, err := parser.Format("mangled.ode", v.text)
	switch {
	case err == nil:
		if twice, err := parser.Format("mangled.ode", text); err != nil || twice != text {
			return fmt.Sprintf("formatted twice it is another text: %v\n%s\n%s", err, text, twice)
		}
	case diag.Of(err) == nil:
		return fmt.Sprintf("cannot be formatted: %v", err)
	}
	_, found, err := odes.Check("mangled.ode", v.text, odes.ParseOptions{Files: mangledFiles})
	if wrong = v.said(append(found, diag.Of(err)...)); wrong != "" {
		return wrong
	}
	if err != nil {
		if diag.Of(err) == nil {
			return fmt.Sprintf("refused without a place: %v", err)
		}
		return ""
	}
	v.checked = 1
	m, err := odes.Parse("mangled.ode", v.text, odes.ParseOptions{Files: mangledFiles})
	if err != nil {
		if diag.Of(err) == nil {
			return fmt.Sprintf("refused without a place: %v", err)
		}
		return v.said(diag.Of(err))
	}
	v.ran = 1
	opts := odes.Options{Threads: 1, Settings: []odes.Setting{{Key: "solver.max_steps", Value: "200"}}}
	set := func(key, value string) { opts.Settings = append(opts.Settings, odes.Setting{Key: key, Value: value}) }
	word := func(block, key string) {
		words := settings.Words(block, key)
		set(block+"."+key, words[r.IntN(len(words))])
	}
	if r.IntN(3) == 0 {
		word("solver", "method")
	}
	if r.IntN(3) == 0 {
		word("sens", "mode")
	}
	if r.IntN(2) == 0 {
		set("sens.trust", "off")
	}
	if r.IntN(8) == 0 {
		sol, err := m.Solve(ctx, opts)
		if err != nil {
			return v.failed(ctx, err)
		}
		v.finished = 1
		for _, x := range sol.Values {
			if x.Value-x.Value != 0 && sol.Status != "partial" {
				return fmt.Sprintf("%s = %g, and the status is %s", x.Name, x.Value, sol.Status)
			}
		}
		return v.said(sol.Warnings)
	}
	s, err := m.Sensitivities(ctx, opts)
	if err != nil {
		return v.failed(ctx, err)
	}
	v.finished = 1
	if len(s.Gradient) != len(s.Values)*s.Columns {
		return fmt.Sprintf("%d derivatives of %d objectives by %d", len(s.Gradient), len(s.Values), s.Columns)
	}
	for i, x := range s.Values {
		marked := s.Status == "partial" && (len(x.Warnings) > 0 || len(s.Warnings) > 0)
		if x.Value-x.Value != 0 && !marked {
			return fmt.Sprintf("%s = %g, and the status is %s", x.Name, x.Value, s.Status)
		}
		for _, d := range s.Gradient[i*s.Columns : (i+1)*s.Columns] {
			if d-d != 0 && !marked {
				return fmt.Sprintf("a derivative of %s is %g, and the status is %s", x.Name, d, s.Status)
			}
		}
		for _, text := range x.Warnings {
			if wrong := misprint(text); wrong != "" {
				return wrong
			}
		}
	}
	return v.said(s.Warnings)
}

// failed returns what is wrong with the error of a run.
func (v *victim) failed(ctx context.Context, err error) string {
	if ctx.Err() != nil {
		return fmt.Sprintf("takes too long: %v", err)
	}
	if diag.Of(err) == nil {
		return fmt.Sprintf("failed without a place: %v", err)
	}
	return v.said(diag.Of(err))
}

// said returns what is wrong with messages.
func (v *victim) said(list []diag.Diagnostic) string {
	for _, d := range list {
		if wrong := misprint(d.Message); wrong != "" {
			return wrong
		}
		if d.Code == "" {
			return "a message without a code: " + d.Message
		}
		if at := d.Span; !at.IsZero() && (at.Start < 0 || at.End < at.Start || at.End > len(at.File.Text())) {
			return fmt.Sprintf("a place outside of the text: %v", at)
		}
	}
	for _, f := range []diag.Format{diag.Plain, diag.JSON} {
		if err := diag.WriteWidth(io.Discard, list, f, 40); err != nil {
			return err.Error()
		}
	}
	return ""
}

// misprint returns what is wrong with a message.
func misprint(text string) string {
	for _, bad := range []string{"%!", "internal error", "<nil>", "runtime error"} {
		if strings.Contains(text, bad) {
			return "a message: " + text
		}
	}
	if text == "" {
		return "an empty message"
	}
	return ""
}
