package tabulate

import (
	"fmt"
	"math"
	"math/rand"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/stdlib"
)

func num(x float64) model.Expr {
	return model.Seal(&model.Const{
		Base: model.NewBase(types.Type{Kind: types.Real}, source.Span{}),
		Data: []float64{x},
	})
}

func call(fn *stdlib.Func, shape types.Shape, args ...model.Expr) model.Expr {
	return model.Seal(&model.Call{
		Base: model.NewBase(types.Type{Kind: types.Real, Shape: shape}, source.Span{}),
		Fn:   fn, Args: args,
	})
}

// naive evaluates a scalar expression for one value of the loop variables. It is the specification
// of Tabulate.
func naive(e model.Expr, env map[*model.Index]float64) float64 {
	switch e := e.(type) {
	case *model.Const:
		return e.Data[0]
	case *model.LoopVar:
		return env[e.Index]
	case *model.If:
		if naive(e.Cond, env) != 0 {
			return naive(e.Then, env)
		}
		return naive(e.Else, env)
	case *model.Call:
		x := make([]*Value, len(e.Args))
		for i, a := range e.Args {
			x[i] = &Value{Data: []float64{naive(a, env)}}
		}
		return ApplyFunc(e.Fn, nil, x).Data[0]
	case *model.Access:
		c := e.X.(*model.Const)
		o := 0
		for k, s := range e.Subs {
			p := naive(s.At, env)
			if p != math.Floor(p) || p < 1 || p > float64(c.T.Shape[k]) {
				return math.NaN()
			}
			o = o*c.T.Shape[k] + int(p) - 1
		}
		return c.Data[o]
	case *model.Reduce:
		var all []float64
		var rec func(k int)
		rec = func(k int) {
			if k == len(e.Indices) {
				all = append(all, naive(e.Body, env))
				return
			}
			ix := e.Indices[k]
			for i := range ix.Count {
				env[ix] = float64(ix.Lo + i*ix.Step)
				rec(k + 1)
			}
			delete(env, ix)
		}
		rec(0)
		return reduce(e.Fn.Name, all)
	}
	panic("naive")
}

func TestTabulateMatchesNaive(t *testing.T) {
	r := rand.New(rand.NewSource(int64(seeds.Of(t, 1))))
	table := make([]float64, 35)
	for i := range table {
		table[i] = float64(r.Intn(9) - 2)
	}
	arr := model.Seal(&model.Const{Base: model.NewBase(types.Type{Kind: types.Real, Shape: types.Shape{5, 7}},
		source.Span{}), Data: table})
	real := types.Type{Kind: types.Real}
	var gen func(depth int, scope []*model.Index) model.Expr
	gen = func(depth int, scope []*model.Index) model.Expr {
		if depth == 0 {
			if r.Intn(3) > 0 && len(scope) > 0 {
				return model.Seal(&model.LoopVar{
					Base:  model.NewBase(real, source.Span{}),
					Index: scope[r.Intn(len(scope))],
				})
			}
			return num(float64(r.Intn(7) - 2))
		}
		switch r.Intn(8) {
		case 0:
			return model.Seal(&model.If{
				Base: model.NewBase(real, source.Span{}),
				Cond: call(stdlib.Operator("<="), nil, gen(depth-1, scope),
					gen(depth-1, scope)), Then: gen(depth-1, scope), Else: gen(depth-1, scope), Static: true,
			})
		case 1:
			return model.Seal(&model.Access{
				Base: model.NewBase(real, source.Span{}), X: arr,
				Subs: []model.Sub{{At: gen(depth-1, scope)}, {At: gen(depth-1, scope)}},
			})
		case 2:
			ix := &model.Index{Name: "s", Lo: r.Intn(3), Step: 1 + r.Intn(2), Count: 1 + r.Intn(3)}
			return model.Seal(&model.Reduce{
				Base:    model.NewBase(real, source.Span{}),
				Fn:      stdlib.Find([]string{"sum", "max", "min", "prod"}[r.Intn(4)], stdlib.Reduction),
				Indices: []*model.Index{ix}, Body: gen(depth-1, append(scope[:len(scope):len(scope)], ix)),
			})
		case 3:
			return call(stdlib.Find("mod", stdlib.Elementwise), nil, gen(depth-1, scope), num(float64(1+r.Intn(4))))
		case 4:
			return call(stdlib.Operator("^"), nil, gen(depth-1, scope), num(float64(r.Intn(4))))
		}
		return call(stdlib.Operator([]string{"+", "-", "*"}[r.Intn(3)]), nil, gen(depth-1, scope), gen(depth-1, scope))
	}
	axes := []*model.Index{
		{Name: "i", Lo: 1, Step: 1, Count: 4},
		{Name: "j", Lo: 2, Step: 3, Count: 3},
		{Name: "k", Lo: 0, Step: 1, Count: 2},
	}
	for range 2000 {
		e := gen(4, axes)
		order := r.Perm(3)
		perm := []*model.Index{axes[order[0]], axes[order[1]], axes[order[2]]}
		got := Tabulate(e, perm)
		n := 0
		for _, a := range perm[0].Values() {
			for _, b := range perm[1].Values() {
				for _, c := range perm[2].Values() {
					want := naive(e, map[*model.Index]float64{perm[0]: a, perm[1]: b, perm[2]: c})
					if got[n] != want && !(math.IsNaN(got[n]) && math.IsNaN(want)) {
						t.Fatalf("at %v %v %v: got %g, want %g", a, b, c, got[n], want)
					}
					n++
				}
			}
		}
		if n != len(got) {
			t.Fatalf("%d values, want %d", len(got), n)
		}
	}
}

func TestFree(t *testing.T) {
	i, j := &model.Index{Name: "i", Count: 2}, &model.Index{Name: "j", Count: 3}
	li := model.Seal(&model.LoopVar{Index: i})
	lj := model.Seal(&model.LoopVar{Index: j})
	sum := &model.Reduce{
		Fn: stdlib.Find("sum", stdlib.Reduction), Indices: []*model.Index{j},
		Body: call(stdlib.Operator("+"), nil, lj, li),
	}
	if got := fmt.Sprint(names(model.Free(sum))); got != "[i]" {
		t.Errorf("free of a node made elsewhere: %s", got)
	}
	if got := fmt.Sprint(names(model.Free(model.Seal(sum)))); got != "[i]" {
		t.Errorf("free of a sealed node: %s", got)
	}
}

func names(ix []*model.Index) (s []string) {
	for _, i := range ix {
		s = append(s, i.Name)
	}
	return s
}

func BenchmarkTabulateOneOfTwo(b *testing.B) {
	i := &model.Index{Name: "i", Lo: 1, Step: 1, Count: 512}
	e := call(stdlib.Find("min", stdlib.Elementwise), nil,
		call(stdlib.Operator("+"), nil, model.Seal(&model.LoopVar{Index: i}), num(1)), num(512))
	for b.Loop() {
		Tabulate(e, []*model.Index{i})
	}
}
