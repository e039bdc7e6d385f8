package optim

import (
	"context"
	"math"
	"testing"
)

// regression is one of NIST's nonlinear regressions, with certified values: National Institute of Standards and
// Technology, Statistical Reference Datasets, https://www.itl.nist.gov/div898/strd/nls/nls_main.shtml. All but one are
// of the higher level of difficulty.
type regression struct {
	name       string
	x, y       []float64
	model      func(b []float64, x float64) (y float64, d []float64)
	starts     [2][]float64
	parameters []float64
	deviations []float64
	squares    float64 // the residual sum of squares
}

var regressions = []regression{
	{
		name: "BoxBOD",
		x:    []float64{1, 2, 3, 5, 7, 10},
		y:    []float64{109, 149, 149, 191, 213, 224},
		model: func(b []float64, x float64) (float64, []float64) {
			e := math.Exp(-b[1] * x)
			return b[0] * (1 - e), []float64{1 - e, b[0] * x * e}
		},
		starts:     [2][]float64{{1, 1}, {100, 0.75}},
		parameters: []float64{2.1380940889e+02, 5.4723748542e-01},
		deviations: []float64{1.2354515176e+01, 1.0455993237e-01},
		squares:    1.1680088766e+03,
	},
	{
		name: "MGH09",
		x:    []float64{4, 2, 1, 0.5, 0.25, 0.167, 0.125, 0.1, 0.0833, 0.0714, 0.0625},
		y: []float64{
			0.1957, 0.1947, 0.1735, 0.1600, 0.0844, 0.0627, 0.0456, 0.0342, 0.0323, 0.0235, 0.0246,
		},
		model: func(b []float64, x float64) (float64, []float64) {
			p, q := x*x+x*b[1], x*x+x*b[2]+b[3]
			return b[0] * p / q, []float64{p / q, b[0] * x / q, -b[0] * p * x / (q * q), -b[0] * p / (q * q)}
		},
		starts:     [2][]float64{{25, 39, 41.5, 39}, {0.25, 0.39, 0.415, 0.39}},
		parameters: []float64{1.9280693458e-01, 1.9128232873e-01, 1.2305650693e-01, 1.3606233068e-01},
		deviations: []float64{1.1435312227e-02, 1.9633220911e-01, 8.0842031232e-02, 9.0025542308e-02},
		squares:    3.0750560385e-04,
	},
	{
		name: "MGH10",
		x:    []float64{50, 55, 60, 65, 70, 75, 80, 85, 90, 95, 100, 105, 110, 115, 120, 125},
		y: []float64{
			34780, 28610, 23650, 19630, 16370, 13720, 11540, 9744, 8261, 7030, 6005, 5147, 4427, 3820, 3307, 2872,
		},
		model: func(b []float64, x float64) (float64, []float64) {
			e := math.Exp(b[1] / (x + b[2]))
			return b[0] * e, []float64{e, b[0] * e / (x + b[2]), -b[0] * e * b[1] / ((x + b[2]) * (x + b[2]))}
		},
		starts:     [2][]float64{{2, 400000, 25000}, {0.02, 4000, 250}},
		parameters: []float64{5.6096364710e-03, 6.1813463463e+03, 3.4522363462e+02},
		deviations: []float64{1.5687892471e-04, 2.3309021107e+01, 7.8486103508e-01},
		squares:    8.7945855171e+01,
	},
	{
		name: "MGH17", // of the average level, but its first start is the farthest of all
		x: []float64{
			0, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100, 110, 120, 130, 140, 150, 160, 170, 180, 190, 200, 210, 220,
			230, 240, 250, 260, 270, 280, 290, 300, 310, 320,
		},
		y: []float64{
			0.844, 0.908, 0.932, 0.936, 0.925, 0.908, 0.881, 0.850, 0.818, 0.784, 0.751, 0.718, 0.685, 0.658, 0.628,
			0.603, 0.580, 0.558, 0.538, 0.522, 0.506, 0.490, 0.478, 0.467, 0.457, 0.448, 0.438, 0.431, 0.424, 0.420,
			0.414, 0.411, 0.406,
		},
		model: func(b []float64, x float64) (float64, []float64) {
			p, q := math.Exp(-x*b[3]), math.Exp(-x*b[4])
			return b[0] + b[1]*p + b[2]*q, []float64{1, p, q, -b[1] * x * p, -b[2] * x * q}
		},
		starts: [2][]float64{{50, 150, -100, 1, 2}, {0.5, 1.5, -1, 0.01, 0.02}},
		parameters: []float64{
			3.7541005211e-01, 1.9358469127e+00, -1.4646871366e+00, 1.2867534640e-02, 2.2122699662e-02,
		},
		deviations: []float64{
			2.0723153551e-03, 2.2031669222e-01, 2.2175707739e-01, 4.4861358114e-04, 8.9471996575e-04,
		},
		squares: 5.4648946975e-05,
	},
	{
		name: "Rat42",
		x:    []float64{9, 14, 21, 28, 42, 57, 63, 70, 79},
		y:    []float64{8.93, 10.8, 18.59, 22.33, 39.35, 56.11, 61.73, 64.62, 67.08},
		model: func(b []float64, x float64) (float64, []float64) {
			e := math.Exp(b[1] - b[2]*x)
			q := 1 + e
			return b[0] / q, []float64{1 / q, -b[0] * e / (q * q), b[0] * e * x / (q * q)}
		},
		starts:     [2][]float64{{100, 1, 0.1}, {75, 2.5, 0.07}},
		parameters: []float64{7.2462237576e+01, 2.6180768402e+00, 6.7359200066e-02},
		deviations: []float64{1.7340283401e+00, 8.8295217536e-02, 3.4465663377e-03},
		squares:    8.0565229338e+00,
	},
	{
		name: "Rat43",
		x:    []float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		y: []float64{
			16.08, 33.83, 65.80, 97.20, 191.55, 326.20, 386.87, 520.53, 590.03, 651.92, 724.93, 699.56, 689.96, 637.56,
			717.41,
		},
		model: func(b []float64, x float64) (float64, []float64) {
			e := math.Exp(b[1] - b[2]*x)
			v := b[0] * math.Pow(1+e, -1/b[3])
			return v, []float64{
				v / b[0], -v / b[3] * e / (1 + e), v / b[3] * e * x / (1 + e), v * math.Log(1+e) / (b[3] * b[3]),
			}
		},
		starts:     [2][]float64{{100, 10, 1, 1}, {700, 5, 0.75, 1.3}},
		parameters: []float64{6.9964151270e+02, 5.2771253025e+00, 7.5962938329e-01, 1.2792483859e+00},
		deviations: []float64{1.6302297817e+01, 2.0828735829e+00, 1.9566123451e-01, 6.8761936385e-01},
		squares:    8.7864049080e+03,
	},
	{
		name: "Thurber",
		x: []float64{
			-3.067, -2.981, -2.921, -2.912, -2.840, -2.797, -2.702, -2.699, -2.633, -2.481, -2.363, -2.322, -1.501,
			-1.460, -1.274, -1.212, -1.100, -1.046, -0.915, -0.714, -0.566, -0.545, -0.400, -0.309, -0.109, -0.103,
			0.010, 0.119, 0.377, 0.790, 0.963, 1.006, 1.115, 1.572, 1.841, 2.047, 2.200,
		},
		y: []float64{
			80.574, 84.248, 87.264, 87.195, 89.076, 89.608, 89.868, 90.101, 92.405, 95.854, 100.696, 101.060, 401.672,
			390.724, 567.534, 635.316, 733.054, 759.087, 894.206, 990.785, 1090.109, 1080.914, 1122.643, 1178.351,
			1260.531, 1273.514, 1288.339, 1327.543, 1353.863, 1414.509, 1425.208, 1421.384, 1442.962, 1464.350,
			1468.705, 1447.894, 1457.628,
		},
		model: func(b []float64, x float64) (float64, []float64) {
			p, q := b[0]+x*(b[1]+x*(b[2]+x*b[3])), 1+x*(b[4]+x*(b[5]+x*b[6]))
			v := p / q
			return v, []float64{1 / q, x / q, x * x / q, x * x * x / q, -v * x / q, -v * x * x / q, -v * x * x * x / q}
		},
		starts: [2][]float64{{1000, 1000, 400, 40, 0.7, 0.3, 0.03}, {1300, 1500, 500, 75, 1, 0.4, 0.05}},
		parameters: []float64{
			1.2881396800e+03, 1.4910792535e+03, 5.8323836877e+02, 7.5416644291e+01, 9.6629502864e-01, 3.9797285797e-01,
			4.9727297349e-02,
		},
		deviations: []float64{
			4.6647963344e+00, 3.9571156086e+01, 2.8698696102e+01, 5.5675370270e+00, 3.1333340687e-02, 1.4984928198e-02,
			6.5842344623e-03,
		},
		squares: 5.6427082397e+03,
	},
	{
		name: "Eckerle4",
		x: []float64{
			400, 405, 410, 415, 420, 425, 430, 435, 436.5, 438, 439.5, 441, 442.5, 444, 445.5, 447, 448.5, 450, 451.5,
			453, 454.5, 456, 457.5, 459, 460.5, 462, 463.5, 465, 470, 475, 480, 485, 490, 495, 500,
		},
		y: []float64{
			0.0001575, 0.0001699, 0.0002350, 0.0003102, 0.0004917, 0.0008710, 0.0017418, 0.0046400, 0.0065895,
			0.0097302, 0.0149002, 0.0237310, 0.0401683, 0.0712559, 0.1264458, 0.2073413, 0.2902366, 0.3445623,
			0.3698049, 0.3668534, 0.3106727, 0.2078154, 0.1164354, 0.0616764, 0.0337200, 0.0194023, 0.0117831,
			0.0074357, 0.0022732, 0.0008800, 0.0004579, 0.0002345, 0.0001586, 0.0001143, 0.0000710,
		},
		model: func(b []float64, x float64) (float64, []float64) {
			u := (x - b[2]) / b[1]
			e := math.Exp(-0.5 * u * u)
			v := b[0] / b[1] * e
			return v, []float64{e / b[1], v * (u*u - 1) / b[1], v * u / b[1]}
		},
		starts:     [2][]float64{{1, 10, 500}, {1.5, 5, 450}},
		parameters: []float64{1.5543827178e+00, 4.0888321754e+00, 4.5154121844e+02},
		deviations: []float64{1.5408051163e-02, 4.6803020753e-02, 4.6800518816e-02},
		squares:    1.4635887487e-03,
	},
}

// problem returns the sum of squares of the regression.
func (r regression) problem() LeastSquaresProblem {
	n := len(r.parameters)
	return LeastSquaresProblem{
		Variables: n, Residuals: len(r.x),
		Evaluate: func(_ context.Context, b []float64, want Want, at *Residuals) error {
			for i, x := range r.x {
				v, d := r.model(b, x)
				at.R[i] = v - r.y[i]
				if want > Values {
					copy(at.J[i*n:(i+1)*n], d)
				}
			}
			return nil
		},
	}
}

// digits returns how many decimal digits of a and b agree, as NIST counts them.
func digits(a, b float64) float64 {
	if a == b {
		return 11
	}
	return math.Min(-math.Log10(math.Abs(a-b)/math.Abs(b)), 11)
}

// TestRegressions demands nine of the eleven digits that are certified, from both starts.
func TestRegressions(t *testing.T) {
	for _, r := range regressions {
		for i, start := range r.starts {
			p := r.problem()
			res, err := LeastSquares(t.Context(), p, start, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !res.Status.Converged() {
				t.Errorf("%s, start %d: %v", r.name, i+1, res.Status)
			}
			n, m := p.Variables, p.Residuals
			at := Residuals{R: make([]float64, m), J: make([]float64, m*n)}
			if err := p.Evaluate(t.Context(), res.X, Slopes, &at); err != nil {
				t.Fatal(err)
			}
			deviations := covariance(at.J, m, n)
			least := math.Min(digits(2*res.Value, r.squares), 11)
			for j := range n {
				variance := deviations[j] * 2 * res.Value / float64(m-n)
				least = math.Min(least, digits(res.X[j], r.parameters[j]))
				least = math.Min(least, digits(math.Sqrt(variance), r.deviations[j]))
			}
			t.Logf("%-8s start %d: %4.1f digits, %3d iterations, %3d evaluations, %v",
				r.name, i+1, least, res.Iterations, res.Evaluations, res.Status)
			if least < 9 {
				t.Errorf("%s, start %d: %.1f digits\n%v\n%v", r.name, i+1, least, res.X, r.parameters)
			}
		}
	}
}

// covariance returns the diagonal of (JᵀJ)⁻¹.
func covariance(jacobian []float64, m, n int) []float64 {
	a := append([]float64{}, jacobian...)
	triangle(a, m, n, make([]float64, m), nil)
	out := make([]float64, n)
	e := make([]float64, n)
	for j := range n {
		clear(e)
		e[j] = 1
		forward(a, n, n, e)
		out[j] = dot(e, e)
	}
	return out
}
