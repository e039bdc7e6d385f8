package terms

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/stdlib"
)

// Densities of vectors and of matrices are written out by elements, with the Cholesky factor of a matrix: vectors of
// random effects are short.

// matrix writes terms of the elements of a small matrix.
type matrix struct {
	c  Checker
	at source.Span
}

func (b matrix) op(name string, x, y model.Expr) model.Expr {
	return b.c.Apply(stdlib.Operator(name), b.at, x, y)
}

func (b matrix) of(name string, x model.Expr) model.Expr {
	return b.c.Apply(stdlib.Find(name, stdlib.Elementwise), b.at, x)
}

func (b matrix) num(x float64) model.Expr { return Number(x, units.Unit{}, b.at) }

// elem is v[i, j, …], from 0.
func (b matrix) elem(v model.Expr, at ...int) model.Expr {
	t := v.Type()
	t.Shape = nil
	subs := make([]model.Sub, len(at))
	for k, i := range at {
		subs[k] = model.Sub{At: b.num(float64(i + 1))}
	}
	return b.c.Fold(&model.Access{Base: model.NewBase(t, b.at), X: v, Subs: subs})
}

// factor returns the rows of the Cholesky factor of a matrix, which is made symmetric.
func (b matrix) factor(w model.Expr) [][]model.Expr {
	l := make([][]model.Expr, w.Type().Shape[0])
	for i := range l {
		l[i] = make([]model.Expr, i+1)
		for j := range i + 1 {
			s := b.elem(w, i, j)
			if i != j {
				s = b.op("*", b.num(0.5), b.op("+", s, b.elem(w, j, i)))
			}
			for k := range j {
				s = b.op("-", s, b.op("*", l[i][k], l[j][k]))
			}
			if i == j {
				l[i][i] = b.of("sqrt", s)
			} else {
				l[i][j] = b.op("/", s, l[j][j])
			}
		}
	}
	return l
}

// Jointly is the negative logarithm of the normal density of a random effect with a matrix of covariances, at its
// value: of all its occasions, where it has some.
func Jointly(c Checker, at source.Span, r *model.Random) model.Expr {
	b := matrix{c, at}
	l := b.factor(r.Scale)
	value := model.Seal(&model.Ref{Base: model.NewBase(r.Sym.Type, at), Sym: r.Sym})
	const halfLog2Pi = 0.91893853320467274178
	occasions := max(1, len(r.Entries))
	sum := b.num(halfLog2Pi * float64(occasions*len(l)))
	for i := range l {
		sum = b.op("+", sum, b.op("*", b.num(float64(occasions)), b.of("log", l[i][i])))
	}
	for o := range occasions {
		z := make([]model.Expr, len(l)) // of the factor with which the value is L z
		for i := range l {
			from := []int{i}
			if r.Entries != nil {
				from = []int{o, i}
			}
			z[i] = b.elem(value, from...)
			for k := range i {
				z[i] = b.op("-", z[i], b.op("*", l[i][k], z[k]))
			}
			z[i] = b.op("/", z[i], l[i][i])
			sum = b.op("+", sum, b.op("*", b.num(0.5), b.op("*", z[i], z[i])))
		}
	}
	return sum
}
