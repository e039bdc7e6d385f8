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
)

// jsonWriter writes JSON text in the order in which it is told. Maps of encoding/json would sort the names of a model,
// and large gradients would be copied. Its bufio.Writer keeps the first error.
type jsonWriter struct {
	w    *bufio.Writer
	work []byte
	err  error // of what is written one after the other
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

// nested is an array, as nested lists.
type nested struct {
	shape  []int
	values []float64
}

// stream is a list whose elements are made one after the other.
type stream func(write func(any)) error

// headForm is what the objects of runs begin with: schema 1.
type headForm struct {
	Schema     int      `json:"schema" at:"2"`
	Status     string   `json:"status"`
	Odes       string   `json:"odes"`
	Model      string   `json:"model"`
	Experiment string   `json:"experiment,omitempty"`
	File       string   `json:"file"`
	Time       spanForm `json:"time" at:"2"`
}

// spanForm is a span of time.
type spanForm struct {
	Name string  `json:"name"`
	From float64 `json:"from"`
	To   float64 `json:"to"`
	Unit string  `json:"unit"`
}

func headFormOf(h Heading, status string, from, to float64) headForm {
	return headForm{1, status, odes.Version, h.Model, h.Experiment, h.File, spanForm{h.Time, from, to, h.TimeUnit}}
}

// tailForm is what the objects of runs end with, but for stats.
type tailForm struct {
	warningsForm
	Settings settingsForm `json:"settings" at:"2"`
}

// valueForm is an objective and its value.
type valueForm struct {
	Name     string  `json:"name"`
	Relation string  `json:"relation,omitempty"`
	Unit     string  `json:"unit"`
	Value    float64 `json:"value"`
}

func valueOf(v *odes.Value) valueForm { return valueForm{v.Name, v.Relation, known(v.Unit), v.Value} }

// byForm is derivatives by params and by initial values.
type byForm struct {
	Params  pairs `json:"params"`
	Initial pairs `json:"initial"`
}

func byOf(vars []odes.Variable, row []float64) byForm {
	return byForm{derivatives(vars, row, false), derivatives(vars, row, true)}
}

// derivatives returns the derivatives by params, or by initial values, of a gradient's row.
func derivatives(vars []odes.Variable, row []float64, initial bool) pairs {
	list := pairs{}
	for _, v := range vars {
		if v.Initial == initial && row != nil {
			list = append(list, pair{v.Name, nested{v.Shape, row[v.Offset : v.Offset+v.Size()]}})
		}
	}
	return list
}

// sensForm is a result of Sensitivities. A run that failed has no values, and its status is "failed".
type sensForm struct {
	headForm
	Objectives   []objectiveForm   `json:"objectives" at:"2" each:"4" end:"2?"`
	Events       stream            `json:"events" at:"2" each:"4" end:"2?"`
	Coincidences []coincidenceForm `json:"coincidences,omitempty" at:"2"`
	tailForm
	Direction *byForm   `json:"direction,omitempty" at:"2"`
	Stats     statsForm `json:"stats" at:"2"`
}

// objectiveForm is an objective with its derivatives. Trust has what is not sound, Uncertain what is sound and has no
// sure digit, both by name.
type objectiveForm struct {
	valueForm
	Params     pairs       `json:"params" at:"5"`
	Initial    pairs       `json:"initial" at:"5"`
	Trust      pairs       `json:"trust,omitempty" at:"5"`
	TrustError pairs       `json:"trust_error,omitempty"`
	OneSided   []sidedForm `json:"one_sided,omitempty" at:"5"`
	Uncertain  pairs       `json:"uncertain,omitempty" at:"5"`
	Error      *errorForm  `json:"error,omitempty" at:"5"`
	secondForm
	Warnings []string `json:"warnings" at:"5"`
}

// errorForm is estimated errors.
type errorForm struct {
	Value float64 `json:"value"`
	byForm
}

// sensJSON writes a result of Sensitivities.
func sensJSON(w io.Writer, h Heading, s *odes.Sensitivities, _ TableOptions) error {
	form := sensForm{
		headForm: headFormOf(h, s.Status, s.From, s.To), Events: eventsOf(s), Coincidences: coincidencesOf(s),
		tailForm: tailForm{warningsOf(h.Warnings, s.Warnings), settingsOf(s.Settings)}, Stats: statsOf(s.Stats),
	}
	for i := range s.Values {
		form.Objectives = append(form.Objectives, objectiveOf(s, i))
	}
	if s.Direction != nil {
		by := byOf(s.Variables, s.Direction)
		form.Direction = &by
	}
	return writeJSON(w, form)
}

func objectiveOf(s *odes.Sensitivities, i int) objectiveForm {
	v := &s.Values[i]
	var row []float64
	if hasValue(*v) && s.Columns > 0 {
		row = s.Gradient[i*s.Columns : (i+1)*s.Columns]
	}
	by := byOf(s.Variables, row)
	o := objectiveForm{valueForm: valueOf(v), Params: by.Params, Initial: by.Initial, Warnings: v.Warnings}
	o.Trust, o.TrustError = trustOf(s, i)
	o.OneSided = sidedOf(s, i)
	if row == nil {
		return o
	}
	if s.Errors != nil {
		o.Uncertain = uncertainOf(s, i)
	}
	if s.Errors != nil && s.Settings.Errors {
		o.Error = &errorForm{v.Error, byOf(s.Variables, s.Errors[i*s.Columns:(i+1)*s.Columns])}
	}
	o.secondForm = secondOf(s, i)
	return o
}

// trustOf returns which numbers of objective i are not sound, {"k": "lost", "initial(x)": "loose", "value": "loose"},
// and their estimated errors under the same names. An array has the grade of its worst element and the largest error of
// those with that grade. There is nothing where all is sound.
func trustOf(s *odes.Sensitivities, i int) (trust, errors pairs) {
	var names []string
	var grades []odes.Trust
	var list []float64
	add := func(name string, t odes.Trust, e float64) {
		if t == odes.Sound {
			return
		}
		if k := slices.Index(names, name); k >= 0 { // a param called value
			grades[k], list[k] = max(grades[k], t), max(list[k], e)
			return
		}
		names, grades, list = append(names, name), append(grades, t), append(list, e)
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
	for k, name := range names {
		trust = append(trust, pair{name, grades[k].String()})
	}
	if s.Errors == nil {
		return trust, nil
	}
	return trust, numbersOf(names, list)
}

// numbersOf returns numbers by name.
func numbersOf(names []string, list []float64) (all pairs) {
	for k, name := range names {
		all = append(all, pair{name, list[k]})
	}
	return all
}

// uncertainOf returns which numbers of objective i are sound but small beside their estimated errors, so that not even
// their first digit is sure, with these errors. Of an array, it is the largest one of such elements. A table shows them
// as ~0 or ~8e-10.
func uncertainOf(s *odes.Sensitivities, i int) (list pairs) {
	for _, x := range s.Variables {
		most := 0.0
		for k := i*s.Columns + x.Offset; k < i*s.Columns+x.Offset+x.Size(); k++ {
			sound := s.Trusts == nil || s.Trusts[k] == odes.Sound
			if e := s.Errors[k]; sound && unsure(s.Gradient[k], e) {
				most = max(most, e)
			}
		}
		if most > 0 {
			list = append(list, pair{x.String(), most})
		}
	}
	return append(list, uncertainValue(&s.Values[i])...)
}

// uncertainValue returns the estimated error of an objective that is sound and has no sure digit.
func uncertainValue(v *odes.Value) pairs {
	if v.Trust == odes.Sound && unsure(v.Value, v.Error) {
		return pairs{{"value", v.Error}}
	}
	return nil
}

// unsureSeries returns the largest estimated error of the numbers of an output that have no sure digit; 0 for none.
func unsureSeries(o *odes.Series) (most float64) {
	for i, e := range o.Errors {
		if unsure(o.Values[i], e) {
			most = max(most, e)
		}
	}
	return most
}

// runForm is a result of Solve. A run that failed has no outputs, and its status is "failed".
type runForm struct {
	headForm
	T          nested    `json:"t" at:"2"`
	Outputs    pairs     `json:"outputs" at:"2" each:"4" end:"2"`
	Units      pairs     `json:"units" at:"2"`
	Trust      pairs     `json:"trust,omitempty" at:"2"`
	Uncertain  pairs     `json:"uncertain,omitempty" at:"2"`
	Objectives []endForm `json:"objectives" at:"2" each:"4" end:"2?"`
	Events     stream    `json:"events" at:"2" each:"4" end:"2?"`
	tailForm
	Stats statsForm `json:"stats" at:"2"`
}

// endForm is an objective of a run without derivatives.
type endForm struct {
	valueForm
	Trust     pairs    `json:"trust,omitempty"`
	Uncertain pairs    `json:"uncertain,omitempty"`
	Warnings  []string `json:"warnings"`
}

// runJSON writes a result of Solve.
func runJSON(w io.Writer, h Heading, s *odes.Solution, _ TableOptions) error {
	form := runForm{
		headForm: headFormOf(h, s.Status, s.From, s.To), T: nested{[]int{len(s.T)}, s.T},
		Events: func(write func(any)) error {
			for i := range s.Events {
				write(eventOf(nil, &s.Events[i], false))
			}
			return nil
		},
		tailForm: tailForm{warningsOf(h.Warnings, s.Warnings), settingsOf(s.Settings)}, Stats: statsOf(s.Stats),
	}
	for _, o := range s.Outputs {
		form.Outputs = append(form.Outputs, pair{o.Name, nested{append([]int{len(s.T)}, o.Shape...), o.Values}})
		form.Units = append(form.Units, pair{o.Name, known(o.Unit)})
		if o.Trust > odes.Sound {
			form.Trust = append(form.Trust, pair{o.Name, o.Trust.String()})
		}
		if most := unsureSeries(&o); most > 0 {
			form.Uncertain = append(form.Uncertain, pair{o.Name, most})
		}
	}
	for i := range s.Values {
		v := &s.Values[i]
		end := endForm{valueForm: valueOf(v), Warnings: v.Warnings}
		if v.Trust > odes.Sound {
			end.Trust = pairs{{"value", v.Trust.String()}}
		}
		end.Uncertain = uncertainValue(v)
		form.Objectives = append(form.Objectives, end)
	}
	return writeJSON(w, form)
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

// Stats writes the settings, stats and events of a run, without its derivatives.
func Stats(w io.Writer, s *odes.Sensitivities) error {
	return writeJSON(w, struct {
		Settings settingsForm `json:"settings" at:"2"`
		Stats    statsForm    `json:"stats" at:"2"`
		Events   stream       `json:"events" at:"2" each:"4" end:"2?"`
	}{settingsOf(s.Settings), statsOf(s.Stats), eventsOf(s)})
}

// eventForm is an event.
type eventForm struct {
	Name   string  `json:"name"`
	Kind   string  `json:"kind"`
	Index  []int   `json:"index" empty:"null"`
	T      float64 `json:"t"`
	Params pairs   `json:"params,omitempty"`
	Trust  pairs   `json:"trust,omitempty"`
	// OneSided are derivatives of the time that are others on the other side.
	OneSided []sidedForm `json:"one_sided,omitempty"`
	Error    *timeErrors `json:"error,omitempty"`
}

// timeErrors are the estimated errors of the time of an event, and of its derivatives.
type timeErrors struct {
	T      float64 `json:"t"`
	Params pairs   `json:"params"`
}

// eventsOf gives the events of s one after the other, with estimated errors if they are asked for.
func eventsOf(s *odes.Sensitivities) stream {
	return func(write func(any)) error {
		return s.EachEvent(func(e *odes.EventRecord) error {
			write(eventOf(s.Variables, e, s.Settings.Errors))
			return nil
		})
	}
}

func eventOf(vars []odes.Variable, e *odes.EventRecord, errors bool) eventForm {
	form := eventForm{Name: e.Name, Kind: e.Kind, Index: e.Index, T: e.T}
	if e.Params != nil {
		form.Params = derivatives(vars, e.Params, false)
	}
	for _, v := range vars {
		if len(e.Trusts) == 0 {
			break
		}
		if t := slices.Max(e.Trusts[v.Offset : v.Offset+v.Size()]); t > odes.Sound {
			form.Trust = append(form.Trust, pair{v.String(), t.String()})
		}
	}
	if e.Trust > odes.Sound {
		form.Trust = append(form.Trust, pair{"t", e.Trust.String()})
	}
	for k := range e.OneSided {
		form.OneSided = append(form.OneSided, timeSidedOf(vars, &e.OneSided[k]))
	}
	if e.Errors != nil && errors {
		form.Error = &timeErrors{e.Error, derivatives(vars, e.Errors, false)}
	}
	return form
}

// statsForm is what a run took. What came to nothing is left out, but for the first six.
type statsForm struct {
	Steps               int         `json:"steps"`
	Rejected            int         `json:"rejected"`
	F                   int         `json:"f"`
	VJP                 int         `json:"vjp"`
	RecomputedSteps     int         `json:"recomputed_steps"`
	PeakTrajectoryBytes int64       `json:"peak_trajectory_bytes"`
	NonFinite           int         `json:"rejected_not_finite,omitempty"`
	Singular            int         `json:"rejected_singular,omitempty"`
	Sought              int         `json:"rejected_for_events,omitempty"`
	Jacobians           int         `json:"jacobians,omitempty"`
	Factorisations      int         `json:"factorisations,omitempty"`
	Solves              int         `json:"solves,omitempty"`
	Changes             int         `json:"changes,omitempty"`
	SteadySteps         int         `json:"steady_steps,omitempty"`
	SteadyNewton        int         `json:"steady_newton,omitempty"`
	SteadyPeriods       int         `json:"steady_periods,omitempty"`
	SteadyWarm          int         `json:"steady_warm,omitempty"`
	SteadyKnown         int         `json:"steady_known,omitempty"`
	SteadySaved         int         `json:"steady_saved,omitempty"`
	SteadyFlow          int         `json:"steady_flow,omitempty"`
	Methods             pairs       `json:"methods,omitempty"`
	Steady              []restForm  `json:"steady,omitempty"`
	Seconds             secondsForm `json:"seconds" at:"12"`
}

// secondsForm is where time went.
type secondsForm struct {
	Parse   float64  `json:"parse"`
	Compile float64  `json:"compile"`
	Forward float64  `json:"forward"`
	Adjoint float64  `json:"adjoint"`
	Second  *float64 `json:"second,omitempty"`
	Check   float64  `json:"check,omitempty"`
}

// restForm is what is known of a steady state: the eigenvalue, or the multiplier of a period, nearest to growth.
type restForm struct {
	Eigenvalue []float64 `json:"eigenvalue,omitempty"`
	Multiplier []float64 `json:"multiplier,omitempty"`
	NearZero   bool      `json:"near_zero,omitempty"`
	Steps      int       `json:"steps,omitempty"`
	Newton     int       `json:"newton,omitempty"`
	Periods    int       `json:"periods,omitempty"`
}

func statsOf(s odes.RunStats) statsForm {
	form := statsForm{
		Steps: s.Steps, Rejected: s.Rejected, F: s.F, VJP: s.VJP, RecomputedSteps: s.RecomputedSteps,
		PeakTrajectoryBytes: s.PeakTrajectoryBytes, NonFinite: s.NonFinite, Singular: s.Singular, Sought: s.Sought,
		Jacobians: s.Jacobians, Factorisations: s.Factorisations, Solves: s.Solves, Changes: s.Changes,
		SteadySteps: s.SteadySteps, SteadyNewton: s.Newton, SteadyPeriods: s.Periods, SteadyWarm: s.SteadyWarm,
		SteadyKnown: s.SteadyKnown, SteadySaved: s.SteadySaved, SteadyFlow: s.SteadyFlow,
		Seconds: secondsForm{
			Parse: s.Seconds.Parse, Compile: s.Seconds.Compile, Forward: s.Seconds.Forward, Adjoint: s.Seconds.Adjoint,
			Check: s.Seconds.Check,
		},
	}
	if s.SecondSteps > 0 {
		form.Seconds.Second = &s.Seconds.Second
	}
	for _, m := range s.Methods {
		form.Methods = append(form.Methods, pair{m.Name, m.Steps})
	}
	for _, r := range s.Rests {
		rest := restForm{NearZero: r.NearZero, Steps: r.Steps, Newton: r.Newton, Periods: r.Periods}
		value := []float64{sixDigits(real(r.Eigenvalue)), sixDigits(imag(r.Eigenvalue))}
		if rest.Eigenvalue = value; r.Periods > 0 {
			rest.Eigenvalue, rest.Multiplier = nil, value
		}
		form.Steady = append(form.Steady, rest)
	}
	return form
}

// sixDigits returns x to six digits: eigenvalues have no more on every machine.
func sixDigits(x float64) float64 {
	y, err := strconv.ParseFloat(strconv.FormatFloat(x, 'e', 5, 64), 64)
	if err != nil {
		return x
	}
	return y
}
