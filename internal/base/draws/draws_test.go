package draws

import (
	"encoding/json"
	"math"
	"os"
	"slices"
	"testing"
)

// reference is what ArviZ 0.23.4 says of draws of several kinds: az.rhat, az.ess, az.mcse, az.bfmi, az.psislw, az.loo.
type reference struct {
	Chains []struct {
		Name                                                             string
		Draws                                                            [][]float64
		RHat, Bulk, Tail, Mean, MCSE_mean, MCSE_sd, MCSE_q5, MCSE_median *float64
		BFMI                                                             []*float64
	}
	Loo struct {
		Log_likelihood    [][]float64
		Loo_1             loo `json:"loo_1"`
		Loo_04            loo `json:"loo_0.4"`
		Weights, Smoothed []float64
		K                 float64
	}
}

type loo struct {
	ELPD, SE, P, Good float64
	Pointwise, K      []float64
}

func arviz(t *testing.T) reference {
	t.Helper()
	text, err := os.ReadFile("testdata/arviz.json")
	if err != nil {
		t.Fatal(err)
	}
	var r reference
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) <= 1e-9*max(1, math.Abs(want))) {
		t.Errorf("%s: %.12g, want %.12g", what, got, want)
	}
}

func TestAsArviZ(t *testing.T) {
	for _, c := range arviz(t).Chains {
		check := func(what string, got float64, want *float64) {
			t.Helper()
			if want != nil {
				near(t, c.Name+" "+what, got, *want)
			}
		}
		if c.Name != "stuck" { // what ArviZ says of it depends on how its quantiles are rounded
			check("R-hat", RHat(c.Draws), c.RHat)
			check("tail", TailESS(c.Draws), c.Tail)
			check("mcse 5 %", MCSEQuantile(c.Draws, 0.05), c.MCSE_q5)
		}
		check("bulk", BulkESS(c.Draws), c.Bulk)
		check("mean", MeanESS(c.Draws), c.Mean)
		check("mcse mean", MCSEMean(c.Draws), c.MCSE_mean)
		check("mcse sd", MCSESd(c.Draws), c.MCSE_sd)
		check("mcse median", MCSEQuantile(c.Draws, 0.5), c.MCSE_median)
		for i, e := range EBFMI(c.Draws) {
			check("bfmi", e, c.BFMI[i])
		}
	}
}

// Halves of one chain are compared where there is no other.
func TestOneChain(t *testing.T) {
	drift := make([]float64, 200)
	for i := range drift {
		drift[i] = float64(i) + 20*math.Sin(float64(i*i))
	}
	if r := RHat([][]float64{drift}); !(r > 1.5) {
		t.Errorf("R-hat of a chain that drifts: %g", r)
	}
}

func TestCannotBeTold(t *testing.T) {
	for name, x := range map[string][][]float64{
		"none": nil, "empty": {{}}, "three": {{1, 2, 3}}, "one empty": {{1, 2, 3, 4}, {}},
		"constant": {{2, 2, 2, 2, 2}, {2, 2, 2, 2, 2}},
		"infinite": {{1, 2, math.Inf(1), 4, 5}}, "nan": {{1, 2, 3, 4, math.NaN()}},
	} {
		for what, got := range map[string]float64{
			"R-hat": RHat(x), "bulk": BulkESS(x), "tail": TailESS(x), "mean": MeanESS(x),
			"quantile": QuantileESS(x, 0.5), "mcse": MCSEMean(x), "mcse sd": MCSESd(x),
			"mcse quantile": MCSEQuantile(x, 0.1),
		} {
			if !math.IsNaN(got) {
				t.Errorf("%s: %s is %g", name, what, got)
			}
		}
		Summarise(x)
	}
	stuck := [][]float64{{1, 1, 1, 1, 1, 1}, {2, 2, 2, 2, 2, 2}}
	if r := RHat(stuck); !math.IsInf(r, 1) {
		t.Errorf("R-hat of chains that stay where they are: %g", r)
	}
}

// Chains of different lengths are cut to the shortest.
func TestLengths(t *testing.T) {
	x := arviz(t).Chains[0].Draws
	long := slices.Clone(x)
	long[1] = append(slices.Clone(long[1]), 3, 4, 5)
	if RHat(long) != RHat(x) || BulkESS(long) != BulkESS(x) || TailESS(long) != TailESS(x) {
		t.Error("draws past the end of the shortest chain count")
	}
}

func TestAutocovariance(t *testing.T) {
	for _, n := range []int{2, 3, 17, 64} {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Sin(float64(3*i*i)) + float64(i)
		}
		m := mean(x)
		for lag, got := range autocovariance(x) {
			want := 0.0
			for i := range n - lag {
				want += (x[i] - m) * (x[i+lag] - m) / float64(n)
			}
			if math.Abs(got-want) > 1e-13*float64(n*n) {
				t.Errorf("n = %d, lag %d: %g, want %g", n, lag, got, want)
			}
		}
	}
}

func TestPSISAsArviZ(t *testing.T) {
	r := arviz(t).Loo
	smoothed, k := PSIS(r.Weights, 1)
	near(t, "k", k, r.K)
	for i, w := range smoothed {
		near(t, "weight", w, r.Smoothed[i])
	}
	for efficiency, want := range map[float64]loo{1: r.Loo_1, 0.4: r.Loo_04} {
		got := LOO(r.Log_likelihood, efficiency)
		near(t, "elpd", got.ELPD, want.ELPD)
		near(t, "se", got.SE, want.SE)
		near(t, "p", got.P, want.P)
		near(t, "good", got.Good, want.Good)
		for i := range got.K {
			near(t, "pointwise", got.Pointwise[i], want.Pointwise[i])
			near(t, "k of points", got.K[i], want.K[i])
		}
		if !slices.Equal(got.Bad, []int{11}) {
			t.Errorf("bad points: %v", got.Bad)
		}
	}
}

func TestPSISEdges(t *testing.T) {
	w, k := PSIS([]float64{3, 3, 3, 3}, 1)
	if k != 0 {
		t.Errorf("equal weights: k = %g", k)
	}
	near(t, "equal weights", w[2], -math.Log(4))
	for _, bad := range [][]float64{{1, math.NaN(), 2}, {1, math.Inf(1), 2}, {}, {1, 2}} {
		if _, k := PSIS(bad, 1); !math.IsInf(k, 1) {
			t.Errorf("%v: k = %g", bad, k)
		}
	}
	w, _ = PSIS([]float64{0, math.Inf(-1), 0.5, 1, 0.2, 0.3, 0.4, 0.1, 0.6, 0.7, 0.8, 0.9}, 1)
	if !math.IsInf(w[1], -1) {
		t.Errorf("a weight of zero became %g", w[1])
	}
	out := LOO([][]float64{{1, math.Inf(-1), 1, 1, 1}, {1, 1, 1, 1, 1}}, 1)
	if !slices.Equal(out.Bad, []int{0, 1}) || !math.IsNaN(out.ELPD) {
		t.Errorf("a point that is impossible under one of five draws: %+v", out)
	}
}

func BenchmarkSummarise(b *testing.B) {
	x := make([][]float64, 4)
	for i := range x {
		x[i] = make([]float64, 1000)
		for j := range x[i] {
			x[i][j] = math.Sin(float64(j*j*(i+2)) * 0.37)
		}
	}
	for b.Loop() {
		Summarise(x)
	}
}
