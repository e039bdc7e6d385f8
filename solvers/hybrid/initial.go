package hybrid

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/solvers"
)

// InitialStep returns the length of a first step, of the sign of limit and at most as long (Hairer, Nørsett, Wanner,
// Solving Ordinary Differential Equations I, section II.4). With norms scaled at y₀,
//
//	h₀ = 0.01 ‖y₀‖/‖f₀‖, or 1e-6 if one of them is below 1e-5,
//	d₂ = ‖f(t + h₀, y₀ + h₀ f₀) - f₀‖/h₀,
//	h₁ = (0.01/max(‖f₀‖, d₂))^(1/(p+1)), or max(1e-6, h₀/1000) if both are below 1e-15,
//
// the result is min(100 h₀, h₁, |limit|). The step s gives T, Y0 and, in row 0 of K, f(T, Y0); work[2N+Q] is
// overwritten. If f is not finite at the trial point, h₀ is divided by ten, at most 30 times.
func InitialStep(
	f solvers.Field, m solvers.Info, tol *solvers.Tolerance, s *solvers.Step, limit float64, work []float64,
) float64 {
	n := len(s.Y0)
	y, k := work[:n:n], work[n:]
	f0 := s.K[:n]
	d0, d1 := tol.Size(s.Y0, s.Y0), tol.Size(f0, s.Y0)
	h0 := 1e-6
	if d0 >= 1e-5 && d1 >= 1e-5 && d0 <= math.MaxFloat64 && d1 <= math.MaxFloat64 {
		h0 = float64(0.01*d0) / d1
	}
	top := math.Abs(limit)
	h0 = min(h0, top)
	var d2 float64
	for range 30 {
		h := math.Copysign(h0, limit)
		for i, v := range f0 {
			y[i] = math.FMA(h, v, s.Y0[i])
		}
		f.Eval(s.T+h, y, k)
		for i, v := range f0 {
			y[i] = k[i] - v
		}
		d2 = tol.Size(y, s.Y0) / h0
		if d2 <= math.MaxFloat64 {
			break
		}
		h0 /= 10
	}
	h1 := max(1e-6, h0/1000)
	if d := max(d1, d2); d > 1e-15 && d <= math.MaxFloat64 {
		h1 = elem.QuickExp2(elem.QuickLog2(0.01/d) / float64(m.Order+1))
	}
	return math.Copysign(min(float64(100*h0), h1, top), limit)
}
