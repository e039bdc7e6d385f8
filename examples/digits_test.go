package examples_test

import (
	"bytes"
	"math"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
)

// TestDigits compares every number that a table shows of an example, run with its own settings, with a run at 1e-12 by
// another method. Each must be right to the last digit shown, unless it is marked.
func TestDigits(t *testing.T) {
	models, err := filepath.Glob(filepath.Join("*", "*.ode"))
	if err != nil || len(models) < 20 {
		t.Fatalf("found %d models: %v", len(models), err)
	}
	shown := 0
	for _, path := range models {
		base := strings.TrimSuffix(filepath.Base(path), ".ode")
		if base == "heat2d_512" { // too large at 1e-12
			continue
		}
		opts := large[base]
		opts.Threads = 1
		m, err := odes.ParseFile(path)
		if err != nil {
			t.Fatal(err)
		}
		s, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		method, rtol, atol := "vern9", "1e-12", "1e-14"
		if stiff[base] {
			method, rtol, atol = "rodas5p", "1e-10", "1e-17"
		}
		if base == "e5" {
			atol = "1e-33"
		}
		opts.Settings = []odes.Setting{
			{Key: "solver.method", Value: method},
			{Key: "solver.rtol", Value: rtol},
			{Key: "solver.atol", Value: atol},
			{Key: "solver.max_steps", Value: "10000000"},
			{Key: "sens.trust", Value: "off"},
			{Key: "sens.mode", Value: "adjoint"},
		}
		if s.Settings.Method == "euler" { // with fixed steps
			opts.Settings = append(opts.Settings, odes.Setting{Key: "solver.fixed_step", Value: "2.5e-5"})
		}
		truth, err := m.Sensitivities(t.Context(), opts)
		if err != nil {
			t.Fatalf("%s: %v", base, err)
		}
		shown += digitsRight(t, base, s, truth)
	}
	t.Logf("%d numbers compared", shown)
	if shown < 1000 {
		t.Errorf("only %d numbers were compared", shown)
	}
}

// digitsRight compares the table of s with the numbers of truth and returns how many it compared.
func digitsRight(t *testing.T, model string, s, truth *odes.Sensitivities) (count int) {
	t.Helper()
	var table bytes.Buffer
	all := report.TableOptions{Width: 1 << 20, All: true}
	if err := report.SensTable(&table, report.Heading{}, s, all); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(table.String(), "\n")
	at := 0
	for !strings.HasPrefix(lines[at], "value") {
		at++
	}
	compare := func(what, text string, want, err, size float64) {
		rounding := 1e-13*math.Abs(size) + 1e-15 // also of the reference
		switch {
		case text == "-" || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "!"):
			return
		case text == "~0":
			if math.Abs(want) > 2*err+1e-12*math.Abs(size) {
				t.Errorf("%s: %s is %s, and %g ± %g", model, what, text, want, err)
			}
		case text[0] == '~':
			if got, wrong := strconv.ParseFloat(text[1:], 64); wrong != nil ||
				!(math.Abs(got-want) < max(math.Abs(want), rounding)) {
				t.Errorf("%s: %s is %s, and %g ± %g", model, what, text, want, err)
			}
		default:
			got, wrong := strconv.ParseFloat(text, 64)
			least := 1e-11*math.Abs(want) + rounding
			if unit := lastPlace(text); wrong != nil || !(math.Abs(got-want) <= unit+least) {
				t.Errorf("%s: %s is %s, and %.12g by the reference", model, what, text, want)
			}
		}
		count++
	}
	row := func(line string) []string {
		fields := strings.Fields(line)
		return fields[len(fields)-len(s.Values):]
	}
	for i, text := range row(lines[at]) {
		compare(s.Values[i].Name, text, truth.Values[i].Value, s.Values[i].Error, 0)
	}
	at += 3 // an empty line and the heading
	for _, v := range s.Variables {
		for k := range v.Size() {
			for i, text := range row(lines[at]) {
				n := i*s.Columns + v.Offset + k
				compare(s.Values[i].Name+" by "+v.String(), text, truth.Gradient[n], s.Errors[n],
					truth.Values[i].Value)
			}
			at++
		}
	}
	return count
}

// lastPlace returns the unit of the last digit of a number; that of an exact zero is none.
func lastPlace(text string) float64 {
	if text == "0" {
		return 1e-300
	}
	mantissa, exponent, _ := strings.Cut(text, "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return math.Pow(10, float64(e-len(decimals)))
}
