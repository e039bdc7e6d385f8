package tapec

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/tape"
)

// wholeModels compiles the models of testdata/lower and testdata/whole, and small examples. That is done
// once.
func wholeModels(t *testing.T) (own, examples map[string]*Compiled) {
	t.Helper()
	compiledModels.Do(func() {
		compiledModels.own, compiledModels.examples = map[string]*Compiled{}, map[string]*Compiled{}
		for pattern, to := range map[string]map[string]*Compiled{
			"testdata/lower/*.txtar": compiledModels.own, "testdata/whole/*.ode": compiledModels.own,
			"../examples/*/*.ode": compiledModels.examples,
		} {
			files, err := filepath.Glob(pattern)
			if err != nil || len(files) < 3 {
				t.Fatalf("%d files %s, %v", len(files), pattern, err)
			}
			for _, f := range files {
				text, err := os.ReadFile(f)
				if err != nil {
					t.Fatal(err)
				}
				if filepath.Ext(f) == ".txtar" {
					text = txtar.Parse(text).Files[0].Data
				}
				var l diag.List
				c := Compile(check(t, f, large.ReplaceAllString(string(text), "$1 = 24")), &l)
				if c == nil {
					t.Fatalf("%s: %v", f, l.Err())
				}
				to[strings.TrimSuffix(filepath.Base(f), filepath.Ext(f))] = c
			}
		}
	})
	return compiledModels.own, compiledModels.examples
}

var compiledModels struct {
	sync.Once
	own, examples map[string]*Compiled
}

// everyModel iterates over all of them.
func everyModel(t *testing.T) iter.Seq2[string, *Compiled] {
	own, examples := wholeModels(t)
	return func(yield func(string, *Compiled) bool) {
		for _, models := range []map[string]*Compiled{own, examples} {
			for name, c := range models {
				if !yield(name, c) {
					return
				}
			}
		}
	}
}

// moving lists what derivatives of a tape are taken of and by.
func moving(x *tape.Tape) (of, wrt []string) {
	for _, o := range x.Outputs {
		if MustName(o.Name).Role != Truths {
			of = append(of, o.Name)
		}
	}
	for _, in := range x.Inputs {
		switch n := MustName(in.Name); n.Role {
		case Time, State, LeftState, Discrete, LeftDiscrete, Param:
			wrt = append(wrt, in.Name)
		}
	}
	return of, wrt
}

// byStates places the outputs of rates, and the states and the time that they read.
func byStates(rates *tape.Tape) (of, wrt []Placed) {
	rows, cols := 0, 0
	for _, o := range rates.Outputs {
		of = append(of, Placed{o.Name, rows})
		rows += rates.Shape(o.Value).Size()
	}
	for _, in := range rates.Inputs {
		if n := MustName(in.Name); n.Role == State || n == Time.Name() {
			wrt = append(wrt, Placed{in.Name, cols})
			cols += in.Shape.Size()
		}
	}
	return of, wrt
}

// TestWork compares what becomes of whole models with testdata/work.txt: how many tapes of each kind there are, their
// instructions and operations, and a hash of their texts. Other tests compare the numbers that they make with those of
// other ways. This one tells which models a change of the compiler touches, and whether work became more or less.
func TestWork(t *testing.T) {
	const file = "testdata/work.txt"
	var got bytes.Buffer
	models, _ := wholeModels(t)
	for _, name := range slices.Sorted(maps.Keys(models)) {
		fmt.Fprintln(&got, name)
		for _, k := range kindsOf(t, models[name]) {
			hash, instrs, work := fnv.New32a(), 0, 0
			for _, x := range k.tapes {
				instrs += len(x.Instrs)
				work += operations(x, func(tape.Value) bool { return true })
				fmt.Fprintln(hash, x)
			}
			fmt.Fprintln(hash, k.more)
			if len(k.tapes) > 0 {
				fmt.Fprintf(&got, "  %-11s %3d tapes %5d instructions %7d operations %08x\n", k.name, len(k.tapes),
					instrs, work, hash.Sum32())
			}
		}
	}
	if *update {
		if err := os.WriteFile(file, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got.Bytes(), want) {
		return
	}
	model, wanted := "", strings.Split(string(want), "\n")
	for i, line := range strings.Split(got.String(), "\n") {
		if !strings.HasPrefix(line, " ") {
			model = line
		}
		if i >= len(wanted) || line != wanted[i] {
			t.Fatalf("%s differs first at %s, line %d: %q; run with -update and read the difference", file, model, i+1,
				line)
		}
	}
	t.Fatalf("%s has more lines", file)
}

// kind is what is made of a model in one way: tapes, and whatever else tells what they are.
type kind struct {
	name  string
	tapes []*tape.Tape
	more  any
}

// kindsOf makes everything that is made of a compiled model.
func kindsOf(t *testing.T, c *Compiled) []kind {
	t.Helper()
	plain, push, pull := kind{name: "values"}, kind{name: "tangents"}, kind{name: "transposes"}
	guarded, bounded := kind{name: "guarded"}, kind{name: "bounded"}
	second, elements, deferred := kind{name: "second"}, kind{name: "elements"}, kind{name: "deferred"}
	for _, x := range c.Tapes() {
		plain.tapes = append(plain.tapes, x)
		of, wrt := moving(x)
		if len(of) == 0 || len(wrt) == 0 {
			continue
		}
		add := func(to *kind, x *tape.Tape, err error) *tape.Tape {
			if err == nil {
				err = tape.Check(x)
			}
			if err != nil {
				t.Fatal(err)
			}
			to.tapes = append(to.tapes, x)
			return x
		}
		j, err := JVP(x, of, wrt)
		j = add(&push, j, err)
		v, err := VJP(x, of, wrt)
		v = add(&pull, v, err)
		g, err := GuardedVJP(x, of, wrt)
		add(&guarded, g, err)
		g, err = BoundedVJP(x, of, wrt, false, 1e6)
		add(&bounded, g, err)
		s, err := SecondVJP(x, of, wrt, false)
		add(&second, s, err)
		if short, names := Elements(j, func(string) bool { return true }); len(names) > 0 {
			add(&elements, short, nil)
		}
		if rest, list := Defer(v, 4, func(string) bool { return true }); len(list) > 0 {
			add(&deferred, rest, nil)
			deferred.more = fmt.Sprint(deferred.more, list)
		}
	}
	list := []kind{plain, push, pull, guarded, bounded, second, elements, deferred}
	jacobian := func(name string, rates *tape.Tape, l limits) {
		of, wrt := byStates(rates)
		j, err := l.jacobian(rates, of, wrt)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, kind{name, []*tape.Tape{j.Tape}, fmt.Sprint(j.Rows, j.Cols, j.Direct, j.Terms, j.Tangent,
			Colours(j.Rows, j.Cols))})
	}
	jacobian("jacobian", c.Rates, limits{always: 1 << 16, factor: 2, most: 1 << 27})
	jacobian("coloured", c.Rates, limits{most: 1 << 27})
	if implicit, explicit := LinearPart(c.Rates); implicit != nil {
		list = append(list, kind{"split", []*tape.Tape{implicit, explicit}, nil})
		jacobian("of implicit", implicit, limits{always: 1 << 16, factor: 2, most: 1 << 27})
	}
	if bends, guards, jumps := Bends(c.Guards, c.GuardList); bends != nil {
		list = append(list, kind{"bends", []*tape.Tape{bends}, fmt.Sprint(guards, jumps)})
	}
	if c.Clocks != nil {
		slopes, jumps := ByTime(c.Clocks, ClockMargins.Name().String(), nil)
		list = append(list, kind{"clocks", []*tape.Tape{slopes}, jumps})
	}
	even, makes := Even(c.Rates)
	if makes != nil {
		list = append(list, kind{"even", []*tape.Tape{makes}, even})
	}
	if signals, readers := Signals(c.Rates, even); signals != nil {
		slopes, jumps := ByTime(signals, SignalValues.Name().String(), even)
		list = append(list, kind{"signals", []*tape.Tape{signals, slopes}, fmt.Sprint(readers, jumps)})
	}
	return list
}

// TestLinearPart splits the rates of whole models: the parts add up to them, the implicit one is affine in the states,
// and so is nothing that stays behind alone.
func TestLinearPart(t *testing.T) {
	n := 0
	for name, c := range everyModel(t) {
		implicit, explicit := LinearPart(c.Rates)
		if implicit == nil {
			continue
		}
		n++
		inputs := tapetest.Fill(c.Rates, 5)
		whole := runTape(t, c.Rates, inputs)
		in, ex := runTape(t, implicit, inputs), runTape(t, explicit, inputs)
		// Two other states, and the one between them.
		var at [3]map[string][]float64
		r := elem.NewRand(3)
		for k := range at {
			at[k] = map[string][]float64{}
		}
		for _, i := range c.Rates.Inputs {
			for k := range at {
				at[k][i.Name] = inputs[i.Name]
			}
			if MustName(i.Name).Role == State {
				for k := range at {
					at[k][i.Name] = slices.Clone(inputs[i.Name])
				}
				for e := range at[0][i.Name] {
					at[0][i.Name][e], at[1][i.Name][e] = r.Float64(), 2*r.Float64()
					at[2][i.Name][e] = (at[0][i.Name][e] + at[1][i.Name][e]) / 2
				}
			}
		}
		var lines [3]*tape.Evaluator[float64]
		for k := range at {
			lines[k] = runTape(t, implicit, at[k])
		}
		for _, o := range c.Rates.Outputs {
			want, a, b := whole.Output(o.Name), in.Output(o.Name), ex.Output(o.Name)
			p, q, mid := lines[0].Output(o.Name), lines[1].Output(o.Name), lines[2].Output(o.Name)
			for e, w := range want {
				if w-w == 0 && !(math.Abs(a[e]+b[e]-w) <= 1e-13*(1+math.Abs(a[e])+math.Abs(b[e]))) {
					t.Fatalf("%s: %s[%d]: %v and %v are not %v", name, o.Name, e, a[e], b[e], w)
				}
				if line := (p[e] + q[e]) / 2; !(math.Abs(line-mid[e]) <= 1e-12*(1+math.Abs(p[e])+math.Abs(q[e]))) {
					t.Fatalf("%s: %s[%d]: %v between %v and %v", name, o.Name, e, mid[e], p[e], q[e])
				}
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d models are split", n)
	}
}

// TestBends: the tape makes the margins of guards, and their derivatives along a direction of states and time.
func TestBends(t *testing.T) {
	n := 0
	for name, c := range everyModel(t) {
		bends, guards, _ := Bends(c.Guards, c.GuardList)
		if bends == nil {
			continue
		}
		inputs := tapetest.Fill(c.Guards, 9)
		dot := map[string][]float64{}
		r := elem.NewRand(4)
		for _, in := range c.Guards.Inputs {
			d := make([]float64, in.Shape.Size())
			if m := MustName(in.Name); m.Role == State || m == Time.Name() {
				for i := range d {
					d[i] = r.Float64() - 0.5
				}
			}
			dot["dot."+in.Name] = d
		}
		all := runTape(t, c.Guards, inputs).Output("rho")
		slopes := complexStep(t, Only(c.Guards, func(o string) bool { return o == "rho" }), inputs, dot)["dot.rho"]
		e := runTape(t, bends, inputs, dot)
		rho, drho := e.Output("rho"), e.Output("dot.rho")
		for i, g := range guards {
			n++
			if rho[i] != all[g] {
				t.Errorf("%s: guard %d is %v, want %v", name, g, rho[i], all[g])
			}
			if w := slopes[g]; w-w == 0 && !(math.Abs(drho[i]-w) <= 1e-12*(1+math.Abs(w))) {
				t.Errorf("%s: guard %d changes by %v, want %v", name, g, drho[i], w)
			}
			if l := c.GuardList[g]; l.Affine || l.Clock || l.Compound {
				t.Errorf("%s: guard %d is %+v", name, g, l)
			}
		}
		if len(rho) != len(guards) {
			t.Errorf("%s: %d margins of %d guards", name, len(rho), len(guards))
		}
	}
	if n < 8 {
		t.Errorf("only %d guards", n)
	}
}

// TestJacobiansOfModels compares the entries, made in both ways, with complex steps.
func TestJacobiansOfModels(t *testing.T) {
	n := 0
	for name, c := range everyModel(t) {
		size := 0
		for _, in := range c.Rates.Inputs {
			size += in.Shape.Size()
		}
		if size > 300 {
			continue
		}
		n++
		_ = name
		checkJacobian(t, c.Rates, tapetest.Fill(c.Rates, 6), 1e-11)
	}
	if n < 20 {
		t.Errorf("only %d models", n)
	}
}
