package hybrid_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestEventSemantics runs models of a few events each, as in test suites of other languages. Comments at their head
// say what comes out: `# n = 2`, worked out by hand.
func TestEventSemantics(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "events", "*.ode"))
	if err != nil || len(files) < 12 {
		t.Fatalf("found %d models: %v", len(files), err)
	}
	answer := regexp.MustCompile(`(?m)^# (\w+) = (\S+)$`)
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := odes.ParseFile(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{})
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		want := answer.FindAllStringSubmatch(string(text), -1)
		if len(want) != len(s.Values) {
			t.Errorf("%s: %d answers for %d objectives", path, len(want), len(s.Values))
		}
		for _, w := range want {
			x, err := strconv.ParseFloat(w[2], 64)
			if err != nil {
				t.Fatal(err)
			}
			found := false
			for _, v := range s.Values {
				if v.Name == w[1] {
					found = true
					if !modeltest.Near(v.Value, x, 1e-9) {
						t.Errorf("%s: %s = %.12g, want %g", path, v.Name, v.Value, x)
					}
				}
			}
			if !found {
				t.Errorf("%s: no objective %s", path, w[1])
			}
		}
	}
}

// TestBodiesSeeConditionsAsGuards has a condition of time alone that changes one float behind another event or an
// observation, in their group. The body of what it sets off reads the branch that set it off, as it does where nothing
// else happens.
func TestBodiesSeeConditionsAsGuards(t *testing.T) {
	for _, other := range []string{
		"", "event g at ta { w = 5 }", "event g at ta priority -1 { w = 5 }", "event g at ta { w = q }",
		"objective s = sum_at([ta], q)", "discrete z = 0\nevent g when t >= ta { z = 1 }",
	} {
		for when, want := range map[string]float64{
			"t > ta": 21.8, "t >= ta": 21.8, "q > 1": 21.8, "q crosses 1": 21.8, "q > 1, delay = 0.1*q": 21.4,
		} {
			m, err := odes.Parse("conditions.ode", fmt.Sprintf(`
time t from 0 to 2
param ta = 1.1
state x = 0.3, y = 0, w = 0
let q = if t > ta then 2 else 0.5
x' = x
y' = q
w' = 0
%s
event e when %s { y = 10*q }
objective J = final(y)
objective P = at_event(e, pre(q))
`, other, when), odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []string{"adjoint", "tangent", "complex"} {
				s, err := m.Sensitivities(t.Context(), odes.Options{
					Of: []string{"J", "P"}, Wrt: []string{"ta"}, Settings: modeltest.Settings("sens.mode", mode),
				})
				if err != nil {
					t.Fatal(err)
				}
				if j, p := s.Values[0].Value, s.Values[1].Value; !modeltest.Near(j, want, 1e-9) || p != 2 ||
					!modeltest.Near(s.Gradient[0], -2, 1e-9) {
					t.Errorf("%q, when %s, %s: J = %v, by ta %v, instead of %v, -2; q was %v", other, when, mode, j,
						s.Gradient[0], want, p)
				}
			}
		}
	}
}
