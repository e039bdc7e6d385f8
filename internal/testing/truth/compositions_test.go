package truth

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/seeds"
)

var (
	compositions = flag.Int("compositions", 250, "how many models TestCompositions draws")
	composed     = flag.Uint64("composed", 0, "the seed of the first of them")
)

// A composition is a model of whatever the language has, put together at random: expressions with kinks and
// conditions, events, discretes, largest values. Params are drawn from a few numbers, so that many are equal, or zero,
// and runs lie exactly at kinks, thresholds and ties. Its derivatives are not known in closed form.
type composition struct {
	*rand.Rand
	params, states, reads []string
	values                map[string]float64
	compared              int // derivatives
	marked, needless      int // of these, and of these those that are the derivatives of both sides
	told                  int // of these: both sides are known
}

func (c *composition) pick(of ...string) string { return of[c.IntN(len(of))] }

func (c *composition) one(of ...float64) float64 { return of[c.IntN(len(of))] }

// expression draws one of at most so many levels.
func (c *composition) expression(levels int) string {
	if levels <= 0 {
		return c.pick(slices.Concat(c.reads, []string{"a", "b", "u", "p", "q", "1", "0.5", "2", "t"})...)
	}
	e := func() string { return c.expression(levels - 1 - c.IntN(2)) }
	switch k := c.IntN(16); {
	case k < 4:
		return "(" + e() + " + " + e() + ")"
	case k < 6:
		return "(" + e() + " - " + e() + ")"
	case k < 9:
		return e() + "*" + e()
	case k < 10:
		return "max(" + e() + ", " + e() + ")"
	case k < 11:
		return "min(" + e() + ", " + e() + ")"
	case k < 12:
		return "abs(" + e() + ")"
	case k < 14:
		return "(if " + e() + c.pick(" > ", " < ", " >= ", " <= ") + e() + " then " + e() + " else " + e() + ")"
	case k < 15:
		return "tanh(" + e() + ")"
	}
	return "exp(-(" + e() + ")^2)"
}

// text writes the model.
func (c *composition) text() string {
	var b strings.Builder
	b.WriteString("time t from 0 to 2.5\n")
	c.values = map[string]float64{
		"a": c.one(0.5, 1, 2), "b": c.one(0.5, 1, 1, 2), "u": c.one(0, 0, 0.3), "p": c.one(0.5, 1, 1),
		"q": c.one(0.5, 1, 1, 2), "D": c.one(0, 0, 1, 0.5), "T1": c.one(1, 1.5, 2), "tau": c.one(0.5, 1, 0.7),
	}
	c.params = []string{"a", "b", "u", "p", "q", "D", "T1", "tau"}
	for _, p := range c.params {
		fmt.Fprintf(&b, "param %s = %v\n", p, c.values[p])
	}
	c.states = []string{"x", "y", "w"}[:1+c.IntN(3)]
	c.reads = c.states
	if c.IntN(3) == 0 {
		c.reads = append(slices.Clone(c.states), "d")
		b.WriteString("discrete d = " + c.pick("0", "1", "p", "u") + "\n")
	}
	for _, s := range c.states {
		b.WriteString("state " + s + " = " + c.pick("0", "1", "1", "0.5", "p", "u", "q") + "\n")
	}
	for _, s := range c.states {
		rate := c.pick("u - a*"+s, "-a*"+s, "u", "p - "+s, c.pick(c.states...)+" - "+s,
			"tanh("+c.expression(3)+") - 0.5*"+s, "tanh("+c.expression(3)+") - a*"+s)
		b.WriteString(s + "' = " + rate + "\n")
	}
	events := c.IntN(3)
	for i := range events {
		when := c.pick("at T1", "at [T1, 2]", "every tau", "when "+c.expression(1)+c.pick(" > ", " < ")+
			c.expression(1)+" once", "when "+c.pick(c.states...)+" > "+c.pick("p", "q", "0.7")+" once")
		to := c.pick(c.reads...)
		body := to + c.pick(" += D", " = 0", " = p", " = 0.5*"+to, " = "+c.expression(2))
		fmt.Fprintf(&b, "event e%d %s { %s }\n", i, when, body)
	}
	for i := range 2 {
		value := c.pick("final(%s)", "integral(%s)", "max_over(%s)", "sum_at([0.5, T1], %s)")
		fmt.Fprintf(&b, "objective o%d = "+value+"\n", i, c.expression(2))
	}
	b.WriteString("solver { rtol = 1e-10 atol = 1e-12 }\n")
	return b.String()
}

// sides are differences of objectives to either side of a param, by another method than that of the derivatives, with
// steps of a part of the param's size and runs of a tolerance.
func (c *composition) sides(t *testing.T, m *odes.Model, p string, part, rtol float64) (
	left, right []float64, noise float64,
) {
	h := part * max(c.values[p], 0.5)
	at := func(k float64) (list []float64) {
		s, err := m.Solve(t.Context(), odes.Options{
			Threads: 1, Set: []odes.Assignment{{Name: p, Values: []float64{c.values[p] + k*h}}},
			Settings: []odes.Setting{
				{Key: "solver.method", Value: "dop853"},
				{Key: "sens.trust", Value: "off"},
				{Key: "solver.rtol", Value: fmt.Sprint(rtol)},
				{Key: "solver.atol", Value: fmt.Sprint(rtol / 100)},
				{Key: "solver.quad_tol", Value: fmt.Sprint(rtol)},
			},
		})
		if err != nil {
			return nil
		}
		for _, v := range s.Values {
			list = append(list, v.Value)
		}
		return list
	}
	f := map[float64][]float64{}
	for _, k := range []float64{-2, -1, 0, 1, 2} {
		if f[k] = at(k); f[k] == nil {
			return nil, nil, 0 // there is no run there
		}
	}
	for i, x := range f[0] {
		left = append(left, (3*x-4*f[-1][i]+f[-2][i])/(2*h))
		right = append(right, (-3*x+4*f[1][i]-f[2][i])/(2*h))
		if !math.IsNaN(x) {
			noise = max(noise, 10*rtol*(math.Abs(x)+1)/h)
		}
	}
	return left, right, noise
}

// silent lists derivatives that are not those of both sides, and have no mark.
func (c *composition) silent(t *testing.T, text string) (list []string) {
	m, err := odes.Parse("composition.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1})
	if err != nil {
		return nil // it says so
	}
	for _, v := range s.Variables {
		if _, ours := c.values[v.Name]; v.Initial || !ours {
			continue
		}
		left, right, noise := c.sides(t, m, v.Name, 1e-5, 1e-10)
		c.compared += len(left)
		wide := [2][]float64{left, right}
		// both tells whether derivative i is that of both sides; or, of shorter steps, whether what it is off by falls
		// with them, as it does for roots, or grows as a jump does of rounding: where a root is double, it is that of
		// eight digits.
		both := func(i int, shorter bool) bool {
			l, r := s.Derivative(i, v)[0], s.Derivative(i, v)[0]
			if b, known := s.OnBothSides(i, v.Offset); known {
				l, r = b.Left, b.Right
			}
			near := func(d, x, wide float64) bool {
				off, was := math.Abs(x-d), math.Abs(wide-d)
				jump := max(was*1e-5, off*1e-7)
				return math.IsNaN(x) || // there is no value there
					off <= 1e-3*max(math.Abs(d), math.Abs(x))+noise ||
					shorter && (off <= 0.2*was || off > 3*was && jump <= 3e-8*(1+math.Abs(s.Values[i].Value)))
			}
			return near(l, left[i], wide[0][i]) && near(r, right[i], wide[1][i])
		}
		var open []int
		for i := range left {
			switch right := both(i, false); {
			case s.Trust(i, v) == odes.Sound:
				if _, known := s.OnBothSides(i, v.Offset); known {
					c.told++
				}
				if !right {
					open = append(open, i)
				}
			default:
				c.marked++
				if right {
					c.needless++
				}
				there := wide[0][i]-wide[0][i]+wide[1][i]-wide[1][i] == 0 // there are values on both sides
				if right && there && slices.ContainsFunc(s.OneSided.Leaps, func(x odes.Leap) bool {
					return x.Value == i && x.Column == v.Offset
				}) {
					list = append(list, fmt.Sprintf("%s by %s is told to leap, and does not", s.Values[i].Name, v))
				}
			}
		}
		if len(open) > 0 { // a bend may lie within the steps: shorter ones tell
			left, right, noise = c.sides(t, m, v.Name, 1e-7, 1e-13)
		}
		for _, i := range open {
			if len(left) == 0 || !both(i, true) {
				told := ""
				if b, known := s.OnBothSides(i, v.Offset); known {
					told = fmt.Sprintf(" (told: %.7g | %.7g)", b.Left, b.Right)
				}
				list = append(list, fmt.Sprintf("%s by %s is %.7g, on the left %.7g, on the right %.7g%s",
					s.Values[i].Name, v, s.Derivative(i, v)[0], left[i], right[i], told))
			}
		}
	}
	return list
}

// compareSides compares derivatives of n models, drawn from a seed on, with differences to either side: where these are
// others, there must be a mark.
func compareSides(t *testing.T, first uint64, n int, stream uint64, text func(*composition) string) {
	compared, marked, needless, models := 0, 0, 0, 0
	for k := range uint64(n) {
		seed := first + k
		c := &composition{Rand: rand.New(rand.NewPCG(seed, stream))}
		text := text(c)
		if list := c.silent(t, text); len(list) > 0 {
			t.Errorf("seed %d: %s\n%s", seed, strings.Join(list, "\n"), indent(text))
		}
		compared, marked, needless = compared+c.compared, marked+c.marked, needless+c.needless
		if c.marked > 0 {
			models++
		}
		if *report && c.marked > 0 {
			t.Logf("seed %d: %d marks, %d needless", seed, c.marked, c.needless)
		}
	}
	t.Logf("%d derivatives: %d marked, in %d of %d models; %d of these are those of both sides",
		compared, marked, models, n, needless)
	if compared < 8*n {
		t.Errorf("%d derivatives of %d models compared", compared, n)
	}
}

// TestOnceSilent judges models that had a derivative of one side without a mark before.
func TestOnceSilent(t *testing.T) {
	for _, of := range []struct {
		stream uint64
		text   func(*composition) string
		seeds  []uint64
	}{
		{7, (*composition).text, []uint64{
			266, 102281, 102497, 202508, 400127, 401796, 402725, 502380, 503737,
			600252, 600975, 601297, 601591, 601840, 602059, 602972, 700539, 701637, 703118, 703279, 703524, 901129,
			601884, 703458, 802551, 1300550, 1301841, 1302303,
			1305345, 1305657, 1307561, 1308410, 1311917, 119135011089,
		}},
		{31, (*composition).meeting, []uint64{
			590, 1774, 500308, 500463, 502136, 600618, 601216, 700284, 701183, 701295, 701772, 702091, 702440,
			601959, 602155, 602768, 602924, 800685, 801442, 801561, 802218, 1200019,
			1302201, 1302227, 1303271, 1400194, 1402687, 8422162457, 120829509806, 119135010817, 119135010827,
		}},
		{53, (*composition).variety, []uint64{40, 127, 1326, 1389, 1449, 83886181, 119135010876}},
	} {
		for _, seed := range of.seeds {
			c := &composition{Rand: rand.New(rand.NewPCG(seed, of.stream))}
			text := of.text(c)
			if list := c.silent(t, text); len(list) > 0 || c.marked+c.told == 0 {
				t.Errorf("seed %d, %d marks: %s\n%s", seed, c.marked, strings.Join(list, "\n"), indent(text))
			}
		}
	}
}

// TestCompositions finds what is not marked in models of everything at once. Of some thousand models more, there is one
// in which something is not.
func TestCompositions(t *testing.T) {
	compareSides(t, seeds.Of(t, *composed), *compositions, 7, (*composition).text)
}
