package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// factoring is a MatMul as a product of the matrix F[n, inner] with one of its operands: element (i, c) of the result
// is Σ_j F[i, j]·x[j, c].
type factoring struct {
	f      tape.Value
	n      int
	x      tape.Shape // as the operand is stored
	j, c   int        // its axes; c is -1 for a vector
	ri, rc int        // distances of neighbours in the result
	data   []float64  // the elements of F, if it is a constant with zeros; else nil
}

// factoring returns in as a product with its operand k.
func (f *forward) factoring(in *tape.Instr, k int) factoring {
	b := f.b
	other := f.args(in)[1-k]
	flipped := in.Attr.TA // whether the inner axis of the other operand comes first
	first := in.Attr.TB   // whether that of x comes second
	if k == 0 {
		flipped, first = !in.Attr.TB, !in.Attr.TA
	}
	p := factoring{f: other, x: f.t.Shape(in.Args[k]), c: -1, ri: 1, rc: 1}
	if len(p.x) == 2 {
		p.c = 1
		if first {
			p.j, p.c = 1, 0
		}
	}
	shape := b.Shape(other)
	switch {
	case len(shape) == 1:
		p.f, p.n = b.Reshape(other, tape.Shape{1, shape[0]}), 1
	case flipped:
		p.f, p.n = b.Transpose(other), shape[1]
	default:
		p.n = shape[0]
	}
	if data, ok := b.Constant(other); ok && len(data) > 1 && slices.Contains(data, 0) {
		p.data = data
		if len(shape) == 2 && flipped {
			p.data = make([]float64, len(data))
			for i := range shape[0] {
				for j := range shape[1] {
					p.data[j*shape[0]+i] = data[i*shape[1]+j]
				}
			}
		}
	}
	if len(in.Shape) == 2 {
		if k == 0 {
			p.rc = in.Shape[1]
		} else {
			p.ri = in.Shape[1]
		}
	}
	return p
}

// inner and outer return the index of element r of x on its two axes.
func (p *factoring) inner(r int32) int { return int(r) / p.x.Strides()[p.j] % p.x[p.j] }

func (p *factoring) outer(r int32) int {
	if p.c < 0 {
		return 0
	}
	return int(r) / p.x.Strides()[p.c] % p.x[p.c]
}

// product adds to out the derivative of a MatMul by operand k.
func (f *forward) product(out *termList, in *tape.Instr, k int) {
	p := f.factoring(in, k)
	var single []term // whose entries become columns of F
	for _, t := range f.lists[in.Args[k]].terms {
		if r, ok := t.regular(p.x); ok {
			if axis := slices.Index(r.axis, p.j); axis >= 0 && sameAlong(t.cols.at, t.shape, axis) {
				f.add(out, f.multiplied(&p, t, r, axis))
				continue
			}
		}
		single = append(single, t)
	}
	if len(single) == 0 {
		return
	}
	if p.data == nil && !f.pattern && f.dense(&p, out, single) {
		return
	}
	for _, t := range single {
		switch r, ok := t.regular(p.x); {
		case p.data != nil:
			f.add(out, f.nonzero(&p, t, in.Shape))
		case ok && len(t.shape) < tape.MaxRank:
			f.add(out, f.columns(&p, t, r))
		default:
			f.add(out, f.listedColumns(&p, t))
		}
	}
}

// copies returns x n times.
func copies[E any](x []E, n int) []E { return slices.Repeat(x, n) }

// multiplied returns the product with t, whose entries along axis run along the inner axis and have the same column.
// It is a product of matrices.
func (f *forward) multiplied(p *factoring, t term, r regular, axis int) term {
	b := f.b
	perm := []int{axis}
	for k := range t.shape {
		if k != axis {
			perm = append(perm, k)
		}
	}
	n := t.shape[axis]
	rest := slices.Delete(slices.Clone(t.shape), axis, axis+1)
	cols := gathered(t.cols.at, spread(rest, 0, slices.Delete(t.shape.Strides(), axis, axis+1)))
	cols = copies(cols, p.n)
	for i := range p.n { // a row of zeros
		some := p.data == nil
		for j := range n {
			some = some || p.data[i*p.x[p.j]+r.start[p.j]+j*r.step[axis]] != 0
		}
		for e := range rest.Size() {
			if !some {
				cols[i*rest.Size()+e] = gone
			}
		}
	}
	shape := append(tape.Shape{p.n}, rest...)
	return term{
		coef: f.coefficient(func() tape.Value {
			x := b.Reshape(b.Transpose(f.full(t.coef, t.shape), perm...), tape.Shape{n, rest.Size()})
			m := b.Slice(p.f, []int{0, r.start[p.j]}, tape.Shape{p.n, n}, []int{1, r.step[axis]})
			return b.Reshape(b.MatMul(m, x, false, false), shape)
		}),
		shape: shape,
		rows: p.rows(r, slices.Delete(slices.Clone(r.axis), axis, axis+1),
			slices.Delete(slices.Clone(r.step), axis, axis+1)),
		cols: newColumns(cols),
	}
}

// rows returns the rows of a term with a first axis for the rows of F. The others are axis and step of a term of x.
func (p *factoring) rows(r regular, axis, step []int) rows {
	out := rows{by: []int{p.ri}}
	if p.c >= 0 {
		out.offset = r.start[p.c] * p.rc
	}
	for k, a := range axis {
		by := 0
		if a >= 0 && a == p.c {
			by = step[k] * p.rc
		}
		out.by = append(out.by, by)
	}
	return out
}

// columns returns the product with t, each of whose entries becomes a column of F.
func (f *forward) columns(p *factoring, t term, r regular) term {
	b := f.b
	at, n, step := r.start[p.j], 1, 1
	to := append(tape.Shape{p.n}, slices.Repeat([]int{1}, len(t.shape))...)
	if axis := slices.Index(r.axis, p.j); axis >= 0 {
		n, step = t.shape[axis], r.step[axis]
		to[axis+1] = n
	}
	m := b.Reshape(b.Slice(p.f, []int{0, at}, tape.Shape{p.n, n}, []int{1, step}), to)
	if own := b.Shape(t.coef); len(own) > 0 {
		t.coef = b.Reshape(t.coef, append(tape.Shape{1}, own...))
	}
	return term{
		coef:  f.coefficient(func() tape.Value { return b.Mul(m, t.coef) }),
		shape: append(tape.Shape{p.n}, t.shape...), rows: p.rows(r, r.axis, r.step),
		cols: newColumns(copies(t.cols.at, p.n)),
	}
}

// listedColumns is columns for any term.
func (f *forward) listedColumns(p *factoring, t term) term {
	b := f.b
	t = f.flat(t)
	var from []int
	for _, r := range t.rows.at {
		from = append(from, p.inner(r))
	}
	var at []int32
	for i := range p.n {
		for _, r := range t.rows.at {
			at = append(at, int32(i*p.ri+p.outer(r)*p.rc))
		}
	}
	shape := tape.Shape{p.n, len(from)}
	if own := b.Shape(t.coef); len(own) > 0 {
		t.coef = b.Reshape(t.coef, tape.Shape{1, len(from)})
	}
	return term{
		coef:  f.coefficient(func() tape.Value { return b.Mul(b.Take(p.f, 1, from), t.coef) }),
		shape: shape, rows: rowsAt(at), cols: newColumns(copies(t.cols.at, p.n)),
	}
}

// nonzero returns the product with t where F is a constant with zeros.
func (f *forward) nonzero(p *factoring, t term, result tape.Shape) term {
	t = f.flat(t)
	inner := p.x[p.j]
	var from []int
	var at []int32
	var values []float64
	for e, r := range t.rows.at {
		if t.cols.at[e] == gone {
			continue
		}
		for i := range p.n {
			if c := p.data[i*inner+p.inner(r)]; c != 0 {
				from, at, values = append(from, e), append(at, int32(i*p.ri+p.outer(r)*p.rc)), append(values, c)
			}
		}
	}
	if len(from) == 0 {
		t.cols = newColumns(nil)
		return t
	}
	t = f.kept(t, from)
	t.rows = rowsAt(at)
	t.coef = f.coefficient(func() tape.Value { return f.b.Mul(t.coef, f.b.Const(t.shape, values...)) })
	return f.compacted(&termList{terms: []term{t}}, result).terms[0]
}

// dense adds the product with terms as a product of matrices, if that is less work than a column of F for each of their
// entries: if many entries share a column. It reports whether it did.
func (f *forward) dense(p *factoring, out *termList, terms []term) bool {
	b := f.b
	l := &termList{terms: terms}
	entries, inner := l.entries(), p.x[p.j]
	if entries < leastCompacted {
		return false
	}
	outers := 1
	if p.c >= 0 {
		outers = p.x[p.c]
	}
	var from []int
	var outer, cols []int32
	for i := range terms {
		for _, r := range terms[i].positions() {
			from, outer = append(from, p.inner(r)), append(outer, int32(p.outer(r)))
		}
		cols = append(cols, terms[i].cols.at...)
	}
	place, outer, cols := f.stamps.distinct(outers, outer, cols)
	n := len(cols)
	// A product of matrices does an operation in a tenth of the time.
	if entries <= 2*n || inner*n > 10*entries {
		return false
	}
	for e, c := range place {
		if c >= 0 {
			place[e] = from[e]*n + c
		}
	}
	x := b.Reshape(f.scattered(l, place, inner*n), tape.Shape{inner, n})
	t := term{
		coef: b.MatMul(p.f, x, false, false), shape: tape.Shape{p.n, n}, rows: rows{by: []int{p.ri, 0}},
		cols: newColumns(copies(cols, p.n)),
	}
	if p.c >= 0 {
		var at []int32
		for i := range p.n {
			for _, c := range outer {
				at = append(at, int32(i*p.ri+int(c)*p.rc))
			}
		}
		t.rows = rowsAt(at)
	}
	f.add(out, t)
	return true
}
