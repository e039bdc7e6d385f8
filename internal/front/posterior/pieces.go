package posterior

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
)

// What takes long has pieces that depend on nothing but the problem, what all pieces of a part are given, and their
// numbers: searches, paths, populations, and chains from one iteration to another. Goroutines of this process make
// them, or a Backend does, with the same bits.

// Backend makes pieces somewhere else.
type Backend interface {
	// Draw makes all pieces of a job, in any order and as many at a time as it likes. It hands what each gives to made,
	// one at a time; lost says why nobody came to an end with it, "" where somebody did. Several goroutines may call
	// it. Draw ends early when ctx does.
	Draw(ctx context.Context, j *Job, made func(number int, result []byte, lost string) error) error
}

// Job is what pieces of a part depend on. It is plain data.
type Job struct {
	Model    ensemble.Source       `json:"model"`
	Set      []ensemble.Assignment `json:"set,omitempty"`
	Solver   string                `json:"solver,omitempty"`
	Sens     string                `json:"sens,omitempty"`
	Settings []odes.Setting        `json:"settings,omitempty"`
	Part     string                `json:"part"`
	Given    []byte                `json:"given"`
	Pieces   int                   `json:"pieces"` // how many there are
}

// Encode returns the job as JSON. The same job gives the same bytes.
func (j *Job) Encode() []byte {
	text, err := json.Marshal(j)
	if err != nil {
		panic("posterior: a job is plain data: " + err.Error())
	}
	return text
}

// DecodeJob reads what Encode wrote.
func DecodeJob(text []byte) (*Job, error) {
	j := new(Job)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // those of another version
	if err := d.Decode(j); err != nil {
		return nil, fmt.Errorf("these are no draws of this version of odes: %w", err)
	}
	return j, nil
}

// ID returns a name for the content of the job: the same for the same job, and for no other.
func (j *Job) ID() string {
	sum := sha256.Sum256(append([]byte("sample\n"), j.Encode()...))
	return hex.EncodeToString(sum[:16])
}

// Pieces are those of a job, ready to be made. Goroutines may share them.
type Pieces struct {
	p    *problem
	make func(ctx context.Context, e *evaluator, number int) ([]byte, error)
}

// Open compiles the model of a job and checks all that the job says.
func (j *Job) Open() (*Pieces, error) {
	m, err := j.Model.Parse()
	if err != nil {
		return nil, err
	}
	o := Options{Workers: 1}
	o.Solver, o.Sens, o.Settings = j.Solver, j.Sens, j.Settings
	for _, a := range j.Set {
		o.Set = append(o.Set, a.Odes())
	}
	open, ok := parts[j.Part]
	if !ok {
		return nil, fmt.Errorf("the job has pieces of no kind that this version of odes knows: %s", j.Part)
	}
	w := &Pieces{}
	if w.p, err = newProblem(context.Background(), m, o); err != nil {
		return nil, err
	}
	w.make, err = open(w.p, j.Given)
	return w, err
}

// Make makes a piece. The error is that of ctx, or says what is wrong with the model.
func (w *Pieces) Make(ctx context.Context, number int) (result []byte, err error) {
	e, err := w.p.borrow()
	if err != nil {
		return nil, err
	}
	err = guarded(func() error {
		result, err = w.make(ctx, e, number)
		return err
	})
	if err == nil {
		w.p.giveBack(e)
		err = ctx.Err()
	}
	return result, err
}

// part is a kind of pieces. G is what all of them are given, and R what comes of one: both can be encoded by gob.
type part[G, R any] struct {
	name  string
	parts int // of the work that a piece is, which tells of all but the last; 0 for one
	// ready, if set, prepares a problem that knows nothing but the model.
	ready func(given *G, p *problem) error
	make  func(given *G, p *problem, ctx context.Context, e *evaluator, number int) (R, error)
}

// opener prepares what makes pieces.
type opener func(p *problem, given []byte) (func(ctx context.Context, e *evaluator, number int) ([]byte, error), error)

// parts are all that a Backend makes.
var parts = map[string]opener{
	searches.name: searches.open, paths.name: paths.open, chainSpans.name: chainSpans.open,
	crowds.name: crowds.open,
}

func (t part[G, R]) open(p *problem, text []byte) (
	func(ctx context.Context, e *evaluator, number int) ([]byte, error), error,
) {
	given := new(G)
	err := gob.NewDecoder(bytes.NewReader(text)).Decode(given)
	if err == nil && t.ready != nil {
		err = t.ready(given, p)
	}
	return func(ctx context.Context, e *evaluator, number int) ([]byte, error) {
		r, err := t.make(given, p, ctx, e, number)
		if err != nil {
			return nil, err
		}
		return encoded(&r)
	}, err
}

func encoded(x any) ([]byte, error) {
	var text bytes.Buffer
	err := gob.NewEncoder(&text).Encode(x)
	return text.Bytes(), err
}

// all makes n pieces, and returns what each gives. Each is told of.
func (t part[G, R]) all(ctx context.Context, p *problem, given *G, n int) ([]R, error) {
	if p.opts.Backend != nil {
		return t.elsewhere(ctx, p, given, n, func(*R) { p.told.step(max(1, t.parts), 0) })
	}
	list := make([]R, n)
	err := p.each(n, func(e *evaluator, i int) (err error) {
		list[i], err = t.make(given, p, ctx, e, i)
		p.told.step(1, 0)
		return err
	})
	return list, err
}

// elsewhere lets the backend make them.
func (t part[G, R]) elsewhere(ctx context.Context, p *problem, given *G, n int, told func(*R)) ([]R, error) {
	if n == 0 {
		return nil, nil
	}
	o := p.asked
	j := &Job{
		Model: o.Source, Set: ensemble.Assignments(o.Set), Solver: o.Solver, Sens: o.Sens, Settings: o.Settings,
		Part: t.name, Pieces: n,
	}
	var err error
	if j.Given, err = encoded(given); err != nil {
		return nil, err
	}
	list, have, missing := make([]R, n), make([]bool, n), n
	var mu sync.Mutex
	err = p.opts.Backend.Draw(ctx, j, func(i int, result []byte, lost string) error {
		if lost != "" {
			return errors.New(lost)
		}
		mu.Lock()
		defer mu.Unlock()
		if have[i] { // it comes twice
			return nil
		}
		if err := gob.NewDecoder(bytes.NewReader(result)).Decode(&list[i]); err != nil {
			return fmt.Errorf("the result of piece %d of %s is none: %w", i, t.name, err)
		}
		have[i] = true
		missing--
		told(&list[i])
		return nil
	})
	switch {
	case missing == 0:
		return list, nil
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err == nil:
		return nil, fmt.Errorf("%d of %d pieces (%s) were never made", missing, n, t.name)
	}
	return list, err
}

// place is a Mode as pieces are given it, and as searches find it.
type place struct {
	Q, Scale     []float64
	LogP, Weight float64
}

func placeOf(m *Mode) *place {
	if m == nil {
		return nil
	}
	return &place{m.q, m.scale, m.LogP, m.Weight}
}

func (x *place) mode() *Mode {
	if x == nil {
		return nil
	}
	return &Mode{q: x.Q, scale: x.Scale, LogP: x.LogP, Weight: x.Weight, Found: 1}
}

func placesOf(modes []Mode) (list []place) {
	for i := range modes {
		list = append(list, *placeOf(&modes[i]))
	}
	return list
}

// known is a result that knows of modes alone.
func known(s *odes.SampleSettings, list []place) *Result {
	r := &Result{Settings: *s}
	for i := range list {
		r.Modes = append(r.Modes, *list[i].mode())
	}
	return r
}
