package tapec

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/tape"
)

// TestAffineClocks: which margins of conditions are affine in time between two events. Those that are said to be lie on
// a line.
func TestAffineClocks(t *testing.T) {
	affine := map[string]bool{
		"t > a": true, "2 - t < a": true, "-t < -a": true, "a*t > 3": true, "t*a*2 > 3": true, "t/a > 1": true,
		"a + t*2 - t/3 > 4": true, "dot(b, [t, 2*t, 1]) > 4": true, "mean([t, a]) > 3": true, "sum(t*b) > 6": true,
		"sum(b[i]*t for i in 1:3) > 5": true, "mod(t, 2) < 1": true, "b[2]*t > 3": true,
		"(if a > 1 then t else 2*t) > 3": true, "sum([t, a, 2*t]) > 4": true,
		"sum([2*t + i for i in 1:3]) > 9": true, "n*t > 3": true,
		"(if t > 1 then t else a) > 2": true,

		"t*t > 3": false, "3/t > 1": false, "sin(t) > 0.1": false, "t^2 > 4": false, "exp(t) > 9": false,
		"dot([t, 1, t], [t, t, 1]) > 4": false, "prod([t, a]) > 2": false, "max([t, a]) > 3": false,
		"norm([t, a]) > 3": false, "abs(t - 2) > 1": false, "mod(3, t) < 1": false, "t*(a + t) > 3": false,
		"noevent(if t > 1 then t else a) > 2": false, "noevent(floor(t)) > 2": false, "min(b*t) > 3": false,
		"sum([t, a, t*t]) > 4": false,
	}
	var text strings.Builder
	text.WriteString("time t from 0 to 5\nparam a = 1.3, b[3] = [0.7, 1.1, 0.4]\n")
	text.WriteString("state x = 1\ndiscrete n = 2\nx' = -x\n")
	for i, cond := range slices.Sorted(maps.Keys(affine)) {
		fmt.Fprintf(&text, "event e%d when %s { n = n + 1 }\n", i, cond)
	}
	c := try(t, check(t, "clocks.ode", text.String()))
	said := map[string]bool{}
	values := map[string][]float64{"p.a": {1.3}, "p.b": {0.7, 1.1, 0.4}, "y.x": {1}, "d.n": {2}, "t": {2.2}}
	if c.Choose != nil {
		get := run(t, c.Choose, values)
		for _, o := range c.Choose.Outputs {
			values[o.Name] = get(o.Name)
		}
	}
	var margins [3][]float64
	for k := range margins {
		values["t"] = []float64{2 + float64(k)/4}
		margins[k] = slices.Clone(run(t, c.Clocks, values)(ClockMargins.Name().String()))
	}
	for i, clock := range c.ClockList {
		cond := clock.Span.Text()
		m := [3]float64{margins[0][i], margins[1][i], margins[2][i]}
		if clock.Affine && !(math.Abs(m[0]+m[2]-2*m[1]) <= 1e-13) {
			t.Errorf("%s is said to be affine, and is %v", cond, m)
		}
		if want, ok := affine[cond]; ok {
			said[cond] = true
			if clock.Affine != want {
				t.Errorf("%s: affine is %v", cond, clock.Affine)
			}
		}
	}
	for cond := range affine {
		if !said[cond] {
			t.Errorf("%s is no clock", cond)
		}
	}
}

// TestKinksOfNumbers: where nothing moves, there is nothing to look for. Kinks of time are clocks, or instants if they
// are known; those of states are guards.
func TestKinksOfNumbers(t *testing.T) {
	for rate, want := range map[string]struct{ guards, clocks, instants int }{
		"-x*abs(p) + min(p, n) + max(q[1], 2)": {},
		"-abs(x)":                              {guards: 1},
		"min(x, p) + max(x, q[2])*abs(q[1])":   {guards: 2},
		"abs(sin(t)) - min(p, t^2)":            {guards: 2, clocks: 2},
		"abs(t - p) - min(p, 2*t)":             {instants: 2},
		"noevent(abs(x)) + noevent(abs(t^2))":  {},
		"sum(abs(x - q[i]) for i in 1:2)":      {guards: 2},
	} {
		text := "time t from 0 to 5\nparam p = 1.3, q[2] = [0.7, 1.1]\nstate x = 1\ndiscrete n = 2\nx' = " + rate + "\n"
		c := try(t, check(t, "kinks.ode", text))
		if g, k, i := len(c.GuardList), len(c.ClockList), len(c.InstantList)-2; g != want.guards || k != want.clocks ||
			i != want.instants {
			t.Errorf("%s: %d guards, %d clocks and %d instants, want %+v", rate, g, k, i, want)
		}
		for _, g := range c.GuardList {
			if !g.Kink {
				t.Errorf("%s: a guard that is no kink", rate)
			}
		}
	}
}

// TestManyKinks: steps end at 32 kinks of states and not at 33.
func TestManyKinks(t *testing.T) {
	for n, left := range map[string]bool{"32": false, "33": true} {
		text := "time t from 0 to 5\nstate x[" + n + "] = 1\nx' = -abs(x)\n"
		if c := try(t, check(t, "many.ode", text)); (c.KinksLeft != nil) != left || (len(c.GuardList) == 0) != left {
			t.Errorf("%s kinks: %d guards, left is %v", n, len(c.GuardList), c.KinksLeft)
		}
	}
}

// TestJumpsByTime: what an element may jump with are levels and conditions that move, but not what these are made of.
func TestJumpsByTime(t *testing.T) {
	tp := parseTape(t, `tape jumps
in t
in p.p
%2 = less t p.p
%3 = select %2 t p.p
%4 = floor t
%5 = less %4 p.p
%6 = select %5 t p.p
%7 = mul %4 t
%8 = floor p.p
%9 = mul %8 t
%10 = reshape %3 : [1]
%11 = reshape %6 : [1]
%12 = reshape %7 : [1]
%13 = reshape %9 : [1]
%14 = reshape t : [1]
%15 = concat %10 %11 %12 %13 %14 axis=0 : [5]
out v %15
`)
	out, jumps := ByTime(tp, "v", nil)
	var got [][]tape.Op
	for _, list := range jumps {
		var ops []tape.Op
		for _, v := range list {
			ops = append(ops, out.Instr(v).Op)
		}
		got = append(got, ops)
	}
	want := [][]tape.Op{{tape.Less}, {tape.Less}, {tape.Floor}, nil, nil}
	if !slices.EqualFunc(got, want, slices.Equal[[]tape.Op]) {
		t.Errorf("jumps %v, want %v\n%s", got, want, out)
	}
	e := runTape(t, out, map[string][]float64{"t": {2.5}, "p.p": {3.5}, "dot.t": {1}})
	if v, d := e.Output("v"), e.Output("dot.v"); !slices.Equal(v, []float64{2.5, 2.5, 5, 7.5, 2.5}) ||
		!slices.Equal(d, []float64{1, 1, 2, 3, 1}) {
		t.Errorf("values %v and slopes %v", v, d)
	}
}

// TestWindows: the modes that are said to tell the windows of integrals do, in each slot, and the instants of the
// bounds name those that change there.
func TestWindows(t *testing.T) {
	c := try(t, check(t, "windows.ode", `time t from 0 to 5
const n = 2
param from[2] = [0.5, 2], to[2] = [1.5, 3]
state x = 1, u[3] = 1
x' = -x*(if t > 1.2 then 1 else 2)
u' = -u
objective A = integral(x, from = 1, to = 2.5) + integral(x)
objective B[i,j] = integral(x*i, from = from[i], to = to[j] + 1) for i in 1:n, j in 1:n
objective C[i] = sum(integral(u, to = to[i])) for i in 1:n
`))
	values := map[string][]float64{"p.from": {0.5, 2}, "p.to": {1.5, 3}, "y.x": {1}, "y.u": {1, 1, 1}}
	modes := func(now float64) (flat []float64) {
		values["t"] = []float64{now}
		get := run(t, c.Choose, values)
		for i := range c.Modes {
			flat = append(flat, get(HeldMode.Number(i).String())...)
		}
		return flat
	}
	windows := [][2]float64{{1, 2.5}, {0, 5}, {0.5, 2.5}, {0.5, 4}, {2, 2.5}, {2, 4}, {0, 1.5}, {0, 3}}
	for now := 0.05; now < 5; now += 0.1 {
		held := modes(now)
		k := 0 // of the windows
		for _, f := range c.Functionals {
			slots := f.Shape.Size()
			if f.Shape.Size() == 6 { // of three elements in each window
				slots = 2
			}
			for s := range slots {
				w := windows[k]
				k++
				if (f.Window == nil) != (w == [2]float64{0, 5}) {
					t.Fatalf("modes %v of window %v", f.Window, w)
				} else if f.Window == nil {
					continue
				}
				at := f.Window[s*f.Shape.Size()/slots]
				if open := held[at] != 0; open != (now >= w[0] && now < w[1]) {
					t.Errorf("at %v: mode %d says that window %v is open: %v", now, at, w, open)
				}
			}
		}
		if k != len(windows) {
			t.Fatalf("%d windows of %d", k, len(windows))
		}
	}
	times := run(t, c.Instants, values)("T")
	bounds := 0
	for i, in := range c.InstantList {
		if in.Bound == NoBound {
			continue
		}
		bounds++
		before, after := modes(times[i]-1e-9), modes(times[i]+1e-9)
		for _, k := range in.Modes {
			if before[k] == after[k] || (in.Bound == WindowFrom) != (after[k] != 0) {
				t.Errorf("instant %d at %v: mode %d changes from %v to %v", i, times[i], k, before[k], after[k])
			}
		}
		if len(in.Modes) == 0 {
			t.Errorf("instant %d changes no mode", i)
		}
	}
	if bounds == 0 {
		t.Error("no bounds")
	}
}

// TestCornerTimes: the times at which ramps meet what they are compared with.
func TestCornerTimes(t *testing.T) {
	const p, q = 1.3, -2.0
	for expr, want := range map[string]float64{
		"abs(t)": 0, "abs(t - p)": p, "abs(p - t)": p, "abs(2*t - p)": p / 2, "abs(p*t - 1)": 1 / p,
		"abs(t/q + 1)": -q, "abs(-t + 3)": 3, "min(t, p)": p, "max(p, 2*t)": p / 2, "max(q*t + 1, p)": (p - 1) / q,
		"abs(one*t - p)": p, "abs(none*t - p)": math.Inf(1), "min(3 - t*p, 1)": 2 / p, "abs(t*one)": 0,
		"abs(p + 2*(t - 1))": 1 - p/2,
	} {
		text := "time t from 0 to 5\nparam p = 1.3, q = -2, one = 1, none = 0\nstate x = 1\nx' = " + expr + "\n"
		c := try(t, check(t, "corners.ode", text))
		values := map[string][]float64{"p.p": {p}, "p.q": {q}, "p.one": {1}, "p.none": {0}}
		times := run(t, c.Instants, values)("T")
		if len(times) != 3 || c.InstantList[2].Kind != Remode {
			t.Fatalf("%s: instants %+v at %v", expr, c.InstantList, times)
		}
		if got := times[2]; !(math.Abs(got-want) <= 1e-14) && got != want {
			t.Errorf("%s: a corner at %v, want %v", expr, got, want)
		}
	}
}

// TestSharedTimes: functionals that are read at the same times share their sites; those of other times do not.
func TestSharedTimes(t *testing.T) {
	m := check(t, "shared.ode", "time t from 0 to 5\nstate x = 1\nx' = -x\nobjective J = final(x)\n")
	moments := func(at ...float64) model.Expr {
		return &model.Const{Base: base(types.Real, len(at)), Data: at}
	}
	x := ref(m.States[0])
	sum := func(body, times model.Expr) model.Expr {
		return &model.Functional{Base: base(types.Real), Kind: model.SumAt, Body: body, Times: times}
	}
	shared := moments(1, 2, 3)
	m.Objectives[0].Value = apply("+", apply("*", sum(x, shared), sum(apply("*", x, x), shared)),
		apply("+", sum(x, moments(1.5)), sum(apply("sin", x), shared)))
	c := try(t, m)
	sites := 0
	for _, in := range c.InstantList {
		if in.Kind == Site {
			sites++
		}
	}
	if len(c.AtTimes) != 2 || sites != 4 {
		t.Errorf("%d groups of %d sites, want 2 of 4", len(c.AtTimes), sites)
	}
}

// TestBendOfOneGuard: the only guard of a model is no vector that is put together.
func TestBendOfOneGuard(t *testing.T) {
	c := try(t, check(t, "one.ode", `time t from 0 to 5
param p = 2
state x = 1, y = 0.5
x' = -y
y' = x
event e when x*y > p { x = 0 }
`))
	bends, guards, _ := Bends(c.Guards, c.GuardList)
	if !slices.Equal(guards, []int{0}) {
		t.Fatalf("guards %v", guards)
	}
	e := runTape(t, bends, map[string][]float64{"p.p": {2}, "y.x": {3}, "y.y": {5}},
		map[string][]float64{"dot.y.x": {0.5}, "dot.y.y": {-1}})
	if rho, dot := e.Output("rho"), e.Output("dot.rho"); !slices.Equal(rho, []float64{13}) ||
		!slices.Equal(dot, []float64{-0.5}) {
		t.Errorf("margin %v and slope %v", rho, dot)
	}
}

// TestRuns: what ascends in equal steps is a slice.
func TestRuns(t *testing.T) {
	for _, c := range []struct {
		at  []int
		run bool
	}{
		{[]int{4}, true},
		{[]int{3, 4, 5}, true},
		{[]int{0, 2, 4, 6}, true},
		{[]int{3, 9}, true},
		{[]int{2, 2}, false},
		{[]int{2, 1}, false},
		{[]int{0, 1, 3}, false},
		{[]int{0, 2, 3}, false},
		{[]int{0, 1, 2, 1}, false},
	} {
		if got := isRun(c.at); got != c.run {
			t.Errorf("%v: %v", c.at, got)
		}
	}
}

// TestTiles: the cotangents of pieces that lie side by side along an axis are put together, and nothing is added.
func TestTiles(t *testing.T) {
	for axis := range 3 {
		for _, pieces := range [][][2]int{{{0, 4}, {4, 10}}, {{0, 3}, {3, 7}, {7, 10}}, {{1, 4}, {6, 10}}} {
			shape := tape.Shape{2, 2, 2}
			shape[axis] = 10
			b := tape.NewBuilder("pieces")
			x := b.Input("x", shape, false)
			var parts []tape.Value
			for k := len(pieces) - 1; k >= 0; k-- {
				start, size := make([]int, 3), slices.Clone(shape)
				start[axis], size[axis] = pieces[k][0], pieces[k][1]-pieces[k][0]
				parts = append(parts, b.Mul(b.Slice(x, start, size, nil), b.Scalar(float64(k+2))))
			}
			b.Output("y", b.Concat(axis, parts...))
			tp := b.Tape()
			v := vjp(t, tp)
			n := map[tape.Op]int{}
			for i := range v.Instrs {
				n[v.Instrs[i].Op]++
			}
			if n[tape.Concat] != 1 || n[tape.Pad]+n[tape.Put]+n[tape.Add] > 0 {
				t.Errorf("%v along axis %d: not put together\n%s", pieces, axis, v)
			}
			checkDerivatives(t, tp, map[string][]float64{"x": count1(shape.Size())}, 1e-13)
		}
	}
}

// TestStretchedTwice: what is stretched along axes of two elements gets the sum of two cotangents, also where one
// number stands for all of them.
func TestStretchedTwice(t *testing.T) {
	for _, to := range []tape.Shape{{2, 3}, {2, 1}, {3, 2}, {2, 2}} {
		for _, from := range []tape.Shape{{1, 1}, {1, to[1]}, {to[0], 1}, nil} {
			for _, axes := range [][]int{{0, 1}, {0}, {1}} {
				b := tape.NewBuilder("stretched")
				x := b.Input("x", from, false)
				b.Output("y", b.SumAxes(b.Broadcast(x, to), axes...))
				inputs := map[string][]float64{"x": count1(from.Size())}
				y := b.Tape()
				checkDerivatives(t, y, inputs, 1e-13)
				v := vjp(t, y)
				bars := map[string][]float64{"bar.y": make([]float64, y.Shape(y.Outputs[0].Value).Size())}
				for i := range bars["bar.y"] {
					bars["bar.y"][i] = 1
				}
				for _, got := range runTape(t, v, inputs, bars).Output("bar.x") {
					if want := float64(to.Size() / from.Size()); got != want {
						t.Errorf("from %v to %v, sum over %v: %v, want %v\n%s", from, to, axes, got, want, v)
					}
				}
			}
		}
	}
}

// TestGuardedProducts: with cotangents that are 0 where a factor is infinite, the transpose of products is that without
// the infinite factor, for matrices and vectors of all shapes, transposed and not.
func TestGuardedProducts(t *testing.T) {
	const n, inner, outer = 2, 3, 4
	for flags := range 4 {
		for vectors := range 3 {
			ta, tb := flags&1 > 0, flags&2 > 0
			shapes := [2]tape.Shape{{n, inner}, {inner, outer}}
			for i, flip := range [2]bool{ta, tb} {
				if vectors == i+1 {
					shapes[i] = tape.Shape{inner}
				} else if flip {
					shapes[i][0], shapes[i][1] = shapes[i][1], shapes[i][0]
				}
			}
			if vectors == 1 && ta || vectors == 2 && tb {
				continue
			}
			b := tape.NewBuilder("product")
			x, y := b.Input("x", shapes[0], false), b.Input("y", shapes[1], false)
			b.Output("z", b.MatMul(b.Op1(tape.Log, x), b.Op1(tape.Log, y), ta, tb))
			tp := b.Tape()
			v, err := GuardedVJP(tp, []string{"z"}, []string{"x", "y"})
			if err != nil {
				t.Fatal(err)
			}
			plain := vjp(t, tp)
			for zero := range 2 { // the operand of which an element is log(0)
				names := [2]string{"x", "y"}
				inputs := map[string][]float64{"x": count1(shapes[0].Size()), "y": count1(shapes[1].Size())}
				inputs["x"][0], inputs["y"][0] = 2.5, 3.5 // their logarithms are not 0
				bar := map[string][]float64{"bar.z": count1(tp.Shape(tp.Outputs[0].Value).Size())}
				want := runTape(t, plain, inputs, bar)
				got := runTape(t, v, inputs, bar)
				for _, name := range names {
					if g, w := got.Output("bar."+name), want.Output("bar."+name); !nearly(g, w) {
						t.Errorf("flags %d, vectors %d: %s is %v, want %v", flags, vectors, name, g, w)
					}
				}
				// The outputs that read the element have no cotangent.
				inputs[names[zero]][1] = 1 // whose logarithm is 0
				for i := range bar["bar.z"] {
					step := map[string][]float64{}
					for _, in := range names {
						step["dot."+in] = make([]float64, len(inputs[in]))
					}
					step["dot."+names[zero]][1] = 1
					if complexStep(t, tp, inputs, step)["dot.z"][i] != 0 {
						bar["bar.z"][i] = 0
					}
				}
				want = runTape(t, plain, inputs, bar)
				wanted := [2][]float64{}
				for i, name := range names {
					wanted[i] = slices.Clone(want.Output("bar." + name))
				}
				inputs[names[zero]][1] = 0
				got = runTape(t, v, inputs, bar)
				for i, name := range names {
					if g := got.Output("bar." + name); !nearly(g, wanted[i]) {
						t.Errorf("flags %d, vectors %d, 0 in %s: %s is %v, want %v", flags, vectors, names[zero],
							name, g, wanted[i])
					}
				}
			}
		}
	}
}

// TestModesOfOneCondition: a condition that is the same in all iterations of a loop has a value in each of them.
func TestModesOfOneCondition(t *testing.T) {
	c := try(t, check(t, "one.ode", `time t from 0 to 5
state x[3] = 1
x[i]' = (if x[min(i,1)] + t > 2 then -x[i] else i) + floor(x[max(i,3)])*i for i in 1:3
`))
	for i, m := range c.Modes {
		v, ok := c.Choose.Output(HeldMode.Number(i).String())
		if n := c.Choose.Shape(v).Size(); !ok || n != m.Shape.Size() || n != 3 {
			t.Errorf("mode %s has %d values, of shape %v", m.Name, n, m.Shape)
		}
	}
	if len(c.Modes) != 2 {
		t.Errorf("%d modes", len(c.Modes))
	}
}
