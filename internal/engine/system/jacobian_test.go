package system_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	known "odes.dev/odes/internal/testing/examples"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/solvers"
	"odes.dev/odes/typecheck"
)

// examples calls f for each example but those of more than 10,000 states, whose texts are like those of smaller ones,
// and those with delays, which need the history of a run.
func examples(t *testing.T, f func(t *testing.T, m *compiled.Model)) {
	files, err := filepath.Glob("../../../examples/*/*.ode")
	if err != nil || len(files) == 0 {
		t.Fatal("no examples", err)
	}
	for _, file := range files {
		if known.Delayed(file) {
			continue
		}
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

// shapes are models whose Jacobians have a shape of their own.
var shapes = map[string]string{
	"network of neurons": `
param W1[6,20] = [[sin(i*j) for j in 1:20] for i in 1:6], W2[20,6] = [[cos(i + 2*j) for j in 1:6] for i in 1:20]
state y[20] = 1
y' = W2 @ tanh(W1 @ y) - t*y
objective J = final(sum(y))`,
	"quadratic": `
param K[7,7,7] = [[[sin(i + 2*j*k) for k in 1:7] for j in 1:7] for i in 1:7]
state x[7] = 1
x[i]' = sum(K[i,j,k]*x[j]*x[k] for j in 1:7, k in 1:7) - x[i] for i in 1:7
objective J = final(sum(x))`,
	"bodies": `
param m[9] = 1
state x[9] = [1.0*i for i in 1:9], y[9] = [sin(1.0*i) for i in 1:9], u[9] = 0, v[9] = 0
x' = u
y' = v
u[i]' = sum(if i == j then 0 else m[j]*(x[j] - x[i])/((x[j] - x[i])^2 + (y[j] - y[i])^2 + 0.01)^1.5 for j in 1:9)
	for i in 1:9
v[i]' = sum(if i == j then 0 else m[j]*(y[j] - y[i])/((x[j] - x[i])^2 + (y[j] - y[i])^2 + 0.01)^1.5 for j in 1:9)
	for i in 1:9
objective J = final(sum(x))`,
	"coagulation": `
param k = 1
state x[30] = [1.0/i for i in 1:30]
x[i]' = 0.5*k*sum(if j < i then x[max(i - j, 1)]*x[j] else 0 for j in 1:30) - k*x[i]*sum(x) for i in 1:30
objective J = final(sum(x))`,
	"walls": `
param D = 0.1, g[9] = 1
state u[8,9] = [[sin(i*j) for j in 1:9] for i in 1:8]
u[i,j]' = if i == 1 then -u[1,j]
	elseif i == 8 then g[j]*(u[7,j] - u[8,j])
	elseif j == 1 or j == 9 then 0*u[i,j] - u[i,5]^2
	else D*(u[i-1,j] + u[i+1,j] + u[i,j-1] + u[i,j+1] - 4*u[i,j]) for i in 1:8, j in 1:9
objective J = final(sum(u))`,
	"stoichiometry": stoichiometry(20),
	"nothing": `
param k = 1
state x = 0, y = 1
x' = k
y' = k^2
objective J = final(x)`,
	"time alone": `
param k = 1
state x[3] = 0
x[i]' = k*sin(i*t) for i in 1:3
objective J = integral(x[1])`,
	"mean and largest": `
param a = 2
state x[80] = [sin(i*i) for i in 1:80], z = 1
let centred = x - mean(x)
let big = max(x)
let all = prod(1 + 0.01*x)
x' = a*centred*all - x/norm(x) + z
z' = big*min(centred) + clamp(z, 0, 4)*sum(max(x, 0.1))
objective J = final(z)`,
	"matrix": `
param A[5,5] = [[sin(i + j*j) for j in 1:5] for i in 1:5]
state P[5,5] = [[cos(i*j) for j in 1:5] for i in 1:5], x[5] = 1
P' = A @ P + P @ transpose(A) - P @ P + outer(x, A @ x)
x' = P @ x - dot(x, x)*(x @ P)
objective J = final(sum(P))`,
	"jumps": `
param k = 0.3
discrete dose[3] = 1, gain = 2
state x[3] = 0.1, s = 0.2
x[i]' = dose[i]*gain - (if x[i] > 0.05 then k*x[i]^2 else k*x[i]) for i in 1:3
s' = floor(3*s)*gain + interp([0, 1, 2], [0, 1, 0.5], sum(x))
event at 0.5 { dose[2] = 2*dose[2] }
objective J = integral(s*x[1])`,
}

// stoichiometry is a network whose matrix is constant or a param, and whose rates are written one by one.
func stoichiometry(reactions int) string {
	var rates []string
	for r := range reactions {
		rates = append(rates, fmt.Sprintf("k[%d]*c[%d]*c[%d]", r+1, r%7+1, (3*r)%7+1))
	}
	return fmt.Sprintf(`
const S[7,%[1]d] = [[if mod(i*j, 5) == 0 then 1 elseif mod(i + j, 7) == 3 then -2 else 0 for j in 1:%[1]d] for i in 1:7]
param k[%[1]d] = [i + 0.5 for i in 1:%[1]d], M[7,%[1]d] = [[cos(i + 2*j) for j in 1:%[1]d] for i in 1:7]
state c[7] = [1.0/i for i in 1:7], e[7] = 0
let v = [%[2]s]
c' = S @ v
e' = M @ v
objective J = final(sum(c))`, reactions, strings.Join(rates, ", "))
}

// models calls f for each example and each shape.
func models(t *testing.T, f func(t *testing.T, m *compiled.Model)) {
	examples(t, f)
	for name, text := range shapes {
		t.Run(name, func(t *testing.T) { f(t, modelOf(t, "time t from 0 to 1"+text+"\n")) })
	}
}

// jacobianAt is a model near the start of its run, with random directions and seeds in lanes.
type jacobianAt struct {
	p       *system.Problem
	t       float64
	y, d, m []float64
	// directions and seeds [·L]
	td, yd, dd, pd, jb []float64
}

// testLanes is the number of lanes of directions and seeds.
const testLanes = 3

func newJacobianAt(t *testing.T, m *compiled.Model) *jacobianAt {
	t.Helper()
	p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
	p.Jacobian = true
	p.Differentiate(compiled.Names(m.Checked.Params))
	k, err := p.Kit(1, compiled.Values, false)
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
	j.td, j.yd, j.dd, j.pd = random(1), random(size.N), random(size.D), random(size.P)
	j.jb = random(len(w.Jacobian().Rows))
	return j
}

// worker returns a worker that has entered the place.
func (j *jacobianAt) worker(t *testing.T, dir compiled.Direction, lanes int) *system.Worker {
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
		d[i] = complex(x, h*j.dd[i*testLanes+l])
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
	models(t, func(t *testing.T, m *compiled.Model) {
		j := newJacobianAt(t, m)
		j.checkProducts(t)
	})
}

// checkProducts compares products with the entries with the complex step of the rates.
func (j *jacobianAt) checkProducts(t *testing.T) {
	t.Helper()
	w := j.worker(t, compiled.Values, 1)
	places, size := w.Jacobian(), w.Size()
	entries := make([]float64, len(places.Rows))
	w.EvalJacobian(j.t, j.y, entries)
	clear(j.pd)
	clear(j.dd)
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
}

// TestJacobianDerivatives compares the derivatives of the entries: tangents with the complex step, transposes with
// tangents, and tangents of transposes with differences.
func TestJacobianDerivatives(t *testing.T) {
	models(t, func(t *testing.T, m *compiled.Model) {
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
		yb, tb, db, pb := j.pull(t, j, testLanes)
		for l := range testLanes {
			var left, right, scale float64
			for e := range n {
				left += jd[e*testLanes+l] * j.jb[e*testLanes+l]
				scale += math.Abs(jd[e*testLanes+l] * j.jb[e*testLanes+l])
			}
			for i := range j.y {
				right += yb[i*testLanes+l] * j.yd[i*testLanes+l]
			}
			for i := range j.d {
				right += db[i*testLanes+l] * j.dd[i*testLanes+l]
			}
			right += tb[l] * j.td[l]
			for i, x := range pb[l] {
				right += x * j.pd[i*testLanes+l]
			}
			if !(math.Abs(left-right) <= 1e-11*(scale+1e-300)) {
				t.Fatalf("lane %d: ⟨w, J'v⟩ = %v, ⟨J'ᵀw, v⟩ = %v", l, left, right)
			}
		}
		j.checkSum(t, pb)
		j.checkSecond(t)
	})
}

// checkSum pulls through rates and entries in one sweep: the cotangents of params add up.
func (j *jacobianAt) checkSum(t *testing.T, ofEntries [][]float64) {
	t.Helper()
	size := j.p.Size()
	kb := make([]float64, (size.N+size.Q)*testLanes)
	for i := range kb {
		kb[i] = math.Cos(float64(i))
	}
	rows := func(pulls ...func(w *system.Worker, yb, tb []float64)) (rows [][]float64) {
		w := j.worker(t, compiled.Pull, testLanes)
		for range testLanes {
			rows = append(rows, make([]float64, size.P))
		}
		w.Begin(rows)
		for _, pull := range pulls {
			pull(w, make([]float64, len(j.yd)), make([]float64, testLanes))
		}
		w.Leave(make([]float64, len(j.dd)))
		w.Finish()
		return rows
	}
	rates := func(w *system.Worker, yb, tb []float64) { w.Pull(j.t, j.y, kb, yb, tb) }
	entries := func(w *system.Worker, yb, tb []float64) { w.PullJacobian(j.t, j.y, j.jb, yb, tb) }
	both, ofRates := rows(entries, rates, entries), rows(rates)
	for l := range testLanes {
		want := make([]float64, size.P)
		for i := range want {
			want[i] = ofRates[l][i] + 2*ofEntries[l][i]
		}
		near(t, "cotangents of params", both[l], want, 1e-12)
	}
}

// push returns the tangents of the entries along the directions of j's lanes, which are some of those of the place.
func (at *jacobianAt) push(t *testing.T, j *jacobianAt, lanes int) []float64 {
	t.Helper()
	w := at.worker(t, compiled.Push, lanes)
	jd := make([]float64, len(j.jb))
	w.SetTangent(j.pd)
	w.EnterPush(j.dd)
	w.PushJacobian(j.t, j.y, j.td, j.yd, jd)
	return jd
}

// pull returns the cotangents of state, time and params for the seeds of j's lanes.
func (at *jacobianAt) pull(t *testing.T, j *jacobianAt, lanes int) (yb, tb, db []float64, pb [][]float64) {
	t.Helper()
	w := at.worker(t, compiled.Pull, lanes)
	for range lanes {
		pb = append(pb, make([]float64, w.Size().P))
	}
	yb, tb, db = make([]float64, len(j.yd)), make([]float64, lanes), make([]float64, len(j.dd))
	w.Begin(pb)
	w.PullJacobian(j.t, j.y, j.jb, yb, tb)
	w.Leave(db)
	w.Finish()
	return yb, tb, db, pb
}

// lane returns j with the directions and seeds of lane l alone.
func (j *jacobianAt) lane(l int) *jacobianAt {
	one := *j
	for _, x := range []*[]float64{&one.td, &one.yd, &one.dd, &one.pd, &one.jb} {
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
	models(t, func(t *testing.T, m *compiled.Model) {
		j := newJacobianAt(t, m)
		w := j.worker(t, compiled.Values, 1)
		got := make([]float64, len(w.Jacobian().Rows))
		w.EvalJacobian(j.t, j.y, got)
		same(t, "entries", got, w.ReferenceJacobian(j.t, j.y, j.d, j.m))
		jd := j.push(t, j, testLanes)
		yb, tb, db, pb := j.pull(t, j, testLanes)
		for l := range testLanes {
			one := j.lane(l)
			same(t, "tangents", laneOf(jd, l), j.push(t, one, 1))
			yb1, tb1, db1, pb1 := j.pull(t, one, 1)
			same(t, "cotangents of states", laneOf(yb, l), yb1)
			same(t, "cotangents of time", laneOf(tb, l), tb1)
			same(t, "cotangents of discretes", laneOf(db, l), db1)
			same(t, "cotangents of params", pb[l], pb1[0])
		}
	})
}

// checkSecond compares the transposes with their tangents, for the seeds of lane 0.
func (j *jacobianAt) checkSecond(t *testing.T) {
	t.Helper()
	k, err := j.p.Kit(testLanes, compiled.PushPull, false)
	if err != nil {
		t.Fatal(err)
	}
	w := j.p.SecondWorker(k)
	w.SetTangent(j.pd)
	w.Enter(j.d, j.m)
	w.EnterPush(j.dd)
	w.Begin()
	dual := func(x []float64, d []float64) solvers.Dual { return solvers.Dual{X: x, D: d} }
	size := w.Size()
	seeds := make([]float64, len(j.jb)/testLanes)
	for e := range seeds {
		seeds[e] = j.jb[e*testLanes]
	}
	yb, tb, pb := solvers.NewDual(size.N, testLanes), solvers.NewDual(1, testLanes), solvers.NewDual(size.P, testLanes)
	w.PullPushJacobian(dual([]float64{j.t}, j.td), dual(j.y, j.yd), dual(seeds, make([]float64, len(j.jb))), yb, tb)
	db := solvers.NewDual(size.D, testLanes)
	w.Leave(db)
	w.Finish(pb)
	y0, _, _, _ := j.pull(t, j, testLanes)
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
		for i := range size.D {
			sum += db.D[i*testLanes+v] * j.dd[i*testLanes+u]
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

// TestJacobianPattern holds that the pattern has no place where the rates have a derivative of zero wherever they are.
func TestJacobianPattern(t *testing.T) {
	models(t, func(t *testing.T, m *compiled.Model) {
		j := newJacobianAt(t, m)
		w := j.worker(t, compiled.Values, 1)
		places := w.Jacobian()
		entries := make([]float64, len(places.Rows))
		w.EvalJacobian(j.t, j.y, entries)
		sums := map[[2]int32]float64{}
		for e, x := range entries {
			sums[[2]int32{places.Rows[e], places.Cols[e]}] += x
		}
		for at, x := range sums {
			level := strings.HasSuffix(t.Name(), "swingup.ode") || // its control begins so
				strings.HasSuffix(t.Name(), "least_time.ode") // and this one at rest
			allowed := strings.HasSuffix(t.Name(), "nine_buses.ode") && // its frequencies cost nothing at first
				int(at[0]) == w.Size().N
			if x == 0 && !level && !allowed {
				t.Errorf("row %d, column %d: an entry that is 0", at[0], at[1])
			}
		}
		if 2*len(sums) < len(entries) {
			t.Errorf("%d entries at %d places", len(entries), len(sums))
		}
	})
}

// TestJacobianOfGrids has as many instructions for a large grid as for a small one, and an output for each neighbour.
func TestJacobianOfGrids(t *testing.T) {
	var instructions []int
	for _, n := range []int{16, 128} {
		m := modelOf(t, fmt.Sprintf(`time t from 0 to 1
const n = %d
param D = 0.1, k = 0.06
state u[n,n] = 1, v[n,n] = 0.5
u[i,j]' = D*(u[wrap(i-1, n),j] + u[wrap(i+1, n),j] + u[i,wrap(j-1, n)] + u[i,wrap(j+1, n)] - 4*u[i,j])
	- u[i,j]*v[i,j]^2 for i in 1:n, j in 1:n
v[i,j]' = u[i,j]*v[i,j]^2 - k*v[i,j] for i in 1:n, j in 1:n
objective J = final(sum(u))
`, n))
		tape := system.JacobianTape(m)
		instructions = append(instructions, len(tape.Instrs))
		if len(tape.Outputs) != 8 {
			t.Errorf("%d outputs, want 5 neighbours of u and 3 others", len(tape.Outputs))
		}
		w := newJacobianAt(t, m).worker(t, compiled.Values, 1)
		if got := len(w.Jacobian().Rows); got != 8*n*n {
			t.Errorf("%d entries, want %d", got, 8*n*n)
		}
	}
	if instructions[0] != instructions[1] || instructions[0] > 20 {
		t.Errorf("%v instructions", instructions)
	}
}

// TestJacobianOfNetworks has work that grows with the number of reactions, whether they are written one by one or as
// arrays.
//
//odes:goroutines
func TestJacobianOfNetworks(t *testing.T) {
	written := func(n int) string {
		var b strings.Builder
		b.WriteString("time t from 0 to 1\nparam k = 1\n")
		for i := range n {
			fmt.Fprintf(&b, "state s%d = 1\n", i)
		}
		for r := range 5 * n {
			x, y, z := r%n, (r*7+1)%n, (r*3+2)%n
			fmt.Fprintf(&b, "reaction r%d: s%d + s%d -> s%d rate k*s%d*s%d\n", r, x, y, z, x, y)
		}
		b.WriteString("objective J = final(s0)\n")
		return b.String()
	}
	arrays := func(n int) string {
		return fmt.Sprintf(`time t from 0 to 1
param k[%[2]d] = 1
state s[%[1]d] = 1
let v = [k[r]*s[wrap(r, %[1]d)]*s[wrap(7*r + 1, %[1]d)] for r in 1:%[2]d]
s[i]' = sum(v[wrap(i*p + 3, %[2]d)] - v[wrap(2*i + p, %[2]d)] for p in 1:5) for i in 1:%[1]d
objective J = final(s[1])
`, n, 5*n)
	}
	for name, text := range map[string]func(n int) string{"written": written, "arrays": arrays} {
		t.Run(name, func(t *testing.T) {
			var work [2]int
			for i, n := range []int{60, 240} {
				m := modelOf(t, text(n))
				for _, in := range system.JacobianTape(m).Instrs {
					work[i] += in.Shape.Size()
				}
				if i == 0 {
					j := newJacobianAt(t, m)
					j.checkProducts(t)
				}
			}
			if work[1] > 5*work[0] {
				t.Errorf("work %v for four times as many species", work)
			}
		})
	}
}
