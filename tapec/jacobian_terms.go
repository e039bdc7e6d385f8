package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// term is a part of the derivative of a value: an array of entries. Entry e is element e of coef. It stands in the row
// of element rows(e) of the value, flattened, and in column cols.at[e].
type term struct {
	coef  tape.Value // of shape, or of a shape that stretches to it
	shape tape.Shape
	rows  rows
	cols  *columns
}

// rows says to which element of a value each entry of a term belongs: to offset + Σ i[k]·by[k] for the entry at i, or
// to at[e] for entry e if at is not nil.
type rows struct {
	offset int
	by     []int
	at     []int32
	hash   uint64 // of at
}

// columns are the columns of the entries of a term. They are shared by many terms, and never change.
type columns struct {
	at   []int32
	hash uint64
	live int // how many are not gone
}

// gone is the column of an entry that is zero whatever the values are. What its coefficient is, means nothing.
const gone = -1

func newColumns(at []int32) *columns {
	c := &columns{at: at, hash: hashed(at)}
	for _, x := range at {
		if x != gone {
			c.live++
		}
	}
	return c
}

func hashed(at []int32) uint64 {
	h := uint64(len(at)) + 14695981039346656037
	for _, x := range at {
		h = (h ^ uint64(uint32(x))) * 1099511628211
		h ^= h >> 29
	}
	return h
}

// inOrder are the rows of a term that has an entry for each element of a value.
func inOrder(shape tape.Shape) rows { return rows{by: shape.Strides()} }

// rowsAt are rows in any order.
func rowsAt(at []int32) rows { return rows{at: at, hash: hashed(at)} }

// whole reports whether t has an entry for each element of a value of that shape, in order.
func (t *term) whole(shape tape.Shape) bool {
	return t.rows.at == nil && t.rows.offset == 0 && t.shape.Equal(shape) && slices.Equal(t.rows.by, shape.Strides())
}

// positions returns the row of each entry.
func (t *term) positions() []int32 {
	if t.rows.at != nil {
		return t.rows.at
	}
	return spread(t.shape, t.rows.offset, t.rows.by)
}

// spread lists offset + Σ i[k]·by[k] over the indices of shape, row-major.
func spread(shape tape.Shape, offset int, by []int) []int32 {
	out := make([]int32, 1, shape.Size())
	out[0] = int32(offset)
	for k := len(shape) - 1; k >= 0; k-- { // the last axis first: what there is, is repeated
		n := len(out)
		for i := 1; i < shape[k]; i++ {
			step := int32(i * by[k])
			for _, x := range out[:n] {
				out = append(out, x+step)
			}
		}
	}
	return out
}

func (t *term) hash() uint64 {
	h := t.cols.hash ^ t.rows.hash*31
	mix := func(x int) { h = (h ^ uint64(x)) * 1099511628211; h ^= h >> 29 }
	mix(t.rows.offset)
	for k, n := range t.shape {
		mix(n)
		if t.rows.at == nil {
			mix(t.rows.by[k])
		}
	}
	return h
}

// samePlaces reports whether the entries of t and u have the same places in the same order.
func samePlaces(t, u *term) bool {
	return t.shape.Equal(u.shape) && t.rows.offset == u.rows.offset && slices.Equal(t.rows.by, u.rows.by) &&
		(t.rows.at == nil) == (u.rows.at == nil) && slices.Equal(t.rows.at, u.rows.at) &&
		(t.cols == u.cols || slices.Equal(t.cols.at, u.cols.at))
}

// termList is the derivative of a value: a sum of terms, of which no two have the same places.
type termList struct {
	terms []term
	byKey map[uint64]int // the place of a term by its hash
	// compact tells that it was looked whether the terms overlap much.
	compact bool
}

// add adds t to l.
func (f *forward) add(l *termList, t term) {
	if t.cols.live == 0 {
		return
	}
	f.made += t.cols.live
	if c, ok := f.b.Uniform(t.coef); ok && c == 0 {
		return
	}
	h := t.hash()
	i, ok := l.byKey[h]
	switch {
	case ok && samePlaces(&l.terms[i], &t):
		if !f.pattern {
			l.terms[i].coef = f.b.Add(l.terms[i].coef, t.coef)
		}
		return
	case !ok:
		if l.byKey == nil {
			l.byKey = map[uint64]int{}
		}
		l.byKey[h] = len(l.terms)
	}
	l.terms = append(l.terms, t)
}

// entries returns the number of entries of all terms.
func (l *termList) entries() int {
	n := 0
	for i := range l.terms {
		n += l.terms[i].cols.live
	}
	return n
}

// flat returns t as a vector of entries with listed rows. A coefficient that is the same for all stays a scalar.
func (f *forward) flat(t term) term {
	n := t.shape.Size()
	t.rows = rowsAt(t.positions())
	if f.b.Shape(t.coef).Size() == 1 {
		t.coef = f.b.Reshape(t.coef, nil)
	} else {
		t.coef = f.b.Reshape(f.full(t.coef, t.shape), tape.Shape{n})
	}
	t.shape = tape.Shape{n}
	return t
}

// kept returns the given entries of a flat term, in that order.
func (f *forward) kept(t term, entries []int) term {
	at, cols := make([]int32, len(entries)), make([]int32, len(entries))
	same := len(entries) == len(t.cols.at)
	for i, e := range entries {
		at[i], cols[i] = t.rows.at[e], t.cols.at[e]
		same = same && i == e
	}
	if same {
		return t
	}
	if len(f.b.Shape(t.coef)) > 0 && len(entries) > 0 {
		t.coef = f.b.Take(t.coef, 0, entries)
	}
	t.shape = tape.Shape{len(entries)}
	t.rows, t.cols = rowsAt(at), newColumns(cols)
	return t
}

// living returns t without entries that are gone: a window of it, if the others fill one.
func (f *forward) living(t term) term {
	if t.cols.live == len(t.cols.at) {
		return t
	}
	low, high := slices.Clone(t.shape), make([]int, len(t.shape))
	var alive []int
	st := t.shape.Strides()
	for e, c := range t.cols.at {
		if c == gone {
			continue
		}
		alive = append(alive, e)
		for k := range st {
			i := e / st[k] % t.shape[k]
			low[k], high[k] = min(low[k], i), max(high[k], i)
		}
	}
	size := make(tape.Shape, len(low))
	for k := range low {
		size[k] = high[k] - low[k] + 1
	}
	if len(alive) > 0 && size.Size() == len(alive) {
		return f.window(t, low, size)
	}
	return f.kept(f.flat(t), alive)
}

// window returns the entries of t in a window of its shape.
func (f *forward) window(t term, low []int, size tape.Shape) term {
	if size.Equal(t.shape) {
		return t
	}
	st := t.shape.Strides()
	at := 0
	for k, l := range low {
		at += l * st[k]
	}
	from := spread(size, at, st)
	t.cols = newColumns(gathered(t.cols.at, from))
	if t.rows.at != nil {
		t.rows = rowsAt(gathered(t.rows.at, from))
	} else {
		for k, l := range low {
			t.rows.offset += l * t.rows.by[k]
		}
	}
	if own := f.b.Shape(t.coef); len(own) > 0 {
		low, part := slices.Clone(low), slices.Clone(size)
		for k, n := range own {
			if n == 1 {
				low[k], part[k] = 0, 1
			}
		}
		t.coef = f.b.Slice(t.coef, low, part, nil)
	}
	t.shape = size
	return t
}

func gathered[I int | int32](x []int32, from []I) []int32 {
	out := make([]int32, len(from))
	for i, k := range from {
		out[i] = x[k]
	}
	return out
}

// stamps mark columns that a row has already.
type stamps struct {
	mark []int // the last row that had the column, counted over all calls
	slot []int
	rows int
}

// distinct finds the places that entries of a value have in common: the place of each entry, or -1 for one that is
// gone, and the row and column of each place. Places come in the order of rows.
func (s *stamps) distinct(size int, at, cols []int32) (place []int, rows, columns []int32) {
	first := make([]int, size+1) // of each row, among entries ordered by row
	for e, r := range at {
		if cols[e] != gone {
			first[r+1]++
		}
	}
	for r := range size {
		first[r+1] += first[r]
	}
	order := make([]int, first[size])
	for e, r := range at {
		if cols[e] != gone {
			order[first[r]] = e
			first[r]++
		}
	}
	place = make([]int, len(at))
	for e := range place {
		place[e] = -1
	}
	last := int32(-1)
	for _, e := range order {
		if at[e] != last {
			last = at[e]
			s.rows++
		}
		c := int(cols[e])
		if c >= len(s.mark) {
			s.mark = append(s.mark, make([]int, c+1-len(s.mark))...)
			s.slot = append(s.slot, make([]int, c+1-len(s.slot))...)
		}
		if s.mark[c] != s.rows {
			s.mark[c], s.slot[c] = s.rows, len(rows)
			rows, columns = append(rows, last), append(columns, cols[e])
		}
		place[e] = s.slot[c]
	}
	return place, rows, columns
}

// leastCompacted is the number of entries from which it is looked whether many have the same place.
const leastCompacted = 64

// compacted returns l, the derivative of a value of that shape, as one term if its entries are twice as many as their
// places.
func (f *forward) compacted(l *termList, shape tape.Shape) *termList {
	n := l.entries()
	if n < leastCompacted {
		return l
	}
	at, cols := l.places()
	place, rows, columns := f.stamps.distinct(shape.Size(), at, cols)
	if n < 2*len(rows) {
		return l
	}
	return &termList{terms: []term{{
		coef:  f.coefficient(func() tape.Value { return f.scattered(l, place, len(rows)) }),
		shape: tape.Shape{len(rows)}, rows: rowsAt(rows), cols: newColumns(columns),
	}}}
}

// packed returns l with its small terms as one, if they are many: a vector of scalars is worked on as an array, as soon
// as it is one.
func (f *forward) packed(l *termList) *termList {
	const small, many = 8, 16
	var pick, rest termList
	for _, t := range l.terms {
		if t.shape.Size() <= small {
			pick.terms = append(pick.terms, t)
		} else {
			rest.terms = append(rest.terms, t)
		}
	}
	if len(pick.terms) < many {
		return l
	}
	var values []tape.Value
	for _, t := range pick.terms {
		flat := f.flat(t)
		values = append(values, f.full(flat.coef, flat.shape))
	}
	rows, cols := pick.places()
	out := &termList{}
	for _, t := range rest.terms {
		f.add(out, t)
	}
	f.add(out, term{
		coef:  f.coefficient(func() tape.Value { return f.b.Concat(0, values...) }),
		shape: tape.Shape{len(rows)}, rows: rowsAt(rows), cols: newColumns(cols),
	})
	return out
}

// distinct returns the places of l as one term.
func (f *forward) distinct(l *termList, shape tape.Shape) *termList {
	if len(l.terms) < 2 && l.entries() < leastCompacted {
		return l
	}
	at, cols := l.places()
	_, rows, columns := f.stamps.distinct(shape.Size(), at, cols)
	out := &termList{}
	f.add(out, term{
		coef: f.b.Scalar(1), shape: tape.Shape{len(rows)}, rows: rowsAt(rows), cols: newColumns(columns),
	})
	return out
}

// places returns the rows and columns of all entries.
func (l *termList) places() (rows, cols []int32) {
	for i := range l.terms {
		rows, cols = append(rows, l.terms[i].positions()...), append(cols, l.terms[i].cols.at...)
	}
	return rows, cols
}

// scattered adds the entries of all terms up at their places, of which there are n. Those at place -1 are left out.
func (f *forward) scattered(l *termList, place []int, n int) tape.Value {
	var values []tape.Value
	var index []int
	for _, t := range l.terms {
		flat := f.flat(t)
		of := place[:len(flat.cols.at)]
		place = place[len(of):]
		var alive, to []int
		for e, p := range of {
			if p >= 0 {
				alive, to = append(alive, e), append(to, p)
			}
		}
		if len(alive) == 0 {
			continue
		}
		flat = f.kept(flat, alive)
		values = append(values, f.full(flat.coef, flat.shape))
		index = append(index, to...)
	}
	return f.b.Put(f.b.Concat(0, values...), 0, index, n)
}
