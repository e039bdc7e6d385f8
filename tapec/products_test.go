package tapec

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
)

// exactPlaces requires that there is an entry by the first input exactly where the derivative is not zero, and that
// both ways to make entries give the derivative. Numbers in tp must be positive, so that nothing cancels.
func exactPlaces(t *testing.T, what string, tp *tape.Tape) {
	t.Helper()
	inputs := tapetest.Fill(tp, 7)
	for _, x := range inputs {
		for i := range x {
			x[i] = 1 + math.Abs(x[i])
		}
	}
	of, wrt, rows, cols := places(tp)
	want := columnsByComplexStep(t, tp, inputs)
	for _, l := range []limits{{always: 1 << 16, factor: 2, most: 1 << 27}, {most: 1}} {
		j, err := l.jacobian(tp, of, wrt)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		checkPlaces(t, j, rows, cols)
		checkEntries(t, tp, j, inputs, 1e-11)
		has := map[[2]int32]bool{}
		for e, r := range j.Rows {
			at := [2]int32{r, j.Cols[e]}
			if has[at] && !j.Direct {
				t.Fatalf("%s: two entries at %v\n%s", what, at, tp)
			}
			has[at] = true
			if c := int(j.Cols[e]); c < tp.Inputs[0].Shape.Size() && want[c][r] == 0 {
				t.Fatalf("%s, direct is %v: an entry at (%d, %d), where nothing is\n%s", what, j.Direct, r, c, tp)
			}
		}
		for c, column := range want {
			for r, x := range column {
				if x != 0 && !has[[2]int32{int32(r), int32(c)}] {
					t.Fatalf("%s, direct is %v: no entry at (%d, %d)\n%s", what, j.Direct, r, c, tp)
				}
			}
		}
	}
}

// makers make an array of a shape from the input x, so that its elements depend on x in various ways.
var makers = []struct {
	name string
	make func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value
}{
	{"whole", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		return b.Reshape(b.Slice(x, []int{1}, tape.Shape{shape.Size()}, nil), shape)
	}},
	{"every other", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		return b.Reshape(b.Slice(x, []int{0}, tape.Shape{shape.Size()}, []int{2}), shape)
	}},
	{"any order", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		index := make([]int, shape.Size())
		for i := range index {
			index[i] = (i*i + 3) % 7
		}
		return b.Reshape(b.Take(x, 0, index), shape)
	}},
	{"one number", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		return b.Broadcast(b.Element(x, 2), shape)
	}},
	{"factors of one", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		return b.Mul(b.Const(shape, count1(shape.Size())...), b.Element(x, 2))
	}},
	{"equal along the first axis", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		part := append(tape.Shape{1}, shape[1:]...)
		return b.Broadcast(b.Reshape(b.Slice(x, []int{0}, tape.Shape{part.Size()}, nil), part), shape)
	}},
	{"equal along the last axis", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		part := append(shape[:len(shape)-1:len(shape)-1], 1)
		return b.Broadcast(b.Reshape(b.Slice(x, []int{0}, tape.Shape{part.Size()}, nil), part), shape)
	}},
	{"a window of one", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		part, start := make(tape.Shape, len(shape)), make([]int, len(shape))
		for k, n := range shape {
			part[k], start[k] = n-1, 1
		}
		return b.Pad(b.Broadcast(b.Element(x, 1), part), shape, start, nil)
	}},
	{"a window", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		part, start := make(tape.Shape, len(shape)), make([]int, len(shape))
		for k, n := range shape {
			part[k], start[k] = n-1, 1
		}
		return b.Pad(b.Reshape(b.Slice(x, []int{1}, tape.Shape{part.Size()}, nil), part), shape, start, nil)
	}},
	{"a coarse grid", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		part, step := make(tape.Shape, len(shape)), make([]int, len(shape))
		for k, n := range shape {
			part[k], step[k] = (n+1)/2, 2
		}
		coarse := b.Reshape(b.Slice(x, []int{1}, tape.Shape{part.Size()}, nil), part)
		return b.Pad(coarse, shape, make([]int, len(shape)), step)
	}},
	{"a coarse grid of one", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		part, step := make(tape.Shape, len(shape)), make([]int, len(shape))
		for k, n := range shape {
			part[k], step[k] = (n+1)/2, 2
		}
		return b.Pad(b.Broadcast(b.Element(x, 1), part), shape, make([]int, len(shape)), step)
	}},
	{"a diagonal", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		if len(shape) == 1 {
			return b.Slice(x, []int{0}, shape, nil)
		}
		last := shape[len(shape)-1]
		line := b.Slice(x, []int{0}, tape.Shape{min(shape[0], last)}, nil)
		return b.Reshape(b.Pad(line, tape.Shape{shape.Size()}, []int{0}, []int{last + 1}), shape)
	}},
	{"sums", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		n := tape.Shape{shape.Size()}
		shifted := b.Add(b.Slice(x, []int{0}, n, nil), b.Slice(x, []int{2}, n, nil))
		return b.Reshape(b.Add(shifted, b.Element(x, 0)), shape)
	}},
	{"sums at one place", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		index := make([]int, shape.Size())
		for i := range index {
			index[i] = i - i%2
		}
		n := tape.Shape{shape.Size()}
		return b.Reshape(b.Add(b.Slice(x, []int{0}, n, nil), b.Mul(b.Take(x, 0, index), b.Scalar(3))), shape)
	}},
	{"squares", func(b *tape.Builder, x tape.Value, shape tape.Shape) tape.Value {
		return b.Reshape(b.Op1(tape.Sqr, b.Slice(x, []int{1}, tape.Shape{shape.Size()}, nil)), shape)
	}},
}

// count1 counts from 1.
func count1(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = float64(i + 1)
	}
	return out
}

// TestProducts differentiates products of matrices and vectors, transposed and not, by an operand that depends on x in
// all ways of makers. The other operand is a variable, or a constant with zeros, of which a row and a column are zero.
func TestProducts(t *testing.T) {
	const n, inner, outer = 3, 4, 2
	r := elem.NewRand(3)
	for k := range 2 { // the operand that depends on x
		for flags := range 4 {
			for vectors := range 4 {
				for _, constant := range []bool{false, true} {
					for _, m := range makers {
						ta, tb := flags&1 > 0, flags&2 > 0
						shapes := [2]tape.Shape{{n, inner}, {inner, outer}}
						for i, flip := range [2]bool{ta, tb} {
							if vectors>>i&1 > 0 {
								shapes[i] = tape.Shape{inner}
							} else if flip {
								shapes[i][0], shapes[i][1] = shapes[i][1], shapes[i][0]
							}
						}
						if vectors == 3 && flags > 0 || vectors&1 > 0 && ta || vectors&2 > 0 && tb {
							continue
						}
						b := tape.NewBuilder("product")
						x := b.Input("x", tape.Shape{25}, false)
						var args [2]tape.Value
						args[k] = m.make(b, x, shapes[k])
						other := shapes[1-k]
						if constant {
							data := make([]float64, other.Size())
							width := other[len(other)-1]
							for i := range data {
								if i/width != 1 && i%width != 1 && r.Uint64()%3 > 0 {
									data[i] = 1 + r.Float64()
								}
							}
							data[len(data)-1] = 2
							args[1-k] = b.Const(other, data...)
						} else {
							args[1-k] = b.Input("y", other, false)
						}
						if vectors == 3 {
							b.Output("z", b.Dot(args[0], args[1]))
						} else {
							b.Output("z", b.MatMul(args[0], args[1], ta, tb))
						}
						what := fmt.Sprintf("%s, operand %d, flags %d, vectors %d, constant %v", m.name, k, flags,
							vectors, constant)
						exactPlaces(t, what, b.Tape())
					}
				}
			}
		}
	}
}

// TestDenseProducts: entries that are many and share few columns are multiplied as a matrix.
func TestDenseProducts(t *testing.T) {
	const n, inner = 5, 8
	for _, outer := range []int{0, 12} {
		b := tape.NewBuilder("dense")
		x := b.Input("x", tape.Shape{3}, false)
		shape := tape.Shape{inner, outer}
		if outer == 0 {
			shape = tape.Shape{10 * inner}
		}
		index := make([]int, shape.Size())
		for i := range index {
			index[i] = (i*i + i/5) % 3
		}
		v := b.Op1(tape.Sqr, b.Reshape(b.Take(x, 0, index), shape))
		y := b.Input("y", tape.Shape{n, shape[0]}, false)
		b.Output("z", b.MatMul(y, v, false, false))
		exactPlaces(t, fmt.Sprint(shape), b.Tape())
	}
}

// TestSamePlaces: terms whose places differ in any way are not added, even if their hashes were the same.
func TestSamePlaces(t *testing.T) {
	make := func(shape tape.Shape, offset int, cols ...int32) *term {
		r := inOrder(shape)
		r.offset = offset
		return &term{shape: shape, rows: r, cols: newColumns(cols)}
	}
	one := make(tape.Shape{2, 3}, 0, 0, 1, 2, 3, 4, 5)
	listed := make(tape.Shape{2, 3}, 0, 0, 1, 2, 3, 4, 5)
	listed.rows = rowsAt([]int32{0, 1, 2, 3, 4, 5})
	strided := make(tape.Shape{2, 3}, 0, 0, 1, 2, 3, 4, 5)
	strided.rows.by = []int{6, 2}
	other := make(tape.Shape{2, 3}, 0, 0, 1, 2, 3, 4, 5)
	other.rows = rowsAt([]int32{0, 1, 2, 3, 4, 6})
	all := []*term{
		one, listed, strided, other, make(tape.Shape{3, 2}, 0, 0, 1, 2, 3, 4, 5),
		make(tape.Shape{2, 3}, 1, 0, 1, 2, 3, 4, 5), make(tape.Shape{2, 3}, 0, 0, 1, 2, 3, 5, 4),
	}
	for i, x := range all {
		for k, y := range all {
			if got := samePlaces(x, y); got != (i == k) {
				t.Errorf("terms %d and %d: %v", i, k, got)
			}
			if (x.hash() == y.hash()) != (i == k) {
				t.Errorf("hashes of terms %d and %d", i, k)
			}
		}
	}
	if again := make(tape.Shape{2, 3}, 0, 0, 1, 2, 3, 4, 5); !samePlaces(one, again) || one.hash() != again.hash() {
		t.Error("terms of the same places are not")
	}
}

// TestTooManyEntries: a Jacobian that would take gigabytes is refused before it is begun.
func TestTooManyEntries(t *testing.T) {
	const n = 6000
	b := tape.NewBuilder("large")
	x := b.Input("x", tape.Shape{n}, false)
	b.Output("y", b.Outer(x, x))
	var many *TooManyEntriesError
	_, err := NewJacobian(b.Tape(), []Placed{{"y", 0}}, []Placed{{"x", 0}})
	if !errors.As(err, &many) || many.Entries != 2*n*n {
		t.Errorf("%v", err)
	}
}

// TestMoves differentiates chains of operations that move elements and add them up.
func TestMoves(t *testing.T) {
	r := elem.NewRand(6)
	pick := func(n int) int { return int(r.Uint64() % uint64(n)) }
	for range 400 {
		b := tape.NewBuilder("moves")
		x := b.Input("x", tape.Shape{25}, false)
		shape := tape.Shape{3, 4}
		if pick(2) == 0 {
			shape = tape.Shape{2, 2, 3}
		}
		v := makers[pick(len(makers))].make(b, x, shape[:len(shape):len(shape)])
		for range 1 + pick(4) {
			shape := b.Shape(v)
			if len(shape) == 0 || shape.Size() > 60 {
				break
			}
			axis := pick(len(shape))
			switch pick(8) {
			case 0:
				perm := count(len(shape))
				perm[0], perm[axis] = perm[axis], perm[0]
				v = b.Transpose(v, perm...)
			case 1:
				if len(shape) > 1 {
					v = b.SumAxes(v, axis)
				}
			case 2:
				start, size, step := make([]int, len(shape)), make(tape.Shape, len(shape)), make([]int, len(shape))
				for k, n := range shape {
					start[k], step[k] = pick(n), 1+pick(2)
					size[k] = 1 + pick((n-start[k]+step[k]-1)/step[k])
				}
				v = b.Slice(v, start, size, step)
			case 3:
				start, size, step := make([]int, len(shape)), make(tape.Shape, len(shape)), make([]int, len(shape))
				for k, n := range shape {
					start[k], step[k] = pick(2), 1+pick(2)
					size[k] = start[k] + (n-1)*step[k] + 1 + pick(2)
				}
				v = b.Pad(v, size, start, step)
			case 4:
				v = b.Reshape(v, tape.Shape{shape.Size()})
			case 5:
				index := make([]int, 1+pick(4))
				for i := range index {
					index[i] = pick(shape[axis])
				}
				v = b.Take(v, axis, index)
			case 6:
				index := make([]int, shape[axis])
				for i := range index {
					index[i] = pick(3)
				}
				v = b.Put(v, axis, index, 3)
			case 7:
				wide := append(tape.Shape{}, shape...)
				wide[axis] = 1
				v = b.Add(v, b.Broadcast(b.Slice(v, make([]int, len(shape)), wide, nil), shape))
			}
		}
		b.Output("z", v)
		exactPlaces(t, "moves", b.Tape())
	}
}
