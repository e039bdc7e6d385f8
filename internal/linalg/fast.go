package linalg

import (
	"sync"
	"sync/atomic"

	"odes.dev/odes/internal/machine"
	"odes.dev/odes/internal/simd"
)

// codes are the machine code of an order: what factors, and what solves with each number of lanes. All
// factorisations with the order share them. They are made one by one, when they are asked for and the
// order has served often.
type codes struct {
	factored atomic.Int64 // how often
	making   sync.Mutex
	list     [7]atomic.Pointer[code]
	failed   atomic.Bool // the system forbids code
}

// The numbers of codes. Those of transposed solves are one higher.
const (
	codeFactor = 0
	codeOne    = 1
	codeFour   = 3
	codeEight  = 5
)

// What code is made for. Making it takes about as long as codeAfter steps of a method do in Go, so short
// runs do without. Larger factors have code for solves only.
const (
	codeAfter    = 50      // factorisations
	codeFlops    = 120_000 // of a factorisation
	codeNonZeros = 100_000
)

// coded is what a sparse factorisation needs to run machine code.
type coded struct {
	ready   [7]*code  // codes of its order
	wide    bool      // vectors of eight
	between []float64 // what a solve keeps in between, and right-hand sides if they are not eight
}

// hasCode reports whether this machine runs code here.
var hasCode = sync.OnceValue(func() bool { return simd.Backend() == simd.Native && machine.Available() })

// forget is for another order.
func (f *sparse) forget() {
	clear(f.ready[:])
	f.wide = simd.Wide() && machine.Supports512()
}

// prepare looks for the machine code with the given number, and makes it if that is due.
func (f *sparse) prepare(number int) *code {
	c := f.o.codes
	f.ready[number] = c.list[number].Load()
	if f.ready[number] != nil || c.factored.Load() < codeAfter || c.failed.Load() || f.patch != 0 || !hasCode() ||
		number == codeFactor && f.o.flops > codeFlops || f.o.nonZeros() > codeNonZeros || !c.making.TryLock() {
		return f.ready[number]
	}
	defer c.making.Unlock()
	if f.ready[number] = c.list[number].Load(); f.ready[number] != nil {
		return f.ready[number]
	}
	made, err := f.s.makeCode(f.o, number, f.wide)
	if err != nil {
		c.failed.Store(true)
		return nil
	}
	c.list[number].Store(made)
	f.ready[number] = made
	return made
}

// makeCode makes machine code of an order.
func (s *structure) makeCode(o *Order, number int, wide bool) (*code, error) {
	widest := 4
	if wide {
		widest = 8
	}
	p := s.planner(o, widest)
	if number == codeFactor {
		return emit(p.elimination(), 1, wide, func(e *emitter) { s.checks(e, o) })
	}
	lanes := [...]int{codeOne: 1, codeFour: 4, codeEight: 8}[number-(number-1)%2]
	return emit(p.solve((number-1)%2 == 1), lanes, wide && lanes != 4, nil)
}

// fast factors with machine code. It returns false if there is none, and if its checks leave open whether
// the order of pivots is good enough. Then nothing is done.
func (f *sparse) fast(values []float64) bool {
	c := f.ready[codeFactor]
	if c == nil {
		f.o.codes.factored.Add(1)
		if c = f.prepare(codeFactor); c == nil {
			return false
		}
	}
	c.run(values, f.m, nil, nil)
	at := f.o.layout()
	report := f.m[at.end-extra:]
	for _, bad := range report[reportBad:reportSmall] {
		if bad != 0 {
			return false
		}
	}
	for _, small := range report[reportSmall:reportSize] {
		if small != 0 {
			return f.smallPivots(f.m[at.pivot:at.end-extra], report[reportSize])
		}
	}
	return true
}

// smallPivots reports whether pivots can be used that may be nothing but rounding.
func (f *sparse) smallPivots(pivots []float64, size float64) bool {
	for k, pivot := range pivots {
		if !(magnitude(pivot) > size*suspicious) && f.pivotError(k, pivot) != nil {
			return false
		}
	}
	return true
}

// solveFast solves for the first lanes of up to eight in rows that lie stride apart. It returns false if
// there is no machine code for that.
func (f *sparse) solveFast(x []float64, stride, lanes int, transposed bool) bool {
	number, width := codeEight, 8
	switch {
	case lanes == 1:
		number, width = codeOne, 1
	case !f.wide:
		number = codeFour
	}
	if transposed {
		number++
	}
	c := f.ready[number]
	if c == nil {
		if c = f.prepare(number); c == nil {
			return false
		}
	}
	n := f.s.p.N
	if len(f.between) < 2*n*width {
		f.between = make([]float64, 2*n*width)
	}
	w, to := f.between[:n*width], x
	if stride != width {
		to = f.between[n*width:]
		for i := range n {
			copy(to[i*width:][:lanes], x[i*stride:])
		}
	}
	c.run(nil, f.m, to, w)
	if c.lanes == 4 && lanes > 4 {
		c.run(nil, f.m, to[4:], w[4:])
	}
	if stride != width {
		for i := range n {
			copy(x[i*stride:][:lanes], to[i*width:])
		}
	}
	return true
}
