package analysis

import (
	"context"
	"encoding/json"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/front/wire"
)

// membersHead is the head of the result of an ensemble.
type membersHead struct {
	Status   string        `json:"status"`
	Members  int           `json:"members"`
	Counts   [3]int        `json:"counts"` // members that are ok, partial and failed
	Params   []wire.Column `json:"params"`
	Layout   *wire.Layout  `json:"layout"`
	Series   []wire.Column `json:"series"`
	Failures []failureHead `json:"failures"`
	Compared comparedHead  `json:"compared"`
	Indices  *indicesHead  `json:"indices,omitempty"`
	// Warnings are those of all members.
	Warnings []json.RawMessage `json:"warnings,omitempty"`
}

// comparedHead says what comparisons of members with independent runs found.
type comparedHead struct {
	Members int `json:"members"` // that were compared
	// Unconfirmed are those whose numbers the independent run does not confirm.
	Unconfirmed []failureHead `json:"unconfirmed"`
	Controlled  bool          `json:"controlled,omitempty"`
}

// found takes in what comparisons found, and marks the members in their statuses.
func (h *membersHead) found(f *ensemble.Findings, statuses []float64) {
	h.Compared = comparedHead{f.Compared, []failureHead{}, f.Controlled}
	for _, d := range f.Doubts {
		if d.Minor {
			continue
		}
		h.Compared.Unconfirmed = append(h.Compared.Unconfirmed, failureHead{
			d.Member, string(odes.CodeTrust),
			d.Message,
		})
	}
	for _, member := range f.Partial() {
		statuses[member] = float64(ensemble.Partial)
		h.Counts[ensemble.OK]--
		h.Counts[ensemble.Partial]++
	}
}

// failureHead says why a member has no numbers.
type failureHead struct {
	Member  int    `json:"member"` // from 0
	Code    string `json:"code"`
	Message string `json:"message"`
}

// indicesHead says what the array of sensitivity indices holds: objectives × axes × what × (value, low, high).
type indicesHead struct {
	Of   []string `json:"of"`
	Axes []string `json:"axes"`
	What []string `json:"what"`
	Left int      `json:"left"` // groups of members that are left out
}

// kindOfIndices is a way to say which values matter.
type kindOfIndices struct {
	name   string
	points string // that it takes; "" for those of the ensemble, with derivatives
	what   []string
}

var kindsOfIndices = []kindOfIndices{
	{"sobol", ensemble.Saltelli, []string{"first", "jansen", "total"}},
	{"morris", ensemble.Morris, []string{"mean", "size", "sd"}},
	{"dgsm", "", []string{"mean", "bound"}},
}

// forPrograms runs all members of p, and returns the numbers of each.
func forPrograms(ctx context.Context, a *Ask, p *ensemble.Problem, plan *planned) (*Result, error) {
	t := &p.Table
	n, width := t.Members, t.Width()
	if count := float64(n) * float64(width); a.Most > 0 && count > float64(a.Most) {
		return nil, Wrongf("%d members with %d numbers each are too many for one answer", n, width)
	} else if err := memory.Ask(8 * count); err != nil {
		return nil, err
	}
	h := &membersHead{
		Members: n, Params: columnsOf(t.Params), Series: columnsOf(t.Series), Failures: []failureHead{},
		Warnings: wire.Diagnostics(slices.Concat(plan.notes, p.Warnings())),
	}
	var err error
	if h.Layout, err = layoutOfMembers(p); err != nil {
		return nil, err
	}
	groups := t.Groups()
	arrays := make([]Array, len(groups), len(groups)+4)
	for i, g := range groups {
		arrays[i] = Array{g.Name, append([]int{n}, g.Shape...), make([]float64, 0, n*g.Size)}
	}
	statuses, steps := make([]float64, 0, n), make([]float64, 0, n)
	values := ensemble.NewValues(p)
	var slopes *ensemble.Slopes
	kind := plan.indices
	if kind != nil && kind.points == "" {
		if slopes, err = ensemble.NewSlopes(p); err != nil {
			return nil, err
		}
	}
	config := ensemble.Config{Each: func(c *ensemble.Chunk) error {
		for i, status := range c.Status {
			h.Counts[status]++
			statuses, steps = append(statuses, float64(status)), append(steps, float64(c.Steps[i]))
			row := c.Rows[i*width : (i+1)*width]
			for k, g := range groups {
				arrays[k].Values = append(arrays[k].Values, row[g.At:g.At+g.Size]...)
			}
		}
		for _, f := range c.Failures {
			h.Failures = append(h.Failures, failureHead(f))
		}
		if kind != nil {
			values.Add(c)
		}
		if slopes != nil {
			slopes.Add(c)
		}
		return nil
	}}
	config.Progress = a.members(n)
	found, err := ensemble.Run(ctx, p, config)
	if err != nil {
		return nil, err
	}
	h.found(found, statuses)
	h.Warnings = append(h.Warnings, wire.Diagnostics(found.Warnings())...)
	switch ok, failed := h.Counts[ensemble.OK], h.Counts[ensemble.Failed]; {
	case ok == n:
		h.Status = "ok"
	case failed == n:
		h.Status = "failed"
	default:
		h.Status = "partial"
	}
	arrays = append(arrays, Array{"status", []int{n}, statuses}, Array{"steps", []int{n}, steps})
	if len(t.Times) > 0 {
		arrays = append(arrays, Array{"t", []int{len(t.Times)}, t.Times})
	}
	if kind != nil {
		arrays = append(arrays, h.indices(t, kind, values, slopes))
	}
	return &Result{Status: h.Status, Head: h, Arrays: arrays}, nil
}

func columnsOf(list []ensemble.Column) []wire.Column {
	out := []wire.Column{}
	for _, c := range list {
		out = append(out, wire.Column(c))
	}
	return out
}

// layoutOfMembers says what the rows and columns of the gradients of members are.
func layoutOfMembers(p *ensemble.Problem) (*wire.Layout, error) {
	j := p.Job
	values, _, _, err := p.Model.Wanted(odes.Options{
		Solver: j.Solver, Sens: j.Sens, Settings: j.Options, Of: j.Of, Wrt: j.Wrt,
	})
	if err != nil {
		return nil, err
	}
	return &wire.Layout{
		Objectives: wire.ObjectivesOf(values), Variables: wire.VariablesOf(p.Table.Variables), Columns: p.Table.Columns,
	}, nil
}

// indices makes the array that says which values matter: [objectives][axes][what][value, low, high].
func (h *membersHead) indices(
	t *ensemble.Table, kind *kindOfIndices, values *ensemble.Values, slopes *ensemble.Slopes,
) Array {
	x := &indicesHead{What: kind.what}
	for _, c := range t.Values {
		x.Of = append(x.Of, c.Name)
	}
	for _, c := range t.Params {
		x.Axes = append(x.Axes, c.Name)
	}
	var list []ensemble.Estimate
	switch {
	case slopes != nil:
		for _, d := range slopes.Derivatives() {
			list = append(list, d.Mean, d.Bound)
		}
	case kind.points == ensemble.Saltelli:
		all, left := values.Indices()
		for _, i := range all {
			list = append(list, i.First, i.Jansen, i.Total)
		}
		x.Left = left
	default:
		all, left := values.Effects()
		for _, e := range all {
			list = append(list, e.Mean, e.Size, e.SD)
		}
		x.Left = left
	}
	h.Indices = x
	out := Array{"indices", []int{len(x.Of), len(x.Axes), len(x.What), 3}, nil}
	for _, e := range list {
		out.Values = append(out.Values, e.Value, e.Lower, e.Upper)
	}
	return out
}
