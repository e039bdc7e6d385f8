package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// regular says how the entries of a term lie in a value with axes: entry i belongs to the element with index
// start[a] + i[k]·step[k] on each axis a = axis[k]. Axis is -1 where all entries along k belong to the same elements.
type regular struct {
	start      []int
	axis, step []int
}

// regular returns how the entries of t lie in a value of that shape, if they do so regularly.
func (t *term) regular(shape tape.Shape) (r regular, ok bool) {
	if t.rows.at != nil {
		return r, false
	}
	st := shape.Strides()
	r.start = make([]int, len(shape))
	rest := t.rows.offset
	for a, s := range st {
		r.start[a] = rest / s
		rest %= s
	}
	r.axis, r.step = make([]int, len(t.shape)), make([]int, len(t.shape))
	for k, by := range t.rows.by {
		r.axis[k] = -1
		if t.shape[k] == 1 || by == 0 {
			continue
		}
		for a, s := range st {
			if shape[a] > 1 && by%s == 0 && r.start[a]+by/s*(t.shape[k]-1) < shape[a] {
				r.axis[k], r.step[k] = a, by/s
				break
			}
		}
		if r.axis[k] < 0 || slices.Contains(r.axis[:k], r.axis[k]) {
			return r, false
		}
	}
	return r, true
}

// rows returns the rows of entries that lie in a value of that shape as r says.
func (r *regular) rows(shape tape.Shape) rows {
	st := shape.Strides()
	out := rows{by: make([]int, len(r.axis))}
	for a, s := range r.start {
		out.offset += s * st[a]
	}
	for k, a := range r.axis {
		if a >= 0 {
			out.by[k] = r.step[k] * st[a]
		}
	}
	return out
}

// at returns x, of a shape that stretches to shape, at the elements of a value of that shape to which the entries of t
// belong. The result stretches to the shape of t.
func (f *forward) at(x tape.Value, shape tape.Shape, t term) tape.Value {
	b := f.b
	if f.pattern {
		return b.Scalar(1)
	}
	own := b.Shape(x)
	if own.Size() == 1 {
		return b.Reshape(x, nil)
	}
	if t.whole(shape) {
		return x
	}
	if r, ok := t.regular(shape); ok && ascending(r.axis) {
		start, step := make([]int, len(shape)), make([]int, len(shape))
		part, to := make(tape.Shape, len(shape)), make(tape.Shape, len(t.shape))
		for a := range shape {
			part[a], step[a] = 1, 1
			if own[a] > 1 {
				start[a] = r.start[a]
			}
		}
		for k, a := range r.axis {
			to[k] = 1
			if a >= 0 && own[a] > 1 {
				part[a], step[a], to[k] = t.shape[k], r.step[k], t.shape[k]
			}
		}
		return b.Reshape(b.Slice(x, start, part, step), to)
	}
	n := shape.Size()
	from := make([]int, 0, t.shape.Size())
	for _, p := range t.positions() {
		from = append(from, int(p))
	}
	return b.Reshape(b.Take(b.Reshape(f.full(x, shape), tape.Shape{n}), 0, from), t.shape)
}

// ascending reports whether the axes but -1 ascend.
func ascending(axes []int) bool {
	last := -1
	for _, a := range axes {
		if a >= 0 && a < last {
			return false
		}
		last = max(last, a)
	}
	return true
}

// move adds the terms that a term of an operand of shape arg becomes by a structure op other than Concat.
func (f *forward) move(in *tape.Instr, arg tape.Shape, places []int, t term, add func(term)) {
	b := f.b
	gathers := in.Op != tape.Pad && in.Op != tape.Put
	if t.whole(arg) && gathers { // the entries move as the elements do
		if len(b.Shape(t.coef)) > 0 && in.Op != tape.Broadcast {
			t.coef = b.Emit(tape.Instr{
				Op: in.Op, Args: []tape.Value{f.full(t.coef, arg)}, Shape: in.Shape, Attr: in.Attr,
			})
		} else if in.Op == tape.Broadcast && len(arg) == 0 {
			t.coef = b.Reshape(t.coef, nil)
		}
		if places != nil {
			t.cols = newColumns(gathered(t.cols.at, places))
		}
		t.shape, t.rows = in.Shape, inOrder(in.Shape)
		add(t)
		return
	}
	switch in.Op {
	case tape.Reshape:
		add(t) // the elements stay where they are
		return
	case tape.Broadcast:
		add(f.stretch(t, arg, in.Shape))
		return
	case tape.Pad:
		add(f.place(t, arg, in.Shape, in.Attr.Start, in.Attr.Step))
		return
	case tape.Put:
		flat := f.flat(t)
		flat.rows = rowsAt(placed(flat.rows.at, places))
		for _, t := range f.compacted(&termList{terms: []term{flat}}, in.Shape).terms {
			add(t)
		}
		return
	case tape.Transpose:
		if r, ok := t.regular(arg); ok {
			start := make([]int, len(arg))
			to := make([]int, len(arg)) // of the operand's axes
			for i, p := range in.Attr.Perm {
				start[i], to[p] = r.start[p], i
			}
			for k, a := range r.axis {
				if a >= 0 {
					r.axis[k] = to[a]
				}
			}
			r.start = start
			t.rows = r.rows(in.Shape)
			add(t)
			return
		}
	case tape.Slice:
		if f.slice(in, arg, t, add) {
			return
		}
	}
	add(f.gather(f.flat(t), arg.Size(), places))
}

func placed(at []int32, places []int) []int32 {
	out := make([]int32, len(at))
	for i, r := range at {
		out[i] = int32(places[r])
	}
	return out
}

// lookup returns what a Pick or Drop makes of t. Each entry may go to each element of the result, so there is one for
// all of these, and it is 0 but where a place tells.
func (f *forward) lookup(in *tape.Instr, t term) term {
	b := f.b
	args := f.args(in)
	size := in.Shape.Size()
	t = f.flat(t)
	n := len(t.rows.at)
	rows := rows{by: []int{1, 0}}
	return term{
		shape: tape.Shape{size, n}, rows: rows, cols: newColumns(copies(t.cols.at, size)),
		coef: f.coefficient(func() tape.Value {
			of := f.t.Shape(in.Args[0]).Size()
			if in.Op == tape.Drop {
				of = size
			}
			places := b.Pick(b.Const(tape.Shape{of}, counted(of)...), args[1]) // without what stands for the ends
			places = b.Reshape(places, tape.Shape{b.Shape(places).Size()})
			at := make([]int, n)
			for e, r := range t.rows.at {
				at[e] = int(r)
			}
			var is tape.Value
			if in.Op == tape.Pick {
				whose := make([]float64, n)
				for e, r := range at {
					whose[e] = float64(r)
				}
				is = b.Op2(tape.Equal, b.Reshape(places, tape.Shape{size, 1}), b.Const(tape.Shape{1, n}, whose...))
			} else {
				whose := b.Const(tape.Shape{size, 1}, counted(size)...)
				is = b.Op2(tape.Equal, whose, b.Reshape(b.Take(places, 0, at), tape.Shape{1, n}))
			}
			return b.Select(is, b.Reshape(f.full(t.coef, t.shape), tape.Shape{1, n}), b.Scalar(0))
		}),
	}
}

// counted returns the numbers from 0 to n - 1.
func counted(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = float64(i)
	}
	return list
}

// place returns t, a term of a value of shape arg, where the value is placed in zeros of shape to.
func (f *forward) place(t term, arg, to tape.Shape, start, step []int) term {
	by := func(a int) int {
		if step == nil {
			return 1
		}
		return step[a]
	}
	if r, ok := t.regular(arg); ok {
		for a := range r.start {
			r.start[a] = start[a] + r.start[a]*by(a)
		}
		for k, a := range r.axis {
			if a >= 0 {
				r.step[k] *= by(a)
			}
		}
		t.rows = r.rows(to)
		return t
	}
	in := tape.Instr{Op: tape.Pad, Shape: to, Attr: tape.Attr{Start: start, Step: step}}
	t.rows = rowsAt(placed(t.positions(), tape.Places(&in, arg)))
	return t
}

// slice adds the part of t, a term that lies regularly in the operand of a Slice, that the result has. It reports false
// if that is not as simple.
func (f *forward) slice(in *tape.Instr, arg tape.Shape, t term, add func(term)) bool {
	r, ok := t.regular(arg)
	if !ok {
		return false
	}
	low, size := make([]int, len(t.shape)), slices.Clone(t.shape)
	driven := make([]bool, len(arg))
	start := func(a int) int { return in.Attr.Start[a] }
	for k, a := range r.axis {
		if a < 0 {
			continue
		}
		driven[a] = true
		if in.Attr.Step != nil && in.Attr.Step[a] != 1 {
			return false
		}
		// start ≤ r.start + r.step·i < start + length
		low[k] = max(0, (start(a)-r.start[a]+r.step[k]-1)/r.step[k])
		end := start(a) + in.Shape[a] - r.start[a] // exclusive
		if end <= 0 {
			return true
		}
		size[k] = min(t.shape[k], (end+r.step[k]-1)/r.step[k]) - low[k]
		if size[k] <= 0 {
			return true
		}
	}
	for a := range arg {
		by := 1
		if in.Attr.Step != nil {
			by = in.Attr.Step[a]
		}
		if i := r.start[a] - start(a); !driven[a] && (i < 0 || i%by != 0 || i/by >= in.Shape[a]) {
			return true
		} else if !driven[a] {
			r.start[a] = i / by
		}
	}
	for k, a := range r.axis {
		if a >= 0 {
			r.start[a] += low[k]*r.step[k] - start(a)
		}
	}
	t = f.window(t, low, size)
	t.rows = r.rows(in.Shape)
	add(t)
	return true
}

// gather returns the entries of a flat term of a value with size elements that a gathering op takes: element i of its
// result is element places[i] of the value.
func (f *forward) gather(t term, size int, places []int) term {
	first := make([]int, size+1) // of the places of each element, among all in the order of elements
	for _, p := range places {
		first[p+1]++
	}
	for p := range size {
		first[p+1] += first[p]
	}
	order, next := make([]int, len(places)), slices.Clone(first)
	for i, p := range places {
		order[next[p]] = i
		next[p]++
	}
	var from []int
	var to []int32
	for e, r := range t.rows.at {
		if t.cols.at[e] == gone {
			continue
		}
		for _, i := range order[first[r]:first[r+1]] {
			from, to = append(from, e), append(to, int32(i))
		}
	}
	if len(from) == 0 {
		t.shape, t.cols, t.rows = tape.Shape{0}, newColumns(nil), rowsAt(nil)
		return t
	}
	t = f.kept(t, from)
	t.rows = rowsAt(to)
	return t
}

// stretch returns t, a term of a value of shape arg, as a term of the value stretched to the shape to.
func (f *forward) stretch(t term, arg, to tape.Shape) term {
	if arg.Equal(to) {
		return t
	}
	b := f.b
	in := tape.Instr{Op: tape.Broadcast, Shape: to}
	if t.whole(arg) {
		if len(arg) == 0 {
			t.coef = b.Reshape(t.coef, nil)
		}
		t.cols = newColumns(gathered(t.cols.at, tape.Places(&in, arg)))
		t.shape, t.rows = to, inOrder(to)
		return t
	}
	if len(arg) == 0 { // as an array of one element
		arg = make(tape.Shape, len(to))
		for a := range arg {
			arg[a] = 1
		}
	}
	if arg.Equal(to) { // the elements stay where they are
		return t
	}
	r, ok := t.regular(arg)
	var axes []int // that stretch
	for a := range arg {
		if arg[a] != to[a] {
			axes = append(axes, a)
		}
	}
	if !ok || len(t.shape)+len(axes) > tape.MaxRank {
		return f.gather(f.flat(t), arg.Size(), tape.Places(&in, arg))
	}
	own := b.Shape(t.coef)
	shape, by, from := slices.Clone(t.shape), r.rows(to), t.shape.Strides() // from: where columns come from
	axis := r.axis
	st := to.Strides()
	for _, a := range axes { // each before those that it is faster than, and before those that change no row
		k := slices.IndexFunc(axis, func(other int) bool { return other < 0 || other > a })
		if k < 0 {
			k = len(axis)
		}
		axis, shape = slices.Insert(axis, k, a), slices.Insert(shape, k, to[a])
		by.by, from = slices.Insert(by.by, k, st[a]), slices.Insert(from, k, 0)
		if len(own) > 0 {
			own = slices.Insert(slices.Clone(own), k, 1)
		}
	}
	t.coef = b.Reshape(t.coef, own)
	t.shape, t.rows, t.cols = shape, by, newColumns(gathered(t.cols.at, spread(shape, 0, from)))
	return t
}

// sum returns t, a term of a value of shape arg, summed over axes of the value.
func (f *forward) sum(t term, arg tape.Shape, axes []int) term {
	var to tape.Shape
	for a, n := range arg {
		if !slices.Contains(axes, a) {
			to = append(to, n)
		}
	}
	r, ok := t.regular(arg)
	if !ok {
		st := to.Strides()
		by := make([]int, len(arg))
		k := 0
		for a := range arg {
			if !slices.Contains(axes, a) {
				by[a] = st[k]
				k++
			}
		}
		t.rows = rowsAt(gathered(spread(arg, 0, by), t.positions()))
		l := f.compacted(&termList{terms: []term{t}}, to)
		return l.terms[0]
	}
	moved := make([]int, len(arg)) // the axes after the sum
	var start []int
	for a := range arg {
		moved[a] = -1
		if !slices.Contains(axes, a) {
			moved[a] = len(start)
			start = append(start, r.start[a])
		}
	}
	for k, a := range r.axis {
		if a >= 0 {
			r.axis[k] = moved[a]
		}
	}
	r.start = start
	t.rows = r.rows(to)
	return f.compacted(&termList{terms: []term{f.merged(t)}}, to).terms[0]
}

// merged returns t with the entries added up that lie along an axis of t and have the same place.
func (f *forward) merged(t term) term {
	b := f.b
	for k := len(t.shape) - 1; k >= 0; k-- {
		if t.rows.by[k] != 0 && t.shape[k] > 1 || !sameAlong(t.cols.at, t.shape, k) {
			continue
		}
		own := b.Shape(t.coef)
		switch {
		case len(own) == 0 || own[k] == 1:
			if t.shape[k] > 1 && !f.pattern {
				t.coef = b.Mul(t.coef, b.Scalar(float64(t.shape[k])))
			}
			if len(own) > 0 {
				t.coef = b.Reshape(t.coef, slices.Delete(slices.Clone(own), k, k+1))
			}
		default:
			t.coef = b.SumAxes(t.coef, k)
		}
		st := t.shape.Strides()
		size := slices.Delete(slices.Clone(t.shape), k, k+1)
		t.cols = newColumns(gathered(t.cols.at, spread(size, 0, slices.Delete(st, k, k+1))))
		t.rows.by = slices.Delete(slices.Clone(t.rows.by), k, k+1)
		t.shape = size
	}
	return t
}

// sameAlong reports whether columns of a term of that shape are the same along axis k.
func sameAlong(cols []int32, shape tape.Shape, k int) bool {
	inner := shape[k+1:].Size()
	block := shape[k] * inner
	for at := 0; at < len(cols); at += block {
		for i := inner; i < block; i++ {
			if cols[at+i] != cols[at+i-inner] {
				return false
			}
		}
	}
	return true
}
