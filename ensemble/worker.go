package ensemble

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path"
	"runtime"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Worker computes chunks of a problem. It keeps programs and memory from member to member. It belongs to one goroutine.
type Worker struct {
	p      *Problem
	runner *odes.Runner // nil until a member has made one
	// simulator makes members with outputs or comparisons; nil until a member has made one.
	simulator *odes.Simulator
	lanes     *odes.Lanes // nil where members are run one by one
	tried     bool        // whether they can be run side by side is known
	judged    judgement   // of the last member, where members are compared
}

// Worker returns a new worker.
func (p *Problem) Worker() *Worker { return &Worker{p: p} }

// CodeInternal is the code of a Failure that is a bug of odes.
const CodeInternal = "internal"

// Compute computes a chunk. Members that fail are told in the chunk. The error is that of the context, or says that
// something is wrong for all members.
func (w *Worker) Compute(ctx context.Context, chunk int) (*Chunk, error) {
	from, to := w.p.Members(chunk)
	n, width := to-from, w.p.Table.Width()
	c := &Chunk{
		Index: chunk, First: from, Status: make([]Status, n), Steps: make([]int32, n), Rows: make([]float64, n*width),
	}
	fault, err := w.sideBySide(ctx, c)
	if err != nil {
		return nil, err
	}
	for i := range n {
		if c.Steps[i] > 0 {
			continue
		}
		row := c.Rows[i*width : (i+1)*width]
		w.judged = judgement{}
		status, steps, err := w.member(ctx, from+i, row)
		if err != nil {
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			failure, ok := failureOf(from+i, err)
			if !ok {
				return nil, err
			}
			status = Failed
			c.Failures = append(c.Failures, failure)
			for k := len(w.p.Table.Params); k < width; k++ {
				row[k] = math.NaN()
			}
		}
		c.Status[i], c.Steps[i] = status, int32(min(steps, math.MaxInt32))
		if d := w.judged.doubt(from+i, len(w.p.Table.Params)); d != nil && status != Failed {
			if c.Doubts = append(c.Doubts, *d); len(d.Off) == 0 {
				c.Status[i] = Partial
			}
		}
	}
	internal := func(f Failure) bool { return f.Code == CodeInternal }
	if fault != nil && !slices.ContainsFunc(c.Failures, internal) { // else the fault is told as that of a member
		return nil, fmt.Errorf("members %d to %d side by side: %w; please report it, with the model", from, to-1, fault)
	}
	return c, nil
}

// fewMembers is how many members are run one by one: it takes time to make what runs them side by side.
const fewMembers = 256

// sideBySide computes the members of c that can be run side by side. Of the others Steps stays 0. fault is the error of
// a panic on the way.
func (w *Worker) sideBySide(ctx context.Context, c *Chunk) (fault, err error) {
	if w.p.trust == All || w.p.warm || w.p.Table.Members < fewMembers {
		return nil, nil
	}
	if !w.tried {
		w.tried = true
		opts := w.p.opts
		opts.Set = slices.Concat(opts.Set, w.p.Assign(c.First))
		if !w.p.Job.Gradient {
			opts.Wrt = []string{}
			opts.Times = w.p.Table.Times
		}
		if w.lanes, err = w.p.Model.Lanes(opts.While(ctx), w.p.Job.Gradient); err != nil {
			w.lanes = nil
			return nil, nil // the first member tells
		}
	}
	if w.lanes == nil {
		return nil, nil
	}
	steps, fault := w.inLanes(ctx, c)
	alone := 0
	for i, n := range steps {
		if c.Steps[i] = int32(min(max(n, 0), math.MaxInt32)); n <= 0 {
			alone++
		}
	}
	if fault != nil || 2*alone > len(steps) { // they are not made for this model
		w.lanes = nil
	}
	return fault, ctx.Err()
}

// inLanes runs the members of c in lanes. It returns how many steps they took, and the error of a panic: the members
// without steps are then run one by one, where a panic is a failure of one of them.
func (w *Worker) inLanes(ctx context.Context, c *Chunk) (steps []int, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = panicked(r)
		}
	}()
	width, params := w.p.Table.Width(), len(w.p.Table.Params)
	steps = make([]int, len(c.Status))
	w.lanes.Outputs = func(i int, s *odes.Solution) {
		w.copySeries(c.Rows[i*width+params+len(w.p.Table.Values):(i+1)*width], s)
	}
	w.lanes.Run(ctx, len(steps), func(i int) []odes.Assignment {
		set := w.p.Assign(c.First + i)
		for k, a := range set {
			c.Rows[i*width+k] = a.Values[0]
		}
		return set
	}, func(i int) []float64 {
		return c.Rows[i*width+params : (i+1)*width]
	}, steps)
	return steps, nil
}

// CodeAside is the code of a Failure of a chunk that no worker came to an end with.
const CodeAside = "set-aside"

// Aside returns a chunk of which all members failed, because it was set aside.
func (p *Problem) Aside(chunk int, why string) *Chunk {
	from, to := p.Members(chunk)
	n, width := to-from, p.Table.Width()
	c := &Chunk{
		Index: chunk, First: from, Status: make([]Status, n), Steps: make([]int32, n), Rows: make([]float64, n*width),
	}
	for i := range c.Rows {
		c.Rows[i] = math.NaN()
	}
	for i := range n {
		c.Status[i] = Failed
		for k, a := range p.Assign(from + i) {
			c.Rows[i*width+k] = a.Values[0]
		}
		c.Failures = append(c.Failures, Failure{from + i, CodeAside, why})
	}
	return c
}

// errPanic marks a panic.
var errPanic = errors.New("internal error")

// panicked returns the error of a panic, with the function and the line where it began. It is called by the deferred
// function that has recovered r.
func panicked(r any) error {
	var pcs [64]uintptr
	frames := runtime.CallersFrames(pcs[:runtime.Callers(1, pcs[:])])
	began, at := false, "?"
	for {
		f, more := frames.Next()
		if library := strings.HasPrefix(f.Function, "runtime."); began && !library {
			at = fmt.Sprintf("%s, %s:%d", path.Base(f.Function), path.Base(f.File), f.Line)
			break
		} else if !more {
			break
		}
		began = began || f.Function == "runtime.gopanic"
	}
	return fmt.Errorf("%w: %v (%s)", errPanic, r, at)
}

// failureOf makes a failure of a member of an error that is one. All others concern every member.
func failureOf(member int, err error) (Failure, bool) {
	f := Failure{Member: member, Message: err.Error()}
	list := diag.Of(err)
	if at := slices.IndexFunc(list, func(d diag.Diagnostic) bool { return d.Level == diag.Error }); at >= 0 {
		f.Code, f.Message = string(list[at].Code), list[at].Message
	}
	var run *odes.RunError
	switch {
	case errors.Is(err, errPanic):
		f.Code = CodeInternal
	case !errors.As(err, &run) && f.Code != string(odes.CodeAssert) && f.Code != string(odes.CodeInvariant) &&
		f.Code != string(odes.CodeMemory):
		return f, false
	}
	return f, true
}

// member computes one member and fills its row.
func (w *Worker) member(ctx context.Context, i int, row []float64) (status Status, steps int, err error) {
	defer func() {
		if r := recover(); r != nil {
			w.runner, w.simulator = nil, nil // whose memory may be in any state
			err = panicked(r)
		}
	}()
	set := w.p.Assign(i)
	for k, a := range set {
		row[k] = a.Values[0]
	}
	if w.runner != nil && w.p.begins(i) {
		w.runner.Chain()
	}
	rest := row[len(set):]
	if w.p.Job.Gradient || len(w.p.Table.Times) == 0 && w.p.trust != All {
		return w.kept(ctx, set, rest)
	}
	if w.simulator == nil {
		opts := w.p.opts
		opts.Set = slices.Concat(opts.Set, set)
		if w.simulator, err = w.p.Model.Simulator(opts.While(ctx)); err != nil {
			return Failed, 0, err
		}
	} else if err := w.simulator.Set(set...); err != nil {
		return Failed, 0, err
	}
	times := w.p.Table.Times
	if times == nil {
		times = []float64{} // none, rather than every step
	}
	s, err := w.simulator.Solve(ctx, times)
	if err != nil {
		return Failed, 0, err
	}
	w.copyValues(rest, s.Values)
	w.copySeries(rest[len(s.Values):], s)
	if w.p.trust == All {
		w.judged = judgement{values: s.Values, outputs: s.Outputs, wanted: w.p.Job.Outputs, warnings: s.Warnings}
		if len(w.p.Table.Times) == 0 {
			w.judged.outputs = nil
		}
	}
	return statusOf(s.Status), s.Stats.Steps, nil
}

func statusOf(text string) Status {
	if text == "ok" {
		return OK
	}
	return Partial
}

func (w *Worker) copyValues(to []float64, values []odes.Value) {
	for k, v := range values {
		to[k] = v.Value
	}
}

// kept computes values, and derivatives where they are wanted, with what is kept from member to member.
func (w *Worker) kept(ctx context.Context, set []odes.Assignment, row []float64) (Status, int, error) {
	if w.runner == nil {
		opts := w.p.opts
		opts.Set = slices.Concat(opts.Set, set)
		if !w.p.Job.Gradient {
			opts.Wrt = []string{}
		}
		r, err := w.p.Model.Prepare(opts.While(ctx))
		if err != nil {
			return Failed, 0, err
		}
		w.runner = r
		r.Chain()
	} else if err := w.runner.Set(set...); err != nil {
		return Failed, 0, err
	}
	if !w.p.Job.Gradient {
		steps, err := w.runner.Values(ctx, row)
		if err != nil {
			return Failed, 0, err
		}
		status := OK
		for _, x := range row {
			if x-x != 0 {
				status = Partial
			}
		}
		return status, steps, nil
	}
	s, err := w.runner.Sensitivities(ctx)
	if err != nil {
		return Failed, 0, err
	}
	if w.p.trust == All {
		w.judged = judgement{
			values: s.Values, trusts: s.Trusts, gradient: s.Gradient, errors: s.Errors, warnings: s.Warnings,
		}
	}
	w.copyValues(row, s.Values)
	gradient := row[len(s.Values):]
	copy(gradient, s.Gradient)
	for k, v := range s.Values {
		if v.Value-v.Value == 0 {
			continue
		}
		for c := range w.p.Table.Columns { // What has no value has no derivatives, and statistics leave it out.
			gradient[k*w.p.Table.Columns+c] = math.NaN()
		}
	}
	return statusOf(s.Status), s.Stats.Steps, nil
}

// copySeries writes outputs at the wanted times. Where a run has two values at a time, at a jump, it takes the later
// one; after the end of a run that stopped there are none.
func (w *Worker) copySeries(row []float64, s *odes.Solution) {
	t := &w.p.Table
	n := len(t.Series)
	for k := range row {
		row[k] = math.NaN()
	}
	at := 0
	for k, time := range s.T {
		for at+1 < len(t.Times) && t.Times[at] < time {
			at++
		}
		if t.Times[at] != time {
			continue
		}
		col := 0
		for _, o := range s.Outputs {
			if w.p.Job.Outputs != nil && !slices.Contains(w.p.Job.Outputs, o.Name) {
				continue
			}
			size := len(o.Values) / len(s.T)
			copy(row[at*n+col:], o.Values[k*size:(k+1)*size])
			col += size
		}
	}
}
