package shoot_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/base/shoot"
	"odes.dev/odes/internal/testing/seeds"
)

// random returns chains of parts with random models.
func random(r *rand.Rand, border int, free bool) *shoot.Problem {
	p := &shoot.Problem{Border: border, Damping: 1e-3}
	square := func(n, rank int) []float64 {
		a, h := make([]float64, rank*n), make([]float64, n*n)
		for i := range a {
			a[i] = r.NormFloat64()
		}
		for k := range rank {
			for i := range n {
				for j := range n {
					h[i*n+j] += float64(a[k*n+i] * a[k*n+j])
				}
			}
		}
		return h
	}
	list := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = r.NormFloat64()
		}
		return v
	}
	p.H, p.G = square(border, border), list(border)
	for range border {
		p.Lo, p.Hi = append(p.Lo, math.Inf(-1)), append(p.Hi, math.Inf(1))
		p.BorderSizes = append(p.BorderSizes, 0.1+r.Float64())
	}
	for range 1 + r.IntN(3) {
		n := 1 + r.IntN(3)
		parts := 2 + r.IntN(4)
		var chain []shoot.Part
		var sizes [][]float64
		for k := range parts {
			own := n
			if k == 0 && !free {
				own = 0
			}
			w := own + border
			x := shoot.Part{Start: own, H: square(w, r.IntN(w+1)), G: list(w)}
			if k+1 < parts {
				x.J, x.E = list(n*w), list(n)
			}
			size := list(own)
			for i := range size {
				size[i] = 0.1 + math.Abs(size[i])
			}
			chain, sizes = append(chain, x), append(sizes, size)
		}
		p.Chains, p.StartSizes = append(p.Chains, chain), append(p.StartSizes, sizes)
	}
	return p
}

// slope returns the derivative of the whole function along a direction, at a point: term by term, from its definition.
func slope(p *shoot.Problem, border []float64, starts [][][]float64, db []float64, ds [][][]float64) float64 {
	b := p.Border
	sum := 0.0
	quad := func(h, g, x, d []float64) {
		n := len(g)
		for i := range n {
			v := g[i]
			for j := range n {
				v += h[i*n+j] * x[j]
			}
			sum += v * d[i]
		}
	}
	quad(p.H, p.G, border, db)
	for i := range b {
		sum += p.Damping * p.BorderSizes[i] * border[i] * db[i]
	}
	for c, chain := range p.Chains {
		for k, part := range chain {
			x := append(append([]float64{}, starts[c][k]...), border...)
			d := append(append([]float64{}, ds[c][k]...), db...)
			quad(part.H, part.G, x, d)
			for i := range part.Start {
				sum += p.Damping * p.StartSizes[c][k][i] * x[i] * d[i]
			}
			if math.IsInf(p.Weight, 1) {
				continue
			}
			w := len(x)
			for r := range part.E {
				gap, moves := part.E[r]-starts[c][k+1][r], -ds[c][k+1][r]
				for j := range w {
					gap += part.J[r*w+j] * x[j]
					moves += part.J[r*w+j] * d[j]
				}
				sum += p.Weight * gap * moves
			}
		}
	}
	return sum
}

// TestStep: at what Step returns, the function that it minimises has no slope in any direction; with an infinite
// weight in none that keeps the ends joined, which they are.
func TestStep(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 55), 1))
	for trial := range 200 {
		p := random(r, 1+r.IntN(4), trial%4 == 0)
		p.Weight = []float64{0.1, 1, 1e4, 1e8, math.Inf(1)}[trial%5]
		border, starts, err := shoot.Step(p)
		if err != nil {
			t.Fatalf("%d: %v", trial, err)
		}
		exact := math.IsInf(p.Weight, 1)
		for range 10 {
			db := make([]float64, p.Border)
			for i := range db {
				db[i] = r.NormFloat64()
			}
			var ds [][][]float64
			size := 1.0
			for c, chain := range p.Chains {
				var list [][]float64
				for k, part := range chain {
					d := make([]float64, part.Start)
					for i := range d {
						d[i] = r.NormFloat64()
					}
					if exact && k > 0 { // where the end goes
						before := chain[k-1]
						x := append(append([]float64{}, list[k-1]...), db...)
						y := append(append([]float64{}, starts[c][k-1]...), border...)
						for i := range d {
							d[i] = 0
							end := before.E[i]
							for j, v := range x {
								d[i] += before.J[i*len(x)+j] * v
								end += before.J[i*len(x)+j] * y[j]
							}
							if math.Abs(end-starts[c][k][i]) > 1e-9*(1+math.Abs(end)) {
								t.Fatalf("%d: the end %g, the start behind it %g", trial, end, starts[c][k][i])
							}
						}
					}
					for _, v := range d {
						size = max(size, math.Abs(v))
					}
					list = append(list, d)
				}
				ds = append(ds, list)
			}
			scale := size
			if !exact {
				scale *= max(1, p.Weight)
			}
			if s := slope(p, border, starts, db, ds); math.Abs(s) > 1e-8*scale*1e2 {
				t.Fatalf("%d: weight %g: the slope is %g", trial, p.Weight, s)
			}
		}
	}
}

// TestBounds: a bounded border is the least within its bounds, by the signs of slopes there.
func TestBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(seeds.Of(t, 55), 2))
	held := 0
	for trial := range 100 {
		p := random(r, 3, false)
		p.Weight = 10
		for i := range p.Border {
			p.Lo[i], p.Hi[i] = -0.1*r.Float64(), 0.1*r.Float64()
		}
		border, starts, err := shoot.Step(p)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range border {
			db := make([]float64, p.Border)
			db[i] = 1
			// The starts follow: along their own directions there is no slope.
			var ds [][][]float64
			for _, chain := range p.Chains {
				var list [][]float64
				for _, part := range chain {
					list = append(list, make([]float64, part.Start))
				}
				ds = append(ds, list)
			}
			s := slope(p, border, starts, db, ds)
			switch {
			case x < p.Lo[i] || x > p.Hi[i]:
				t.Fatalf("%d: %g is out of its bounds", trial, x)
			case x == p.Lo[i]:
				held++
				if s < -1e-8 {
					t.Errorf("%d: at its lower bound the slope is %g", trial, s)
				}
			case x == p.Hi[i]:
				held++
				if s > 1e-8 {
					t.Errorf("%d: at its upper bound the slope is %g", trial, s)
				}
			case math.Abs(s) > 1e-7:
				t.Errorf("%d: within its bounds the slope is %g", trial, s)
			}
		}
	}
	if held < 20 {
		t.Errorf("only %d numbers were at bounds", held)
	}
}

// TestSingular: a model without any curvature is refused, and damping mends it.
func TestSingular(t *testing.T) {
	p := &shoot.Problem{
		Border: 1, H: []float64{0}, G: []float64{1}, Lo: []float64{-3}, Hi: []float64{3}, Weight: 1,
		BorderSizes: []float64{1},
	}
	if _, _, err := shoot.Step(p); err == nil {
		t.Error("a singular model has a step")
	}
	p.Damping = 1e-9
	if x, _, err := shoot.Step(p); err != nil || x[0] != -3 {
		t.Errorf("%v, %v: want the bound", x, err)
	}
}
