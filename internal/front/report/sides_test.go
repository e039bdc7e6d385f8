package report

import (
	"encoding/json"
	"strings"
	"testing"

	"odes.dev/odes"
)

// sidedModel has a mode that comes with another one, and a dose that comes with an observation.
const sidedModel = `time t from 0 to 3
param a = 1, c = 1, T = 2, s = 2
state y = 0, z = 0, x = 1
y' = 1 + (if z > a then 1 else 0)
z' = 1 + (if y > c then 1 else 0)
x' = 0
event dose at T { x = x + 1 }
objective J = final(y + z)
objective K = sum_at([s], x)
sens { wrt = [a, s] }
`

// TestSidesEverywhere: every form that results of derivatives have tells both sides, and values of leaps.
func TestSidesEverywhere(t *testing.T) {
	m, err := odes.Parse("sided.ode", sidedModel, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if n, l := len(s.OneSided.Sides), len(s.OneSided.Leaps); n != 1 || l != 1 || s.Status != "partial" {
		t.Fatalf("%d derivatives have two sides, %d values leap, status %s: %v", n, l, s.Status, s.Warnings)
	}
	both, leap := s.OneSided.Sides[0], s.OneSided.Leaps[0]
	if near := func(x, y float64) bool { return x-y < 1e-6 && y-x < 1e-6 }; !near(both.Left, -1.5) ||
		!near(both.Right, -0.5) || !near(leap.Left, 1) || !near(leap.Right, 2) {
		t.Errorf("sides are %v | %v, values %v | %v", both.Left, both.Right, leap.Left, leap.Right)
	}
	var b strings.Builder
	if err := inCSV(sensSheet)(&b, Heading{}, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	left, right := plainNumber(both.Left), plainNumber(both.Right)
	for _, want := range []string{
		"value,trust,left,right,value_left,value_right\n", "," + left + "," + right + ",,\n",
		",lost,,," + plainNumber(leap.Left) + "," + plainNumber(leap.Right) + "\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("CSV lacks %q:\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := sensJSON(&b, Heading{}, s, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	var read struct {
		Objectives []struct {
			OneSided []struct {
				By           string
				Left, Right  *float64
				Values       []float64
				Coincidences []int
			} `json:"one_sided"`
		}
		Coincidences []struct {
			T      float64
			Causes []string
			Leap   bool
		}
	}
	if err := json.Unmarshal([]byte(b.String()), &read); err != nil {
		t.Fatal(err)
	}
	j, k := read.Objectives[0].OneSided, read.Objectives[1].OneSided
	if len(j) != 1 || len(k) != 1 || j[0].By != "a" || *j[0].Left != both.Left || *j[0].Right != both.Right ||
		k[0].By != "s" || k[0].Left != nil || k[0].Right != nil || len(k[0].Values) != 2 ||
		k[0].Values[1] != leap.Right {
		t.Errorf("JSON has %+v and %+v", j, k)
	}
	for n, of := range [][]int{j[0].Coincidences, k[0].Coincidences} {
		if len(of) != 1 || read.Coincidences[of[0]].Leap != (n == 1) || len(read.Coincidences[of[0]].Causes) != 2 {
			t.Errorf("objective %d has the coincidences %v of %+v", n, of, read.Coincidences)
		}
	}
	l, r, from, to := s.Gradients()
	if at := s.Columns; l[0] != both.Left || r[0] != both.Right || from[0] == from[0] || l[at+1] == l[at+1] ||
		from[at+1] != leap.Left || to[at+1] != leap.Right {
		t.Errorf("gradients are %v and %v, values %v and %v", l, r, from, to)
	}
	v, err := m.Verify(t.Context(), odes.Options{}, odes.VerifyOptions{Directions: 1})
	if err != nil {
		t.Fatal(err)
	}
	b.Reset()
	if err := VerifyTable(&b, Heading{}, v, TableOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"J by a -1.5000000 | -0.50000000", "K by s 1.0000000 | 2.0000000"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("a check of gradients lacks %q:\n%s", want, b.String())
		}
	}
}
