package sbml_test

import (
	"bufio"
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/exchange/export"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/exchange/sbml/comp"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/typecheck"
)

// The SBML semantic test suite says what models mean. It is no part of this project: with a copy of it,
//
//	go test ./internal/exchange/sbml -run TestSemanticSuite -suite cases/semantic -v
//
// translates its models, runs them and compares. -case 00978 prints a translated model, and -tag comp: runs those with
// such a tag. With -back, models are exported
// and translated again before they run.
var (
	suiteDir  = flag.String("suite", "", "a folder with the cases of the SBML semantic test suite")
	suiteBack = flag.Bool("back", false, "export what was translated, and translate that again")
	suiteCase = flag.String("case", "", "only this case of the suite, with its model")
	suiteTag  = flag.String("tag", "", "only the cases of the suite that have this in their descriptions")
)

// errLeft is about cases that are left out.
var errLeft = errors.New("left out")

// suiteSettings say what a case asks for.
type suiteSettings struct{ values map[string]string }

func (s *suiteSettings) list(key string) []string {
	return regexp.MustCompile(`[^,\s]+`).FindAllString(s.values[key], -1)
}

func (s *suiteSettings) has(key, name string) bool {
	for _, v := range s.list(key) {
		if v == name {
			return true
		}
	}
	return false
}

func (s *suiteSettings) number(key string) float64 {
	v, _ := strconv.ParseFloat(s.values[key], 64)
	return v
}

func readSettings(path string) (*suiteSettings, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	s := &suiteSettings{map[string]string{}}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		if key, value, ok := strings.Cut(lines.Text(), ":"); ok {
			s.values[strings.TrimSpace(key)] = strings.TrimSpace(value)
		}
	}
	return s, nil
}

// suiteModel translates a case, and reports the variables that it asks for.
func suiteModel(dir, id string, set *suiteSettings) (string, error) {
	var text []byte
	var err error
	for _, level := range []string{"l3v2", "l3v1", "l2v5", "l2v4"} {
		if text, err = os.ReadFile(filepath.Join(dir, id, id+"-sbml-"+level+".xml")); err == nil {
			break
		}
	}
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLeft, err)
	}
	var list diag.List
	file := source.NewFile(id+".xml", string(text))
	document, err := sbml.Parse(file.Text())
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLeft, err)
	}
	document, err = comp.Flatten(document, comp.Beside(os.DirFS(filepath.Join(dir, id)), file, "."))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errLeft, err)
	}
	m := sbml.ReadTree(file, document, &list)
	var translated *source.File
	if m != nil {
		translated = m.Text(sbml.Options{To: set.values["duration"]}, &list)
	}
	if translated == nil {
		all := list.All()
		at := slices.IndexFunc(all, func(d diag.Diagnostic) bool { return d.Level == diag.Error })
		return "", fmt.Errorf("%w: %s", errLeft, all[at].Message)
	}
	reports := translated.Text()
	for _, v := range set.list("variables") {
		value, _, _ := m.Name(v)
		for _, s := range document.Child("model").List("listOfSpecies") {
			compartment, _, _ := m.Name(s.Attr("compartment"))
			amounts := s.Attr("hasOnlySubstanceUnits") == "true"
			switch {
			case s.Attr("id") != v:
			case set.has("amount", v) && !amounts:
				value += "*" + compartment
			case set.has("concentration", v) && amounts:
				value += "/" + compartment
			}
		}
		reports += fmt.Sprintf("output o_%s = %s\n", v, value)
	}
	return reports, nil
}

// back exports a model in SBML and translates it again.
func back(id, text string, set *suiteSettings) (string, error) {
	var list diag.List
	m, _ := compile.Text(id, text, typecheck.Env{}, &list)
	if m == nil {
		return "", list.Err()
	}
	written := export.Named("sbml").Write(m, "", "test", &list)
	for _, d := range list.All() {
		if d.Code == export.CodeCannot {
			return "", fmt.Errorf("%w: not exported: %.100s", errLeft, d.Message)
		}
	}
	translated, _ := compile.Import(id+".xml", written, nil, set.values["duration"], &list)
	if err := list.Err(); err != nil {
		return "", err
	}
	again := translated.Text()
	reported, err := odes.Parse(id, again, odes.ParseOptions{})
	if err != nil {
		return "", err
	}
	symbols, err := reported.Symbols(nil)
	for _, v := range set.list("variables") { // what does not change is no output of a translation
		if !slices.ContainsFunc(symbols, func(s odes.Symbol) bool { return s.Kind == "output" && s.Name == "o_"+v }) {
			again += "\noutput o_" + v
		}
	}
	return again, err
}

// runCase compares a case with its results and returns the worst difference, in tolerances.
func runCase(dir, id, text string, set *suiteSettings) (worst float64, where string, err error) {
	f, err := os.Open(filepath.Join(dir, id, id+"-results.csv"))
	if err != nil {
		return 0, "", err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil && !errors.Is(err, io.EOF) {
		return 0, "", err
	}
	var times []float64
	for _, r := range rows[1:] {
		t, err := strconv.ParseFloat(strings.TrimSpace(r[0]), 64)
		if err != nil {
			return 0, "", err
		}
		times = append(times, t)
	}
	m, err := odes.Parse(id+".ode", text, odes.ParseOptions{})
	if err != nil {
		return 0, "", err
	}
	sol, err := m.Solve(context.Background(), odes.Options{
		Times: times, Threads: 1, Settings: []odes.Setting{
			{Key: "solver.rtol", Value: "1e-9"},
			{Key: "solver.atol", Value: "1e-12"},
			{Key: "solver.max_events", Value: "1e6"},
		},
	})
	if err != nil {
		return 0, "", err
	}
	column := map[string]int{}
	for k, name := range rows[0] {
		column[strings.TrimSpace(name)] = k
	}
	compared := 0
	absolute, relative := set.number("absolute"), set.number("relative")
	for _, o := range sol.Outputs {
		name, asked := strings.CutPrefix(o.Name, "o_")
		if !asked {
			continue
		}
		k, ok := column[name]
		if !ok {
			return 0, "", fmt.Errorf("no column %s", o.Name)
		}
		compared++
		at := 0
		for i, r := range rows[1:] {
			// Of a time of events the last limit counts.
			for at+1 < len(sol.T) && sol.T[at+1] <= times[i]*(1+1e-12) {
				at++
			}
			want, err := strconv.ParseFloat(strings.TrimSpace(r[k]), 64)
			if err != nil {
				return 0, "", err
			}
			got := o.Values[at]
			d := math.Abs(got-want) / (absolute + relative*math.Abs(want))
			if math.IsNaN(d) && !(math.IsNaN(got) && math.IsNaN(want)) && got != want {
				d = math.Inf(1)
			}
			if d > worst {
				worst, where = d, fmt.Sprintf("%s at t = %v: %v, want %v", o.Name, times[i], got, want)
			}
		}
	}
	if want := len(set.list("variables")); compared != want {
		return 0, "", fmt.Errorf("%d variables are compared, of %d", compared, want)
	}
	return worst, where, nil
}

// TestSemanticSuite runs the cases of the suite.
func TestSemanticSuite(t *testing.T) {
	if *suiteDir == "" {
		t.Skip("needs -suite")
	}
	entries, err := os.ReadDir(*suiteDir)
	if err != nil {
		t.Fatal(err)
	}
	right, wrong, left := 0, 0, map[string]int{}
	for _, e := range entries {
		id := e.Name()
		if !e.IsDir() || *suiteCase != "" && id != *suiteCase {
			continue
		}
		about, err := os.ReadFile(filepath.Join(*suiteDir, id, id+"-model.m"))
		if err != nil || !regexp.MustCompile(`testType:\s*TimeCourse`).Match(about) {
			continue
		}
		if !strings.Contains(string(about), *suiteTag) {
			continue
		}
		set, err := readSettings(filepath.Join(*suiteDir, id, id+"-settings.txt"))
		if err != nil {
			t.Fatal(err)
		}
		text, err := suiteModel(*suiteDir, id, set)
		if errors.Is(err, errLeft) {
			left[err.Error()]++
			if *suiteTag != "" {
				t.Logf("%s: %v", id, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", id, err)
			continue
		}
		if *suiteBack {
			if text, err = back(id, text, set); errors.Is(err, errLeft) {
				left[err.Error()]++
				continue
			}
		}
		if err != nil {
			wrong++
			t.Errorf("%s: %v", id, err)
			continue
		}
		if *suiteCase != "" {
			fmt.Println(text)
		}
		worst, where, err := runCase(*suiteDir, id, text, set)
		switch {
		case err != nil && (strings.Contains(err.Error(), "with delays yet") ||
			strings.Contains(err.Error(), "reads the past itself")):
			left[fmt.Sprintf("%s: %v", id, err)]++
		case err != nil:
			wrong++
			t.Errorf("%s: %v", id, err)
		case worst > 1:
			wrong++
			t.Errorf("%s: %.3g tolerances off: %s", id, worst, where)
		default:
			right++
		}
	}
	for why, n := range left {
		t.Logf("%4d left out: %s", n, why)
	}
	t.Logf("%d agree, %d do not", right, wrong)
}
