package main

import (
	"fmt"
	"math"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
)

// stiffProblem is a stiff model and what is asked of it: the gradient of one objective, by params first and then by
// initial values.
type stiffProblem struct {
	name, title string
	path        string // of the model among the examples; "": it is drawn (stiffNetwork)
	species     int    // of the network
	points      int    // of the grid, where it is not that of the example
	set         []odes.Assignment
	of          string
	wrt         []string
	pairs       bool    // two arrays of initial values, which references hold side by side
	atol        float64 // over rtol
	errors      []float64
	cvodes      []any // its linear solver
	fatode      bool  // small enough for dense matrices
	petsc       bool  // so small that a method of order 2 ends in reasonable time
}

// stiffErrors are the errors of gradients that times are compared at.
var stiffErrors = []float64{1e-4, 1e-6}

func stiffProblems() []*stiffProblem {
	names := func(of string, from, to int) (list []string) {
		for i := from; i <= to; i++ {
			list = append(list, fmt.Sprintf(of, i))
		}
		return list
	}
	initial := func(list string) (out []string) {
		for name := range strings.FieldsSeq(list) {
			out = append(out, "initial("+name+")")
		}
		return out
	}
	set := func(pairs ...any) (list []odes.Assignment) {
		for i := 0; i < len(pairs); i += 2 {
			list = append(list, odes.Assignment{Name: pairs[i].(string), Values: []float64{pairs[i+1].(float64)}})
		}
		return list
	}
	robertson := append(names("k%d", 1, 3), initial("A B C")...)
	list := []*stiffProblem{
		{
			name: "robertson40", title: "Robertson, to 40 s", path: "robertson", set: set("T", 40.0), of: "A_T",
			wrt: robertson, atol: 1e-6,
		},
		{
			name: "robertson4e5", title: "Robertson, to 4e5 s", path: "robertson", set: set("T", 4e5), of: "A_T",
			wrt: robertson, atol: 1e-6,
		},
		{
			name: "hires", title: "HIRES", path: "hires", set: set("T", 300.0), of: "PfrX2_T",
			wrt:  append(names("p%d", 1, 12), initial("Pr Pfr PrX PfrX PrX2 PfrX2 PfrXE E")...),
			atol: 1e-3,
		},
		{
			name: "oregonator", title: "Oregonator", path: "oregonator", set: set("T", 330.0), of: "Y_T",
			wrt: append([]string{"s", "w", "q"}, initial("X Y Z")...), atol: 1e-2,
		},
		{
			name: "pollution", title: "Pollution", path: "pollution", set: set("T", 60.0), of: "ozone",
			wrt: append(names("k%d", 1, 25), initial("NO2 NO O3P O3 HO2 OH HCHO CO ALD MEO2 C2O3 CO2 PAN CH3O "+
				"HNO3 O1D SO2 SO4 NO3 N2O5")...), atol: 1e-5,
		},
		{
			name: "vdpjump", title: "Van der Pol, μ = 1e6, through a jump", path: "vdp", of: "x_T",
			set: set("T", 0.95, "mu", 1e6, "v0", 0.0), wrt: append([]string{"mu"}, initial("x v")...), atol: 1e-2,
			errors: []float64{3e-3, 1e-4},
		},
	}
	for _, n := range []int{20, 100, 1000} {
		list = append(list, stiffNetworkProblem(n, 3*n))
	}
	for _, n := range []int{200, 2000} {
		list = append(list, &stiffProblem{
			name: fmt.Sprintf("brusselator%d", n), title: fmt.Sprintf("Brusselator along a line, %d points", n),
			path: "brusselator_1d", points: n, set: set("T", 10.0), of: "mean_u", pairs: true,
			wrt: append([]string{"A", "B", "alpha"}, initial("u v")...), atol: 1e-2,
		})
	}
	for _, p := range list {
		p.errors = slices.Clone(p.errors)
		if p.errors == nil {
			p.errors = stiffErrors
		}
		switch {
		case p.points > 0:
			p.cvodes = []any{"-ls", "band"}
		case p.species >= 100:
			p.cvodes = []any{"-ls", "klu"}
		}
		p.fatode = p.points == 0 && p.species <= 100
		p.petsc = p.points == 0 && p.species < 100
	}
	return list
}

func stiffNetworkProblem(n, reactions int) *stiffProblem {
	p := &stiffProblem{
		name: fmt.Sprintf("network%d", n), title: fmt.Sprintf("Reaction network, %d species", n), species: n, of: "J",
		atol: 1e-4,
	}
	for r := range reactions {
		p.wrt = append(p.wrt, fmt.Sprintf("k%d", r))
	}
	for i := range n {
		p.wrt = append(p.wrt, fmt.Sprintf("initial(s%d)", i))
	}
	return p
}

// stiffNamed finds a problem; networks may have any number of species.
func stiffNamed(name string) (*stiffProblem, error) {
	for _, p := range stiffProblems() {
		if p.name == name {
			return p, nil
		}
	}
	for _, p := range mildProblems() {
		if p.name == name {
			return p, nil
		}
	}
	if n, ok := strings.CutPrefix(name, "network"); ok {
		if n, err := strconv.Atoi(n); err == nil && n > 1 {
			return stiffNetworkProblem(n, 3*n), nil
		}
	}
	return nil, fmt.Errorf("no problem %q", name)
}

// parse compiles the model. The examples are looked for in the root of the repository.
func (p *stiffProblem) parse() (*odes.Model, error) {
	if p.path == "" {
		return odes.Parse(p.name+".ode", newStiffNetwork(p.species, 3*p.species, 1).text(), odes.ParseOptions{})
	}
	path := fmt.Sprintf("examples/%s/%s.ode", p.path, p.path)
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := string(text)
	if p.points > 0 {
		size := regexp.MustCompile(`(?m)^const n += 200$`)
		if n := len(size.FindAllString(s, -1)); n != 1 {
			return nil, fmt.Errorf("%s: %d lines of the form %s", path, n, size)
		}
		s = size.ReplaceAllString(s, fmt.Sprintf("const n = %d", p.points))
	}
	return odes.Parse(path, s, odes.ParseOptions{})
}

// gradient is J, then its derivatives by params, then those by initial values.
type gradient struct {
	value           float64
	params, initial []float64
}

// gradient takes what was asked for from a result.
func (p *stiffProblem) gradient(s *odes.Sensitivities) gradient {
	g := gradient{value: s.Values[0].Value}
	var arrays [][]float64
	for _, v := range s.Variables {
		switch d := s.Derivative(0, v); {
		case !v.Initial:
			g.params = append(g.params, d...)
		case p.pairs:
			arrays = append(arrays, d)
		default:
			g.initial = append(g.initial, d...)
		}
	}
	if len(arrays) == 2 {
		for i, d := range arrays[0] {
			g.initial = append(g.initial, d, arrays[1][i])
		}
	}
	return g
}

// apart is the error of a gradient: the largest error of p dJ/dp over all params p, and that of the derivatives by
// initial values, each over the largest of its kind; the larger of the two.
func (g gradient) apart(ref gradient, scales []float64) float64 {
	worst := func(a, b []float64, scale func(int) float64) float64 {
		most, off := 0.0, 0.0
		for i, x := range b {
			most, off = max(most, math.Abs(x*scale(i))), max(off, math.Abs((a[i]-x)*scale(i)))
		}
		if off == 0 {
			return 0
		}
		return off / most
	}
	return max(worst(g.params, ref.params, func(i int) float64 { return scales[i] }),
		worst(g.initial, ref.initial, func(int) float64 { return 1 }))
}

// write writes a gradient as the other programs read it: a number a line.
func (g gradient) write(path string) error {
	var b strings.Builder
	for _, list := range [][]float64{{g.value}, g.params, g.initial} {
		for _, x := range list {
			fmt.Fprintf(&b, "%.17g\n", x)
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644)
}

// readGradient reads what write wrote, of a gradient with so many params.
func readGradient(path string, params int) (gradient, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return gradient{}, err
	}
	var list []float64
	for word := range strings.FieldsSeq(string(b)) {
		x, err := strconv.ParseFloat(word, 64)
		if err != nil {
			return gradient{}, err
		}
		list = append(list, x)
	}
	if len(list) <= params {
		return gradient{}, fmt.Errorf("%s has %d numbers", path, len(list))
	}
	return gradient{list[0], list[1 : params+1], list[params+1:]}, nil
}
