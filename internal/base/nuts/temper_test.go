package nuts

import (
	"context"
	"math"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
)

// wide is a normal distribution of the given width around 0, in n coordinates.
func wide(n int, width float64) From {
	return From{
		Draw: func(random *elem.Rand, q []float64) {
			for i := range q {
				q[i] = width * random.Norm()
			}
		},
		LogP: func(q, g []float64) float64 {
			lp := -float64(n) * math.Log(width*math.Sqrt(2*math.Pi))
			for i, x := range q {
				lp -= x * x / 2 / width / width
				g[i] = -x / width / width
			}
			return lp
		},
	}
}

// TestTemper: a normal density of known integral, and two apart whose shares are known, of different widths.
func TestTemper(t *testing.T) {
	const size, many = 500, 4
	normal := func(_ context.Context, q, g []float64) (float64, error) { // correlated, and not normalised
		a, b := q[0]-3, (q[1]-1.8*q[0])/0.1
		g[0], g[1] = -a+1.8*b/0.1, -b/0.1
		return 5 - a*a/2 - b*b/2, nil
	}
	const share = 0.3
	modes := func(_ context.Context, q, g []float64) (float64, error) {
		var logs [2]float64
		for k, at := range []float64{-6, 4} {
			w := []float64{share, 1 - share}[k]
			s := []float64{0.3, 0.5}[k]
			logs[k] = math.Log(w / (2 * math.Pi * s * s))
			for _, x := range q {
				logs[k] -= (x - at) * (x - at) / 2 / s / s
			}
		}
		lp := addLogs(logs[0], logs[1])
		for i, x := range q {
			g[i] = -math.Exp(logs[0]-lp)*(x+6)/0.09 - math.Exp(logs[1]-lp)*(x-4)/0.25
		}
		return lp, nil
	}
	for _, c := range []struct {
		name     string
		f        Density
		evidence float64
		share    float64 // of q[0] < 0
		mean, sd float64 // of q[0] among those above
	}{
		{"normal", normal, 5 + math.Log(2*math.Pi*0.1), 0.00134990, 3, 1},
		{"two modes", modes, 0, share, 4, 0.5},
	} {
		var z, below, mean, square float64
		var values []float64
		for k := range many {
			p, err := Temper(t.Context(), 2, c.f, wide(2, 5), TemperOptions{Seed: 2, Number: k, Size: size})
			if err != nil {
				t.Fatal(err)
			}
			if z += p.Evidence / many; p.Families < 2 || !(p.Accept > 0.5) || len(p.Particles) != size {
				t.Errorf("%s: %g families, acceptance %g", c.name, p.Families, p.Accept)
			}
			for _, x := range p.Particles {
				if x.Q[0] < 0 {
					below++
					continue
				}
				values = append(values, x.Q[0])
			}
		}
		below /= many * size
		for _, x := range values {
			mean += x / float64(len(values))
		}
		for _, x := range values {
			square += (x - mean) * (x - mean) / float64(len(values))
		}
		t.Logf("%s: evidence %.3f (%.3f), share %.4f (%.4f), mean %.3f, sd %.3f", c.name, z, c.evidence, below, c.share,
			mean, math.Sqrt(square))
		// The largest deviations of 20 seeds are 0.08, 0.03, 0.04 and 0.03.
		if math.Abs(z-c.evidence) > 0.15 || math.Abs(below-c.share) > 0.06 || math.Abs(mean-c.mean) > 0.1 ||
			math.Abs(math.Sqrt(square)-c.sd) > 0.07 {
			t.Errorf("%s: evidence %g, share %g, mean %g, sd %g", c.name, z, below, mean, math.Sqrt(square))
		}
	}
}

// TestSettle: populations on a thin parabola reach its arms, which weights on the way leave with few particles. Where
// the parabola is so thin that they do not, they remember.
func TestSettle(t *testing.T) {
	parabola := func(narrow float64) Density {
		return func(_ context.Context, q, g []float64) (float64, error) {
			a, r := q[0], q[1]-q[0]*q[0]
			g[0], g[1] = -a+4*narrow*r*a, -2*narrow*r
			return -a*a/2 - narrow*r*r, nil
		}
	}
	const size, many = 150, 4
	var starts, ends [][]float64
	mean, square := 0.0, 0.0
	for k := range many {
		p, err := Temper(t.Context(), 2, parabola(20), wide(2, 1.8), TemperOptions{Seed: 8, Number: k, Size: size})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range p.Particles {
			mean += x.Q[1] / (many * size)
			square += x.Q[1] * x.Q[1] / (many * size)
			starts, ends = append(starts, x.Start), append(ends, x.Q)
		}
	}
	sd := math.Sqrt(square-mean*mean) / math.Sqrt(2+1.0/40)
	memory, drift := slices.Max(Memory(starts, ends)), slices.Max(Drift(starts, ends))
	t.Logf("mean %.3f, deviation %.3f of the true one, memory %.2f, drift %.1f", mean, sd, memory, drift)
	if math.Abs(mean-1) > 0.15 || math.Abs(sd-1) > 0.15 || memory > Forgotten(size) || drift > 3.5 {
		t.Errorf("mean %g, deviation %g of the true one, memory %g, drift %g", mean, sd, memory, drift)
	}
	p, err := Temper(t.Context(), 2, parabola(1e5), wide(2, 1.8), TemperOptions{Seed: 1, Size: 40, Depth: 6})
	if err != nil {
		t.Fatal(err)
	}
	if x := slices.Max(p.Memory); x < Forgotten(40) {
		t.Errorf("memory %g on a parabola that is hardly wider than a line", x)
	}
}

// TestMemory: a correlation is found, also one of tails alone, and a move of all, also one of the spread alone.
func TestMemory(t *testing.T) {
	const many = 2000
	random := elem.NewRand(3)
	next := func(kind string, x float64) float64 {
		fresh := random.Norm()
		switch kind {
		case "half of it":
			return x/2 + math.Sqrt(0.75)*fresh
		case "a tail stays":
			if x > 1.8 {
				return x
			}
			for fresh > 1.8 {
				fresh = random.Norm()
			}
		case "all move":
			return fresh + 0.2
		case "spread":
			return fresh * 1.2
		}
		return fresh
	}
	for kind, want := range map[string][2]bool{ // remembered, moving
		"nothing": {}, "half of it": {true, false}, "a tail stays": {true, false}, "all move": {false, true},
		"spread": {false, true},
	} {
		var starts, ends [][]float64
		for range many {
			x := random.Norm()
			starts, ends = append(starts, []float64{x}), append(ends, []float64{next(kind, x)})
		}
		memory, drift := Memory(starts, ends)[0], Drift(starts, ends)[0]
		if memory > Forgotten(many) != want[0] || drift > 4 != want[1] {
			t.Errorf("%s: memory %.2f, drift %.1f", kind, memory, drift)
		}
	}
}
