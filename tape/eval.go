package tape

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"

	"odes.dev/odes/internal/elem"
)

// Number is what a tape can be evaluated in. In complex arithmetic ops that
// are not analytic choose by the real part, so that a tiny imaginary part is a
// derivative (complex step).
type Number interface{ float64 | complex128 }

// Evaluator runs a tape, one lane of it, and keeps every value. In float64 it
// is the specification of a machine's results to the bit. It is made to be
// right and plain, not fast; a run allocates nothing. It must not be used by
// two goroutines at once.
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
		if in.Op == Const { // once and for all
			fill(e.values[v], in.Attr.Data)
			continue
		}
		s := step[T]{out: e.values[v]}
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

// step is an instruction with its operands' and its result's storage.
type step[T Number] struct {
	run  kernel[T]
	args [][]T
	out  []T
}

// Tape returns the tape.
func (e *Evaluator[T]) Tape() *Tape { return e.tape }

// Input returns the storage of an input, row-major, to be filled before Run;
// nil if the tape has no such input.
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

// Value returns the elements of v, row-major, as the last Run left them.
func (e *Evaluator[T]) Value(v Value) []T { return e.values[v] }

// Output returns the elements of an output, nil if the tape has no such output.
func (e *Evaluator[T]) Output(name string) []T {
	if v, ok := e.tape.Output(name); ok {
		return e.values[v]
	}
	return nil
}

// FirstNaN returns the first value that brought a NaN into an output: it holds
// a NaN, none of its operands does, and a chain of NaNs leads from it to an
// output. It reports false if no output holds a NaN.
func (e *Evaluator[T]) FirstNaN() (Value, bool) {
	return e.origin(func(x complex128) bool { return math.IsNaN(real(x)) || math.IsNaN(imag(x)) })
}

// FirstNonFinite is FirstNaN for NaN or infinity.
func (e *Evaluator[T]) FirstNonFinite() (Value, bool) {
	return e.origin(func(x complex128) bool { return cmplx.IsNaN(x) || cmplx.IsInf(x) })
}

func (e *Evaluator[T]) origin(bad func(complex128) bool) (Value, bool) {
	t := e.tape
	holds := func(v Value) bool {
		return slices.ContainsFunc(e.values[v], func(x T) bool { return bad(toComplex(x)) })
	}
	chain := make([]bool, t.Values())
	for _, o := range t.Outputs {
		chain[o.Value] = holds(o.Value)
	}
	first, found := Value(0), false
	for v := Value(t.Values() - 1); v >= 0; v-- {
		if !chain[v] {
			continue
		}
		inherited := false
		if in := t.Instr(v); in != nil {
			for _, a := range in.Args {
				if holds(a) {
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

func toComplex[T Number](x T) complex128 {
	switch x := any(x).(type) {
	case float64:
		return complex(x, 0)
	case complex128:
		return x
	}
	panic("unreachable")
}

// Eval evaluates t on real inputs, one lane of them; each has the input's
// elements in row-major order.
func Eval(t *Tape, inputs map[string][]float64) (*Evaluator[float64], error) {
	return evaluate(t, inputs)
}

// EvalComplex evaluates t on complex inputs.
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
			return nil, fmt.Errorf("tape %s: input %s has %d elements, want %d", t.Name, in.Name, len(data), in.Shape.Size())
		}
		copy(e.values[i], data)
	}
	e.Run()
	return e, nil
}

// arith is the arithmetic of one Number.
type arith[T Number] struct {
	one   func(*Row) func(a T) T
	two   func(*Row) func(a, b T) T
	three func(*Row) func(a, b, c T) T
	powi  func(a T, n int) T
	mul   func(a, b T) T
	fma   func(a, b, c T) T
	max   func(a, b T) T
	min   func(a, b T) T
}

var realArith = &arith[float64]{
	one:   func(r *Row) func(a float64) float64 { return r.real1 },
	two:   func(r *Row) func(a, b float64) float64 { return r.real2 },
	three: func(r *Row) func(a, b, c float64) float64 { return r.real3 },
	powi:  elem.Powi, mul: elem.Mul, fma: elem.FMA, max: elem.Max, min: elem.Min,
}

var complexArith = &arith[complex128]{
	one:   func(r *Row) func(a complex128) complex128 { return r.cplx1 },
	two:   func(r *Row) func(a, b complex128) complex128 { return r.cplx2 },
	three: func(r *Row) func(a, b, c complex128) complex128 { return r.cplx3 },
	powi:  elem.CPowi, mul: elem.CMul, fma: elem.CFMA, max: elem.CMax, min: elem.CMin,
}

func arithmetic[T Number]() *arith[T] {
	var zero T
	switch any(zero).(type) {
	case float64:
		return any(realArith).(*arith[T])
	default:
		return any(complexArith).(*arith[T])
	}
}

// fill sets out to the data of a Const.
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
		}
	}
}
