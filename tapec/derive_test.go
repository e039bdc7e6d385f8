package tapec

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

func parseTape(t testing.TB, text string) *tape.Tape {
	t.Helper()
	out, err := tape.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

func names(t *tape.Tape) (of, wrt []string) {
	for _, o := range t.Outputs {
		of = append(of, o.Name)
	}
	for _, in := range t.Inputs {
		wrt = append(wrt, in.Name)
	}
	return of, wrt
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func jvp(t fataler, tp *tape.Tape) *tape.Tape {
	t.Helper()
	of, wrt := names(tp)
	j, err := JVP(tp, of, wrt)
	if err != nil {
		t.Fatalf("%v\n%s", err, tp)
	}
	if err := tape.Check(j); err != nil {
		t.Fatalf("%v\n%s", err, j)
	}
	return j
}

func vjp(t fataler, tp *tape.Tape) *tape.Tape {
	t.Helper()
	of, wrt := names(tp)
	j, err := VJP(tp, of, wrt)
	if err != nil {
		t.Fatalf("%v\n%s", err, tp)
	}
	if err := tape.Check(j); err != nil {
		t.Fatalf("%v\n%s", err, j)
	}
	return j
}

// runTape evaluates t on values and seeds, among which may be some that it does not read.
func runTape(t fataler, tp *tape.Tape, inputs ...map[string][]float64) *tape.Evaluator[float64] {
	t.Helper()
	if err := tape.Check(tp); err != nil {
		t.Fatalf("%v", err)
	}
	e := tape.NewEvaluator[float64](tp)
	for _, in := range tp.Inputs {
		found := false
		for _, m := range inputs {
			if x, ok := m[in.Name]; ok {
				copy(e.Input(in.Name), x)
				found = true
			}
		}
		if !found {
			t.Fatalf("no value for input %s", in.Name)
		}
	}
	e.Run()
	return e
}

// seeds returns random seeds named prefix+name for each name.
func seeds(prefix string, r *elem.Rand, sizes map[string]int, order []string) map[string][]float64 {
	out := map[string][]float64{}
	for _, name := range order {
		x := make([]float64, sizes[name])
		for i := range x {
			x[i] = float64(2*r.Float64()) - 1
		}
		out[prefix+name] = x
	}
	return out
}

func sizes(t *tape.Tape) map[string]int {
	out := map[string]int{}
	for _, o := range t.Outputs {
		out[o.Name] = t.Shape(o.Value).Size()
	}
	for _, in := range t.Inputs {
		out[in.Name] = in.Shape.Size()
	}
	return out
}

// complexStep returns the derivatives of t's outputs in the direction dot.
func complexStep(t fataler, tp *tape.Tape, inputs, dot map[string][]float64) map[string][]float64 {
	t.Helper()
	const h = 1e-100
	e := tape.NewEvaluator[complex128](tp)
	for _, in := range tp.Inputs {
		x := e.Input(in.Name)
		for i := range x {
			x[i] = complex(inputs[in.Name][i], h*dot["dot."+in.Name][i])
		}
	}
	e.Run()
	out := map[string][]float64{}
	for _, o := range tp.Outputs {
		var d []float64
		for _, z := range e.Output(o.Name) {
			d = append(d, imag(z)/h)
		}
		out["dot."+o.Name] = d
	}
	return out
}

// checkDerivatives compares the JVP with the complex step and the VJP with the JVP.
func checkDerivatives(t fataler, tp *tape.Tape, inputs map[string][]float64, tol float64) {
	t.Helper()
	j, v := jvp(t, tp), vjp(t, tp)
	of, wrt := names(tp)
	r := elem.NewRand(7)
	dot := seeds("dot.", r, sizes(tp), wrt)
	bar := seeds("bar.", r, sizes(tp), of)
	pushed, pulled := runTape(t, j, inputs, dot), runTape(t, v, inputs, bar)
	want := complexStep(t, tp, inputs, dot)

	var left, right, scale float64
	for _, name := range of {
		got := pushed.Output("dot." + name)
		for i, w := range want["dot."+name] {
			g := 0.0
			if got != nil {
				g = got[i]
			}
			if !(math.Abs(g-w) <= 10*tol*(math.Abs(w)+1)) {
				t.Fatalf("tangent %d of %s: got %v, complex step gives %v\n%s\n%s", i, name, g, w, tp, j)
			}
			left += float64(bar["bar."+name][i] * g)
			scale += math.Abs(bar["bar."+name][i] * g)
		}
	}
	for _, name := range wrt {
		for i, g := range pulled.Output("bar." + name) {
			right += float64(g * dot["dot."+name][i])
			scale += math.Abs(g * dot["dot."+name][i])
		}
	}
	if !(math.Abs(left-right) <= tol*(scale+1e-3)) {
		t.Fatalf("⟨w,Jv⟩ = %v, ⟨Jᵀw,v⟩ = %v\n%s\n%s\n%s", left, right, tp, j, v)
	}
}

func differentiable(tp *tape.Tape) bool {
	return !slices.ContainsFunc(tp.Instrs, func(in tape.Instr) bool { return in.Op.Row().NoDeriv })
}

func TestDerivativesOfEveryOp(t *testing.T) {
	seen := map[tape.Op]bool{}
	for _, c := range tapetest.Cases() {
		seen[c.Op] = true
		t.Run(c.Name, func(t *testing.T) {
			of, wrt := names(c.Tape)
			if !differentiable(c.Tape) {
				if _, err := VJP(c.Tape, of, wrt); err == nil {
					t.Error("VJP gives no error")
				}
				if _, err := JVP(c.Tape, of, wrt); err == nil {
					t.Error("JVP gives no error")
				}
				return
			}
			checkDerivatives(t, c.Tape, c.Inputs, 1e-13)
		})
	}
	for _, op := range tape.Ops() {
		if !seen[op] {
			t.Errorf("%v was not tested", op)
		}
	}
}

// Second derivatives: the JVP of each VJP, and the VJP of each VJP.
func TestSecondDerivativesOfEveryOp(t *testing.T) {
	for _, c := range tapetest.Cases() {
		if !differentiable(c.Tape) {
			continue
		}
		t.Run(c.Name, func(t *testing.T) {
			v := vjp(t, c.Tape)
			if len(v.Outputs) == 0 || !differentiable(v) {
				return
			}
			of, _ := names(c.Tape)
			bar := seeds("bar.", elem.NewRand(3), sizes(c.Tape), of)
			inputs := map[string][]float64{}
			for _, in := range v.Inputs {
				if inputs[in.Name] = c.Inputs[in.Name]; bar[in.Name] != nil {
					inputs[in.Name] = bar[in.Name]
				}
			}
			checkDerivatives(t, v, inputs, 2e-13)
		})
	}
}

func TestDerivativesOfRandomTapes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Smooth)
		checkDerivatives(rt, tp, tapetest.Fill(tp, 11), 1e-12)
	})
}

func TestRandomTapesAnyValues(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Any)
		if !differentiable(tp) {
			return
		}
		jvp(rt, tp)
		if v := vjp(rt, tp); differentiable(v) {
			jvp(rt, v)
		}
	})
}

// gradient returns the derivative of the scalar output y with respect to x.
func gradient(t testing.TB, text string, inputs map[string][]float64) []float64 {
	t.Helper()
	tp := parseTape(t, text)
	v, err := VJP(tp, []string{"y"}, []string{"x"})
	if err != nil {
		t.Fatal(err)
	}
	e := runTape(t, v, inputs, map[string][]float64{"bar.y": {1}})
	return e.Output("bar.x")
}

// The branch of a Select that is not taken never reaches a gradient.
func TestSelectDoesNotPoison(t *testing.T) {
	for _, c := range []struct {
		name, text string
		x          []float64
		want       []float64
	}{
		{
			"sqrt at 0", `tape t
in x
%1 = const 0
%2 = less %1 x
%3 = sqrt x
%4 = select %2 %3 x
out y %4
`, []float64{0}, []float64{1},
		},
		{
			"sqrt below 0", `tape t
in x
%1 = const 0
%2 = less %1 x
%3 = sqrt x
%4 = mul %3 %3
%5 = select %2 %4 x
out y %5
`, []float64{-2}, []float64{1},
		},
		{
			"division by 0", `tape t
in x
%1 = const 0
%2 = equal x %1
%3 = sin x
%4 = div %3 x
%5 = const 1
%6 = select %2 %5 %4
out y %6
`, []float64{0}, []float64{0},
		},
		{
			"nested", `tape t
in x
%1 = const 0
%2 = less %1 x
%3 = log x
%4 = const 1
%5 = less %4 x
%6 = sqrt %3
%7 = select %5 %6 %3
%8 = recip %7
%9 = select %2 %8 x
out y %9
`, []float64{-1}, []float64{1},
		},
		{
			"shared by both branches", `tape t
in x
%1 = const 0
%2 = less %1 x
%3 = sqr x
%4 = sqrt %3
%5 = neg %4
%6 = select %2 %4 %5
%7 = select %2 %6 x
out y %7
`, []float64{0}, []float64{1},
		},
		{
			"min and max", `tape t
in x
%1 = const 3
%2 = recip x
%3 = min %1 %2
out y %3
`, []float64{0}, []float64{0},
		},
		{
			"root of a maximum", `tape t
in x
%1 = const 0
%2 = max x %1
%3 = sqrt %2
out y %3
`, []float64{-1}, []float64{0},
		},
		{
			"elements", `tape t
in x [3]
%1 = const 0
%2 = less %1 x : [3]
%3 = log x     : [3]
%4 = select %2 %3 %1 : [3]
%5 = sum %4 axes=[0]
out y %5
`, []float64{0, 2, -1}, []float64{0, 0.5, 0},
		},
		{
			"stretched", `tape t
in x
%1 = const {1 0 1} : [3]
%2 = const {1 0 2} : [3]
%3 = div x %2 : [3]
%4 = mul %3 %3 : [3]
%5 = select %1 %4 x : [3]
%6 = sum %5 axes=[0]
out y %6
`, []float64{3}, []float64{6 + 1 + 1.5},
		},
		{
			"matrix product", `tape t
in x [2]
%1 = recip x : [2]
%2 = outer %1 %1 : [2 2]
%3 = matmul %2 %1 : [2]
%4 = sum %3 axes=[0]
%5 = sum x axes=[0]
%6 = const 0
%7 = select %6 %4 %5
%8 = prod %1 axes=[0]
%9 = less %5 %6
%10 = select %9 %8 %7
out y %10
`, []float64{0, 1}, []float64{1, 1},
		},
		{
			"rows of a matrix product", `tape t
in x [2]
%1 = recip x : [2]
%2 = outer %1 %1 : [2 2]
%3 = matmul %2 x : [2]
%4 = const 0
%5 = less %4 x : [2]
%6 = less x %3 : [2]
%7 = and %5 %6 : [2]
%8 = select %7 %3 x : [2]
%9 = sum %8 axes=[0]
out y %9
`, []float64{0, 1}, []float64{1, 1},
		},
	} {
		x := map[string][]float64{"x": c.x}
		if got := gradient(t, c.text, x); !nearly(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		// The derivative of the gradient is not spoilt either.
		tp := parseTape(t, c.text)
		v, _ := VJP(tp, []string{"y"}, []string{"x"})
		if len(v.Outputs) == 0 {
			continue
		}
		j, err := JVP(v, []string{"bar.x"}, []string{"bar.y"})
		if err != nil {
			t.Fatal(err)
		}
		e := runTape(t, j, x, map[string][]float64{"bar.y": {1}, "dot.bar.y": {1}})
		if got := e.Output("dot.bar.x"); !nearly(got, c.want) {
			t.Errorf("%s: the tangent of the gradient is %v, want %v", c.name, got, c.want)
		}
	}
}

func nearly(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool { return math.Abs(a-b) <= 1e-14*(1+math.Abs(b)) })
}

// Without a Select, an infinite derivative reaches the gradient.
func TestInfinityShows(t *testing.T) {
	got := gradient(t, "tape t\nin x\n%1 = sqrt x\nout y %1\n", map[string][]float64{"x": {0}})
	if !math.IsInf(got[0], 1) {
		t.Errorf("got %v, want infinity", got)
	}
}

func TestStructure(t *testing.T) {
	tp := parseTape(t, `tape t
in x [3]
in z [3]
in k
in unused
%4 = mul x k : [3]
%5 = floor z : [3]
%6 = add %4 %5 : [3]
out y %6
out w %5
`)
	v, err := VJP(tp, []string{"y", "w"}, []string{"x", "z", "k", "unused"})
	if err != nil {
		t.Fatal(err)
	}
	var in, out []string
	for _, i := range v.Inputs {
		in = append(in, i.Name)
		if i.PerLane != strings.HasPrefix(i.Name, "bar.") {
			t.Errorf("input %s: per lane is %v", i.Name, i.PerLane)
		}
	}
	for _, o := range v.Outputs {
		out = append(out, o.Name)
	}
	if got := strings.Join(in, " "); got != "x k bar.y" {
		t.Errorf("inputs %s", got)
	}
	if got := strings.Join(out, " "); got != "bar.x bar.k" {
		t.Errorf("outputs %s", got)
	}
	j, err := JVP(tp, []string{"y", "w"}, []string{"z", "k"})
	if err != nil {
		t.Fatal(err)
	}
	if len(j.Outputs) != 1 || j.Outputs[0].Name != "dot.y" || len(j.Inputs) != 2 {
		t.Errorf("got\n%s", j)
	}
	// Lanes share the values of the tape itself.
	lane := tape.PerLane(v)
	for i := range v.Inputs {
		if lane[i] != v.Inputs[i].PerLane {
			t.Error("a primal input is per lane")
		}
	}
	for _, f := range []func() error{
		func() error { _, err := VJP(tp, []string{"none"}, []string{"x"}); return err },
		func() error { _, err := VJP(tp, []string{"y"}, []string{"none"}); return err },
		func() error { _, err := JVP(tp, []string{"y", "y"}, []string{"x"}); return err },
		func() error { _, err := JVP(tp, []string{"y"}, []string{"x", "x"}); return err },
	} {
		if f() == nil {
			t.Error("no error for a wrong name")
		}
	}
}

// The cotangent of a value with many slices must not cost its size for each of them.
func TestManyParts(t *testing.T) {
	const n = 300
	b := tape.NewBuilder("network")
	x := b.Input("x", tape.Shape{n}, false)
	rates := make([]tape.Value, n)
	for i := range rates {
		rates[i] = b.Mul(b.Element(x, i), b.Element(x, (i+1)%n))
	}
	b.Output("y", b.Stack(0, rates...))
	tp := b.Tape()
	v := vjp(t, tp)
	large := 0
	for _, in := range v.Instrs {
		if in.Shape.Size() >= n && in.Op != tape.Concat && in.Op != tape.Put {
			large++
		}
	}
	if large > 3 {
		t.Errorf("%d instructions of full size", large)
	}
	checkDerivatives(t, tp, tapetest.Fill(tp, 5), 1e-13)
}

// Contributions to parts of a value add up, of every kind, whether or not they overlap.
func TestParts(t *testing.T) {
	for name, build := range map[string]func(b *tape.Builder, x tape.Value) tape.Value{
		"halves": func(b *tape.Builder, x tape.Value) tape.Value {
			p := b.Slice(x, []int{0, 0}, tape.Shape{8, 5}, nil)
			q := b.Slice(x, []int{0, 5}, tape.Shape{8, 5}, nil)
			return b.Mul(p, q)
		},
		"gaps": func(b *tape.Builder, x tape.Value) tape.Value {
			p := b.Slice(x, []int{1, 0}, tape.Shape{2, 10}, nil)
			q := b.Slice(x, []int{5, 0}, tape.Shape{2, 10}, nil)
			return b.Mul(p, q)
		},
		"rows that overlap": func(b *tape.Builder, x tape.Value) tape.Value {
			p := b.Slice(x, []int{1, 0}, tape.Shape{1, 10}, nil)
			q := b.Slice(x, []int{0, 0}, tape.Shape{2, 10}, []int{1, 1})
			r := b.Slice(x, []int{1, 0}, tape.Shape{2, 10}, []int{3, 1})
			return b.Mul(b.Mul(p, q), r)
		},
		"take": func(b *tape.Builder, x tape.Value) tape.Value {
			p := b.Take(x, 0, []int{3, 3, 1})
			q := b.Take(x, 0, []int{7, 1, 0})
			return b.Mul(p, q)
		},
		"corners and rows": func(b *tape.Builder, x tape.Value) tape.Value {
			p := b.Slice(x, []int{0, 0}, tape.Shape{1, 1}, nil)
			q := b.Slice(x, []int{2, 3}, tape.Shape{2, 3}, []int{2, 1})
			r := b.Slice(x, []int{3, 4}, tape.Shape{2, 3}, []int{1, 2})
			s := b.Take(x, 1, []int{9})
			u := b.Slice(x, []int{1, 1}, tape.Shape{6, 8}, nil)
			pqr := b.Reshape(b.Mul(p, b.Mul(q, r)), tape.Shape{6})
			return b.Concat(0, pqr, b.Reshape(s, tape.Shape{8}), b.Reshape(u, tape.Shape{48}))
		},
		"everything": func(b *tape.Builder, x tape.Value) tape.Value {
			part := b.Slice(x, []int{0, 0}, tape.Shape{4, 5}, []int{2, 2})
			return b.Add(x, b.Pad(part, tape.Shape{8, 10}, []int{4, 5}, nil))
		},
	} {
		b := tape.NewBuilder(name)
		b.Output("y", build(b, b.Input("x", tape.Shape{8, 10}, false)))
		tp := b.Tape()
		t.Run(name, func(t *testing.T) { checkDerivatives(t, tp, tapetest.Fill(tp, 5), 1e-13) })
	}
}

func BenchmarkVJP(b *testing.B) {
	const n = 2000
	build := tape.NewBuilder("network")
	x := build.Input("x", tape.Shape{n}, false)
	rates := make([]tape.Value, n)
	for i := range rates {
		rates[i] = build.Mul(build.Element(x, i), build.Op1(tape.Tanh, build.Element(x, (i+7)%n)))
	}
	build.Output("y", build.Stack(0, rates...))
	tp := build.Tape()
	for b.Loop() {
		if _, err := VJP(tp, []string{"y"}, []string{"x"}); err != nil {
			b.Fatal(err)
		}
	}
}
