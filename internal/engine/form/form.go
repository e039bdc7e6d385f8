// Package form knows functions of time whose turns need no search.
package form

import (
	"math"

	"odes.dev/odes/tape"
)

// Form is a function of time whose turns are known without bounds: c·f(α·t + β) + d, where f rises or falls for ever
// or is a sine. The others do not depend on time; c and d may be vectors.
type Form struct {
	Wave  bool
	first float64 // of a wave: a turn of f, in half turns
	chain []affine

	rate, shift float64 // of a wave: α and β
}

// affine is an operation on a function of time and on values that do not depend on time.
type affine struct {
	op    tape.Op
	at    int // which operand depends on time
	other [3][]tape.Interval
}

// far is the phase, in radians, from which on rounding errors of turns count.
const far = 1e6

// Of returns the form of a value that an evaluator computes, or nil. moves tells what changes as time passes.
func Of(e *tape.Evaluator[tape.Interval], v, time tape.Value, moves []bool) *Form {
	t := e.Tape()
	v, _ = affineIn(e, v, moves)
	f := &Form{}
	if v == time {
		return f
	}
	in := t.Instr(v)
	if in == nil {
		return nil
	}
	switch in.Op {
	case tape.Exp, tape.Expm1, tape.Tanh, tape.Sigmoid, tape.Atan, tape.Sinh, tape.Asinh, tape.Erf:
	case tape.Sin, tape.Cos:
		if t.Shape(v).Size() != 1 {
			return nil
		}
		f.Wave = true
		if in.Op == tape.Sin {
			f.first = 0.5
		}
	default:
		return nil
	}
	if v, f.chain = affineIn(e, in.Args[0], moves); v != time {
		return nil
	}
	return f
}

// affineIn returns the value that v is affine in, and the operations that lead from v to it.
func affineIn(e *tape.Evaluator[tape.Interval], v tape.Value, moves []bool) (tape.Value, []affine) {
	var chain []affine
	for {
		in := e.Tape().Instr(v)
		if in == nil {
			return v, chain
		}
		moving, at := 0, 0
		for i, a := range in.Args {
			if moves[a] {
				moving, at = moving+1, i
			}
		}
		if moving != 1 {
			return v, chain
		}
		switch in.Op {
		case tape.Reshape, tape.Broadcast:
		case tape.Neg, tape.Add, tape.Sub, tape.Mul, tape.FMA, tape.Div:
			if in.Op == tape.Div && at == 1 {
				return v, chain
			}
			step := affine{op: in.Op, at: at}
			for i, a := range in.Args {
				step.other[i] = e.Value(a)
			}
			chain = append(chain, step)
		default:
			return v, chain
		}
		v = in.Args[at]
	}
}

// Set computes the phase of a wave from what does not depend on time.
func (f *Form) Set() {
	f.rate, f.shift = 1, 0
	for i := len(f.chain) - 1; i >= 0; i-- {
		s := &f.chain[i]
		factor, plus := 1.0, 0.0
		x := func(k int) float64 { return s.other[k][0].Lo }
		switch s.op {
		case tape.Neg:
			factor = -1
		case tape.Add:
			plus = x(1 - s.at)
		case tape.Sub:
			if plus = -x(1); s.at == 1 {
				factor, plus = -1, x(0)
			}
		case tape.Mul:
			factor = x(1 - s.at)
		case tape.Div:
			factor = 1 / x(1)
		case tape.FMA:
			if plus = x(2); s.at < 2 {
				factor = x(1 - s.at)
			} else {
				plus = float64(x(0) * x(1))
			}
		}
		f.rate, f.shift = float64(f.rate*factor), math.FMA(f.shift, factor, plus)
	}
}

// Lasts returns a time up to which the form does not turn from t on, and true; false where that is not known.
func (f *Form) Lasts(t float64) (until float64, known bool) {
	if !f.Wave || f.rate == 0 {
		return math.Inf(1), true
	}
	phase := math.FMA(f.rate, t, f.shift)
	if !(math.Abs(phase) < far && math.Abs(f.shift) < far) {
		return t, false
	}
	turns := phase/math.Pi - f.first
	if f.rate > 0 {
		turns = math.Floor(turns) + 1
	} else {
		turns = math.Ceil(turns) - 1
	}
	return (float64(math.Pi*(turns+f.first)) - f.shift) / f.rate, true
}

// Short reports whether a wave makes an eighth of a turn at most in a time w. If it has a crest or trough there, three
// or more readings show how it bends: it reaches beyond them by less than their second differences say.
func (f *Form) Short(w float64) bool { return float64(math.Abs(f.rate)*w) <= math.Pi/4 }
