// Package playground answers the page of the site on which one tries models:
// a request in JSON, an answer in JSON. It runs in a browser, where there is
// neither a file nor a second thread, and works likewise on other machines,
// where its tests run. One page has one Bench, and one goroutine.
//
// It must not know how a page looks, or how requests reach it.
package playground

import (
	"context"
	"encoding/json"
	"fmt"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// How much of a result is shown.
const (
	mostSeries  = 24   // curves
	mostColumns = 200  // of a gradient
	mostParams  = 200  // that one can move
	mostEvents  = 200  // on the axis of time
	mostPoints  = 1500 // of a curve
	fewPoints   = 400  // of a curve: steps are divided where there are fewer
)

// Request is what a page asks for.
type Request struct {
	Op    string            `json:"op"` // "open" or "run"
	Text  string            `json:"text"`
	Files map[string]string `json:"files"` // that the text names
	// Experiment is the one to look at; "" for the run without the changes of any.
	Experiment string `json:"experiment"`
	// Set are the values that were moved, in the order of the params.
	Set []Moved `json:"set"`
	// Compare asks for a comparison with an independent run, which takes about as long again.
	Compare bool `json:"compare"`
}

// Moved is a param, or an element of one, with its value in the model's unit.
type Moved struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
}

// Bench keeps ready what the last request took. The zero value is ready to use.
type Bench struct {
	opened request // what model is of
	model  *odes.Model
	names  string // of the values that runs set
	fast   *odes.Runner
	course *odes.Simulator
}

// request is what a model depends on.
type request struct{ text, experiment, files string }

// Answer answers a request. It never fails: what is wrong is in the answer, as diagnostics.
func (b *Bench) Answer(asked []byte) (answer []byte) {
	var told any
	defer func() {
		if p := recover(); p != nil {
			*b = Bench{}
			told = failed(fmt.Errorf("internal error: %v; please report it with the model", p), "")
		}
		answer = written(told)
	}()
	var r Request
	if err := json.Unmarshal(asked, &r); err != nil {
		told = failed(fmt.Errorf("request: %w", err), "")
		return nil
	}
	told = b.answer(&r)
	return nil
}

func (b *Bench) answer(r *Request) any {
	if r.Op != "open" && r.Op != "run" {
		return failed(fmt.Errorf("request: no op %q", r.Op), "")
	}
	if err := b.open(r); err != nil {
		return failed(err, r.Text)
	}
	if r.Op == "open" {
		described, err := describe(b.model, r.Text)
		if err != nil {
			return failed(err, r.Text)
		}
		return described
	}
	told, err := b.run(r)
	if err != nil {
		return failed(err, r.Text)
	}
	return told
}

// open compiles the model of a request, unless it is that of the last one.
func (b *Bench) open(r *Request) error {
	files, err := json.Marshal(r.Files) // in the order of their names
	if err != nil {
		return err
	}
	asked := request{r.Text, r.Experiment, string(files)}
	if b.model != nil && asked == b.opened {
		return nil
	}
	*b = Bench{}
	model, err := odes.Parse(FileName, r.Text, odes.ParseOptions{Files: memory(r.Files), Experiment: r.Experiment})
	if err != nil {
		return err
	}
	b.model, b.opened = model, asked
	return nil
}

// FileName is what messages call the text of the page.
const FileName = "model.ode"

// options are those of runs with moved values.
func options(set []Moved) odes.Options {
	o := odes.Options{Threads: 1, Events: mostEvents}
	for _, m := range set {
		o.Set = append(o.Set, odes.Assignment{Name: m.Name, Values: []float64{m.Value}})
	}
	return o
}

// prepare makes ready what runs with moved values need, unless the run before needed the same.
func (b *Bench) prepare(set []Moved) (err error) {
	names := ""
	for _, m := range set {
		names += m.Name + "\n"
	}
	o := options(set)
	if b.course != nil && names == b.names {
		if b.fast != nil {
			if err := b.fast.Set(o.Set...); err != nil {
				return err
			}
		}
		return b.course.Set(o.Set...)
	}
	b.names, b.fast, b.course = names, nil, nil
	quick := o.GradientOnly()
	quick.Settings = append(quick.Settings, odes.Setting{Key: "sens.trust", Value: "off"})
	if b.course, err = b.model.Simulator(quick); err != nil {
		return err
	}
	if !b.differentiates(o) {
		return nil
	}
	if b.fast, err = b.model.Prepare(quick); err != nil {
		b.course = nil
	}
	return err
}

// differentiates reports whether there is anything to differentiate: a model may have no objective.
func (b *Bench) differentiates(o odes.Options) bool {
	values, _, columns, err := b.model.Wanted(o)
	return err == nil && len(values) > 0 && columns > 0
}

// run makes the curves, the values and the gradient of a request.
func (b *Bench) run(r *Request) (*Result, error) {
	ctx := context.Background()
	if err := b.prepare(r.Set); err != nil {
		return nil, err
	}
	solution, err := b.course.Solve(ctx, nil)
	if err != nil {
		return nil, err
	}
	if times := divided(solution.T); times != nil {
		smooth, err := b.course.Solve(ctx, times)
		if err != nil {
			return nil, err
		}
		smooth.Stats, smooth.Warnings = solution.Stats, solution.Warnings
		solution = smooth
	}
	var s *odes.Sensitivities
	switch {
	case b.fast == nil:
	case r.Compare:
		s, err = b.model.Sensitivities(ctx, options(r.Set))
	default:
		s, err = b.fast.Sensitivities(ctx)
	}
	if err != nil {
		return nil, err
	}
	symbols, err := b.model.Symbols(options(r.Set).Set)
	if err != nil {
		return nil, err
	}
	result := resultOf(solution, s, symbols, r.Text)
	result.Compared = s != nil && r.Compare
	var list []diag.Diagnostic
	if s != nil {
		list = s.Warnings
	} else {
		list = solution.Warnings
	}
	result.Diagnostics = append(result.Diagnostics, told(list, r.Text)...)
	return result, nil
}

// divided returns the ends of steps and times between them, so that curves through them look smooth; nil where there
// are enough steps.
func divided(t []float64) []float64 {
	if len(t) < 2 || len(t) > fewPoints {
		return nil
	}
	parts := 1 + fewPoints/len(t)
	times := make([]float64, 0, parts*len(t))
	for i, to := range t[1:] {
		from := t[i]
		if to <= from { // both limits at an event
			continue
		}
		for k := range parts {
			times = append(times, from+(to-from)*float64(k)/float64(parts))
		}
	}
	return append(times, t[len(t)-1])
}
