package linalg

import (
	"sync"
	"sync/atomic"

	"odes.dev/odes/internal/machine"
	"odes.dev/odes/internal/simd"
)

// codes are the machine code of an order: what factors, and what solves with each number of lanes. All
// factorisations with the order share them. They are made one by one, when they are asked for by a
// factorisation that has factored often.
type codes struct {
	making sync.Mutex
	list   [7]atomic.Pointer[code]
	failed atomic.Bool // the system forbids code
}

// The numbers of codes. Those of transposed solves are one higher.
const (
	codeFactor = 0
	codeOne    = 1
	codeFour   = 3
	codeEight  = 5
)

// What code is made for. Making it takes about as long as many factorisations in Go, so short runs do
// without.
const (
	codeAfter = 50      // factorisations
	codeFlops = 200_000 // of a factorisation
)

// coded is what a sparse factorisation needs to run machine code.
type coded struct {
	factored int       // how often, up to codeAfter
	between  []float64 // what a solve keeps in between, and right-hand sides if they are not eight
}

// hasCode reports whether this machine runs code here.
func hasCode() bool { return simd.Backend() == simd.Native && machine.Available() }

// code returns the machine code with the given number, nil if there is none.
func (f *sparse) code(number int) *code {
	c := f.o.codes
	if got := c.list[number].Load(); got != nil {
		return got
	}
	if f.factored < codeAfter || f.o.flops > codeFlops || c.failed.Load() || !c.making.TryLock() {
		return nil
	}
	defer c.making.Unlock()
	if got := c.list[number].Load(); got != nil {
		return got
	}
	got, err := f.s.makeCode(f.o, number, simd.Wide() && machine.Supports512())
	if err != nil {
		c.failed.Store(true)
		return nil
	}
	c.list[number].Store(got)
	return got
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
	if !hasCode() || f.patch != 0 {
		return false
	}
	c := f.code(codeFactor)
	if c == nil {
		f.factored++
		return false
	}
	f.factored = codeAfter
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
	if f.factored < codeAfter && f.o.codes.list[codeFactor].Load() == nil || !hasCode() {
		return false
	}
	number, width := codeFour, 8
	switch {
	case lanes == 1:
		number, width = codeOne, 1
	case simd.Wide() && machine.Supports512():
		number = codeEight
	}
	if transposed {
		number++
	}
	c := f.code(number)
	if c == nil {
		return false
	}
	n := f.s.p.N
	if len(f.between) < 2*n*width {
		f.between = make([]float64, 2*n*width)
	}
	w, own := f.between[:n*width], f.between[n*width:2*n*width]
	to := x
	if stride != width {
		to = own
		for i := range n {
			copy(own[i*width:][:lanes], x[i*stride:])
		}
	}
	c.run(nil, f.m, to, w)
	if c.lanes == 4 && lanes > 4 {
		c.run(nil, f.m, to[4:], w[4:])
	}
	if stride != width {
		for i := range n {
			copy(x[i*stride:][:lanes], own[i*width:])
		}
	}
	return true
}
