package roots

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/bernstein"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/solvers"
)

// curves is a step over which guards are given curves of its fraction. Nothing fires in it.
type curves struct {
	of    []func(x float64) float64
	in    *Samples
	reads int
}

var errUnread = errors.New("not a number")

func (c *curves) Read(theta float64) (*Sample, error) {
	c.reads++
	p := c.in.Spare()
	p.Theta, p.H = theta, theta
	for i, f := range c.of {
		p.Rho[i] = f(theta)
		p.Truth[i] = p.Rho[i] > 0
		if p.Rho[i] != p.Rho[i] {
			return nil, errUnread
		}
	}
	return p, nil
}

func (c *curves) Fires(n int) int { return n }

// begin reads the curves at the nodes of a panel, and returns a search among them.
func (c *curves) begin(b *bernstein.Basis, affine []bool) *Search {
	n := len(c.of)
	c.in = NewSamples(n, b.N)
	s := NewSearch(c.in, affine, c)
	s.Panel = NewPanel(b)
	rho, truth := make([]float64, n), make([]bool, n)
	for i, f := range c.of {
		rho[i] = f(0)
		truth[i] = rho[i] > 0
		s.Credit[i] = FullCredit
	}
	c.in.Begin(rho, truth)
	for _, theta := range b.Nodes[1:] {
		p, err := c.Read(theta)
		if err != nil {
			panic(err)
		}
		c.in.List = append(c.in.List, p)
	}
	all := append([]*Sample{c.in.Start}, c.in.List...)
	for i := range c.of {
		s.Low[i], s.High[i] = Extent(i, all)
	}
	return &s
}

// signs returns the signs of guard i at samples, where they change.
func signs(s *Samples, i int) (list []int8) {
	for _, p := range append([]*Sample{s.Start}, s.List...) {
		if sg := Sign(p.Rho[i]); sg != 0 && (len(list) == 0 || list[len(list)-1] != sg) {
			list = append(list, sg)
		}
	}
	return list
}

// TestBetween draws polynomials by their roots, two of which are mostly close, and demands a sample wherever they have
// another sign.
func TestBetween(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 10))
	const n, degree = 5, 4
	hidden := 0
	for range 2000 {
		guards := 1 + r.IntN(2)
		c := &curves{}
		var want [][]int8
		affine := make([]bool, guards)
		for i := range guards {
			affine[i] = true
			zeros := make([]float64, 2+r.IntN(degree-1))
			for k := range zeros {
				zeros[k] = r.Float64()
				if k == 1 {
					zeros[k] = zeros[0] + math.Exp2(-2-15*r.Float64())
				}
			}
			slices.Sort(zeros)
			size := math.Exp2(float64(r.IntN(41) - 20))
			c.of = append(c.of, func(x float64) float64 {
				v := size
				for _, z := range zeros {
					v *= x - z
				}
				return v
			})
			var sg []int8
			at := 0.0
			for _, z := range append(zeros, 1) {
				if z > 0 && at < 1 { // signs alternate from root to root
					if sign := Sign(c.of[i](0.5 * (at + min(z, 1)))); sign != 0 {
						sg = append(sg, sign)
					}
				}
				at = z
			}
			want = append(want, sg)
		}
		s := c.begin(bernstein.Of(n), affine)
		for i := range guards {
			if !slices.Equal(signs(s.Samples, i), want[i]) {
				hidden++
			}
		}
		if err := s.Between(); err != nil {
			t.Fatal(err)
		}
		for i := range guards {
			if got := signs(s.Samples, i); !slices.Equal(got, want[i]) {
				t.Fatalf("guard %d: signs %v, want %v", i, got, want[i])
			}
		}
		if !slices.IsSortedFunc(s.List, func(a, b *Sample) int {
			if a.Theta < b.Theta {
				return -1
			}
			return 1
		}) {
			t.Fatal("samples are not in order")
		}
	}
	if hidden < 500 {
		t.Errorf("roots were hidden between nodes %d times", hidden)
	}
}

// TestBetweenOthers demands the same of guards that are no polynomials, where their curves are smooth at some samples.
func TestBetweenOthers(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 11))
	hidden := 0
	for range 500 {
		// A wave touches its threshold, and goes beyond by this part of its size.
		beyond, at, w := math.Exp2(-3-8*r.Float64()), 0.2+0.6*r.Float64(), 1+3*r.Float64()
		c := &curves{of: []func(float64) float64{
			func(x float64) float64 { return math.Cos(w*(x-at)) - 1 + beyond },
		}}
		s := c.begin(bernstein.Of(5), []bool{false})
		if len(signs(s.Samples, 0)) < 2 {
			hidden++
		}
		if err := s.Between(); err != nil {
			t.Fatal(err)
		}
		if got := signs(s.Samples, 0); !slices.Contains(got, 1) {
			t.Fatalf("cos(%v (x - %v)) - 1 + %v: signs %v", w, at, beyond, got)
		}
	}
	if hidden < 100 {
		t.Errorf("roots were hidden between nodes %d times", hidden)
	}
}

// TestBetweenEnds holds that a search ends where a guard is not a number, and leaves out those that are ignored.
func TestBetweenEnds(t *testing.T) {
	holes := func(x float64) float64 {
		if slices.Contains(bernstein.Of(5).Nodes, x) {
			return math.Cos(9 * x)
		}
		return math.NaN()
	}
	c := &curves{of: []func(float64) float64{holes}}
	s := c.begin(bernstein.Of(5), []bool{false})
	if err := s.Between(); err != errUnread {
		t.Errorf("error %v", err)
	}
	s = c.begin(bernstein.Of(5), []bool{false})
	s.Ignored[0] = true
	if err := s.Between(); err != nil {
		t.Errorf("error %v, although the guard is ignored", err)
	}
}

// bump is a guard of one state that is above zero in a narrow range of it, with its enclosure.
type bump struct{ at, width float64 }

func (b *bump) rho(y float64) float64 {
	x := (y - b.at) / b.width
	return math.Exp(-x*x) - 0.5
}

func (b *bump) Enclose(_ solvers.Range, y, yd, rho, slope []solvers.Range) {
	near := max(y[0].Lo, min(y[0].Hi, b.at))
	rho[0] = solvers.Range{Lo: min(b.rho(y[0].Lo), b.rho(y[0].Hi)), Hi: b.rho(near)}
	steep := math.Sqrt(2/math.E) / b.width * max(math.Abs(yd[0].Lo), math.Abs(yd[0].Hi))
	slope[0] = solvers.Range{Lo: -steep, Hi: steep}
}

// TestHidden demands of enclosures that they find a bump that no sample comes near, if the state goes there, and that
// they add no sample if it does not.
func TestHidden(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 13), 12))
	found, none := 0, 0
	for range 300 {
		// The state turns at a time within the step, at 1 plus or minus a little.
		turn, scale := 0.2+0.6*r.Float64(), 1+r.Float64()
		y := func(x float64) float64 { return 1 - scale*(x-turn)*(x-turn) }
		g := &bump{at: y(0.1+0.8*r.Float64()) - 0.01, width: math.Exp2(-8 - 8*r.Float64())}
		if r.IntN(2) == 0 {
			g.at = 1 + 4*g.width // the state stays below
		}
		c := &curves{of: []func(float64) float64{func(x float64) float64 { return g.rho(y(x)) }}}
		b := bernstein.Of(4)
		s := c.begin(b, []bool{false})
		before := len(s.List)
		e := NewEnclosures(Bent{
			By: g, Guards: []int{0}, States: []int{0}, Degree: 4, Reach: []float64{0.5}, Dead: []bool{false},
		}, s.Samples, c)
		e.Reset()
		for k, theta := range b.Nodes {
			e.Keep(k, []float64{y(theta)})
		}
		done, err := e.Hidden(s.Panel, Span{T: 0, H: 1, T1: 1})
		if err != nil || !done {
			t.Fatalf("done %v, error %v", done, err)
		}
		got := slices.Contains(signs(s.Samples, 0), 1)
		if want := g.at <= 1; got != want {
			t.Fatalf("bump at %v, %v wide, of 1 - %v (x - %v)²: found is %v", g.at, g.width, scale, turn, got)
		}
		if got {
			found++
		} else if none++; len(s.List) != before {
			t.Fatalf("%d samples were added", len(s.List)-before)
		}
	}
	if found < 50 || none < 50 {
		t.Errorf("found %d, none %d", found, none)
	}
}
