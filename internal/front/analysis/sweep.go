package analysis

import (
	"context"
	"io"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

// swept runs the model for values along ranges. A session has a word of its own for that, which draws.
var swept = &Row{
	Name: "sweep",
	Help: "Run the model for values along one range or several.",
	Flags: slices.Concat(ofMembers, []Flag{
		{
			Name: "points", Placeholder: "NAME", Request: "points",
			Help: "Choose points within the ranges instead of a grid: {points}.",
		},
		{
			Name: "n", Short: "n", Kind: Whole, Placeholder: "N", Request: "n",
			Help: "Number of points, with --points.",
		},
		{
			Name: "seed", Kind: Natural, Default: "1", Placeholder: "N", Request: "seed",
			Help: "Which points are chosen, with --points.",
		},
		{Name: "gradient", Kind: Switch, Request: "gradient", Help: "Compute derivatives as well."},
		{
			Name: "steady", Kind: Switch,
			Help: "Follow the steady state along one range, past folds and through what is unstable.",
		},
		{Name: "down", Kind: Switch, Help: "With --steady, begin at the upper end of the range."},
	}),
	Examples: []Example{
		{"odes sweep model.ode k from 0.1 to 10", "results over a param; the spacing is that of its logarithm"},
		{"odes sweep model.ode k from 1 to 2 points 50 c --draw members=map.svg", "over two, as a heat map"},
		{"odes sweep model.ode k from 0 to 2 --steady --draw members=folds.svg", "the steady state, past folds"},
	},
	Formats: func(v Values) []*report.Format {
		if v["steady"] != "" {
			return branchFormats
		}
		return memberFormats
	},
	FormatHelp: "{rows}",
	OutputHelp: "{members}",
	Behind:     behindMembers,
	Pictures:   []Picture{{"members", "lines, heat maps, or bands of outputs", drawSweep}},
	Draw:       "draw",
	Session:    &Session{None: true},
	Do: func(ctx context.Context, a *Ask) (*Result, error) {
		if a.Values["steady"] != "" {
			return follow(ctx, a)
		}
		return members(ctx, a, planSweep)
	},
}

// drawSweep draws members, or a branch of steady states.
func drawSweep(_ *About, of any) (plot.Picture, error) {
	if b, ok := of.(*branch); ok {
		p, err := Branch(b.Branch, b.outputs)
		if err != nil {
			return nil, Wrongf("%v", err)
		}
		return p, nil
	}
	return drawMembers(nil, of)
}

// planSweep says which members a sweep has.
func planSweep(a *Ask, job *ensemble.Job, block []odes.Setting) (*planned, error) {
	if len(block) > 0 {
		return nil, Wrongf("odes sweep takes no --%s: what is named behind the model says what differs", block[0].Key)
	}
	axes, err := a.axes()
	if err != nil {
		return nil, err
	}
	if len(axes) == 0 {
		return nil, Wrongf("sweep what? odes sweep %s k from 0.1 to 10", a.Model.Info().File)
	}
	job.Design = ensemble.Design{Points: ensemble.Grid, Axes: axes}
	if points := a.Values["points"]; points != "" {
		n := a.Values.Number("n")
		if n == 0 {
			n = ensemble.DefaultN
		}
		seed, err := strconv.ParseUint(a.Values["seed"], 10, 64)
		if err != nil {
			seed = 1
		}
		job.Design = ensemble.Design{Points: points, N: n, Seed: seed, Axes: axes}
	}
	job.Gradient = a.Values["gradient"] == "on"
	return &planned{}, nil
}

// branch is steady states along a param, and the states that are drawn.
type branch struct {
	*odes.Branch
	outputs []string
}

// branchFormats are the formats of steady states along a param.
var branchFormats = func() (list []*report.Format) {
	for _, name := range []string{"table", "csv", "json", "parquet"} {
		f := *report.FormatNamed(name)
		list = append(list, &f)
	}
	return list
}()

// follow follows the steady state along a param.
func follow(ctx context.Context, a *Ask) (*Result, error) {
	for _, o := range a.Options.Settings {
		if strings.HasPrefix(o.Key, "ensemble.") {
			return nil, Wrongf("odes sweep takes no --%s: what is named behind the model says what differs", o.Key)
		}
	}
	of, err := List("outputs", a.Values["outputs"])
	if err != nil {
		return nil, err
	}
	axes, err := a.axes()
	if err != nil {
		return nil, err
	}
	if len(axes) != 1 || len(axes[0].Args) != 2 {
		return nil, Wrongf("a steady state is followed along one range: odes sweep %s k from 0 to 2 --steady",
			a.Model.Info().File)
	}
	const fewest = 100 // steps that show where a branch bends
	ask := odes.Continuation{
		Param: axes[0].Name, From: float64(axes[0].Args[0]), To: float64(axes[0].Args[1]),
		Points: max(axes[0].Count, fewest),
	}
	if a.Values["down"] != "" {
		ask.From, ask.To = ask.To, ask.From
	}
	o := a.Options
	b, err := a.Model.Continue(ctx, ask, odes.Options{Set: o.Set, Solver: o.Solver, Settings: o.Settings})
	if err != nil {
		return nil, err
	}
	return &Result{
		Of: &branch{b, of},
		Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
			switch f.Name {
			case "csv":
				return report.BranchCSV(w, h, b, opts)
			case "parquet":
				return report.BranchParquet(w, h, b, opts)
			case "json":
				return report.BranchJSON(w, h, b, opts)
			}
			return report.BranchTable(w, h, b, opts)
		},
	}, nil
}
