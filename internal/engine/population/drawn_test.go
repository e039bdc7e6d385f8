package population

import (
	"context"
	"math"
	"testing"
)

// pulled is a subject with three effects and two params: the data pull the effects to places that the params move, and
// the covariances follow from the params.
type pulled struct{ theta [2]float64 }

func (s *pulled) Data(_ context.Context, eta []float64, _ int) (*Conditional, error) {
	out := &Conditional{Gradient: make([]float64, 5)}
	for i, x := range eta {
		a := s.theta[0] * float64(i+1)
		d := x - a + 0.3*x*x*s.theta[1]
		out.Value += d * d / 2
		out.Gradient[i] += d * (1 + 0.6*x*s.theta[1])
		out.Gradient[3] -= d * float64(i+1)
		out.Gradient[4] += d * 0.3 * x * x
	}
	return out, nil
}

func (s *pulled) Rows(context.Context, []float64) (*Rows, error) { return nil, nil }

func (s *pulled) Curved(context.Context, []Sum) ([]float64, error) { return nil, nil }

func (s *pulled) Failed(error) bool { return false }

func (s *pulled) Omega(context.Context) (*Omega, error) {
	a, b := s.theta[0], s.theta[1]
	w := []float64{
		1 + a*a, 0.3 * a, 0.1 * b,
		0.3 * a, 2 + b, 0.4,
		0.1 * b, 0.4, 0.5 + 0.2*a*b,
	}
	slopes := make([]float64, 18)
	for at, d := range map[int][2]float64{
		0: {2 * a, 0}, 1: {0.3, 0}, 3: {0.3, 0}, 2: {0, 0.1}, 6: {0, 0.1}, 4: {0, 1}, 8: {0.2 * b, 0.2 * a},
	} {
		slopes[2*at], slopes[2*at+1] = d[0], d[1]
	}
	return &Omega{M: 3, W: w, Slopes: slopes}, nil
}

// TestDrawn compares the density of coordinates with that of the effects, times the determinant of the map, and its
// derivatives with differences, for coordinates that are centred, are not, and are in part.
func TestDrawn(t *testing.T) {
	s := &pulled{[2]float64{0.7, 0.9}}
	z := []float64{0.4, -0.8, 0.6}
	for _, centred := range [][]float64{{0, 0, 0}, {1, 1, 1}, {0.2, 0.9, 0.5}} {
		at := func(theta [2]float64, z []float64) (float64, []float64) {
			s.theta = theta
			o, _ := s.Omega(t.Context())
			spread, err := NewSpread(o, centred)
			if err != nil {
				t.Fatal(err)
			}
			v, g, err := Drawn(t.Context(), s, spread, z)
			if err != nil {
				t.Fatal(err)
			}
			eta := spread.Eta(z)
			for i, x := range spread.Back(eta) {
				if math.Abs(x-z[i]) > 1e-12 {
					t.Errorf("back is %g, not %g", x, z[i])
				}
			}
			q, _ := newProblem(t.Context(), s, Method{})
			joint, err := q.joint(eta, 0)
			if err != nil {
				t.Fatal(err)
			}
			scale, det := spread.Scale(), 0.0
			for i := range 3 {
				det += math.Log(scale[i*3+i])
			}
			if d := v - (joint.Value - det); math.Abs(d) > 1e-12 {
				t.Errorf("%v: the density is off by %g", centred, d)
			}
			return v, g
		}
		theta := [2]float64{0.7, 0.9}
		_, g := at(theta, z)
		for k := range 5 {
			const h = 1e-5
			var side [2]float64
			for i, by := range []float64{h, -h} {
				th, x := theta, append([]float64{}, z...)
				if k < 3 {
					x[k] += by
				} else {
					th[k-3] += by
				}
				side[i], _ = at(th, x)
			}
			if d := (side[0] - side[1]) / (2 * h); math.Abs(d-g[k]) > 1e-8*(1+math.Abs(d)) {
				t.Errorf("%v: derivative %d is %.10g, by differences %.10g", centred, k, g[k], d)
			}
		}
	}
}
