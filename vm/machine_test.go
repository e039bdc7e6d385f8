package vm_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

func parse(t testing.TB, text string) *tape.Tape {
	t.Helper()
	tp, err := tape.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return tp
}

func compile(t testing.TB, tp *tape.Tape, lanes int) *vm.Program {
	t.Helper()
	p, err := vm.CompileOn(tp, vm.Options{Lanes: lanes})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// glv is the right-hand side of a generalised Lotka–Volterra model, and the transpose for several
// cotangents in lanes, with the gradients by parameters deferred.
func glv(n int) string {
	return strings.ReplaceAll(`tape glv
 in x [N]
 in r [N]
 in A [N N]
 in w [N] lane
 %4 = matmul A x : [N]
 %5 = add %4 r : [N]
 %6 = mul %5 x : [N]
 %7 = mul w x : [N] lane
 %8 = matmul A %7 ta : [N] lane
 %9 = mul w %5 : [N] lane
 %10 = add %8 %9 : [N] lane
 out f %6
 out bar.r %7
 out bar.x %10
`, "N", fmt.Sprint(n))
}

const oscillator = `tape vdp
 in y [2]
 in mu
 %2 = slice y start=[0] : [1]
 %3 = slice y start=[1] : [1]
 %4 = sqr %2 : [1]
 %5 = const 1
 %6 = sub %5 %4 : [1]
 %7 = mul %6 mu : [1]
 %8 = mul %7 %3 : [1]
 %9 = sub %8 %2 : [1]
 %10 = concat %3 %9 axis=0 : [2]
 out dy %10
`

// heat is a five-point stencil with a reaction term, on an n×n grid.
func heat(n int) string {
	return strings.NewReplacer("N", fmt.Sprint(n), "M", fmt.Sprint(n-2)).Replace(`tape heat
 in u [N N]
 in k
 %2 = slice u start=[0 1] : [M M]
 %3 = slice u start=[2 1] : [M M]
 %4 = slice u start=[1 0] : [M M]
 %5 = slice u start=[1 2] : [M M]
 %6 = slice u start=[1 1] : [M M]
 %7 = add %2 %3 : [M M]
 %8 = add %4 %5 : [M M]
 %9 = add %7 %8 : [M M]
 %10 = const 4
 %11 = mul %6 %10 : [M M]
 %12 = sub %9 %11 : [M M]
 %13 = mul %12 k : [M M]
 %14 = sqr %6 : [M M]
 %15 = mul %14 %6 : [M M]
 %16 = sub %13 %15 : [M M]
 %17 = add %16 %6 : [M M]
 %18 = pad %17 start=[1 1] : [N N]
 out du %18
`)
}

// torus is a reaction on an n×n grid with periodic borders. It contains a product of vectors and a
// function.
func torus(n int) string {
	return strings.NewReplacer("N", fmt.Sprint(n), "LAST", fmt.Sprint(n-1), "ALL", fmt.Sprint(n*n)).Replace(`tape torus
 in u [N N]
 in v [N N]
 in k
 %3 = take u axis=0 index=[1:N 0] : [N N]
 %4 = take u axis=0 index=[LAST 0:LAST] : [N N]
 %5 = take u axis=1 index=[1:N 0] : [N N]
 %6 = take u axis=1 index=[LAST 0:LAST] : [N N]
 %7 = add %3 %4 : [N N]
 %8 = add %5 %6 : [N N]
 %9 = add %7 %8 : [N N]
 %10 = mul u k : [N N]
 %11 = sub %9 %10 : [N N]
 %12 = mul v %11 : [N N]
 %13 = exp %12 : [N N]
 %14 = mul %13 u : [N N]
 %15 = sub %14 v : [N N]
 %16 = reshape %12 : [ALL]
 %17 = reshape %11 : [ALL]
 %18 = dot %16 %17
 out du %15
 out dk %18
`)
}

// bind binds random inputs and fresh outputs.
func bind(p *vm.Program, tp *tape.Tape, m *vm.Machine, lanes int) {
	for i, x := range vmtest.Inputs(tp, lanes, 1, false) {
		m.SetInput(i, x)
	}
	for i := range tp.Outputs {
		m.SetOutput(i, make([]float64, p.OutputSize(i)), false)
	}
}

func TestRunAllocatesNothing(t *testing.T) {
	for name, text := range map[string]string{"glv": glv(40), "vdp": oscillator, "heat": heat(40), "torus": torus(40)} {
		for _, lanes := range []int{1, 3, 8} {
			tp := parse(t, text)
			p := compile(t, tp, lanes)
			m := p.NewMachine()
			bind(p, tp, m, lanes)
			x := vmtest.Inputs(tp, lanes, 2, false)
			y := make([]float64, p.OutputSize(0))
			if n := testing.AllocsPerRun(20, m.Run); n != 0 {
				t.Errorf("%s, %d lanes: %v allocations in a run", name, lanes, n)
			}
			flip := false
			other := vmtest.Inputs(tp, lanes, 3, false)
			if n := testing.AllocsPerRun(20, func() { // bindings change between runs
				m.SetInput(0, x[0])
				if flip {
					m.SetInput(0, other[0])
				}
				flip = !flip
				m.SetOutput(0, y, false)
				m.Run()
			}); n != 0 {
				t.Errorf("%s, %d lanes: %v allocations with new bindings", name, lanes, n)
			}
		}
	}
}

// TestMove binds vectors that move: one whose outputs overwrite, one whose outputs are added.
func TestMove(t *testing.T) {
	tp := parse(t, "tape move\n in a [3]\n in b [3]\n %2 = mul a b : [3]\n %3 = sub a b : [3]\n out x %2\n out y %3\n")
	p, err := vm.Compile(tp, vm.Options{
		Inputs:  []vm.Place{{Vector: 0}, {Vector: 1, Constant: true}},
		Outputs: []vm.Place{{Vector: 2}, {Vector: 3, Add: true}},
	})
	if err != nil {
		t.Fatal(err)
	}
	m := p.NewMachine()
	b := []float64{2, 4, 8}
	m.SetVector(1, b)
	for i := range 4 {
		f := float64(i)
		a, x, y := []float64{f, f + 1, f + 2}, make([]float64, 3), []float64{1, 1, 1}
		m.MoveVector(0, a)
		m.MoveVector(2, x)
		m.MoveVector(3, y)
		m.Run()
		m.Run()
		for j := range a {
			if x[j] != a[j]*b[j] || y[j] != 1+2*(a[j]-b[j]) {
				t.Fatalf("move %d: %v and %v", i, x, y)
			}
		}
	}
}

// TestOverlap runs tapes whose outputs lie in the memory of their inputs: a
// swap, and an update in place.
func TestOverlap(t *testing.T) {
	tp := parse(t, "tape swap\n in a [3]\n in b [3]\n %2 = add a b : [3]\n out x b\n out y %2\n")
	p := compile(t, tp, 1)
	m := p.NewMachine()
	a, b := []float64{1, 2, 3}, []float64{10, 20, 30}
	m.SetInput(0, a)
	m.SetInput(1, b)
	m.SetOutput(0, a, false)
	m.SetOutput(1, b, false)
	m.Run()
	if fmt.Sprint(a, b) != "[10 20 30] [11 22 33]" {
		t.Errorf("after a swap: %v %v", a, b)
	}
	m.SetOutput(1, b, true)
	m.Run()
	if fmt.Sprint(a, b) != "[11 22 33] [32 64 96]" {
		t.Errorf("after accumulation in place: %v %v", a, b)
	}
	// Now with memory of their own.
	x, y := make([]float64, 3), make([]float64, 3)
	m.SetOutput(0, x, false)
	m.SetOutput(1, y, false)
	m.Run()
	if fmt.Sprint(x, y) != "[32 64 96] [43 86 129]" {
		t.Errorf("after a change of bindings: %v %v", x, y)
	}
}

func TestUnboundOutputsAndLookups(t *testing.T) {
	tp := parse(t, glv(5))
	p := compile(t, tp, 4)
	if i, ok := p.Input("w"); !ok || i != 3 || p.InputSize(i) != 20 {
		t.Errorf("input w is %d, %v", i, ok)
	}
	i, ok := p.Output("bar.x")
	if !ok || i != 2 || p.OutputSize(i) != 20 || !p.OutputPerLane(i) || p.OutputPerLane(0) {
		t.Errorf("output bar.x is %d, %v", i, ok)
	}
	if _, ok := p.Input("nothing"); ok {
		t.Error("found an input that is not there")
	}
	m := p.NewMachine()
	for i, x := range vmtest.Inputs(tp, 4, 1, false) {
		m.SetInput(i, x)
	}
	m.Run() // an output that is not bound is not stored
	f := make([]float64, 5)
	m.SetOutput(0, f, false)
	m.Run()
	if f[0] == 0 || math.IsNaN(f[0]) {
		t.Errorf("output f is %v", f)
	}
}

func TestBugsOfTheCallerPanic(t *testing.T) {
	p := compile(t, parse(t, oscillator), 1)
	for name, f := range map[string]func(m *vm.Machine){
		"input length":  func(m *vm.Machine) { m.SetInput(0, make([]float64, 3)) },
		"output length": func(m *vm.Machine) { m.SetOutput(0, make([]float64, 3), false) },
		"unbound input": func(m *vm.Machine) { m.SetInput(0, make([]float64, 2)); m.Run() },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f(p.NewMachine())
		}()
	}
}

func TestCompileErrors(t *testing.T) {
	if _, err := vm.CompileOn(&tape.Tape{}, vm.Options{}); err == nil {
		t.Error("a tape without a name compiles")
	}
	if _, err := vm.CompileOn(parse(t, oscillator), vm.Options{Lanes: -1}); err == nil {
		t.Error("compiles for -1 lanes")
	}
}

// TestPartsInPlace holds that what an output is put together of is computed where it belongs, and copied only where it
// is an output already, an input or there twice. What stands side by side is copied at once.
func TestPartsInPlace(t *testing.T) {
	const n = 100
	var b, parts strings.Builder
	b.WriteString("tape many\nin x\nin y [2]\n")
	for i := range n {
		fmt.Fprintf(&b, "%%%d = const %d\n%%%d = sub x %%%d\n%%%d = reshape %%%d : [1]\n", 3*i+2, i+1, 3*i+3, 3*i+2,
			3*i+4, 3*i+3)
		fmt.Fprintf(&parts, " %%%d", 3*i+4)
	}
	at := 3*n + 2
	fmt.Fprintf(&b, "%%%d = concat%s axis=0 : [%d]\n", at, parts.String(), n)
	fmt.Fprintf(&b, "%%%d = concat y %%4%s y axis=0 : [%d]\n", at+1, parts.String(), n+5)
	fmt.Fprintf(&b, "%%%d = sin %%%d : [%d]\nout a %%%d\nout s %%%d\n", at+2, at+1, n+5, at, at+2)
	tp := parse(t, b.String())
	p, err := vm.CompileOn(tp, vm.Options{Backend: simd.Generic})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.Stats().Bytes; got > 8*(n+5) {
		t.Errorf("%d bytes are in use besides the outputs", got)
	}
	for _, name := range backends() {
		for _, lanes := range []int{1, 3} {
			for _, b := range []vmtest.Backend{on(name), placedOn(name)} {
				if err := vmtest.Agree(b, tp, lanes, vmtest.Inputs(tp, lanes, 1, true), lanes == 3); err != nil {
					t.Errorf("%s, %d lanes: %v", name, lanes, err)
				}
			}
		}
	}
}

// TestStats pins the cost of known tapes. Views cost no instruction, chains are one step, and
// memory is reused.
func TestStats(t *testing.T) {
	for _, c := range []struct {
		name  string
		text  string
		lanes int
		want  vm.Stats
	}{
		{"vdp", oscillator, 1, vm.Stats{Instructions: 6, Steps: 2, Bytes: 8, Flops: 5}},
		{"heat", heat(34), 1, vm.Stats{
			Instructions: 11, Steps: 2, Bytes: 8 * (32*32 + 5*(512+24)),
			Flops: 10 * 32 * 32,
		}},
		{"glv", glv(16), 8, vm.Stats{
			Instructions: 7, Steps: 5, Bytes: 8 * (16*8 + 16 + 128 + 24 + 128),
			Flops: 2*256 + 32 + 2*256*8 + 3*128,
		}},
	} {
		p, err := vm.CompileOn(parse(t, c.text), vm.Options{Lanes: c.lanes, Backend: simd.Generic})
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Stats(); got != c.want {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

// TestMemoryIsReused checks that a long chain of whole-array steps needs only a few arrays.
func TestMemoryIsReused(t *testing.T) {
	b := tape.NewBuilder("long")
	x := b.Input("x", tape.Shape{1000}, false)
	v := x
	for range 50 {
		s := b.SumAxes(v, 0)
		v = b.Op1(tape.Sin, b.Add(v, s))
	}
	b.Output("y", v)
	if got := compile(t, b.Tape(), 1).Stats().Bytes; got > 8*4000 {
		t.Errorf("50 steps over 1000 elements take %d bytes", got)
	}
}
