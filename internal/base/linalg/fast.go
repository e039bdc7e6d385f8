package linalg

import (
	"math"
	"sync"
	"sync/atomic"

	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/base/simd"
)

// codes are the machine code of an order: what factors, and what solves with each number of lanes. All
// factorisations with the order share them. They are made one by one, when they are asked for and the
// order has served often.
type codes struct {
	factored atomic.Int64 // how often
	making   sync.Mutex
	list     [codeCount]atomic.Pointer[code]
	failed   atomic.Bool // the system forbids code
}

// memory returns the bytes of all code.
func (c *codes) memory() (bytes int) {
	for i := range c.list {
		if made := c.list[i].Load(); made != nil {
			bytes += made.bytes
		}
	}
	return bytes
}

// The numbers of codes. Those of transposed solves are one higher, and those of the second parts of solves
// two.
const (
	codeFactor     = 0
	codeOne        = 1
	codeFour       = 5
	codeEight      = 9
	codeTransposed = 1
	codeSecond     = 2
	codeCount      = 13
)

// What code is made for. Making it takes about as long as these many factorisations do in Go, so short runs
// do without. Larger factors have code for solves only.
const (
	codeAfter    = 50  // factorisations, and one more
	codeEach     = 400 // for so many operations, if it is the code of the factorisation itself
	codeFlops    = 1_000_000
	codeNonZeros = 100_000
)

// coded is what a sparse factorisation needs to run machine code.
type coded struct {
	ready   [codeCount]*code // codes of its order
	wide    bool             // vectors of eight
	between []float64        // what a solve keeps in between, and right-hand sides if they are not eight
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
	if !machine.Possible {
		return nil
	}
	c := f.o.codes
	if f.ready[number] = c.list[number].Load(); f.ready[number] != nil {
		return f.ready[number]
	}
	after := codeAfter
	if number == codeFactor {
		flops := f.o.flops - denseFlops(int(f.s.tailEnd-f.s.tail))
		if after += flops / codeEach; flops > codeFlops {
			return nil
		}
	}
	if c.factored.Load() < int64(after) || f.o.nonZeros()-f.o.tailSize > codeNonZeros || f.patch != 0 ||
		c.failed.Load() || !hasCode() || !c.making.TryLock() {
		return nil
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
		plan := p.elimination()
		return emit(plan, 0, len(plan.Steps), 1, wide, func(e *emitter) { s.checks(e, o) })
	}
	kind := (number - codeOne) % (codeFour - codeOne)
	lanes := [...]int{codeOne: 1, codeFour: 4, codeEight: 8}[number-kind]
	plan := p.solve(kind&codeTransposed != 0)
	first, last := 0, plan.Part
	if kind&codeSecond != 0 {
		first, last = last, len(plan.Steps)
	}
	return emit(plan, first, last, lanes, wide && lanes != 4, nil)
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
		if small != 0 && !f.smallPivots(f.m[at.pivot:at.tail], report[reportSize]) {
			return false
		}
	}
	return f.tail == nil || f.tail.run(report[reportSize]) == nil
}

// force factors with the pivots of the pattern, however small they are beside the other entries of their columns. It
// reports whether they are more than rounding.
func (f *sparse) force(values []float64) bool {
	f.SetOrder(f.first)
	if c := f.ready[codeFactor]; c != nil {
		c.run(values, f.m, nil, nil)
		at := f.o.layout()
		size := f.m[at.end-extra+reportSize]
		return f.smallPivots(f.m[at.pivot:at.tail], size) && (f.tail == nil || f.runTail(size, false) == nil)
	}
	size, _ := largest(values)
	good, err := f.eliminate(values, size, false)
	return good && err == nil
}

// approximate implements approximation.
func (f *sparse) approximate(x []float64, transposed bool) {
	if x = x[:f.s.p.N]; transposed {
		f.SolveT(x, 1)
	} else {
		f.Solve(x, 1)
	}
}

// smallPivots reports whether pivots can be used that may be nothing but rounding, or too large.
func (f *sparse) smallPivots(pivots []float64, size float64) bool {
	for k, pivot := range pivots {
		own := magnitude(pivot)
		if f.s.inTail(k) || own > size*suspicious && own <= math.MaxFloat64 {
			continue
		}
		if f.pivotError(k, pivot) != nil {
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
		number += codeTransposed
	}
	c := f.ready[number]
	if c == nil {
		if c = f.prepare(number); c == nil {
			return false
		}
	}
	if f.tail != nil && f.ready[number+codeSecond] == nil && f.prepare(number+codeSecond) == nil {
		return false
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
	c.solve(f.m, to, w, lanes)
	if f.tail != nil {
		if own := w[int(f.s.tail)*width : int(f.s.tailEnd)*width]; transposed {
			f.tail.SolveT(own, width)
		} else {
			f.tail.Solve(own, width)
		}
		f.ready[number+codeSecond].solve(f.m, to, w, lanes)
	}
	if stride != width {
		for i := range n {
			copy(x[i*stride:][:lanes], to[i*width:])
		}
	}
	return true
}

// solve runs the code for up to eight lanes.
func (c *code) solve(factors, x, w []float64, lanes int) {
	c.run(nil, factors, x, w)
	if c.lanes == 4 && lanes > 4 {
		c.run(nil, factors, x[4:], w[4:])
	}
}
