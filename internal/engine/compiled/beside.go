package compiled

import (
	"math"
	"slices"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Beside evaluates the tapes of a model at any values, beside a run: in numbers, or in complex ones whose imaginary
// parts are a motion. It belongs to one goroutine.
type Beside[T float64 | complex128] struct {
	model *Model
	known map[*tape.Tape]*tape.Evaluator[T]
}

// NewBeside returns one that has evaluated nothing yet.
func NewBeside[T float64 | complex128](m *Model) Beside[T] {
	return Beside[T]{m, map[*tape.Tape]*tape.Evaluator[T]{}}
}

// Load returns what evaluates a tape, with some values in its inputs. It reports whether all are there; what is missing
// is zero.
func (b *Beside[T]) Load(t *tape.Tape, at *vec.Of[T]) (e *tape.Evaluator[T], all bool) {
	if e = b.known[t]; e == nil {
		e = tape.NewEvaluator[T](t)
		b.known[t] = e
	}
	all = true
	for i := range t.Inputs {
		all = loadInput(b.model, &t.Inputs[i], e.Value(tape.Value(i)), at) && all
	}
	return e, all
}

// Run evaluates a tape.
func (b *Beside[T]) Run(t *tape.Tape, at *vec.Of[T]) *tape.Evaluator[T] {
	e, _ := b.Load(t, at)
	e.Run()
	return e
}

// Output evaluates an output of a tape; nil where there is no tape. It holds until the tape is evaluated again.
func (b *Beside[T]) Output(t *tape.Tape, of tapec.Name, at *vec.Of[T]) []T {
	if t == nil {
		return nil
	}
	return b.Run(t, at).Output(of.String())
}

// Rates writes to k the rates of states and, behind them, of integrals, which have none outside of their bounds.
func (b *Beside[T]) Rates(at *vec.Of[T], k []T) {
	clear(k)
	c := b.model.Compiled
	e := b.Run(c.Rates, at)
	for _, out := range c.Rates.Outputs {
		n := tapec.MustName(out.Name)
		to := k[b.model.Layout.Part(n).Offset:]
		if copy(to, e.Output(out.Name)); n.Role == tapec.Integrand {
			for i, window := range c.Functionals[n.Number()].Window {
				to[i] *= at[vec.M][window]
			}
		}
	}
}

// Put writes the outputs of a tape that are parts of some vectors there, from the values that it was evaluated at last.
func (b *Beside[T]) Put(t *tape.Tape, to *vec.Of[T]) {
	e := b.known[t]
	for _, out := range t.Outputs {
		at := b.model.Layout.Part(tapec.MustName(out.Name))
		copy(to[at.Vec][at.Offset:], e.Output(out.Name))
	}
}

// Look chooses the modes that hold at some values, in which it writes them. It returns whether the condition of each
// event holds, in the order of guards; of a crossing, whether its margin is positive, and whether that counts.
func Look(b *Beside[float64], at *vec.Values) (holds, passes []bool) {
	c := b.model.Compiled
	at[vec.M] = slices.Clone(at[vec.M])
	at[vec.Kept] = slices.Repeat([]float64{math.Inf(1)}, b.model.Layout.NM)
	if c.Choose != nil {
		b.Run(c.Choose, at)
		b.Put(c.Choose, at)
	}
	if c.Guards == nil {
		return nil, nil
	}
	e := b.Run(c.Guards, at)
	rho, truth := e.Output(tapec.Margins.Name().String()), e.Output(tapec.Truths.Name().String())
	for i, g := range c.GuardList {
		if g.Event < 0 {
			continue
		}
		hold, pass := truth[i] != 0, true
		if g.Crossing {
			hold, pass = rho[i] > 0, truth[i] != 0
		}
		holds, passes = append(holds, hold), append(passes, pass)
	}
	return holds, passes
}
