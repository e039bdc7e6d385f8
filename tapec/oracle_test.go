package tapec

import (
	"fmt"
	"math"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/tape"
)

// oracle evaluates checked expressions one scalar at a time. Tests compare lowering,
// which knows whole arrays only, with it.
type oracle struct {
	values map[string][]float64 // by input name: "t", "y.x", "ym.x", "p.k", …
	left   bool

	row        []float64 // of a data table
	functional func(e *model.Functional, at loops) []float64

	memo map[oracleKey][]float64 // of what depends on no loop; the values must not change
}

type oracleKey struct {
	e    model.Expr
	left bool
}

type loops map[*model.Index]int // ordinals

func (o *oracle) scalar(e model.Expr, at loops) float64 {
	v := o.eval(e, at)
	if len(v) != 1 {
		panic(fmt.Sprintf("oracle: %d elements where one is wanted", len(v)))
	}
	return v[0]
}

// eval returns the elements of e, row-major.
func (o *oracle) eval(e model.Expr, at loops) []float64 {
	if len(model.Free(e)) > 0 || model.Depends(e)&model.UsesRow != 0 {
		return o.node(e, at)
	}
	key := oracleKey{e, o.left}
	v, ok := o.memo[key]
	if !ok {
		v = o.node(e, at)
		if o.memo == nil {
			o.memo = map[oracleKey][]float64{}
		}
		o.memo[key] = v
	}
	return v
}

func (o *oracle) node(e model.Expr, at loops) []float64 {
	shape := e.Type().Shape
	switch e := e.(type) {
	case *model.Const:
		return stretch(e.Data, shape.Size())
	case *model.Ref:
		prefix := [...]string{"t", "p.", "y.", "d.", "y."}[e.Sym.Kind]
		if e.Sym.Kind == model.TimeSymbol {
			return o.values["t"]
		}
		if o.left && e.Sym.Kind != model.ParamSymbol {
			prefix = prefix[:1] + "m."
		}
		v, ok := o.values[prefix+e.Sym.Name]
		if !ok {
			panic("oracle: no value of " + prefix + e.Sym.Name)
		}
		return v
	case *model.LoopVar:
		return []float64{float64(e.Index.Lo + at[e.Index]*e.Index.Step)}
	case *model.Call:
		return o.call(e, at)
	case *model.Access:
		x := o.eval(e.X, at)
		pos := o.positions(e.Subs, e.X.Type().Shape, at)
		out := make([]float64, len(pos))
		for i, p := range pos {
			out[i] = x[p]
		}
		return out
	case *model.Assemble:
		out := make([]float64, shape.Size())
		seen := make([]bool, len(out))
		for _, p := range e.Pieces {
			each(p.Indices, at, func(at loops) {
				pos := wholePositions(shape.Size())
				if p.Subs != nil {
					pos = o.positions(p.Subs, shape, at)
				}
				for i, x := range stretch(o.eval(p.Value, at), len(pos)) {
					if seen[pos[i]] {
						panic("oracle: element assembled twice")
					}
					seen[pos[i]] = true
					out[pos[i]] = x
				}
			})
		}
		for _, s := range seen {
			if !s {
				panic("oracle: element missing")
			}
		}
		return out
	case *model.Reduce:
		var all []float64
		each(e.Indices, at, func(at loops) { all = append(all, o.scalar(e.Body, at)) })
		return []float64{reduceNaive(e.Fn.Name, all)}
	case *model.If:
		if e.Static {
			if o.scalar(e.Cond, at) != 0 {
				return stretch(o.eval(e.Then, at), shape.Size())
			}
			return stretch(o.eval(e.Else, at), shape.Size())
		}
		n := shape.Size()
		c, x, y := stretch(o.eval(e.Cond, at), n), stretch(o.eval(e.Then, at), n), stretch(o.eval(e.Else, at), n)
		out := make([]float64, n)
		for i := range out {
			if c[i] != 0 {
				out[i] = x[i]
			} else {
				out[i] = y[i]
			}
		}
		return out
	case *model.Stack:
		var out []float64
		for _, x := range e.Elems {
			out = append(out, o.eval(x, at)...)
		}
		return out
	case *model.NoEvent:
		return o.eval(e.X, at)
	case *model.Row:
		return []float64{o.row[e.Column]}
	case *model.Functional:
		return o.functional(e, at)
	case *model.Limit:
		inner := *o
		inner.left = !e.Post
		return inner.eval(e.X, at)
	}
	panic(fmt.Sprintf("oracle: %T", e))
}

func stretch(x []float64, n int) []float64 {
	if len(x) == n {
		return x
	}
	out := make([]float64, n)
	for i := range out {
		out[i] = x[0]
	}
	return out
}

func wholePositions(n int) []int { return count(n) }

// each calls f for all values of indices, beside those in at.
func each(indices []*model.Index, at loops, f func(loops)) {
	if len(indices) == 0 {
		f(at)
		return
	}
	inner := loops{}
	for k, v := range at {
		inner[k] = v
	}
	for k := range indices[0].Count {
		inner[indices[0]] = k
		each(indices[1:], inner, f)
	}
}

func (o *oracle) positions(subs []model.Sub, shape []int, at loops) []int {
	pos := []int{0}
	for k, s := range subs {
		var list []int
		if s.At != nil {
			list = []int{int(o.scalar(s.At, at)) - 1}
		} else {
			for i := range s.Count {
				list = append(list, s.Lo-1+i*s.Step)
			}
		}
		var next []int
		for _, p := range pos {
			for _, q := range list {
				if q < 0 || q >= shape[k] {
					panic("oracle: index out of range")
				}
				next = append(next, p*shape[k]+q)
			}
		}
		pos = next
	}
	return pos
}

func reduceNaive(name string, xs []float64) float64 {
	out := map[string]float64{"sum": 0, "mean": 0, "norm": 0, "prod": 1, "min": math.Inf(1), "max": math.Inf(-1)}[name]
	for _, x := range xs {
		switch name {
		case "sum", "mean":
			out += x
		case "norm":
			out += x * x
		case "prod":
			out *= x
		case "min":
			out = math.Min(out, x)
		case "max":
			out = math.Max(out, x)
		}
	}
	switch name {
	case "mean":
		out /= float64(len(xs))
	case "norm":
		out = math.Sqrt(out)
	}
	return out
}

func (o *oracle) call(e *model.Call, at loops) []float64 {
	args := make([][]float64, len(e.Args))
	shapes := make([][]int, len(e.Args))
	for i, a := range e.Args {
		args[i], shapes[i] = o.eval(a, at), a.Type().Shape
	}
	switch e.Fn.Class {
	case stdlib.Reduction:
		return []float64{reduceNaive(e.Fn.Name, args[0])}
	case stdlib.Structure:
		switch e.Fn {
		case stdlib.Interval:
			n := 0
			for n < len(args[1]) && args[1][n] <= args[0][0] {
				n++
			}
			return []float64{float64(n)}
		case stdlib.Pick:
			n := shapes[0][len(shapes[0])-1]
			out := make([]float64, len(args[0])/n)
			for i := range out {
				out[i] = args[0][i*n+int(args[1][0])]
			}
			return out
		}
		return structureNaive(e.Fn.Name, args, shapes)
	}
	n := e.T.Shape.Size()
	out := make([]float64, n)
	for i := range args {
		args[i] = stretch(args[i], n)
	}
	for i := range out {
		a := args[0][i]
		b := 0.0
		if len(args) > 1 {
			b = args[1][i]
		}
		out[i] = naiveOp(e.Fn.Op, a, b)
	}
	return out
}

var unaryNaive = map[tape.Op]func(float64) float64{
	tape.Sin: math.Sin, tape.Cos: math.Cos, tape.Tan: math.Tan,
	tape.Asin: math.Asin, tape.Acos: math.Acos, tape.Atan: math.Atan,
	tape.Sinh: math.Sinh, tape.Cosh: math.Cosh, tape.Tanh: math.Tanh,
	tape.Asinh: math.Asinh, tape.Acosh: math.Acosh, tape.Atanh: math.Atanh,
	tape.Exp: math.Exp, tape.Expm1: math.Expm1, tape.Log: math.Log, tape.Log1p: math.Log1p, tape.Log10: math.Log10,
	tape.Sqrt: math.Sqrt, tape.Cbrt: math.Cbrt, tape.Erf: math.Erf, tape.Erfc: math.Erfc, tape.Abs: math.Abs,
	tape.Floor: math.Floor, tape.Ceil: math.Ceil, tape.Round: math.Round, tape.Trunc: math.Trunc,
}

func naiveOp(op tape.Op, a, b float64) float64 {
	truth := func(x bool) float64 {
		if x {
			return 1
		}
		return 0
	}
	if f := unaryNaive[op]; f != nil {
		return f(a)
	}
	switch op {
	case tape.Add:
		return a + b
	case tape.Sub:
		return a - b
	case tape.Mul:
		return a * b
	case tape.Div:
		return a / b
	case tape.Pow:
		return math.Pow(a, b)
	case tape.Hypot:
		return math.Hypot(a, b)
	case tape.Atan2:
		return math.Atan2(a, b)
	case tape.Neg:
		return -a
	case tape.Lgamma:
		y, _ := math.Lgamma(a)
		return y
	case tape.Sign:
		if math.IsNaN(a) {
			return a
		}
		return truth(a > 0) - truth(a < 0)
	case tape.Mod:
		return a - b*math.Floor(a/b)
	case tape.Min:
		return math.Min(a, b)
	case tape.Max:
		return math.Max(a, b)
	case tape.Less:
		return truth(a < b)
	case tape.LessEq:
		return truth(a <= b)
	case tape.Equal:
		return truth(a == b)
	case tape.NotEqual:
		return truth(a != b)
	case tape.And:
		return truth(a != 0 && b != 0)
	case tape.Or:
		return truth(a != 0 || b != 0)
	case tape.Not:
		return truth(a == 0)
	}
	panic(fmt.Sprintf("oracle: %v", op))
}

func structureNaive(name string, args [][]float64, shapes [][]int) []float64 {
	x := args[0]
	switch name {
	case "transpose":
		n, m := shapes[0][0], shapes[0][1]
		out := make([]float64, n*m)
		for i := range n {
			for j := range m {
				out[j*n+i] = x[i*m+j]
			}
		}
		return out
	case "diag":
		n := shapes[0][0]
		if len(shapes[0]) == 2 {
			out := make([]float64, n)
			for i := range n {
				out[i] = x[i*n+i]
			}
			return out
		}
		out := make([]float64, n*n)
		for i := range n {
			out[i*n+i] = x[i]
		}
		return out
	case "outer":
		var out []float64
		for _, a := range x {
			for _, b := range args[1] {
				out = append(out, a*b)
			}
		}
		return out
	case "@", "dot":
		inner := shapes[1][0]
		rows, cols := len(x)/inner, len(args[1])/inner
		out := make([]float64, rows*cols)
		for i := range rows {
			for j := range cols {
				for k := range inner {
					out[i*cols+j] += x[i*inner+k] * args[1][k*cols+j]
				}
			}
		}
		return out
	}
	panic("oracle: " + name)
}

// close reports whether got agrees with want up to rounding. Any two NaNs agree.
func close(got, want, scale float64) bool {
	switch {
	case math.IsNaN(got) || math.IsNaN(want):
		return math.IsNaN(got) && math.IsNaN(want)
	case math.IsInf(want, 0) || math.IsInf(got, 0):
		return got == want
	}
	return math.Abs(got-want) <= 1e-9*(scale+math.Abs(want))
}
