package truth

import (
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

// TestSideBySide draws models as TestRandom does, and makes runs of each in lanes, with other values of its params.
// They must have the bits of runs that are made alone.
func TestSideBySide(t *testing.T) {
	ofFamilies(t, 4, 4, func(t *testing.T, f *Family, each int) {
		taken, made, all := 0, 0, 0
		first := seeds.Of(t, *seed)
		for i := range each {
			seed := first + uint64(i)
			n := besideAlone(t, f.Draw(seed).Text, seed)
			if all += besides; n > 0 {
				taken++
			}
			made += n
		}
		t.Logf("%d of %d models are taken; %d of %d runs were made", taken, each, made, all)
	})
}

// ofFamilies tests each family by a part of the models that TestRandom draws of it, or by so many in short runs.
func ofFamilies(t *testing.T, part, short int, test func(t *testing.T, f *Family, each int)) {
	t.Helper()
	t.Parallel()
	each := (*models/part + len(Families) - 1) / len(Families)
	if testing.Short() {
		each = short
	}
	for _, f := range Families {
		if *family != "" && f.Name != *family {
			continue
		}
		t.Run(strings.ReplaceAll(f.Name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			test(t, &f, each)
		})
	}
}

// besides is how many runs of a model TestSideBySide makes.
const besides = 13

var plainParam = regexp.MustCompile(`(?m)^ *param ([a-zA-Z]\w*) = (-?[0-9.]+(?:e-?[0-9]+)?)(?: *\[[^]]*\])? *$`)

// besideAlone makes runs of a model in lanes and alone. It returns how many were made in lanes.
func besideAlone(t *testing.T, text string, seed uint64) (made int) {
	m, err := odes.Parse("m.ode", text, odes.ParseOptions{})
	if err != nil {
		return 0
	}
	params := plainParam.FindAllStringSubmatch(text, -1)
	set := func(i int) (list []odes.Assignment) {
		r := rand.New(rand.NewPCG(seed, uint64(i)))
		for _, p := range params {
			x, _ := strconv.ParseFloat(p[2], 64)
			if i%3 > 0 { // the model itself stands on the edge of something
				x *= 1 + 0.01*float64(i)*(r.Float64()-0.5)
			}
			list = append(list, odes.Assignment{Name: p[1], Values: []float64{x}})
		}
		return list
	}
	methods := []string{"dopri5", "tsit5", "auto", "bs3", "dop853", "rodas5p", "ros3p", "rosenbrock23"}
	opts := odes.Options{Set: set(0), Threads: 1, Settings: append([]odes.Setting{
		{Key: "solver.method", Value: methods[seed%uint64(len(methods))]},
		{Key: "sens.mode", Value: []string{"adjoint", "tangent", "forward"}[seed/uint64(len(methods))%3]},
		{Key: "sens.trust", Value: "off"},
		{Key: "solver.max_steps", Value: "20000"},
	}, settings()...)}
	lanes, err := m.Lanes(opts, true)
	if lanes == nil || err != nil {
		return 0
	}
	alone, err := m.Prepare(opts)
	if err != nil {
		t.Fatal(err)
	}
	values, _, columns, err := m.Wanted(opts)
	if err != nil {
		t.Fatal(err)
	}
	rows, steps := make([][]float64, besides), make([]int, besides)
	for i := range rows {
		rows[i] = make([]float64, len(values)*(1+columns))
	}
	lanes.Run(t.Context(), besides, set, func(i int) []float64 { return rows[i] }, steps)
	for i, row := range rows {
		if steps[i] < 0 {
			continue
		}
		made++
		if err := alone.Set(set(i)...); err != nil {
			t.Fatal(err)
		}
		s, err := alone.Sensitivities(t.Context())
		if err != nil {
			t.Errorf("seed %d, member %d: alone %v\n%s", seed, i, err, indent(text))
			return made
		}
		var want []float64
		for _, v := range s.Values {
			want = append(want, v.Value)
		}
		want = append(want, s.Gradient...)
		same := func(x, y float64) bool { return math.Float64bits(x) == math.Float64bits(y) }
		if steps[i] != s.Stats.Steps || !slices.EqualFunc(row, want, same) {
			t.Errorf("seed %d, member %d: %d steps, alone %d\n%v, alone\n%v\n%s", seed, i, steps[i], s.Stats.Steps, row,
				want, indent(text))
			return made
		}
	}
	return made
}
