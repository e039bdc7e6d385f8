package fit_test

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/testing/seeds"
)

var (
	fitModels = flag.Int("fits", 100, "how many random fits TestCertified makes")
	fitSeed   = flag.Uint64("fitseed", 1, "the seed of the first of them")
)

// heldFit is a model that is linear in three numbers, a + b·t + c·t²/2 or a + b·t + c·(1 − e⁻ᵗ), with a fit of which
// the answer is known: it is found here by trying all sets of what may hold it.
type heldFit struct {
	text     string
	t, y     []float64
	sd       []float64
	laplace  bool
	decays   bool      // x' = b + c·exp(-t), of which runs have errors
	linear   []float64 // the objective is linearᵀp, if not nil
	lo, hi   [3]float64
	rows     [][3]float64 // of the constraints row·p − limit
	limits   []float64
	relation []string
}

// basis returns the derivatives of x at t.
func (r *heldFit) basis(t float64) [3]float64 {
	if r.decays {
		return [3]float64{1, t, 1 - math.Exp(-t)}
	}
	return [3]float64{1, t, t * t / 2}
}

func product(r, p [3]float64) float64 { return r[0]*p[0] + r[1]*p[1] + r[2]*p[2] }

// value returns the objective.
func (r *heldFit) value(p [3]float64) float64 {
	if r.linear != nil {
		return product([3]float64(r.linear), p)
	}
	sum := 0.0
	for i, t := range r.t {
		u := (product(r.basis(t), p) - r.y[i]) / r.sd[i]
		if r.laplace {
			sum += math.Abs(u) + math.Log(2*r.sd[i])
		} else {
			sum += u*u/2 + math.Log(r.sd[i]) + math.Log(2*math.Pi)/2
		}
	}
	return sum
}

// keeps reports whether p keeps bounds and constraints.
func (r *heldFit) keeps(p [3]float64) bool {
	const rounding = 1e-9
	for i, v := range p {
		if v < r.lo[i]-1e-11 || v > r.hi[i]+1e-11 || v != v {
			return false
		}
	}
	for k, row := range r.rows {
		size := math.Abs(r.limits[k])
		for i, v := range row {
			size += math.Abs(v * p[i])
		}
		off := product(row, p) - r.limits[k]
		if r.relation[k] != ">=" && off > rounding*size || r.relation[k] != "<=" && off < -rounding*size {
			return false
		}
	}
	return true
}

// gaussJordan solves a·x = b, n × n, by elimination; false if there is not one solution.
func gaussJordan(a [][]float64, b []float64) bool {
	n := len(b)
	for k := range n {
		best := k
		for i := k; i < n; i++ {
			if math.Abs(a[i][k]) > math.Abs(a[best][k]) {
				best = i
			}
		}
		if math.Abs(a[best][k]) < 1e-12 {
			return false
		}
		a[k], a[best], b[k], b[best] = a[best], a[k], b[best], b[k]
		for i := range n {
			if i == k {
				continue
			}
			f := a[i][k] / a[k][k]
			for j := range n {
				a[i][j] -= f * a[k][j]
			}
			b[i] -= f * b[k]
		}
	}
	for k := range n {
		b[k] /= a[k][k]
	}
	return true
}

// held returns the least point on equations, each a row and its value: of a sum of squares by its normal equations.
func (r *heldFit) held(rows [][3]float64, to []float64) (p [3]float64, ok bool) {
	k := len(rows)
	n := 3 + k
	a, b := make([][]float64, n), make([]float64, n)
	for i := range a {
		a[i] = make([]float64, n)
	}
	if !r.laplace && r.linear == nil {
		for i, t := range r.t {
			s := r.basis(t)
			w := 1 / (r.sd[i] * r.sd[i])
			for j := range 3 {
				b[j] += w * s[j] * r.y[i]
				for l := range 3 {
					a[j][l] += w * s[j] * s[l]
				}
			}
		}
	} else if k != 3 {
		return p, false
	}
	scale := 0.0
	for j := range 3 {
		scale = math.Max(scale, a[j][j])
	}
	for i, row := range rows {
		size := math.Abs(row[0]) + math.Abs(row[1]) + math.Abs(row[2])
		for j, v := range row {
			w := math.Max(scale, 1) / size
			a[3+i][j], a[j][3+i] = v*w, v*w
			b[3+i] = to[i] * w
		}
	}
	ok = gaussJordan(a, b)
	copy(p[:], b)
	return p, ok
}

// least tries all sets of up to three bounds, constraints and rows of data that may hold the minimum.
func (r *heldFit) least() (best [3]float64, held int, ok bool) {
	var rows [][3]float64
	var to []float64
	for i := range 3 {
		e := [3]float64{}
		e[i] = 1
		rows, to = append(rows, e, e), append(to, r.lo[i], r.hi[i])
	}
	rows, to = append(rows, r.rows...), append(to, r.limits...)
	if r.laplace {
		for i, t := range r.t {
			rows, to = append(rows, r.basis(t)), append(to, r.y[i])
		}
	}
	least := math.Inf(1)
	var try func(from int, a [][3]float64, b []float64)
	try = func(from int, a [][3]float64, b []float64) {
		if p, solved := r.held(a, b); solved && r.keeps(p) {
			if v := r.value(p); v < least-1e-12*math.Abs(least) || !ok {
				best, least, held, ok = p, v, len(a), true
			}
		}
		if len(a) == 3 {
			return
		}
		for i := from; i < len(rows); i++ {
			try(i+1, append(a[:len(a):len(a)], rows[i]), append(b[:len(b):len(b)], to[i]))
		}
	}
	try(0, nil, nil)
	return best, held, ok
}

// drawHeldFit draws one of a kind: bounds, constraint, laplace or linear.
func drawHeldFit(seed uint64, kind string) *heldFit {
	d := elem.NewRand(seed*0x9e3779b97f4a7c15 + 1)
	u := func(lo, hi float64) float64 { return lo + (hi-lo)*d.Float64() }
	pick := func(n int) int { return int(d.Uint64() % uint64(n)) }
	digits := func(v float64) float64 {
		var w float64
		fmt.Sscanf(fmt.Sprintf("%.4g", v), "%g", &w)
		return w
	}
	r := &heldFit{laplace: kind == "laplace", decays: kind == "decays"}
	truth, start := [3]float64{u(-2, 4), u(-1, 4), u(-1, 3)}, [3]float64{}
	n := 5 + pick(12)
	sd := digits(math.Pow(10, u(-2.5, 0.5)))
	for range n {
		t := digits(u(0.3, 8.5))
		r.t, r.sd = append(r.t, t), append(r.sd, sd)
		noise := sd * d.Norm()
		if kind == "laplace" {
			noise = sd * math.Log(d.Float64()+1e-9) * math.Copysign(1, d.Norm())
		}
		r.y = append(r.y, digits(product(r.basis(t), truth)+noise))
	}
	var log []string
	for i, name := range []string{"a", "b", "c"} {
		r.lo[i], r.hi[i], start[i] = -100, 100, digits(truth[i]+u(-1, 1))
		switch {
		case kind == "bounds", kind == "laplace" && pick(3) == 0:
			r.lo[i] = []float64{1e-9, 1e-6, 1e-3, 0, 0.5}[pick(5)]
			start[i] = digits(math.Max(r.lo[i], math.Abs(start[i])))
			if start[i] == 0 {
				start[i] = 0.1
			}
			if r.lo[i] > 0 && pick(3) == 0 {
				log = append(log, name)
			}
		case kind == "linear":
			r.lo[i], r.hi[i] = digits(u(-5, 0)), digits(u(0.1, 5))
			start[i] = digits(u(r.lo[i], r.hi[i]))
		}
	}
	b := new(strings.Builder)
	fmt.Fprintln(b, "time t from 0 to 9")
	for i, name := range []string{"a", "b", "c"} {
		fmt.Fprintf(b, "param %s = %v in [%v, %v]\n", name, start[i], r.lo[i], r.hi[i])
	}
	fmt.Fprintln(b, "state x = a\nx' = b + c*"+map[bool]string{true: "exp(-t)", false: "t"}[r.decays])
	list := func(v []float64) string { return strings.ReplaceAll(fmt.Sprint(v), " ", ", ") }
	if kind == "linear" {
		r.linear = []float64{digits(u(-1, 1)), digits(u(-1, 1)), digits(u(-1, 1))}
		fmt.Fprintf(b, "objective L = %v*a + %v*b + %v*c\n", r.linear[0], r.linear[1], r.linear[2])
	} else {
		noise := "normal"
		if kind == "laplace" {
			noise = "laplace"
		}
		fmt.Fprintf(b, "data D { time = %s  y = %s }\nobserve o = x ~ %s(%v) from D.y\nobjective L = nll()\n",
			list(r.t), list(r.y), noise, sd)
	}
	if kind == "constraint" || kind == "linear" || r.decays {
		inside := start
		for k := range 1 + pick(2) {
			row, text := r.basis(9), "final(x)"
			if k == 1 {
				row, text = [3]float64{1, -1, digits(u(-1, 1))}, ""
				text = fmt.Sprintf("a - b + %v*c", row[2])
			}
			relation := []string{"==", "<=", ">="}[pick(3)]
			// near the start: another point may keep both
			limit := digits(product(row, inside) + u(-1, 1)*math.Abs(row[1]))
			r.rows, r.limits = append(r.rows, row), append(r.limits, limit)
			r.relation = append(r.relation, relation)
			fmt.Fprintf(b, "constraint k%d: %s %s %v\n", k, text, relation, limit)
		}
	}
	fmt.Fprint(b, "fit { minimize = L  over = [a, b, c]  intervals = wald")
	if len(log) > 0 {
		fmt.Fprintf(b, "  log = [%s]", strings.Join(log, ", "))
	}
	fmt.Fprintln(b, " }")
	r.text = b.String()
	return r
}

// TestCertified fits random regressions with bounds, constraints or Laplace's noise, and linear programs. What is
// called ok must be the minimum. -fits and -fitseed make others:
//
//	go test ./fit -run TestCertified -fits 4000 -fitseed 1 -v
func TestCertified(t *testing.T) {
	kinds := []string{"bounds", "constraint", "laplace", "linear", "decays"}
	right, partial, none := map[string]int{}, map[string]int{}, map[string]int{}
	first := seeds.Of(t, *fitSeed)
	for i := range *fitModels {
		seed := first + uint64(i)
		kind := kinds[i%len(kinds)]
		r := drawHeldFit(seed, kind)
		best, held, feasible := r.least()
		got, err := fit.Run(t.Context(), parse(t, r.text), fit.Options{Workers: 1})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, r.text)
		}
		switch {
		case got.Status != "ok" && feasible:
			partial[kind]++
			t.Logf("seed %d, %s: %s, %+v, %v", seed, kind, got.Status, got.KKT, got.Warnings)
			continue
		case got.Status != "ok":
			none[kind]++
			continue
		case !feasible:
			t.Errorf("seed %d, %s: ok, and no point keeps the constraints\n%s", seed, kind, r.text)
			continue
		}
		right[kind]++
		least := r.value(best)
		tol := 1e-5
		if r.decays { // errors of runs
			tol = 1e-4
		}
		if kind == "linear" {
			for i, w := range r.linear {
				tol = math.Max(tol, 1e-5*math.Abs(w)*(r.hi[i]-r.lo[i]))
			}
		}
		p := [3]float64{}
		for k := range p {
			p[k] = got.Estimates[k].Value
		}
		if above := got.Objective.Value - least; !(math.Abs(above) <= tol+1e-9*math.Abs(least)) {
			t.Errorf("seed %d, %s: ok with L = %.9g at %v, which is %.3g above the least at %v (%d hold it)\n%s", seed,
				kind, got.Objective.Value, p, above, best, held, r.text)
		}
		if kind != "bounds" {
			continue
		}
		// What a bound holds has no standard error, and what is free has that of the normal equations without it.
		for k := range p {
			pressed := r.gain(best, k) > 1e-3
			if e := &got.Estimates[k]; pressed && best[k] <= r.lo[k]+1e-11 && !math.IsNaN(e.StdErr) {
				t.Errorf("seed %d: the bound of %s gains %.3g, and it has the standard error %g\n%s", seed, e.Name,
					r.gain(best, k), e.StdErr, r.text)
			}
		}
	}
	for _, k := range kinds {
		t.Logf("%-10s %d right, %d not certified, %d without a point that keeps constraints", k, right[k], partial[k],
			none[k])
		if n := right[k] + partial[k]; partial[k] > 1+n/50 {
			t.Errorf("%s: %d of %d minima were not certified", k, partial[k], n)
		}
	}
}

// gain returns how much less the objective would be if number k had no lower bound.
func (r *heldFit) gain(best [3]float64, k int) float64 {
	q := *r
	q.lo[k] = -1e6
	p, _, ok := q.least()
	if !ok {
		return 0
	}
	return r.value(best) - r.value(p)
}
