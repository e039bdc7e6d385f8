package lag_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

// reference is a model with its values and derivatives, each by two independent computations.
type reference struct {
	ID, Class, Model, Source string
	T                        float64
	By                       []string `json:"differentiated_with_respect_to"`
	Results                  []struct {
		T     float64
		State map[string]float64
		D     map[string]map[string]float64
	}
	Objectives map[string]struct {
		Definition string
		Value      float64
		D          map[string]float64
	}
}

// references reads the cases that class takes.
func references(t *testing.T, takes func(r *reference) bool) (list []reference) {
	t.Helper()
	text, err := os.ReadFile("testdata/delays.json")
	if err != nil {
		t.Fatal(err)
	}
	var all struct{ Cases []reference }
	if err := json.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	for _, r := range all.Cases {
		if takes(&r) {
			list = append(list, r)
		}
	}
	return list
}

type expected struct {
	value float64
	by    map[string]float64
}

// written returns the model with objectives for all that is known of it.
func (r *reference) written() (string, map[string]expected) {
	var b strings.Builder
	b.WriteString(r.Model)
	want := map[string]expected{}
	add := func(definition string, e expected) {
		name := fmt.Sprintf("J%d", len(want))
		fmt.Fprintf(&b, "\nobjective %s = %s", name, definition)
		want[name] = e
	}
	for _, x := range r.Results {
		for state, v := range x.State {
			read := fmt.Sprintf("sum_at([%v], %s)", x.T, state)
			if x.T == r.T {
				read = fmt.Sprintf("final(%s)", state)
			}
			add(read, expected{v, x.D[state]})
		}
	}
	for _, o := range r.Objectives {
		add(o.Definition, expected{o.Value, o.D})
	}
	b.WriteString("\n")
	return b.String(), want
}

// check compares a gradient with what is expected. Derivatives are compared on the scale of the larger of the entry and
// a thousandth of the largest.
func check(t *testing.T, s *odes.Sensitivities, want map[string]expected, by []string, values, derivatives float64) {
	t.Helper()
	for i := range s.Values {
		v := &s.Values[i]
		w := want[v.Name]
		if d := math.Abs(v.Value-w.value) / max(math.Abs(w.value), 1e-3); !(d <= values) {
			t.Errorf("%s = %.14g, want %.14g: off by %.1e", v.Name, v.Value, w.value, d)
		}
		largest := 0.0
		for _, x := range w.by {
			largest = max(largest, math.Abs(x))
		}
		for _, x := range s.Variables {
			name := x.String()
			if !slices.Contains(by, name) {
				continue
			}
			got := s.Derivative(i, x)[0]
			if d := math.Abs(got-w.by[name]) / max(math.Abs(w.by[name]), 1e-3*largest, 1e-10); !(d <= derivatives) {
				t.Errorf("d %s/d %s = %.12g, want %.12g: off by %.1e", v.Name, name, got, w.by[name], d)
			}
		}
	}
}

// rooted are cases with steps that end at roots, where forward sensitivities are not those of the computed numbers.
var rooted = []string{"ddetst_c1", "ddetst_c2", "ddetst_d1", "period"}

// TestReference compares values and derivatives with two independent computations, in both modes.
func TestReference(t *testing.T) {
	list := references(t, func(*reference) bool { return true })
	if len(list) < 30 {
		t.Fatalf("%d cases", len(list))
	}
	for _, r := range list {
		t.Run(r.ID, func(t *testing.T) {
			derivatives, rtol := 1e-7, "1e-10"
			if r.ID == "ring20" { // combinations of more than two of its 20 delays are left to error control
				derivatives = 1e-5
			}
			text, want := r.written()
			m, err := odes.Parse(r.ID+".ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			for _, mode := range []string{"adjoint", "tangent", "forward"} {
				s, err := m.Sensitivities(context.Background(), odes.Options{
					Wrt: r.By,
					Settings: []odes.Setting{
						{Key: "solver.rtol", Value: rtol},
						{Key: "sens.mode", Value: mode},
						{Key: "sens.trust", Value: "off"},
					},
				})
				if err != nil {
					t.Fatal(mode, err)
				}
				within := derivatives
				if mode == "forward" && slices.Contains(rooted, r.ID) {
					within = 2e-3
				}
				check(t, s, want, r.By, 1e-8, within)
			}
		})
	}
}

// TestClosedForms: what has a closed form is right to 1e-12 at rtol 1e-13.
func TestClosedForms(t *testing.T) {
	list := references(t, func(r *reference) bool { return strings.HasSuffix(r.Source, "closed form") })
	if len(list) < 8 {
		t.Fatalf("%d cases", len(list))
	}
	for _, r := range list {
		text, want := r.written()
		for _, method := range []string{"auto", "vern7", "radau9"} {
			s := sensitivities(t, text, r.By, map[string]string{"solver.rtol": "1e-13", "solver.method": method})
			for i := range s.Values {
				v := &s.Values[i]
				if w := want[v.Name].value; !(math.Abs(v.Value-w) <= 1e-12*max(math.Abs(w), 1e-3)) {
					t.Errorf("%s by %s: %s = %.17g, want %.17g: off by %.1e", r.ID, method, v.Name, v.Value, w,
						math.Abs(v.Value-w)/max(math.Abs(w), 1e-3))
				}
			}
		}
	}
}
