package run_test

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// tangents are the settings of runs with tangents, in one of two modes.
func tangents(mode, method string) []odes.Setting {
	list := []odes.Setting{{Key: "sens.mode", Value: mode}, {Key: "solver.rtol", Value: "1e-6"}}
	if method != "" {
		list = append(list, odes.Setting{Key: "solver.method", Value: method})
	}
	return list
}

// TestSideBySideTangents has the models of the adjoint, each once more with more times of data than steps end at.
func TestSideBySideTangents(t *testing.T) {
	t.Parallel()
	explicit := []string{"dopri5", "", "dop853", "tsit5", "bs3", "rk6", "rodas5p"}
	for _, of := range []struct {
		models  map[string]string
		methods []string
	}{{laneModels, explicit}, {movingModels, explicit}, {stiffLanes, append([]string{"", "auto"}, rosenbrocks...)}} {
		for name, text := range of.models {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
				if err != nil {
					t.Fatal(err)
				}
				many, err := odes.Parse("m.ode", text+manyObservations(text), odes.ParseOptions{})
				if err != nil {
					t.Fatal(err)
				}
				for i, method := range of.methods {
					if name == "constants" && method == "rodas5p" {
						continue // there is no Jacobian
					}
					n := 1 + (7*i+len(text))%23
					for k, m := range []*odes.Model{m, many} {
						for _, mode := range laneModes[1:] {
							opts := odes.Options{Settings: tangents(mode, method)}
							if got := sideBySide(t, m, opts, n, true, laneValues); got != n {
								t.Errorf("%s, %s, many times %t: %d of %d in lanes", mode, method, k == 1, got, n)
							}
						}
					}
				}
			})
		}
	}
}

// TestSideBySideTangentsDrawn has models with events that are drawn. Derivatives by initial values are wanted as well,
// so that there are more directions than are pushed together.
func TestSideBySideTangentsDrawn(t *testing.T) {
	t.Parallel()
	drawn(t, seeds.Of(t, 0), 23, func(k int, r *rand.Rand) (text string, opts odes.Options, gradient bool) {
		text = drawnEvents(r)
		if k%3 == 0 {
			text += "objective M = sum_at(" + manyTimes(r, 17+r.IntN(60), 0.2, k%2 == 0) + ", x*y + d*x + n)\n"
		}
		method := []string{"dopri5", "tsit5", "dop853", "bs3", ""}[k%5]
		opts = odes.Options{Settings: tangents(laneModes[1+k/5%2], method)}
		if k%4 == 1 {
			opts.Wrt = []string{"a", "b", "c", "d", "initial(x)", "initial(y)"}[r.IntN(5):]
		}
		return text, opts, true
	})
}

// BenchmarkSideBySideTangentsStiff is the time of derivatives of all states at the end, in lanes and alone: one
// operation is a member.
func BenchmarkSideBySideTangentsStiff(b *testing.B) {
	of := map[string][]string{
		"robertson":  {"A_T", "B_T", "C_T"},
		"hires":      {"Pr_T", "Pfr_T", "PrX_T", "PfrX_T", "PrX2_T", "PfrX2_T", "PfrXE_T", "E_T"},
		"oregonator": {"X_T", "Y_T", "Z_T"},
		"pollution":  {"ozone", "NO2_T", "exposure"},
	}
	for _, mode := range laneModes[1:] {
		for _, method := range []string{"rodas5p", "auto"} {
			stiffBeside(b, method, mode, of)
		}
	}
}

// BenchmarkSideBySideTangents is the time of derivatives of twelve objectives by one to four params, in lanes and
// alone: one operation is a member.
func BenchmarkSideBySideTangents(b *testing.B) {
	text := `
time t from 0 to 10
param a = 1.5, b = 1, c = 1.5, d = 1
state x = 1
state y = 0.5
x' = a*x - b*x*y
y' = -c*y + d*x*y
`
	for i := 1; i <= 6; i++ {
		text += fmt.Sprintf("objective J%d = sum_at([%d], x)\nobjective K%d = sum_at([%d], y)\n", i, i, i, i)
	}
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		b.Fatal(err)
	}
	params := []string{"a", "b", "c", "d"}
	for _, mode := range laneModes[1:] {
		for n := 1; n <= 4; n++ {
			opts := odes.Options{Threads: 1, Set: laneValues(0), Wrt: params[:n], Settings: []odes.Setting{
				{Key: "solver.method", Value: "dopri5"},
				{Key: "solver.rtol", Value: "1e-8"},
				{Key: "sens.mode", Value: mode},
				{Key: "sens.trust", Value: "off"},
			}}
			besideAlone(b, mode+"/"+strconv.Itoa(n), m, opts, laneValues)
		}
	}
}
