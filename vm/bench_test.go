package vm_test

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// pullOfOscillator is the transpose of a two-state oscillator's rates.
const pullOfOscillator = `tape vdp.vjp
 in y.v
 in p.mu
 in y.x
 in bar.dy.x lane
 in bar.dy.v lane
 %5 = const 1
 %6 = sqr y.x
 %7 = sub %5 %6
 %8 = mul %7 y.v
 %9 = sub %8 y.x
 %10 = mul bar.dy.v %9 : lane
 %11 = mul bar.dy.v p.mu : lane
 %12 = mul %11 y.v : lane
 %13 = mul %11 %7 : lane
 %14 = neg %12 : lane
 %15 = const 2
 %16 = mul %15 y.x
 %17 = mul %14 %16 : lane
 %18 = add bar.dy.x %13 : lane
 %19 = sub %17 %11 : lane
 out bar.y.v %18
 out bar.p.mu %10
 out bar.y.x %19
`

const ratesOfOscillator = `tape vdp
 in y.v
 in p.mu
 in y.x
 %3 = const 1
 %4 = sqr y.x
 %5 = sub %3 %4
 %6 = mul %5 y.v
 %7 = sub %6 y.x
 %8 = mul p.mu %7
 out dy.x y.v
 out dy.v %8
`

// places puts inputs and outputs into vectors by the part of their name before the last dot, as the
// caller of the machine does. Outputs of parameters are added.
func places(t *tape.Tape, lanes int) (in, out []vm.Place, sizes []int) {
	lane := tape.PerLane(t)
	index := map[string]int{}
	put := func(kind, name string, v tape.Value) vm.Place {
		head := name
		if i := strings.LastIndex(name, "."); i >= 0 {
			head = name[:i]
		}
		k, ok := index[kind+head]
		if !ok {
			k = len(sizes)
			index[kind+head] = k
			sizes = append(sizes, 0)
		}
		n := t.Shape(v).Size()
		if lane[v] {
			n *= lanes
		}
		p := vm.Place{Vector: k, Offset: sizes[k], Constant: kind == "in" && head == "p", Add: head == "bar.p"}
		sizes[k] += n
		return p
	}
	for i, x := range t.Inputs {
		in = append(in, put("in", x.Name, tape.Value(i)))
	}
	for _, o := range t.Outputs {
		out = append(out, put("out", o.Name, o.Value))
	}
	return in, out, sizes
}

// BenchmarkRun runs tapes as a solver does: all vectors but those of parameters are bound anew for
// every run.
func BenchmarkRun(b *testing.B) {
	for _, c := range []struct {
		name  string
		text  string
		lanes []int
	}{
		{"vdp", ratesOfOscillator, []int{1}},
		{"vdpvjp", pullOfOscillator, []int{1, 2, 4, 8}},
		{"glv10", glvRates(10), []int{1}},
		{"glv10vjp", glvPull(10), []int{1, 4, 8}},
		{"glv200", glvRates(200), []int{1}},
		{"glv200vjp", glvPull(200), []int{1, 4, 8}},
		{"heat100", heat(100), []int{1}},
		{"heat512", heat(512), []int{1}},
	} {
		for _, lanes := range c.lanes {
			for _, backend := range backends() {
				b.Run(fmt.Sprintf("tape=%s/backend=%s/lanes=%d", c.name, backend, lanes), func(b *testing.B) {
					tp := parse(b, c.text)
					in, out, sizes := places(tp, lanes)
					p, err := vm.CompileOn(tp, vm.Options{Lanes: lanes, Backend: backend, Inputs: in, Outputs: out})
					if err != nil {
						b.Fatal(err)
					}
					m := p.NewMachine()
					r := elem.NewRand(1)
					var vectors [2][][]float64
					for k := range vectors {
						for v, n := range sizes {
							x := make([]float64, n)
							for i := range x {
								x[i] = r.Norm()
							}
							if k == 1 && constant(in, out, v) {
								x = vectors[0][v]
							}
							vectors[k] = append(vectors[k], x)
						}
					}
					b.ReportAllocs()
					k := 0
					for b.Loop() {
						for v, x := range vectors[k] {
							m.SetVector(v, x)
						}
						k = 1 - k
						m.Run()
					}
					b.ReportMetric(float64(p.Stats().Flops)*float64(b.N)/float64(b.Elapsed().Nanoseconds()), "gflop/s")
				})
			}
		}
	}
}

// constant reports whether vector v holds parameters.
func constant(in, out []vm.Place, v int) bool {
	for _, p := range append(append([]vm.Place{}, in...), out...) {
		if p.Vector == v && (p.Constant || p.Add) {
			return true
		}
	}
	return false
}

func glvRates(n int) string {
	return strings.ReplaceAll(`tape rates
 in y.x [N]
 in p.r [N]
 in p.A [N N]
 %3 = matmul p.A y.x : [N]
 %4 = add p.r %3 : [N]
 %5 = mul y.x %4 : [N]
 out dy.x %5
`, "N", fmt.Sprint(n))
}

// glvPull is the transpose of glvRates with its gradients by parameters deferred.
func glvPull(n int) string {
	return strings.ReplaceAll(`tape pull
 in y.x [N]
 in p.r [N]
 in p.A [N N]
 in bar.dy.x [N] lane
 %4 = matmul p.A y.x : [N]
 %5 = add p.r %4 : [N]
 %6 = mul bar.dy.x %5 : [N] lane
 %7 = mul bar.dy.x y.x : [N] lane
 %8 = matmul p.A %7 ta : [N] lane
 %9 = add %6 %8 : [N] lane
 out bar.y.x %9
 out factor.left %7
 out factor.right y.x
`, "N", fmt.Sprint(n))
}

// BenchmarkOp runs one elementwise op on a long array.
func BenchmarkOp(b *testing.B) {
	for _, op := range []tape.Op{tape.Add, tape.Mul, tape.Exp, tape.Sin} {
		for _, backend := range backends() {
			b.Run(fmt.Sprintf("op=%s/backend=%s/n=4096", op, backend), func(b *testing.B) {
				t := tape.NewBuilderWith("one", 0)
				x := t.Input("x", tape.Shape{4096}, false)
				t.Output("y", t.Emit(tape.Instr{Op: op, Args: []tape.Value{x, x}[:op.Row().Arity]}))
				tp := t.Tape()
				p, err := vm.CompileOn(tp, vm.Options{Backend: backend})
				if err != nil {
					b.Fatal(err)
				}
				m := p.NewMachine()
				m.SetInput(0, vmtest.Inputs(tp, 1, 1, false)[0])
				m.SetOutput(0, make([]float64, 4096), false)
				for b.Loop() {
					m.Run()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/4096, "ns/element")
			})
		}
	}
}
