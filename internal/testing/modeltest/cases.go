package modeltest

import (
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Cases runs the models of all files testdata/FOLDER/*.txtar of the package whose tests run. A file begins with what it
// is about. Its first section, model, has a line with "…" alone. Each of the others is a case: its text takes the place
// of that line, and its name says what must be found, in clauses that semicolons part:
//
//	J: a b           derivatives of J by a and b are marked, and no others
//	params of J: a   likewise, whatever is marked by initial values
//	dJ/da = 0.5      to seven digits
//	dJ/da = 0 | 0.5  on the left and on the right; none where there is no value
//	J/a = 3 | 4      the value leaps by a
//	kink: 1          so many warnings of a code, notes not counted; or some
//
// Settings stand in the model.
func Cases(t *testing.T, folder string) {
	paths, err := filepath.Glob(filepath.Join("testdata", folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("testdata/%s has no files of cases: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			archive := txtar.Parse(text)
			if len(archive.Files) < 2 || archive.Files[0].Name != "model" {
				t.Fatal("there is no section model, or no case behind it")
			}
			before, after, ok := strings.Cut(string(archive.Files[0].Data), "…\n")
			if !ok {
				t.Fatal("the model has no place for cases: a line with … alone")
			}
			for _, c := range archive.Files[1:] {
				runCase(t, before+string(c.Data)+after, string(c.Data), c.Name)
			}
		})
	}
}

// runCase runs a model and holds it against clauses; shown is the part of it that messages show.
func runCase(t *testing.T, model, shown, clauses string) {
	m, err := odes.Parse("model.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Errorf("%s%v", shown, err)
		return
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{})
	if err != nil {
		t.Errorf("%s%v", shown, err)
		return
	}
	for clause := range strings.SplitSeq(clauses, ";") {
		if wrong := against(t, s, strings.TrimSpace(clause)); wrong != "" {
			t.Errorf("%s%s: %v", shown, wrong, s.Warnings)
		}
	}
}

// against says how a result differs from what a clause wants; "" where it does not.
func against(t *testing.T, s *odes.Sensitivities, clause string) string {
	t.Helper()
	if head, number, is := strings.Cut(clause, "="); is {
		if left, right, two := strings.Cut(number, "|"); two {
			return sidesAgainst(s, clause, strings.TrimSpace(head), left, right)
		}
		of, by, derivative := strings.Cut(strings.TrimSpace(head), "/")
		if derivative {
			of, by = strings.TrimPrefix(of, "d"), strings.TrimPrefix(by, "d")
		}
		want, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
		if err != nil {
			return clause + " is no number"
		}
		if got := Derivative(t, s, of, by); !Near(got, want, 1e-7) {
			return strings.TrimSpace(head) + " is " + diag.Number(got) + ", want " + diag.Number(want)
		}
		return ""
	}
	of, wanted, is := strings.Cut(clause, ":")
	if !is {
		return clause + " is no clause"
	}
	wanted = strings.TrimSpace(wanted)
	of, params := strings.CutPrefix(of, "params of ")
	if i := slices.IndexFunc(s.Values, func(v odes.Value) bool { return v.Name == of }); i >= 0 {
		got, want := strings.Fields(Marked(s, i)), strings.Fields(wanted)
		if params {
			got = slices.DeleteFunc(got, func(name string) bool { return strings.HasPrefix(name, "initial(") })
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			return of + " is marked by " + strings.Join(got, " ") + ", want " + wanted
		}
		return ""
	}
	n := 0
	for _, w := range s.Warnings {
		if w.Code == diag.Code(of) && w.Level == diag.Warning {
			n++
		}
	}
	if strconv.Itoa(n) != wanted && !(wanted == "some" && n > 0) {
		return "there are " + strconv.Itoa(n) + " warnings " + of + ", want " + wanted
	}
	return ""
}

// sidesAgainst says how the derivative dJ/da, or the value J/a that leaps, differs on both sides from what is wanted.
func sidesAgainst(s *odes.Sensitivities, clause, head, left, right string) string {
	number := func(text string) (float64, error) {
		if text = strings.TrimSpace(text); text == "none" {
			return math.NaN(), nil
		}
		return strconv.ParseFloat(text, 64)
	}
	l, err := number(left)
	r, also := number(right)
	of, by, parts := strings.Cut(head, "/")
	if err != nil || also != nil || !parts {
		return clause + " is no clause"
	}
	name, slope := strings.CutPrefix(of, "d")
	if slope {
		by = strings.TrimPrefix(by, "d")
	}
	same := func(a, b float64) bool { return a != a && b != b || Near(a, b, 1e-6) }
	near := func(value, column int, a, b float64) bool {
		return s.Values[value].Name == name && slices.ContainsFunc(s.Variables, func(v odes.Variable) bool {
			return v.String() == by && v.Offset == column
		}) && same(a, l) && same(b, r)
	}
	if slope && slices.ContainsFunc(s.OneSided.Sides, func(b odes.BothSides) bool {
		return near(b.Value, b.Column, b.Left, b.Right)
	}) || !slope && slices.ContainsFunc(s.OneSided.Leaps, func(x odes.Leap) bool {
		return near(x.Value, x.Column, x.Left, x.Right) && s.Status != "ok"
	}) {
		return ""
	}
	return "there is no " + clause
}
