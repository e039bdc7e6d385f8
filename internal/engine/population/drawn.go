package population

import (
	"context"
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Spread is how random effects follow from coordinates z that are drawn: eta = L D^-c z with the covariances L Lᵀ and
// the diagonal D of L. With c = 0 coordinates have standard deviations of 1 (non-centred), with c = 1 those of the
// distribution (centred); between, they suit data that tell a part. c is a number of each (A. Gorinova, D. Moore,
// M. Hoffman, ICML 2020, without their search for it).
type Spread struct {
	o       *Omega
	l       []float64 // [m][m]
	powers  []float64 // D^-c
	centred []float64 // c
}

// NewSpread returns that of covariances.
func NewSpread(o *Omega, centred []float64) (*Spread, error) {
	q, err := newPrior(o)
	if err != nil {
		return nil, err
	}
	s := &Spread{o: o, l: q.root, centred: centred, powers: make([]float64, o.M)}
	for j := range s.powers {
		s.powers[j] = elem.Exp(-float64(centred[j] * elem.Log(s.l[j*o.M+j])))
	}
	return s, nil
}

// Eta returns the random effects of coordinates.
func (s *Spread) Eta(z []float64) []float64 {
	u, _ := s.eta(z)
	return s.times(u)
}

// eta returns standard normal numbers u of coordinates, and half the sum of their squares.
func (s *Spread) eta(z []float64) (u []float64, half float64) {
	u = make([]float64, len(z))
	for j := range u {
		u[j] = float64(z[j] * s.powers[j])
		half += float64(u[j] * u[j] / 2)
	}
	return u, half
}

func (s *Spread) times(u []float64) []float64 {
	m := s.o.M
	eta := make([]float64, m)
	for i := range eta {
		eta[i] = dot(s.l[i*m:i*m+i+1], u[:i+1])
	}
	return eta
}

// Back returns the coordinates of random effects.
func (s *Spread) Back(eta []float64) []float64 {
	m := s.o.M
	z := make([]float64, m)
	for i := range z {
		z[i] = (eta[i] - dot(s.l[i*m:i*m+i], z[:i])) / s.l[i*m+i]
	}
	for i := range z {
		z[i] /= s.powers[i]
	}
	return z
}

// Scale returns the derivatives of random effects by coordinates, [m][m].
func (s *Spread) Scale() []float64 {
	m := s.o.M
	out := make([]float64, m*m)
	for i := range m {
		for j := range i + 1 {
			out[i*m+j] = float64(s.l[i*m+j] * s.powers[j])
		}
	}
	return out
}

// Drawn returns the negative logarithm of the density of the data of a subject and of the coordinates of its random
// effects, with derivatives by these (m) and by params (p).
func Drawn(ctx context.Context, of Subject, s *Spread, z []float64) (value float64, gradient []float64, err error) {
	m := s.o.M
	u, half := s.eta(z)
	c, err := of.Data(ctx, s.times(u), 1)
	if err != nil {
		return math.NaN(), nil, err
	}
	p := len(c.Gradient) - m
	value = c.Value + half + float64(0.5*float64(m)*log2pi)
	gradient = make([]float64, m+p)
	copy(gradient[m:], c.Gradient[m:])
	du := make([]float64, m)
	for j := range m {
		for i := j; i < m; i++ {
			du[j] += float64(s.l[i*m+j] * c.Gradient[i])
		}
		du[j] += u[j]
		gradient[j] = float64(du[j] * s.powers[j])
		value += float64(s.centred[j] * elem.Log(s.l[j*m+j]))
	}
	// By params: L moves with them. dL = L Φ(L⁻¹ dΩ L⁻ᵀ), where Φ takes the lower triangle and half the diagonal
	// (S. Särkkä, Bayesian Filtering and Smoothing, 2013, appendix A.3).
	for x := range p {
		w := s.moves(x)
		if w == nil {
			continue
		}
		dl := s.rootSlope(w)
		for i := range m {
			gradient[m+x] += float64(c.Gradient[i] * dot(dl[i*m:i*m+i+1], u[:i+1]))
			grows := float64(s.centred[i] * dl[i*m+i] / s.l[i*m+i]) // of D^c
			gradient[m+x] += grows - float64(du[i]*u[i]*grows)
		}
	}
	return value, gradient, nil
}

// moves returns the derivative of the covariances by param x, made symmetric; nil where it is zero.
func (s *Spread) moves(x int) []float64 {
	m := s.o.M
	p := len(s.o.Slopes) / (m * m)
	w := make([]float64, m*m)
	still := true
	for i := range m {
		for j := range m {
			w[i*m+j] = float64(0.5 * (s.o.Slopes[(i*m+j)*p+x] + s.o.Slopes[(j*m+i)*p+x]))
			still = still && w[i*m+j] == 0
		}
	}
	if still {
		return nil
	}
	return w
}

// turn returns Φ(L⁻¹ dΩ L⁻ᵀ) of a symmetric dΩ, which it overwrites.
func (s *Spread) turn(w []float64) []float64 {
	m, l := s.o.M, s.l
	solve := func(a []float64) { // L⁻¹ a, in place
		for j := range m {
			for i := range m {
				x := a[i*m+j]
				for k := range i {
					x -= float64(l[i*m+k] * a[k*m+j])
				}
				a[i*m+j] = x / l[i*m+i]
			}
		}
	}
	turn := func(a []float64) {
		for i := range m {
			for j := range i {
				a[i*m+j], a[j*m+i] = a[j*m+i], a[i*m+j]
			}
		}
	}
	solve(w)
	turn(w)
	solve(w)
	turn(w)
	for i := range m {
		w[i*m+i] /= 2
		clear(w[i*m+i+1 : (i+1)*m])
	}
	return w
}

// rootSlope returns dL of a symmetric dΩ.
func (s *Spread) rootSlope(w []float64) []float64 {
	m, l := s.o.M, s.l
	w = s.turn(w)
	out := make([]float64, m*m)
	for i := range m {
		for j := range i + 1 {
			for k := j; k <= i; k++ {
				out[i*m+j] += float64(l[i*m+k] * w[k*m+j])
			}
		}
	}
	return out
}
