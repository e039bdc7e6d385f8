package native_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/vm/internal/kernel"
	"odes.dev/odes/vm/internal/native"
)

func targets(t *testing.T) []native.Target {
	if !machine.Available() {
		t.Skip("code cannot be made here")
	}
	if machine.Supports512() {
		return []native.Target{native.AVX2, native.AVX512}
	}
	return []native.Target{native.AVX2}
}

// run runs a block on a table of slices.
func run(t *testing.T, c *native.Code, at int, table [][]float64) {
	t.Helper()
	m, err := c.Map()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	code := []kernel.Record{{}, kernel.End}
	code[0].SetHandler(m.Address(at))
	kernel.Enter(code, 0, table)
}

var specials = []float64{
	0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -1e-310, 1e308,
	-1e308, 0.5, -0.5, 2.5, -1.5,
}

func same(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

// all returns the operations that blocks have.
func all() (ops []simd.Op) {
	for op := simd.Copy; op <= simd.FMA; op++ {
		if native.Can(op) {
			ops = append(ops, op)
		}
	}
	return ops
}

// apply is the definition of an operation.
func apply(op simd.Op, x [][]float64) []float64 {
	out := make([]float64, len(x[0]))
	switch op.Arity() {
	case 1:
		simd.Unary(op, out, x[0])
	case 2:
		simd.Binary(op, out, x[0], x[1])
	default:
		simd.Ternary(op, out, x[0], x[1], x[2])
	}
	return out
}

// trial is a random body with the results that it should have.
type trial struct {
	r      *elem.Rand
	b      *native.Body
	widths []int
	values [5][]native.Value // by index of the width
	want   map[native.Value][]float64
	memory [][]float64 // the expected contents
	table  [][]float64
	slices int
}

func (x *trial) below(n int) int { return int(x.r.Uint64() % uint64(n)) }

func (x *trial) number() float64 {
	if x.below(4) == 0 {
		return specials[x.below(len(specials))]
	}
	return x.r.Norm()
}

// value returns a value of a given width, an existing one or a new one.
func (x *trial) value(k int) native.Value {
	w := x.widths[k]
	old := x.values[k]
	if len(old) > 0 && x.below(3) > 0 {
		if x.below(2) == 0 {
			return old[x.below(len(old))]
		}
		return old[len(old)-1-x.below(min(len(old), 5))]
	}
	switch kind := x.below(8); {
	case kind < 3:
		at := x.place(w)
		v := x.b.Load(w, at)
		x.want[v] = append([]float64(nil), x.memory[at.Slice][at.Off:][:w]...)
		return v
	case kind == 3:
		at := x.place(1)
		v := x.b.Splat(w, at)
		x.want[v] = repeat(x.memory[at.Slice][at.Off], w)
		return v
	case kind == 4:
		n := x.number()
		v := x.b.Const(w, n)
		x.want[v] = repeat(n, w)
		return v
	case kind == 5:
		var n []float64
		for range w {
			n = append(n, x.number())
		}
		v := x.b.Const(w, n...)
		x.want[v] = n
		return v
	case k > 0 && len(x.values[0]) > 0:
		s := x.value(0)
		v := x.b.Dup(w, s)
		x.want[v] = repeat(x.want[s][0], w)
		return v
	}
	return x.operation(k)
}

func repeat(x float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = x
	}
	return out
}

func (x *trial) operation(k int) native.Value {
	ops := all()
	op := ops[x.below(len(ops))]
	if x.below(2) == 0 {
		op = []simd.Op{simd.Add, simd.Sub, simd.Mul, simd.FMA, simd.Neg}[x.below(5)]
	}
	args := make([]native.Value, op.Arity())
	in := make([][]float64, op.Arity())
	for i := range args {
		args[i] = x.value(k)
		in[i] = x.want[args[i]]
	}
	v := x.b.Apply(op, args...)
	x.want[v] = apply(op, in)
	x.values[k] = append(x.values[k], v)
	return v
}

const sliceLength = 40

func (x *trial) place(n int) native.Place {
	return native.Place{Slice: x.below(x.slices), Off: x.below(sliceLength - n)}
}

// step appends a store, an accumulation or an operation.
func (x *trial) step() {
	k := x.below(len(x.widths))
	switch x.below(6) {
	case 0:
		v, at := x.value(k), x.place(x.widths[k])
		x.b.Store(at, v)
		copy(x.memory[at.Slice][at.Off:], x.want[v])
	case 1:
		v, at := x.value(k), x.place(x.widths[k])
		x.b.Accumulate(at, v)
		for i, y := range x.want[v] {
			x.memory[at.Slice][at.Off+i] += y
		}
	default:
		x.operation(k)
	}
}

func (x *trial) compare(t *testing.T, name string) {
	t.Helper()
	for s := range x.slices {
		for i, want := range x.memory[s] {
			if got := x.table[s][i]; !same(got, want) {
				t.Fatalf("%s: element %d of slice %d is %v (%x), want %v (%x)", name, i, s, got, math.Float64bits(got),
					want, math.Float64bits(want))
			}
		}
	}
}

func newTrial(seed uint64, target native.Target, slices int) *trial {
	x := &trial{
		r: elem.NewRand(seed), b: native.NewBody(), widths: []int{1, 2, 4}, want: map[native.Value][]float64{},
		slices: slices,
	}
	if target.Widest() == 8 {
		x.widths = append(x.widths, 8)
	}
	for range slices {
		s := make([]float64, sliceLength)
		for i := range s {
			s[i] = x.number()
		}
		x.memory = append(x.memory, s)
		x.table = append(x.table, append([]float64(nil), s...))
	}
	return x
}

// TestRandomBodies runs bodies of all operations, widths and kinds of operands.
func TestRandomBodies(t *testing.T) {
	for _, target := range targets(t) {
		for seed := range uint64(600) {
			slices := []int{1, 3, 9, 14}[seed%4]
			x := newTrial(seed+1, target, slices)
			for range []int{3, 20, 100, 400}[seed/4%4] {
				x.step()
			}
			c := native.NewCode(target)
			c.Block(native.NewBody(), slices) // a block without operations
			at := c.Block(x.b, slices)
			x.table = append(x.table, make([]float64, c.Spill()))
			run(t, c, at, x.table)
			x.compare(t, fmt.Sprintf("target %d, seed %d, %d operations, %d spills", target, seed, x.b.Len(),
				c.Stats().Spills))
		}
	}
}

// TestFreedBodies writes bodies in the memory of others, in two orders. The code must be the same.
func TestFreedBodies(t *testing.T) {
	for _, target := range targets(t) {
		code := func(seed uint64) string {
			x := newTrial(seed, target, 9)
			defer x.b.Free()
			for range 3 + 37*(seed%5) {
				x.step()
			}
			c := native.NewCode(target)
			c.Block(x.b, 9)
			return string(c.Code)
		}
		var first [60]string
		for seed := range first {
			first[seed] = code(uint64(seed))
		}
		for seed := len(first) - 1; seed >= 0; seed-- {
			if code(uint64(seed)) != first[seed] {
				t.Errorf("target %d, seed %d: the code depends on the body before", target, seed)
			}
		}
	}
}

// TestOperations runs each operation on all pairs of special values, in all widths.
func TestOperations(t *testing.T) {
	n := len(specials)
	for _, target := range targets(t) {
		for _, op := range all() {
			var in [][]float64
			for k := range op.Arity() {
				x := make([]float64, n*n)
				for i := range x {
					x[i] = specials[[]int{i % n, i / n, (i + i/n) % n}[k]]
				}
				in = append(in, x)
			}
			want := apply(op, in)
			for w := 1; w <= target.Widest(); w *= 2 {
				got := make([]float64, n*n)
				b := native.NewBody()
				for i := 0; i+w <= n*n; i += w {
					var args []native.Value
					for k := range in {
						args = append(args, b.Load(w, native.Place{Slice: k, Off: i}))
					}
					b.Store(native.Place{Slice: len(in), Off: i}, b.Apply(op, args...))
				}
				c := native.NewCode(target)
				at := c.Block(b, len(in)+1)
				run(t, c, at, append(append([][]float64{}, in...), got, make([]float64, c.Spill())))
				for i := range n * n / w * w {
					if !same(got[i], want[i]) {
						t.Errorf("target %d, %v in width %d, operands %d: %v, want %v", target, op, w, i, got[i],
							want[i])
					}
				}
			}
		}
	}
}
