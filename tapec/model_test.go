package tapec

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/examples"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
	"odes.dev/odes/typecheck"
)

// check parses and checks a model.
func check(t testing.TB, name, text string) *model.Model {
	t.Helper()
	var l diag.List
	tree := parser.Parse(source.NewFile(name, text), &l)
	var m *model.Model
	if l.Err() == nil {
		m = typecheck.Check(tree, typecheck.Env{Files: os.DirFS(filepath.Dir(name))}, &l)
	}
	if err := l.Err(); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return m
}

// trial is a compiled model with values for everything that its tapes may read.
type trial struct {
	*testing.T
	c      *compiler
	out    *Compiled
	o      *oracle
	values map[string][]float64
}

// try compiles a model, checks its tapes, and compares every one of them with the oracle.
func try(t *testing.T, m *model.Model) *Compiled {
	t.Helper()
	var l diag.List
	c := newCompiler(m, &l)
	out := c.run()
	if out == nil {
		t.Fatalf("does not compile: %v", l.Err())
	}
	for _, x := range out.Tapes() {
		if err := tape.Check(x); err != nil {
			t.Fatalf("%v\n%v", err, x)
		}
	}
	for seed := range uint64(3) {
		values := map[string][]float64{}
		tr := &trial{t, c, out, &oracle{values: values}, values}
		tr.fill(seed)
		tr.rates()
		tr.guards()
		tr.start()
		tr.events()
		tr.sites()
		tr.instants()
		tr.objectives()
		tr.rest()
	}
	return out
}

// fill gives params values near their defaults, and all other inputs random ones.
func (tr *trial) fill(seed uint64) {
	seed = seed*0x9e3779b97f4a7c15 + 1
	next := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	m := tr.c.model
	tr.values["t"] = []float64{tr.o.scalar(&model.Const{Data: []float64{next()}}, nil)}
	for _, s := range slices.Concat(m.Params, m.Totals) {
		v := []float64{0.5}
		if k, ok := s.Value.(*model.Const); ok {
			v = k.Data
		}
		v = slices.Clone(stretch(v, s.Type.Shape.Size()))
		for i := range v {
			v[i] = v[i]*(1+0.1*next()) + 0.01*next()
		}
		tr.values["p."+s.Name] = v
	}
	for role, syms := range map[Role][]*model.Symbol{
		State: m.States, LeftState: m.States, Discrete: m.Discretes, LeftDiscrete: m.Discretes,
	} {
		for _, s := range syms {
			tr.values[role.Called(s.Name).String()] = nil
		}
	}
	var names []string
	for n, v := range tr.values {
		if v == nil {
			names = append(names, n)
		}
	}
	slices.Sort(names)
	for _, n := range names {
		size := 0
		for _, s := range slices.Concat(m.States, m.Discretes) {
			if n[strings.IndexByte(n, '.')+1:] == s.Name {
				size = s.Type.Shape.Size()
			}
		}
		v := make([]float64, size)
		for i := range v {
			v[i] = 3*next() - 0.5
		}
		tr.values[n] = v
	}
	// Times lie within and around the run, so that they fall inside and outside of windows.
	t0, tf := tr.o.scalar(m.From, nil), tr.o.scalar(m.To, nil)
	tr.values["t"][0] = t0 + (tf-t0)*next()
}

func (tr *trial) run(t *tape.Tape) func(string) []float64 { return run(tr, t, tr.values) }

func (tr *trial) same(what string, t *tape.Tape, got, want []float64) {
	tr.Helper()
	if len(got) != len(want) {
		tr.Fatalf("%s: %d elements, want %d\n%v", what, len(got), len(want), t)
	}
	scale := 1.0
	for _, w := range want {
		if !math.IsNaN(w) && !math.IsInf(w, 0) {
			scale = math.Max(scale, math.Abs(w))
		}
	}
	for i := range got {
		if !close(got[i], want[i], scale) {
			tr.Fatalf("%s: element %d is %v, want %v\n%v", what, i, got[i], want[i], t)
		}
	}
}

// slots calls a function for every slot of a functional.
func (f *functional) slots(visit func(first int, at loops)) {
	n := f.own.Size()
	for point := range lengths(f.ax).Size() {
		pos := map[*axis]int{}
		rest := point
		for k := len(f.ax) - 1; k >= 0; k-- {
			pos[f.ax[k]] = rest % f.ax[k].n
			rest /= f.ax[k].n
		}
		at := loops{}
		for ix, b := range f.s.bind {
			if b.ax == nil {
				at[ix] = b.at[0]
			} else if p, ok := pos[b.ax]; ok {
				at[ix] = b.at[p]
			}
		}
		visit(point*n, at)
	}
}

func (tr *trial) rates() {
	if tr.out.Choose != nil {
		get := tr.run(tr.out.Choose)
		for _, o := range tr.out.Choose.Outputs {
			tr.values[o.Name] = get(o.Name)
		}
	}
	get := tr.run(tr.out.Rates)
	m := tr.c.model
	for i, s := range m.Differential() {
		tr.same("dy."+s.Name, tr.out.Rates, get("dy."+s.Name), stretch(tr.o.eval(m.Rates[i], nil), s.Type.Shape.Size()))
	}
	for k, r := range m.Residuals {
		name := Residual.Number(k).String()
		tr.same(name, tr.out.Rates, get(name), tr.o.eval(r.Value, nil))
	}
	now := tr.values["t"][0]
	for _, f := range tr.c.functionals {
		if f.node.Kind != model.Integral {
			continue
		}
		want := make([]float64, f.shape().Size())
		f.slots(func(first int, at loops) {
			early := f.node.From != nil && now < tr.o.scalar(f.node.From, at)
			if early || f.node.To != nil && now >= tr.o.scalar(f.node.To, at) {
				return
			}
			copy(want[first:], stretch(tr.o.eval(f.node.Body, at), f.own.Size()))
		})
		name := "dq." + strconv.Itoa(f.number)
		tr.same(name, tr.out.Rates, get(name), want)
	}
}

func (tr *trial) guards() {
	if tr.out.Guards == nil {
		return
	}
	get := tr.run(tr.out.Guards)
	rho, truth := get("rho"), get("truth")
	if len(rho) != len(tr.out.GuardList) || len(truth) != len(rho) {
		tr.Fatalf("%d guards, %d and %d values", len(tr.out.GuardList), len(rho), len(truth))
	}
	k := 0
	for i, ev := range tr.c.model.Events {
		if ev.When == nil && ev.Crossing == nil {
			continue
		}
		elem := 0
		each(ev.Indices, nil, func(at loops) {
			g := tr.out.GuardList[k]
			if g.Event != i || g.Elem != elem || g.Crossing != (ev.Crossing != nil) {
				tr.Fatalf("guard %d is %+v, want element %d of event %d", k, g, elem, i)
			}
			holds := 1.0
			if ev.When != nil {
				holds = tr.o.scalar(ev.When, at)
			}
			if truth[k] != holds {
				tr.Fatalf("guard %d: truth %v, want %v", k, truth[k], holds)
			}
			if ev.Crossing != nil {
				tr.same("rho", tr.out.Guards, rho[k:k+1], tr.o.eval(ev.Crossing, at))
			} else if rho[k] > 0 && holds == 0 || rho[k] < 0 && holds != 0 {
				tr.Fatalf("guard %d: rho %v where truth is %v", k, rho[k], holds)
			}
			k++
			elem++
		})
	}
	for ; k < len(rho); k++ {
		if g := tr.out.GuardList[k]; g.Event < 0 && g.Mode < 0 {
			continue // it fires nothing
		}
		if tr.out.GuardList[k].Event >= 0 || truth[k] != 0 {
			tr.Fatalf("guard %d: %+v, truth %v just after the modes were chosen", k, tr.out.GuardList[k], truth[k])
		}
	}
}

func (tr *trial) start() {
	m := tr.c.model
	get := tr.run(tr.out.Start)
	inner := &oracle{values: map[string][]float64{}}
	for k, v := range tr.values {
		if k[0] == 't' || k[0] == 'p' {
			inner.values[k] = v
		}
	}
	todo := slices.Concat(m.States, m.Discretes)
	for range len(todo) + 1 { // initial values may use each other, in any order
		for _, s := range todo {
			name := [...]string{"", "", "y.", "d.", "y."}[s.Kind] + s.Name
			func() {
				defer func() {
					if p := recover(); p != nil && !strings.Contains(fmt.Sprint(p), "no value") {
						panic(p)
					}
				}()
				inner.values[name] = stretch(inner.eval(s.Value, nil), s.Type.Shape.Size())
			}()
		}
	}
	for _, s := range todo {
		name := [...]string{"", "", "y.", "d.", "y."}[s.Kind] + s.Name
		tr.same("start "+name, tr.out.Start, get(name), inner.values[name])
	}
	for _, d := range tr.out.Defaults {
		want := stretch(tr.o.eval(d.Param.Value, nil), d.Param.Type.Shape.Size())
		tr.same("default", d.Tape, tr.run(d.Tape)("p."+d.Param.Name), want)
	}
}

// fire sets the one-hot input and calls f for every element of ev.
func (tr *trial) fire(ev *model.Event, f func(elem int, at loops)) {
	n := elems(ev)
	k := 0
	each(ev.Indices, loops{}, func(at loops) {
		tr.values["fired"] = make([]float64, n)
		tr.values["fired"][k] = 1
		f(k, at)
		k++
	})
	delete(tr.values, "fired")
}

func (tr *trial) events() {
	for i, ev := range tr.c.model.Events {
		t := tr.out.Affects[i]
		tr.fire(ev, func(_ int, at loops) {
			want := map[string][]float64{}
			for _, a := range ev.Body {
				name := [...]string{"", "", "y.", "d.", "y."}[a.Target.Kind] + a.Target.Name
				if want[name] == nil {
					want[name] = slices.Clone(tr.values[name])
				}
				each(a.Indices, at, func(at loops) {
					pos := count(len(want[name]))
					if a.Subs != nil {
						pos = tr.o.positions(a.Subs, a.Target.Type.Shape, at)
					}
					for k, x := range stretch(tr.o.eval(a.Value, at), len(pos)) {
						want[name][pos[k]] = x
					}
				})
			}
			get := tr.run(t)
			if len(t.Outputs) != len(want) {
				tr.Fatalf("event %s writes %d targets, want %d", ev.Name, len(t.Outputs), len(want))
			}
			for name, w := range want {
				tr.same("affect "+ev.Name+" "+name, t, get(name), w)
			}
		})
	}
}

func (tr *trial) sites() {
	for _, f := range tr.c.functionals {
		body := func(at loops) []float64 {
			if f.node.Kind == model.EventTime {
				return tr.values["t"]
			}
			return stretch(tr.o.eval(f.node.Body, at), f.own.Size())
		}
		want := make([]float64, f.shape().Size())
		switch f.node.Kind {
		case model.Initial, model.Final:
			f.slots(func(first int, at loops) { copy(want[first:], body(at)) })
			t := tr.out.Final
			if f.node.Kind == model.Initial {
				t = tr.out.Initial
			}
			tr.same(f.name().String(), t, tr.run(t)(f.name().String()), want)
		case model.AtEvent, model.EventTime:
			ev := f.node.Event
			k := slices.Index(tr.c.model.Events, ev)
			tr.fire(ev, func(elem int, fired loops) {
				clear(want)
				f.slots(func(first int, at loops) {
					out := tr.out.Functionals[f.number]
					if f.node.Elem != nil {
						chosen := 0
						for i, e := range f.node.Elem {
							chosen = chosen*ev.Indices[i].Count + int(tr.o.scalar(e, at)) - 1
						}
						said := out.Elem
						if out.Elems != nil {
							said = out.Elems[first]
						}
						if said != chosen {
							tr.Fatalf("%s reads element %d, said to be %d", f.name().String(), chosen, said)
						}
						if chosen != elem {
							return
						}
					}
					for ix, o := range fired {
						at[ix] = o
					}
					copy(want[first:], body(at))
				})
				tr.same(f.name().String(), tr.out.AtEvents[k], tr.run(tr.out.AtEvents[k])(f.name().String()), want)
			})
		}
	}
	for i, g := range tr.c.groups {
		var row []float64
		if g.table != nil {
			for k := range g.table.Columns {
				row = append(row, 0.3+0.7*float64(k))
			}
		}
		tr.values["row"], tr.o.row = row, row
		get := tr.run(tr.out.AtTimes[i])
		for _, m := range g.members {
			f := m.f
			want := make([]float64, f.shape().Size())
			times := tr.groupTimes(i)
			f.slots(func(first int, at loops) {
				if slices.Equal(tr.o.eval(f.node.Times, at), times) {
					copy(want[first:], stretch(tr.o.eval(f.node.Body, at), f.own.Size()))
				}
			})
			tr.same(f.name().String(), tr.out.AtTimes[i], get(f.name().String()), want)
		}
		delete(tr.values, "row")
	}
}

// groupTimes returns the times of a group of sites.
func (tr *trial) groupTimes(group int) []float64 {
	all := tr.run(tr.out.Instants)("T")
	var out []float64
	for i, in := range tr.out.InstantList {
		if in.Kind == Site && in.Group == group {
			if in.Row != len(out) {
				tr.Fatalf("instant %d is row %d, want %d", i, in.Row, len(out))
			}
			out = append(out, all[i])
		}
	}
	return out
}

func (tr *trial) instants() {
	all := tr.run(tr.out.Instants)("T")
	list := tr.out.InstantList
	if len(all) != len(list) {
		tr.Fatalf("%d instants, %d times", len(list), len(all))
	}
	m := tr.c.model
	from, to := tr.o.scalar(m.From, nil), tr.o.scalar(m.To, nil)
	if list[0].Kind != AtStart || list[1].Kind != AtEnd || all[0] != from || all[1] != to {
		tr.Fatalf("instants begin %+v, %v", list[:2], all[:2])
	}
	for i, ev := range m.Events {
		var want, got [][2]float64 // element, time
		elem := 0.0
		each(ev.Indices, nil, func(at loops) {
			for _, e := range ev.Times {
				for _, x := range tr.o.eval(e, at) {
					want = append(want, [2]float64{elem, x})
				}
			}
			if ev.Every != nil {
				for k, in := range list {
					if in.Kind != Every || in.Event != i || in.Elem != int(elem) {
						continue
					}
					from := m.From
					if ev.From != nil {
						from = ev.From
					}
					tr.same("every", nil, all[k:k+1], tr.o.eval(from, at))
					for _, p := range []struct {
						e  model.Expr
						at int
					}{{ev.Every, in.Period}, {ev.To, in.To}, {ev.Count, in.Count}} {
						if (p.e == nil) != (p.at < 0) {
							tr.Fatalf("instant %+v: which values there are is wrong", in)
						}
						if p.e != nil {
							tr.same("every", nil, all[p.at:p.at+1], tr.o.eval(p.e, at))
						}
					}
				}
			}
			elem++
		})
		for k, in := range list {
			if in.Kind == Fire && in.Event == i {
				got = append(got, [2]float64{float64(in.Elem), all[k]})
			}
		}
		order := func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) }
		slices.SortFunc(want, order)
		slices.SortFunc(got, order)
		if len(got) != len(want) {
			tr.Fatalf("event %s fires %d times, want %d", ev.Name, len(got), len(want))
		}
		for k := range got {
			tr.same("fire "+ev.Name, tr.out.Instants, got[k][:], want[k][:])
		}
	}
}

func (tr *trial) objectives() {
	if tr.out.Objective == nil {
		return
	}
	for k, f := range tr.c.functionals {
		v := make([]float64, f.shape().Size())
		for i := range v {
			v[i] = float64(k+2) + 0.1*float64(i)
		}
		tr.values[f.name().String()] = v
	}
	tr.o.functional = func(e *model.Functional, at loops) []float64 {
		for _, f := range tr.c.functionals {
			if f.node != e {
				continue
			}
			var out []float64
			f.slots(func(first int, here loops) {
				for _, ix := range model.Free(e) {
					if here[ix] != at[ix] {
						return
					}
				}
				out = tr.values[f.name().String()][first : first+f.own.Size()]
			})
			if out != nil {
				return out
			}
		}
		tr.Fatalf("a functional has no slot")
		return nil
	}
	var want []float64
	for _, o := range tr.c.model.Objectives {
		each(o.Indices, nil, func(at loops) { want = append(want, tr.o.eval(o.Value, at)...) })
	}
	tr.same("psi", tr.out.Objective, tr.run(tr.out.Objective)("psi"), want)
}

func (tr *trial) rest() {
	m := tr.c.model
	for _, o := range m.Outputs {
		tr.same("output "+o.Name, tr.out.Outputs, tr.run(tr.out.Outputs)("out."+o.Name), tr.o.eval(o.Value, nil))
	}
	for i, a := range m.Asserts {
		want := []float64{slices.Min(tr.o.eval(a.Cond, nil))}
		tr.same("assert", tr.out.Asserts, tr.run(tr.out.Asserts)("ok")[i:i+1], want)
	}
	for i, v := range m.Invariants {
		l, r := tr.o.eval(v.Left, nil), tr.o.eval(v.Right, nil)
		n := max(len(l), len(r))
		l, r = stretch(l, n), stretch(r, n)
		gap := 0.0
		for k := range l {
			gap = math.Max(gap, math.Abs(l[k]-r[k]))
		}
		tr.same("invariant", tr.out.Invariants, tr.run(tr.out.Invariants)("gap")[i:i+1], []float64{gap})
	}
}

// large finds the sizes in the text of a model that make the oracle slow.
var large = regexp.MustCompile(`\b(n\w?) = ([3-9]\d{2}|\d{4,})\b`)

// Every tape of every example agrees with the oracle, and of the models that have everything.
func TestExamplesAgainstOracle(t *testing.T) {
	files, err := filepath.Glob("../examples/*/*.ode")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d examples found, %v", len(files), err)
	}
	own, err := filepath.Glob("testdata/whole/*.ode")
	if err != nil || len(own) < 3 {
		t.Fatalf("%d models found, %v", len(own), err)
	}
	files = append(files, own...)
	for _, f := range files {
		if examples.Delayed(f) {
			continue // its reads of the past need a history, which a bare tape has not
		}
		t.Run(strings.TrimSuffix(filepath.Base(f), ".ode"), func(t *testing.T) {
			text, err := os.ReadFile(f)
			if err != nil {
				t.Fatal(err)
			}
			try(t, check(t, f, large.ReplaceAllString(string(text), "$1 = 24")))
		})
	}
}
