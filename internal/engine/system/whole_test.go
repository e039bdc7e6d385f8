package system_test

import (
	"math"
	"os"
	"testing"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/system"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
)

// TestWholeStepsAllocateNothing repeats one step and its transpose.
func TestWholeStepsAllocateNothing(t *testing.T) {
	for _, c := range []struct {
		name, method string
		wrt          []string
		step, back   int // instructions
	}{
		{"pk", "dopri5", []string{"ka", "Vmax", "Km", "V1", "V2", "Q", "F", "tlag", "td", "amt"}, 178, 422},
		{"robertson", "rodas5p", []string{"k1", "k2", "k3"}, 456, 744},
	} {
		t.Run(c.name, func(t *testing.T) {
			text, err := os.ReadFile("../../../examples/" + c.name + "/" + c.name + ".ode")
			if err != nil {
				t.Fatal(err)
			}
			m := modelOf(t, string(text))
			p := system.NewProblem(m, pointOf(t, m), []int{0, 1, 2}, nil)
			spec, _ := methods.Lookup(c.method)
			info := spec.Info()
			p.Jacobian = spec.Can.Has(solvers.NeedsJacobian)
			p.CompileAfter = compiled.CompileAfter{}
			var variables []compiled.Variable
			for _, name := range c.wrt {
				variables = append(variables, compiled.Variable{Name: name, Place: m.Param(name)})
			}
			p.Differentiate(p.Point.Active(variables))
			p.StepStages, p.Stages = info.Stages, info.Stages+info.DenseStages
			const lanes = 4
			k, err := p.Kit(lanes, compiled.Pull, false)
			if err != nil {
				t.Fatal(err)
			}
			w := p.Worker(k)
			times, y := w.AtStart()
			w.Begin(make([][]float64, lanes))
			n, method := len(y), spec.New(p.Size(), lanes)
			s := solvers.NewStep(info, w.Size())
			s.T, s.H = times[solvers.InstantStart], 7e-5
			s.T1 = s.T + s.H
			copy(s.Y0, y)
			w.Eval(s.T, y, s.K[:n+len(s.DQ)])
			v := func(n int) []float64 { return make([]float64, n*lanes) }
			bars := &solvers.StepCotangent{T1: v(1), Y1: v(n), DQ: v(len(s.DQ)), T0: v(1), H: v(1), Y0: v(n)}
			both := func() {
				method.Step(w, s, true)
				method.Pull(w, s, bars)
			}
			both()
			both()
			if n := testing.AllocsPerRun(100, both); n > 0 {
				t.Errorf("%v allocations in a step and its transpose", n)
			}
			step, back := w.StepStats()
			if simd.Backend() == simd.Generic {
				return
			}
			if step == nil || back == nil {
				t.Fatal("they were not compiled")
			}
			// What the time of a step is made of: one entry, and so many instructions.
			if step.Steps != 1 || back.Steps != 1 ||
				step.Instructions > c.step*11/10 || back.Instructions > c.back*11/10 {
				t.Errorf("a step is %d programs of %d instructions, its transpose %d of %d; they were 1 of %d and "+
					"1 of %d",
					step.Steps, step.Instructions, back.Steps, back.Instructions, c.step, c.back)
			}
		})
	}
}

// TestWholeStepsNoteFactors checks that a compiled transpose fills the ledger as the stages one by one do.
func TestWholeStepsNoteFactors(t *testing.T) {
	m := modelOf(t, `
time t from 0 to 20
param r[5] = 0.1
param A[5,5] = [[if i == j then -1 else 0.1*sin(3*i + j) for j in 1:5] for i in 1:5]
param B[5,5] = 0.01
state x[5] = 0.1
x' = x * (r + A @ x) + 0.1*sin(t)*(B @ x)
objective x_T[i] = final(x[i]) for i in 1:5
objective area = integral(x[1] * x[2])
`)
	var variables []compiled.Variable
	for _, name := range []string{"r", "A", "B"} {
		variables = append(variables, compiled.Variable{Name: name, Place: m.Param(name)})
	}
	for _, lanes := range []int{6, 8} {
		var want []float64
		for _, after := range []int{math.MaxInt, 0, 7} {
			p := system.NewProblem(m, pointOf(t, m), []int{0, 1, 2, 3, 4, 5}, nil)
			p.CompileAfter = compiled.CompileAfter{Small: after}
			p.Free = []vec.Place{m.State("x")}
			p.Differentiate(p.Point.Active(variables))
			gradient := adjoint(t, p, "dop853", solvers.Options{RTol: 1e-9, ATol: 1e-9}, lanes, &record.Trajectory{})
			for range 2 {
				res := gradient()
				got := append(append([]float64(nil), res.DP...), res.DY0...)
				if want == nil {
					want = got
				}
				if len(got) != 6*(p.Width()+5) || len(got) != len(want) {
					t.Fatalf("%d lanes: %d derivatives", lanes, len(got))
				}
				for i, x := range got {
					if math.Float64bits(x) != math.Float64bits(want[i]) {
						t.Fatalf("%d lanes, compiled after %d steps: derivative %d is %v, not %v", lanes, after, i, x,
							want[i])
					}
				}
			}
		}
		if m.StepPrograms().Noting == 0 && simd.Backend() != simd.Generic {
			t.Error("no transpose that notes factors was compiled")
		}
	}
}

// TestReplayerWholeSteps checks that steps are recomputed by the program that was compiled for them.
func TestReplayerWholeSteps(t *testing.T) {
	if simd.Backend() == simd.Generic {
		t.Skip("steps are not compiled")
	}
	m := modelOf(t, `
time t from 0 to 50
param k = 1, w = 3
state x = 1, v = 0
x' = v
v' = -w^2*x - 0.01*k*v + sin(t)
objective J = final(x^2) + integral(v^2)
`)
	p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
	p.CompileAfter = compiled.CompileAfter{Small: 3}
	p.Differentiate([]string{"k", "w"})
	record := &record.Trajectory{Keep: record.Checkpoint{Kind: record.CheckpointBinomial, RAM: 5}}
	gradient := adjoint(t, p, "dop853", solvers.Options{RTol: 1e-6, ATol: 1e-9}, 1, record)
	var its *system.Worker
	replay := record.Replayer
	record.Replayer = func() (solvers.System, solvers.Method) {
		s, m := replay()
		its = s.(*system.Worker)
		return s, m
	}
	gradient()
	if its == nil || !its.FromFirst() {
		t.Error("its steps are not those that were compiled")
	}
}

// TestReadGuards checks that the guards of a step are the same, to the bit, whether they are read one by one or by the
// program that reads them all.
func TestReadGuards(t *testing.T) {
	if simd.Backend() == simd.Generic {
		t.Skip("readings are not compiled")
	}
	m := modelOf(t, `
time t from 0 to 50
param k = 1.3, w = 3, c[2] = 0.4
discrete n = 0
state x = 1, v[2] = [0, 0.2], z = 0.3
x' = v[1]
v' = [-w^2*x - 0.01*k*v[1] + (if z > 0.2 then sin(t) else 0.1), 0.3*v[1] - v[2]]
z' = 0.1 - 0.3*z
event up when k*x + sin(t) - 0.1*n > 0.9 { n += 1 }
event many when v[i] > c[i]*z for i in 1:2 { z += 0.1 }
event cross when v[1]*v[2] crosses 0.01 { n -= 1 }
event both when x > 0.3 and v[2] < exp(-z) { n += 0.5 }
objective J = final(x^2) + integral(v[1]^2)
`)
	var made []solvers.Method
	for _, name := range []string{"rk4", "bs3", "dopri5", "tsit5", "dop853", "vern9", "rkc2"} {
		spec, _ := methods.Lookup(name)
		p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
		made = append(made, solvers.Members(spec.New(p.Size(), 0))...)
	}
	for _, method := range made {
		p := system.NewProblem(m, pointOf(t, m), []int{0}, nil)
		p.CompileAfter = compiled.CompileAfter{}
		k, err := p.Kit(1, compiled.Values, false)
		if err != nil {
			t.Fatal(err)
		}
		w, name := p.Worker(k), method.Info().Name
		times, y := w.AtStart()
		form := method.(solvers.Arithmetical).Arithmetic()
		guards := len(w.Guards())
		if guards < 6 || len(form.Points) < 3 || form.Points[len(form.Points)-1].Theta != 1 {
			t.Fatalf("%s: %d guards, %d points", name, guards, len(form.Points))
		}
		s := solvers.NewStep(method.Info(), w.Size())
		s.Y0, s.H, s.T1 = y, 0.07, times[solvers.InstantStart]
		rho, truth := make([]float64, len(form.Points)*guards), make([]bool, len(form.Points)*guards)
		one, is, at := make([]float64, guards), make([]bool, guards), make([]float64, len(y))
		for range 20 {
			s.T, s.T1 = s.T1, s.T1+s.H
			method.Step(w, s, false)
			method.Interpolate(w, s, 0.5, at) // makes the stages of the dense output
			if !w.ReadGuards(form, s, rho, truth) {
				t.Fatalf("%s: no readings", name)
			}
			for i, p := range form.Points {
				now := s.T1
				if p.Theta < 1 {
					now = math.FMA(p.Theta, s.H, s.T)
				}
				method.Interpolate(w, s, p.Theta, at)
				w.GuardValues(now, at, one, is)
				for g, want := range one {
					got, holds := rho[i*guards+g], truth[i*guards+g]
					if math.Float64bits(got) != math.Float64bits(want) || holds != is[g] {
						t.Fatalf("%s: guard %d at %v is %v %v, not %v %v", name, g, now, got, holds, want, is[g])
					}
				}
			}
			copy(s.Y0, s.Y1)
		}
		if n := testing.AllocsPerRun(100, func() { w.ReadGuards(form, s, rho, truth) }); n > 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestReadPeaks does the same for what is to be largest, and its slopes, which may be those of another time.
func TestReadPeaks(t *testing.T) {
	if simd.Backend() == simd.Generic {
		t.Skip("readings are not compiled")
	}
	m := modelOf(t, `
time t from 0 to 50
param k = 1.3, w = 3
discrete n = 0.5
state x = 1, v[2] = [0, 0.2]
x' = v[1]
v' = [-w^2*x - 0.01*k*v[1] + sin(t), 0.3*v[1] - v[2]]
event up when x > 0.9 { n += 1 }
objective A = max_over(v) + max_over(x*n*cos(t))
objective B = max_over(n*k) - max_over(exp(-x)*v[2])
`)
	all := m.PeaksOf(m.Checked.Objectives)
	for _, name := range []string{"rk4", "bs3", "dopri5", "tsit5", "dop853", "vern9", "rodas5p", "ros3p"} {
		for _, peaks := range [][]int{all, all[1:2], all[3:]} {
			spec, _ := methods.Lookup(name)
			p := system.NewProblem(m, pointOf(t, m), []int{0}, peaks)
			p.CompileAfter = compiled.CompileAfter{}
			p.Jacobian = spec.Can.Has(solvers.NeedsJacobian)
			k, err := p.Kit(1, compiled.Values, false)
			if err != nil {
				t.Fatal(err)
			}
			w, method := p.Worker(k), spec.New(p.Size(), 0)
			times, y := w.AtStart()
			s := solvers.NewStep(method.Info(), w.Size())
			s.Y0, s.H, s.T1 = y, 0.07, times[solvers.InstantStart]
			if m, ok := method.(solvers.Implicit); ok {
				if err := m.Prepare(w); err != nil {
					t.Fatal(err)
				}
			}
			method.Step(w, s, false)
			form := method.(solvers.Sampling).Sampling(w, s)
			n, samples := len(peaks), form.Samples
			if n == 0 || len(samples) < 3 || samples[0].Theta != 0 || samples[len(samples)-1].Theta != 1 {
				t.Fatalf("%s: %d peaks, %d samples", name, n, len(samples))
			}
			e, ed := make([]float64, len(samples)*n), make([]float64, len(samples)*n)
			one, slopes := make([]float64, n), make([]float64, n)
			at, rates := make([]float64, len(y)), make([]float64, len(y))
			now, within := make([]float64, len(samples)), make([]float64, len(samples))
			for range 20 {
				s.T, s.T1 = s.T1, s.T1+s.H
				method.Step(w, s, false)
				for i, p := range samples {
					now[i] = math.FMA(p.Theta, s.H, s.T)
					within[i] = now[i] + 0.1*float64(i)
				}
				method.(solvers.Sampling).Sampling(w, s)
				if !w.ReadPeaks(form, s, now, within, e, ed) {
					t.Fatalf("%s: no readings", name)
				}
				for i, p := range samples {
					method.(solvers.Interpolant).InterpolateSlope(w, s, p.Theta, at, rates)
					w.Heights(now[i], at, one)
					w.Slopes(within[i], at, rates, slopes)
					for j := range n {
						got, slope := e[i*n+j], ed[i*n+j]
						if math.Float64bits(got) != math.Float64bits(one[j]) ||
							math.Float64bits(slope) != math.Float64bits(slopes[j]) {
							t.Fatalf("%s: number %d at %v is %v, with slope %v, not %v and %v", name, peaks[j], now[i],
								got, slope, one[j], slopes[j])
						}
					}
				}
				copy(s.Y0, s.Y1)
			}
			if n := testing.AllocsPerRun(100, func() { w.ReadPeaks(form, s, now, within, e, ed) }); n > 0 {
				t.Errorf("%s: %v allocations", name, n)
			}
		}
	}
}
