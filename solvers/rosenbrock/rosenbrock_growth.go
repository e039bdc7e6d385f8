package rosenbrock

import (
	"math"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
)

// mostOwn is how many states a matrix has at most that is factored for its sign alone.
const mostOwn = 32

// Outgrown reports whether something grows by a factor of e or more within the trial step s, at the rates of its start.
// An implicit step may damp it, or turn it round. det(I - hJ) = Π (1 - hλ) is positive for all steps that are short
// enough, and negative where an odd number of real eigenvalues λ is above 1/h. Of more states than mostOwn the matrix
// of the step is looked at, and eigenvalues above 1/(hγ). States that rest, since their rates are zero and depend only
// on each other, grow out of nothing and do not count. Systems with a mass matrix are not looked at.
func (r *rosenbrock) Outgrown(s *solvers.Step) bool {
	if r.plan == nil || r.plan.Mass != nil {
		return false
	}
	j := jacobian{n: r.N, rows: r.jac.Rows, cols: r.jac.Cols, values: r.j}
	if !j.mayGrow(s.H, r.Slope[:r.N]) {
		return false
	}
	rests := j.resting(s.K[:r.N])
	moving := 0
	for _, rest := range rests {
		if !rest {
			moving++
		}
	}
	if moving <= mostOwn {
		return j.sign(rests, false, 1, s.H) < 0
	}
	lu, ok := r.lu.(linalg.Signed)
	return ok && r.N-moving <= mostOwn && lu.Sign()*j.sign(rests, true, r.inverse, s.H) < 0
}

// jacobian is ∂f/∂y of n states, with columns and rows that are not those of states.
type jacobian struct {
	n          int
	rows, cols []int32
	values     []float64
}

// mayGrow reports whether an eigenvalue above 1/h is possible, by the circles of Gershgorin. It changes most[n].
func (m *jacobian) mayGrow(h float64, most []float64) bool {
	clear(most)
	for e, i := range m.rows {
		j := int(m.cols[e])
		switch {
		case int(i) >= m.n || j >= m.n:
		case int(i) == j:
			most[i] += m.values[e]
		default:
			most[i] += math.Abs(m.values[e])
		}
	}
	for _, v := range most {
		if float64(h*v) > 1 {
			return true
		}
	}
	return false
}

// resting returns the states that stay where they are: those without a rate that no state that moves, nor time, gives
// one.
func (m *jacobian) resting(rates []float64) []bool {
	rests := make([]bool, m.n)
	for i, f := range rates {
		rests[i] = f == 0
	}
	for changed := true; changed; {
		changed = false
		for e, i := range m.rows {
			if int(i) >= m.n || !rests[i] || m.values[e] == 0 {
				continue
			}
			if j := int(m.cols[e]); j >= m.n || !rests[j] {
				rests[i], changed = false, true
			}
		}
	}
	return rests
}

// sign returns the sign of the determinant of by I - hJ of the states that rest, or of those that do not.
func (m *jacobian) sign(rests []bool, rest bool, by, h float64) int {
	at, n := make([]int, m.n), 0
	for i := range at {
		if at[i] = -1; rests[i] == rest {
			at[i], n = n, n+1
		}
	}
	w := make([]float64, n*n)
	for k := range n {
		w[k*n+k] = by
	}
	for e, i := range m.rows {
		j := int(m.cols[e])
		if int(i) < m.n && j < m.n && at[i] >= 0 && at[j] >= 0 {
			k := at[i]*n + at[j]
			w[k] = math.FMA(-h, m.values[e], w[k])
		}
	}
	return determinantSign(w, n)
}

// determinantSign returns the sign of the determinant of a[n·n] by elimination with partial pivoting, which changes a.
func determinantSign(a []float64, n int) int {
	sign := 1
	for k := range n {
		p := k
		for i := k + 1; i < n; i++ {
			if math.Abs(a[i*n+k]) > math.Abs(a[p*n+k]) {
				p = i
			}
		}
		if a[p*n+k] == 0 {
			return 0
		}
		if p != k {
			sign = -sign
			for j := range n {
				a[p*n+j], a[k*n+j] = a[k*n+j], a[p*n+j]
			}
		}
		if a[k*n+k] < 0 {
			sign = -sign
		}
		for i := k + 1; i < n; i++ {
			by := -a[i*n+k] / a[k*n+k]
			for j := k; j < n; j++ {
				a[i*n+j] = math.FMA(by, a[k*n+j], a[i*n+j])
			}
		}
	}
	return sign
}
