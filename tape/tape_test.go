package tape_test

import (
	"errors"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

func parse(t testing.TB, text string) *tape.Tape {
	t.Helper()
	out, err := tape.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return out
}

// Every op has a row in the table, and every row is complete.
func TestTable(t *testing.T) {
	seen := map[tape.Op]bool{}
	names := map[string]bool{}
	for _, op := range tape.Ops() {
		row := op.Row()
		if row.Name == "" || row.Doc == "" || names[row.Name] || seen[op] {
			t.Errorf("row of %v is incomplete or there twice", op)
		}
		seen[op], names[row.Name] = true, true
		if got, ok := tape.OpByName(row.Name); !ok || got != op {
			t.Errorf("OpByName(%q) = %v", row.Name, got)
		}
		for k := max(row.Arity, 0); k < 3; k++ {
			if row.Deriv[k] != "" {
				t.Errorf("%v has a derivative for operand %d, which it does not have", op, k)
			}
		}
	}
	for op := tape.Invalid + 1; op.Valid(); op++ {
		if !seen[op] {
			t.Errorf("op %d has no row", op)
		}
	}
}

// Every op has a case. This fails for a new one without.
func TestCasesCoverTable(t *testing.T) {
	seen := map[tape.Op]bool{}
	for _, c := range tapetest.Cases() {
		if err := tape.Check(c.Tape); err != nil {
			t.Errorf("%s: %v", c.Name, err)
		}
		if c.Tape.Instrs[len(c.Tape.Instrs)-1].Op != c.Op {
			t.Errorf("%s: the last op is another", c.Name)
		}
		seen[c.Op] = true
	}
	for _, op := range tape.Ops() {
		if !seen[op] {
			t.Errorf("no case for %v", op)
		}
	}
}

func TestRoundTripCases(t *testing.T) {
	for _, c := range tapetest.Cases() {
		roundTrip(t, c.Tape)
	}
}

func TestRoundTripRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Any)
		if err := tape.Check(tp); err != nil {
			rt.Fatal(err)
		}
		roundTrip(rt, tp)
	})
}

func roundTrip(t interface{ Fatalf(string, ...any) }, tp *tape.Tape) {
	text := tp.String()
	back, err := tape.Parse(text)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if !back.Equal(tp) {
		t.Fatalf("tape changed:\n%s\nbecame\n%s", text, back)
	}
	if back.String() != text {
		t.Fatalf("text changed:\n%s\nbecame\n%s", text, back)
	}
}

func TestRoundTripOdd(t *testing.T) {
	b := tape.NewBuilder(`a "name"`)
	x := b.Input("in", tape.Shape{3}, true)
	y := b.Input("m.if@12", tape.Shape{3}, false)
	z := b.Input("ta", tape.Shape{3}, false)
	w := b.Input("größe µ # [x]", tape.Shape{3}, false)
	c := b.Const(tape.Shape{7}, math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 1e-320, 0.1)
	long := make([]float64, 500)
	for i := range long {
		long[i] = 1 / float64(i+1)
	}
	b.Output("x y", b.Concat(0, x, y, z, w, x))
	b.Output("out", c)
	b.Output("long", b.Const(tape.Shape{500}, long...))
	b.Output("take", b.Take(x, 0, []int{2, 2, 2, 0, 1, 2, 1, 0}))
	tp := b.Tape()
	roundTrip(t, tp)
	var short strings.Builder
	if err := (tape.Printer{MaxData: 4}).Print(&short, tp); err != nil {
		t.Fatal(err)
	}
	if n := len(short.String()); n > 1000 {
		t.Errorf("shortened text has %d bytes", n)
	}
	if _, err := tape.Parse(short.String()); err == nil {
		t.Error("shortened text parses")
	}
}

func TestText(t *testing.T) {
	b := tape.NewBuilder("dy")
	x := b.Input("y.x", tape.Shape{200}, false)
	a := b.Input("p.A", tape.Shape{200, 200}, false)
	r := b.Input("p.r", tape.Shape{200}, false)
	s := b.Input("bar.dy.x", tape.Shape{200}, true)
	g := b.Add(r, b.MatMul(a, x, false, false))
	b.Output("dy.x", b.Mul(x, g))
	b.Output("bar.y.x", b.Mul(s, g))
	want := `tape dy

in y.x      [200]
in p.A      [200 200]
in p.r      [200]
in bar.dy.x [200]     lane

%4 = matmul p.A y.x  : [200]
%5 = add p.r %4      : [200]
%6 = mul y.x %5      : [200]
%7 = mul bar.dy.x %5 : [200] lane

out dy.x    %6
out bar.y.x %7
`
	if got := b.Tape().String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestParseErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", `expected "tape"`},
		{"tape t\nin x\nin x\n", "twice"},
		{"tape t\nin x\n%1 = frobnicate x\n", "not an op"},
		{"tape t\nin x\n%2 = neg x\n", `expected "%1"`},
		{"tape t\nin x\n%1 = neg y\n", "not an input"},
		{"tape t\nin x\n%1 = neg x : lane\n", "lane"},
		{"tape t\nin x lane\n%1 = neg x\n", "lane"},
		{"tape t\n%0 = const 1_0\n", "not a number"},
		{"tape t\n%0 = const 1e999\n", "not a number"},
		{"tape t\n%0 = const {1 2\n", "does not end"},
		{"tape t\n%0 = const {1*99999999999}\n", "entries"},
		{"tape t\nin x [3]\n%1 = take x axis=0 index=[0:9000000000000]\n", "not a range"},
		{"tape t\nin x [3]\n%1 = take x axis=0 index=[0:2147483648]\n", "entries"},
		{"tape t\nin \"x\n", "does not end"},
		{"tape t\nin x\nout y x z\n", `expected "\n"`},
	} {
		_, err := tape.Parse(c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, want %q", c.text, err, c.want)
		}
	}
}

// Check finds every way to break a good tape.
func TestCheck(t *testing.T) {
	const text = `tape t
in x [3]
in a [3 3]
%2 = matmul a x : [3]
%3 = slice a start=[0 1] step=[2 1] : [2 2]
%4 = take x axis=0 index=[0 2] : [2]
%5 = sum a axes=[0] : [3]
%6 = transpose a perm=[1 0] : [3 3]
%7 = const {1 2 3} : [3]
%8 = concat x %2 axis=0 : [6]
%9 = powi x power=3 : [3]
%10 = put %4 axis=0 index=[1 1] : [3]
out y %2
out z %5
`
	good := parse(t, text)
	if err := tape.Check(good); err != nil {
		t.Fatal(err)
	}
	for name, broken := range map[string]func(*tape.Tape){
		"no name":            func(t *tape.Tape) { t.Name = "" },
		"control character":  func(t *tape.Tape) { t.Inputs[0].Name = "a\nb" },
		"not UTF-8":          func(t *tape.Tape) { t.Inputs[0].Name = "\xff" },
		"input twice":        func(t *tape.Tape) { t.Inputs[1].Name = "x" },
		"output twice":       func(t *tape.Tape) { t.Outputs[1].Name = "y" },
		"output value":       func(t *tape.Tape) { t.Outputs[0].Value = 11 },
		"negative output":    func(t *tape.Tape) { t.Outputs[0].Value = -1 },
		"empty axis":         func(t *tape.Tape) { t.Inputs[0].Shape = tape.Shape{0} },
		"rank":               func(t *tape.Tape) { t.Inputs[0].Shape = tape.Shape{1, 1, 1, 1, 1} },
		"size":               func(t *tape.Tape) { t.Inputs[0].Shape = tape.Shape{1 << 40, 1 << 40} },
		"op":                 func(t *tape.Tape) { t.Instrs[0].Op = 200 },
		"invalid op":         func(t *tape.Tape) { t.Instrs[0].Op = tape.Invalid },
		"arity":              func(t *tape.Tape) { t.Instrs[0].Args = t.Instrs[0].Args[:1] },
		"no concat operands": func(t *tape.Tape) { t.Instrs[6].Args = nil },
		"order":              func(t *tape.Tape) { t.Instrs[0].Args[0] = 2 },
		"negative operand":   func(t *tape.Tape) { t.Instrs[0].Args[0] = -1 },
		"inner length":       func(t *tape.Tape) { t.Instrs[0].Args[1] = 1; t.Inputs[1].Shape = tape.Shape{3, 4} },
		"shape":              func(t *tape.Tape) { t.Instrs[0].Shape = tape.Shape{4} },
		"stray attribute":    func(t *tape.Tape) { t.Instrs[0].Attr.Axis = 1 },
		"vector flag":        func(t *tape.Tape) { t.Instrs[0].Attr.TB = true },
		"start length":       func(t *tape.Tape) { t.Instrs[1].Attr.Start = []int{0} },
		"step length":        func(t *tape.Tape) { t.Instrs[1].Attr.Step = []int{1} },
		"step":               func(t *tape.Tape) { t.Instrs[1].Attr.Step[0] = 0 },
		"window":             func(t *tape.Tape) { t.Instrs[1].Attr.Step[0] = 3 },
		"window start":       func(t *tape.Tape) { t.Instrs[1].Attr.Start[1] = 2 },
		"negative start":     func(t *tape.Tape) { t.Instrs[1].Attr.Start[1] = -1 },
		"take position":      func(t *tape.Tape) { t.Instrs[2].Attr.Index[1] = 3 },
		"empty index":        func(t *tape.Tape) { t.Instrs[2].Attr.Index = nil },
		"take axis":          func(t *tape.Tape) { t.Instrs[2].Attr.Axis = 1 },
		"no axes":            func(t *tape.Tape) { t.Instrs[3].Attr.Axes = nil },
		"axes order":         func(t *tape.Tape) { t.Instrs[3].Attr.Axes = []int{1, 0} },
		"axes range":         func(t *tape.Tape) { t.Instrs[3].Attr.Axes = []int{2} },
		"perm":               func(t *tape.Tape) { t.Instrs[4].Attr.Perm = []int{1, 1} },
		"perm length":        func(t *tape.Tape) { t.Instrs[4].Attr.Perm = []int{0} },
		"data length":        func(t *tape.Tape) { t.Instrs[5].Attr.Data = []float64{1, 2} },
		"no data":            func(t *tape.Tape) { t.Instrs[5].Attr.Data = nil },
		"concat axis":        func(t *tape.Tape) { t.Instrs[6].Attr.Axis = 1 },
		"concat rank":        func(t *tape.Tape) { t.Instrs[6].Args[1] = 1 },
		"power":              func(t *tape.Tape) { t.Instrs[7].Attr.Power = 1 << 40 },
		"put count":          func(t *tape.Tape) { t.Instrs[8].Attr.Index = []int{1} },
		"put position":       func(t *tape.Tape) { t.Instrs[8].Attr.Index[0] = 3 },
	} {
		bad := parse(t, text)
		broken(bad)
		if err := tape.Check(bad); err == nil {
			t.Errorf("%s: accepted", name)
		} else if msg := err.Error(); strings.HasSuffix(msg, ".") {
			t.Errorf("%s: %q ends in a full stop", name, msg)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, c := range tapetest.Cases() {
		f.Add(c.Tape.String())
	}
	f.Add("tape t\nin x [3] lane # comment\n%1 = take x axis=0 index=[0:2 2*3 0:2:3] : [7] lane\nout \"o o\" %1\n")
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "00000") {
			t.Skip("large lists only cost memory")
		}
		tp, err := tape.Parse(text)
		if err != nil {
			return
		}
		roundTrip(t, tp)
		total := 0
		for v := range tp.Values() {
			total += tp.Shape(tape.Value(v)).Size()
		}
		if total > 1<<16 {
			return
		}
		tape.NewEvaluator[float64](tp).Run()
		tape.NewEvaluator[complex128](tp).Run()
	})
}

// No rewrite of a Builder changes a bit of a result, also with NaNs and signed zeros.
func TestBuilderIsExact(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Any)
		inputs := map[string][]float64{}
		for _, in := range tp.Inputs {
			x := make([]float64, in.Shape.Size())
			for i := range x {
				x[i] = rapid.SampledFrom([]float64{
					0, math.Copysign(0, -1), 1, -1, 0.5, -2.75, 3, math.Inf(1), math.Inf(-1), math.NaN(), 1e300, 1e-310,
				}).Draw(rt, "x")
			}
			inputs[in.Name] = x
		}
		want, err := tape.Eval(tp, inputs)
		if err != nil {
			rt.Fatal(err)
		}
		b := tape.NewBuilder("random")
		values := make([]tape.Value, tp.Values())
		for i, in := range tp.Inputs {
			values[i] = b.Input(in.Name, in.Shape, in.PerLane)
		}
		for i, in := range tp.Instrs {
			args := make([]tape.Value, len(in.Args))
			for k, a := range in.Args {
				args[k] = values[a]
			}
			in.Args = args
			values[len(tp.Inputs)+i] = b.Emit(in)
		}
		for _, o := range tp.Outputs {
			b.Output(o.Name, values[o.Value])
		}
		small := b.Tape()
		got, err := tape.Eval(small, inputs)
		if err != nil {
			rt.Fatal(err)
		}
		for _, o := range tp.Outputs {
			if !sameBits(got.Output(o.Name), want.Output(o.Name)) {
				rt.Fatalf("%s: got %v, want %v\nof\n%s\nmade\n%s",
					o.Name, got.Output(o.Name), want.Output(o.Name), tp, small)
			}
		}
	})
}

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
	})
}

func TestSimplify(t *testing.T) {
	shape := tape.Shape{4}
	for _, c := range []struct {
		name string
		make func(b *tape.Builder, x tape.Value) tape.Value
		want string // ops of the result
	}{
		{"x*1", func(b *tape.Builder, x tape.Value) tape.Value { return b.Mul(x, b.Scalar(1)) }, ""},
		{"x/1", func(b *tape.Builder, x tape.Value) tape.Value { return b.Div(x, b.Scalar(1)) }, ""},
		{"x/8", func(b *tape.Builder, x tape.Value) tape.Value { return b.Div(x, b.Scalar(8)) }, "const mul"},
		{"x/3", func(b *tape.Builder, x tape.Value) tape.Value { return b.Div(x, b.Scalar(3)) }, "const div"},
		{"x+0", func(b *tape.Builder, x tape.Value) tape.Value { return b.Add(x, b.Scalar(0)) }, "const add"},
		{"x-0", func(b *tape.Builder, x tape.Value) tape.Value { return b.Sub(x, b.Scalar(0)) }, ""},
		{"x^2", func(b *tape.Builder, x tape.Value) tape.Value { return b.Pow(x, b.Scalar(2)) }, "sqr"},
		{"x^3", func(b *tape.Builder, x tape.Value) tape.Value { return b.Pow(x, b.Scalar(3)) }, "powi"},
		{"x^-1", func(b *tape.Builder, x tape.Value) tape.Value { return b.Pow(x, b.Scalar(-1)) }, "recip"},
		{"x^0.5", func(b *tape.Builder, x tape.Value) tape.Value { return b.Pow(x, b.Scalar(0.5)) }, "sqrt"},
		{"x^1.5", func(b *tape.Builder, x tape.Value) tape.Value { return b.Pow(x, b.Scalar(1.5)) }, "const pow"},
		{"--x", func(b *tape.Builder, x tape.Value) tape.Value { return b.Neg(b.Neg(x)) }, ""},
		{"x+-x", func(b *tape.Builder, x tape.Value) tape.Value { return b.Add(x, b.Neg(x)) }, "sub"},
		{"x*x", func(b *tape.Builder, x tape.Value) tape.Value { return b.Mul(x, x) }, "sqr"},
		{"reshape of reshape", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Reshape(b.Reshape(x, tape.Shape{2, 2}), shape)
		}, ""},
		{"whole slice", func(b *tape.Builder, x tape.Value) tape.Value { return b.Slice(x, []int{0}, shape, nil) }, ""},
		{"slice of slice", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Slice(b.Slice(x, []int{1}, tape.Shape{3}, nil), []int{0}, tape.Shape{2}, []int{2})
		}, "slice"},
		{"slice of concat", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Slice(b.Concat(0, b.Neg(x), x), []int{4}, shape, nil)
		}, ""},
		{"take a run", func(b *tape.Builder, x tape.Value) tape.Value { return b.Take(x, 0, []int{1, 3}) }, "slice"},
		{"broadcast operand", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Mul(x, b.Broadcast(b.Element(x, 0), shape))
		}, "slice reshape mul"},
		{"same broadcast", func(b *tape.Builder, x tape.Value) tape.Value { return b.Broadcast(x, shape) }, ""},
		{"constant condition", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Select(b.Scalar(0), b.Neg(x), x)
		}, ""},
		{"-x*4", func(b *tape.Builder, x tape.Value) tape.Value { return b.Mul(b.Neg(x), b.Scalar(4)) }, "const mul"},
		{"x != 0 as a condition", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Select(b.Op2(tape.NotEqual, x, b.Scalar(0)), x, b.Neg(x))
		}, "neg select"},
		{"broadcast to a vector of one", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Broadcast(b.Dot(x, x), tape.Shape{1})
		}, "dot reshape"},
		{"shared", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Concat(0, b.Op1(tape.Sin, x), b.Op1(tape.Sin, x))
		}, "sin concat"},
		{"folded", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.Mul(x, b.Op1(tape.Sqrt, b.Add(b.Scalar(1), b.Scalar(3))))
		}, "const mul"},
		{"transposed product", func(b *tape.Builder, x tape.Value) tape.Value {
			return b.MatMul(b.Transpose(b.Outer(x, x)), x, false, false)
		}, "outer matmul"},
	} {
		b := tape.NewBuilder("t")
		b.Output("out", c.make(b, b.Input("x", shape, false)))
		var ops []string
		for _, in := range b.Tape().Instrs {
			ops = append(ops, in.Op.String())
		}
		if got := strings.Join(ops, " "); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// The time to build a tape does not depend on the lengths of arrays.
func TestBuildLargeStencil(t *testing.T) {
	const n = 512
	b := tape.NewBuilder("heat")
	u := b.Input("y.u", tape.Shape{n, n}, false)
	in := tape.Shape{n - 2, n - 2}
	at := func(i, j int) tape.Value { return b.Slice(u, []int{i, j}, in, nil) }
	lap := b.Sub(b.Add(b.Add(at(0, 1), at(2, 1)), b.Add(at(1, 0), at(1, 2))), b.Mul(b.Scalar(4), at(1, 1)))
	b.Output("dy.u", b.Pad(lap, tape.Shape{n, n}, []int{1, 1}, nil))
	tp := b.Tape()
	if err := tape.Check(tp); err != nil {
		t.Fatal(err)
	}
	if len(tp.Instrs) > 12 {
		t.Errorf("%d instructions", len(tp.Instrs))
	}
}

func TestEval(t *testing.T) {
	tp := parse(t, `tape t
in x [3]
in a [2 3]
%2 = matmul a x : [2]
%3 = sum a axes=[0] : [3]
%4 = dot x %3
%5 = transpose a perm=[1 0] : [3 2]
%6 = put x axis=0 index=[1 1 0] : [4]
out ax %2
out d %4
out at %5
out put %6
`)
	e, err := tape.Eval(tp, map[string][]float64{"x": {1, 2, 3}, "a": {1, 2, 3, 4, 5, 6}})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{
		"ax": {14, 32}, "d": {5 + 14 + 27}, "at": {1, 4, 2, 5, 3, 6}, "put": {3, 3, 0, 0},
	} {
		if got := e.Output(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
	if e.Output("none") != nil || e.Input("none") != nil {
		t.Error("names that do not exist have values")
	}
	if _, err := tape.Eval(tp, map[string][]float64{"x": {1, 2, 3}}); err == nil {
		t.Error("a missing input is accepted")
	}
	if _, err := tape.Eval(tp, map[string][]float64{"x": {1}, "a": make([]float64, 6)}); err == nil {
		t.Error("a short input is accepted")
	}
	if n := testing.AllocsPerRun(10, e.Run); n > 0 {
		t.Errorf("a run allocates %v times", n)
	}
}

// TestLookup has places within tables, at their ends and beyond.
func TestLookup(t *testing.T) {
	tp := parse(t, `tape t
in knots [4]
in q [7]
in place [5]
%3 = find knots q : [7]
%4 = pick knots place : [5]
%5 = drop place place : [3]
out find %3
out pick %4
out drop %5
`)
	inf, nan := math.Inf(1), math.NaN()
	in := map[string][]float64{
		"knots": {1, 2, 4, 8}, "q": {-inf, 1, 1.9, 2, 7, 9, nan}, "place": {-3, 0.9, 1, 7, 2},
	}
	e, err := tape.Eval(tp, in)
	if err != nil {
		t.Fatal(err)
	}
	points := map[string][]complex128{}
	for name, list := range in {
		for _, x := range list {
			points[name] = append(points[name], complex(x, 1))
		}
	}
	c, err := tape.EvalComplex(tp, points)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string][]float64{
		"find": {0, 0, 0, 1, 2, 2, 0}, "pick": {1, 1, 2, 8, 4}, "drop": {-2.1, 1, 9},
	} {
		if got := e.Output(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
		for i, z := range c.Output(name) {
			if real(z) != want[i] {
				t.Errorf("%s: got %v from complex numbers, want %v", name, z, want[i])
			}
		}
	}
	box := tape.NewEvaluator[tape.Interval](tp)
	for i, x := range in["knots"] {
		box.Input("knots")[i] = tape.Point(x)
	}
	for i, b := range []tape.Interval{{1, 2}, {2, 2}, {1.5, 2.5}, {3, 100}, {nan, nan}, {4, 8}, {-9, 0}} {
		box.Input("q")[i] = b
	}
	for i, b := range []tape.Interval{{0, 1}, {2, 2}, {1, 3}, {nan, nan}, {-9, 9}} {
		box.Input("place")[i] = b
	}
	box.Run()
	for name, want := range map[string][]tape.Interval{
		"find": {{0, 0}, {1, 1}, {0, 1}, {1, 2}, {0, 2}, {2, 2}, {0, 0}}, // [1, 2] ends before the knot
		"pick": {{1, 2}, {4, 4}, {2, 8}, {1, 8}, {1, 8}},
	} {
		if got := box.Output(name); !slices.Equal(got, want) {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// Sums and products are taken in the orders of package elem.
func TestEvalOrder(t *testing.T) {
	tp := parse(t, "tape t\nin x [37]\nin y [37]\n"+
		"%2 = sum x axes=[0]\n%3 = dot x y\n%4 = prod x axes=[0]\nout s %2\nout d %3\nout p %4\n")
	in := tapetest.Fill(tp, 3)
	e, err := tape.Eval(tp, in)
	if err != nil {
		t.Fatal(err)
	}
	prod := 1.0
	for _, x := range in["x"] {
		prod *= x
	}
	for name, want := range map[string]float64{"s": elem.Sum(in["x"]), "d": elem.Dot(in["x"], in["y"]), "p": prod} {
		if got := e.Output(name)[0]; got != want {
			t.Errorf("%s: got %v, want %v", name, got, want)
		}
	}
}

// Every op gives the same in complex arithmetic, on real inputs, as in real arithmetic.
func TestEvalComplexReal(t *testing.T) {
	for _, c := range tapetest.Cases() {
		re, err := tape.Eval(c.Tape, c.Inputs)
		if err != nil {
			t.Fatal(err)
		}
		in := map[string][]complex128{}
		for name, x := range c.Inputs {
			for _, v := range x {
				in[name] = append(in[name], complex(v, 0))
			}
		}
		cx, err := tape.EvalComplex(c.Tape, in)
		if err != nil {
			t.Fatal(err)
		}
		for i, z := range cx.Output("out") {
			want := re.Output("out")[i]
			if math.Abs(real(z)-want) > 1e-14*math.Abs(want) || imag(z) != 0 {
				t.Errorf("%s: element %d is %v, in real arithmetic %v", c.Name, i, z, want)
			}
		}
	}
}

func TestFirstNaN(t *testing.T) {
	tp := parse(t, `tape t
in x
in c
%2 = log x
%3 = sqrt x
%4 = add %3 x
%5 = mul %4 %4
%6 = select c %2 %5
out y %6
`)
	e, err := tape.Eval(tp, map[string][]float64{"x": {-1}, "c": {0}})
	if err != nil {
		t.Fatal(err)
	}
	// Both branches hold a NaN. The output has that of the branch which is taken.
	for c, want := range []tape.Value{3, 2} {
		e.Input("c")[0] = float64(c)
		e.Run()
		if v, ok := e.FirstNaN(); !ok || v != want {
			t.Errorf("c = %d: got %v %v", c, v, ok)
		}
	}
	e.Input("x")[0] = 4
	e.Run()
	if _, ok := e.FirstNaN(); ok {
		t.Error("found a NaN where there is none")
	}
	e.Input("x")[0] = math.Inf(1)
	e.Run()
	if v, ok := e.FirstNonFinite(); !ok || v != 0 {
		t.Errorf("got %v %v, want the input", v, ok)
	}
}

func TestQueries(t *testing.T) {
	tp := parse(t, "tape t\nin x\nin s lane\nin z\n"+
		"%3 = mul x z\n%4 = mul s %3 : lane\n%5 = neg z\nout a %4\nout b %5\n")
	if got := tape.PerLane(tp); !slices.Equal(got, []bool{false, true, false, false, true, false}) {
		t.Errorf("per lane: %v", got)
	}
	if got := tape.DependsOn(tp, "x"); !slices.Equal(got, []bool{true, false, false, true, true, false}) {
		t.Errorf("depends on x: %v", got)
	}
	if got := tape.Needed(tp, "b"); !slices.Equal(got, []bool{false, false, true, false, false, true}) {
		t.Errorf("needed for b: %v", got)
	}
}

func TestBuilderPanics(t *testing.T) {
	for name, f := range map[string]func(b *tape.Builder, x tape.Value){
		"shapes": func(b *tape.Builder, x tape.Value) { b.Add(x, b.Input("y", tape.Shape{4}, false)) },
		"arity":  func(b *tape.Builder, x tape.Value) { b.Op1(tape.Add, x) },
		"op":     func(b *tape.Builder, x tape.Value) { b.Op1(tape.Slice, x) },
		"input":  func(b *tape.Builder, x tape.Value) { b.Input("x", nil, false) },
		"output": func(b *tape.Builder, x tape.Value) { b.Output("o", x); b.Output("o", x) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			b := tape.NewBuilder("t")
			f(b, b.Input("x", tape.Shape{3}, false))
		}()
	}
}

// The list of ops and the table have the same order.
func TestTableOrder(t *testing.T) {
	text, err := os.ReadFile("op.go")
	if errors.Is(err, os.ErrNotExist) {
		t.Skip("no source")
	}
	var listed []string
	for _, m := range regexp.MustCompile(`(?m)^\t([A-Z]\w*)`).FindAllStringSubmatch(string(text), -1) {
		listed = append(listed, m[1])
	}
	if len(listed) != len(tape.Ops())+1 {
		t.Errorf("op.go lists %d names, the table has %d", len(listed), len(tape.Ops()))
	}
	if !slices.IsSorted(tape.Ops()) {
		t.Error("the table is not in the order of the constants")
	}
}

// TestManyOutputs adds as many outputs as a model of scalars has states. The time of each must not grow with them.
func TestManyOutputs(t *testing.T) {
	b := tape.NewBuilder("many")
	start := time.Now()
	for i := range 300_000 {
		name := strconv.Itoa(i)
		b.Output("out "+name, b.Input("in "+name, nil, false))
	}
	if n := len(b.Tape().Outputs); n != 300_000 {
		t.Errorf("%d outputs", n)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("took %v", d)
	}
}

// TestInputs hands the inputs of a tape on: names are known, others can be added, and the first tape stays as it is.
func TestInputs(t *testing.T) {
	list := []tape.Input{{Name: "x", Shape: tape.Shape{2}}, {Name: "y", Shape: tape.Shape{2}, PerLane: true}}
	b := tape.NewBuilder("copy")
	v := b.Inputs(list)
	if y := b.Input("y", tape.Shape{2}, true); y != v[1] {
		t.Errorf("y is value %d, not %d", y, v[1])
	}
	z := b.Input("z", tape.Shape{2}, false)
	b.Output("sum", b.Add(b.Add(v[0], v[1]), z))
	if got := b.Tape(); len(got.Inputs) != 3 || got.Inputs[2].Name != "z" || len(list) != 2 {
		t.Errorf("inputs %v", got.Inputs)
	} else if err := tape.Check(got); err != nil {
		t.Error(err)
	}
	defer func() {
		if recover() == nil {
			t.Error("a Builder with an input took a list")
		}
	}()
	b = tape.NewBuilder("late")
	b.Input("x", nil, false)
	b.Inputs(list)
}
