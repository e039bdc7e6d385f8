package optim

import (
	"context"
	"math"
)

// objective is what a search evaluates: at a current point, and at one on trial that may take its place.
type objective interface {
	// evaluate fills in the point on trial, and returns its value and noise.
	evaluate(ctx context.Context, x []float64, want Want) (value, noise float64, err error)
	// accept makes the point on trial the current one, whose derivatives were evaluated.
	accept()
	// gain returns by how much the value on trial is below the current one.
	gain() float64
	// slopes returns the gradient at the current point, or at the one on trial.
	slopes(trial bool) []float64
	// measure updates the sizes d by which steps are measured: a step s has the length |d·s|. Their inverses were those
	// of the variables at the start.
	measure(d []float64)
	// model returns a model around the current point, for steps d·s.
	model(d []float64) quadratic
	// full is what is evaluated at a point before it is accepted. Where it is cheap, it is asked for at all points.
	full() (want Want, cheap bool)
}

// search is a trust-region search within bounds.
type search struct {
	o      Options
	n      int
	b      Bounds
	f      objective
	radius float64 // of the first step
	sizes  []float64
	res    Result
}

// sizes returns typical sizes of variables: those given, else those of the start and of the bounds.
func sizes(x []float64, b Bounds, o Options) []float64 {
	s := make([]float64, len(x))
	for i, v := range x {
		width := math.Inf(1)
		if b.Lo != nil && b.Hi != nil {
			width = b.Hi[i] - b.Lo[i]
		}
		switch {
		case o.Scale != nil && o.Scale[i] > 0:
			s[i] = o.Scale[i]
		case v != 0:
			s[i] = math.Abs(v)
		case width > 0 && !math.IsInf(width, 1):
			s[i] = width
		default:
			s[i] = 1
		}
	}
	return s
}

// size returns that of variable i at x.
func (s *search) size(i int, x float64) float64 {
	if s.o.Scale != nil && s.o.Scale[i] > 0 {
		return s.o.Scale[i]
	}
	return math.Max(math.Abs(x), 1e-3*s.sizes[i])
}

// limits returns the bounds of variable i.
func (b Bounds) limits(i int) (lo, hi float64) {
	lo, hi = math.Inf(-1), math.Inf(1)
	if b.Lo != nil {
		lo = b.Lo[i]
	}
	if b.Hi != nil {
		hi = b.Hi[i]
	}
	return lo, hi
}

// projected returns the largest component of the projected gradient g at x, each times the size of its variable.
func (s *search) projected(x, g []float64) float64 {
	most := 0.0
	for i, v := range g {
		lo, hi := s.b.limits(i)
		if !presses(v, lo-x[i], hi-x[i]) {
			most = math.Max(most, math.Abs(v)*s.size(i, x[i]))
		}
	}
	return most
}

// evaluate evaluates the objective, counts, and makes numbers that are not finite failures.
func (s *search) evaluate(ctx context.Context, x []float64, want Want) (value, noise float64, err error) {
	s.res.Evaluations++
	if want > Values {
		s.res.Slopes++
	}
	value, noise, err = s.f.evaluate(ctx, x, want)
	if err == nil && (math.IsNaN(value) || math.IsInf(value, 0) || want > Values && !finite(s.f.slopes(true))) {
		err = errNotFinite
	}
	if err != nil && ctx.Err() == nil {
		s.res.Failures++
	}
	return value, math.Max(noise, float64(4*epsilon*math.Abs(value))), err
}

// run searches from x0.
func (s *search) run(ctx context.Context, x0 []float64) (Result, error) {
	n := s.n
	x := make([]float64, n)
	for i := range x {
		x[i] = s.b.clip(i, x0[i])
	}
	s.sizes = sizes(x, s.b, s.o)
	s.res = Result{X: x, AtBound: make([]int8, n), Gradient: make([]float64, n)}
	full, cheap := s.f.full()
	value, noise, err := s.evaluate(ctx, x, full)
	if err != nil {
		s.res.Status, s.res.Failure = Failed, err
		if ctx.Err() != nil {
			s.res.Status = Stopped
		}
		return s.res, startError(err)
	}
	s.f.accept()
	first := value

	d := make([]float64, n)
	for i, v := range s.sizes {
		d[i] = 1 / v
	}
	fc := &face{
		slope: make([]float64, n), lo: make([]float64, n), hi: make([]float64, n),
		product: make([]float64, n), try: make([]float64, n), best: make([]float64, n),
	}
	z, trial := make([]float64, n), make([]float64, n)
	radius := 0.0
	eager := true // a step is likely to be accepted: derivatives are asked for at once
	polish, last := 0, math.Inf(1)
	still := 0 // steps in a row that gained nothing
	var failure error

	limit, least := s.o.Iterations, s.o.Step
	if limit == 0 {
		limit = 1000
	}
	if least == 0 {
		least = 1e-14
	}
	end := func(status Status) (Result, error) {
		s.res.Value, s.res.Noise, s.res.Status = value, noise, status
		copy(s.res.Gradient, s.f.slopes(false))
		s.res.Projected = s.projected(x, s.res.Gradient)
		if status == Stuck {
			s.res.Failure = failure
		}
		for i := range x {
			switch lo, hi := s.b.limits(i); {
			case lo == hi:
			case x[i] == lo:
				s.res.AtBound[i] = -1
			case x[i] == hi:
				s.res.AtBound[i] = 1
			}
		}
		return s.res, nil
	}

	for {
		g := s.f.slopes(false)
		projected := s.projected(x, g)
		if s.o.Progress != nil {
			s.o.Progress(Progress{
				X: x, Value: value, Projected: projected,
				Iterations: s.res.Iterations, Evaluations: s.res.Evaluations,
			})
		}
		if projected <= s.o.Gradient {
			return end(ByGradient)
		}
		if isUnbounded(first, value) {
			return end(Unbounded)
		}
		if still == 12 {
			return end(ByNoise) // models promise what is not there
		}
		if s.res.Iterations >= limit {
			return end(Iterations)
		}
		s.res.Iterations++
		s.f.measure(d)
		for i := range x {
			lo, hi := s.b.limits(i)
			fc.slope[i] = g[i] / d[i]
			fc.lo[i], fc.hi[i] = float64((lo-x[i])*d[i]), float64((hi-x[i])*d[i])
		}
		fc.q = s.f.model(d)
		if radius == 0 {
			for i, v := range s.sizes {
				z[i] = float64(v * d[i])
			}
			radius = float64(s.radius * norm(z))
		}

		for accepted := false; !accepted; {
			promised, bounded := fc.step(z, radius)
			promised = -promised
			s.res.Reduction = promised
			length := norm(z)
			moved := false
			short := true
			for i := range x {
				switch {
				case z[i] == fc.lo[i] && z[i] != 0:
					trial[i], _ = s.b.limits(i)
				case z[i] == fc.hi[i] && z[i] != 0:
					_, trial[i] = s.b.limits(i)
				default:
					trial[i] = s.b.clip(i, x[i]+z[i]/d[i])
				}
				moved = moved || trial[i] != x[i]
				short = short && math.Abs(trial[i]-x[i]) <= least*s.size(i, x[i])
			}
			quiet := promised <= noise // the model promises nothing that could be noticed
			if promised != promised || math.IsInf(promised, 0) {
				return end(Unbounded)
			}
			if !(promised > 0) || !moved {
				return end(ByNoise)
			}
			if short {
				if bounded && promised > noise+float64(100*epsilon*math.Sqrt(math.Abs(value)*math.Abs(first))) {
					return end(Stuck)
				}
				return end(ByStep)
			}
			if quiet && !bounded {
				// The last digits cost little: six more of the value, which are three more of the variables. Values do
				// not see them, but what the next model promises does.
				if polish++; polish > 30 || promised <= 1e-7*noise || promised > 0.9*last {
					return end(ByNoise)
				}
				last = promised
			}
			if ctx.Err() != nil {
				return end(Stopped)
			}
			if s.o.Evaluations > 0 && s.res.Evaluations >= s.o.Evaluations {
				return end(Evaluations)
			}
			want := Values
			if eager || quiet || cheap {
				want = full
			}
			v, ν, err := s.evaluate(ctx, trial, want)
			if err != nil && ctx.Err() != nil {
				return end(Stopped)
			}
			if err != nil {
				failure = err
				radius = float64(0.25 * math.Min(radius, length))
				eager = false
				continue
			}
			gain := s.f.gain()
			slack := 2 * noise
			if quiet && !bounded {
				if gain < -slack {
					return end(ByNoise)
				}
				s.f.accept()
				copy(x, trial)
				value, noise = v, ν
				break
			}
			ratio := (gain + slack) / (promised + slack)
			switch {
			case ratio < 0.25:
				factor := 0.5
				if gain < 0 { // where a parabola through value, slope and new value is least
					slope := dot(fc.slope, z)
					factor = math.Max(0.1, math.Min(0.5*slope/(slope+gain), 0.5))
				}
				radius = float64(factor * math.Min(radius, length))
			case ratio > 0.75 && bounded:
				radius = math.Max(radius, 2*length)
			case ratio > 0.75:
				radius = math.Max(radius, length)
			}
			eager = ratio > 0.25
			if ratio < 1e-4 {
				failure = nil
				continue
			}
			if want < full {
				if _, _, err := s.evaluate(ctx, trial, full); err != nil {
					if ctx.Err() != nil {
						return end(Stopped)
					}
					failure = err
					radius = float64(0.25 * math.Min(radius, length))
					continue
				}
			}
			if still++; math.Abs(gain) > noise {
				still = 0
			}
			s.f.accept()
			copy(x, trial)
			value, noise = v, ν
			accepted = true
		}
	}
}
