package examples_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// vdpErrors are the errors of a run of vdp_study: of the solution, and of the derivatives by mu, x0
// and v0. Each is relative to the largest number of its column.
type vdpErrors struct {
	steps    int
	solution float64
	by       [3]float64
}

func (e vdpErrors) worst() float64 { return max(e.by[0], e.by[1], e.by[2]) }

// vdpTruth returns the values of x_T and v_T and their derivatives, from the reference in
// multiprecision arithmetic.
func vdpTruth(t *testing.T) (values [2]float64, d [2][3]float64) {
	t.Helper()
	text, err := os.ReadFile("../testdata/reference/vdp_mu1000_fixed_start.json")
	if err != nil {
		t.Fatal(err)
	}
	var ref struct {
		Points []struct {
			T      float64
			States map[string]struct {
				Value float64
				D     map[string]float64
			}
		}
	}
	if err := json.Unmarshal(text, &ref); err != nil {
		t.Fatal(err)
	}
	if len(ref.Points) != 1 || ref.Points[0].T != 0.5 {
		t.Fatal("the reference is of another problem")
	}
	for i, x := range []string{"x", "v"} {
		q := ref.Points[0].States[x]
		values[i] = q.Value
		for k, p := range []string{"mu", "x0", "v0"} {
			if d[i][k] = q.D[p]; d[i][k] == 0 {
				t.Fatalf("the reference has no d %s/d %s", x, p)
			}
		}
	}
	return values, d
}

// TestVanDerPolStudy measures the errors of solution and derivatives of a stiff oscillator over the
// tolerances from 1e-3 to 1e-13, where only error control limits the length of the steps. The solution
// forgets the errors of single steps, but derivatives by fast directions do not. By default steps are
// held stable, and derivatives are right at all tolerances.
func TestVanDerPolStudy(t *testing.T) {
	const folder = "vdp_study/"
	values, d := vdpTruth(t)
	at := func(e int, settings ...string) vdpErrors {
		tol := fmt.Sprintf("1e-%d", e)
		s := studied(t, folder+"vdp_study.ode", append([]string{"solver.rtol", tol, "solver.atol", tol},
			settings...)...)
		got := vdpErrors{steps: s.Stats.Steps}
		for i := range values {
			got.solution = max(got.solution, math.Abs(s.Values[i].Value-values[i])/math.Abs(values[i]))
			for k := range got.by {
				size := max(math.Abs(d[0][k]), math.Abs(d[1][k]))
				got.by[k] = max(got.by[k], math.Abs(s.Gradient[i*s.Columns+k]-d[i][k])/size)
			}
		}
		return got
	}
	ways := []struct {
		name     string
		settings []string
	}{
		{"adjoint", nil},
		{"tangent", []string{"sens.mode", "tangent"}},
		{"forward", []string{"sens.mode", "forward"}},
		{"continuous", []string{"sens.mode", "continuous"}},
		{"adjoint, control = on", []string{"sens.control", "on"}},
	}
	methods := []string{"rkf78", "dopri5", "dop853", "vern9"}
	var csv bytes.Buffer
	csv.WriteString("method,mode,tolerance,steps,error of solution,error of d/d mu,error of d/d x0,error of d/d v0\n")
	found := map[string][]vdpErrors{}
	for _, method := range methods {
		for _, w := range ways {
			for e := 3; e <= 13; e++ {
				got := at(e, append([]string{"solver.method", method, "solver.stability", "off"}, w.settings...)...)
				key := method + " " + w.name
				found[key] = append(found[key], got)
				fmt.Fprintf(&csv, "%s,%q,1e-%d,%d,%.1e,%.1e,%.1e,%.1e\n", method, w.name, e, got.steps, got.solution,
					got.by[0], got.by[1], got.by[2])
			}
		}
	}
	for _, method := range methods {
		adjoint, tangent, controlled := found[method+" adjoint"], found[method+" tangent"],
			found[method+" adjoint, control = on"]
		for i := range adjoint {
			if a, b := adjoint[i].worst(), tangent[i].worst(); math.Abs(a-b) > 1e-6*a+1e-12 {
				t.Errorf("%s at 1e-%d: the adjoint is off by %g, the tangent by %g", method, i+3, a, b)
			}
			if c := controlled[i]; c.worst() > 1 {
				t.Errorf("%s at 1e-%d: off by %g with control = on", method, i+3, c.worst())
			}
		}
		if first := adjoint[0].worst(); first < 100 {
			t.Errorf("%s at 1e-3: the adjoint is off by %g only; what the study shows is gone", method, first)
		}
		if worst := at(3, "solver.method", method).worst(); worst > 1e-3 {
			t.Errorf("%s at 1e-3: the adjoint is off by %g with stable steps", method, worst)
		}
		if last := adjoint[10].worst(); last > 1e-9 {
			t.Errorf("%s at 1e-13: the adjoint is off by %g", method, last)
		}
	}
	held(t, folder+"errors.csv", csv.Bytes())

	heads := []string{
		"tolerance", "steps", "solution", "by `mu`", "by `x0`", "by `v0`", "continuous: by `mu`",
		"by `x0`", "by `v0`", "with `control`: steps", "by `mu`", "by `x0`", "by `v0`",
	}
	var rows [][]string
	for i := range 11 {
		a, c, k := found["rkf78 adjoint"][i], found["rkf78 continuous"][i], found["rkf78 adjoint, control = on"][i]
		row := []string{fmt.Sprintf("1e-%d", i+3), fmt.Sprint(a.steps), fmt.Sprintf("%.0e", a.solution)}
		for _, x := range a.by {
			row = append(row, fmt.Sprintf("%.0e", x))
		}
		for _, x := range c.by {
			row = append(row, fmt.Sprintf("%.0e", x))
		}
		row = append(row, fmt.Sprint(k.steps))
		for _, x := range k.by {
			row = append(row, fmt.Sprintf("%.0e", x))
		}
		rows = append(rows, row)
	}
	tabled(t, folder+"README.md", "rkf78", heads, rows)

	over := &plot.Lines{
		Title: "rkf78, discrete adjoint unless named", X: plot.Axis{Label: "tolerance", Log: true},
		Y: plot.Axis{Label: "error", Log: true},
	}
	curve := func(name, key string, of func(vdpErrors) float64) {
		c := plot.Curve{Name: name}
		for i, e := range found[key] {
			c.X, c.Y = append(c.X, math.Pow(10, -float64(i+3))), append(c.Y, of(e))
		}
		over.Curves = append(over.Curves, c)
	}
	curve("solution", "rkf78 adjoint", func(e vdpErrors) float64 { return e.solution })
	curve("by mu", "rkf78 adjoint", func(e vdpErrors) float64 { return e.by[0] })
	curve("by x0", "rkf78 adjoint", func(e vdpErrors) float64 { return e.by[1] })
	curve("by v0", "rkf78 adjoint", func(e vdpErrors) float64 { return e.by[2] })
	curve("worst, continuous", "rkf78 continuous", vdpErrors.worst)
	curve("worst, control = on", "rkf78 adjoint, control = on", vdpErrors.worst)
	drawn(t, folder+"tolerances.svg", over)

	against := &plot.Lines{
		Title: "discrete adjoint, tolerances from 1e-3 to 1e-13",
		X:     plot.Axis{Label: "error of the solution", Log: true},
		Y:     plot.Axis{Label: "error of the derivative by mu", Log: true},
	}
	for _, method := range methods {
		c := plot.Curve{Name: method}
		for _, e := range found[method+" adjoint"] {
			c.X, c.Y = append(c.X, e.solution), append(c.Y, e.by[0])
		}
		against.Curves = append(against.Curves, c)
	}
	drawn(t, folder+"against.svg", against)
}

// TestVanDerPolWanted asks for an accuracy of the derivatives, and must get it whatever the
// tolerance of the states is.
func TestVanDerPolWanted(t *testing.T) {
	_, d := vdpTruth(t)
	m, err := odes.ParseFile("vdp_study/vdp_study.ode")
	if err != nil {
		t.Fatal(err)
	}
	for _, wanted := range []string{"1e-3", "1e-6"} {
		s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
			{Key: "solver.rtol", Value: "1e-3"},
			{Key: "solver.atol", Value: "1e-3"},
			{Key: "solver.sens_tol", Value: wanted},
			{Key: "solver.stability", Value: "off"},
		}})
		if err != nil {
			t.Fatal(err)
		}
		var tol float64
		if _, err := fmt.Sscan(wanted, &tol); err != nil {
			t.Fatal(err)
		}
		for i := range d {
			for k := range d[i] {
				size := max(math.Abs(d[0][k]), math.Abs(d[1][k]))
				if off := math.Abs(s.Gradient[i*s.Columns+k]-d[i][k]) / size; off > 10*tol {
					t.Errorf("sens_tol = %s: derivative %d of %d is off by %g, in %d steps", wanted, k, i, off,
						s.Stats.Steps)
				}
			}
		}
		t.Logf("sens_tol = %s: %d steps", wanted, s.Stats.Steps)
	}
}

// TestVanDerPolHeld holds the number of steps that stability asks of an explicit method to what the README says.
func TestVanDerPolHeld(t *testing.T) {
	for _, tol := range []string{"1e-3", "1e-4", "1e-5"} {
		s := studied(t, "vdp/vdp.ode", "solver.rtol", tol, "solver.atol", tol, "sens.control", "off")
		if s.Stats.Steps != 396 {
			t.Errorf("%d steps at %s; vdp/README.md says 396", s.Stats.Steps, tol)
		}
	}
}
