package truth

import (
	"math"
	"slices"
	"testing"
)

// TestClosedForms holds the closed form of a driven process, and its derivatives, against fine steps of Runge and Kutta
// and differences of these.
func TestClosedForms(t *testing.T) {
	// Of a time, a rate, an amplitude and a frequency.
	build := func(p [4]float64) (u signal, k num) {
		var q [4]num
		for i, x := range p {
			q[i] = lit(x)
			q[i].d[i] = 1
		}
		from, to := lit(0.3), lit(4)
		u = levels(from, to, []num{q[0], q[0].plus(0.7)}, []num{{}, q[2], q[2].times(0.3)})
		u = u.mul(wave(from, to, lit(1), lit(0.4), q[3], q[0]))
		u = u.add(knots(from, to, []num{q[0].plus(0.2), q[0].plus(0.5), lit(3)}, []num{lit(1), q[2], lit(-1)}))
		return u.add(impulses(from, to, []num{q[0].plus(1)}, []num{q[2]})), q[1]
	}
	// Midpoints of short steps see no jump but by its time; impulses are added where they come.
	numeric := func(p [4]float64) float64 {
		u, k := build(p)
		y := 2.0
		for _, piece := range u {
			y += piece.jump.re()
			const steps = 400
			h := (piece.to.re() - piece.from.re()) / steps
			for i := range steps {
				rate := func(s, y float64) float64 { return piece.at(lit(s)).re() - k.re()*y }
				s := float64(i) * h
				k1 := rate(s, y)
				k2 := rate(s+h/2, y+h/2*k1)
				k3 := rate(s+h/2, y+h/2*k2)
				k4 := rate(s+h, y+h*k3)
				y += h / 6 * (k1 + 2*k2 + 2*k3 + k4)
			}
		}
		return y
	}
	p := [4]float64{0.9, 0.37, 2.3, 5.1}
	u, k := build(p)
	y := u.through(k, lit(2)).last()
	if want := numeric(p); math.Abs(y.re()-want) > 1e-9 {
		t.Errorf("%v, by small steps %v", y.re(), want)
	}
	for i := range p {
		a, b := p, p
		a[i] -= 1e-5
		b[i] += 1e-5
		if want := (numeric(b) - numeric(a)) / 2e-5; math.Abs(real(y.d[i])-want) > 1e-7 {
			t.Errorf("derivative %d: %v, by differences %v", i, y.d[i], want)
		}
	}
	// As many pieces as one likes are the same signal.
	more := u.cut([]num{lit(0.5), lit(1.7), lit(2.9)})
	if again := more.through(k, lit(2)).last(); math.Abs(again.re()-y.re()) > 1e-12 {
		t.Errorf("%v in more pieces, %v", again.re(), y.re())
	}
}

// TestDraw: a seed makes the same model again, seeds make different ones, and a simpler model is one of its family.
func TestDraw(t *testing.T) {
	for _, f := range Families {
		texts := map[string]bool{}
		judged := 0
		for seed := range uint64(20) {
			c := f.Draw(seed)
			if c.Text != f.Draw(seed).Text {
				t.Errorf("%s, seed %d: another model the second time", f.Name, seed)
			}
			texts[c.Text] = true
			judged += len(c.Numbers)
			for _, n := range c.Numbers {
				none := f.Name == "stop" && n.Wrt == "" || n.Wrt != "" && slices.Contains([]string{
					"whole periods", "conditions that meet", "conditions at rest", "conditions in bodies",
					"observed kinks", "largest at kinks", "equal branches", "steady at thresholds", "halted",
				}, f.Name)
				if math.IsInf(n.Truth, 0) || math.IsNaN(n.Truth) && !none {
					t.Errorf("%s, seed %d: the truth of %v is %v\n%s", f.Name, seed, n, n.Truth, indent(c.Text))
				}
			}
		}
		if len(texts) < 20 || judged < 50 {
			t.Errorf("%s: %d models of 20 seeds, with %d numbers", f.Name, len(texts), judged)
		}
		sum := func(list []float64) (s float64) {
			for _, x := range list {
				s += x
			}
			return s
		}
		first := f.Draw(1)
		simple := f.Simpler(first, 30, func(Case) bool { return true })
		if !(sum(simple.choices) < sum(first.choices)) {
			t.Errorf("%s: not simpler:\n%s", f.Name, indent(simple.Text))
		}
	}
}

// TestJudge: what is off is seen, and what is not printed.
func TestJudge(t *testing.T) {
	c := Case{Family: "decay", Text: `
time t from 0 to 1
param k = 2
state x = 1
x' = -k*x
objective J = final(x)
`}
	truth := math.Exp(-2)
	for _, x := range []struct {
		numbers []Number
		want    Verdict
	}{
		{[]Number{{Of: "J", Truth: truth}, {Of: "J", Wrt: "k", Truth: -truth}}, Right},
		{[]Number{{Of: "J", Truth: 1.01 * truth}}, Wrong},
		{[]Number{{Of: "J", Truth: truth}, {Of: "J", Wrt: "k", Truth: -1.01 * truth}}, Wrong},
		{[]Number{{Of: "J", Wrt: "k", Truth: 0}}, Wrong},
		{[]Number{{Of: "J", Truth: math.NaN()}}, Wrong},
		{[]Number{{Of: "K", Truth: truth}}, Broken},
	} {
		c.Numbers = x.numbers
		if o := Judge(t.Context(), c); o.Verdict != x.want {
			t.Errorf("%v: %v, want %v", x.numbers, o, x.want)
		}
	}
}
