package truth

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
)

// TestSeconds draws models as TestRandom does, and demands of their second derivatives that they are right or marked.
func TestSeconds(t *testing.T) {
	ofFamilies(t, 8, 2, func(t *testing.T, f *Family, each int) {
		numbers, marked, failed := 0, 0, 0
		first := seeds.Of(t, *seed)
		for i := range each {
			c := f.Draw(first + uint64(i))
			list := f.Seconds(c)
			if len(list) == 0 {
				continue
			}
			n, m, wrong, err := judgeSeconds(c, list)
			if m > 0 {
				fmt.Printf("MODEL %s %d %d of %d\n", f.Name, first+uint64(i), m, n)
				_ = os.WriteFile(fmt.Sprintf("/tmp/strangers/m/%s-%d.ode", strings.ReplaceAll(f.Name, " ", "_"), first+uint64(i)), []byte(c.Text), 0o644)
			}
			if numbers, marked = numbers+n, marked+m; err != nil {
				failed++
				if *report {
					t.Logf("seed %d: %v", first+uint64(i), err)
				}
			}
			if wrong != "" {
				t.Errorf("%s, seed %d: %s\n%s", f.Name, first+uint64(i), wrong, indent(c.Text))
			}
		}
		t.Logf("%d second derivatives, %d of them marked; %d of %d models failed", numbers, marked, failed, each)
	})
}

// judgeSeconds compares second derivatives of a model with their truth.
func judgeSeconds(c Case, list []Second) (numbers, marked int, wrong string, err error) {
	m, err := odes.Parse(c.Family+".ode", c.Text, odes.ParseOptions{})
	if err != nil {
		return 0, 0, "", err
	}
	given := append(settings(), odes.Setting{Key: "sens.order", Value: "2"},
		odes.Setting{Key: "sens.mode", Value: "adjoint"})
	r, err := m.Prepare(odes.Options{Threads: 1, Settings: given})
	if err != nil {
		return 0, 0, "", err
	}
	s, err := r.Sensitivities(context.Background())
	if err != nil {
		return 0, 0, "", err
	}
	worst := 1.0
	for _, x := range list {
		got, off, isMarked := second(s, x)
		numbers++
		if isMarked {
			marked++
			if math.Abs(got-x.Truth) <= max(1e-2*math.Abs(x.Truth), 1e-4*x.Size) {
				fmt.Printf("NEEDLESS %s: %s %s/%s %s got %.3g truth %.3g size %.3g est %.3g rel.off %.2g est/size %.2g\n", c.Family, why(s, x), x.Of, x.Wrt[0].name, x.Wrt[1].name, got, x.Truth, x.Size, off, math.Abs(got-x.Truth)/math.Abs(x.Truth), off/x.Size)
			} else {
				fmt.Printf("NEEDED %s: %s\n", c.Family, why(s, x))
			}
			continue
		}
		most := max(1e-2*math.Abs(x.Truth), 1e-4*x.Size, 4*off) // digits beyond four times the error are not printed
		if got == x.Truth {
			continue
		}
		if e := math.Abs(got-x.Truth) / most; !(e <= worst) {
			worst = e
			wrong = fmt.Sprintf("d² %s/d %s d %s = %.8g, truth %.8g (of %.3g)", x.Of, x.Wrt[0].name, x.Wrt[1].name, got,
				x.Truth, x.Size)
		}
	}
	return numbers, marked, wrong, nil
}

// second returns what was printed of a second derivative, how far it is off by its own word, and whether it is marked.
func second(s *odes.Sensitivities, x Second) (got, off float64, marked bool) {
	var at [2]int
	for k, p := range x.Wrt {
		for _, v := range s.Variables {
			if v.String() == p.name {
				at[k] = v.Offset + p.index
			}
		}
	}
	for i, v := range s.Values {
		if v.Name == x.Of {
			k := (i*s.Columns+at[0])*s.Columns + at[1]
			marked = v.Trust != odes.Sound || s.HessianTrusts != nil && s.HessianTrusts[k] != odes.Sound
			for _, w := range s.Warnings {
				marked = marked || w.Level == diag.Warning && (w.Code == odes.CodeTie || w.Code == odes.CodeKink)
			}
			if s.HessianErrors != nil {
				off = s.HessianErrors[k]
			}
			return s.Hessian[k], off, marked
		}
	}
	return math.NaN(), 0, false
}

func why(s *odes.Sensitivities, x Second) (y string) {
	var at [2]int
	for k, p := range x.Wrt {
		for _, v := range s.Variables {
			if v.String() == p.name {
				at[k] = v.Offset + p.index
			}
		}
	}
	for i, v := range s.Values {
		if v.Name == x.Of {
			k := (i*s.Columns+at[0])*s.Columns + at[1]
			if v.Trust != odes.Sound {
				y += "value,"
			}
			if s.HessianTrusts != nil && s.HessianTrusts[k] != odes.Sound {
				y += fmt.Sprintf("hess%d,", s.HessianTrusts[k])
			}
			for _, w := range s.Warnings {
				if w.Level == diag.Warning && (w.Code == odes.CodeTie || w.Code == odes.CodeKink) {
					y += string(w.Code) + ","
				}
			}
		}
	}
	return y
}
