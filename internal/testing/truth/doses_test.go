package truth

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/cmplx"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
)

var doses = flag.Int("doses", 60, "how many models TestPeriodicDoses draws")

// regimen is a model of drugs that have always been given, each into a compartment of its own, with closed forms of
// amounts by superposition.
type regimen struct {
	*rand.Rand
	names  []string
	values []float64
	text   strings.Builder
	forms  []form
}

// form is the closed form of an objective, of the params.
type form struct {
	name string
	at   func(p []complex128) complex128
}

// param declares a param, and returns what reads its value.
func (r *regimen) param(name string, value float64) func(p []complex128) complex128 {
	r.names, r.values = append(r.names, name), append(r.values, value)
	at := len(r.values) - 1
	return func(p []complex128) complex128 { return p[at] }
}

// between draws a number with three digits.
func (r *regimen) between(lo, hi float64) float64 {
	return math.Round((lo+(hi-lo)*r.Float64())*1000) / 1000
}

// since returns the time since the last of the times first + i·every, for whole i, before s.
func since(s, first, every complex128) complex128 {
	u := s - first
	return u - every*complex(math.Floor(real(u)/real(every)), 0)
}

// fades is the sum of exp(-k(u + i·every)) over i = 0, 1, …
func fades(k, u, every complex128) complex128 {
	return cmplx.Exp(-k*u) / (1 - cmplx.Exp(-k*every))
}

// drug adds a drug, the number of which is in its names.
func (r *regimen) drug(j int, period func([]complex128) complex128) {
	n := func(name string) string { return fmt.Sprintf("%s%d", name, j) }
	each := float64(1 + r.IntN(3)) // doses in a period
	every := func(p []complex128) complex128 { return period(p) / complex(each, 0) }
	span := r.values[0] / each
	k, dose := r.param(n("k"), r.between(0.02, 0.5)), r.param(n("dose"), r.between(20, 200))
	first := func([]complex128) complex128 { return 0 }
	from, latency := "", 0.0
	lagged := r.IntN(4)
	if lagged > 0 {
		for { // no time lies at the end of a period
			latency = r.between(0.05, 3.2) * span
			latency = math.Round(latency*1000) / 1000
			if f := math.Mod(latency/span, 1); f > 0.03 && f < 0.97 {
				break
			}
		}
		if r.IntN(6) == 0 {
			latency = float64(1+r.IntN(3)) * span // but here it does, whatever the period is
			whole := latency / span
			first = func(p []complex128) complex128 { return every(p) * complex(whole, 0) }
			from = fmt.Sprintf(" from %v*T/%v", whole, each)
			lagged = 0
		} else {
			first = r.param(n("lag"), latency)
			if from = " from " + n("lag"); lagged == 2 {
				from = ", delay = " + n("lag")
			}
			if lagged == 3 { // a part of the lag by each way
				from = fmt.Sprintf(" from %s/2, delay = %[1]s/2", n("lag"))
			}
		}
	}
	always := fmt.Sprintf("every T/%v%s", each, from)
	then := func(more string) string { // the same, later
		switch {
		case lagged == 2 && r.IntN(2) == 0:
			return fmt.Sprintf("every T/%v from %s, delay = %s", each, n("lag"), more)
		case lagged == 3:
			return fmt.Sprintf("every T/%v from %s/2, delay = %[2]s/2 + %[3]s", each, n("lag"), more)
		case lagged == 2:
			return fmt.Sprintf("%s + %s", always, more)
		case from == "":
			return fmt.Sprintf("every T/%v from %s", each, more)
		}
		return fmt.Sprintf("%s + %s", always, more)
	}
	var amount func(p []complex128, s complex128) complex128
	rate := "0"
	switch r.IntN(4) {
	case 0:
		fmt.Fprintf(&r.text, "event give%d %s { A%[1]d += dose%[1]d }\n", j, always)
		amount = func(p []complex128, s complex128) complex128 {
			return dose(p) * fades(k(p), since(s, first(p), every(p)), every(p))
		}
	case 1: // an infusion
		var lasts float64
		for ok := false; !ok; {
			lasts = math.Round(r.between(0.1, 2.8)*span*1000) / 1000
			ok = true
			for _, x := range []float64{lasts, latency + lasts} {
				f := math.Mod(x/span, 1)
				ok = ok && f > 0.03 && f < 0.97
			}
		}
		d := r.param(n("last"), lasts)
		fmt.Fprintf(&r.text, "discrete R%d = 0\nevent on%[1]d %s { R%[1]d += dose%[1]d/last%[1]d }\n", j, always)
		fmt.Fprintf(&r.text, "event off%d %s { R%[1]d -= dose%[1]d/last%[1]d }\n", j, then(n("last")))
		rate = n("R")
		amount = func(p []complex128, s complex128) complex128 {
			k, t, d := k(p), every(p), d(p)
			u, sum := since(s, first(p), t), complex128(0)
			for ; real(u) < real(d); u += t {
				sum += 1 - cmplx.Exp(-k*u)
			}
			return dose(p) / d / k * (sum + (cmplx.Exp(k*d)-1)*fades(k, u, t))
		}
	case 2: // by mouth
		ka := r.param(n("ka"), r.between(0.8, 2))
		fmt.Fprintf(&r.text, "state depot%d = 0\ndepot%[1]d' = -ka%[1]d*depot%[1]d\n", j)
		fmt.Fprintf(&r.text, "event give%d %s { depot%[1]d += dose%[1]d }\n", j, always)
		rate = fmt.Sprintf("ka%d*depot%[1]d", j)
		amount = func(p []complex128, s complex128) complex128 {
			k, ka, u, t := k(p), ka(p), since(s, first(p), every(p)), every(p)
			return dose(p) * ka / (ka - k) * (fades(k, u, t) - fades(ka, u, t))
		}
	default: // released at a rate that falls with the time since the last dose, which a discrete holds
		b := r.param(n("b"), r.between(0.8, 2))
		values := ""
		if lagged >= 2 {
			values = ", values = execution"
		}
		fmt.Fprintf(&r.text, "discrete last%d = 0\nevent give%[1]d %s%s { last%[1]d = t }\n", j, always, values)
		rate = fmt.Sprintf("dose%d*exp(-b%[1]d*(t - last%[1]d))", j)
		amount = func(p []complex128, s complex128) complex128 {
			k, b, u, t := k(p), b(p), since(s, first(p), every(p)), every(p)
			q := dose(p) / (k - b)
			return q*cmplx.Exp(-b*u) - q*(1-cmplx.Exp(-b*t))*fades(k, u, t)
		}
	}
	fmt.Fprintf(&r.text, "state A%d = %d\nA%[1]d' = %[3]s - k%[1]d*A%[1]d\n", j, r.IntN(2), rate)
	r.forms = append(r.forms, form{n("trough"), func(p []complex128) complex128 {
		if s := since(0, first(p), every(p)); lagged == 0 && latency == 0 { // the dose at the start comes after it
			return amount(p, -1e-13)
		} else if real(s) < 1e-9 || real(every(p)-s) < 1e-9 { // what ends a period comes before
			return amount(p, 1e-13)
		}
		return amount(p, 0)
	}})
	fmt.Fprintf(&r.text, "objective trough%d = initial(A%[1]d)\n", j)
	if r.IntN(2) == 0 {
		at := complex(r.between(0.05, 1.9)*r.values[0], 0)
		r.forms = append(r.forms, form{n("level"), func(p []complex128) complex128 { return amount(p, at) }})
		fmt.Fprintf(&r.text, "objective level%d = sum_at([%v], A%[1]d)\n", j, real(at))
	}
}

// draw draws a model.
func (r *regimen) draw() (Case, []Second) {
	period := r.param("T", r.between(4, 24))
	for j := range 1 + r.IntN(3) {
		r.drug(j+1, period)
	}
	var b strings.Builder
	b.WriteString("time t from 0 to 2*T\n")
	for i, name := range r.names {
		fmt.Fprintf(&b, "param %s = %v\n", name, r.values[i])
	}
	b.WriteString(r.text.String())
	b.WriteString("equilibrate { } every T\n")
	fmt.Fprintf(&b, "sens { mode = %s }\n", []string{"adjoint", "tangent", "complex", "adjoint"}[r.IntN(4)])
	c := Case{Family: "doses", Text: b.String()}
	var seconds []Second
	for _, f := range r.forms {
		slope := func(i, j int, h float64) float64 { // by param i, where j is moved
			p := make([]complex128, len(r.values))
			for k, x := range r.values {
				p[k] = complex(x, 0)
			}
			p[j] += complex(h*r.values[j], 0)
			p[i] += 1e-40i
			return imag(f.at(p)) / 1e-40
		}
		p := make([]complex128, len(r.values))
		for k, x := range r.values {
			p[k] = complex(x, 0)
		}
		value := real(f.at(p))
		c.Numbers = append(c.Numbers, Number{Of: f.name, Truth: value, Size: math.Abs(value)})
		for i, name := range r.names {
			size := math.Abs(value / r.values[i])
			c.Numbers = append(c.Numbers, Number{Of: f.name, Wrt: name, Truth: slope(i, i, 0), Size: size})
			for j, other := range r.names {
				step := func(h float64) float64 { return (slope(i, j, h) - slope(i, j, -h)) / (2 * h * r.values[j]) }
				x := Second{
					Of: f.name, Wrt: [2]param{{name: name}, {name: other}}, Truth: (4*step(5e-5) - step(1e-4)) / 3,
					Size: size / r.values[j],
				}
				if math.Abs(x.Truth-step(3e-4)) <= 1e-4*x.Size+1e-3*math.Abs(x.Truth) { // no event is passed
					seconds = append(seconds, x)
				}
			}
		}
	}
	return c, seconds
}

// TestPeriodicDoses compares the states and derivatives of drugs that have always been given with superposition:
// boluses, infusions that are longer than a period, absorption, lags by first times and by delays that are longer than
// one, and a discrete that holds a time. Second derivatives, too.
func TestPeriodicDoses(t *testing.T) {
	var count [Broken + 1]int
	numbers, marked, twice := 0, 0, 0
	first := seeds.Of(t, *seed)
	for i := range uint64(*doses) {
		r := &regimen{Rand: rand.New(rand.NewPCG(first+i, 97))}
		c, seconds := r.draw()
		out := Judge(context.Background(), c, settings()...)
		count[out.Verdict]++
		numbers, marked = numbers+len(c.Numbers), marked+out.Marked
		if out.Verdict == Wrong || out.Verdict == Broken || out.Verdict == Failed {
			t.Errorf("seed %d: %v\n%s", first+i, out, indent(c.Text))
			continue
		}
		if out.Verdict == Warned && *report {
			t.Logf("seed %d: %d marks\n%s", first+i, out.Marked, indent(c.Text))
		}
		if i%4 != 0 {
			continue
		}
		n, wrong, err := judgeSeconds(c, seconds)
		if twice += n.all; wrong != "" || err != nil {
			t.Errorf("seed %d: %s %v\n%s", first+i, wrong, err, indent(c.Text))
		}
	}
	t.Logf("seeds %d to %d: %v right, %v warned, %d numbers (%d marked), %d second derivatives", first,
		first+uint64(*doses)-1, count[Right], count[Warned], numbers, marked, twice)
	if 25*marked > numbers {
		t.Errorf("%d of %d numbers are marked", marked, numbers)
	}
}
