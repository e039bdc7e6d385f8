package model

import (
	"maps"
	"slices"

	"odes.dev/odes/lang/source"
)

// Drawn is what a model says of distributions.
type Drawn struct {
	Priors []Draw // of params, in file order
	// Matrices are the priors of the correlations of matrices of covariances, which are no Priors of their elements.
	Matrices []Draw
	Randoms  []*Random // in file order
	// Individual are the random effects of the model of one experiment alone, in place of Randoms. They are params, and
	// nll() has the density of their values.
	Individual []*Random
}

// Random is a random effect: a number, or a vector, that every experiment has for itself. The likelihood is integrated
// over it. In an experiment it is a param, which is zero unless somebody sets it.
type Random struct {
	Sym *Symbol
	// Scale follows from params: the standard deviation, one or one for each element, or the matrix of covariances.
	Scale  Expr
	Matrix bool // Scale is a matrix of covariances
	// Column is the column, "D.OCC", of a random effect of occasions, and Entries are what stands in it, in rising
	// order: the first axis of Sym is theirs. Present says which of them an experiment has; nil in the model itself.
	Column  string
	Entries []float64
	Present []bool
	Span    source.Span
}

// Scales reports whether the distribution of a random effect follows from a param.
func (d *Drawn) Scales(param string) bool {
	return slices.ContainsFunc(d.Randoms, func(r *Random) bool {
		return slices.Contains(ParamsOf(map[string]Expr{"": r.Scale}), param)
	})
}

// Random returns the random effect that a name is; nil where it is none.
func (d *Drawn) Random(name string) *Random {
	for _, r := range d.Randoms {
		if r.Sym.Name == name {
			return r
		}
	}
	return nil
}

// ParamsOf returns the names of the params that expressions read, also by what other params follow from.
func ParamsOf(args map[string]Expr) []string {
	var names []string
	var read func(e Expr)
	read = func(e Expr) {
		Walk(func(e Expr) bool {
			if r, ok := e.(*Ref); ok && r.Sym.Kind == ParamSymbol && !slices.Contains(names, r.Sym.Name) {
				names = append(names, r.Sym.Name)
				read(r.Sym.Value)
			}
			return true
		}, e)
	}
	for _, name := range slices.Sorted(maps.Keys(args)) {
		read(args[name])
	}
	return names
}

// Circle returns a param whose prior depends, by those of others, on the param itself: such priors are no distribution.
// "" stands for none.
func Circle(priors []Draw) string {
	of := map[string]*Draw{}
	for i := range priors {
		of[priors[i].Target.Name] = &priors[i]
	}
	const entered, left = 1, 2
	state := map[string]int{}
	var visit func(name string) bool
	visit = func(name string) bool {
		d := of[name]
		if d == nil || state[name] == left {
			return true
		}
		if state[name] == entered {
			return false
		}
		state[name] = entered
		for _, on := range d.Of {
			if !visit(on) {
				return false
			}
		}
		state[name] = left
		return true
	}
	for i := range priors {
		if !visit(priors[i].Target.Name) {
			return priors[i].Target.Name
		}
	}
	return ""
}

// Keep returns the rows of t that keep tells: t itself if it is all.
func (t *Table) Keep(keep []bool) *Table {
	if !slices.Contains(keep, false) {
		return t
	}
	out := &Table{Name: t.Name, Columns: t.Columns, Data: make([][]float64, len(t.Data)), Span: t.Span}
	for r := range keep {
		if !keep[r] {
			continue
		}
		row := r + 1
		if t.Rows != nil {
			row = t.Rows[r]
		}
		out.Rows = append(out.Rows, row)
		for i, d := range t.Data {
			out.Data[i] = append(out.Data[i], d[r])
		}
	}
	return out
}
