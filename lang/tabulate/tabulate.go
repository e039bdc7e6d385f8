// Package tabulate evaluates expressions that are known at compile time, or once the values of params are known.
package tabulate

import (
	"fmt"
	"math"
	"slices"
	"sort"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
)

// Tabulate evaluates a compile-time expression (Static(e)) for all values of axes. It returns the
// results in row-major order: the values of axes outermost, then the elements of e. The argument
// axes holds every free loop variable of e, in any order, and may hold more. A subscript out of
// bounds gives NaN: either it stands in a branch that is not taken, or it was reported.
//
// Work is shared: a subexpression of one loop variable is evaluated once per value of that
// variable. Tabulate panics when e is not a compile-time expression, or depends on a loop variable
// outside axes.
func Tabulate(e model.Expr, axes []*model.Index) []float64 {
	v := Evaluator{}
	return v.Eval(e).Over(axes)
}

// TooLarge is the panic of elaboration that exceeds a limit. Whoever sets a limit recovers it.
type TooLarge struct{}

// Evaluator evaluates compile-time expressions. The map memo holds shared results.
type Evaluator struct {
	memo  map[model.Expr]*Value
	Limit int        // bound of the elements of one value, 0 for none: beyond it eval panics with tooLarge
	List  *diag.List // tells when nobody waits; nil for never
	// params gives the values of params, for numbers of priors that are functions of them; nil: there are none.
	Params func(name string) []float64
}

// Value is a value for all values of its axes. Its data are row-major over the axes, then over
// shape.
type Value struct {
	axes  []*model.Index
	shape types.Shape
	Data  []float64
}

// Counts returns how many values all axes together have.
func Counts(axes []*model.Index) int {
	n := 1
	for _, a := range axes {
		n *= a.Count
	}
	return n
}

// union returns the axes of all tables in order of first occurrence.
func union(ts ...*Value) []*model.Index {
	var u []*model.Index
	for _, t := range ts {
		for _, a := range t.axes {
			if !slices.Contains(u, a) {
				u = append(u, a)
			}
		}
	}
	return u
}

// Over returns the data for exactly axes, in their order.
func (t *Value) Over(axes []*model.Index) []float64 {
	if slices.Equal(t.axes, axes) {
		return t.Data
	}
	for _, a := range t.axes {
		if !slices.Contains(axes, a) {
			panic("tabulate: expression depends on loop variable " + a.Name + " outside the axes")
		}
	}
	inner := t.shape.Size()
	dims := make([]int, 0, len(axes)+1)
	stride := make([]int, 0, len(axes)+1)
	for _, a := range axes {
		dims = append(dims, a.Count)
		s := 0
		if k := slices.Index(t.axes, a); k >= 0 {
			s = inner * Counts(t.axes[k+1:])
		}
		stride = append(stride, s)
	}
	dims, stride = append(dims, inner), append(stride, 1)
	out := make([]float64, Counts(axes)*inner)
	walk(dims, [][]int{stride}, func(at, n int, off, step []int) {
		o, s := off[0], step[0]
		for i := range n {
			out[at+i] = t.Data[o+i*s]
		}
	})
	return out
}

// walk visits the elements of an array with lengths dims, row by row along the last axis. It calls
// f with the flat offset of the row, its length, and for each operand its offset and step along the
// row. The strides of operand k are strides[k].
func walk(dims []int, strides [][]int, f func(at, n int, off, step []int)) {
	// Neighbouring axes with a common stride in every operand are joined, for longer rows.
	for k := len(dims) - 2; k >= 0; k-- {
		join := dims[k+1] != 0
		for _, s := range strides {
			if s[k] != s[k+1]*dims[k+1] {
				join = false
				break
			}
		}
		if join {
			dims = slices.Concat(dims[:k], []int{dims[k] * dims[k+1]}, dims[k+2:])
			for i, s := range strides {
				strides[i] = slices.Concat(s[:k], s[k+1:])
			}
		}
	}
	total := 1
	for _, d := range dims {
		total *= d
	}
	if total == 0 {
		return
	}
	last := len(dims) - 1
	pos := make([]int, last)
	off := make([]int, len(strides))
	step := make([]int, len(strides))
	for i, s := range strides {
		step[i] = s[last]
	}
	n := dims[last]
	for at := 0; at < total; at += n {
		f(at, n, off, step)
		for k := last - 1; k >= 0; k-- {
			pos[k]++
			for i, s := range strides {
				off[i] += s[k]
			}
			if pos[k] < dims[k] {
				break
			}
			for i, s := range strides {
				off[i] -= s[k] * dims[k]
			}
			pos[k] = 0
		}
	}
}

// broadcast applies f element by element to args, each of which has the given shape or is a scalar.
func broadcast(shape types.Shape, args []*Value, f func(x []float64) float64) *Value {
	out := &Value{axes: union(args...), shape: shape}
	dims := []int{}
	for _, a := range out.axes {
		dims = append(dims, a.Count)
	}
	dims = append(dims, shape.Size())
	strides := make([][]int, len(args))
	for i, t := range args {
		inner, scalar := t.shape.Size(), len(t.shape) == 0
		for _, a := range out.axes {
			s := 0
			if k := slices.Index(t.axes, a); k >= 0 {
				s = inner * Counts(t.axes[k+1:])
			}
			strides[i] = append(strides[i], s)
		}
		if scalar {
			strides[i] = append(strides[i], 0)
		} else {
			strides[i] = append(strides[i], 1)
		}
	}
	size := 1
	for _, d := range dims {
		size *= d
	}
	out.Data = make([]float64, size)
	x := make([]float64, len(args))
	walk(dims, strides, func(at, n int, off, step []int) {
		for i := range n {
			for k, t := range args {
				x[k] = t.Data[off[k]+i*step[k]]
			}
			out.Data[at+i] = f(x)
		}
	})
	return out
}

// Eval returns the value of an expression.
func (v *Evaluator) Eval(e model.Expr) *Value {
	switch e := e.(type) {
	case *model.Const:
		return ConstTable(e)
	case *model.LoopVar:
		return &Value{axes: []*model.Index{e.Index}, Data: e.Index.Values()}
	}
	if t, ok := v.memo[e]; ok {
		return t
	}
	if v.List != nil {
		v.List.Look()
	}
	if v.Limit > 0 {
		n := float64(e.Type().Shape.Size())
		for _, a := range model.Free(e) {
			n *= float64(a.Count)
		}
		if n > float64(v.Limit) {
			panic(TooLarge{})
		}
	}
	if v.memo == nil {
		v.memo = map[model.Expr]*Value{}
	}
	t := v.compute(e)
	v.memo[e] = t
	return t
}

// ConstTable returns the value of a constant.
func ConstTable(e *model.Const) *Value {
	shape := e.T.Shape
	data := e.Data
	if n := shape.Size(); len(data) == 1 && n != 1 {
		data = make([]float64, n)
		for i := range data {
			data[i] = e.Data[0]
		}
	}
	return &Value{shape: shape, Data: data}
}

func (v *Evaluator) compute(e model.Expr) *Value {
	switch e := e.(type) {
	case *model.Call:
		args := make([]*Value, len(e.Args))
		for i, a := range e.Args {
			args[i] = v.Eval(a)
		}
		return ApplyFunc(e.Fn, e.T.Shape, args)
	case *model.Access:
		return v.access(e)
	case *model.Assemble:
		return v.assemble(e)
	case *model.Reduce:
		body := v.Eval(e.Body)
		outer := slices.DeleteFunc(slices.Clone(body.axes), func(a *model.Index) bool {
			return slices.Contains(e.Indices, a)
		})
		data := body.Over(slices.Concat(outer, e.Indices))
		n := Counts(e.Indices)
		out := &Value{axes: outer, Data: make([]float64, Counts(outer))}
		for i := range out.Data {
			out.Data[i] = reduce(e.Fn.Name, data[i*n:(i+1)*n])
		}
		return out
	case *model.If:
		return broadcast(e.T.Shape, []*Value{v.Eval(e.Cond), v.Eval(e.Then), v.Eval(e.Else)},
			func(x []float64) float64 {
				if x[0] != 0 {
					return x[1]
				}
				return x[2]
			})
	case *model.Stack:
		elems := make([]*Value, len(e.Elems))
		for i, x := range e.Elems {
			elems[i] = v.Eval(x)
		}
		out := &Value{axes: union(elems...), shape: e.T.Shape}
		inner := out.shape[1:].Size()
		n := Counts(out.axes)
		out.Data = make([]float64, n*len(elems)*inner)
		for k, t := range elems {
			d := t.Over(out.axes)
			for i := range n {
				copy(out.Data[(i*len(elems)+k)*inner:], d[i*inner:(i+1)*inner])
			}
		}
		return out
	case *model.NoEvent:
		return v.Eval(e.X)
	case *model.Ref:
		if v.Params != nil {
			return &Value{shape: e.T.Shape, Data: v.Params(e.Sym.Name)}
		}
	}
	panic(fmt.Sprintf("tabulate: %T is not a compile-time expression", e))
}

// access gathers elements. A subscript out of bounds gives NaN.
func (v *Evaluator) access(e *model.Access) *Value {
	x := v.Eval(e.X)
	all := []*Value{x}
	ats := make([]*Value, len(e.Subs))
	for k, s := range e.Subs {
		if s.At != nil {
			ats[k] = v.Eval(s.At)
			all = append(all, ats[k])
		}
	}
	out := &Value{axes: union(all...), shape: e.T.Shape}
	n := Counts(out.axes)
	xs := (&Value{axes: x.axes, Data: iota64(Counts(x.axes))}).Over(out.axes) // which block of x
	full := x.shape.Size()
	block := out.shape.Size()
	out.Data = make([]float64, n*block)
	at := make([][]float64, len(ats))
	for k, t := range ats {
		if t != nil {
			at[k] = t.Over(out.axes)
		}
	}
	stride := x.shape.Strides()
	idx := make([]int, len(e.Subs))
	for i := range n {
		base, bad := int(xs[i])*full, false
		for k := range e.Subs {
			if at[k] != nil {
				p := at[k][i]
				if !(p >= 1 && p <= float64(x.shape[k])) || p != math.Floor(p) {
					bad = true
					break
				}
				base += (int(p) - 1) * stride[k]
			}
		}
		if bad {
			for j := range block {
				out.Data[i*block+j] = math.NaN()
			}
			continue
		}
		clear(idx)
		for j := range block {
			o := base
			for k, s := range e.Subs {
				if s.At == nil {
					o += (s.Lo - 1 + idx[k]*s.Step) * stride[k]
				}
			}
			out.Data[i*block+j] = x.Data[o]
			for k := len(idx) - 1; k >= 0; k-- {
				if e.Subs[k].At != nil {
					continue
				}
				if idx[k]++; idx[k] < e.Subs[k].Count {
					break
				}
				idx[k] = 0
			}
		}
	}
	return out
}

func iota64(n int) []float64 {
	v := make([]float64, n)
	for i := range v {
		v[i] = float64(i)
	}
	return v
}

func (v *Evaluator) assemble(e *model.Assemble) *Value {
	shape := e.T.Shape
	outer := model.Free(e)
	out := &Value{axes: outer, shape: shape, Data: make([]float64, Counts(outer)*shape.Size())}
	for i := range out.Data {
		out.Data[i] = math.NaN()
	}
	full := shape.Size()
	for _, p := range e.Pieces {
		axes := slices.Concat(outer, p.Indices)
		val := v.Eval(p.Value)
		data := val.Over(axes)
		inner := val.shape.Size()
		where := Offsets(v, p.Subs, shape, axes)
		block := where.Block
		per := Counts(p.Indices)
		for i := range where.Base {
			if where.Base[i] < 0 {
				continue
			}
			o := i/per*full + where.Base[i]
			for j, d := range block {
				if inner == 1 {
					out.Data[o+d] = data[i]
				} else {
					out.Data[o+d] = data[i*inner+j]
				}
			}
		}
	}
	return out
}

// Places says where a piece stores its elements: for each value of the axes, at the offset base (-1
// when out of bounds) plus each of block.
type Places struct {
	Base  []int
	Block []int
}

// Offsets returns the places of subs in an array of the given shape for all values of axes.
func Offsets(v *Evaluator, subs []model.Sub, shape types.Shape, axes []*model.Index) Places {
	p := Places{Base: make([]int, Counts(axes)), Block: []int{0}}
	if subs == nil {
		p.Block = make([]int, shape.Size())
		for i := range p.Block {
			p.Block[i] = i
		}
		return p
	}
	stride := shape.Strides()
	for k, s := range subs {
		if s.At == nil {
			next := make([]int, 0, len(p.Block)*s.Count)
			for _, b := range p.Block {
				for i := range s.Count {
					next = append(next, b+(s.Lo-1+i*s.Step)*stride[k])
				}
			}
			p.Block = next
			continue
		}
		at := v.Eval(s.At).Over(axes)
		for i, x := range at {
			if !(x >= 1 && x <= float64(shape[k])) || x != math.Floor(x) {
				p.Base[i] = -1
			} else if p.Base[i] >= 0 {
				p.Base[i] += (int(x) - 1) * stride[k]
			}
		}
	}
	return p
}

func reduce(name string, x []float64) float64 {
	switch name {
	case "sum":
		return elem.Sum(x)
	case "prod":
		return fold(x, 1, elem.Mul)
	case "min":
		return fold(x, math.Inf(1), elem.Min)
	case "max":
		return fold(x, math.Inf(-1), elem.Max)
	}
	panic("tabulate: no reduction " + name)
}

func fold(x []float64, empty float64, f func(a, b float64) float64) float64 {
	if len(x) == 0 {
		return empty
	}
	m := x[0]
	for _, a := range x[1:] {
		m = f(m, a)
	}
	return m
}

// ApplyFunc applies a row of the function table.
func ApplyFunc(fn *stdlib.Func, shape types.Shape, args []*Value) *Value {
	switch fn.Class {
	case stdlib.Elementwise, stdlib.Comparison, stdlib.Logic:
		row := fn.Op.Row()
		if fn.Name == "^" && args[1].axes == nil && len(args[1].Data) == 1 {
			// As on the tape, a power with a whole constant exponent is a product.
			if n := args[1].Data[0]; n == math.Trunc(n) && math.Abs(n) <= 64 {
				return broadcast(shape, args, func(x []float64) float64 { return elem.Powi(x[0], int(n)) })
			}
		}
		switch row.Arity {
		case 1:
			return broadcast(shape, args, func(x []float64) float64 { return row.Real1(x[0]) })
		case 2:
			return broadcast(shape, args, func(x []float64) float64 { return row.Real2(x[0], x[1]) })
		default:
			return broadcast(shape, args, func(x []float64) float64 { return row.Real3(x[0], x[1], x[2]) })
		}
	case stdlib.Reduction:
		x := args[0]
		n := x.shape.Size()
		out := &Value{axes: x.axes, Data: make([]float64, Counts(x.axes))}
		for i := range out.Data {
			out.Data[i] = reduce(fn.Name, x.Data[i*n:(i+1)*n])
		}
		return out
	}
	// Structure: one value of the axes after the other.
	out := &Value{axes: union(args...), shape: shape}
	n, size := Counts(out.axes), shape.Size()
	out.Data = make([]float64, n*size)
	data := make([][]float64, len(args))
	for k, a := range args {
		data[k] = a.Over(out.axes)
	}
	x := make([][]float64, len(args))
	for i := range n {
		for k, a := range args {
			s := a.shape.Size()
			x[k] = data[k][i*s : (i+1)*s]
		}
		structure(fn.Name, out.Data[i*size:(i+1)*size], x, args)
	}
	return out
}

// structure computes one result dst of a Structure row from the elements x of args.
func structure(name string, dst []float64, x [][]float64, args []*Value) {
	switch name {
	case "interval":
		dst[0] = float64(sort.Search(len(x[1]), func(i int) bool { return x[1][i] > x[0][0] }))
	case "pick":
		n := len(x[0]) / len(dst)
		for i := range dst {
			dst[i] = x[0][i*n+int(x[1][0])]
		}
	case "dot":
		dst[0] = elem.Dot(x[0], x[1])
	case "outer":
		m := len(x[1])
		for i, a := range x[0] {
			for j, b := range x[1] {
				dst[i*m+j] = a * b
			}
		}
	case "transpose":
		r, c := args[0].shape[0], args[0].shape[1]
		for i := range r {
			for j := range c {
				dst[j*r+i] = x[0][i*c+j]
			}
		}
	case "diag":
		if n := args[0].shape[0]; len(args[0].shape) == 1 {
			clear(dst)
			for i := range n {
				dst[i*n+i] = x[0][i]
			}
		} else {
			for i := range n {
				dst[i] = x[0][i*n+i]
			}
		}
	case "@":
		a, b := args[0].shape, args[1].shape
		if len(a) == 1 && len(b) == 1 {
			dst[0] = elem.Dot(x[0], x[1])
			return
		}
		inner := a[len(a)-1]
		rows, cols := 1, 1
		if len(a) == 2 {
			rows = a[0]
		}
		if len(b) == 2 {
			cols = b[1]
		}
		for i := range rows {
			for j := range cols {
				s := 0.0
				for k := range inner {
					s = math.FMA(x[0][i*inner+k], x[1][k*cols+j], s)
				}
				dst[i*cols+j] = s
			}
		}
	default:
		panic("tabulate: no structure function " + name)
	}
}
