package methods

import (
	"math"
	"math/big"
	"testing"

	"odes.dev/odes/internal/testing/solvertest"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/explicit"
	"odes.dev/odes/solvers/stages"
	"odes.dev/odes/solvers/tableau"
)

// TestInterpolatePush compares the tangent of the dense output with central
// differences of the interpolated value, extrapolated twice.
func TestInterpolatePush(t *testing.T) {
	eachMethod(t, solvers.DenseDerivatives, func(t *testing.T, m *solvers.Spec, f *toy) {
		const l = 2
		z := f.size
		g := f.with(l)
		r, s := stepOf[solvers.Interpolant](m, g, l)
		d := newTangent(z, l)
		td, yd := make([]float64, l), make([]float64, z.N*l)
		for i, x := range [][]float64{d.T0, d.H, d.Y0, g.pd, td} {
			solvertest.Noise(uint64(17+i), x)
		}
		r.Push(g, s, d)
		for _, theta := range []float64{0, 0.3, 0.8, 1} {
			r.InterpolatePush(g, s, d, theta, td, yd)
			for a := range l {
				value := func(eps float64) []float64 {
					h := f.with(1)
					h.p = append([]float64(nil), f.p...)
					for i := range h.p {
						h.p[i] += eps * g.pd[i*l+a]
					}
					q := m.New(z, 1)
					x := solvers.NewStep(q.Info(), z)
					x.T, x.H = s.T+eps*d.T0[a], s.H+eps*d.H[a]
					x.T1 = x.T + x.H
					for i := range x.Y0 {
						x.Y0[i] = s.Y0[i] + eps*d.Y0[i*l+a]
					}
					q.Step(h, x, false)
					y := make([]float64, z.N)
					moved := (s.T + theta*s.H + eps*td[a] - x.T) / x.H
					if theta == 0 || theta == 1 { // the polynomial, not the exact ends
						moved += 1e-17
					}
					q.Interpolate(h, x, moved, y)
					return y
				}
				central := func(eps float64) []float64 {
					u, v := value(eps), value(-eps)
					for i := range u {
						u[i] = (u[i] - v[i]) / (2 * eps)
					}
					return u
				}
				a4, a2, a1 := central(4e-3), central(2e-3), central(1e-3)
				for i := range z.N {
					want := (64*a1[i] - 20*a2[i] + a4[i]) / 45
					if got := yd[i*l+a]; !solvertest.Near(got, want, 1e-10*growthOf(t, m)) {
						t.Errorf("θ = %v: ẏ[%d] = %v, want %v", theta, i, got, want)
					}
				}
			}
		}
	})
}

// TestInterpolateTranspose checks ⟨w, J v⟩ = ⟨Jᵀ w, v⟩ with the end of the step
// and two times inside it read at once, and that Pull forgets them.
func TestInterpolateTranspose(t *testing.T) {
	eachMethod(t, solvers.DenseDerivatives, func(t *testing.T, m *solvers.Spec, f *toy) {
		const l = 3
		z := f.size
		g := f.with(l)
		r, s := stepOf[solvers.Interpolant](m, g, l)
		d, c := newTangent(z, l), newCotangent(z, l)
		var td, yd, w, tb [2][]float64
		for i := range td {
			td[i], tb[i] = make([]float64, l), make([]float64, l)
			yd[i], w[i] = make([]float64, z.N*l), make([]float64, z.N*l)
			solvertest.Noise(uint64(30+i), td[i])
			solvertest.Noise(uint64(40+i), w[i])
		}
		for i, x := range [][]float64{d.T0, d.H, d.Y0, g.pd, c.T1, c.Y1, c.DQ} {
			solvertest.Noise(uint64(7+i), x)
		}
		theta := [2]float64{0.35, 0.9}
		r.Push(g, s, d)
		for i := range theta {
			r.InterpolatePush(g, s, d, theta[i], td[i], yd[i])
			r.InterpolatePull(g, s, theta[i], w[i], tb[i])
		}
		r.Pull(g, s, c)
		large := denseGrowthOf(t, m)
		for a := range l {
			left := dot(c.T1, d.T1, l, a) + dot(c.Y1, d.Y1, l, a) + dot(c.DQ, d.DQ, l, a)
			right := dot(c.T0, d.T0, l, a) + dot(c.H, d.H, l, a) + dot(c.Y0, d.Y0, l, a) + dot(g.pb, g.pd, l, a)
			for i := range theta {
				left += dot(w[i], yd[i], l, a)
				right += dot(tb[i], td[i], l, a)
			}
			if math.Abs(left-right) > 2e-14*large*(1+math.Abs(left)) {
				t.Errorf("lane %d: ⟨w, Jv⟩ = %v, ⟨Jᵀw, v⟩ = %v", a, left, right)
			}
		}
		plain := newCotangent(z, l)
		copy(plain.T1, c.T1)
		copy(plain.Y1, c.Y1)
		copy(plain.DQ, c.DQ)
		r.Pull(g, s, plain)
		alone := newCotangent(z, l)
		copy(alone.T1, c.T1)
		copy(alone.Y1, c.Y1)
		copy(alone.DQ, c.DQ)
		m.New(z, l).Pull(g, s, alone)
		solvertest.Same(t, "Y0", plain.Y0, alone.Y0)
		solvertest.Same(t, "T0", plain.T0, alone.T0)
	})
}

// TestInterpolateSlope compares the slope of the dense output with differences of its values.
func TestInterpolateSlope(t *testing.T) {
	eachMethod(t, solvers.DenseDerivatives, func(t *testing.T, m *solvers.Spec, f *toy) {
		z := f.size
		r, s := stepOf[solvers.Interpolant](m, f, 0)
		y, yd, at := make([]float64, z.N), make([]float64, z.N), make([]float64, z.N)
		for _, theta := range []float64{0, 0.3, 0.8, 1} {
			r.InterpolateSlope(f, s, theta, y, yd)
			r.Interpolate(f, s, theta, at)
			for i := range y {
				if y[i] != at[i] {
					t.Fatalf("θ = %v: y[%d] = %v, Interpolate gives %v", theta, i, y[i], at[i])
				}
			}
			const eps = 2e-4
			want := make([]float64, z.N)
			for k, c := range []float64{8, -8, -1, 1} { // of order four
				x := []float64{1, -1, 2, -2}[k]
				r.Interpolate(f, s, theta+x*eps+1e-17, at)
				for i, v := range at {
					want[i] += c * v / (12 * eps * s.H)
				}
			}
			for i := range yd {
				if d := math.Abs(yd[i] - want[i]); !(d <= 1e-6*(1+math.Abs(want[i]))) {
					t.Errorf("θ = %v: slope %d is %v, differences give %v", theta, i, yd[i], want[i])
				}
			}
		}
	})
}

// TestInterpolantRounding holds the weights of the dense output and their derivatives, as computed, alonest the exact
// ones: they are off by some roundings of their size, however large the coefficients of their polynomials are.
func TestInterpolantRounding(t *testing.T) {
	eachTable(t, func(t *testing.T, tab *tableau.Tableau) {
		r := explicit.Explicit(tab).New(solvers.Size{N: 1}, 0).(interface{ Output() *stages.Dense }).Output()
		x, err := tab.Coefficients()
		if err != nil {
			t.Fatal(err)
		}
		var off, size [3]float64
		for i := range 32 {
			theta := float64(2*i+1) / 64
			var sum, large [3]float64
			for j, k := range r.Rows {
				var got [3]float64
				got[0], got[1] = stages.Poly(r.Beta[j], theta)
				got[2] = stages.SecondDerivative(r.Beta[j], theta)
				for d, v := range got {
					want := tableau.Round(derivative(x.DenseB[k], d, new(big.Rat).SetFloat64(theta)))
					sum[d] += math.Abs(v - want)
					large[d] += math.Abs(want)
				}
			}
			for d := range off {
				off[d], size[d] = max(off[d], sum[d]), max(size[d], large[d])
			}
		}
		for d := range off {
			if off[d] > 64*0x1p-52*size[d] {
				t.Errorf("derivatives %d of the weights are off by %.2g of %.2g", d, off[d], size[d])
			}
		}
	})
}

// derivative returns that of order d of Σ p_k θ^(k+1).
func derivative(p []*big.Rat, d int, theta *big.Rat) *big.Rat {
	v := new(big.Rat)
	for n := len(p); n >= 0; n-- {
		v.Mul(v, theta)
		if n+d <= len(p) && n+d > 0 {
			v.Add(v, new(big.Rat).Mul(p[n+d-1], new(big.Rat).SetInt(new(big.Int).MulRange(int64(n+1), int64(n+d)))))
		}
	}
	return v
}

// TestHermite compares the dense outputs with Hermite's formula, of the values and slopes at both ends of a step.
func TestHermite(t *testing.T) {
	if rodas, _ := Lookup("rodas5p"); explicit.Hermite(rodas) != nil {
		t.Error("rodas5p is no explicit method")
	}
	for _, own := range explicit.Family.Methods {
		m := explicit.Hermite(own)
		if m == nil || m != explicit.Hermite(own) || m.Name != own.Name {
			t.Fatalf("%s: %v", own.Name, m)
		}
		for name, f := range toys {
			r, s := stepOf[solvers.Interpolant](m, f, 1)
			slope := func(time float64, y []float64) []float64 {
				k := make([]float64, f.size.N+f.size.Q)
				f.Eval(time, y, k)
				return k
			}
			k0, k1, y := slope(s.T, s.Y0), slope(s.T1, s.Y1), make([]float64, f.size.N)
			for _, x := range []float64{0.2, 0.5, 0.9} {
				r.Interpolate(f, s, x, y)
				for i := range y {
					want := (1+2*x)*(1-x)*(1-x)*s.Y0[i] + x*(1-x)*(1-x)*s.H*k0[i] + x*x*(3-2*x)*s.Y1[i] -
						x*x*(1-x)*s.H*k1[i]
					if !solvertest.Near(y[i], want, 1e-13) {
						t.Errorf("%s, %s at θ = %v: y[%d] = %v, want %v", m.Name, name, x, i, y[i], want)
					}
				}
			}
		}
		if info := m.Info(); info.DenseOrder != min(3, info.Order) || info.Order != own.Info().Order {
			t.Errorf("%s: order %d, %d inside", m.Name, info.Order, info.DenseOrder)
		}
	}
}
