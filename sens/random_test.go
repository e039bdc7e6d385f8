package sens_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/runstest"
)

// draw makes random models: of states with rates that have conditions and kinks, of events of all kinds at times and
// thresholds that depend on params, states and each other, and of objectives of all kinds.
type draw struct {
	*rand.Rand
	strings.Builder
	states, discretes int
}

func (r *draw) line(format string, args ...any) { fmt.Fprintf(r, format+"\n", args...) }

// pick returns one of some texts, with names of states, params and discretes in place of X, P and D.
func (r *draw) pick(of ...string) string {
	var b strings.Builder
	for _, c := range of[r.IntN(len(of))] {
		switch c {
		case 'X':
			fmt.Fprintf(&b, "x%d", 1+r.IntN(r.states))
		case 'P':
			fmt.Fprintf(&b, "p%d", 1+r.IntN(5))
		case 'D':
			fmt.Fprintf(&b, "d%d", 1+r.IntN(r.discretes))
		case '#':
			fmt.Fprintf(&b, "%.3f", 0.1+0.8*r.Float64())
		default:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// randomModel returns the text of a model and whether it has second derivatives.
func randomModel(seed int) (text string, second bool) {
	r := &draw{Rand: rand.New(rand.NewPCG(uint64(seed), 11)), discretes: 2}
	r.states = 1 + r.IntN(3)
	r.line("time t from %s to %s", r.pick("0", "0.1*P", "#*P"), r.pick("3", "2 + P", "3 + 0.3*P"))
	for i := range 5 {
		r.line("param p%d = %.3f", i+1, 0.5+r.Float64())
	}
	for i := range r.states {
		r.line("state x%d = %s", i+1, r.pick("#", "P", "#*P^2", "0.5 + sin(P)"))
		r.line("x%d' = -%s*x%d + %s", i+1, r.pick("P", "#", "P*P"), i+1, r.pick("P*sin(X + t)", "P/(1 + X^2)",
			"cos(P*t)*D", "(if X + #*t > 1.1 then P else #*D)", "abs(X - #)*P", "min(X, P) + #*t", "D*exp(-X^2)",
			"P*max(0.8, cos(4*t))"))
	}
	r.line("discrete d1 = %s, d2 = %s", r.pick("#", "#*P"), r.pick("0.7*P", "0.3 + #*P"))
	body := func() string {
		return r.pick("X = #*X + P", "X += P*D", "D = #*D + 0.2*X", "X = X + #*t; d1 = P*t", "X = P*X; d1 = #*d1 + X")
	}
	for i := range 2 + r.IntN(4) {
		when := r.pick("at #*P + 0.4", "at 1.2", "every #*P + 0.3 from #*P count 4")
		if i > 1 {
			when = r.pick("at #*P + 0.4", "at 1.2", "at d2 { d2 = d2 + 0.4 + #*P }", "every #*P + 0.3 from #*P count 4",
				"when X > #*P once", "when X crosses #*P once", "when X*t > P once, delay = #*P",
				"when X + P < t once", "when X < #*D + 0.3*t once, tol = 1e-4", "at d2")
		}
		if strings.HasSuffix(when, "}") {
			r.line("event e%d %s", i, when)
		} else {
			r.line("event e%d %s { %s }", i, when, body())
		}
	}
	second = r.IntN(3) > 0
	for i := range 1 + r.IntN(4) {
		with := []string{
			"final(X*P + X^2)", "integral(X*X + P*t)", "integral(X*P, from = #*P, to = 1 + P)",
			"initial(X*P) + final(D)",
			"sum_at([0.4, 0.7*P, 1.2, 2], X*P)", "at_event(e0, post(X)*pre(X) + t, nth = 1)", "event_time(e1, 1)*P",
			"final(X)/(1 + integral(P*X^2)^2)",
			"sum_at([0.3, 0.5, 0.7, 0.9, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8, 1.9, 2, " +
				"2.1*P/P, 2.2, 2.3, 0.5*P], X^2)",
		}
		if !second {
			with = append(with, "max_over(X)", "max_over(P*X - X^2)", "max_over(abs(X - #) + #*t)",
				"max_over(min(X, P)) + final(X)", "max_over(exp(-((t - P)/0.003)^2) + #*X)")
		}
		r.line("objective J%d = %s", i, r.pick(with...))
	}
	r.line("sens { trust = off }")
	r.line("solver { %s %s }", r.pick("method = dopri5", "method = bs3  rtol = 1e-4", "method = tsit5",
		"method = rodas5p", "method = rk4  fixed_step = 0.07", "method = vern7  rtol = 1e-9",
		"method = trbdf2  rtol = 1e-5", "method = dop853", "method = rkc2", "method = radau5"),
		r.pick("", "observe = dense", "observe = clip"))
	return r.String(), second
}

// TestRandom makes runs of random models. All modes agree: those of the computed solution to rounding, the others to
// the tolerance. Lanes, threads and what is kept of a run make no difference to any bit. What runs cost and give is
// that of a file.
//
//odes:goroutines
func TestRandom(t *testing.T) {
	const models = 40
	var told bytes.Buffer
	for seed := range models {
		text, second := randomModel(seed)
		m, err := odes.Parse("random.ode", text, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		tell := func(settings ...string) string {
			s := runstest.Told(m, settings...)
			fmt.Fprintf(&told, "%d %s: %s\n", seed, strings.Join(settings, " "), s)
			return s
		}
		bits := func(s string) string { return s[strings.LastIndex(s, ";")+1:] }
		lanes := fmt.Sprintf("lanes=%d", 1+seed%5)
		ways := []string{"states(4)", "binomial(3)", "states(every=2,ram=2)", "revolve(ram=2,disk=4)", "stages(5)"}
		keep := ways[seed%len(ways)]
		alone := tell()
		same := func(want string, settings ...string) {
			settings = append(settings, lanes, "solver.checkpoint="+keep)
			// Which goroutine makes a step again is left to chance, and so is how often.
			for _, got := range []string{tell(settings...), runstest.Told(m, append(settings, "threads=2")...)} {
				if bits(got) != bits(want) {
					t.Errorf("model %d, %v: %s, want %s\n%s", seed, settings, got, want, text)
				}
			}
		}
		same(alone)
		for _, mode := range []string{"tangent", "complex", "continuous", "forward"} {
			tell("sens.mode="+mode, lanes)
		}
		if second {
			same(tell("sens.order=2"), "sens.order=2")
		} else {
			tell("sens.mode=differences")
		}
		agree(t, m, seed, second)
	}
	const path = "testdata/random.txt"
	if *update {
		if err := os.WriteFile(path, told.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(want), "\n")
	for i, line := range strings.Split(told.String(), "\n") {
		if i >= len(lines) || line != lines[i] {
			t.Fatalf("line %d of %s is not what it is now (-update writes it):\n%s", i+1, path, line)
		}
	}
}

// agree compares the derivatives of a model in several modes, and second ones with what odes verify finds.
func agree(t *testing.T, m *odes.Model, seed int, second bool) {
	t.Helper()
	gradient := func(mode string) *odes.Sensitivities {
		t.Helper()
		s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1, EventTimes: true, Settings: []odes.Setting{
			{Key: "sens.mode", Value: mode},
		}})
		if err != nil {
			t.Fatalf("model %d, %s: %v", seed, mode, err)
		}
		return s
	}
	want := gradient("complex")
	for mode, tol := range map[string]float64{"adjoint": 1e-9, "tangent": 1e-9, "continuous": 3e-2, "forward": 3e-2} {
		got := gradient(mode)
		width := len(want.Gradient) / len(want.Values)
		for i, x := range want.Gradient {
			if math.IsNaN(want.Values[i/width].Value) {
				continue
			}
			size := 1.0
			for _, v := range want.Gradient[i/width*width : (i/width+1)*width] {
				size = max(size, math.Abs(v))
			}
			if g := got.Gradient[i]; !(math.Abs(g-x) <= tol*size) {
				t.Errorf("model %d, %s: derivative %d is %.12g, want %.12g", seed, mode, i, g, x)
			}
		}
		for e := range want.Events {
			for i, x := range want.Events[e].Params {
				if g := got.Events[e].Params[i]; !(math.Abs(g-x) <= tol*(1+math.Abs(x))) {
					t.Errorf("model %d, %s: time %d by param %d is %.12g, want %.12g", seed, mode, e, i, g, x)
				}
			}
		}
	}
	if !second || seed%3 > 0 {
		return
	}
	v, err := m.Verify(t.Context(), odes.Options{Threads: 1, Settings: []odes.Setting{
		{Key: "sens.order", Value: "2"}, {Key: "sens.trust", Value: "off"},
	}}, odes.VerifyOptions{Directions: 1})
	if err != nil {
		t.Fatalf("model %d: %v", seed, err)
	}
	if !v.Curvature || v.Wrong() {
		t.Errorf("model %d: %+v", seed, v.Objectives)
	}
}
