package fit

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
)

// Backend makes searches and refits somewhere else.
type Backend interface {
	// Make makes those of a job that have these numbers, in any order and as many at a time as it likes. It hands each
	// to made, one at a time. A Start without values stands for one that nobody came to an end with. Make ends early
	// when ctx does.
	Make(ctx context.Context, j *Job, numbers []int, made func(Start)) error
}

// Job is what the searches of a fit, or its refits, depend on. It is plain data.
type Job struct {
	Model    ensemble.Source       `json:"model"`
	Set      []ensemble.Assignment `json:"set,omitempty"`
	Solver   string                `json:"solver,omitempty"`
	Fit      string                `json:"fit,omitempty"`
	Settings []odes.Setting        `json:"settings,omitempty"`
	Starts   int                   `json:"starts,omitempty"` // as in Options
	// From is where refits begin, on the scale of the searches. Without it the pieces of the job are searches.
	From []ensemble.Real `json:"from,omitempty"`
	// Pieces is how many there are of them.
	Pieces int `json:"pieces"`
}

// job returns what the pieces depend on.
func (of pieces) job() *Job {
	o := of.p.asked
	return &Job{
		Model: o.Source, Set: ensemble.Assignments(o.Set), Solver: o.Solver, Fit: o.Fit, Settings: o.Settings,
		Starts: o.Starts, From: ensemble.Reals(of.from), Pieces: of.n,
	}
}

// Encode returns the job as JSON. The same job gives the same bytes.
func (j *Job) Encode() []byte {
	text, err := json.Marshal(j)
	if err != nil {
		panic("fit: a job is plain data: " + err.Error())
	}
	return text
}

// DecodeJob reads what Encode wrote.
func DecodeJob(text []byte) (*Job, error) {
	j := new(Job)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // those of another version
	if err := d.Decode(j); err != nil {
		return nil, fmt.Errorf("this is no fit of this version of odes: %w", err)
	}
	return j, nil
}

// ID returns a name for the content of the job: the same for the same job, and for no other.
func (j *Job) ID() string {
	sum := sha256.Sum256(append([]byte("fit\n"), j.Encode()...))
	return hex.EncodeToString(sum[:16])
}

// Pieces are the searches of a job, or its refits, ready to be made. Goroutines may share them.
type Pieces struct {
	p    *problem
	of   pieces
	once sync.Once
}

// Open compiles the model of a job and checks all that the job says.
func (j *Job) Open() (*Pieces, error) {
	m, err := j.Model.Parse()
	if err != nil {
		return nil, err
	}
	o := Options{Starts: j.Starts, Workers: 1}
	o.Solver, o.Fit, o.Settings = j.Solver, j.Fit, j.Settings
	for _, a := range j.Set {
		o.Set = append(o.Set, a.Odes())
	}
	w := &Pieces{}
	if w.p, err = newProblem(context.Background(), m, o); err != nil {
		return nil, err
	}
	if len(j.From) > 0 {
		w.of = w.p.refits(ensemble.Floats(j.From))
	} else if w.of, err = w.p.searches(); err != nil {
		return nil, err
	}
	if w.of.n != j.Pieces || j.From != nil && len(j.From) != len(w.p.coords) {
		return nil, fmt.Errorf("the job has %d searches of %d numbers, and the model says %d of %d", j.Pieces,
			len(j.From), w.of.n, len(w.p.coords))
	}
	return w, nil
}

// Make makes a piece. The error is that of ctx, or says that something is wrong for all of them.
func (w *Pieces) Make(ctx context.Context, number int) (s Start, err error) {
	w.once.Do(func() { w.p.calibrate(context.WithoutCancel(ctx)) }) // what it finds is for all pieces
	e, err := w.p.borrow()
	if err != nil {
		return s, err
	}
	defer func() {
		if r := recover(); r != nil { // the memory of e may be in any state, and is let go
			s, err = Lost(number, fmt.Sprintf("internal error: %v", r)), nil
		}
	}()
	s = w.of.piece(ctx, e, number)
	w.p.giveBack(e)
	return s, ctx.Err()
}

// Lost returns a search that came to no end, and why.
func Lost(number int, why string) Start {
	return Start{Number: number, Status: "failed", Why: why, Value: math.NaN(), Cluster: -1, lost: true}
}

// A fit has pieces of work that depend on nothing but the problem and their numbers: searches from one start each, and
// refits to rows drawn again. Goroutines of this process make them, or a Backend does, with the same bits.

// pieces are all that there are of a kind.
type pieces struct {
	p *problem
	n int
	// from is where all refits begin, as coordinates; nil for searches, each of which begins at its own point.
	from   []float64
	points [][]float64
}

// searches returns the pieces that are searches.
func (p *problem) searches() (pieces, error) {
	points, err := p.points()
	return pieces{p: p, n: len(points), points: points}, err
}

// refits returns the pieces that are refits from x.
func (p *problem) refits(x []float64) pieces {
	return pieces{p: p, n: p.settings.Bootstrap, from: x}
}

// piece makes one of them.
func (of pieces) piece(ctx context.Context, e *evaluator, number int) Start {
	if of.from != nil {
		return of.p.refit(ctx, e, of.from, number)
	}
	if by := (coach{of.p}); by.trains() {
		return by.trainedFrom(ctx, e, number, of.points[number])
	}
	if of.p.settings.Algorithm == saem {
		return stochastic{of.p}.approached(ctx, e, number, of.points[number])
	}
	return of.p.from(ctx, e, number, of.points[number])
}

// make makes those with some numbers, as many at a time as there are workers, and hands each to made, one at a time.
func (of pieces) make(ctx context.Context, numbers []int, made func(Start)) error {
	if len(numbers) == 0 {
		return nil
	}
	if of.p.opts.Backend != nil {
		return of.elsewhere(ctx, numbers, made)
	}
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(of.p.opts.workers(), len(numbers)) {
		wait.Go(func() {
			e, err := of.p.borrow()
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				for range next { //nolint:revive // the others are let go
				}
				return
			}
			defer of.p.giveBack(e)
			for i := range next {
				s := of.piece(ctx, e, i)
				mu.Lock()
				made(s)
				mu.Unlock()
			}
		})
	}
	for _, i := range numbers {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	return failed
}

// elsewhere lets the backend make them. When ctx ends, those that came until then are what there is.
func (of pieces) elsewhere(ctx context.Context, numbers []int, made func(Start)) error {
	missing := map[int]bool{}
	for _, i := range numbers {
		missing[i] = true
	}
	err := of.p.opts.Backend.Make(ctx, of.job(), numbers, func(s Start) {
		if !missing[s.Number] { // it comes twice, or was made before
			return
		}
		delete(missing, s.Number)
		if s.From == nil && of.points != nil { // nobody came to an end with it
			s.From = of.p.values(of.points[s.Number])
		}
		made(s)
	})
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil && len(missing) > 0:
		return errors.New("some searches were never made")
	}
	return err
}
