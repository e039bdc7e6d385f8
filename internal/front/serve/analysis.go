package serve

import (
	"cmp"
	"context"
	"encoding/json"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/analysis"
)

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
		opts := r.options()
		if opts.Set = g.set; r.Progress {
			opts.Progress = tell
		}
		result, err := a.Run(ctx, m, opts)
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
	Name  string `json:"name"`
	Unit  string `json:"unit"`
	Value number `json:"value"`
	Text  string `json:"text,omitempty"`
}

type tableHead struct {
	Name    string       `json:"name"`
	Labels  []string     `json:"labels,omitempty"`
	Columns []columnHead `json:"columns"`
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
		Status: cmp.Or(r.Status, "ok"), Facts: []factHead{}, Tables: []tableHead{}, Warnings: diagnostics(r.Warnings),
	}
	for _, f := range r.Tables.Facts {
		h.Facts = append(h.Facts, factHead{f.Name, known(f.Unit), number(f.Value), f.Text})
	}
	for _, t := range r.Tables.Tables {
		head := tableHead{Name: t.Name, Labels: t.Labels, Columns: []columnHead{}}
		rows, columns := t.Rows(), len(t.Columns)
		values := make([]float64, rows*columns)
		for c, x := range t.Columns {
			head.Columns = append(head.Columns, columnHead{x.Name, known(x.Unit)})
			for i, v := range x.Values {
				values[i*columns+c] = v
			}
		}
		h.Tables, arrays = append(h.Tables, head), append(arrays, array{t.Name, []int{rows, columns}, values})
	}
	return answer{head: &analysisHead{own: h}, arrays: arrays}
}
