package compiled_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/typecheck"
)

// modelOf compiles a text.
func modelOf(t *testing.T, text string) *compiled.Model {
	t.Helper()
	var list diag.List
	checked, _ := compile.Text("test.ode", text, typecheck.Env{}, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	m, _ := compile.Model(checked, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return m
}

// following has params that follow others along several links, elements among them.
const following = `
time t from 0 to 1
param a = 0.5, b = 2
param q[3] = [2*a, 3*a*b, 1]
param r = sum(q)*b
param s[2] = [r, exp(a)]
param free = 7
state x = r, y[2] = 1
x' = q[1]*x + s[1] + free
y' = s
discrete gear = 1
event shift at 0.5 { gear = 2 }
output z = gear*x
objective J = final(x)
`

// pointOf returns the point of m with overrides.
func pointOf(t *testing.T, m *compiled.Model, set ...compiled.Override) *compiled.Point {
	t.Helper()
	var list diag.List
	pt := m.NewPoint(set, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return pt
}

// TestPoint evaluates defaults in the order of their dependencies, but for what overrides cut from them.
func TestPoint(t *testing.T) {
	m := modelOf(t, following)
	for _, c := range []struct {
		set  []compiled.Override
		want map[string][]float64
	}{
		{nil, map[string][]float64{"q": {1, 3, 1}, "r": {10}, "s": {10, math.Exp(0.5)}, "free": {7}}},
		{[]compiled.Override{{"a", []float64{1}}}, map[string][]float64{"q": {2, 6, 1}, "r": {18}}},
		{[]compiled.Override{{"q[2]", []float64{0}}}, map[string][]float64{"q": {1, 0, 1}, "r": {4}}},
		{
			[]compiled.Override{{"q", []float64{4}}, {"q[3]", []float64{5}}},
			map[string][]float64{"q": {4, 4, 5}, "r": {26}},
		},
		{[]compiled.Override{{"r", []float64{1}}}, map[string][]float64{"r": {1}, "s": {1, math.Exp(0.5)}}},
		{[]compiled.Override{{"s[1]", []float64{9}}, {"a", []float64{0}}}, map[string][]float64{"s": {9, 1}}},
	} {
		pt := pointOf(t, m, c.set...)
		for name, want := range c.want {
			got := pt.Param(name)
			if !slices.EqualFunc(got, want, func(x, y float64) bool { return math.Abs(x-y) <= 1e-15*math.Abs(y) }) {
				t.Errorf("%v: %s = %v, want %v", c.set, name, got, want)
			}
		}
	}
}

// TestBadOverrides names what is wrong with an override.
func TestBadOverrides(t *testing.T) {
	m := modelOf(t, following)
	for _, c := range []struct {
		name   string
		values []float64
		want   string
	}{
		{"aa", []float64{1}, `no param "aa"`},
		{"initial(z)", []float64{1}, `no state "z"`},
		{"gear", []float64{1}, `no param "gear"; it is a discrete, which starts as it is declared: for another start ` +
			"declare param gear0 = …, discrete gear = gear0, and take gear0"},
		{"initial(gear)", []float64{1}, `no state "gear"; it is a discrete`},
		{"initial(a)", []float64{1}, "it is a param: write a"},
		{"x", []float64{1}, "it is a state: write initial(x)"},
		{"z", []float64{1}, "it is an output"},
		{"J", []float64{1}, "it is an objective"},
		{"t", []float64{1}, "it is the time"},
		{"q[4]", []float64{1}, "outside 1:3"},
		{"q[1,2]", []float64{1}, "1 dimensions, not 2"},
		{"q", []float64{1, 2}, "to 2 values: it has 3"},
		{"q[x]", []float64{1}, "no name with subscripts"},
	} {
		var list diag.List
		m.NewPoint([]compiled.Override{{Name: c.name, Values: c.values}}, &list)
		if err := list.Err(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s = %v: %v, want %q", c.name, c.values, err, c.want)
		}
	}
}

// TestMove gives a point other values, but cuts no link that it has.
func TestMove(t *testing.T) {
	m := modelOf(t, following)
	pt := pointOf(t, m, compiled.Override{Name: "q[2]", Values: []float64{3}})
	if cut := pt.Move(pointOf(t, m, compiled.Override{Name: "q[2]", Values: []float64{8}})); cut != nil ||
		pt.Param("q")[1] != 8 {
		t.Errorf("q[2] = 8: cut %v, q = %v", cut, pt.Param("q"))
	}
	if cut := pt.Move(pointOf(t, m, compiled.Override{Name: "q[1]", Values: []float64{8}})); !slices.Equal(cut,
		[]string{"q"}) {
		t.Errorf("q[1] = 8 cuts %v", cut)
	}
	if got := pt.Param("q")[0]; got != 1 {
		t.Errorf("a refused move set q[1] = %v", got)
	}
}

// TestChain holds the way of derivatives back along the links of defaults against that of a direction forward:
// ⟨w, D v⟩ = ⟨Dᵀ w, v⟩ where D is the derivative of all active params by the variables.
func TestChain(t *testing.T) {
	m := modelOf(t, following)
	random := rand.New(rand.NewPCG(seeds.Of(t, 1), 2))
	for _, set := range [][]compiled.Override{
		nil,
		{{"q[2]", []float64{0.3}}},
		{{"r", []float64{1.5}}},
		{{"s[1]", []float64{1}}, {"q", []float64{2}}},
	} {
		variables := []compiled.Variable{
			{Name: "a", Place: vec.Place{Offset: 0, Len: 1}},
			{Name: "b", Place: vec.Place{Offset: 1, Len: 1}},
			{Name: "free", Place: vec.Place{Offset: 2, Len: 1}},
		}
		p := compiled.NewTask(m, pointOf(t, m, set...), []int{0}, nil)
		p.Differentiate(p.Point.Active(variables))
		chain, err := p.Chain(false)
		if err != nil {
			t.Fatal(err)
		}
		w := make([]float64, p.Width())
		for i := range w {
			w[i] = random.NormFloat64()
		}
		v := []float64{random.NormFloat64(), random.NormFloat64(), random.NormFloat64()}
		forward, _ := p.Directions(variables)(v, nil)
		want := 0.0
		for i, x := range forward {
			want += w[i] * x
		}
		chain.Pull(w, 1, len(w))
		row := make([]float64, 3)
		g := p.Gatherer(variables)
		g.Gather(row, w, nil)
		got := row[0]*v[0] + row[1]*v[1] + row[2]*v[2]
		if math.Abs(got-want) > 1e-12*(1+math.Abs(want)) {
			t.Errorf("%v: %v backwards, %v forwards", set, got, want)
		}
	}
}

// TestUnknownNames panics for names that lie nowhere, instead of giving the place of something else.
func TestUnknownNames(t *testing.T) {
	m := modelOf(t, following)
	for what, look := range map[string]func(){
		"param":  func() { m.Param("nobody") },
		"state":  func() { m.State("a") },
		"column": func() { p := compiled.NewTask(m, pointOf(t, m), nil, nil); p.Column("a") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("an unknown %s has a place", what)
				}
			}()
			look()
		}()
	}
}

// TestPlaces lays states and params out in the order of their declarations.
func TestPlaces(t *testing.T) {
	m := modelOf(t, following)
	if got, want := m.State("y"), (vec.Place{Offset: 1, Len: 2}); got != want {
		t.Errorf("y lies at %v, want %v", got, want)
	}
	if got, want := m.Param("r"), (vec.Place{Offset: 5, Len: 1}); got != want {
		t.Errorf("r lies at %v, want %v", got, want)
	}
	for i, want := range []string{"x", "y[1]", "y[2]"} {
		if got := m.StateName(i); got != want {
			t.Errorf("element %d of the state is called %q, want %q", i, got, want)
		}
	}
	if got := compiled.ElementName("u", []int{2, 3}, 4); got != "u[2,2]" {
		t.Errorf("element 4 of a 2 by 3 array is called %q", got)
	}
}
