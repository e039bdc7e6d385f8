package serve

import (
	"encoding/json"
	"errors"
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/wire"
	"odes.dev/odes/lang/diag"
)

// arrays of an answer, as its head lists them.
type arrayHead struct {
	Name  string `json:"name"`
	Shape []int  `json:"shape"`
}

// listed is what the heads of all results begin with.
type listed struct {
	Arrays []arrayHead `json:"arrays"`
}

func (l *listed) list(arrays []array) {
	l.Arrays = make([]arrayHead, len(arrays))
	for i, a := range arrays {
		l.Arrays[i] = arrayHead{a.name, a.shape}
	}
}

// lister is the head of an answer with arrays.
type lister interface{ list([]array) }

// modelHead describes a model.
type modelHead struct {
	listed
	Model       uint32            `json:"model"`
	Name        string            `json:"name"`
	Title       string            `json:"title"`
	Time        string            `json:"time"`
	TimeUnit    string            `json:"time_unit"`
	Symbols     []symbolHead      `json:"symbols"`
	Experiments []string          `json:"experiments"`
	Warnings    []json.RawMessage `json:"warnings"`
}

type symbolHead struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Doc   string `json:"doc,omitempty"`
	Unit  string `json:"unit,omitempty"`
	Shape []int  `json:"shape"`
}

// described describes m. Its arrays are the values and the bounds of params, in the order of the symbols.
func described(m *odes.Model) (answer, error) {
	symbols, err := m.Symbols(nil)
	if err != nil {
		return answer{}, err
	}
	info := m.Info()
	h := &modelHead{
		Name: info.Name, Title: info.Title, Time: info.Time, TimeUnit: info.TimeUnit,
		Symbols: []symbolHead{}, Experiments: append([]string{}, m.Experiments()...),
		Warnings: wire.Diagnostics(m.Warnings()),
	}
	var values, bounds []float64
	for _, s := range symbols {
		h.Symbols = append(h.Symbols, symbolHead{s.Kind, s.Name, s.Doc, s.Unit, append([]int{}, s.Shape...)})
		if s.Kind == "param" {
			values, bounds = append(values, s.Values...), append(bounds, s.Lo, s.Hi)
		}
	}
	return answer{head: h, arrays: []array{
		{"params", []int{len(values)}, values},
		{"bounds", []int{len(bounds) / 2, 2}, bounds},
	}}, nil
}

// resultHead is the head of results of runs and of sensitivities.
type resultHead struct {
	listed
	Job      uint32              `json:"job,omitempty"`
	Status   string              `json:"status"`
	Layout   *wire.Layout        `json:"layout,omitempty"`
	Outputs  []seriesHead        `json:"outputs,omitempty"`
	Events   []eventHead         `json:"events"`
	Met      []coincidenceHead   `json:"coincidences,omitempty"`
	Remarks  map[string][]string `json:"remarks,omitempty"` // on values
	Warnings []json.RawMessage   `json:"warnings"`
	Settings wire.Settings       `json:"settings"`
	Stats    wire.Stats          `json:"stats"`
}

type seriesHead struct {
	Name  string `json:"name"`
	Doc   string `json:"doc,omitempty"`
	Unit  string `json:"unit"`
	Trust string `json:"trust"`
}

type eventHead struct {
	Name  string `json:"name"`
	Kind  string `json:"kind"`
	Index []int  `json:"index,omitempty"`
	Trust string `json:"trust,omitempty"`
}

// coincidenceHead is a time at which several causes come.
type coincidenceHead struct {
	T      float64  `json:"t"`
	Causes []string `json:"causes"`
	Leap   bool     `json:"leap"`
	// Orders are those of its pieces, whose gradients are in the array "pieces".
	Orders [][]string `json:"orders,omitempty"`
}

// grades are Trusts as numbers: 0 sound, 1 loose, 2 lost.
func grades(list []odes.Trust) []float64 {
	out := make([]float64, len(list))
	for i, t := range list {
		out[i] = float64(t)
	}
	return out
}

// valuesOf returns the arrays of values, and notes what there is to say of them.
func (h *resultHead) valuesOf(list []odes.Value) []array {
	n := len(list)
	values, errors, trusts := make([]float64, n), make([]float64, n), make([]float64, n)
	for i, v := range list {
		values[i], errors[i], trusts[i] = v.Value, v.Error, float64(v.Trust)
		if len(v.Warnings) > 0 {
			if h.Remarks == nil {
				h.Remarks = map[string][]string{}
			}
			h.Remarks[v.Name] = v.Warnings
		}
	}
	return []array{{"values", []int{n}, values}, {"value_errors", []int{n}, errors}, {"value_trusts", []int{n}, trusts}}
}

// eventsOf returns the arrays of events, columns wide where their times are differentiated.
func (h *resultHead) eventsOf(list []odes.EventRecord, columns int) []array {
	h.Events = []eventHead{}
	var times, rows []float64
	for _, e := range list {
		x := eventHead{Name: e.Name, Kind: e.Kind, Index: e.Index}
		if e.Trust != odes.Sound {
			x.Trust = e.Trust.String()
		}
		h.Events, times, rows = append(h.Events, x), append(times, e.T), append(rows, e.Params...)
	}
	out := []array{{"event_times", []int{len(times)}, times}}
	if len(rows) > 0 && len(rows) == columns*len(times) {
		out = append(out, array{"event_derivatives", []int{len(times), columns}, rows})
		out = append(out, sidesOfEvents(list, columns, rows)...)
	}
	return out
}

// sidesOfEvents returns the derivatives of times of events on both sides, where some are not the same.
func sidesOfEvents(list []odes.EventRecord, columns int, rows []float64) []array {
	left, right, some := slices.Clone(rows), slices.Clone(rows), false
	for i, e := range list {
		for _, b := range e.OneSided {
			left[i*columns+b.Column], right[i*columns+b.Column], some = b.Left, b.Right, true
		}
	}
	if !some {
		return nil
	}
	shape := []int{len(list), columns}
	return []array{{"event_left", shape, left}, {"event_right", shape, right}}
}

// layoutOf says what the rows and columns of s are.
func layoutOf(s *odes.Sensitivities) *wire.Layout {
	return &wire.Layout{
		Objectives: wire.ObjectivesOf(s.Values), Variables: wire.VariablesOf(s.Variables),
		Columns: s.Columns,
	}
}

// sensitivities is the answer with s, which shows what belongs to s.
func sensitivities(s *odes.Sensitivities, withLayout bool) answer {
	h := &resultHead{
		Status: s.Status, Warnings: wire.Diagnostics(s.Warnings), Settings: wire.SettingsOf(s.Settings),
		Stats: wire.StatsOf(s.Stats),
	}
	if withLayout {
		h.Layout = layoutOf(s)
	}
	rows, columns := len(s.Values), s.Columns
	arrays := append([]array{{"span", []int{2}, []float64{s.From, s.To}}}, h.valuesOf(s.Values)...)
	arrays = append(arrays, h.eventsOf(s.Events, columns)...)
	add := func(name string, values []float64, shape ...int) {
		if size := 1; values != nil {
			for _, d := range shape {
				size *= d
			}
			if len(values) != size { // empty where it was not computed
				return
			}
			arrays = append(arrays, array{name, shape, values})
		}
	}
	graded := func(name string, list []odes.Trust, shape ...int) {
		if list != nil {
			add(name, grades(list), shape...)
		}
	}
	add("gradient", s.Gradient, rows, columns)
	add("errors", s.Errors, rows, columns)
	graded("trusts", s.Trusts, rows, columns)
	left, right, from, to := s.Gradients()
	add("left", left, rows, columns)
	add("right", right, rows, columns)
	add("values_left", from, rows, columns)
	add("values_right", to, rows, columns)
	left, right = s.Slopes()
	add("left_along", left, rows)
	add("right_along", right, rows)
	var pieces []float64
	for _, c := range s.OneSided.Coincidences {
		met := coincidenceHead{T: c.T, Causes: c.Causes, Leap: c.Leap}
		for _, x := range c.Pieces {
			met.Orders, pieces = append(met.Orders, x.Order), append(pieces, x.Gradient...)
		}
		h.Met = append(h.Met, met)
	}
	add("pieces", pieces, len(pieces)/max(1, rows*columns), rows, columns)
	add("hessian", s.Hessian, rows, columns, columns)
	add("hessian_errors", s.HessianErrors, rows, columns, columns)
	graded("hessian_trusts", s.HessianTrusts, rows, columns, columns)
	add("products", s.Products, rows, columns)
	add("product_errors", s.ProductErrors, rows, columns)
	graded("product_trusts", s.ProductTrusts, rows, columns)
	return answer{head: h, arrays: arrays}
}

// solution is the answer with s.
func solution(s *odes.Solution) answer {
	h := &resultHead{
		Status: s.Status, Warnings: wire.Diagnostics(s.Warnings), Settings: wire.SettingsOf(s.Settings),
		Stats:  wire.StatsOf(s.Stats),
		Layout: &wire.Layout{Objectives: wire.ObjectivesOf(s.Values), Variables: []wire.Variable{}},
	}
	arrays := []array{{"span", []int{2}, []float64{s.From, s.To}}, {"t", []int{len(s.T)}, s.T}}
	arrays = append(arrays, h.valuesOf(s.Values)...)
	arrays = append(arrays, h.eventsOf(s.Events, 0)...)
	for _, o := range s.Outputs {
		h.Outputs = append(h.Outputs, seriesHead{o.Name, o.Doc, wire.Known(o.Unit), o.Trust.String()})
		arrays = append(arrays, array{"output", append([]int{len(s.T)}, o.Shape...), o.Values})
	}
	return answer{head: h, arrays: arrays}
}

// errorHead says why there is no result.
type errorHead struct {
	listed
	Kind        string            `json:"error"`
	Message     string            `json:"message"`
	Diagnostics []json.RawMessage `json:"diagnostics"`
}

// failure is the answer for err. A failed run says from where to where it came.
func failure(err error) answer {
	h := &errorHead{Kind: "request", Message: err.Error(), Diagnostics: wire.Diagnostics(diag.Of(err))}
	out := answer{head: h}
	var request *requestError
	var run *odes.RunError
	var model modelError
	var refused *memory.RefusedError
	var none *analysis.NoResultError
	switch {
	case errors.As(err, &request):
		h.Kind = request.kind
	case errors.As(err, &model):
		h.Kind = "model"
	case errors.As(err, &refused):
		h.Kind = "memory"
	case odes.Interrupted(err):
		h.Kind = "interrupted"
	case errors.As(err, &run):
		h.Kind = "run"
		if !math.IsNaN(run.T) {
			out.arrays = []array{{"span", []int{2}, []float64{run.From, run.T}}}
		}
	case errors.As(err, &none):
		h.Kind = "run"
	}
	return out
}
