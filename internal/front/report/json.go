package report

import (
	"bufio"
	"encoding/json"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// jsonWriter writes JSON text in the order in which it is told. Maps of encoding/json would sort the names of a model,
// and large gradients would be copied. Its bufio.Writer keeps the first error.
type jsonWriter struct {
	w    *bufio.Writer
	work []byte
}

func newJSON(w io.Writer) *jsonWriter { return &jsonWriter{w: bufio.NewWriterSize(w, 1<<16)} }

// raw writes text as it stands.
func (j *jsonWriter) raw(parts ...string) {
	for _, p := range parts {
		j.w.WriteString(p)
	}
}

// text writes a string literal.
func (j *jsonWriter) text(s string) {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(s) // a string always encodes
	j.raw(strings.TrimSuffix(b.String(), "\n"))
}

// number writes x; see appendNumber.
func (j *jsonWriter) number(x float64) {
	j.work = appendNumber(j.work[:0], x)
	j.w.Write(j.work)
}

// int writes a whole number.
func (j *jsonWriter) int(n int64) {
	b, _ := json.Marshal(n)
	j.w.Write(b)
}

// array writes row-major data as nested lists; a scalar as a number.
func (j *jsonWriter) array(shape []int, data []float64) {
	if len(shape) == 0 {
		j.number(data[0])
		return
	}
	j.raw("[")
	inner := size(shape[1:])
	for i := range shape[0] {
		if i > 0 {
			j.raw(", ")
		}
		j.array(shape[1:], data[i*inner:(i+1)*inner])
	}
	j.raw("]")
}

// texts writes a list of strings.
func (j *jsonWriter) texts(list []string) {
	j.raw("[")
	for i, s := range list {
		if i > 0 {
			j.raw(", ")
		}
		j.text(s)
	}
	j.raw("]")
}

// warnings writes what a run warned of and noted, in the form that diagnostics have everywhere.
func (j *jsonWriter) warnings(list []diag.Diagnostic) {
	j.raw(",\n  \"warnings\": [")
	for i := range list {
		if i > 0 {
			j.raw(",")
		}
		j.raw("\n    ")
		j.raw(list[i].JSON())
	}
	if len(list) > 0 {
		j.raw("\n  ")
	}
	j.raw("]")
}

// derivatives writes {"name": derivatives, …} of the params, or of the initial values, of a gradient's row.
func (j *jsonWriter) derivatives(vars []odes.Variable, row []float64, initial bool) {
	j.raw("{")
	first := true
	for _, v := range vars {
		if v.Initial != initial || row == nil {
			continue
		}
		if !first {
			j.raw(", ")
		}
		first = false
		j.text(v.Name)
		j.raw(": ")
		j.array(v.Shape, row[v.Offset:v.Offset+v.Size()])
	}
	j.raw("}")
}

// value begins the object of an objective.
func (j *jsonWriter) value(v *odes.Value) {
	j.raw("\n    {\"name\": ")
	j.text(v.Name)
	if v.Relation != "" {
		j.raw(", \"relation\": ")
		j.text(v.Relation)
	}
	j.raw(", \"unit\": ")
	j.text(known(v.Unit))
	j.raw(", \"value\": ")
	j.number(v.Value)
}

// sensJSON writes a result of Sensitivities: schema 1. A run that failed has no values, and its status is "failed".
func sensJSON(w io.Writer, h Heading, s *odes.Sensitivities, _ TableOptions) error {
	j := newJSON(w)
	j.heading(h, s.Status, s.From, s.To)
	j.raw(",\n  \"objectives\": [")
	for i, v := range s.Values {
		if i > 0 {
			j.raw(",")
		}
		var row []float64
		if hasValue(v) && s.Columns > 0 {
			row = s.Gradient[i*s.Columns : (i+1)*s.Columns]
		}
		j.value(&v)
		j.raw(",\n     \"params\": ")
		j.derivatives(s.Variables, row, false)
		j.raw(",\n     \"initial\": ")
		j.derivatives(s.Variables, row, true)
		j.trust(s, i)
		j.sides(s, i)
		if row != nil && s.Errors != nil {
			j.uncertain(s, i)
		}
		if row != nil && s.Errors != nil && s.Settings.Errors {
			errors := s.Errors[i*s.Columns : (i+1)*s.Columns]
			j.raw(",\n     \"error\": {\"value\": ")
			j.number(v.Error)
			j.raw(", \"params\": ")
			j.derivatives(s.Variables, errors, false)
			j.raw(", \"initial\": ")
			j.derivatives(s.Variables, errors, true)
			j.raw("}")
		}
		if row != nil {
			j.second(s, i)
		}
		j.raw(",\n     \"warnings\": ")
		j.texts(v.Warnings)
		j.raw("}")
	}
	if len(s.Values) > 0 {
		j.raw("\n  ")
	}
	j.raw("],\n  \"events\": ")
	if err := j.eventsOf(s); err != nil {
		return err
	}
	j.coincidences(s)
	j.warnings(slices.Concat(h.Warnings, s.Warnings))
	j.raw(",\n  \"settings\": ")
	j.settings(s.Settings)
	if s.Direction != nil {
		j.raw(",\n  \"direction\": {\"params\": ")
		j.derivatives(s.Variables, s.Direction, false)
		j.raw(", \"initial\": ")
		j.derivatives(s.Variables, s.Direction, true)
		j.raw("}")
	}
	j.raw(",\n  \"stats\": ")
	j.stats(s.Stats)
	j.raw("\n}\n")
	return j.w.Flush()
}

// heading writes what results of runs begin with, in the form of schema 1.
func (j *jsonWriter) heading(h Heading, status string, from, to float64) {
	j.raw("{\n  \"schema\": 1, \"status\": ")
	j.text(status)
	j.raw(", \"odes\": ")
	j.text(odes.Version)
	j.raw(", \"model\": ")
	j.named(&h)
	j.raw(", \"file\": ")
	j.text(h.File)
	j.raw(",\n  \"time\": ")
	j.time(h, from, to)
}

// trust writes which numbers of objective i are not sound, {"k": "lost", "initial(x)": "loose", "value": "loose"}, and
// their estimated errors under the same names. An array has the grade of its worst element and the largest error of
// those with that grade. Nothing is written where all is sound.
func (j *jsonWriter) trust(s *odes.Sensitivities, i int) {
	var names []string
	var grades []odes.Trust
	var errors []float64
	add := func(name string, t odes.Trust, e float64) {
		if t == odes.Sound {
			return
		}
		if k := slices.Index(names, name); k >= 0 { // a param called value
			grades[k], errors[k] = max(grades[k], t), max(errors[k], e)
			return
		}
		names, grades, errors = append(names, name), append(grades, t), append(errors, e)
	}
	v := s.Values[i]
	if hasValue(v) {
		for _, x := range s.Variables {
			worst, most := s.Trust(i, x), 0.0
			if worst > odes.Sound && s.Errors != nil {
				for k := i*s.Columns + x.Offset; k < i*s.Columns+x.Offset+x.Size(); k++ {
					if s.Trusts[k] == worst {
						most = math.Max(most, s.Errors[k])
					}
				}
			}
			add(x.String(), worst, most)
		}
	}
	add("value", v.Trust, v.Error)
	if len(names) == 0 {
		return
	}
	j.raw(",\n     \"trust\": {")
	for k, name := range names {
		if k > 0 {
			j.raw(", ")
		}
		j.text(name)
		j.raw(": ")
		j.text(grades[k].String())
	}
	j.raw("}")
	if s.Errors != nil {
		j.raw(", \"trust_error\": ")
		j.numbers(names, errors)
	}
}

// numbers writes an object of numbers.
func (j *jsonWriter) numbers(names []string, list []float64) {
	j.raw("{")
	for k, name := range names {
		if k > 0 {
			j.raw(", ")
		}
		j.text(name)
		j.raw(": ")
		j.number(list[k])
	}
	j.raw("}")
}

// uncertain writes which numbers of objective i are sound but small beside their estimated errors, so that not even
// their first digit is sure, with these errors. Of an array, it is the largest one of such elements. A table shows them
// as ~0 or ~8e-10.
func (j *jsonWriter) uncertain(s *odes.Sensitivities, i int) {
	var names []string
	var errors []float64
	for _, x := range s.Variables {
		most := 0.0
		for k := i*s.Columns + x.Offset; k < i*s.Columns+x.Offset+x.Size(); k++ {
			sound := s.Trusts == nil || s.Trusts[k] == odes.Sound
			if e := s.Errors[k]; sound && unsure(s.Gradient[k], e) {
				most = max(most, e)
			}
		}
		if most > 0 {
			names, errors = append(names, x.String()), append(errors, most)
		}
	}
	if v := &s.Values[i]; v.Trust == odes.Sound && unsure(v.Value, v.Error) {
		names, errors = append(names, "value"), append(errors, v.Error)
	}
	if len(names) > 0 {
		j.raw(",\n     \"uncertain\": ")
		j.numbers(names, errors)
	}
}

// runJSON writes a result of Solve: schema 1. A run that failed has no outputs, and its status is "failed".
func runJSON(w io.Writer, h Heading, s *odes.Solution, _ TableOptions) error {
	j := newJSON(w)
	j.heading(h, s.Status, s.From, s.To)
	j.raw(",\n  \"t\": ")
	j.array([]int{len(s.T)}, s.T)
	j.raw(",\n  \"outputs\": {")
	for i, o := range s.Outputs {
		if i > 0 {
			j.raw(",")
		}
		j.raw("\n    ")
		j.text(o.Name)
		j.raw(": ")
		j.array(append([]int{len(s.T)}, o.Shape...), o.Values)
	}
	j.raw("\n  },\n  \"units\": {")
	for i, o := range s.Outputs {
		if i > 0 {
			j.raw(", ")
		}
		j.text(o.Name)
		j.raw(": ")
		j.text(known(o.Unit))
	}
	j.raw("},")
	sep := "\n  \"trust\": {"
	for _, o := range s.Outputs {
		if o.Trust > odes.Sound {
			j.raw(sep)
			sep = ", "
			j.text(o.Name)
			j.raw(": ")
			j.text(o.Trust.String())
		}
	}
	if sep == ", " {
		j.raw("},")
	}
	j.raw("\n  \"objectives\": [")
	for i, v := range s.Values {
		if i > 0 {
			j.raw(",")
		}
		j.value(&v)
		if v.Trust > odes.Sound {
			j.raw(", \"trust\": {\"value\": ")
			j.text(v.Trust.String())
			j.raw("}")
		}
		j.raw(", \"warnings\": ")
		j.texts(v.Warnings)
		j.raw("}")
	}
	if len(s.Values) > 0 {
		j.raw("\n  ")
	}
	j.raw("],\n  \"events\": ")
	j.events(s.Events)
	j.warnings(slices.Concat(h.Warnings, s.Warnings))
	j.raw(",\n  \"settings\": ")
	j.settings(s.Settings)
	j.raw(",\n  \"stats\": ")
	j.stats(s.Stats)
	j.raw("\n}\n")
	return j.w.Flush()
}

// failedSensJSON writes, in place of a result of Sensitivities, that the run from one time failed at another. Both are
// in the unit of the model's time.
func failedSensJSON(w io.Writer, h Heading, from, to float64) error {
	return sensJSON(w, h, &odes.Sensitivities{Status: "failed", From: from, To: to}, TableOptions{})
}

// failedRunJSON writes, in place of a result of Solve, that the run from one time failed at another.
func failedRunJSON(w io.Writer, h Heading, from, to float64) error {
	return runJSON(w, h, &odes.Solution{Status: "failed", From: from, To: to}, TableOptions{})
}

// time writes a time span.
func (j *jsonWriter) time(h Heading, from, to float64) {
	j.raw("{\"name\": ")
	j.text(h.Time)
	j.raw(", \"from\": ")
	j.number(from)
	j.raw(", \"to\": ")
	j.number(to)
	j.raw(", \"unit\": ")
	j.text(h.TimeUnit)
	j.raw("}")
}

// Stats writes the settings, stats and events of a run, without its derivatives.
func Stats(w io.Writer, s *odes.Sensitivities) error {
	j := newJSON(w)
	j.raw("{\n  \"settings\": ")
	j.settings(s.Settings)
	j.raw(",\n  \"stats\": ")
	j.stats(s.Stats)
	j.raw(",\n  \"events\": ")
	if err := j.eventsOf(s); err != nil {
		return err
	}
	j.raw("\n}\n")
	return j.w.Flush()
}

// eventsOf writes the events of s, one after the other, with estimated errors if they are asked for.
func (j *jsonWriter) eventsOf(s *odes.Sensitivities) error {
	j.raw("[")
	n := 0
	err := s.EachEvent(func(e *odes.EventRecord) error {
		j.event(n, s.Variables, e, s.Settings.Errors)
		n++
		return nil
	})
	j.endOfEvents(n)
	return err
}

// events writes the events of a run without derivatives.
func (j *jsonWriter) events(list []odes.EventRecord) {
	j.raw("[")
	for i := range list {
		j.event(i, nil, &list[i], false)
	}
	j.endOfEvents(len(list))
}

func (j *jsonWriter) endOfEvents(n int) {
	if n > 0 {
		j.raw("\n  ")
	}
	j.raw("]")
}

// event writes the event at place i of a list.
func (j *jsonWriter) event(i int, vars []odes.Variable, e *odes.EventRecord, errors bool) {
	if i > 0 {
		j.raw(",")
	}
	j.raw("\n    {\"name\": ")
	j.text(e.Name)
	j.raw(", \"kind\": ")
	j.text(e.Kind)
	j.raw(", \"index\": ")
	if len(e.Index) == 0 {
		j.raw("null")
	} else {
		j.raw("[")
		for k, n := range e.Index {
			if k > 0 {
				j.raw(", ")
			}
			j.int(int64(n))
		}
		j.raw("]")
	}
	j.raw(", \"t\": ")
	j.number(e.T)
	if e.Params != nil {
		j.raw(", \"params\": ")
		j.derivatives(vars, e.Params, false)
	}
	j.eventTrust(vars, e)
	if e.Errors != nil && errors {
		j.raw(", \"error\": {\"t\": ")
		j.number(e.Error)
		j.raw(", \"params\": ")
		j.derivatives(vars, e.Errors, false)
		j.raw("}")
	}
	j.raw("}")
}

// eventTrust writes which numbers of an event are not sound: {"k": "lost", "t": "loose"}.
func (j *jsonWriter) eventTrust(vars []odes.Variable, e *odes.EventRecord) {
	sep := ", \"trust\": {"
	add := func(name string, t odes.Trust) {
		if t == odes.Sound {
			return
		}
		j.raw(sep)
		sep = ", "
		j.text(name)
		j.raw(": ")
		j.text(t.String())
	}
	for _, v := range vars {
		if len(e.Trusts) > 0 {
			add(v.String(), slices.Max(e.Trusts[v.Offset:v.Offset+v.Size()]))
		}
	}
	add("t", e.Trust)
	if sep == ", " {
		j.raw("}")
	}
}

func (j *jsonWriter) settings(s odes.RunSettings) {
	j.raw("{\"method\": ")
	j.text(s.Method)
	j.raw(", \"rtol\": ")
	j.number(s.RTol)
	j.raw(", \"atol\": ")
	j.number(s.ATol)
	if s.Sized {
		j.raw(", \"atol_by_size\": true")
	}
	j.raw(", \"mode\": ")
	j.text(s.Mode)
	j.raw(", \"checkpoint\": ")
	j.text(s.Checkpoint)
	j.raw(", \"backend\": ")
	j.text(s.Backend)
	j.raw(", \"lanes\": ")
	j.int(int64(s.Lanes))
	j.raw(", \"threads\": ")
	j.int(int64(s.Threads))
	if s.CheckedBy != "" {
		j.raw(", \"checked_by\": ")
		j.text(s.CheckedBy)
	}
	j.raw("}")
}

// rests writes what is known of steady states.
func (j *jsonWriter) rests(list []odes.Rest) {
	for i, r := range list {
		j.raw([]string{", \"steady\": [", ", "}[min(i, 1)])
		key := "eigenvalue"
		if r.Periods > 0 {
			key = "multiplier"
		}
		j.raw("{")
		j.text(key)
		j.raw(": ")
		j.eigenvalue(r.Eigenvalue)
		if r.NearZero {
			j.raw(", \"near_zero\": true")
		}
		for _, f := range []struct {
			key string
			n   int
		}{{"steps", r.Steps}, {"newton", r.Newton}, {"periods", r.Periods}} {
			if f.n > 0 {
				j.raw(", ")
				j.text(f.key)
				j.raw(": ")
				j.int(int64(f.n))
			}
		}
		j.raw("}")
	}
	if len(list) > 0 {
		j.raw("]")
	}
}

// eigenvalue writes the real and the imaginary part, to the digits that mean something.
func (j *jsonWriter) eigenvalue(v complex128) {
	j.raw("[")
	j.number(sixDigits(real(v)))
	j.raw(", ")
	j.number(sixDigits(imag(v)))
	j.raw("]")
}

// sixDigits returns x to six digits: eigenvalues have no more on every machine.
func sixDigits(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	if err != nil {
		return x
	}
	return y
}

func (j *jsonWriter) stats(s odes.RunStats) {
	j.raw("{")
	counts := []struct {
		key string
		n   int64
	}{
		{"steps", int64(s.Steps)},
		{"rejected", int64(s.Rejected)},
		{"f", int64(s.F)},
		{"vjp", int64(s.VJP)},
		{"recomputed_steps", int64(s.RecomputedSteps)},
		{"peak_trajectory_bytes", s.PeakTrajectoryBytes},
		{"rejected_not_finite", int64(s.NonFinite)},
		{"rejected_singular", int64(s.Singular)},
		{"rejected_for_events", int64(s.Sought)},
		{"jacobians", int64(s.Jacobians)},
		{"factorisations", int64(s.Factorisations)},
		{"solves", int64(s.Solves)},
		{"changes", int64(s.Changes)},
		{"steady_steps", int64(s.SteadySteps)},
		{"steady_newton", int64(s.Newton)},
		{"steady_periods", int64(s.Periods)},
		{"steady_warm", int64(s.SteadyWarm)},
		{"steady_known", int64(s.SteadyKnown)},
		{"steady_saved", int64(s.SteadySaved)},
		{"steady_flow", int64(s.SteadyFlow)},
	}
	for i, f := range counts {
		if i > 5 && f.n == 0 {
			continue
		}
		if i > 0 {
			j.raw(", ")
		}
		j.text(f.key)
		j.raw(": ")
		j.int(f.n)
	}
	for i, m := range s.Methods {
		j.raw([]string{", \"methods\": {", ", "}[min(i, 1)])
		j.text(m.Name)
		j.raw(": ")
		j.int(int64(m.Steps))
	}
	if len(s.Methods) > 0 {
		j.raw("}")
	}
	j.rests(s.Rests)
	j.raw(",\n            \"seconds\": {\"parse\": ")
	j.number(s.Seconds.Parse)
	j.raw(", \"compile\": ")
	j.number(s.Seconds.Compile)
	j.raw(", \"forward\": ")
	j.number(s.Seconds.Forward)
	j.raw(", \"adjoint\": ")
	j.number(s.Seconds.Adjoint)
	if s.SecondSteps > 0 {
		j.raw(", \"second\": ")
		j.number(s.Seconds.Second)
	}
	if s.Seconds.Check > 0 {
		j.raw(", \"check\": ")
		j.number(s.Seconds.Check)
	}
	j.raw("}}")
}
