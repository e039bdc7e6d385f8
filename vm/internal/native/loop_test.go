package native_test

import (
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/vm/internal/kernel"
	"odes.dev/odes/vm/internal/native"
)

// operand is a value of a random loop.
type operand struct {
	pointer int // -1: none
	off     int
	splat   bool
	moves   bool
	fixed   bool
	x       float64 // of a constant

	op   simd.Op // of an operation
	args []int
}

// TestLoops runs random loops over random segments. They have more pointers, constants and values
// than there are registers.
func TestLoops(t *testing.T) {
	for _, target := range targets(t) {
		for seed := range uint64(60) {
			for _, width := range []int{4, 8} {
				if width > target.Widest() {
					continue
				}
				for _, rows := range []bool{false, true} {
					randomLoop(t, target, width, rows, seed)
				}
			}
		}
	}
}

func randomLoop(t *testing.T, target native.Target, width int, rows bool, seed uint64) {
	r := elem.NewRand(seed + 1)
	below := func(n int) int { return int(r.Uint64() % uint64(n)) }
	pointers, outs := 1+below(14), 1+below(12)
	l := &native.Loop{
		Body: native.NewBody(), Width: width, Pointers: pointers + outs,
		Rowwise: make([]bool, pointers+outs),
	}
	l.Lanes = width
	if rows {
		l.Lanes = min(width, []int{2, 4, 8}[below(3)])
	}
	l.Whole = rows && l.Lanes == width
	for i := range pointers {
		l.Rowwise[i] = rows && below(2) == 0
	}
	b := l.Body
	var ops []operand
	var values []native.Value
	for range 2 + below(30) {
		p := below(pointers)
		o := operand{pointer: p, off: below(3), moves: true, splat: l.Rowwise[p]}
		switch below(5) {
		case 0:
			o = operand{pointer: -1, x: specials[below(len(specials))]}
		case 1:
			o.splat, o.moves = true, false
		case 2:
			o = operand{pointer: 0, off: below(6), splat: true, fixed: true}
		}
		ops = append(ops, o)
		at := native.Place{Slice: o.pointer, Off: o.off, Moves: o.moves}
		switch {
		case o.fixed:
			values = append(values, b.Splat(native.Wide, native.Place{Slice: native.Fixed, Off: o.off}))
		case o.pointer < 0:
			values = append(values, b.Const(native.Wide, o.x))
		case o.splat:
			values = append(values, b.Splat(native.Wide, at))
		default:
			values = append(values, b.Load(native.Wide, at))
		}
	}
	list := all()
	for range 1 + below(120) {
		op := list[below(len(list))]
		o := operand{pointer: -1, op: op}
		var x []native.Value
		for range op.Arity() {
			k := below(len(values))
			if below(2) == 0 {
				k = len(values) - 1 - below(min(len(values), 5))
			}
			o.args = append(o.args, k)
			x = append(x, values[k])
		}
		ops, values = append(ops, o), append(values, b.Apply(op, x...))
	}
	var stored []int
	for i := range outs {
		k := len(values) - 1 - below(min(len(values), 12))
		stored = append(stored, k)
		b.Store(native.Place{Slice: pointers + i, Moves: true}, values[k])
	}

	const size = 700
	table := make([][]float64, 1+pointers+outs)
	for i := range table {
		table[i] = make([]float64, size)
		for k := range table[i] {
			table[i][k] = r.Norm()
			if below(6) == 0 {
				table[i][k] = specials[below(len(specials))]
			}
		}
	}
	want := make([][]float64, len(table))
	for i := range table {
		want[i] = append([]float64(nil), table[i]...)
	}
	var segments []uint32
	element := 0
	for range 1 + below(6) {
		n := 1 + below(25)
		if rows {
			n = l.Lanes * (1 + below(9))
		}
		segments = append(segments, uint32(n))
		starts := make([]int, pointers+outs)
		for p := range starts {
			starts[p] = below(size - 100)
			if p >= pointers {
				starts[p] = element
			}
			segments = append(segments, uint32(24*(1+p)), uint32(8*starts[p]))
		}
		for e := range n {
			got := make([]float64, len(ops))
			for i, o := range ops {
				switch {
				case o.fixed:
					got[i] = table[0][o.off]
				case o.pointer >= 0:
					k := starts[o.pointer] + o.off
					if o.moves && l.Rowwise[o.pointer] {
						k += e / l.Lanes
					} else if o.moves {
						k += e
					}
					got[i] = table[1+o.pointer][k]
				case o.args == nil:
					got[i] = o.x
				default:
					var x [][]float64
					for _, a := range o.args {
						x = append(x, []float64{got[a]})
					}
					got[i] = apply(o.op, x)[0]
				}
			}
			for i, k := range stored {
				want[1+pointers+i][element+e] = got[k]
			}
		}
		element += n
	}
	segments = append(segments, 0)

	c := native.NewCode(target)
	at := c.Loop(l, len(table))
	m, err := c.Map()
	if err != nil {
		t.Fatal(err)
	}
	defer m.Free()
	table = append(table, make([]float64, c.Spill()))
	code := []kernel.Record{{}, kernel.End}
	code[0].SetHandler(m.Address(at))
	code[0].SetList(segments)
	kernel.Enter(code, 0, table)
	for i := range want {
		for k, x := range want[i] {
			if !same(table[i][k], x) {
				t.Fatalf("target %d, width %d, rows %v, seed %d, slice %d of %d+%d, element %d: %v, not %v", target,
					width, rows, seed, i, pointers, outs, k, table[i][k], fmt.Sprint(x, math.Float64bits(x)))
			}
		}
	}
}
