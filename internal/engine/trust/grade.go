package trust

import (
	"math"
	"slices"

	"odes.dev/odes/result"
)

// Relative errors from which numbers are loose and lost.
const (
	LooseValue, lostValue           = 5e-4, 1e-3
	LooseDerivative, lostDerivative = 1e-3, 0.1
)

// If an objective has at least manyDerivatives and most of them are loose, the two runs may agree on the rest by
// chance: the errors of these are multiplied by byChance. If its value is lost, or most of them are,
// someDerivatives are enough; if most of them are, so is the error of the value.
const manyDerivatives, someDerivatives, byChance = 8, 3, 30

// Errors of derivatives that should be zero are never small beside these. So errors do not matter where they are below
// one of these parts: of the objective's largest relative derivative (derivative times the size of its variable), or of
// its value. The relative derivatives are compared.
const (
	PartOfDerivatives = 1e-7
	partOfValue       = 1e-9
)

// What may be zero, by its error, does not matter below this part of the value either, nor of the largest derivative.
const zeroOfValue = 1e-6

// A derivative whose first digit is sure is no zero. The largest one does not count beside it where it is more than so
// many times the value: what moves by large parts with one variable may move by small ones with others, and these are
// wanted.
const steep = 100

// What is so many times as large as the error of a derivative is no error.
const sureOfErrors = 1000

// An error must be larger than these to make a number lost, and not only loose: parts of the largest relative
// derivative, and of the value.
const (
	graveOfDerivatives = 1e-4
	graveOfValue       = 1e-6
	graveForValue      = 1e-5 // for a value, of the largest relative derivative
)

// Second derivatives are loose from this relative error on: they are for directions of steps and for standard errors,
// and lose another digit beside first ones.
const looseSecond = 3 * LooseDerivative

// Errors of second derivatives do not matter below the first part of the largest one of an objective, each times the
// sizes of its variables, nor below the second one if the derivative may be zero. They must be above the third one to
// make a number lost.
const partOfSecond, zeroOfSecond, graveOfSecond = 1e-6, 5e-5, 1e-2

// An error of a run is at most so many times the tolerances of its states.
const promised = 10

// Variable is what a gradient is taken by.
type Variable struct {
	Offset, Count int     // of its columns
	Size          float64 // how large it is
	Zero          bool    // it is zero; told where Grader.Reached is
}

// Numbers are a number with its derivatives and, where an independent run estimated them, their errors.
type Numbers struct {
	Value, Err float64
	Least      float64 // size of the value below which relative errors mean nothing
	Allowed    float64 // error of the value that tolerances by sizes of states allow
	// Reached is how far variables that are zero, times their sizes, moved the value in the course of the run; 0 if
	// nobody looked.
	Reached     float64
	Row, Errors []float64
	Unlike      []float64      // Row is off by so much on the other side; nil for not at all
	Parted      []bool         // where that is too much; filled in, may be shared
	Held        bool           // errors are how far derivatives at other times are off that are as good
	Trusts      []result.Trust // of Row; filled in
}

// Grader grades numbers of one result.
type Grader struct {
	Variables []Variable
	Rounding  float64   // relative, of numbers that steps sum up
	Promised  float64   // error of a number that the tolerances allow whatever its size
	Allowed   []float64 // by values, the error that tolerances by sizes of states allow; nil where they are not
	Reached   []float64 // by values; nil if nobody looked
}

// Grade fills in the grades of derivatives and returns that of the value.
func (g *Grader) Grade(x *Numbers) result.Trust {
	if g.plain(x) {
		return result.Sound
	}
	most := g.most(x)
	size := math.Abs(x.Value)
	noise := float64(g.Rounding * max(most, size))
	// What does not matter, of what may be zero and of what is not.
	all := max(noise, float64(PartOfDerivatives*most), float64(partOfValue*size))
	zero := max(all, float64(zeroOfValue*min(most, size)))
	some := max(noise, float64(PartOfDerivatives*min(most, float64(steep*size))), float64(partOfValue*size))
	matter, marked, lost := 0, 0, 0
	for _, v := range g.Variables {
		washed := 0.0 // out, if the tolerances allow it, too
		if v.Zero {
			washed = min(float64(partOfValue*x.Reached), g.Promised)
		}
		row, errs := x.by(v)
		if len(row) == 0 {
			continue
		}
		least, trusts := max(all, washed), x.Trusts[v.Offset:][:len(row)]
		for k, d := range row {
			err := 0.0
			if errs != nil {
				err = errs[k]
			}
			size := math.Abs(d)
			sound := err <= float64(LooseDerivative*size) && size <= math.MaxFloat64
			if sound && x.Unlike == nil && trusts[k] == result.Sound { // the usual case, of what may be millions
				if float64(size*v.Size) > least {
					matter++
				}
				continue
			}
			if !sound {
				own := max(zero, washed)
				if err < float64(0.5*size) {
					own = max(some, washed)
				}
				trusts[k] = max(trusts[k], g.derivative(d, err, v.Size, most, math.Abs(x.Value), own))
			}
			if x.Unlike != nil {
				g.beside(x, v, v.Offset+k, err, most, least, max(noise, float64(partOfValue*math.Abs(x.Value))))
			}
			if float64(size*v.Size) > least {
				matter++
				if trusts[k] > result.Sound {
					marked++
				}
				if trusts[k] == result.Lost {
					lost++
				}
			}
		}
	}
	value := g.value(x, most, noise)
	mostLost := matter >= someDerivatives && 2*lost > matter
	switch {
	case matter >= someDerivatives && marked == matter && value > result.Sound: // none tells which of the others matter
		g.chance(x, most, size, max(noise, float64(partOfValue*size)))
	case mostLost,
		2*marked > matter && (matter >= manyDerivatives || matter >= someDerivatives && value == result.Lost):
		g.chance(x, most, size, all)
	}
	if by := *x; mostLost && value == result.Sound {
		by.Err *= byChance
		value = min(g.value(&by, most, noise), result.Loose)
	}
	return value
}

// plain reports whether all numbers of x are sound by their relative errors alone, as most are of which there are
// millions: then nothing else matters.
func (g *Grader) plain(x *Numbers) bool {
	if x.Unlike != nil || !(x.Err <= float64(LooseValue*math.Abs(x.Value)) && math.Abs(x.Value) <= math.MaxFloat64) {
		return false
	}
	for _, v := range g.Variables {
		row, errs := x.by(v)
		for k, d := range row {
			size, err := math.Abs(d), 0.0
			if errs != nil {
				err = errs[k]
			}
			if !(err <= float64(LooseDerivative*size) && size <= math.MaxFloat64) {
				return false
			}
		}
	}
	return true
}

// most returns what is certain of the largest relative derivative; of one with an error that loses it, nothing is.
func (g *Grader) most(x *Numbers) (most float64) {
	for _, v := range g.Variables {
		row, errs := x.by(v)
		for k, d := range row {
			size := math.Abs(d)
			if float64(size*v.Size) <= most { // and an error makes it less
				continue
			}
			err := 0.0
			if errs != nil {
				err = errs[k]
			}
			if !x.Held {
				err /= lostDerivative
			}
			sure := size - err
			if by := float64(sure * v.Size); by > most && sure <= math.MaxFloat64 {
				most = by
			}
		}
	}
	return most
}

// beside grades derivative k of x, by v, by how far it is off on the other side. noise is what does not matter whatever
// other derivatives are.
func (g *Grader) beside(x *Numbers, v Variable, k int, err, most, least, noise float64) {
	if x.Unlike[k] > float64(sureOfErrors*err) { // it is not small for being so beside another derivative
		least = noise
	}
	if g.derivative(x.Row[k], x.Unlike[k], v.Size, most, math.Abs(x.Value), least) > result.Sound {
		x.Trusts[k], x.Parted[k] = max(x.Trusts[k], result.Loose), true
	}
}

// value grades the value of x. most is the largest of its derivatives, noise what rounding does.
func (g *Grader) value(x *Numbers, most, noise float64) result.Trust {
	size := max(math.Abs(x.Value), x.Least)
	noise = min(noise, g.Promised) // beyond that, rounding has been amplified: digits are wrong all the same
	switch {
	case x.Err <= float64(promised*x.Allowed) && x.Value-x.Value == 0:
		return result.Sound
	case x.Value-x.Value != 0 || x.Err-x.Err != 0,
		x.Err > float64(lostValue*size) && x.Err > float64(graveForValue*most) && x.Err > g.Promised:
		return result.Lost
	case x.Err > float64(LooseValue*size) && x.Err > noise:
		return result.Loose
	}
	return result.Sound
}

// chance makes derivatives loose on which two runs may agree by chance, where most of the others are loose: among
// numbers whose errors are alike, one difference in thirty is thirty times less than the others.
func (g *Grader) chance(x *Numbers, most, value, least float64) {
	for _, v := range g.Variables {
		for k, end := v.Offset, x.end(v); k < end; k++ {
			if g.derivative(x.Row[k], float64(byChance*x.errorOf(k)), v.Size, most, value, least) > result.Sound {
				x.Trusts[k] = max(x.Trusts[k], result.Loose)
			}
		}
	}
}

// derivative grades the derivative d with an estimated error by a variable of a size. Below least its effect does not
// matter.
func (g *Grader) derivative(d, err, size, most, value, least float64) result.Trust {
	if d-d != 0 || err-err != 0 {
		return result.Lost
	}
	moved := float64(err * size)
	switch {
	case err <= float64(LooseDerivative*math.Abs(d)), moved <= least:
		return result.Sound
	case err > float64(lostDerivative*math.Abs(d)) && moved > g.Promised &&
		moved > max(float64(graveOfDerivatives*most), float64(graveOfValue*value)):
		return result.Lost
	}
	return result.Loose
}

// OfOneSide makes those derivatives loose that would be lost for being those of one side, as of a largest value that is
// held: they are right there.
func (x *Numbers) OfOneSide() {
	for k, d := range x.Row {
		if err := x.errorOf(k); x.Trusts[k] == result.Lost && d-d == 0 && err-err == 0 {
			x.Trusts[k] = result.Loose
		}
	}
}

// end returns where the derivatives by v end.
func (x *Numbers) end(v Variable) int { return min(v.Offset+v.Count, len(x.Row)) }

// by returns the derivatives by v, and their errors; nil where there are none.
func (x *Numbers) by(v Variable) (row, errs []float64) {
	end := x.end(v)
	if v.Offset >= end {
		return nil, nil
	}
	row = x.Row[v.Offset:end]
	if x.Errors != nil {
		errs = x.Errors[v.Offset:][:len(row)]
	}
	return row, errs
}

func (x *Numbers) errorOf(k int) float64 {
	if x.Errors == nil {
		return 0
	}
	return x.Errors[k]
}

// Seconds are second derivatives of one objective, those of an independent run, and what is to be filled in.
type Seconds struct {
	Row, Other, Errors []float64
	Sideways           [][]float64 // what those on sides of variables continue to
	Trusts             []result.Trust
	turns              []bool // Grade notes what is another one on some side
}

// Grade fills in errors and grades, and returns the worst grade. of(k) returns the scale of element k, which is the
// product of the sizes of its variables, whether it is known to be one-sided, and whether it may be although it is 0.
func (x *Seconds) Grade(value float64, of func(k int) (size float64, sided, bent bool)) result.Trust {
	most := 0.0
	for k, d := range x.Row {
		size, _, _ := of(k)
		x.Errors[k] = math.Abs(d - x.Other[k])
		if sure := float64(size * (math.Abs(d) - x.Errors[k])); sure > most && !math.IsInf(sure, 0) {
			most = sure
		}
	}
	x.turns = make([]bool, len(x.Row))
	worst, noise := result.Sound, float64(0x1p-40*math.Abs(value))
	for k, d := range x.Row {
		size, sided, bent := of(k)
		err := x.Errors[k]
		moved := float64(err * size)
		small := func(err float64) bool {
			moved := float64(err * size)
			return moved <= max(noise, float64(partOfSecond*most)) || err <= float64(looseSecond*math.Abs(d)) ||
				2*err >= math.Abs(d) && moved <= float64(zeroOfSecond*most)
		}
		switch t := &x.Trusts[k]; {
		case d-d != 0 || err-err != 0:
			*t = result.Lost
		case small(err):
			x.turns[k] = slices.ContainsFunc(x.Sideways, func(row []float64) bool {
				return !small(math.Abs(row[k] - x.Other[k]))
			})
			if sided && d != 0 || bent && d == 0 || x.turns[k] {
				*t = result.Loose
			}
		case moved > float64(graveOfSecond*most) && err > float64(lostDerivative*math.Abs(d)):
			*t = result.Lost
		default:
			*t = result.Loose
		}
		worst = max(worst, x.Trusts[k])
	}
	return worst
}
