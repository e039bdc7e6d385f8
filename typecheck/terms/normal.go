package terms

import (
	"fmt"
	"math"
	"slices"

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

// factor returns the rows of the Cholesky factor of a matrix of n rows, which is made symmetric.
func (b matrix) factor(n int, w func(i, j int) model.Expr) [][]model.Expr {
	l := make([][]model.Expr, n)
	for i := range l {
		l[i] = make([]model.Expr, i+1)
		for j := range i + 1 {
			s := w(i, j)
			if i != j {
				s = b.op("*", b.num(0.5), b.op("+", s, w(j, i)))
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
	l := b.factor(r.Scale.Type().Shape[0], func(i, j int) model.Expr { return b.elem(r.Scale, i, j) })
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

// Blocks returns the rows of a symmetric matrix that elements which are not zero tie together, and whether blocks have
// no zeros. One value stands for all.
func Blocks(values []float64, n int) (blocks [][]int, full bool) {
	is := func(i, j int) bool { return values[min(i*n+j, len(values)-1)] != 0 }
	seen := make([]bool, n)
	full = true
	for first := range n {
		if seen[first] {
			continue
		}
		seen[first] = true
		block := []int{first}
		for k := 0; k < len(block); k++ {
			for j := range n {
				if !seen[j] && (is(block[k], j) || is(j, block[k])) {
					seen[j] = true
					block = append(block, j)
				}
			}
		}
		slices.Sort(block)
		for _, i := range block {
			for _, j := range block {
				full = full && is(i, j)
			}
		}
		blocks = append(blocks, block)
	}
	return blocks, full
}

// Correlations is the negative logarithm of the density lkj(eta) of the correlations of a matrix of covariances, with
// these values in the text, block by block: (1 - eta) log det R, less log of the constant. Standard deviations do not
// count. Reference: Lewandowski, Kurowicka and Joe, J Multivar Anal 100:1989 (2009). The constant is as Stan has it:
// for K rows (K-1) lgamma(eta + (K-1)/2), less k/2 log pi + lgamma(eta + (K-1-k)/2) for each k from 1 to K-1.
func Correlations(
	c Checker, at source.Span, s *model.Symbol, eta model.Expr, values []float64,
) (v model.Expr, blocks [][]int, wrong string) {
	if len(eta.Type().Shape) > 0 {
		return Bad(at), nil, "the prior of the correlations of a matrix has one number: lkj(2)"
	}
	if values == nil {
		return Bad(at), nil, fmt.Sprintf("which correlations of %q are zero is not known: lkj takes a matrix of "+
			"numbers, param Omega[2,2] = [[0.1, 0.01], [0.01, 0.1]]", s.Name)
	}
	blocks, full := Blocks(values, s.Type.Shape[0])
	if !full {
		return Bad(at), nil, fmt.Sprintf("lkj has no density of a matrix with zeros within a block, as %q has; "+
			"give all elements of a block numbers, or write standard deviations and correlations as params of their "+
			"own", s.Name)
	}
	b := matrix{c, at}
	value := model.Seal(&model.Ref{Base: model.NewBase(s.Type, at), Sym: s})
	total := b.num(0)
	for _, rows := range blocks {
		k := len(rows)
		if k == 1 {
			continue
		}
		gamma := func(more float64) model.Expr { return b.of("lgamma", b.op("+", eta, b.num(more))) }
		sum := b.op("*", b.num(float64(1-k)), gamma(float64(k-1)/2))
		for i := 1; i < k; i++ {
			part := b.op("+", b.num(float64(i)/2*math.Log(math.Pi)), gamma(float64(k-1-i)/2))
			sum = b.op("+", sum, part)
		}
		l := b.factor(k, func(i, j int) model.Expr { return b.elem(value, rows[i], rows[j]) })
		logDet := b.num(0)
		for i := range l {
			logDet = b.op("+", logDet, b.op("-", b.op("*", b.num(2), b.of("log", l[i][i])),
				b.of("log", b.elem(value, rows[i], rows[i]))))
		}
		sum = b.op("-", sum, b.op("*", b.op("-", eta, b.num(1)), logDet))
		total = b.op("+", total, sum)
	}
	return total, blocks, ""
}
