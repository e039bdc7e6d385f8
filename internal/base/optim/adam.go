package optim

import (
	"context"
	"math"
	"slices"
)

// TrainingProblem is a sum over data to be made small within bounds, of which a step looks at a part.
type TrainingProblem struct {
	Variables int
	Bounds    Bounds
	// Steps is how many of an epoch there are: so many parts the data have.
	Steps int
	// Slope sets g to the gradient at x of what a part of an epoch makes of the objective, and returns that. See
	// Problem for errors.
	Slope func(ctx context.Context, x []float64, epoch, part int, g []float64) (value float64, err error)
	// Whole returns the objective at x, of all data. It is not asked for where Steps is 1 but after the last one.
	Whole func(ctx context.Context, x []float64) (value float64, err error)
}

// TrainingOptions say how steps are made.
type TrainingOptions struct {
	// Rate returns how far a step of an epoch moves a variable, about, in its size.
	Rate   func(epoch int) float64
	Epochs int
	Scale  []float64 // sizes; nil: 1
	// From, if not nil, is where the training goes on: one of those that Kept was called with, of the same problem and
	// options. It then goes on to the same bits.
	From *Training
	// Kept, if set, is called at the start of each epoch but the first, and where the training is stopped. What it is
	// called with may be kept.
	Kept func(Training)
	// Progress is called after every epoch. Iterations of it are epochs.
	Progress func(Progress)
}

// Training is how far a training has come: at the start of an epoch.
type Training struct {
	Epoch    int
	X        []float64 // where it is
	M, V     []float64 // means of gradients and of their squares, each of variables in their sizes
	PowM     float64   // the factor of each mean, to the number of steps that were made
	PowV     float64
	Slowed   int       // how often its rate was halved
	Best     []float64 // the best point so far; nil: there is none
	Value    float64   // there
	Failures int       // of evaluations
	Counted  int       // evaluations
}

// between is after how many epochs the whole objective is asked for, where steps look at parts of it.
const between = 10

// trainer is a training that goes on.
type trainer struct {
	p     TrainingProblem
	o     TrainingOptions
	at    Training
	g, to []float64 // the gradient, and where a step begins
	cause error     // of the last failure
}

// Train makes a sum over data small by Adam, the method of D. P. Kingma and J. Ba (arXiv:1412.6980, Algorithm 1) with
// its constants. Bounds are kept by moving what is beyond them there. Where there is no value, the way to the point is
// made shorter; where that does not help, the training goes on from the best point with half the rate. The result is
// the best point at which the whole objective was known. Its status is Iterations, Stopped, or Stuck where rates of a
// thousandth lead to no value either. The error is one of the start.
func Train(ctx context.Context, p TrainingProblem, x0 []float64, o TrainingOptions) (Result, error) {
	n := p.Variables
	t := &trainer{p: p, o: o, g: make([]float64, n), to: make([]float64, n)}
	if o.From != nil {
		t.at = o.From.clone()
	} else {
		t.at = Training{X: make([]float64, n), M: make([]float64, n), V: make([]float64, n), PowM: 1, PowV: 1}
		for i := range x0 {
			t.at.X[i] = p.Bounds.clip(i, x0[i])
		}
	}
	copy(t.to, t.at.X)
	status, err := t.run(ctx)
	return t.result(status), err
}

func (t *Training) clone() Training {
	c := *t
	c.X, c.M, c.V = slices.Clone(t.X), slices.Clone(t.M), slices.Clone(t.V)
	c.Best = slices.Clone(t.Best)
	return c
}

// result is the best point.
func (t *trainer) result(status Status) Result {
	r := Result{
		X: t.at.Best, Value: t.at.Value, Status: status, Iterations: t.at.Epoch, Evaluations: t.at.Counted,
		Slopes: t.at.Counted, Failures: t.at.Failures,
	}
	if status == Stuck {
		r.Failure = t.cause
	}
	return r
}

// run makes the epochs that are left.
func (t *trainer) run(ctx context.Context) (Status, error) {
	if t.at.Best == nil { // a training begins where there is a value, like any search
		if err := t.look(ctx); err != nil {
			if ctx.Err() != nil {
				return Stopped, startError(err)
			}
			return Failed, startError(err)
		}
	}
	for t.at.Epoch < t.o.Epochs {
		begun := t.at.clone()
		value, status, ended := t.epoch(ctx)
		if status == Stopped {
			if t.o.Kept != nil {
				t.o.Kept(begun)
			}
			return Stopped, nil
		}
		if ended {
			return status, nil
		}
		t.at.Epoch++
		if t.at.Epoch == t.o.Epochs || t.p.Steps > 1 && t.at.Epoch%between == 0 {
			if err := t.look(ctx); err == nil {
				value = t.at.Value
			} else if ctx.Err() != nil {
				if t.o.Kept != nil {
					t.o.Kept(begun)
				}
				return Stopped, nil
			}
		}
		if t.o.Progress != nil {
			t.o.Progress(Progress{
				X: t.at.X, Value: value, Projected: t.steepest(), Iterations: t.at.Epoch, Evaluations: t.at.Counted,
			})
		}
		if t.o.Kept != nil && t.at.Epoch < t.o.Epochs {
			t.o.Kept(t.at.clone())
		}
	}
	return Iterations, nil
}

// look asks for the whole objective.
func (t *trainer) look(ctx context.Context) error {
	t.at.Counted++
	value, err := t.p.Whole(ctx, t.at.X)
	if err == nil && value-value != 0 {
		err = errNotFinite
	}
	if err != nil {
		if ctx.Err() == nil {
			t.at.Failures++
		}
		return err
	}
	t.note(value)
	return nil
}

// note keeps the point if it is the best so far.
func (t *trainer) note(value float64) {
	if t.at.Best == nil || value < t.at.Value {
		t.at.Best, t.at.Value = slices.Clone(t.at.X), value
	}
}

// size is that of variable i.
func (t *trainer) size(i int) float64 {
	if t.o.Scale == nil {
		return 1
	}
	return t.o.Scale[i]
}

// steepest is the largest derivative of the last step, times the size of its variable.
func (t *trainer) steepest() float64 {
	most := 0.0
	for i, v := range t.g {
		most = math.Max(most, math.Abs(float64(v*t.size(i))))
	}
	return most
}

// epoch makes the steps of one. value is the mean of what they looked at.
func (t *trainer) epoch(ctx context.Context) (value float64, status Status, ended bool) {
	for part := range t.p.Steps {
		v, status, ended := t.slope(ctx, part)
		if ended {
			return 0, status, true
		}
		value += v / float64(t.p.Steps)
		if t.p.Steps == 1 {
			t.note(v)
		}
		t.step()
	}
	return value, Iterations, false
}

// slope evaluates a part where the training is, or nearer to where it came from.
func (t *trainer) slope(ctx context.Context, part int) (value float64, status Status, ended bool) {
	const (
		shorter = 8  // times
		slower  = 10 // times
	)
	for range slower {
		for range shorter {
			t.at.Counted++
			v, err := t.p.Slope(ctx, t.at.X, t.at.Epoch, part, t.g)
			if err == nil && (v-v != 0 || !finite(t.g)) {
				err = errNotFinite
			}
			if err == nil {
				return v, 0, false
			}
			if ctx.Err() != nil {
				return 0, Stopped, true
			}
			t.at.Failures++
			t.cause = err
			for i, from := range t.to {
				t.at.X[i] = from + float64(0.25*(t.at.X[i]-from))
			}
		}
		copy(t.at.X, t.at.Best)
		copy(t.to, t.at.Best)
		clear(t.at.M)
		clear(t.at.V)
		t.at.PowM, t.at.PowV = 1, 1
		t.at.Slowed++
	}
	return 0, Stuck, true
}

// step moves the point by the last gradient.
func (t *trainer) step() {
	const (
		first, second = 0.9, 0.999
		tiny          = 1e-8
	)
	t.at.PowM *= first
	t.at.PowV *= second
	byM, byV := 1-t.at.PowM, 1-t.at.PowV
	rate := math.Ldexp(t.o.Rate(t.at.Epoch), -t.at.Slowed)
	copy(t.to, t.at.X)
	for i, g := range t.g {
		size := t.size(i)
		g *= size
		t.at.M[i] = float64(first*t.at.M[i]) + float64((1-first)*g)
		t.at.V[i] = float64(second*t.at.V[i]) + float64((1-second)*float64(g*g))
		d := float64(rate*(t.at.M[i]/byM)) / (math.Sqrt(t.at.V[i]/byV) + tiny)
		t.at.X[i] = t.p.Bounds.clip(i, t.at.X[i]-float64(d*size))
	}
}
