package vm_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

var (
	hostileFirst = flag.Int("hostile-first", 1, "the first random tape of TestHostile")
	hostileTapes = flag.Int("hostile-tapes", 250, "how many random tapes TestHostile runs")
)

// trial is one way to run a tape. Inputs and outputs lie in vectors of their own or a few together,
// outputs are stored or added, and the numbers include those that arithmetic treats specially.
type trial struct {
	t     *tape.Tape
	lanes int
	seed  uint64
	few   bool // a few vectors for all inputs and outputs
	end   bool // guard pages lie behind vectors, else in front of them
}

// run compares a backend with the definition, in guarded memory, twice.
func (c trial) run(t *testing.T, backend string) error {
	var mem guard
	defer mem.free(t)
	r := elem.NewRand(c.seed)
	n := func(k int) int { return int(r.Uint64() % uint64(k)) }
	perLane := tape.PerLane(c.t)
	size := func(v tape.Value) int {
		if perLane[v] {
			return c.t.Shape(v).Size() * c.lanes
		}
		return c.t.Shape(v).Size()
	}
	ins, outs := make([]vm.Place, len(c.t.Inputs)), make([]vm.Place, len(c.t.Outputs))
	sizes := make([]int, len(ins)+len(outs))
	if c.few {
		sizes = make([]int, 4)
	}
	place := func(first, i, size int) vm.Place {
		at := vm.Place{Vector: first + i}
		if c.few {
			at = vm.Place{Vector: first + n(2)}
			at.Offset = sizes[at.Vector] + n(3)
		}
		sizes[at.Vector] = at.Offset + size
		return at
	}
	for i := range ins {
		ins[i] = place(0, i, size(tape.Value(i)))
		ins[i].Constant = c.few && n(3) == 0
	}
	add := n(2) == 0
	for i, o := range c.t.Outputs {
		first := len(ins)
		if c.few {
			first = 2
		}
		outs[i] = place(first, i, size(o.Value))
		outs[i].Add = c.few && add && n(3) > 0
	}
	opts := vm.Options{Lanes: c.lanes, Backend: backend}
	if c.few {
		opts.Inputs, opts.Outputs = slices.Clone(ins), slices.Clone(outs)
	}
	p, err := vm.CompileOn(c.t, opts)
	if err != nil {
		return err
	}
	m, reference := p.NewMachine(), tape.NewEvaluator[float64](c.t)
	special := n(3) == 0
	for round := range 2 {
		got, want := make([][]float64, len(sizes)), make([][]float64, len(sizes))
		for v, size := range sizes {
			got[v] = mem.floats(t, size, c.end)
			for i := range got[v] {
				if got[v][i] = r.Norm(); special && n(3) == 0 {
					got[v][i] = specials[n(len(specials))]
				}
			}
			want[v] = slices.Clone(got[v])
			if v < p.Vectors() && size > 0 {
				m.SetVector(v, got[v])
			}
		}
		for l := range c.lanes {
			for i, at := range ins {
				for k, x := 0, reference.Value(tape.Value(i)); k < len(x); k++ {
					j := k
					if perLane[i] {
						j = k*c.lanes + l
					}
					x[k] = got[at.Vector][at.Offset+j]
				}
			}
			reference.Run()
			for i, at := range outs {
				v := c.t.Outputs[i].Value
				for k, x := range reference.Value(v) {
					j := k
					if perLane[v] {
						j = k*c.lanes + l
					}
					if at.Add {
						x = got[at.Vector][at.Offset+j] + x
					}
					want[at.Vector][at.Offset+j] = x
				}
			}
		}
		if round == 1 {
			m.Refresh() // constant inputs have other numbers
		}
		m.Run()
		for v := range got {
			for i, x := range want[v] {
				if !vmtest.Same(got[v][i], x) {
					return fmt.Errorf("run %d, vector %d, element %d of %d is %v, want %v", round+1, v, i, len(want[v]),
						got[v][i], x)
				}
			}
		}
	}
	return nil
}

var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -1e-310, 1e308, -1e308,
	0.5, -0.5, 2.5, 1e16, 2, 3,
}

// TestHostile runs random tapes in memory where an access beyond a vector faults.
func TestHostile(t *testing.T) {
	first := int(seeds.Of(t, uint64(*hostileFirst)))
	for seed := first; seed < first+*hostileTapes; seed++ {
		g := newRandomTape(uint64(seed))
		c := trial{t: g.tape(), lanes: []int{1, 1, 2, 4, 8, g.between(1, 16)}[g.n(6)]}
		if err := tape.Check(c.t); err != nil {
			t.Fatal(seed, err)
		}
		for _, backend := range backends() {
			for variant := range 2 {
				c.seed, c.end, c.few = uint64(31*seed+variant), variant == 0, g.oneIn(2)
				if err := c.run(t, backend); err != nil {
					t.Fatalf("tape %d on %s, %d lanes, variant %d: %v\n%s", seed, backend, c.lanes, variant, err, c.t)
				}
			}
		}
	}
}

// TestSpills runs tapes of thousands of scalars that are read long after they were computed. They
// are more than there are registers for.
func TestSpills(t *testing.T) {
	for seed, count := range []int{300, 2000, 600} {
		g := newRandomTape(uint64(seed))
		for i := range g.between(5, 34) {
			g.pool = append(g.pool, g.b.Input(fmt.Sprint("i", i), tape.Shape{}, g.oneIn(2)))
		}
		x := g.b.Input("x", tape.Shape{60}, g.oneIn(2))
		for i := range 60 {
			g.pool = append(g.pool, g.b.Element(x, i))
		}
		for range count {
			in := tape.Instr{Op: inNative[g.n(len(inNative))]}
			for range in.Op.Row().Arity {
				v := g.pool[g.n(len(g.pool))]
				if g.oneIn(3) {
					v = g.pool[len(g.pool)-1-g.n(60)]
				}
				in.Args = append(in.Args, v)
			}
			if in.Op == tape.Powi {
				in.Attr.Power = g.between(-4, 4)
			}
			g.pool = append(g.pool, g.b.Emit(in))
		}
		for i := range 40 {
			g.b.Output(fmt.Sprint("o", i), g.pool[len(g.pool)-1-g.n(count)])
		}
		c := trial{t: g.b.Tape()}
		for _, c.lanes = range []int{1, 3, 8} {
			for _, backend := range backends() {
				for variant := range 2 {
					c.seed, c.end, c.few = uint64(seed+variant), variant == 0, variant == 1
					if err := c.run(t, backend); err != nil {
						t.Errorf("%d instructions on %s, %d lanes, variant %d: %v", count, backend, c.lanes, variant,
							err)
					}
				}
			}
		}
	}
}

// TestSharedInputs runs random tapes whose inputs overlap one another at any distance, and whose
// outputs begin where inputs do.
func TestSharedInputs(t *testing.T) {
	for seed := uint64(1001); seed < 1101; seed++ {
		g := newRandomTape(seed)
		tp, lanes := g.tape(), []int{1, 3, 4, 8}[g.n(4)]
		perLane := tape.PerLane(tp)
		size := func(v tape.Value) int {
			if perLane[v] {
				return tp.Shape(v).Size() * lanes
			}
			return tp.Shape(v).Size()
		}
		var want []float64
		for _, backend := range backends() {
			p, err := vm.CompileOn(tp, vm.Options{Backend: backend, Lanes: lanes})
			if err != nil {
				t.Fatal(err)
			}
			r := elem.NewRand(seed)
			m, end := p.NewMachine(), 0
			at := make([]int, len(tp.Inputs)+len(tp.Outputs))
			for i := range tp.Inputs {
				at[i] = int(r.Uint64() % 40)
				end = max(end, at[i]+size(tape.Value(i)))
			}
			next := 0
			for i, o := range tp.Outputs {
				at[len(tp.Inputs)+i] = next + int(r.Uint64()%20)
				next = at[len(tp.Inputs)+i] + size(o.Value)
			}
			mem := make([]float64, max(end, next))
			for i := range mem {
				mem[i] = r.Norm()
			}
			for i := range tp.Inputs {
				m.SetInput(i, mem[at[i]:at[i]+size(tape.Value(i))])
			}
			for i, o := range tp.Outputs {
				from := at[len(tp.Inputs)+i]
				m.SetOutput(i, mem[from:from+size(o.Value)], false)
			}
			m.Run()
			if want == nil {
				want = mem
			}
			for i, x := range want {
				if !vmtest.Same(mem[i], x) {
					t.Fatalf("tape %d on %s, %d lanes: element %d is %v, want %v\n%s", seed, backend, lanes, i, mem[i],
						x, tp)
				}
			}
		}
	}
}
