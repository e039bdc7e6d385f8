package sens

import (
	"math"
	"math/bits"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// transposed says where the derivatives of what goes backwards have entries, and which of the model's own they are
// made of. With F = (f, r), μ = (λ, q̄) and H = Σ μ_k ∂²F_k/∂y², those of λ' = -F_yᵀ μ along the
// solution are
//
//	by λ: -f_yᵀ,   by t: -d/dt F_yᵀ μ = -(H y' + Σ μ_k ∂²F_k/∂y∂t),
//
// and those of y' = f, λ' = -F_yᵀ μ
//
//	by y: f_y and -H,   by λ: 0 and -f_yᵀ,   by t: f_t and -Σ μ_k ∂²F_k/∂y∂t.
//
// With algebraic equations, f includes them, λ their unknowns μ, and both systems have the same mass matrix.
//
// The second derivatives of F are exact: H v + Σ μ_k ∂²F_k/∂y∂t v_t is the transpose of the entries of the
// Jacobian, applied to the products of μ and (v, v_t). It takes one of them for time, and for H as many as it has
// columns that share no row, in colours.
type transposed struct {
	of     *matrices.Jacobian // of the model
	places *matrices.Jacobian
	states []int32 // entries of f_y
	direct []int32 // entries of (f_y, f_t), where the state is integrated back
	second []element
	colour []int32 // [N] of the columns of H
	many   int     // colours
}

// element is row and column of an entry of H.
type element struct{ row, col int32 }

// transpose finds the places for n states. Entries are in the order direct, states, second, time.
func transpose(of *matrices.Jacobian, n int, backsolve bool) *transposed {
	p := &transposed{of: of, places: &matrices.Jacobian{Mass: of.Mass, Direct: true}}
	add := func(row, col int32) {
		p.places.Rows, p.places.Cols = append(p.places.Rows, row), append(p.places.Cols, col)
	}
	first, time := int32(0), int32(n) // λ's first row; the column of time
	if backsolve {
		first, time = time, 2*time
		for e, row := range of.Rows {
			if int(row) >= n {
				continue
			}
			p.direct = append(p.direct, int32(e))
			if col := of.Cols[e]; int(col) < n {
				add(row, col)
			} else {
				add(row, time)
			}
		}
	}
	for e, row := range of.Rows {
		if col := of.Cols[e]; int(row) < n && int(col) < n {
			p.states = append(p.states, int32(e))
			add(first+col, first+row)
		}
	}
	if backsolve {
		p.paint(n)
		for _, x := range p.second {
			add(first+x.row, x.col)
		}
	}
	for i := range int32(n) {
		add(first+i, time)
	}
	return p
}

// paint lists the entries of H, which has one where a row of F depends on both states, and colours its columns.
func (p *transposed) paint(n int) {
	reads := map[int32][]int32{} // rows of F → states
	for e, row := range p.of.Rows {
		if col := p.of.Cols[e]; int(col) < n {
			reads[row] = append(reads[row], col)
		}
	}
	by := make([][]int32, n) // states → rows of F
	for e, row := range p.of.Rows {
		if col := p.of.Cols[e]; int(col) < n {
			by[col] = append(by[col], row)
		}
	}
	p.colour = make([]int32, n)
	last := make([]int32, n)     // the column, counted from 1, in which a row was met last
	taken := make([][]uint64, n) // rows of H → colours of its columns
	busy := make([]uint64, n/64+1)
	for col := range int32(n) {
		from := len(p.second)
		for _, row := range by[col] {
			for _, i := range reads[row] {
				if last[i] != col+1 {
					last[i] = col + 1
					p.second = append(p.second, element{i, col})
				}
			}
		}
		if len(p.second) == from {
			continue
		}
		clear(busy)
		for _, x := range p.second[from:] {
			for w, colours := range taken[x.row] {
				busy[w] |= colours
			}
		}
		w := 0
		for busy[w] == math.MaxUint64 {
			w++
		}
		bit := bits.TrailingZeros64(^busy[w])
		for _, x := range p.second[from:] {
			for len(taken[x.row]) <= w {
				taken[x.row] = append(taken[x.row], 0)
			}
			taken[x.row][w] |= 1 << bit
		}
		p.colour[col] = int32(64*w + bit)
		p.many = max(p.many, 64*w+bit+1)
	}
}

// differentiator evaluates the derivatives of what goes backwards.
type differentiator struct {
	*transposed
	field   matrices.CotangentJacobianField
	inner   solvers.Interpolant // of the run
	entries []float64           // [E] of the model
	jb      []float64           // [E]
	along   []float64           // [N+1] (v, v_t)
	hv, tb  []float64           // [N], [1]
}

// Jacobian implements matrices.JacobianField.
func (f *flow) Jacobian() *matrices.Jacobian { return f.derive.places }

// EvalJacobian implements matrices.JacobianField.
func (f *flow) EvalJacobian(t float64, z, j []float64) {
	d := f.derive
	n := f.n
	y, lam := f.y, z
	clear(d.along)
	if f.backsolve {
		y, lam = z[:n], z[n:]
	} else {
		d.inner.InterpolateSlope(f.sys, &f.dense, f.theta(t), y, d.along[:n])
	}
	t = f.within(t)
	d.field.EvalJacobian(t, y, d.entries)
	for _, e := range d.direct {
		j[0], j = d.entries[e], j[1:]
	}
	for _, e := range d.states {
		j[0], j = -d.entries[e], j[1:]
	}
	for c := range d.many {
		for i, own := range d.colour {
			d.along[i] = 0
			if int(own) == c {
				d.along[i] = 1
			}
		}
		f.product(t, y, lam)
		for k, x := range d.second {
			if int(d.colour[x.col]) == c {
				j[k] = -d.hv[x.row]
			}
		}
	}
	j = j[len(d.second):]
	if f.backsolve {
		clear(d.along)
	}
	d.along[n] = 1
	f.product(t, y, lam)
	for i, v := range d.hv {
		j[i] = -v
	}
}

// product makes derive.hv the derivative of F_yᵀ μ along derive.along.
func (f *flow) product(t float64, y, lam []float64) {
	d := f.derive
	for e, row := range d.of.Rows {
		mu := f.fb
		if int(row) < f.n {
			mu = lam
		} else {
			row -= int32(f.n)
		}
		d.jb[e] = float64(mu[row] * d.along[d.of.Cols[e]])
	}
	d.field.PullJacobian(t, y, d.jb, d.hv, d.tb)
}
