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
		{Key: "solver.method", Value: method},
		{Key: "solver.rtol", Value: "1e-12"},
		{Key: "sens.control", Value: "on"},
		{Key: "sens.trust", Value: "off"},
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
		c := naturalCount{kind: kind.name}
		for i := range uint64(*naturalModels) {
			d := newNatural(first + i)
			kind.draw(d)
			text := d.all()
			told, silent := c.model(d, text)
			switch {
			case silent:
				t.Errorf("%s, seed %d: %s\n%s", kind.name, first+i, strings.Join(told, "\n"), indent(text))
			case *report && len(told) > 0:
				t.Logf("%s, seed %d: %s\n%s", kind.name, first+i, strings.Join(told, "\n"), indent(text))
			}
		}
		t.Logf("%s: %d models, %d failed, %d unknown, %d with needless marks; values %+v, first derivatives %+v, "+
			"second %+v", kind.name, *naturalModels, c.failed, c.unknown, c.touched, c.values, c.firsts, c.seconds)
	}
}

// naturalCount is what was found of models of a kind, and what is looked at of one.
type naturalCount struct {
	kind                     string
	failed, unknown, touched int
	values, firsts, seconds  judgedNumbers

	s, a, b *odes.Sensitivities // as it is, and by two exact runs
	beside  *differences        // nil for none
	sizes   []float64           // of columns
	names   []string
	told    []string
}

func (c *naturalCount) tell(line string) { c.told = append(c.told, line) }

func (c *naturalCount) found() (needless, silent int) {
	return c.values.needless + c.firsts.needless + c.seconds.needless,
		c.values.silent + c.firsts.silent + c.seconds.silent
}

// model judges a model. It reports what is to be told of it, and whether a number is wrong without a mark.
func (c *naturalCount) model(d *natural, text string) (told []string, silent bool) {
	c.told, c.beside = nil, nil
	var given []odes.Setting
	if c.kind == "seconds" {
		given = append(given, odes.Setting{Key: "sens.order", Value: "2"})
	}
	var err error
	if c.s, err = ran(c.kind+".ode", text, given...); err != nil {
		c.failed++
		return []string{err.Error()}, false
	}
	if c.a, err = exactly(c.kind+".ode", text, "vern9", given...); err == nil {
		c.b, err = exactly(c.kind+".ode", text, "radau9", given...)
	}
	if err != nil {
		c.unknown++
		return []string{err.Error()}, false
	}
	c.sizes, c.names = nil, nil
	for _, v := range c.s.Variables {
		for k := range v.Size() {
			size := d.size[v.String()]
			if size == 0 {
				size = 1
			}
			c.sizes, c.names = append(c.sizes, size), append(c.names, v.Element(k))
		}
	}
	if c.s.Hessian != nil {
		if c.beside = differ(c.kind+".ode", d, text, c.sizes, c.a); c.beside == nil {
			c.unknown++
			return nil, false
		}
	}
	needless, wrong := c.found()
	for j := range c.s.Values {
		c.value(j)
		if c.s.Hessian != nil {
			c.second(j)
		}
	}
	more, now := c.found()
	if more > needless {
		c.touched++
		for _, w := range c.s.Warnings {
			c.tell(w.Message)
		}
	}
	return c.told, now > wrong
}

// value judges value j and its first derivatives.
func (c *naturalCount) value(j int) {
	v, want, n := c.s.Values[j], c.a.Values[j].Value, c.s.Columns
	size := math.Abs(want)
	for k := range n {
		size = max(size, math.Abs(c.a.Gradient[j*n+k])*c.sizes[k])
	}
	floor := max(1e-7*size, 1e-300)
	if agree(want, c.b.Values[j].Value, floor) {
		c.values.judge(v.Name, v.Value, v.Error, want, 5e-4, floor, v.Trust != odes.Sound, c.tell)
	}
	for k := range n {
		at, floor := j*n+k, max(1e-6*size/c.sizes[k], 1e-300)
		want, e := c.a.Gradient[at], 0.0
		if !agree(want, c.b.Gradient[at], floor) {
			continue
		}
		if c.beside != nil && !c.beside.first(j, k, floor) {
			want = math.NaN()
		}
		if c.s.Errors != nil {
			e = c.s.Errors[at]
		}
		c.firsts.judge(fmt.Sprintf("d %s/d %s", v.Name, c.names[k]), c.s.Gradient[at], e, want, 1e-3, floor,
			c.s.Trusts != nil && c.s.Trusts[at] != odes.Sound, c.tell)
	}
}

// second judges the second derivatives of value j.
func (c *naturalCount) second(j int) {
	n, most := c.s.Columns, 0.0
	for k, x := range c.a.Hessian[j*n*n : (j+1)*n*n] {
		most = max(most, math.Abs(x)*c.sizes[k/n]*c.sizes[k%n])
	}
	for k := range n * n {
		at, floor := j*n*n+k, max(1e-4*most/(c.sizes[k/n]*c.sizes[k%n]), 1e-300)
		want, is := c.beside.second(j, k/n, k%n, floor)
		if !is {
			want = math.NaN() // no number is right
		} else if want != want {
			continue
		}
		e, marked := 0.0, c.s.Hessian[at] != c.s.Hessian[at]
		if c.s.HessianErrors != nil {
			e = c.s.HessianErrors[at]
		}
		if c.s.HessianTrusts != nil {
			marked = marked || c.s.HessianTrusts[at] != odes.Sound
		}
		c.seconds.judge(fmt.Sprintf("d² %s/d %s d %s", c.s.Values[j].Name, c.names[k/n], c.names[k%n]),
			c.s.Hessian[at], e, want, 1e-2, floor, marked, c.tell)
	}
}

// noiseOfExact is how far numbers of exact runs may be off.
const noiseOfExact = 1e-10

// differences are exact runs at params beside those of a model: [columns][-2, -1, 1, 2 steps].
type differences struct {
	at    *odes.Sensitivities
	by    [][4]*odes.Sensitivities
	steps []float64
}

// differ makes them; nil where one fails.
func differ(file string, d *natural, text string, sizes []float64, at *odes.Sensitivities) *differences {
	x := &differences{at: at}
	for k, v := range at.Variables {
		step := 3e-5 * sizes[k]
		x.steps = append(x.steps, step)
		var four [4]*odes.Sensitivities
		for i, by := range []float64{-2, -1, 1, 2} {
			old := fmt.Sprintf("param %s = %v\n", v.Name, d.value[v.Name])
			if !strings.Contains(text, old) {
				panic(old)
			}
			s, err := exactly(file, strings.Replace(text, old,
				fmt.Sprintf("param %s = %v\n", v.Name, d.value[v.Name]+by*step), 1), "vern9")
			if err != nil {
				return nil
			}
			four[i] = s
		}
		x.by = append(x.by, four)
	}
	return x
}

// slopes returns those of a number on both sides of column k, and whether it leaps there.
func (x *differences) slopes(k int, of func(s *odes.Sensitivities) float64, floor float64) (l, r float64, leaps bool) {
	var y [4]float64
	for i, s := range x.by[k] {
		y[i] = of(s)
	}
	y0, h := of(x.at), x.steps[k]
	l, r = (3*y0-4*y[1]+y[0])/(2*h), (-3*y0+4*y[2]-y[3])/(2*h)
	off := math.Abs((y[1]+y[2])-(y[0]+y[3])/4-1.5*y0) / 2 // a fourth difference
	curl := math.Abs(y[3]-2*y[2]+y0) + math.Abs(y[0]-2*y[1]+y0)
	return l, r, off > 0.2*curl+floor*h && off > 1e-6*math.Abs(y0)+1e-8
}

// first reports whether value j has a derivative by column k.
func (x *differences) first(j, k int, floor float64) bool {
	l, r, leaps := x.slopes(k, func(s *odes.Sensitivities) float64 { return s.Values[j].Value }, floor)
	return !leaps && math.Abs(l-r) <= max(1e-3*math.Abs(l), floor, noiseOfExact/x.steps[k])
}

// second returns the second derivative of value j by columns k and l; whether there is one; NaN where differences do
// not tell it well enough.
func (x *differences) second(j, k, l int, floor float64) (y float64, is bool) {
	most, least := math.Inf(-1), math.Inf(1)
	for _, by := range [][2]int{{k, l}, {l, k}} {
		left, right, leaps := x.slopes(by[0], func(s *odes.Sensitivities) float64 {
			return s.Gradient[j*s.Columns+by[1]]
		}, floor)
		if leaps || left != left || right != right {
			return 0, false
		}
		most, least = max(most, left, right), min(least, left, right)
	}
	y = (most + least) / 2
	floor = max(floor, noiseOfExact/min(x.steps[k], x.steps[l]))
	switch off := most - least; {
	case off > max(0.05*math.Abs(y), 20*floor):
		return 0, false
	case off > max(5e-3*math.Abs(y), floor):
		return math.NaN(), true
	}
	return y, true
}
