package serve

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/engine/redose"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/lang/diag"
)

// request is the head of a request.
type request struct {
	Op string `json:"op"`

	// open
	Text       string `json:"text"`
	Name       string `json:"name"`
	Folder     string `json:"folder"`
	Experiment string `json:"experiment"`
	Doses      *struct {
		Name string `json:"name"`
		Text string `json:"text"`
	} `json:"doses"`

	// all that compute; close names a model or a job
	Model    uint32      `json:"model"`
	Job      uint32      `json:"job"` // of again
	Set      []setting   `json:"set"`
	Of       []string    `json:"of"`
	Wrt      []string    `json:"wrt"`
	Solver   string      `json:"solver"`
	Sens     string      `json:"sens"`
	Settings [][2]string `json:"settings"`
	Times    *int        `json:"times"` // how many; nil: the ends of steps
	Progress bool        `json:"progress"`

	// sens
	Direction  int  `json:"direction"`   // its length; 0 for none
	EventTimes bool `json:"event_times"` // differentiate the times of events

	// a table of values
	Columns []string `json:"columns"` // what its rows set
	Rows    int      `json:"rows"`

	own analysis.Values // what the row of an analysis has keys for; "": what would stand behind the model
}

// Keys of requests that compute.
var (
	keysOfRuns = []string{"model", "set", "of", "solver", "settings", "progress"}
	keysOfSens = append([]string{"wrt", "sens", "direction", "event_times"}, keysOfRuns...)
)

// setting is what an assignment sets to the next values of a request.
type setting struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Count int    `json:"count"`
}

// answer is a result: what its head says, and its arrays. The head lists the arrays as well.
type answer struct {
	head   any
	arrays []array
	done   func() // called once the answer is written; may be nil
}

// op is what a request can ask for.
type op struct {
	name string
	keys []string // that its head may have
	do   func(s *server, ctx context.Context, r *request, values []float64, tell func(odes.Progress)) (answer, error)
	row  *analysis.Row // of an analysis; nil for others
}

// ops are what a request can ask for; docs/serve.md describes them.
var ops []op

func init() { // since the table and its rows refer to each other
	ops = []op{
		{name: "hello", do: hello},
		{name: "open", keys: []string{"text", "name", "folder", "experiment", "doses"}, do: open},
		{name: "sens", keys: keysOfSens, do: first},
		{name: "run", keys: append([]string{"times"}, keysOfRuns...), do: first},
		{name: "again", keys: []string{"job", "progress"}, do: again},
		{name: "close", keys: []string{"model", "job"}, do: forget},
	}
	for _, a := range analysis.Rows() {
		ops = append(ops, opOf(a))
	}
}

// requestError is a request that cannot be understood or that asks for what there is not. Its kind is a word for
// programs.
type requestError struct {
	kind string
	text string
}

func (e *requestError) Error() string { return e.text }

// badRequest says that a client is wrong.
func badRequest(format string, args ...any) error {
	return &requestError{"request", fmt.Sprintf(format, args...)}
}

// gone says that a model or a job is not known, or no longer.
func gone(what string, id uint32) error {
	return &requestError{"gone", fmt.Sprintf("there is no %s %d, or no longer", what, id)}
}

// parse reads the head of a request.
func parse(head []byte) (*request, *op, error) {
	wrong := func(err error) (*request, *op, error) {
		return nil, nil, badRequest("cannot read the head of a request: %v", err)
	}
	var given map[string]json.RawMessage
	var r request
	var name string
	d := json.NewDecoder(bytes.NewReader(head))
	if err := d.Decode(&given); err != nil {
		return wrong(err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, badRequest("something follows the head of a request")
	}
	if err := json.Unmarshal(given["op"], &name); err != nil && given["op"] != nil {
		return wrong(err)
	}
	at := slices.IndexFunc(ops, func(o op) bool { return o.name == name })
	if at < 0 {
		return nil, nil, badRequest("there is no op %q", name)
	}
	for _, key := range slices.Sorted(maps.Keys(given)) { // what is not understood must not be left out
		if key != "op" && !slices.Contains(ops[at].keys, key) {
			return nil, nil, badRequest("the op %q has no key %q", name, key)
		}
	}
	if row := ops[at].row; row != nil {
		values, err := own(row, given)
		if err != nil {
			return nil, nil, err
		}
		r.own = values
		if head, err = json.Marshal(given); err != nil {
			return wrong(err)
		}
	}
	d = json.NewDecoder(bytes.NewReader(head))
	d.DisallowUnknownFields()
	if err := d.Decode(&r); err != nil {
		return wrong(err)
	}
	return &r, &ops[at], nil
}

// hello says who answers.
func hello(*server, context.Context, *request, []float64, func(odes.Progress)) (answer, error) {
	return answer{head: map[string]any{
		"protocol": Version, "odes": odes.Version, "backend": odes.Backend(), "most": maxRequests,
	}}, nil
}

// forget drops a model or a job.
func forget(s *server, _ context.Context, r *request, _ []float64, _ func(odes.Progress)) (answer, error) {
	s.store.remove(r.Model)
	s.store.remove(r.Job)
	return answer{head: struct{}{}}, nil
}

// modelError is a text that is no model.
type modelError struct{ error }

func (e modelError) Unwrap() error { return e.error }

// open compiles a model.
func open(s *server, ctx context.Context, r *request, _ []float64, _ func(odes.Progress)) (answer, error) {
	if len(r.Text) > input.MaxText {
		return answer{}, badRequest("the text has %s, more than %s", diag.Bytes(float64(len(r.Text))),
			diag.Bytes(input.MaxText))
	}
	opts := odes.ParseOptions{Experiment: r.Experiment, Done: ctx.Done()}
	if r.Folder != "" {
		if !filepath.IsAbs(r.Folder) {
			return answer{}, badRequest("the folder %q is not absolute", r.Folder)
		}
		opts.Files = input.Folder(r.Folder, nil)
	}
	if d := r.Doses; d != nil {
		var err error
		if opts.Doses, err = redose.Table(d.Name, d.Text); err != nil {
			return answer{}, modelError{err}
		}
	}
	name := r.Name
	if name == "" {
		name = "model.ode"
	}
	m, err := odes.Parse(name, r.Text, opts)
	if ctx.Err() != nil {
		return answer{}, reason(ctx)
	}
	if err != nil {
		return answer{}, modelError{err}
	}
	out, err := described(m)
	if err != nil {
		return answer{}, err
	}
	out.head.(*modelHead).Model = s.store.add(entry{model: m})
	return out, nil
}

// job is what is computed of a model, again and again with other values.
type job struct {
	model  *odes.Model
	sens   bool // gradients; else a run
	opts   odes.Options
	counts counts

	mu   sync.Mutex
	idle []*ready
}

// ready is what computes a job: one of a Runner and a Simulator. It tells how far it is.
type ready struct {
	runner    *odes.Runner
	simulator *odes.Simulator
	tell      func(odes.Progress) // nil for nobody
}

// first computes something, and keeps how.
func first(
	s *server, ctx context.Context, r *request, values []float64, tell func(odes.Progress),
) (answer, error) {
	m, err := s.model(r)
	if err != nil {
		return answer{}, err
	}
	j := &job{model: m, sens: r.Op == "sens", counts: r.counts(), opts: r.options()}
	if r.Progress {
		j.opts.Progress = func(odes.Progress) {} // made anew for each run
	}
	out, err := j.do(ctx, values, tell, true)
	if err != nil {
		return answer{}, err
	}
	out.head.(*resultHead).Job = s.store.add(entry{job: j})
	return out, nil
}

// again computes with other values.
func again(
	s *server, ctx context.Context, r *request, values []float64, tell func(odes.Progress),
) (answer, error) {
	e := s.store.find(r.Job)
	if e == nil || e.job == nil {
		return answer{}, gone("job", r.Job)
	}
	return e.job.do(ctx, values, tell, false)
}

// model returns the model of a request.
func (s *server) model(r *request) (*odes.Model, error) {
	e := s.store.find(r.Model)
	if e == nil || e.model == nil {
		return nil, gone("model", r.Model)
	}
	return e.model, nil
}

// options returns what a request says of runs, but for numbers.
func (r *request) options() odes.Options {
	o := odes.Options{Solver: r.Solver, Sens: r.Sens, Of: r.Of, Wrt: r.Wrt, EventTimes: r.EventTimes}
	for _, s := range r.Settings {
		o.Settings = append(o.Settings, odes.Setting{Key: s[0], Value: s[1]})
	}
	return o
}

// counts say what the values of a request are, one after the other.
type counts struct {
	set       []setting
	direction int
	times     *int // nil: no times are said
	table     int
}

func (r *request) counts() counts {
	rows := r.Rows
	if rows < 0 || rows > maxValues {
		rows = maxValues + 1 // more than there are
	}
	return counts{r.Set, r.Direction, r.Times, rows * len(r.Columns)}
}

// given are the values of a request.
type given struct {
	set              []odes.Assignment
	direction, times []float64 // nil where none are said
	table            []float64
}

// cut cuts values into what they are.
func (c *counts) cut(values []float64) (g given, err error) {
	rest := values
	take := func(n int) (part []float64) {
		if n < 0 || n > len(rest) {
			err = badRequest("the request has %d values, fewer than it counts", len(values))
			return []float64{}
		}
		part, rest = rest[:n:n], rest[n:]
		return part
	}
	g.set = make([]odes.Assignment, len(c.set))
	for i, s := range c.set {
		g.set[i] = odes.Assignment{Name: s.Name, Unit: s.Unit, Values: take(s.Count)}
	}
	if c.direction != 0 {
		g.direction = take(c.direction)
	}
	if c.times != nil {
		if g.times = take(*c.times); g.times == nil {
			g.times = []float64{}
		}
	}
	g.table = take(c.table)
	if err == nil && len(rest) > 0 {
		err = badRequest("the request has %d values, more than it counts", len(values))
	}
	return g, err
}

// open returns the model that a request is about, and its values.
func (s *server) open(r *request, values []float64) (*odes.Model, given, error) {
	m, err := s.model(r)
	if err != nil {
		return nil, given{}, err
	}
	counts := r.counts()
	g, err := counts.cut(values)
	return m, g, err
}

// do computes once.
func (j *job) do(
	ctx context.Context, values []float64, tell func(odes.Progress), layout bool,
) (answer, error) {
	g, err := j.counts.cut(values)
	if err != nil {
		return answer{}, err
	}
	if err := ctx.Err(); err != nil { // what takes much memory is not made for nobody
		return answer{}, err
	}
	r, err := j.take(ctx, &g)
	if err != nil {
		return answer{}, err
	}
	r.tell = tell
	if !j.sens {
		defer j.give(r)
		s, err := r.simulator.Solve(ctx, g.times)
		if err != nil {
			return answer{}, err
		}
		return solution(s), nil
	}
	s, err := r.runner.Sensitivities(ctx)
	if err != nil {
		j.give(r)
		return answer{}, err
	}
	opts := j.opts
	opts.Set, opts.Direction = g.set, g.direction
	fit.AtMinimum(ctx, j.model, opts, s)
	out := sensitivities(s, layout)
	out.done = func() { j.give(r) } // what the answer shows belongs to the runner
	return out, nil
}

// take returns what computes with these values: one that is idle, or a new one.
func (j *job) take(ctx context.Context, g *given) (*ready, error) {
	var r *ready
	j.mu.Lock()
	if n := len(j.idle); n > 0 {
		r, j.idle = j.idle[n-1], j.idle[:n-1]
	}
	j.mu.Unlock()
	if r != nil {
		err := r.set(g)
		if err != nil {
			j.give(r)
		}
		return r, err
	}
	r = &ready{}
	opts := j.opts.While(ctx)
	opts.Set, opts.Direction = g.set, g.direction
	if opts.Progress != nil {
		opts.Progress = func(p odes.Progress) { r.tell(p) }
	}
	var err error
	if j.sens {
		r.runner, err = j.model.Prepare(opts)
	} else {
		r.simulator, err = j.model.Simulator(opts)
	}
	return r, err
}

// set gives r other values.
func (r *ready) set(g *given) error {
	if r.simulator != nil {
		return r.simulator.Set(g.set...)
	}
	if g.direction != nil {
		if err := r.runner.SetDirection(g.direction); err != nil {
			return err
		}
	}
	return r.runner.Set(g.set...)
}

// give keeps what computes for the next call.
func (j *job) give(r *ready) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.idle = append(j.idle, r)
}
