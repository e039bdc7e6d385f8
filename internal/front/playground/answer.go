package playground

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// number is a number in JSON, which has none that are not finite: they are null.
type number float64

func (x number) MarshalJSON() ([]byte, error) {
	if v := float64(x); !math.IsNaN(v) && !math.IsInf(v, 0) {
		return strconv.AppendFloat(nil, v, 'g', -1, 64), nil
	}
	return []byte("null"), nil
}

func numbers(list []float64) []number {
	out := make([]number, len(list))
	for i, x := range list {
		out[i] = number(x)
	}
	return out
}

// Finding is a diagnostic. Places are counted as scripts of pages count: in units of UTF-16 from the start of the text.
// They are -1 where the finding has none in it.
type Finding struct {
	Level   string `json:"level"`
	Code    string `json:"code"`
	Message string `json:"message"`
	Text    string `json:"text"` // as the command shows it
	From    int    `json:"from"`
	To      int    `json:"to"`
	Line    int    `json:"line"`
	Fixes   []Edit `json:"fixes"`
}

// Edit is a change of the text that would mend it.
type Edit struct {
	From    int    `json:"from"`
	To      int    `json:"to"`
	Text    string `json:"text"`
	Message string `json:"message"`
}

// Failure is the answer to what cannot be done.
type Failure struct {
	Diagnostics []Finding `json:"diagnostics"`
	Failed      bool      `json:"failed"`
}

func failed(err error, text string) *Failure {
	list := told(diag.Of(err), text)
	if len(list) == 0 {
		list = []Finding{{Level: "error", Message: err.Error(), Text: err.Error(), From: -1, To: -1, Fixes: []Edit{}}}
	}
	return &Failure{list, true}
}

// told returns diagnostics as findings.
func told(list []diag.Diagnostic, text string) []Finding {
	out := []Finding{}
	for i := range list {
		d := &list[i]
		d.Complete()
		f := Finding{
			Level: d.Level.String(), Code: string(d.Code), Message: d.Message, Text: d.String(),
			From: -1, To: -1, Fixes: []Edit{},
		}
		if inside(d.Span, text) {
			f.From, f.To, f.Line = units(text, d.Span.Start), units(text, d.Span.End), d.Span.Begin().Line
		}
		for _, fix := range d.Fixes {
			if inside(fix.Span, text) {
				at, to := units(text, fix.Span.Start), units(text, fix.Span.End)
				f.Fixes = append(f.Fixes, Edit{at, to, fix.Text, fix.Message})
			}
		}
		out = append(out, f)
	}
	return out
}

// inside reports whether a place lies in the text of the page.
func inside(at source.Span, text string) bool {
	return !at.IsZero() && at.File.Name() == FileName && 0 <= at.Start && at.Start <= at.End && at.End <= len(text)
}

// units counts the units of UTF-16 in the first n bytes of a text.
func units(text string, n int) int {
	count := 0
	for i, r := range text {
		if i >= n {
			break
		}
		count++
		if r >= 0x10000 && r != utf8.RuneError {
			count++
		}
	}
	return count
}

// shown returns a unit as pages show it: none for numbers without, and where it is not known.
func shown(unit string) string {
	if unit == "1" || unit == "unknown" {
		return ""
	}
	return unit
}

// Description says what a model declares.
type Description struct {
	Name         string     `json:"name"`
	Title        string     `json:"title"`
	Time         string     `json:"time"`
	TimeUnit     string     `json:"timeUnit"`
	Params       []Param    `json:"params"`
	MoreParams   int        `json:"moreParams"`
	Experiments  []string   `json:"experiments"`
	Observations []Measured `json:"observations"`
	Diagnostics  []Finding  `json:"diagnostics"`
	Version      string     `json:"version"`
}

// Param is a param, or an element of one, that one can move.
type Param struct {
	Name  string `json:"name"`
	Doc   string `json:"doc"`
	Unit  string `json:"unit"`
	Value number `json:"value"`
	Lo    number `json:"lo"` // null without a bound
	Hi    number `json:"hi"`
}

// Measured are data, with the outputs that they belong to.
type Measured struct {
	Name    string   `json:"name"`
	Outputs []string `json:"outputs"`
	T       []number `json:"t"`
	Values  []number `json:"values"`
}

// describe describes a model.
func describe(m *odes.Model, text string) (*Description, error) {
	symbols, err := m.Symbols(nil)
	if err != nil {
		return nil, err
	}
	info := m.Info()
	d := &Description{
		Name: info.Name, Title: info.Title, Time: info.Time, TimeUnit: shown(info.TimeUnit), Params: []Param{},
		Experiments: append([]string{}, m.Experiments()...), Observations: []Measured{},
		Diagnostics: told(m.Warnings(), text), Version: odes.Version,
	}
	for _, s := range symbols {
		if s.Kind != "param" {
			continue
		}
		for k, v := range s.Values {
			if len(d.Params) == mostParams {
				d.MoreParams++
				continue
			}
			d.Params = append(d.Params, Param{
				s.Element(k), s.Doc, shown(s.Unit), number(v), number(s.Lo), number(s.Hi),
			})
		}
	}
	for _, o := range m.Observations() {
		outputs := append([]string{}, o.Outputs...)
		d.Observations = append(d.Observations, Measured{o.Name, outputs, numbers(o.T), numbers(o.Values)})
	}
	return d, nil
}

// Result is what runs give.
type Result struct {
	T           []number    `json:"t"`
	Series      []Curve     `json:"series"`
	MoreSeries  int         `json:"moreSeries"`
	Objectives  []Objective `json:"objectives"`
	Columns     []Column    `json:"columns"`
	MoreColumns int         `json:"moreColumns"`
	Events      []Happened  `json:"events"`
	MoreEvents  int         `json:"moreEvents"`
	Compared    bool        `json:"compared"` // with an independent run
	Method      string      `json:"method"`
	Steps       int         `json:"steps"`
	Diagnostics []Finding   `json:"diagnostics"`
}

// Curve is one number over time.
type Curve struct {
	Name   string   `json:"name"`
	Doc    string   `json:"doc"`
	Unit   string   `json:"unit"`
	Values []number `json:"values"`
}

// Objective is a value with its row of the gradient.
type Objective struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc"`
	Unit     string   `json:"unit"`
	Relation string   `json:"relation"`
	Value    number   `json:"value"`
	Trust    string   `json:"trust"` // "sound", "loose" or "lost"
	Gradient []number `json:"gradient"`
	Trusts   []string `json:"trusts"` // empty where all are sound
}

// Column is what a column of the gradient is by.
type Column struct {
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Value number `json:"value"` // null for initial values
}

// Happened is an event.
type Happened struct {
	Label string `json:"label"`
	T     number `json:"t"`
}

// resultOf puts what was computed into a form for pages. s is nil for a model without objectives.
func resultOf(solution *odes.Solution, s *odes.Sensitivities, symbols []odes.Symbol, text string) *Result {
	keep := kept(len(solution.T))
	r := &Result{
		T: numbers(chosen(solution.T, keep, 1, 0)), Series: []Curve{}, Objectives: []Objective{}, Columns: []Column{},
		Events: []Happened{}, Diagnostics: []Finding{}, Method: solution.Settings.Method, Steps: solution.Stats.Steps,
	}
	for i := range solution.Outputs {
		o := &solution.Outputs[i]
		for k := range o.Size() {
			if len(r.Series) == mostSeries {
				r.MoreSeries++
				continue
			}
			values := numbers(chosen(o.Values, keep, o.Size(), k))
			r.Series = append(r.Series, Curve{o.Element(k), o.Doc, shown(o.Unit), values})
		}
	}
	for i := range solution.Events {
		if i == mostEvents {
			r.MoreEvents = len(solution.Events) - i
			break
		}
		e := &solution.Events[i]
		r.Events = append(r.Events, Happened{e.Label(), number(e.T)})
	}
	values := solution.Values
	if s != nil {
		values = s.Values
		r.addColumns(s, symbols)
	}
	for i := range values {
		v := &values[i]
		o := Objective{
			v.Name, v.Doc, shown(v.Unit), v.Relation, number(v.Value), v.Trust.String(), []number{}, []string{},
		}
		if s != nil {
			n := len(r.Columns)
			o.Gradient = numbers(s.Gradient[i*s.Columns:][:n])
			if s.Trusts != nil {
				for _, t := range s.Trusts[i*s.Columns:][:n] {
					o.Trusts = append(o.Trusts, t.String())
				}
			}
		}
		r.Objectives = append(r.Objectives, o)
	}
	return r
}

// addColumns says what the columns of the gradient are.
func (r *Result) addColumns(s *odes.Sensitivities, symbols []odes.Symbol) {
	for _, v := range s.Variables {
		at := slices.IndexFunc(symbols, func(y odes.Symbol) bool { return y.Kind == "param" && y.Name == v.Name })
		for k := range v.Size() {
			if len(r.Columns) == mostColumns {
				r.MoreColumns++
				continue
			}
			of := v
			of.Initial = false
			c := Column{of.Element(k), shown(v.Unit), number(math.NaN())}
			if v.Initial {
				c.Name = fmt.Sprintf("initial(%s)", c.Name)
			} else if at >= 0 && k < len(symbols[at].Values) {
				c.Value = number(symbols[at].Values[k])
			}
			r.Columns = append(r.Columns, c)
		}
	}
}

// kept returns which of n points are shown: all, or every so many and the last.
func kept(n int) []int {
	stride := 1 + n/mostPoints
	var list []int
	for i := 0; i < n; i += stride {
		list = append(list, i)
	}
	if n > 0 && list[len(list)-1] != n-1 {
		list = append(list, n-1)
	}
	return list
}

// chosen returns element k of those rows of values[rows][size] that are kept.
func chosen(values []float64, keep []int, size, k int) []float64 {
	out := make([]float64, len(keep))
	for j, i := range keep {
		out[j] = values[i*size+k]
	}
	return out
}

// written writes an answer as JSON.
func written(answer any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(answer); err != nil { // cannot fail: numbers write themselves
		panic(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
