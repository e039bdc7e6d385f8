package implicit

import (
	"math/big"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/stages"
	"odes.dev/odes/solvers/tableau"
)

// implicitScheme is an implicitTable in double precision. Rows are those of K.
type implicitScheme struct {
	stages.Dense
	tab  *implicitTable
	info solvers.Info
	rows int

	c      []float64
	a      []stages.Form // of the stage values
	before []stages.Form // what of a belongs to rows before the block
	within []stages.Form // and to the block itself
	b, e   stages.Form
	blocks []implicitBlock
	sizes  int // rows of the largest block that is solved

	// Transposed: the terms of k̄_i over ȳ₁ (row 0) and Z_j (row 1+j) of all rows, and of those after the block.
	at, after []stages.Form
	sum       stages.Form // ȳ₀ over Z_i
	live      []bool      // y₁ depends on the row
	seen      []bool      // y₁ or the dense output does
	bi        []float64

	plain   []bool    // the row is explicit
	closes  bool      // y₁ is a stage whose equations are solved: the method is stiffly accurate
	own     []float64 // of the rows that are solved one by one: a_ii of the first; nil for none
	filter  []float64 // φ; nil for none
	filters int       // how many times it is applied
}

// implicitBlock are rows that are solved at once, or one explicit row.
type implicitBlock struct {
	from, to int
	explicit bool
	end      bool // the row is f(t+h, y₁)
	a        []float64
}

// newImplicitScheme panics on a table whose figures are malformed.
func newImplicitScheme(t *implicitTable) *implicitScheme {
	x, err := t.figures()
	if err != nil {
		panic(err)
	}
	n := len(x.A)
	r := &implicitScheme{
		tab: t, rows: n, b: stages.Sparse(tableau.RoundAll(x.B)), e: stages.Sparse(tableau.RoundAll(x.E)),
		before: make([]stages.Form, n), within: make([]stages.Form, n),
		live: make([]bool, n), seen: make([]bool, n), plain: make([]bool, n),
		info: solvers.Info{
			Name: t.Name, Order: t.Order, Embedded: t.Embedded, Stages: n, DenseOrder: t.DenseOrder, FSAL: x.end,
			End: -1, Evals: n - 1, Iterates: true,
		},
	}
	if x.end {
		r.info.End = n - 1
		r.info.Evals--
	} else {
		r.info.Evals++ // row 0
	}
	if x.filter != nil {
		r.filter, r.filters = []float64{tableau.Round(x.filter)}, 1
		if t.Twice {
			r.filters = 2
		}
	}
	for i := range n {
		r.c = append(r.c, tableau.Round(x.C[i]))
		r.a = append(r.a, stages.Sparse(tableau.RoundAll(x.A[i])))
		r.bi = append(r.bi, tableau.Round(x.B[i]))
		r.seen[i] = r.Add(i, tableau.Centred(x.Beta[i])) || r.seen[i]
	}
	r.info.DenseDegree = r.Degree()
	r.look()
	blockOf := r.divide(x)
	for i, row := range r.a {
		if !r.plain[i] && slices.Equal(row.Row, r.b.Row) && slices.Equal(row.C, r.b.C) {
			r.closes = true
		}
	}
	for range n { // what a row needs is needed as it is itself
		for i, row := range x.A {
			for j, v := range row {
				if v.Sign() != 0 {
					r.live[j] = r.live[j] || r.live[i]
					r.seen[j] = r.seen[j] || r.seen[i]
				}
			}
		}
	}
	r.transpose(x, blockOf)
	return r
}

// look notes the nodes that can be looked at for what happens within a step, and the stages that the solution reads.
func (r *implicitScheme) look() {
	// A stage may lie beyond the step. Nobody looks there for what happens within it.
	for _, c := range r.c {
		if c >= 0 && c <= 1 && !slices.Contains(r.info.Nodes, c) {
			r.info.Nodes = append(r.info.Nodes, c)
		}
	}
	slices.Sort(r.info.Nodes)
	for _, i := range r.b.Row {
		r.seen[i], r.live[i] = true, true
		if slices.Contains(r.e.Row, i) && slices.Contains(r.info.Nodes, r.c[i]) {
			r.info.Weighted = append(r.info.Weighted, r.c[i])
		}
	}
}

// divide makes the blocks of stages that are solved together, and returns for each stage where its block ends.
func (r *implicitScheme) divide(x *Figures) (blockOf []int) {
	n := r.rows
	part := func(row []*big.Rat, from, to int) stages.Form {
		only := zeros(n)
		copy(only[from:to], row[from:to])
		return stages.Sparse(tableau.RoundAll(only))
	}
	blockOf = make([]int, n)
	for _, at := range x.blocks {
		b := implicitBlock{from: at[0], to: at[1], explicit: x.A[at[0]][at[0]].Sign() == 0 && at[1] == at[0]+1}
		b.end = x.end && b.to == n
		for i := b.from; i < b.to; i++ {
			blockOf[i] = b.to
			r.before[i], r.within[i] = part(x.A[i], 0, b.from), part(x.A[i], b.from, b.to)
			for j := b.from; j < b.to; j++ {
				b.a = append(b.a, tableau.Round(x.A[i][j]))
			}
		}
		r.plain[b.from] = b.explicit
		if r.own == nil && !b.explicit && b.to == b.from+1 {
			r.own = b.a
		}
		if !b.explicit {
			r.info.Solved += b.to - b.from
			r.sizes = max(r.sizes, b.to-b.from)
		}
		r.blocks = append(r.blocks, b)
	}
	blockOf[0], r.plain[0] = 1, true
	return blockOf
}

// transpose makes the columns of the table.
func (r *implicitScheme) transpose(x *Figures, blockOf []int) {
	n := r.rows
	r.at, r.after = make([]stages.Form, n), make([]stages.Form, n)
	for j := range n {
		all, after := zeros(1+n), zeros(1+n)
		all[0], after[0] = x.B[j], x.B[j]
		for i := range n {
			all[1+i] = x.A[i][j]
			if i >= blockOf[j] {
				after[1+i] = x.A[i][j]
			}
		}
		r.at[j], r.after[j] = stages.Sparse(tableau.RoundAll(all)), stages.Sparse(tableau.RoundAll(after))
		r.sum.Row, r.sum.C = append(r.sum.Row, 1+j), append(r.sum.C, 1)
	}
}
