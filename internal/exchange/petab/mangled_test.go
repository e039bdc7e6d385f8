package petab_test

import (
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes/internal/exchange/petab"
	"odes.dev/odes/internal/testing/mangle"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// sound reports whether a problem becomes a model that parses, or an error.
func sound(t *testing.T, files fstest.MapFS) (text string, ok bool) {
	var list diag.List
	out := petab.Translate(source.NewFile(problem, string(files[problem].Data)), files, &list)
	wrong := ""
	for _, d := range list.All() {
		if d.Level == diag.Error || strings.Contains(d.String(), "please report") {
			wrong += d.String() + "\n"
		}
	}
	if out != nil {
		text = out.Text()
	}
	return text, mangle.Sound(t, string(files[problem].Data), text, wrong)
}

// TestMangled: of problems with cells, tags and lines that are lost, doubled and exchanged, each becomes a model that
// parses, or an error.
func TestMangled(t *testing.T) {
	pieces := regexp.MustCompile(`[^\t\n<>]+|[\t\n<>]`)
	values := []string{"", "A", "time", "NaN", "inf", "-1", "1e400", "log", "0.5;A", "\"", "exp(A", "\ufeff", "_", "1"}
	first := seeds.Of(t, 0)
	translated := mangled(t, decay(t), pieces, values, first, 1500)
	translated += mangled(t, folder(t, "testdata/pulse"), pieces, values, first, 500)
	translated += mangled(t, folder(t, "testdata/network/conditions_priors"), pieces, values, first, 300)
	if translated < 200 {
		t.Errorf("only %d of them were models", translated)
	}
}

// mangled returns how many of n mangled problems became models.
func mangled(
	t *testing.T, files fstest.MapFS, pieces *regexp.Regexp, values []string, first, n uint64,
) (translated int) {
	names := slices.Sorted(maps.Keys(files))
	whole := map[string][]string{}
	for name, f := range files {
		whole[name] = pieces.FindAllString(string(f.Data), -1)
	}
	one := func(r *rand.Rand, _ string) string { return values[r.IntN(len(values))] }
	for seed := range n {
		r := rand.New(rand.NewPCG(first+seed, 1))
		mangled := maps.Clone(files)
		for range 1 + r.IntN(3) {
			name := names[r.IntN(len(names))]
			broken := mangle.Once(r, whole[name], one)
			mangled[name] = &fstest.MapFile{Data: []byte(broken)}
		}
		text, ok := sound(t, mangled)
		if !ok {
			t.Fatalf("seed %d", seed)
		}
		if text != "" {
			translated++
		}
	}
	return translated
}

// FuzzTranslate: whatever files hold, a problem becomes a model that parses, or an error.
func FuzzTranslate(f *testing.F) {
	files := fstest.MapFS{}
	names := []string{problem, "model.xml", "parameters.tsv", "conditions.tsv", "observables.tsv", "measurements.tsv"}
	texts := make([]string, 0, len(names))
	for _, name := range names {
		texts = append(texts, string(decay(f)[name].Data))
	}
	f.Add(texts[0], texts[1], texts[2], texts[3], texts[4], texts[5])
	f.Fuzz(func(t *testing.T, overview, model, parameters, conditions, observables, measurements string) {
		for i, text := range []string{overview, model, parameters, conditions, observables, measurements} {
			files[names[i]] = &fstest.MapFile{Data: []byte(text)}
		}
		sound(t, files)
	})
}
