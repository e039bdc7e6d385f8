package serve

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/wire"
)

// opOf returns what answers requests for an analysis.
func opOf(a *analysis.Row) op {
	o := op{name: a.Name, keys: []string{"model", "set", "solver", "settings", "progress"}, do: analysed(a), row: a}
	for _, f := range a.Flags {
		if f.Request != "" {
			o.keys = append(o.keys, f.Request)
		}
	}
	if b := a.Behind; b != nil && b.Request != "" {
		o.keys = append(o.keys, b.Request)
	}
	if a.Table {
		o.keys = append(o.keys, "columns", "rows")
	}
	return o
}

// own takes the keys out of a head that are those of an analysis alone, and returns their values as the command takes
// them.
func own(a *analysis.Row, given map[string]json.RawMessage) (analysis.Values, error) {
	values := analysis.Values{}
	for _, f := range a.Flags {
		text, ok := given[f.Request]
		if !ok || f.Kind == analysis.Times {
			continue
		}
		delete(given, f.Request)
		var err error
		switch f.Kind {
		case analysis.Switch:
			var on *bool
			if err = json.Unmarshal(text, &on); on != nil {
				values[f.Name] = map[bool]string{true: "on", false: "off"}[*on]
			}
		case analysis.Names:
			var list []string
			err = json.Unmarshal(text, &list)
			values[f.Name] = strings.Join(list, ",")
		case analysis.Many:
			var list []string
			err = json.Unmarshal(text, &list)
			values[f.Name] = strings.Join(list, "\n")
		case analysis.Whole, analysis.Natural:
			var n uint64
			err = json.Unmarshal(text, &n)
			values[f.Name] = strconv.FormatUint(n, 10)
		default:
			var s string
			err = json.Unmarshal(text, &s)
			values[f.Name] = s
		}
		if err != nil {
			return nil, badRequest("cannot read the head of a request: %s: %v", f.Request, err)
		}
	}
	if b := a.Behind; b != nil && given[b.Request] != nil {
		var s string
		if err := json.Unmarshal(given[b.Request], &s); err != nil {
			return nil, badRequest("cannot read the head of a request: %s: %v", b.Request, err)
		}
		delete(given, b.Request)
		values[""] = s
	}
	return values, nil
}

// analysed returns what answers requests for an analysis.
func analysed(a *analysis.Row) func(
	*server, context.Context, *request, []float64, func(odes.Progress),
) (answer, error) {
	return func(
		s *server, ctx context.Context, r *request, values []float64, tell func(odes.Progress),
	) (answer, error) {
		m, g, err := s.open(r, values)
		if err != nil {
			return answer{}, err
		}
		ask := &analysis.Ask{
			Model: m, Options: r.options(), Values: r.own, Behind: r.own[""], Times: g.times, Most: maxValues,
		}
		if ask.Options.Set = g.set; r.Progress {
			tell = seldom(tell)
			ask.Tell = func(p analysis.Progress) {
				tell(odes.Progress{Phase: p.Phase, T: p.Best, Steps: p.Steps, Done: p.Done})
			}
			if a.Run != nil { // which tells as runs do
				ask.Options.Progress = tell
			}
		}
		if len(r.Columns) > 0 {
			ask.Table = &analysis.Table{Columns: r.Columns, Rows: [][]float64{}}
			for row := range slices.Chunk(g.table, len(r.Columns)) {
				ask.Table.Rows = append(ask.Table.Rows, row)
			}
		}
		result, err := a.Compute(ctx, ask)
		if e := ask.End(err == nil); e != nil && err == nil {
			err = e
		}
		if err != nil {
			return answer{}, err
		}
		return analysisAnswer(result), nil
	}
}

// analysisHead is the head of the result of an analysis: the list of arrays, and what the analysis says.
type analysisHead struct {
	listed
	own any
}

func (h *analysisHead) MarshalJSON() ([]byte, error) {
	own, err := json.Marshal(h.own)
	if err != nil {
		return nil, err
	}
	arrays, err := json.Marshal(h.listed)
	if err != nil || string(own) == "{}" {
		return arrays, err
	}
	return append(append(arrays[:len(arrays)-1], ','), own[1:]...), nil
}

// tablesHead is what the head says of tables. Each is an array, [rows, columns].
type tablesHead struct {
	Status   string            `json:"status"`
	Facts    []factHead        `json:"facts"`
	Tables   []tableHead       `json:"tables"`
	Warnings []json.RawMessage `json:"warnings"`
}

type factHead struct {
	Name  string      `json:"name"`
	Unit  string      `json:"unit"`
	Value wire.Number `json:"value"`
	Text  string      `json:"text,omitempty"`
}

type tableHead struct {
	Name    string        `json:"name"`
	Labels  []string      `json:"labels,omitempty"`
	Columns []wire.Column `json:"columns"`
}

func analysisAnswer(r *analysis.Result) answer {
	var arrays []array
	for _, a := range r.Arrays {
		arrays = append(arrays, array{a.Name, a.Shape, a.Values})
	}
	if r.Tables == nil {
		return answer{head: &analysisHead{own: r.Head}, arrays: arrays}
	}
	h := &tablesHead{
		Status: cmp.Or(r.Status, "ok"), Facts: []factHead{}, Tables: []tableHead{},
		Warnings: wire.Diagnostics(r.Warnings),
	}
	for _, f := range r.Tables.Facts {
		h.Facts = append(h.Facts, factHead{f.Name, wire.Known(f.Unit), wire.Number(f.Value), f.Text})
	}
	for _, t := range r.Tables.Tables {
		head := tableHead{Name: t.Name, Labels: t.Labels, Columns: []wire.Column{}}
		for _, x := range t.Columns {
			head.Columns = append(head.Columns, wire.Column{Name: x.Name, Unit: wire.Known(x.Unit)})
		}
		a := t.Array()
		h.Tables, arrays = append(h.Tables, head), append(arrays, array{a.Name, a.Shape, a.Values})
	}
	return answer{head: &analysisHead{own: h}, arrays: arrays}
}
