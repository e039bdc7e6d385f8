package run_test

import (
	"bytes"
	"context"
	"math"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
)

// TestDigitsOfOutputs reads the table of a run that decays far below its absolute tolerance. Every digit in it is right
// to a unit of its place.
func TestDigitsOfOutputs(t *testing.T) {
	m, err := odes.Parse("m.ode", "time t from 0 to 30\nparam k = 1\nstate x = 1, z = 1e-12\nx' = -k*x\nz' = -z/9 + "+
		"k*x*1e-9", odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
	}
	times := make([]float64, 31)
	for i := range times {
		times[i] = float64(i)
	}
	s, err := m.Solve(context.Background(), odes.Options{Times: times})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.RunTable(&b, report.Heading{Time: "t"}, s, report.TableOptions{All: true}); err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(b.String()) {
		f := strings.Fields(line)
		now, err := 0.0, error(nil)
		if len(f) == 3 {
			now, err = strconv.ParseFloat(f[0], 64)
		}
		if len(f) != 3 || err != nil {
			continue
		}
		rows++
		// z' = -z/9 + a e^(-t), with the solution (1e-12 - c) e^(-t/9) + c e^(-t)
		c := 1e-9 / (1.0/9 - 1)
		for k, want := range []float64{math.Exp(-now), (1e-12-c)*math.Exp(-now/9) + c*math.Exp(-now)} {
			got, err := strconv.ParseFloat(f[k+1], 64)
			if err != nil {
				about, err := strconv.ParseFloat(strings.TrimPrefix(f[k+1], "~"), 64)
				if err == nil && want < 1e-8 && (about == 0 || math.Abs(about-want) < want) {
					continue
				}
				t.Fatal(line)
			}
			mantissa, power, _ := strings.Cut(f[k+1], "e")
			_, decimals, _ := strings.Cut(mantissa, ".")
			exponent, _ := strconv.Atoi(power)
			if place := math.Pow(10, float64(exponent-len(decimals))); math.Abs(got-want) > place {
				t.Errorf("t = %v: %s, want %v", now, f[k+1], want)
			}
		}
	}
	if rows != 31 {
		t.Errorf("%d rows:\n%s", rows, b.String())
	}
}
