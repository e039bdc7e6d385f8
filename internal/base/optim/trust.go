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

// walk is where a search is, and what it expects.
type walk struct {
	x, trial            []float64
	z, d                []float64 // the step, and the inverse sizes of which it is made
	face                *face
	value, noise, first float64
	radius              float64 // of the next step; 0 before the first
	eager               bool    // a step is likely to be accepted: derivatives are asked for at once
	polish              int     // steps for digits that values do not tell
	last                float64 // what the last of them promised
	still               int     // steps in a row that gained nothing
	failure             error
	full                Want
	cheap               bool
	least               float64 // steps that are shorter change nothing
}

// move says what came of an attempt to make a step.
type move uint8

const (
	again    move = iota // a shorter one is to be tried
	accepted             // it was made
	over                 // the search is
)

// begin evaluates at the start. The error is that of the search.
func (s *search) begin(ctx context.Context, x0 []float64) (*walk, error) {
	n := s.n
	w := &walk{
		x: make([]float64, n), trial: make([]float64, n), z: make([]float64, n), d: make([]float64, n),
		face: &face{
			slope: make([]float64, n), lo: make([]float64, n), hi: make([]float64, n),
			product: make([]float64, n), try: make([]float64, n), best: make([]float64, n),
		},
		eager: true, last: math.Inf(1), least: s.o.Step,
	}
	if w.least == 0 {
		w.least = 1e-14
	}
	for i := range w.x {
		w.x[i] = s.b.clip(i, x0[i])
	}
	s.sizes = sizes(w.x, s.b, s.o)
	for i, v := range s.sizes {
		w.d[i] = 1 / v
	}
	s.res = Result{X: w.x, AtBound: make([]int8, n), Gradient: make([]float64, n)}
	w.full, w.cheap = s.f.full()
	var err error
	if w.value, w.noise, err = s.evaluate(ctx, w.x, w.full); err != nil {
		s.res.Status, s.res.Failure = Failed, err
		if ctx.Err() != nil {
			s.res.Status = Stopped
		}
		return nil, startError(err)
	}
	s.f.accept()
	w.first = w.value
	return w, nil
}

// run searches from x0.
func (s *search) run(ctx context.Context, x0 []float64) (Result, error) {
	w, err := s.begin(ctx, x0)
	if err != nil {
		return s.res, err
	}
	for {
		if status, ended := s.ended(w); ended {
			return s.end(w, status), nil
		}
		s.res.Iterations++
		s.model(w)
		for made := again; made == again; {
			var status Status
			if made, status = s.try(ctx, w); made == over {
				return s.end(w, status), nil
			}
		}
	}
}

// end returns the result at the current point.
func (s *search) end(w *walk, status Status) Result {
	s.res.Value, s.res.Noise, s.res.Status = w.value, w.noise, status
	copy(s.res.Gradient, s.f.slopes(false))
	s.res.Projected = s.projected(w.x, s.res.Gradient)
	if status == Stuck {
		s.res.Failure = w.failure
	}
	for i, x := range w.x {
		switch lo, hi := s.b.limits(i); {
		case lo == hi:
		case x == lo:
			s.res.AtBound[i] = -1
		case x == hi:
			s.res.AtBound[i] = 1
		}
	}
	return s.res
}

// ended tells of the current point, and whether the search ends there.
func (s *search) ended(w *walk) (Status, bool) {
	projected := s.projected(w.x, s.f.slopes(false))
	if s.o.Progress != nil {
		s.o.Progress(Progress{
			X: w.x, Value: w.value, Projected: projected, Reduction: s.res.Reduction,
			Iterations: s.res.Iterations, Evaluations: s.res.Evaluations,
		})
	}
	limit := s.o.Iterations
	if limit == 0 {
		limit = 1000
	}
	switch {
	case projected <= s.o.Gradient:
		return ByGradient, true
	case isUnbounded(w.first, w.value):
		return Unbounded, true
	case w.still == 12: // models promise what is not there
		return ByNoise, true
	}
	return Iterations, s.res.Iterations >= limit
}

// model makes that of the current point.
func (s *search) model(w *walk) {
	s.f.measure(w.d)
	for i, g := range s.f.slopes(false) {
		lo, hi := s.b.limits(i)
		w.face.slope[i] = g / w.d[i]
		w.face.lo[i], w.face.hi[i] = float64((lo-w.x[i])*w.d[i]), float64((hi-w.x[i])*w.d[i])
	}
	w.face.q = s.f.model(w.d)
	if w.radius == 0 {
		for i, v := range s.sizes {
			w.z[i] = float64(v * w.d[i])
		}
		w.radius = float64(s.radius * norm(w.z))
	}
}

// place sets the point on trial to that after the step, and reports whether it is another one, and whether no variable
// has moved by more than the least part of its size.
func (s *search) place(w *walk) (moved, short bool) {
	short = true
	for i, x := range w.x {
		switch z := w.z[i]; {
		case z == w.face.lo[i] && z != 0:
			w.trial[i], _ = s.b.limits(i)
		case z == w.face.hi[i] && z != 0:
			_, w.trial[i] = s.b.limits(i)
		default:
			w.trial[i] = s.b.clip(i, x+z/w.d[i])
		}
		moved = moved || w.trial[i] != x
		short = short && math.Abs(w.trial[i]-x) <= w.least*s.size(i, x)
	}
	return moved, short
}

// expect says whether a step that promises so much is to be tried. bounded tells that the radius bounds it, and closing
// that it is one for digits that values do not tell.
func (s *search) expect(ctx context.Context, w *walk, promised float64, bounded bool) (closing bool, status Status,
	ended bool,
) {
	moved, short := s.place(w)
	quiet := promised <= w.noise // the model promises nothing that could be noticed
	switch {
	case promised != promised || math.IsInf(promised, 0):
		return false, Unbounded, true
	case !(promised > 0) || !moved:
		return false, ByNoise, true
	case short:
		if bounded && promised > w.noise+float64(100*epsilon*math.Sqrt(math.Abs(w.value)*math.Abs(w.first))) {
			return false, Stuck, true
		}
		return false, ByStep, true
	}
	if !bounded && promised <= s.o.Promise {
		return true, ByNoise, true
	}
	if quiet && !bounded {
		// The last digits cost little: six more of the value, which are three more of the variables. Values do not see
		// them, but what the next model promises does.
		if w.polish++; w.polish > 30 || promised <= 1e-7*w.noise || promised > 0.9*w.last {
			return true, ByNoise, true
		}
		w.last = promised
	}
	switch {
	case ctx.Err() != nil:
		return false, Stopped, true
	case s.o.Evaluations > 0 && s.res.Evaluations >= s.o.Evaluations:
		return false, Evaluations, true
	}
	return quiet && !bounded, 0, false
}

// try tries a step within the radius.
func (s *search) try(ctx context.Context, w *walk) (move, Status) {
	promised, bounded := w.face.step(w.z, w.radius)
	promised = -promised
	s.res.Reduction = promised
	closing, status, ended := s.expect(ctx, w, promised, bounded)
	if ended {
		return over, status
	}
	length, want := norm(w.z), Values
	if w.eager || promised <= w.noise || w.cheap {
		want = w.full
	}
	value, noise, err := s.evaluate(ctx, w.trial, want)
	if err != nil {
		return s.failed(ctx, w, err, length)
	}
	gain, slack := s.f.gain(), 2*w.noise
	if closing {
		if gain < -slack {
			return over, ByNoise
		}
		return s.accept(w, value, noise)
	}
	ratio := (gain + slack) / (promised + slack)
	s.resize(w, ratio, gain, length, bounded)
	if w.eager = ratio > 0.25; ratio < 1e-4 {
		w.failure = nil
		return again, 0
	}
	if want < w.full {
		if _, _, err := s.evaluate(ctx, w.trial, w.full); err != nil {
			eager := w.eager
			made, status := s.failed(ctx, w, err, length)
			w.eager = eager
			return made, status
		}
	}
	if w.still++; math.Abs(gain) > w.noise {
		w.still = 0
	}
	return s.accept(w, value, noise)
}

// resize makes the radius that of the next step.
func (s *search) resize(w *walk, ratio, gain, length float64, bounded bool) {
	switch {
	case ratio < 0.25:
		factor := 0.5
		if gain < 0 { // where a parabola through value, slope and new value is least
			slope := dot(w.face.slope, w.z)
			factor = math.Max(0.1, math.Min(0.5*slope/(slope+gain), 0.5))
		}
		w.radius = float64(factor * math.Min(w.radius, length))
	case ratio > 0.75 && bounded:
		w.radius = math.Max(w.radius, 2*length)
	case ratio > 0.75:
		w.radius = math.Max(w.radius, length)
	}
}

// failed makes the next step shorter, as there is no value after this one.
func (s *search) failed(ctx context.Context, w *walk, err error, length float64) (move, Status) {
	if ctx.Err() != nil {
		return over, Stopped
	}
	w.failure, w.eager = err, false
	w.radius = float64(0.25 * math.Min(w.radius, length))
	return again, 0
}

// accept makes the point on trial the current one.
func (s *search) accept(w *walk, value, noise float64) (move, Status) {
	s.f.accept()
	copy(w.x, w.trial)
	w.value, w.noise = value, noise
	return accepted, 0
}
