package linalg

import "odes.dev/odes/internal/base/machine"

// What the code of a factorisation reports, in the last places of the factors: words that are not zero
// where it cannot vouch for the order of pivots, words that are not zero where pivots are small, and the
// magnitude of the largest value.
const (
	reportBad   = 0
	reportSmall = 4
	reportSize  = 8
)

// Registers of checks.
const (
	checkMask machine.Vec = iota // of magnitudes
	checkBad
	checkSmall
	checkBound
	checkFinite
	checkSize
	checkNumber
	checkTest
)

// Predicates of comparisons, which are true for a NaN.
const (
	notAtMost  = 6
	notGreater = 10
)

// checks writes the checks of a factorisation, vector by vector. They are those of eliminate, but stricter:
// elements of L are compared with a number slightly below the limit, and growth is measured against the
// entry at the pivot's place.
func (s *structure) checks(e *emitter, o *Order) {
	at := o.layout()
	factors := e.s.Values
	report := factors + at.end - extra
	e.clear(checkBad)
	e.clear(checkSmall)
	e.clear(checkSize)
	e.repeat256(checkMask, constMagnitude)
	e.repeat256(checkFinite, constFinite)
	e.ranges(0, e.s.Values, func() {
		e.Vector(greater, 1, checkSize, int(checkNumber), machine.InReg(checkSize), machine.NoImm)
		e.compare(checkFinite, notAtMost, checkBad)
	})
	e.repeat256(checkBound, constLower)
	e.ranges(factors, at.u, func() { e.compare(checkBound, notAtMost, checkBad) })
	for k := range o.rows {
		if o.uStart[k] == o.uStart[k+1] {
			continue
		}
		e.clear(checkBound)
		in := o.inRows[o.inStart[k]:o.inStart[k+1]]
		values := o.inValues[o.inStart[k]:o.inStart[k+1]]
		for q, i := range in {
			if int(i) == k {
				values = values[q : q+1]
				break
			}
		}
		for _, v := range values {
			e.magnitude(int(v), 1)
			e.Vector(greater, 1, checkBound, int(checkBound), machine.InReg(checkNumber), machine.NoImm)
		}
		e.Vector(timesOne, 0, checkBound, int(checkBound), machine.InMem(e.constant(constGrowth)), machine.NoImm)
		e.Vector(machine.Broadcast, 1, checkBound, -1, machine.InReg(checkBound), machine.NoImm)
		bounded := func() { e.compare(checkBound, notAtMost, checkBad) }
		e.ranges(factors+at.u+int(o.uStart[k]), int(o.uStart[k+1]-o.uStart[k]), bounded)
		if !s.inTail(k) {
			e.ranges(factors+at.pivot+k, 1, bounded)
		}
	}
	// The largest value, by way of memory.
	e.Vector(machine.StPacked, 1, checkSize, -1, machine.InMem(e.address(int32(report))), machine.NoImm)
	for i := 1; i < 4; i++ {
		e.Vector(machine.MovOne, 0, checkNumber, -1, machine.InMem(e.address(int32(report+i))), machine.NoImm)
		e.Vector(greater, 0, checkSize, int(checkSize), machine.InReg(checkNumber), machine.NoImm)
	}
	e.Vector(machine.StOne, 0, checkSize, -1, machine.InMem(e.address(int32(report+reportSize))), machine.NoImm)
	e.Vector(timesOne, 0, checkBound, int(checkSize), machine.InMem(e.constant(constSuspicious)), machine.NoImm)
	e.Vector(machine.Broadcast, 1, checkBound, -1, machine.InReg(checkBound), machine.NoImm)
	pivots := func() {
		e.compare(checkFinite, notAtMost, checkBad)
		e.compare(checkBound, notGreater, checkSmall)
	}
	end := int(s.tailEnd)
	e.ranges(factors+at.pivot, int(s.tail), pivots)
	e.ranges(factors+at.pivot+end, e.s.N-end, pivots)
	e.Vector(machine.StPacked, 1, checkBad, -1, machine.InMem(e.address(int32(report+reportBad))), machine.NoImm)
	e.Vector(machine.StPacked, 1, checkSmall, -1, machine.InMem(e.address(int32(report+reportSmall))), machine.NoImm)
}

func (e *emitter) clear(r machine.Vec) {
	e.Vector(exclude, 1, r, int(r), machine.InReg(r), machine.NoImm)
}

// repeat256 fills a vector of four with a constant.
func (e *emitter) repeat256(r machine.Vec, constant int) {
	e.Vector(machine.Broadcast, 1, r, -1, machine.InMem(e.constant(constant)), machine.NoImm)
}

// ranges loads the magnitudes of n places from first on into checkNumber, four at a time or fewer, and
// writes a check of each. Some are checked twice.
func (e *emitter) ranges(first, n int, check func()) {
	for at := 0; at < n; {
		width := min(4, n)
		if width == 3 {
			width = 2
		}
		e.magnitude(first+min(at, n-width), width)
		check()
		at += width
	}
}

// magnitude loads magnitudes into checkNumber. Other elements become zero.
func (e *emitter) magnitude(place, width int) {
	from := machine.InMem(e.address(int32(place)))
	length := uint8(0)
	switch width {
	case 1:
		e.Vector(machine.MovOne, 0, checkNumber, -1, from, machine.NoImm)
		from = machine.InReg(checkNumber)
	case 4:
		length = 1
	}
	e.Vector(bothOf, length, checkNumber, int(checkMask), from, machine.NoImm)
}

// compare notes in a vector where checkNumber does not keep to a bound.
func (e *emitter) compare(bound machine.Vec, predicate int, into machine.Vec) {
	e.Vector(machine.Comparison, 1, checkTest, int(checkNumber), machine.InReg(bound), predicate)
	e.Vector(eitherOf, 1, into, int(into), machine.InReg(checkTest), machine.NoImm)
}
