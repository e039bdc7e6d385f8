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
// enough, and negative where an odd number of real eigenvalues λ is above 1/h. Of more states than mostOwn the matrix of
// the step is looked at, and eigenvalues above 1/(hγ). States that rest, since their rates are zero and depend only on
// each other, grow out of nothing and do not count. Systems with a mass matrix are not looked at.
func (r *rosenbrock) Outgrown(s *solvers.Step) bool {
	if r.plan == nil || r.plan.Mass != nil || !r.mayGrow(s.H) {
		return false
	}
	rests := r.resting(s.K[:r.N])
	moving := 0
	for _, rest := range rests {
		if !rest {
			moving++
		}
	}
	if moving <= mostOwn {
		return r.signOf(rests, false, 1, s.H) < 0
	}
	lu, ok := r.lu.(linalg.Signed)
	return ok && r.N-moving <= mostOwn && lu.Sign()*r.signOf(rests, true, r.inverse, s.H) < 0
}

// mayGrow reports whether an eigenvalue above 1/h is possible, by the circles of Gershgorin.
func (r *rosenbrock) mayGrow(h float64) bool {
	most := r.Slope[:r.N]
	clear(most)
	for e, i := range r.jac.Rows {
		j := int(r.jac.Cols[e])
		switch {
		case int(i) >= r.N || j >= r.N:
		case int(i) == j:
			most[i] += r.j[e]
		default:
			most[i] += math.Abs(r.j[e])
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
func (r *rosenbrock) resting(rates []float64) []bool {
	rests := make([]bool, r.N)
	for i, f := range rates {
		rests[i] = f == 0
	}
	for changed := true; changed; {
		changed = false
		for e, i := range r.jac.Rows {
			if int(i) >= r.N || !rests[i] || r.j[e] == 0 {
				continue
			}
			if j := int(r.jac.Cols[e]); j >= r.N || !rests[j] {
				rests[i], changed = false, true
			}
		}
	}
	return rests
}

// signOf returns the sign of the determinant of by I - hJ of the states that rest, or of those that do not.
func (r *rosenbrock) signOf(rests []bool, rest bool, by, h float64) int {
	at, n := make([]int, r.N), 0
	for i := range at {
		if at[i] = -1; rests[i] == rest {
			at[i], n = n, n+1
		}
	}
	w := make([]float64, n*n)
	for k := range n {
		w[k*n+k] = by
	}
	for e, i := range r.jac.Rows {
		j := int(r.jac.Cols[e])
		if int(i) < r.N && j < r.N && at[i] >= 0 && at[j] >= 0 {
			k := at[i]*n + at[j]
			w[k] = math.FMA(-h, r.j[e], w[k])
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
