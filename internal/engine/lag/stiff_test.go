package lag_test

import (
	"flag"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

var allReferences = flag.Bool("references", false, "try all references by each implicit method")

// TestImplicit compares Rosenbrock methods, whose Jacobian has what is read of the past as it moves with time and
// states, and collocation with references.
func TestImplicit(t *testing.T) {
	few := []string{"system_2x2", "history", "radar5_oregonator", "ddetst_b2", "ddetst_c2"}
	list := references(t, func(r *reference) bool { return *allReferences || slices.Contains(few, r.ID) })
	for _, r := range list {
		text, want := r.written()
		for _, method := range []string{"rodas5p", "rodas4", "radau9"} {
			if method == "rodas4" && !*allReferences {
				continue
			}
			for _, mode := range []string{"adjoint", "tangent"} {
				t.Run(fmt.Sprint(r.ID, " ", method, " ", mode), func(t *testing.T) {
					rtol, values, derivatives := "1e-9", 1e-7, 1e-6
					s := sensitivities(t, text, r.By, map[string]string{
						"solver.rtol": rtol, "sens.mode": mode, "solver.method": method,
					})
					check(t, s, want, r.By, values, derivatives)
				})
			}
		}
	}
}

// gradients returns the derivatives of a model by the name of value and variable.
func gradients(s *odes.Sensitivities) map[string]float64 {
	all := map[string]float64{}
	for i, v := range s.Values {
		for _, x := range s.Variables {
			all[v.Name+" "+x.String()] = s.Derivative(i, x)[0]
		}
	}
	return all
}

// TestModesOfPast: a run in complex arithmetic, which shares no code with transposes, has the derivatives of the
// adjoint.
func TestModesOfPast(t *testing.T) {
	few := []string{"two_commensurate", "history", "jump_comes_back", "body_reads_delay", "breathing"}
	list := references(t, func(r *reference) bool {
		return strings.HasPrefix(r.Class, "constant") && (*allReferences || slices.Contains(few, r.ID))
	})
	for _, r := range list {
		text, _ := r.written()
		for _, method := range []string{"tsit5", "dop853", "radau9", "rodas5p"} {
			got := map[string]map[string]float64{}
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				got[mode] = gradients(sensitivities(t, text, r.By, map[string]string{
					"solver.rtol": "1e-6", "sens.mode": mode, "solver.method": method,
				}))
			}
			largest := 0.0
			for _, v := range got["complex"] {
				largest = max(largest, math.Abs(v))
			}
			for name, v := range got["complex"] {
				for _, mode := range []string{"adjoint", "tangent"} {
					if d := math.Abs(got[mode][name] - v); !(d <= 1e-8*max(math.Abs(v), 1e-3*largest)) {
						t.Errorf("%s by %s: d %s is %.15g by %s, %.15g in complex arithmetic", r.ID, method, name,
							got[mode][name], mode, v)
					}
				}
			}
		}
	}
}
