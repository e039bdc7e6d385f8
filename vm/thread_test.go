package vm_test

import (
	"bytes"
	"fmt"
	"math"
	"runtime"
	"runtime/pprof"
	"testing"
	"time"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// scalars is a tape of many scalar instructions of every elementwise op.
func scalars() *tape.Tape {
	b := tape.NewBuilderWith("scalars", 0)
	x, y, z := b.Input("x", tape.Shape{}, true), b.Input("y", tape.Shape{}, false), b.Input("z", tape.Shape{6}, true)
	var all []tape.Value
	for _, op := range tape.Ops() {
		if op.Row().Elementwise() {
			args := []tape.Value{x, y, x}[:op.Row().Arity]
			var a tape.Attr
			if op == tape.Powi {
				a.Power = 3
			}
			v := b.Emit(tape.Instr{Op: op, Args: args, Attr: a})
			all = append(all, b.Reshape(v, tape.Shape{1}))
			args = []tape.Value{z, y, x}[:op.Row().Arity]
			b.Output("z."+op.String(), b.Emit(tape.Instr{Op: op, Args: args, Shape: tape.Shape{6}, Attr: a}))
		}
	}
	b.Output("all", b.Concat(0, all...))
	b.Output("sum", b.SumAxes(b.Concat(0, all...), 0))
	return b.Tape()
}

// TestElementsOutsideTheMainPath puts a special value into every lane in turn. Threaded code stops
// there, and Go computes the element.
func TestElementsOutsideTheMainPath(t *testing.T) {
	tp := scalars()
	for _, lanes := range []int{1, 2, 4, 5, 8} {
		for _, special := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1e300, 5e-324, 1e9} {
			for l := range lanes {
				in := vmtest.Inputs(tp, lanes, 3, false)
				in[0][l], in[2][2*lanes+l] = special, special
				for _, b := range backends() {
					if err := vmtest.Agree(on(b), tp, lanes, in, false); err != nil {
						t.Errorf("%s, %d lanes, %v in lane %d: %v", b, lanes, special, l, err)
					}
				}
			}
		}
	}
}

// TestFunctionsInGroups has arrays of two vectors of eight and a rest, and a special value at each place in turn. With
// two operands, each may be one number for all.
func TestFunctionsInGroups(t *testing.T) {
	const n = 19
	for _, op := range tape.Ops() {
		row := op.Row()
		if !row.Elementwise() || row.Arity > 2 {
			continue
		}
		b := tape.NewBuilderWith("one", 0)
		x, y, s := b.Input("x", tape.Shape{n}, false), b.Input("y", tape.Shape{n}, false), b.Input("s", nil, false)
		attr := tape.Attr{}
		if op == tape.Powi {
			attr.Power = -3
		}
		for i, args := range [][]tape.Value{{x, y}, {x, s}, {s, y}}[:2*row.Arity-1] {
			in := tape.Instr{Op: op, Args: args[:row.Arity], Shape: tape.Shape{n}, Attr: attr}
			b.Output(fmt.Sprint(i), b.Emit(in))
		}
		tp, r := b.Tape(), elem.NewRand(uint64(op))
		for place := range n {
			in := [][]float64{make([]float64, n), make([]float64, n), {1 + r.Float64()}}
			for k := range in[:2] {
				for i := range in[k] {
					in[k][i] = math.Exp(3*r.Norm()) * (1 - 2*float64(place&1))
				}
			}
			in[place&1][place] = []float64{
				math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1), 1e300, 5e-324, -1e9, 1, 30, 1e-9,
			}[place%11]
			for _, backend := range backends() {
				if err := vmtest.Agree(on(backend), tp, 1, in, false); err != nil {
					t.Errorf("%s, %s, place %d: %v", backend, op, place, err)
				}
			}
		}
	}
}

// TestPowersAreThreaded holds that products, as y², are threaded code for vectors of any length, like y⁻³.
func TestPowersAreThreaded(t *testing.T) {
	for _, n := range []int{1, 2, 4, 5, 16} {
		b := tape.NewBuilderWith("powers", 0)
		x := b.Input("x", tape.Shape{n}, false)
		for _, power := range []int{-4, -3, -2, -1, 2, 3, 4} {
			in := tape.Instr{
				Op: tape.Powi, Args: []tape.Value{x}, Shape: tape.Shape{n}, Attr: tape.Attr{Power: power},
			}
			b.Output(fmt.Sprint(power), b.Emit(in))
		}
		powers := b.Tape()
		for _, backend := range backends()[1:] {
			p, err := vm.CompileOn(powers, vm.Options{Backend: backend})
			if err != nil {
				t.Fatal(err)
			}
			if k := p.InGo(); k > 0 {
				t.Errorf("%s, %d elements: %d steps in Go", backend, n, k)
			}
		}
	}
}

// TestProfiled runs machines while the profiler interrupts them and the collector runs. Results
// must stay the same, and nothing may crash.
//
//odes:goroutines
func TestProfiled(t *testing.T) {
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Skip(err)
	}
	defer pprof.StopCPUProfile()
	many := randomScalars(elem.NewRand(1), 3000)
	for i, tp := range []*tape.Tape{
		parse(t, pullOfOscillator), parse(t, glvPull(30)), scalars(), parse(t, heat(60)),
		parse(t, torus(72)), many,
	} {
		name := vm.Backend()
		if i == 0 { // without AVX-512 once
			name = backends()[len(backends())-1]
		}
		p, err := vm.CompileOn(tp, vm.Options{Backend: name, Lanes: 4})
		if err != nil {
			t.Fatal(err)
		}
		run := func() (outs [][]float64, m *vm.Machine) {
			m = p.NewMachine()
			for i, x := range vmtest.Inputs(tp, 4, 1, false) {
				m.SetInput(i, x)
			}
			for i := range tp.Outputs {
				outs = append(outs, make([]float64, p.OutputSize(i)))
				m.SetOutput(i, outs[i], false)
			}
			m.Run()
			return outs, m
		}
		want, _ := run()
		got, m := run()
		stop := make(chan bool)
		go func() {
			for {
				select {
				case <-stop:
					return
				default:
					runtime.GC()
				}
			}
		}()
		for end := time.Now().Add(100 * time.Millisecond); time.Now().Before(end); {
			for range 100 {
				m.Run()
			}
			for i := range want {
				for k := range want[i] {
					if !vmtest.Same(got[i][k], want[i][k]) {
						t.Fatalf("%s: element %d of output %d is %v, want %v", tp.Name, k, i, got[i][k], want[i][k])
					}
				}
			}
		}
		close(stop)
	}
}

// TestPlaces checks that Places which cannot be meant are refused.
func TestPlaces(t *testing.T) {
	tp := parse(t, ratesOfOscillator)
	in, out, _ := places(tp, 1)
	for name, opts := range map[string]vm.Options{
		"both directions": {Inputs: in, Outputs: []vm.Place{in[0], out[1]}},
		"too few":         {Inputs: in[:1], Outputs: out},
		"negative":        {Inputs: in, Outputs: []vm.Place{{Vector: -1}, out[1]}},
		"no backend":      {Backend: "vax"},
	} {
		if _, err := vm.CompileOn(tp, opts); err == nil {
			t.Errorf("%s: compiles", name)
		}
	}
}

// TestOverlapOfVectors adds to a vector that inputs are read from, and overwrites such a vector.
func TestOverlapOfVectors(t *testing.T) {
	tp := parse(t, "tape move\n in a [2]\n in b [2]\n %2 = add a b : [2]\n %3 = mul a b : [2]\n out s %2\n out p %3\n"+
		" out c b\n")
	for _, b := range backends() {
		p, err := vm.CompileOn(tp, vm.Options{
			Backend: b,
			Inputs:  []vm.Place{{Vector: 0}, {Vector: 0, Offset: 2}},
			Outputs: []vm.Place{{Vector: 1, Add: true}, {Vector: 1, Offset: 2}, {Vector: 2}},
		})
		if err != nil {
			t.Fatal(err)
		}
		m := p.NewMachine()
		x, y := []float64{1, 2, 10, 20}, []float64{0, 0}
		m.SetVector(0, x)
		m.SetVector(1, x)
		m.SetVector(2, y)
		for i, want := range [][]float64{{12, 24, 10, 40, 10, 20}, {34, 88, 120, 960, 10, 40}} {
			m.Run()
			for k, v := range append(append([]float64{}, x...), y...) {
				if v != want[k] {
					t.Errorf("%s, run %d: element %d is %v, want %v", b, i, k, v, want[k])
				}
			}
		}
		// Now with memory of their own.
		z := []float64{math.Copysign(0, -1), 1, 5, 6}
		copy(x, []float64{math.Copysign(0, -1), 2, math.Copysign(0, -1), 20})
		m.SetVector(1, z)
		m.Run()
		if !math.Signbit(z[0]) || z[1] != 23 || z[2] != 0 || z[3] != 40 {
			t.Errorf("%s: %v", b, z)
		}
	}
}
