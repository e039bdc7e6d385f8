package steady_test

import (
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestContinue follows steady states of two examples: past the folds of the switch, in closed form and from both ends,
// and through the Hopf point of the Brusselator, b = 1 + a².
func TestContinue(t *testing.T) {
	model := func(name string) *odes.Model {
		text, err := os.ReadFile(modeltest.Path("examples/" + name + "/" + name + ".ode"))
		if err != nil {
			t.Fatal(err)
		}
		m, err := odes.Parse(name+".ode", string(text), odes.ParseOptions{})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	special := func(b *odes.Branch) (list []odes.Place) {
		for _, p := range b.Places {
			if p.Kind != "" {
				list = append(list, p)
			}
		}
		return list
	}
	schloegl := model("schloegl")
	for _, loss := range []float64{2.52, 2.7, 2.2} {
		for _, c := range []odes.Continuation{{Param: "feed", To: 1}, {Param: "feed", From: 1}} {
			set := []odes.Assignment{{Name: "loss", Values: []float64{loss}}}
			b, err := schloegl.Continue(t.Context(), c, odes.Options{Set: set})
			if err != nil {
				t.Fatal(err)
			}
			list := special(b)
			if loss == 2.2 { // the upper fold is at a negative feed
				if (c.From == 0) != (len(list) == 1) && len(list) != 1 {
					t.Errorf("loss %v: %+v", loss, list)
				}
				continue
			}
			if len(list) != 2 || b.End != "bound" {
				t.Fatalf("loss %v: special places %+v, end %s", loss, list, b.End)
			}
			for i, p := range list {
				root := math.Sqrt(1 - loss/3)
				if (i == 0) == (c.From == 0) {
					root = -root
				}
				x := 1 + root
				if feed := x * (x*(x-3) + loss); p.Kind != "fold" || math.Abs(p.X-feed) > 1e-12 ||
					math.Abs(p.Y[0]-x) > 1e-8 {
					t.Errorf("loss %v: a %s at %v, %v, want a fold at %v, %v", loss, p.Kind, p.X, p.Y, feed, x)
				}
			}
		}
	}
	brusselator := model("brusselator")
	for _, a := range []float64{0.8, 1, 1.7} {
		set := []odes.Assignment{{Name: "a", Values: []float64{a}}, {Name: "x0", Values: []float64{1}}}
		along := odes.Continuation{Param: "b", From: 0.3, To: 5}
		b, err := brusselator.Continue(t.Context(), along, odes.Options{Set: set})
		if err != nil {
			t.Fatal(err)
		}
		list := special(b)
		if len(list) != 1 || list[0].Kind != "hopf" || math.Abs(list[0].X-1-a*a) > 1e-10 ||
			math.Abs(imag(list[0].Eigenvalue)) < a-1e-9 {
			t.Errorf("a = %v: %+v", a, list)
		}
	}
}

// TestContinueTimed: rates that depend on time have no steady states, also where they do not at the start.
func TestContinueTimed(t *testing.T) {
	m, err := odes.Parse("drive.ode", `time t from 0 to 1
param a = 0
state x = 0.1
x' = a*sin(t) - x
`, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	along := odes.Continuation{Param: "a", From: 0, To: 1}
	if _, err := m.Continue(t.Context(), along, odes.Options{}); err == nil ||
		!strings.Contains(err.Error(), "the rate of x depends on time") {
		t.Errorf("the error is %v", err)
	}
}
