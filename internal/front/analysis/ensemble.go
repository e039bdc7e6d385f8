package analysis

import (
	"context"
	"slices"
	"strconv"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
)

// drawn runs the model for many sets of values.
var drawn = &Row{
	Name:  "ensemble",
	Help:  "Run the model for many sets of values, with statistics.",
	Block: "ensemble",
	Flags: slices.Concat(ofMembers, []Flag{
		{
			Name: "ensemble", Placeholder: "NAME", Request: "ensemble",
			Help: "Use this ensemble block. --ensemble.n=100 sets a key of it.",
		},
		{
			Name: "n", Short: "n", Key: "n", Kind: Whole, Placeholder: "N", Word: "members",
			Help: "Members: short for --ensemble.n.",
		},
		{
			Name: "seed", Key: "seed", Word: "seed", Kind: Natural, Placeholder: "N",
			Help: "Which values are drawn: short for --ensemble.seed.",
		},
		{
			Name: "points", Key: "points", Placeholder: "NAME",
			Help: "How values are drawn: {points}. Short for --ensemble.points.",
		},
		{Name: "rows", Key: "rows", Own: true, Kind: File, Placeholder: "FILE", Help: "{table}"},
		{
			Name: "values", Kind: Switch, Request: "values", Help: "Compute values without derivatives.",
			Also: []odes.Setting{{Key: "ensemble.gradient", Value: "off"}},
		},
		{Name: "sobol", Kind: Switch, Help: "Sensitivity analysis: Sobol indices, with n points in each sample."},
		{Name: "morris", Kind: Switch, Help: "Sensitivity analysis: elementary effects (Morris), along n paths."},
		{Name: "dgsm", Kind: Switch, Help: "Sensitivity analysis: means of squared derivatives (DGSM)."},
		{Name: "indices", Request: "indices", Requests: true, Help: "Sensitivity analysis: sobol, morris or dgsm."},
	}),
	Examples: []Example{
		{"odes ensemble model.ode", "1000 draws from the priors, or what the ensemble block says"},
		{"odes ensemble model.ode 'k ~ normal(1, 0.1)' -o out.npz", "every member in a file; if stopped, it goes on"},
		{"odes ensemble model.ode --times 0:0.1:10 --draw members=bands.svg", "where the outputs of most members are"},
		{"odes ensemble model.ode 'k ~ uniform(1, 2)' --sobol -n 1024", "how much each value matters"},
	},
	Formats:    formatsOfMembers,
	FormatHelp: "{rows}",
	OutputHelp: "{members}",
	Behind:     behindMembers,
	Table:      true,
	Pictures:   memberPictures,
	Draw:       "draw",
	Session: &Session{
		Form: "ensemble [k ~ normal(0, 1), e from 0.5 to 1] [members n] [seed n] [--option …] [-o file.svg]",
		Help: "run for many draws (from the priors, or what the ensemble block says): statistics, or a picture in a " +
			"file",
	},
	Check: func(v Values) error {
		if n, given := v["n"]; given {
			if k, err := strconv.Atoi(n); err != nil || k < 1 {
				return Wrongf("-n takes a whole number from 1")
			}
		}
		return nil
	},
	Do: func(ctx context.Context, a *Ask) (*Result, error) { return members(ctx, a, planEnsemble) },
}

// planEnsemble says which members an ensemble has.
func planEnsemble(a *Ask, job *ensemble.Job, block []odes.Setting) (*planned, error) {
	m := a.Model
	file, block, err := fileOfRows(a, block)
	if err != nil {
		return nil, err
	}
	said, err := m.Members(a.Values["ensemble"], block)
	if err != nil {
		return nil, err
	}
	axes, err := a.axes()
	if err != nil {
		return nil, err
	}
	switch {
	case file != "" && len(axes) > 0:
		return nil, Wrongf("--rows names a table, and %s is named behind the model; choose one of these", axes[0].Name)
	case file != "":
		said.Draws = nil
		if said.Names, said.Rows, err = readRows(m, file, a.Seen); err != nil {
			return nil, err
		}
	case a.Table != nil && len(axes) > 0:
		return nil, Wrongf("values of members are drawn or those of a table, not both")
	case a.Table != nil:
		for k, name := range a.Table.Columns {
			if slices.Contains(a.Table.Columns[:k], name) {
				return nil, Wrongf("column %q is named twice", name)
			}
		}
		said.Draws, said.N = nil, 0
		said.Names, said.Rows = a.Table.Columns, a.Table.Rows
	}
	if job.Design, err = ensemble.DesignFor(m, said, axes); err != nil {
		return nil, Wrongf("%v", err)
	}
	plan := &planned{notes: said.Notes}
	for i, kind := range kindsOfIndices {
		if a.Values[kind.name] == "" && a.Values["indices"] != kind.name {
			continue
		}
		if plan.indices != nil {
			return nil, Wrongf("--sobol, --morris and --dgsm take members of different kinds; choose one")
		}
		plan.indices = &kindsOfIndices[i]
		if job.Design.Points == ensemble.Rows {
			return nil, Wrongf("a table of values has no distributions; name them behind the model: " +
				"'k ~ lognormal(0, 1)'")
		}
		if kind.points != "" {
			job.Design.Points = kind.points
		}
	}
	if name := a.Values["indices"]; name != "" && plan.indices == nil {
		return nil, Wrongf("there are no indices %q", name)
	}
	job.Gradient = said.Gradient && (plan.indices == nil || plan.indices.points == "") && len(job.Times) == 0
	if plan.indices != nil && plan.indices.points == "" && !job.Gradient {
		return nil, Wrongf("--dgsm needs derivatives, without --values and --times")
	}
	return plan, nil
}

// fileOfRows returns the file whose rows are the members, "" for none, and the settings without it. Clients of the
// server send rows.
func fileOfRows(a *Ask, block []odes.Setting) (file string, rest []odes.Setting, err error) {
	file = a.Values["rows"]
	for _, s := range block {
		if s.Key != "ensemble.rows" || a.Format == nil {
			rest = append(rest, s)
			continue
		}
		if file = s.Value; file != "" && file[0] == '"' {
			if plain, err := strconv.Unquote(file); err == nil {
				file = plain
			}
		}
		if file == "" {
			return "", nil, Wrongf("--ensemble.rows needs a file")
		}
	}
	return file, rest, nil
}
