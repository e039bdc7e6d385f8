package serve

import (
	"context"
	"encoding/json"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/front/wire"
	"odes.dev/odes/lang/diag"
)

// membersHead is the head of the result of an ensemble.
type membersHead struct {
	listed
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

// members computes an ensemble.
func members(
	s *server, ctx context.Context, r *request, values []float64, tell func(odes.Progress),
) (answer, error) {
	m, g, err := s.open(r, values)
	if err != nil {
		return answer{}, err
	}
	opts := r.options()
	job := &ensemble.Job{
		Set: ensemble.Assignments(g.set), Solver: opts.Solver, Sens: opts.Sens, Of: opts.Of, Wrt: opts.Wrt,
		Times: ensemble.Reals(g.times), Outputs: r.Outputs,
	}
	if r.Trust != nil {
		job.Trust = ensemble.None
		if *r.Trust {
			job.Trust = ensemble.All
		}
	}
	var ofBlock []odes.Setting
	for _, s := range opts.Settings {
		if strings.HasPrefix(s.Key, "ensemble.") {
			ofBlock = append(ofBlock, s)
		} else {
			job.Options = append(job.Options, s)
		}
	}
	said, err := m.Members(r.Ensemble, ofBlock)
	if err != nil {
		return answer{}, err
	}
	axes, err := ensemble.ReadAxes(m, g.set, r.Draw)
	if err != nil {
		return answer{}, err
	}
	if len(r.Columns) > 0 {
		if len(axes) > 0 {
			return answer{}, badRequest("values of members are drawn or those of a table, not both")
		}
		for k, name := range r.Columns {
			if slices.Contains(r.Columns[:k], name) {
				return answer{}, badRequest("column %q is named twice", name)
			}
		}
		said.Draws, said.Names, said.Rows, said.N = nil, r.Columns, [][]float64{}, 0
		for row := range slices.Chunk(g.table, len(r.Columns)) {
			said.Rows = append(said.Rows, row)
		}
	}
	if job.Design, err = ensemble.DesignFor(m, said, axes); err != nil {
		return answer{}, err
	}
	kind := slices.IndexFunc(kindsOfIndices, func(k kindOfIndices) bool { return k.name == r.Indices })
	if r.Indices != "" {
		if kind < 0 {
			return answer{}, badRequest("there are no indices %q", r.Indices)
		}
		if job.Design.Points == ensemble.Rows {
			return answer{}, badRequest("indices are those of distributions, which a table has not")
		}
		if p := kindsOfIndices[kind].points; p != "" {
			job.Design.Points = p
		}
	}
	job.Gradient = !r.Values && said.Gradient && len(job.Times) == 0 && (kind < 0 || kindsOfIndices[kind].points == "")
	p, err := ensemble.OpenModel(job, m)
	if err != nil {
		return answer{}, err
	}
	return compute(ctx, p, kind, said.Notes, r.Progress, tell)
}

// compute runs all members of p.
func compute(
	ctx context.Context, p *ensemble.Problem, kind int, notes []diag.Diagnostic, progress bool,
	tell func(odes.Progress),
) (answer, error) {
	t := &p.Table
	n, width := t.Members, t.Width()
	if count := float64(n) * float64(width); count > maxValues {
		return answer{}, badRequest("%d members with %d numbers each are too many for one answer", n, width)
	} else if err := memory.Ask(8 * count); err != nil {
		return answer{}, err
	}
	h := &membersHead{
		Members: n, Params: columnsOf(t.Params), Series: columnsOf(t.Series), Failures: []failureHead{},
		Warnings: wire.Diagnostics(slices.Concat(notes, p.Warnings())),
	}
	var err error
	if h.Layout, err = layoutOfMembers(p); err != nil {
		return answer{}, err
	}
	groups := t.Groups()
	arrays := make([]array, len(groups), len(groups)+4)
	for i, g := range groups {
		arrays[i] = array{g.Name, append([]int{n}, g.Shape...), make([]float64, 0, n*g.Size)}
	}
	statuses, steps := make([]float64, 0, n), make([]float64, 0, n)
	values := ensemble.NewValues(p)
	var slopes *ensemble.Slopes
	if kind >= 0 && kindsOfIndices[kind].points == "" {
		if slopes, err = ensemble.NewSlopes(p); err != nil {
			return answer{}, err
		}
	}
	config := ensemble.Config{Each: func(c *ensemble.Chunk) error {
		for i, status := range c.Status {
			h.Counts[status]++
			statuses, steps = append(statuses, float64(status)), append(steps, float64(c.Steps[i]))
			row := c.Rows[i*width : (i+1)*width]
			for k, g := range groups {
				arrays[k].values = append(arrays[k].values, row[g.At:g.At+g.Size]...)
			}
		}
		for _, f := range c.Failures {
			h.Failures = append(h.Failures, failureHead(f))
		}
		if kind >= 0 {
			values.Add(c)
		}
		if slopes != nil {
			slopes.Add(c)
		}
		return nil
	}}
	if progress {
		tell = seldom(tell)
		config.Progress = func(done int) {
			tell(odes.Progress{Phase: odes.PhaseRuns, Steps: done, Done: float64(done) / float64(n)})
		}
	}
	found, err := ensemble.Run(ctx, p, config)
	if err != nil {
		return answer{}, err
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
	arrays = append(arrays, array{"status", []int{n}, statuses}, array{"steps", []int{n}, steps})
	if len(t.Times) > 0 {
		arrays = append(arrays, array{"t", []int{len(t.Times)}, t.Times})
	}
	if kind >= 0 {
		arrays = append(arrays, h.indices(t, &kindsOfIndices[kind], values, slopes))
	}
	return answer{head: h, arrays: arrays}, nil
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
) array {
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
	out := array{"indices", []int{len(x.Of), len(x.Axes), len(x.What), 3}, nil}
	for _, e := range list {
		out.values = append(out.values, e.Value, e.Lower, e.Upper)
	}
	return out
}
