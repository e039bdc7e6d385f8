package system_test

import (
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"odes.dev/odes/internal/compile"
	"odes.dev/odes/internal/system"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// examples calls f for each example but those of more than 10,000 states, whose texts are like those of smaller ones.
func examples(t *testing.T, f func(t *testing.T, m *system.Model)) {
	files, err := filepath.Glob("../../examples/*/*.ode")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var list diag.List
			env := typecheck.Env{Files: os.DirFS(filepath.Dir(file))}
			checked, _ := compile.Text(file, string(text), env, &list)
			if list.HasErrors() {
				t.Fatal(list.Err())
			}
			m, _ := compile.Model(checked, &list)
			if list.HasErrors() {
				t.Fatal(list.Err())
			}
			if m.States() <= 10_000 {
				f(t, m)
			}
		})
	}
}

// jacobianAt is a model near the start of its run, with random directions and seeds in lanes.
type jacobianAt struct {
	p          *system.Problem
	t          float64
	y, d, m    []float64
	td, yd, pd []float64 // [·L]
	jb         []float64 // [E·L]
}

// testLanes is the number of lanes of directions and seeds.
const testLanes = 3

func newJacobianAt(t *testing.T, m *system.Model) *jacobianAt {
	t.Helper()
	p := m.Problem(pointOf(t, m), []int{0}, nil)
	p.Jacobian = true
	p.Differentiate(system.Names(m.Checked.Params))
	k, err := p.Kit(1, system.Values, false)
	if err != nil {
		t.Fatal(err)
	}
	w, size, r := p.Worker(k), p.Size(), rand.New(rand.NewPCG(1, 2))
	j := &jacobianAt{p: p, y: make([]float64, size.N), d: make([]float64, size.D), m: make([]float64, size.M)}
	times := make([]float64, len(w.Instants()))
	w.InstantTimes(j.d, times)
	j.t = times[solvers.InstantStart] + 0.37*(times[solvers.InstantEnd]-times[solvers.InstantStart])
	w.Start(times[solvers.InstantStart], j.y, j.d)
	for i := range j.y { // no ties
		j.y[i] += 0.01 * r.Float64() * (1 + math.Abs(j.y[i]))
	}
	w.Enter(j.d, j.m)
	w.Choose(j.t, j.y, nil, j.m)
	random := func(n int) []float64 {
		x := make([]float64, n*testLanes)
		for i := range x {
			x[i] = r.NormFloat64()
		}
		return x
	}
	j.td, j.yd, j.pd = random(1), random(size.N), random(size.P)
	j.jb = random(len(w.Jacobian().Rows))
	return j
}

// worker returns a worker that has entered the place.
func (j *jacobianAt) worker(t *testing.T, dir system.Direction, lanes int) *system.Worker {
	t.Helper()
	k, err := j.p.Kit(lanes, dir, false)
	if err != nil {
		t.Fatal(err)
	}
	w := j.p.Worker(k)
	w.Enter(j.d, j.m)
	return w
}

// complexly returns a worker in complex arithmetic, time and state, moved by h along lane l.
func (j *jacobianAt) complexly(l int, h float64) (w *system.ComplexWorker, t complex128, y []complex128) {
	w = j.p.ComplexWorker()
	p := make([]complex128, 0, len(j.pd)/testLanes)
	for i, x := range j.p.ActiveValues() {
		p = append(p, complex(x, h*j.pd[i*testLanes+l]))
	}
	w.SetParameters(p)
	d := make([]complex128, len(j.d))
	for i, x := range j.d {
		d[i] = complex(x, 0)
	}
	w.Enter(d, j.m)
	for i, x := range j.y {
		y = append(y, complex(x, h*j.yd[i*testLanes+l]))
	}
	return w, complex(j.t, h*j.td[l]), y
}

// near compares relative to the largest number.
func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	scale := 1e-300
	for _, x := range want {
		scale = math.Max(scale, math.Abs(x))
	}
	for i, x := range want {
		if !(math.Abs(got[i]-x) <= tol*scale) {
			t.Fatalf("%s: element %d is %v, want %v of at most %v", what, i, got[i], x, scale)
		}
	}
}

const imaginary = 1e-60

// TestJacobian compares products with the Jacobian of every example with the complex step of its rates.
func TestJacobian(t *testing.T) {
	examples(t, func(t *testing.T, m *system.Model) {
		j := newJacobianAt(t, m)
		w := j.worker(t, system.Values, 1)
		places, size := w.Jacobian(), w.Size()
		entries := make([]float64, len(places.Rows))
		w.EvalJacobian(j.t, j.y, entries)
		clear(j.pd)
		for l := range testLanes {
			got, want := make([]float64, size.N+size.Q), make([]float64, size.N+size.Q)
			for e, x := range entries {
				if c := int(places.Cols[e]); c < size.N {
					got[places.Rows[e]] += x * j.yd[c*testLanes+l]
				} else {
					got[places.Rows[e]] += x * j.td[l]
				}
			}
			c, tc, y := j.complexly(l, imaginary)
			k := make([]complex128, size.N+size.Q)
			c.Eval(tc, y, k)
			for i, x := range k {
				want[i] = imag(x) / imaginary
			}
			near(t, "J v", got, want, 1e-12)
		}
	})
}

// TestJacobianDerivatives compares the derivatives of the entries: tangents with the complex step, transposes with
// tangents, and tangents of transposes with differences.
func TestJacobianDerivatives(t *testing.T) {
	examples(t, func(t *testing.T, m *system.Model) {
		j := newJacobianAt(t, m)
		jd := j.push(t, j, testLanes)
		n := len(jd) / testLanes
		for l := range testLanes {
			c, tc, y := j.complexly(l, imaginary)
			entries, want, got := make([]complex128, n), make([]float64, n), make([]float64, n)
			c.EvalJacobian(tc, y, entries)
			for e, x := range entries {
				want[e], got[e] = imag(x)/imaginary, jd[e*testLanes+l]
			}
			near(t, "tangent", got, want, 1e-12)
		}
		yb, tb, pb := j.pull(t, j, testLanes)
		for l := range testLanes {
			var left, right, scale float64
			for e := range n {
				left += jd[e*testLanes+l] * j.jb[e*testLanes+l]
				scale += math.Abs(jd[e*testLanes+l] * j.jb[e*testLanes+l])
			}
			for i := range j.y {
				right += yb[i*testLanes+l] * j.yd[i*testLanes+l]
			}
			right += tb[l] * j.td[l]
			for i, x := range pb[l] {
				right += x * j.pd[i*testLanes+l]
			}
			if !(math.Abs(left-right) <= 1e-11*(scale+1e-300)) {
				t.Fatalf("lane %d: ⟨w, J'v⟩ = %v, ⟨J'ᵀw, v⟩ = %v", l, left, right)
			}
		}
		j.checkSecond(t)
	})
}

// push returns the tangents of the entries along the directions of j's lanes, which are some of those of the place.
func (at *jacobianAt) push(t *testing.T, j *jacobianAt, lanes int) []float64 {
	t.Helper()
	w := at.worker(t, system.Push, lanes)
	jd := make([]float64, len(j.jb))
	w.SetTangent(j.pd)
	w.EnterPush(make([]float64, len(j.d)*lanes))
	w.PushJacobian(j.t, j.y, j.td, j.yd, jd)
	return jd
}

// pull returns the cotangents of state, time and params for the seeds of j's lanes.
func (at *jacobianAt) pull(t *testing.T, j *jacobianAt, lanes int) (yb, tb []float64, pb [][]float64) {
	t.Helper()
	w := at.worker(t, system.Pull, lanes)
	for range lanes {
		pb = append(pb, make([]float64, w.Size().P))
	}
	yb, tb = make([]float64, len(j.yd)), make([]float64, lanes)
	w.Begin(pb)
	w.PullJacobian(j.t, j.y, j.jb, yb, tb)
	w.Leave(make([]float64, len(j.d)*lanes))
	w.Finish()
	return yb, tb, pb
}

// lane returns j with the directions and seeds of lane l alone.
func (j *jacobianAt) lane(l int) *jacobianAt {
	one := *j
	for _, x := range []*[]float64{&one.td, &one.yd, &one.pd, &one.jb} {
		*x = laneOf(*x, l)
	}
	return &one
}

// laneOf returns lane l of lanes side by side.
func laneOf(x []float64, l int) []float64 {
	var out []float64
	for i := l; i < len(x); i += testLanes {
		out = append(out, x[i])
	}
	return out
}

// TestJacobianBits compares the entries with those of the reference evaluator, and lanes with one lane.
func TestJacobianBits(t *testing.T) {
	same := func(t *testing.T, what string, got, want []float64) {
		t.Helper()
		if !slices.EqualFunc(got, want, func(x, y float64) bool {
			return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
		}) {
			t.Fatalf("%s: other bits", what)
		}
	}
	examples(t, func(t *testing.T, m *system.Model) {
		j := newJacobianAt(t, m)
		w := j.worker(t, system.Values, 1)
		got := make([]float64, len(w.Jacobian().Rows))
		w.EvalJacobian(j.t, j.y, got)
		same(t, "entries", got, w.ReferenceJacobian(j.t, j.y, j.d, j.m))
		jd := j.push(t, j, testLanes)
		yb, tb, pb := j.pull(t, j, testLanes)
		for l := range testLanes {
			one := j.lane(l)
			same(t, "tangents", laneOf(jd, l), j.push(t, one, 1))
			yb1, tb1, pb1 := j.pull(t, one, 1)
			same(t, "cotangents of states", laneOf(yb, l), yb1)
			same(t, "cotangents of time", laneOf(tb, l), tb1)
			same(t, "cotangents of params", pb[l], pb1[0])
		}
	})
}

// checkSecond compares the transposes with their tangents, for the seeds of lane 0.
func (j *jacobianAt) checkSecond(t *testing.T) {
	t.Helper()
	k, err := j.p.Kit(testLanes, system.PushPull, false)
	if err != nil {
		t.Fatal(err)
	}
	w := j.p.SecondWorker(k)
	w.SetTangent(j.pd)
	w.Enter(j.d, j.m)
	w.EnterPush(make([]float64, len(j.d)*testLanes))
	w.Begin()
	dual := func(x []float64, d []float64) solvers.Dual { return solvers.Dual{X: x, D: d} }
	size := w.Size()
	seeds := make([]float64, len(j.jb)/testLanes)
	for e := range seeds {
		seeds[e] = j.jb[e*testLanes]
	}
	yb, tb, pb := solvers.NewDual(size.N, testLanes), solvers.NewDual(1, testLanes), solvers.NewDual(size.P, testLanes)
	w.PullPushJacobian(dual([]float64{j.t}, j.td), dual(j.y, j.yd), dual(seeds, make([]float64, len(j.jb))), yb, tb)
	w.Finish(pb)
	y0, _, _ := j.pull(t, j, testLanes)
	for i := range yb.X {
		if !(math.Abs(yb.X[i]-y0[i*testLanes]) <= 1e-11*(1+math.Abs(y0[i*testLanes]))) {
			t.Fatalf("cotangent %d: %v, %v", i, yb.X[i], y0[i*testLanes])
		}
	}
	// Symmetry: what u gives of the tangents along v is what v gives of those along u.
	along := func(u, v int) float64 {
		sum := tb.D[v] * j.td[u]
		for i := range size.N {
			sum += yb.D[i*testLanes+v] * j.yd[i*testLanes+u]
		}
		for i := range size.P {
			sum += pb.D[i*testLanes+v] * j.pd[i*testLanes+u]
		}
		return sum
	}
	for u := range testLanes {
		for v := range u {
			a, b := along(u, v), along(v, u)
			if !(math.Abs(a-b) <= 1e-10*(math.Abs(a)+math.Abs(b)+math.Abs(along(u, u))+1e-300)) {
				t.Fatalf("second derivatives along %d and %d: %v and %v", u, v, a, b)
			}
		}
	}
}
