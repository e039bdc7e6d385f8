package sample

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// The first points of Sobol sequences are those of S. Joe and F. Y. Kuo's own program.
func TestSobolFirst(t *testing.T) {
	s, err := Sobol(4, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := [][]float64{
		{0, 0, 0, 0},
		{0.5, 0.5, 0.5, 0.5},
		{0.25, 0.75, 0.75, 0.75},
		{0.75, 0.25, 0.25, 0.25},
		{0.125, 0.625, 0.375, 0.125},
		{0.625, 0.125, 0.875, 0.625},
	}
	u := make([]float64, 4)
	for i, w := range want {
		s.At(i, u)
		for k := range u {
			if math.Abs(u[k]-w[k]) > 0x1p-32 {
				t.Errorf("point %d is %v, not %v", i, u, w)
				break
			}
		}
	}
}

// Every coordinate of the first 2ᵏ points has one of them in each of 2ᵏ equal parts, scrambled or not; so does
// every Latin hypercube, for any number of points.
func TestOneInEachPart(t *testing.T) {
	check := func(name string, p Points, n int, coordinates []int) {
		seen := map[[2]int]int{}
		u := make([]float64, p.Dim())
		for i := range n {
			p.At(i, u)
			for _, k := range coordinates {
				seen[[2]int{k, int(u[k] * float64(n))}]++
			}
		}
		if len(seen) != n*len(coordinates) {
			t.Errorf("%s: %d parts of %d have a point", name, len(seen), n*len(coordinates))
		}
	}
	for _, seed := range []uint64{0, 1, 77} {
		s, err := Sobol(MaxSobol, seed)
		if err != nil {
			t.Fatal(err)
		}
		check(fmt.Sprint("sobol, seed ", seed), s, 256, []int{0, 1, 2, 3, 50, 500, MaxSobol - 1})
		l, _ := Latin(117, 3, seed)
		check(fmt.Sprint("lhs, seed ", seed), l, 117, []int{0, 1, 2})
	}
}

// The table of direction numbers is whole: m is odd and below 2ʲ, and a polynomial has its highest and lowest terms.
func TestTable(t *testing.T) {
	lines := strings.Split(strings.TrimSuffix(joeKuo, "\n"), "\n")
	if len(lines) != MaxSobol-1 {
		t.Fatalf("the table has %d lines, not %d", len(lines), MaxSobol-1)
	}
	for k, line := range lines {
		var list []int
		for _, f := range strings.Fields(line) {
			var x int
			if _, err := fmt.Sscan(f, &x); err != nil {
				t.Fatal(err)
			}
			list = append(list, x)
		}
		degree := len(list) - 1
		if list[0]>>degree != 1 || list[0]&1 != 1 {
			t.Errorf("line %d: polynomial %b of degree %d", k, list[0], degree)
		}
		for j, m := range list[1:] {
			if m&1 == 0 || m >= 1<<(j+1) {
				t.Errorf("line %d: direction number %d is %d", k, j+1, m)
			}
		}
	}
}

func TestPermute(t *testing.T) {
	for _, n := range []uint64{1, 2, 3, 10, 64, 1000} {
		for key := range uint64(3) {
			seen := map[uint64]bool{}
			for i := range n {
				seen[Permute(i, n, key)] = true
			}
			if len(seen) != int(n) || slices.Max(slices.Collect(keys(seen))) >= n {
				t.Errorf("n = %d, key %d: %d places", n, key, len(seen))
			}
		}
	}
}

func keys(m map[uint64]bool) func(func(uint64) bool) {
	return func(yield func(uint64) bool) {
		for k := range m {
			if !yield(k) {
				return
			}
		}
	}
}

func TestGrid(t *testing.T) {
	g := Grid([]int{2, 3, 1})
	u := make([]float64, 3)
	var got []float64
	for i := range 6 {
		g.At(i, u)
		got = append(got, u...)
	}
	want := []float64{0, 0, 0.5, 0, 0.5, 0.5, 0, 1, 0.5, 1, 0, 0.5, 1, 0.5, 0.5, 1, 1, 0.5}
	if !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	if n, err := GridSize([]int{1000, 1000}); n != 1_000_000 || err != nil {
		t.Error(n, err)
	}
	if _, err := GridSize([]int{1 << 40, 1 << 40}); err == nil {
		t.Error("a grid of 2^80 points was accepted")
	}
}

// Quantiles are compared with those of SciPy 1.16 (scipy.stats), in the middle and in the tails.
func TestQuantiles(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		args   []float64
		lo, hi float64
		u, x   float64
	}{
		{"normal", []float64{1.0, 2.0}, -inf, inf, 1e-09, -10.995614030015373},
		{"normal", []float64{1.0, 2.0}, -inf, inf, 0.01, -3.6526957480816815},
		{"normal", []float64{1.0, 2.0}, -inf, inf, 0.3, -0.04880102541608178},
		{"normal", []float64{1.0, 2.0}, -inf, inf, 0.5, 1.0},
		{"normal", []float64{1.0, 2.0}, -inf, inf, 0.9, 3.5631031310892007},
		{"normal", []float64{1.0, 2.0}, -inf, inf, 0.9999990463256836, 10.526002068535629},
		{"lognormal", []float64{-1.0, 0.5}, -inf, inf, 1e-09, 0.018335732863771173},
		{"lognormal", []float64{-1.0, 0.5}, -inf, inf, 0.01, 0.11495966663843463},
		{"lognormal", []float64{-1.0, 0.5}, -inf, inf, 0.3, 0.2830306010250586},
		{"lognormal", []float64{-1.0, 0.5}, -inf, inf, 0.5, 0.36787944117144233},
		{"lognormal", []float64{-1.0, 0.5}, -inf, inf, 0.9, 0.6982177813441193},
		{"lognormal", []float64{-1.0, 0.5}, -inf, inf, 0.9999990463256836, 3.980870512579632},
		{"laplace", []float64{1.0, 2.0}, -inf, inf, 1e-09, -39.060237312772934},
		{"laplace", []float64{1.0, 2.0}, -inf, inf, 0.01, -6.824046010856292},
		{"laplace", []float64{1.0, 2.0}, -inf, inf, 0.3, -0.021651247531981443},
		{"laplace", []float64{1.0, 2.0}, -inf, inf, 0.5, 1.0},
		{"laplace", []float64{1.0, 2.0}, -inf, inf, 0.9, 4.218875824868201},
		{"laplace", []float64{1.0, 2.0}, -inf, inf, 0.9999990463256836, 27.33959286127792},
		{"student", []float64{3.0, 1.0, 2.0}, -inf, inf, 1e-09, -2065.2193490076156},
		{"student", []float64{3.0, 1.0, 2.0}, -inf, inf, 0.01, -8.081405717136267},
		{"student", []float64{3.0, 1.0, 2.0}, -inf, inf, 0.3, -0.16877945487963752},
		{"student", []float64{3.0, 1.0, 2.0}, -inf, inf, 0.5, 1.0},
		{"student", []float64{3.0, 1.0, 2.0}, -inf, inf, 0.9, 4.275488707392418},
		{"student", []float64{3.0, 1.0, 2.0}, -inf, inf, 0.9999990463256836, 210.8921699809974},
		{"student", []float64{0.7, 0.0, 1.0}, -inf, inf, 1e-09, -1355731312173.4375},
		{"student", []float64{0.7, 0.0, 1.0}, -inf, inf, 0.01, -135.57150574187784},
		{"student", []float64{0.7, 0.0, 1.0}, -inf, inf, 0.3, -0.835441155706963},
		{"student", []float64{0.7, 0.0, 1.0}, -inf, inf, 0.5, 0.0},
		{"student", []float64{0.7, 0.0, 1.0}, -inf, inf, 0.9, 5.009947959646406},
		{"student", []float64{0.7, 0.0, 1.0}, -inf, inf, 0.9999990463256836, 75142871.743502},
		{"poisson", []float64{2.5}, -inf, inf, 1e-09, 0.0},
		{"poisson", []float64{2.5}, -inf, inf, 0.01, 0.0},
		{"poisson", []float64{2.5}, -inf, inf, 0.3, 2.0},
		{"poisson", []float64{2.5}, -inf, inf, 0.5, 2.0},
		{"poisson", []float64{2.5}, -inf, inf, 0.9, 5.0},
		{"poisson", []float64{2.5}, -inf, inf, 0.9999990463256836, 13.0},
		{"poisson", []float64{300.0}, -inf, inf, 1e-09, 202.0},
		{"poisson", []float64{300.0}, -inf, inf, 0.01, 260.0},
		{"poisson", []float64{300.0}, -inf, inf, 0.3, 291.0},
		{"poisson", []float64{300.0}, -inf, inf, 0.5, 300.0},
		{"poisson", []float64{300.0}, -inf, inf, 0.9, 322.0},
		{"poisson", []float64{300.0}, -inf, inf, 0.9999990463256836, 386.0},
		{"negbin", []float64{2.5, 1.5}, -inf, inf, 1e-09, 0.0},
		{"negbin", []float64{2.5, 1.5}, -inf, inf, 0.01, 0.0},
		{"negbin", []float64{2.5, 1.5}, -inf, inf, 0.3, 1.0},
		{"negbin", []float64{2.5, 1.5}, -inf, inf, 0.5, 2.0},
		{"negbin", []float64{2.5, 1.5}, -inf, inf, 0.9, 6.0},
		{"negbin", []float64{2.5, 1.5}, -inf, inf, 0.9999990463256836, 32.0},
		{"uniform", []float64{1.0, 3.0}, -inf, inf, 1e-09, 1.000000002},
		{"uniform", []float64{1.0, 3.0}, -inf, inf, 0.01, 1.02},
		{"uniform", []float64{1.0, 3.0}, -inf, inf, 0.3, 1.6},
		{"uniform", []float64{1.0, 3.0}, -inf, inf, 0.5, 2.0},
		{"uniform", []float64{1.0, 3.0}, -inf, inf, 0.9, 2.8},
		{"uniform", []float64{1.0, 3.0}, -inf, inf, 0.9999990463256836, 2.999998092651367},
		{"loguniform", []float64{0.01, 10.0}, -inf, inf, 1e-09, 0.010000000069077558},
		{"loguniform", []float64{0.01, 10.0}, -inf, inf, 0.01, 0.010715193052376067},
		{"loguniform", []float64{0.01, 10.0}, -inf, inf, 0.3, 0.07943282347242818},
		{"loguniform", []float64{0.01, 10.0}, -inf, inf, 0.5, 0.31622776601683805},
		{"loguniform", []float64{0.01, 10.0}, -inf, inf, 0.9, 5.011872336272725},
		{"loguniform", []float64{0.01, 10.0}, -inf, inf, 0.9999990463256836, 9.999934122729059},
		{"gamma", []float64{2.5, 2.0}, -inf, inf, 1e-09, 0.00020307239141641352},
		{"gamma", []float64{2.5, 2.0}, -inf, inf, 0.01, 0.1385745191820693},
		{"gamma", []float64{2.5, 2.0}, -inf, inf, 0.3, 0.7499770331899767},
		{"gamma", []float64{2.5, 2.0}, -inf, inf, 0.5, 1.0878650477738816},
		{"gamma", []float64{2.5, 2.0}, -inf, inf, 0.9, 2.309089224945281},
		{"gamma", []float64{2.5, 2.0}, -inf, inf, 0.9999990463256836, 8.99779660586707},
		{"gamma", []float64{0.3, 1.0}, -inf, inf, 1e-09, 6.972699096409367e-31},
		{"gamma", []float64{0.3, 1.0}, -inf, inf, 0.01, 1.5022226552360407e-07},
		{"gamma", []float64{0.3, 1.0}, -inf, inf, 0.3, 0.012726657769948697},
		{"gamma", []float64{0.3, 1.0}, -inf, inf, 0.5, 0.07313113586695198},
		{"gamma", []float64{0.3, 1.0}, -inf, inf, 0.9, 0.8848107733602443},
		{"gamma", []float64{0.3, 1.0}, -inf, inf, 0.9999990463256836, 11.029631198285745},
		{"gamma", []float64{200.0, 0.1}, -inf, inf, 1e-09, 1264.6826802377361},
		{"gamma", []float64{200.0, 0.1}, -inf, inf, 0.01, 1685.776567005331},
		{"gamma", []float64{200.0, 0.1}, -inf, inf, 0.3, 1923.49203034977},
		{"gamma", []float64{200.0, 0.1}, -inf, inf, 0.5, 1996.667656124657},
		{"gamma", []float64{200.0, 0.1}, -inf, inf, 0.9, 2183.2449252728866},
		{"gamma", []float64{200.0, 0.1}, -inf, inf, 0.9999990463256836, 2747.2450221895433},
		{"beta", []float64{2.0, 3.0}, -inf, inf, 1e-09, 1.291005560032202e-05},
		{"beta", []float64{2.0, 3.0}, -inf, inf, 0.01, 0.04199863562170072},
		{"beta", []float64{2.0, 3.0}, -inf, inf, 0.3, 0.27238394207510536},
		{"beta", []float64{2.0, 3.0}, -inf, inf, 0.5, 0.3857275681323895},
		{"beta", []float64{2.0, 3.0}, -inf, inf, 0.9, 0.6795394162781817},
		{"beta", []float64{2.0, 3.0}, -inf, inf, 0.9999990463256836, 0.9937895572311491},
		{"beta", []float64{0.5, 0.5}, -inf, inf, 1e-09, 2.4674011002723396e-18},
		{"beta", []float64{0.5, 0.5}, -inf, inf, 0.01, 0.00024671981713422146},
		{"beta", []float64{0.5, 0.5}, -inf, inf, 0.3, 0.2061073738537634},
		{"beta", []float64{0.5, 0.5}, -inf, inf, 0.5, 0.4999999999999999},
		{"beta", []float64{0.5, 0.5}, -inf, inf, 0.9, 0.9755282581475768},
		{"beta", []float64{0.5, 0.5}, -inf, inf, 0.9999990463256836, 0.999999999997756},
		{"exponential", []float64{2.0}, -inf, inf, 1e-09, 5.000000002500001e-10},
		{"exponential", []float64{2.0}, -inf, inf, 0.01, 0.005025167926750721},
		{"exponential", []float64{2.0}, -inf, inf, 0.3, 0.17833747196936622},
		{"exponential", []float64{2.0}, -inf, inf, 0.5, 0.34657359027997264},
		{"exponential", []float64{2.0}, -inf, inf, 0.9, 1.151292546497023},
		{"exponential", []float64{2.0}, -inf, inf, 0.9999990463256836, 6.931471805599453},
		{"normal", []float64{0.0, 1.0}, -0.5, 2.0, 0.001, -0.498101501786608},
		{"normal", []float64{0.0, 1.0}, -0.5, 2.0, 0.5, 0.3662043543720086},
		{"normal", []float64{0.0, 1.0}, -0.5, 2.0, 0.99, 1.8891292609507537},
		{"normal", []float64{0.0, 1.0}, 1.0, inf, 0.001, 1.0006558946412936},
		{"normal", []float64{0.0, 1.0}, 1.0, inf, 0.5, 1.4096087092934537},
		{"normal", []float64{0.0, 1.0}, 1.0, inf, 0.99, 2.950450867453175},
		{"lognormal", []float64{0.0, 1.0}, 0.5, 3.0, 0.001, 0.5009882310086382},
		{"lognormal", []float64{0.0, 1.0}, 0.5, 3.0, 0.5, 1.1456257647960804},
		{"lognormal", []float64{0.0, 1.0}, 0.5, 3.0, 0.99, 2.91721778954345},
		{"gamma", []float64{2.0, 1.0}, 1.0, 4.0, 0.001, 1.0017510655522395},
		{"gamma", []float64{2.0, 1.0}, 1.0, 4.0, 0.5, 1.9718875460813947},
		{"gamma", []float64{2.0, 1.0}, 1.0, 4.0, 0.99, 3.914843672995567},
		{"student", []float64{4.0, 0.0, 1.0}, -1.0, 2.0, 0.001, -0.9964890583784267},
		{"student", []float64{4.0, 0.0, 1.0}, -1.0, 2.0, 0.5, 0.17292519854039237},
		{"student", []float64{4.0, 0.0, 1.0}, -1.0, 2.0, 0.99, 1.8935195159444729},
		{"exponential", []float64{1.0}, 2.0, inf, 0.001, 2.0010005003335833},
		{"exponential", []float64{1.0}, 2.0, inf, 0.5, 2.6931471805599445},
		{"exponential", []float64{1.0}, 2.0, inf, 0.99, 6.605170185988074},
		{"lkj", []float64{2.0}, -inf, inf, 1e-09, -0.9999634849406074},
		{"lkj", []float64{2.0}, -inf, inf, 0.01, -0.8821937284436094},
		{"lkj", []float64{2.0}, -inf, inf, 0.3, -0.2734850178188647},
		{"lkj", []float64{2.0}, -inf, inf, 0.5, 0.0},
		{"lkj", []float64{2.0}, -inf, inf, 0.9, 0.6083997886818167},
		{"lkj", []float64{0.6}, -inf, inf, 1e-09, -0.9999999999999963},
		{"lkj", []float64{0.6}, -inf, inf, 0.01, -0.9982775223569141},
		{"lkj", []float64{0.6}, -inf, inf, 0.3, -0.5319659922495286},
		{"lkj", []float64{0.6}, -inf, inf, 0.5, 0.0},
		{"lkj", []float64{0.6}, -inf, inf, 0.9, 0.9208311888224383},
		{"cauchy", []float64{1.0, 2.0}, -inf, inf, 1e-09, -636619771.3675814},
		{"cauchy", []float64{1.0, 2.0}, -inf, inf, 0.01, -62.64103190754791},
		{"cauchy", []float64{1.0, 2.0}, -inf, inf, 0.3, -0.453085056010722},
		{"cauchy", []float64{1.0, 2.0}, -inf, inf, 0.5, 1.0},
		{"cauchy", []float64{1.0, 2.0}, -inf, inf, 0.9, 7.155367074350509},
		{"cauchy", []float64{1.0, 2.0}, -inf, inf, 0.9999990463256836, 667545.2144281117},
		{"inverse_gamma", []float64{2.5, 2.0}, -inf, inf, 1e-09, 0.07890761294629557},
		{"inverse_gamma", []float64{2.5, 2.0}, -inf, inf, 0.01, 0.26514170469320736},
		{"inverse_gamma", []float64{2.5, 2.0}, -inf, inf, 0.3, 0.659583837302297},
		{"inverse_gamma", []float64{2.5, 2.0}, -inf, inf, 0.5, 0.9192316657717045},
		{"inverse_gamma", []float64{2.5, 2.0}, -inf, inf, 0.9, 2.4839968704033955},
		{"inverse_gamma", []float64{2.5, 2.0}, -inf, inf, 0.9999990463256836, 316.12190874811637},
		{"half_normal", []float64{2.0}, -inf, inf, 1e-09, 2.506628482030354e-09},
		{"half_normal", []float64{2.0}, -inf, inf, 0.01, 0.025066939016138552},
		{"half_normal", []float64{2.0}, -inf, inf, 0.3, 0.7706409328151355},
		{"half_normal", []float64{2.0}, -inf, inf, 0.5, 1.3489795003921634},
		{"half_normal", []float64{2.0}, -inf, inf, 0.9, 3.2897072539029444},
		{"half_normal", []float64{2.0}, -inf, inf, 0.9999990463256836, 9.801928415926387},
		{"half_cauchy", []float64{2.0}, -inf, inf, 1e-09, 3.141592653589793e-09},
		{"half_cauchy", []float64{2.0}, -inf, inf, 0.01, 0.03141851064732983},
		{"half_cauchy", []float64{2.0}, -inf, inf, 0.3, 1.0190508989888576},
		{"half_cauchy", []float64{2.0}, -inf, inf, 0.5, 1.9999999999999998},
		{"half_cauchy", []float64{2.0}, -inf, inf, 0.9, 12.627503029350082},
		{"half_cauchy", []float64{2.0}, -inf, inf, 0.9999990463256836, 1335088.4288592193},
		{"cauchy", []float64{0.0, 1.0}, -1.0, 3.0, 0.001, -0.9959393676549889},
		{"cauchy", []float64{0.0, 1.0}, -1.0, 3.0, 0.5, 0.23606797749978978},
		{"cauchy", []float64{0.0, 1.0}, -1.0, 3.0, 0.99, 2.808233306143067},
		{"half_normal", []float64{1.0}, 0.5, 2.0, 0.001, 0.5008119102587101},
		{"half_normal", []float64{1.0}, 0.5, 2.0, 0.5, 0.9715234717294243},
		{"half_normal", []float64{1.0}, 0.5, 2.0, 0.99, 1.9496654067181487},
		{"half_cauchy", []float64{1.0}, 0.5, 2.0, 0.001, 0.5008046353889388},
		{"half_cauchy", []float64{1.0}, 0.5, 2.0, 0.5, 0.9999999999999999},
		{"half_cauchy", []float64{1.0}, 0.5, 2.0, 0.99, 1.9682333436517294},
		{"inverse_gamma", []float64{2.0, 1.0}, 0.5, 2.0, 0.001, 0.5004655334219298},
		{"inverse_gamma", []float64{2.0, 1.0}, 0.5, 2.0, 0.5, 0.8243403196098181},
		{"inverse_gamma", []float64{2.0, 1.0}, 0.5, 2.0, 0.99, 1.9361884949257395},
	} {
		d, err := NewDist(c.name, c.args, c.lo, c.hi)
		if err != nil {
			t.Errorf("%s%v: %v", c.name, c.args, err)
			continue
		}
		if x := d.Quantile(c.u); math.Abs(x-c.x) > 2e-12*math.Abs(c.x)+1e-15 {
			t.Errorf("%s%v in [%g, %g]: quantile %g is %.17g, not %.17g", c.name, c.args, c.lo, c.hi, c.u, x, c.x)
		}
	}
}

// Probabilities of bounds are compared with 40-digit values of mpmath 1.3.0.
func TestMass(t *testing.T) {
	inf := math.Inf(1)
	for _, c := range []struct {
		name   string
		args   []float64
		lo, hi float64
		want   float64
	}{
		{"normal", []float64{1, 2}, -1, 2.5, 0.61471739369167475},
		{"normal", []float64{0, 1}, 6, 8, 9.8658702294164071e-10},
		{"normal", []float64{0, 1}, -inf, -7, 1.279812543885835e-12},
		{"lognormal", []float64{0.5, 0.7}, 0.1, 10, 0.99495857625592256},
		{"lognormal", []float64{0.5, 0.7}, -1, 1, 0.2375252620269765},
		{"laplace", []float64{1, 0.5}, 0, 3, 0.92317453893732656},
		{"exponential", []float64{2}, 1, 20, 0.13533528323661269},
		{"student", []float64{3, 0, 1}, -1, 2.5, 0.76064556701808191},
		{"student", []float64{3, 0, 1}, 10, 100, 0.0010630972682454826},
		{"student", []float64{30.5, 0, 1}, 0, 0.3, 0.1168938258484777},
		{"student", []float64{1, 0, 1}, 0, inf, 0.5},
		{"gamma", []float64{2.5, 2}, 0.1, 3, 0.96054181272962858},
		{"gamma", []float64{2.5, 2}, 10, inf, 1.4933679000503952e-7},
		{"gamma", []float64{0.3, 2}, 0, 0.01, 0.34299751585698791},
		{"gamma", []float64{50, 1}, 40, 60, 0.84525825224691322},
		{"beta", []float64{2, 3}, 0.1, 0.6, 0.7685},
		{"beta", []float64{0.5, 0.5}, 0.9, 1, 0.20483276469913345},
		{"beta", []float64{20, 3}, 0, 0.5, 6.0558319091796875e-5},
		{"uniform", []float64{1, 3}, 0, 2, 0.5},
	} {
		d, err := NewDist(c.name, c.args, c.lo, c.hi)
		if err != nil {
			t.Error(err)
		} else if got := d.Mass(); !(math.Abs(got-c.want) <= 3e-14*c.want) {
			t.Errorf("%s in [%g, %g]: %.17g, want %.17g", call(c.name, c.args), c.lo, c.hi, got, c.want)
		}
	}
}

func TestNoDistribution(t *testing.T) {
	for _, c := range []struct {
		name   string
		args   []float64
		lo, hi float64
	}{
		{"normal", []float64{0, 0}, -1, 1},
		{"normal", []float64{0}, -1, 1},
		{"cauchy", []float64{0}, -1, 1},
		{"uniform", []float64{1, 1}, -9, 9},
		{"lognormal", []float64{0, 1}, -2, -1},
		{"gamma", []float64{math.NaN(), 1}, 0, 1},
		{"normal", []float64{0, 1}, 50, 60},
	} {
		if _, err := NewDist(c.name, c.args, c.lo, c.hi); err == nil {
			t.Errorf("%s%v in [%g, %g] was accepted", c.name, c.args, c.lo, c.hi)
		}
	}
}
