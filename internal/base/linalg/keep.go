package linalg

// Factors as plain numbers, from which another LU of the Analysis goes on: what is solved on the way back of an
// adjoint need not be factored again.

// Trial is an LU that may try whether something serves a matrix before it takes it. Where no factors are kept, what the
// trial found can be: whoever factors a matrix again saves it then.
type Trial interface {
	LU
	// Tries reports whether Factor tries anything.
	Tries() bool
	// Served returns what the last Factor tried that serves its matrix.
	Served() Serving
	// FactorServed is Factor, with its bits, for the values of a matrix that is known to be served by something.
	FactorServed(values []float64, by Serving) error
}

// Serving is what was tried and serves a matrix.
type Serving uint8

// Incomplete factors, rounded to single precision or as they are.
const (
	NothingServes Serving = iota
	ShortServes
	IncompleteServes
)

// store copies the parts one after the other, with what follows in integers.
func store(to []float64, parts ...[]float64) []float64 {
	for _, p := range parts {
		to = to[copy(to, p):]
	}
	return to
}

func load(from []float64, parts ...[]float64) []float64 {
	for _, p := range parts {
		from = from[copy(p, from):]
	}
	return from
}

func storePivots(to []float64, pivot []int32) []float64 {
	for k, p := range pivot {
		to[k] = float64(p)
	}
	return to[len(pivot):]
}

func loadPivots(from []float64, pivot []int32) []float64 {
	for k := range pivot {
		pivot[k] = int32(from[k])
	}
	return from[len(pivot):]
}

func (d *dense) Kept() int { return len(d.a) + len(d.recip) + len(d.pivot) }

func (d *dense) Keep(to []float64) bool {
	storePivots(store(to, d.a, d.recip), d.pivot)
	return true
}

func (d *dense) Restore(from []float64) { loadPivots(load(from, d.a, d.recip), d.pivot) }

func (f *band) Kept() int { return len(f.a) + len(f.recip) + len(f.pivot) + 1 }

func (f *band) Keep(to []float64) bool {
	to = storePivots(store(to, f.a, f.recip), f.pivot)
	to[0] = float64(f.reach)
	return true
}

func (f *band) Restore(from []float64) {
	from = loadPivots(load(from, f.a, f.recip), f.pivot)
	f.reach = int(from[0])
}

func (f *sparse) Kept() int {
	n := f.first.layout().end - extra
	if f.tail != nil {
		n += 2 * f.tail.p.N
	}
	return n
}

func (f *sparse) Keep(to []float64) bool {
	if f.o != f.first {
		return false
	}
	to = store(to, f.m[:f.o.layout().end-extra])
	if f.tail != nil {
		storePivots(store(to, f.tail.recip), f.tail.pivot)
	}
	return true
}

func (f *sparse) Restore(from []float64) {
	f.SetOrder(f.first)
	n := f.o.layout().end - extra
	f.use(from[:n])
	from = from[n:]
	if f.tail != nil {
		loadPivots(load(from, f.tail.recip), f.tail.pivot)
	}
}
