package truth

import (
	"context"
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

var (
	naturalModels = flag.Int("natural", 2, "how many models TestNatural draws of each kind")
	naturalKind   = flag.String("natural-kind", "", "the only kind of which TestNatural draws")
)

// exactly runs a model with tolerances much tighter than its own.
func exactly(file, text, method string, more ...odes.Setting) (*odes.Sensitivities, error) {
	return ran(file, text, append([]odes.Setting{
		{Key: "solver.method", Value: method}, {Key: "solver.rtol", Value: "1e-11"}, {Key: "sens.trust", Value: "off"},
	}, more...)...)
}

func ran(file, text string, given ...odes.Setting) (*odes.Sensitivities, error) {
	m, err := odes.Parse(file, text, odes.ParseOptions{})
	if err != nil {
		panic(err)
	}
	ctx, stop := context.WithTimeout(context.Background(), 20*time.Second)
	defer stop()
	return m.Sensitivities(ctx, odes.Options{Threads: 1, Settings: given})
}

// judged are numbers of natural models: those that are known, marked, cut by their errors to less than is demanded, and
// those of the last two that are right; those that are wrong without a mark.
type judgedNumbers struct{ all, marked, cut, needless, silent int }

func (n *judgedNumbers) judge(name string, got, err, want, tolerance, floor float64, marked bool, report func(string)) {
	n.all++
	off := math.Abs(got - want)
	right := off <= max(tolerance*math.Abs(want), floor)
	cut := !marked && got != 0 && 4*err > 0.1*math.Abs(got) // no digit, or one
	switch {
	case marked || cut:
		if marked {
			n.marked++
		} else {
			n.cut++
		}
		if right && off <= tolerance*math.Abs(want) {
			n.needless++
			report(fmt.Sprintf("%s = %.9g ± %.1g, truth %.9g", name, got, err, want))
		}
	case !(off <= max(3*tolerance*math.Abs(want), floor, 4*err)):
		n.silent++
		report(fmt.Sprintf("SILENT %s = %.9g ± %.1g, truth %.9g", name, got, err, want))
	}
}

// agree reports whether two runs with tight tolerances tell one number.
func agree(a, b, floor float64) bool { return math.Abs(a-b) <= max(1e-5*math.Abs(a), floor) }

// TestNatural counts numbers of natural models that are marked though they are right, and demands that none is wrong
// without a mark.
func TestNatural(t *testing.T) {
	first := seeds.Of(t, 1)
	for _, kind := range naturals {
		if *naturalKind != "" && *naturalKind != kind.name {
			continue
		}
		var values, firsts, seconds judgedNumbers
		touched, failed, unknown := 0, 0, 0
		for i := range uint64(*naturalModels) {
			d := newNatural(first + i)
			kind.draw(d)
			text := d.all()
			var given []odes.Setting
			if kind.name == "seconds" {
				given = append(given, odes.Setting{Key: "sens.order", Value: "2"})
			}
			s, err := ran(kind.name+".ode", text, given...)
			if err != nil {
				failed++
				if *report {
					t.Logf("%s, seed %d: %v\n%s", kind.name, first+i, err, indent(text))
				}
				continue
			}
			a, errA := exactly(kind.name+".ode", text, "vern9", given...)
			b, errB := exactly(kind.name+".ode", text, "radau9", given...)
			if errA != nil || errB != nil {
				unknown++
				if *report {
					t.Logf("%s, seed %d: %v %v\n%s", kind.name, first+i, errA, errB, indent(text))
				}
				continue
			}
			var told []string
			tell := func(line string) { told = append(told, line) }
			before := values.needless + firsts.needless + seconds.needless
			silent := values.silent + firsts.silent + seconds.silent
			sizes := make([]float64, s.Columns)
			names := make([]string, s.Columns)
			for _, v := range s.Variables {
				for k := range v.Size() {
					sizes[v.Offset+k] = 1
					if x := d.size[v.String()]; x != 0 {
						sizes[v.Offset+k] = x
					}
					names[v.Offset+k] = fmt.Sprintf("%s[%d]", v, k)
				}
			}
			for j, v := range s.Values {
				want := a.Values[j].Value
				size := math.Abs(want)
				for k := range s.Columns {
					size = max(size, math.Abs(a.Gradient[j*s.Columns+k])*sizes[k])
				}
				floor := 1e-7 * size
				if agree(want, b.Values[j].Value, floor) {
					values.judge(v.Name, v.Value, v.Error, want, 5e-4, floor, v.Trust != odes.Sound, tell)
				}
				for k := range s.Columns {
					at := j*s.Columns + k
					floor := 1e-6 * size / sizes[k]
					if want := a.Gradient[at]; agree(want, b.Gradient[at], floor) {
						e := 0.0
						if s.Errors != nil {
							e = s.Errors[at]
						}
						firsts.judge(fmt.Sprintf("d %s/d %s", v.Name, names[k]), s.Gradient[at], e, want, 1e-3, floor,
							s.Trusts != nil && s.Trusts[at] != odes.Sound, tell)
					}
				}
				if s.Hessian == nil {
					continue
				}
				most := 0.0
				for k := range s.Columns * s.Columns {
					x := a.Hessian[j*s.Columns*s.Columns+k]
					most = max(most, math.Abs(x)*sizes[k/s.Columns]*sizes[k%s.Columns])
				}
				for k := range s.Columns * s.Columns {
					at := j*s.Columns*s.Columns + k
					floor := 1e-4 * most / (sizes[k/s.Columns] * sizes[k%s.Columns])
					want := a.Hessian[at]
					if want != want && b.Hessian[at] != b.Hessian[at] {
						continue
					}
					if !agree(want, b.Hessian[at], floor) {
						continue
					}
					e, marked := 0.0, s.Hessian[at] != s.Hessian[at]
					if s.HessianErrors != nil {
						e = s.HessianErrors[at]
					}
					if s.HessianTrusts != nil {
						marked = marked || s.HessianTrusts[at] != odes.Sound
					}
					seconds.judge(fmt.Sprintf("d² %s/d %s d %s", v.Name, names[k/s.Columns], names[k%s.Columns]),
						s.Hessian[at], e, want, 1e-2, floor, marked, tell)
				}
			}
			if values.needless+firsts.needless+seconds.needless > before {
				touched++
			}
			if values.silent+firsts.silent+seconds.silent > silent {
				t.Errorf("%s, seed %d: %s\n%s", kind.name, first+i, strings.Join(told, "\n"), indent(text))
			} else if *report && len(told) > 0 {
				var warnings []string
				for _, w := range s.Warnings {
					warnings = append(warnings, w.Message)
				}
				t.Logf("%s, seed %d: %s\n%s\n%s", kind.name, first+i, strings.Join(told, "\n"),
					strings.Join(warnings, "\n"), indent(text))
			}
		}
		t.Logf("%s: %d models, %d failed, %d unknown, %d with needless marks; values %+v, first derivatives %+v, "+
			"second %+v", kind.name, *naturalModels, failed, unknown, touched, values, firsts, seconds)
	}
}
