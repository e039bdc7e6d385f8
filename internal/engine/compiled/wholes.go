package compiled

import (
	"sync"
	"sync/atomic"

	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// CompileAfter says after how many steps whole steps are compiled. By then, compiling costs no more than it
// saves; both grow with the size of the model.
type CompileAfter struct {
	Small int // steps of a small model
	Large int // steps of a large model whose instructions compute largeMean elements each; see there
}

var compileAfter = CompileAfter{Small: 4000, Large: 170}

// WholeProgram is a step or its transpose, compiled.
type WholeProgram struct {
	*Program
	Shared, Laned, Made, Plain int // elements of its vectors
	Sums                       []string
	Notes                      []NoteAt

	Kept  int             // where the factors of a solved step are in what it makes
	Fixed map[int]float64 // those that are constants

	Moved MovedProgram // of tangents
	Lags  int          // where what the rows of K read of the past begins among what it reads
}

// NoteAt says where a factor is in the memory of the program, and where it goes in a stage's record of
// the ledger.
type NoteAt struct {
	First   bool // of its stage
	PerLane bool
	From    int
	To, N   int
}

// wholes are the programs of whole steps that belong to one program of rates, and how many steps have been made
// without them. Goroutines may share them.
type wholes struct {
	mu       sync.Mutex
	programs map[WholeKey]*WholeProgram // nil for one that would be too large
	steps    map[WholeKey]*atomic.Int64
}

// WholeKey says what a program of whole steps is of, besides the rates.
type WholeKey struct {
	Form        *solvers.Arithmetic
	Back, Fresh bool // fresh: with the first row of K
	tangent     bool // the tangent of a step, or of its transpose
	Exchanges   string
	Guards      bool     // their readings, not a step
	Peaks       bool     // readings of what is to be largest
	With        *Program // what is read, or a derivative of the rates; nil for neither
	Kit         *Kit     // of steps that solve equations, which depend on more of it; else nil
}

// OfGuards returns the key of readings of the guards.
func (k *Kit) OfGuards(form *solvers.Arithmetic) WholeKey {
	return WholeKey{Form: form, Guards: true, With: k.Value.Get(tapec.PartGuards)}
}

// OfPeaks returns the key of readings of what is to be largest.
func (k *Kit) OfPeaks(form *solvers.Arithmetic) WholeKey {
	return WholeKey{Form: form, Peaks: true, With: k.Value.Get(tapec.PartPeaks)}
}

// OfStep returns the key of steps.
func (k *Kit) OfStep(form *solvers.Arithmetic) WholeKey { return WholeKey{Form: form} }

// OfTranspose returns the key of their transposes.
func (k *Kit) OfTranspose(form *solvers.Arithmetic) WholeKey {
	return WholeKey{Form: form, Back: true, With: k.Pull.Get(tapec.PartRates)}
}

// Whole returns the program with a key. It is compiled once.
func (k *Kit) Whole(key WholeKey, compile func() *WholeProgram) *WholeProgram {
	w := &k.Value.Get(tapec.PartRates).wholes
	w.mu.Lock()
	defer w.mu.Unlock()
	p, ok := w.programs[key]
	if !ok {
		p = compile()
		if w.programs == nil {
			w.programs = map[WholeKey]*WholeProgram{}
		}
		w.programs[key] = p
	}
	return p
}

// Steps returns the count of steps made without the program with a key.
func (k *Kit) Steps(key WholeKey) *atomic.Int64 {
	w := &k.Value.Get(tapec.PartRates).wholes
	w.mu.Lock()
	defer w.mu.Unlock()
	n := w.steps[key]
	if n == nil {
		n = new(atomic.Int64)
		if w.steps == nil {
			w.steps = map[WholeKey]*atomic.Int64{}
		}
		w.steps[key] = n
	}
	return n
}

// SlopesTape returns the tape of the slopes of what is to be largest; nil where nothing of that moves.
func (k *Kit) SlopesTape() *tape.Tape {
	if k.Slopes == nil {
		return nil
	}
	return k.Slopes.Tape
}

// Elements counts what t computes. Lanes beyond eight take another vector of eight.
func Elements(t *tape.Tape, lanes int) int {
	if t == nil {
		return 0
	}
	if lanes > 8 {
		lanes = (lanes + 7) / 8 * 8
	}
	n, each := 0, tape.PerLane(t)
	for i := range t.Instrs {
		size := t.Instrs[i].Shape.Size()
		if each[len(t.Inputs)+i] {
			size *= lanes
		}
		n += size
	}
	return n
}

// MovedProgram is what a wholeProgram says of a program with tangents: elements of its vectors, in each variation.
type MovedProgram struct {
	Read, Made [tapec.NumVariations]int
}

// OfTangent returns the key of tangents of steps.
func (k *Kit) OfTangent(form *solvers.Arithmetic) WholeKey {
	return WholeKey{Form: form, tangent: true, With: k.Push.Get(tapec.PartRates)}
}

// OfSecond returns the key of tangents of transposes.
func (k *Kit) OfSecond(form *solvers.Arithmetic) WholeKey {
	return WholeKey{Form: form, tangent: true, Back: true, With: k.Second.Get(tapec.PartRates)}
}
