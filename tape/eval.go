package tape

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/residue"
)

// Number is a type that tapes can be evaluated in. Ops that are not analytic look at
// real parts to choose between branches, so that a tiny imaginary part of an input
// gives a derivative (complex step). Intervals enclose all values that float64 gives.
// Residues show what is zero whatever the inputs are; see residues.go.
type Number interface {
	float64 | complex128 | Interval | residue.Number
}

// Evaluator runs one lane of a tape and keeps every value. It is written to be
// obviously right rather than fast. In float64 it specifies the bits of the results
// that a machine must give. A run allocates nothing. An Evaluator must not be used
// by two goroutines at once.
type Evaluator[T Number] struct {
	tape   *Tape
	steps  []step[T]
	values [][]T
}

// NewEvaluator returns an Evaluator of t, which must pass Check.
func NewEvaluator[T Number](t *Tape) *Evaluator[T] {
	e := &Evaluator[T]{tape: t, values: make([][]T, t.Values())}
	for i := range t.Inputs {
		e.values[i] = make([]T, t.Inputs[i].Shape.Size())
	}
	arith := arithmetic[T]()
	for i := range t.Instrs {
		in := &t.Instrs[i]
		v := len(t.Inputs) + i
		e.values[v] = make([]T, in.Shape.Size())
		if in.Op == Const { // runs do not change it
			fill(e.values[v], in.Attr.Data)
			continue
		}
		s := step[T]{value: Value(v), out: e.values[v]}
		shapes := make([]Shape, len(in.Args))
		for k, a := range in.Args {
			s.args = append(s.args, e.values[a])
			shapes[k] = t.Shape(a)
		}
		s.run = plan(arith, in, shapes)
		e.steps = append(e.steps, s)
	}
	return e
}

// step is an instruction with the storage of its operands and of its result.
type step[T Number] struct {
	value Value
	run   kernel[T]
	args  [][]T
	out   []T
}

// Tape returns the tape that e runs.
func (e *Evaluator[T]) Tape() *Tape { return e.tape }

// Input returns the storage of an input, row-major, which must be filled before Run.
// It returns nil if the tape has no such input.
func (e *Evaluator[T]) Input(name string) []T {
	if v, ok := e.tape.Input(name); ok {
		return e.values[v]
	}
	return nil
}

// Run computes every value from the inputs.
func (e *Evaluator[T]) Run() {
	for i := range e.steps {
		s := &e.steps[i]
		s.run(s.args, s.out)
	}
}

// Following returns a function that computes the values that depend on the named inputs. All others stay as they are.
func (e *Evaluator[T]) Following(inputs ...string) (run func()) {
	return e.toward(Needed(e.tape), inputs)
}

// Toward is Following for some values and what they are made of.
func (e *Evaluator[T]) Toward(values []Value, inputs ...string) (run func()) {
	need := make([]bool, e.tape.Values())
	for _, v := range values {
		need[v] = true
	}
	for v := e.tape.Values() - 1; v >= len(e.tape.Inputs); v-- {
		if need[v] {
			for _, a := range e.tape.Instr(Value(v)).Args {
				need[a] = true
			}
		}
	}
	return e.toward(need, inputs)
}

func (e *Evaluator[T]) toward(need []bool, inputs []string) (run func()) {
	depends := DependsOn(e.tape, inputs...)
	var steps []step[T]
	for _, s := range e.steps {
		if depends[s.value] && need[s.value] {
			steps = append(steps, s)
		}
	}
	return func() {
		for i := range steps {
			s := &steps[i]
			s.run(s.args, s.out)
		}
	}
}

// Value returns the elements of v, row-major, as the last Run left them.
func (e *Evaluator[T]) Value(v Value) []T { return e.values[v] }

// Output returns the elements of an output, row-major, as the last Run left them. It
// returns nil if the tape has no such output.
func (e *Evaluator[T]) Output(name string) []T {
	if v, ok := e.tape.Output(name); ok {
		return e.values[v]
	}
	return nil
}

// FirstNaN returns the first value that brought a NaN into an output. Such a value
// holds a NaN while its operands do not, and a chain of NaNs leads from it to an
// output. FirstNaN reports false if no output holds a NaN.
func (e *Evaluator[T]) FirstNaN() (Value, bool) {
	return e.origin(func(x complex128) bool { return math.IsNaN(real(x)) || math.IsNaN(imag(x)) }, nil)
}

// FirstNonFinite is FirstNaN for NaNs and infinities. It looks at the outputs that are the values of, or at all if
// there are none.
func (e *Evaluator[T]) FirstNonFinite(of ...Value) (Value, bool) {
	return e.origin(func(x complex128) bool { return cmplx.IsNaN(x) || cmplx.IsInf(x) }, of)
}

// origin is FirstNaN for numbers that are bad, in some outputs or in all.
func (e *Evaluator[T]) origin(bad func(complex128) bool, of []Value) (Value, bool) {
	t := e.tape
	holds := func(v Value) bool {
		return slices.ContainsFunc(e.values[v], func(x T) bool { return bad(toComplex(x)) })
	}
	chain := make([]bool, t.Values())
	for _, o := range t.Outputs {
		chain[o.Value] = (len(of) == 0 || slices.Contains(of, o.Value)) && holds(o.Value)
	}
	first, found := Value(0), false
	for v := Value(t.Values() - 1); v >= 0; v-- {
		if !chain[v] {
			continue
		}
		inherited := false
		if in := t.Instr(v); in != nil {
			for k, a := range in.Args {
				if holds(a) && e.passes(in, k, v, bad) {
					chain[a], inherited = true, true
				}
			}
		}
		if !inherited {
			first, found = v, true
		}
	}
	return first, found
}

// passes reports whether a bad number of v, which in makes, may be one of its operand k: a branch that a Select
// does not take has no part in it.
func (e *Evaluator[T]) passes(in *Instr, k int, v Value, bad func(complex128) bool) bool {
	if in.Op != Select || k == 0 {
		return true
	}
	chosen := e.values[in.Args[0]]
	for i, x := range e.values[v] {
		c := chosen[broadcastIndex(in.Shape, e.tape.Shape(in.Args[0]), i)]
		if bad(toComplex(x)) && (toComplex(c) != 0) == (k == 1) {
			return true
		}
	}
	return false
}

func toComplex[T Number](x T) complex128 {
	switch x := any(x).(type) {
	case float64:
		return complex(x, 0)
	case complex128:
		return x
	case Interval:
		return complex(x.Lo, x.Hi)
	case residue.Number:
		return complex(float64(x), 0)
	}
	panic("unreachable")
}

// Eval checks t and evaluates one lane of it on real inputs, given by name with their
// elements in row-major order. It is an error if t is not well formed, or if an input
// is missing or has another number of elements.
func Eval(t *Tape, inputs map[string][]float64) (*Evaluator[float64], error) {
	return evaluate(t, inputs)
}

// EvalComplex is Eval on complex inputs.
func EvalComplex(t *Tape, inputs map[string][]complex128) (*Evaluator[complex128], error) {
	return evaluate(t, inputs)
}

func evaluate[T Number](t *Tape, inputs map[string][]T) (*Evaluator[T], error) {
	if err := Check(t); err != nil {
		return nil, err
	}
	e := NewEvaluator[T](t)
	for i := range t.Inputs {
		in := &t.Inputs[i]
		data, ok := inputs[in.Name]
		if !ok {
			return nil, fmt.Errorf("tape %s: input %s is missing", t.Name, in.Name)
		}
		if len(data) != in.Shape.Size() {
			return nil, fmt.Errorf("tape %s: input %s has %d elements, want %d",
				t.Name, in.Name, len(data), in.Shape.Size())
		}
		copy(e.values[i], data)
	}
	e.Run()
	return e, nil
}

// arith is the arithmetic of a Number. The functions one, two and three choose those
// of an op, by its number of operands.
type arith[T Number] struct {
	one   func(*Row) func(a T) T
	two   func(*Row) func(a, b T) T
	three func(*Row) func(a, b, c T) T
	powi  func(a T, n int) T
	add   func(a, b T) T
	mul   func(a, b T) T
	fma   func(a, b, c T) T
	max   func(a, b T) T
	min   func(a, b T) T
}

var realArith = &arith[float64]{
	one:   func(r *Row) func(a float64) float64 { return r.Real1 },
	two:   func(r *Row) func(a, b float64) float64 { return r.Real2 },
	three: func(r *Row) func(a, b, c float64) float64 { return r.Real3 },
	powi:  elem.Powi, add: elem.Add, mul: elem.Mul, fma: elem.FMA, max: elem.Max, min: elem.Min,
}

var complexArith = &arith[complex128]{
	one:   func(r *Row) func(a complex128) complex128 { return r.Complex1 },
	two:   func(r *Row) func(a, b complex128) complex128 { return r.Complex2 },
	three: func(r *Row) func(a, b, c complex128) complex128 { return r.Complex3 },
	powi:  elem.CPowi, add: elem.CAdd, mul: elem.CMul, fma: elem.CFMA, max: elem.CMax, min: elem.CMin,
}

var intervalArith = &arith[Interval]{
	one:   func(r *Row) func(a Interval) Interval { return r.Interval1 },
	two:   func(r *Row) func(a, b Interval) Interval { return r.Interval2 },
	three: func(r *Row) func(a, b, c Interval) Interval { return r.Interval3 },
	powi:  enclosedPowi, add: enclosedAdd, mul: enclosedMul, fma: enclosedFMA, max: enclosedMax, min: enclosedMin,
}

func arithmetic[T Number]() *arith[T] {
	var zero T
	switch any(zero).(type) {
	case float64:
		return any(realArith).(*arith[T])
	case Interval:
		return any(intervalArith).(*arith[T])
	case residue.Number:
		return any(residueArith).(*arith[T])
	default:
		return any(complexArith).(*arith[T])
	}
}

// fill sets out to the data of a Const, a single element of which stands for all.
func fill[T Number](out []T, data []float64) {
	for i := range out {
		x := data[0]
		if len(data) > 1 {
			x = data[i]
		}
		switch p := any(&out[i]).(type) {
		case *float64:
			*p = x
		case *complex128:
			*p = complex(x, 0)
		case *Interval:
			*p = Point(x)
		case *residue.Number:
			*p = residue.Of(x)
		}
	}
}
