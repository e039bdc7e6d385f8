package truth

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
)

var curvatures = flag.Int("curvatures", 60, "how many models TestCurvatures draws of each kind")

// gradientAt is the gradient of all objectives, by another method than that of the second derivatives, with param p
// moved by h and runs of a tolerance; nil where there is none.
func (c *composition) gradientAt(t *testing.T, m *odes.Model, p string, h, rtol float64) *odes.Sensitivities {
	s, err := m.Sensitivities(t.Context(), odes.Options{
		Threads: 1, Set: []odes.Assignment{{Name: p, Values: []float64{c.values[p] + h}}},
		Settings: []odes.Setting{
			{Key: "solver.method", Value: "dop853"},
			{Key: "solver.hmax", Value: "0.1"},
			{Key: "solver.rtol", Value: fmt.Sprint(rtol)},
			{Key: "solver.atol", Value: fmt.Sprint(rtol / 100)},
			{Key: "sens.trust", Value: "off"},
			{Key: "sens.mode", Value: "adjoint"},
		},
	})
	if err != nil {
		return nil
	}
	return s
}

// bends lists second derivatives that are not those of both sides, as differences of gradients have them, and have no
// mark.
func (c *composition) bends(t *testing.T, text string) (list []string) {
	m, err := odes.Parse("composition.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
		{Key: "sens.order", Value: "2"}, {Key: "sens.mode", Value: "adjoint"},
	}})
	if err != nil {
		return nil // it says so
	}
	for _, w := range s.Warnings {
		if w.Level == diag.Warning && (w.Code == odes.CodeTie || w.Code == odes.CodeKink) {
			return nil
		}
	}
	for _, v := range s.Variables {
		if v.Initial {
			continue
		}
		// sides are differences to the left and to the right, by places of the Hessian.
		sides := func(part, rtol float64) (left, right map[int]float64, h float64) {
			h = part * max(c.values[v.Name], 0.5)
			var at [5]*odes.Sensitivities
			for k := range at {
				if at[k] = c.gradientAt(t, m, v.Name, float64(k-2)*h, rtol); at[k] == nil {
					return nil, nil, h
				}
			}
			left, right = map[int]float64{}, map[int]float64{}
			for i := range s.Values {
				for _, w := range s.Variables {
					if w.Initial {
						continue
					}
					d := func(k int) float64 {
						if s := at[k]; !math.IsNaN(s.Values[i].Value) {
							return s.Derivative(i, w)[0]
						}
						return math.NaN()
					}
					place := (i*s.Columns+w.Offset)*s.Columns + v.Offset
					left[place], right[place] = (3*d(2)-4*d(1)+d(0))/(2*h), (-3*d(2)+4*d(3)-d(4))/(2*h)
				}
			}
			return left, right, h
		}
		left, right, h := sides(1e-4, 1e-10)
		var nearLeft, nearRight map[int]float64 // by shorter steps, where these do not tell
		var short float64
		for i, value := range s.Values {
			for _, w := range s.Variables {
				if w.Initial || left == nil {
					continue
				}
				place := (i*s.Columns+w.Offset)*s.Columns + v.Offset
				got := s.Hessian[place]
				size := math.Abs(s.Derivative(i, w)[0]) + math.Abs(value.Value) + 1
				near := func(x, noise float64) bool {
					return math.IsNaN(x) || math.Abs(x-got) <= 1e-2*max(math.Abs(got), math.Abs(x))+noise
				}
				marked := value.Trust != odes.Sound || s.Trust(i, v) != odes.Sound || s.Trust(i, w) != odes.Sound ||
					s.HessianTrusts != nil && s.HessianTrusts[place] != odes.Sound
				c.compared++
				both := near(left[place], 1e-7*size/h) && near(right[place], 1e-7*size/h)
				if !both && !marked {
					if nearLeft == nil {
						nearLeft, nearRight, short = sides(1e-6, 1e-13)
					}
					falls := func(x, wide float64) bool { // what shorter steps make smaller is no jump
						return near(x, 1e-9*size/short) || math.Abs(x-got) <= 0.2*math.Abs(wide-got)
					}
					both = nearLeft == nil ||
						falls(nearLeft[place], left[place]) && falls(nearRight[place], right[place])
					if !both {
						// What grows like 1/h is a leap of the first derivative within the steps. Where still shorter
						// ones do not see it, it is not at the point: exp(-y^2) > u with exp(-16) at u = 0.
						l, r, shortest := sides(1e-8, 1e-13)
						nothing := func(x, wide float64) bool {
							return near(wide, 1e-9*size/short) ||
								near(x, 1e-9*size/shortest) && near(x, 0.1*math.Abs(wide))
						}
						both = l != nil && nothing(l[place], nearLeft[place]) && nothing(r[place], nearRight[place])
					}
				}
				switch {
				case marked:
					c.marked++
					if both && got == got && !math.IsNaN(value.Value) {
						c.needless++
					}
				case !both:
					list = append(list, fmt.Sprintf("d² %s/d %s d %s is %.7g, on the left %.7g, on the right %.7g",
						value.Name, w, v, got, left[place], right[place]))
				}
			}
		}
	}
	return list
}

// TestCurvatures compares second derivatives of drawn models with differences of gradients to either side.
func TestCurvatures(t *testing.T) {
	first := seeds.Of(t, *composed)
	for _, kind := range []struct {
		name   string
		stream uint64
		text   func(*composition) string
	}{{"compositions", 7, (*composition).text}, {"meetings", 31, (*composition).meeting}} {
		for _, generic := range []bool{false, true} {
			compared, marked, needless := 0, 0, 0
			for k := range uint64(*curvatures) {
				seed := first + k
				c := &composition{Rand: rand.New(rand.NewPCG(seed, kind.stream))}
				text := kind.text(c)
				if generic {
					for _, p := range c.params {
						v := c.values[p] + 0.03 + 0.05*c.Float64()
						text = strings.Replace(text, fmt.Sprintf("param %s = %v\n", p, c.values[p]),
							fmt.Sprintf("param %s = %v\n", p, v), 1)
						c.values[p] = v
					}
				}
				if list := c.bends(t, text); len(list) > 0 {
					t.Errorf("%s, generic %v, seed %d: %s\n%s", kind.name, generic, seed,
						strings.Join(slices.Compact(list), "\n"), indent(text))
				}
				if c.needless > 0 && *report {
					t.Logf("%s, generic %v, seed %d: %d of %d second derivatives are right, but marked\n%s", kind.name,
						generic, seed, c.needless, c.compared, indent(text))
				}
				compared, marked, needless = compared+c.compared, marked+c.marked, needless+c.needless
			}
			t.Logf("%s, generic %v: %d second derivatives, %d of them marked, %d of these those of both sides",
				kind.name, generic, compared, marked, needless)
		}
	}
}
