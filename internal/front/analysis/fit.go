package analysis

import (
	"context"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/front/report"
)

// fitted estimates params from data.
var fitted = &Row{
	Name:  "fit",
	Help:  "Estimate params from data, with standard errors and intervals.",
	Block: "fit",
	Flags: []Flag{
		{
			Name: "fit", Placeholder: "NAME", Help: "Use this fit block. --fit.over=[a,b] sets a key of it.",
			Request: "fit",
		},
		In,
		{
			Name: "starts", Key: "starts", Word: "starts", Own: true, Kind: Whole, Placeholder: "N",
			Help: "Number of searches: short for --fit.starts.",
		},
		{
			Name: "seed", Key: "seed", Kind: Whole, Placeholder: "N",
			Help: "Seed of the points where searches start: short for --fit.seed.",
		},
		{
			Name: "bootstrap", Key: "bootstrap", Kind: Whole, Placeholder: "N",
			Help: "Intervals from this number of refits to resampled rows of data.",
			Also: []odes.Setting{{Key: "fit.intervals", Value: "bootstrap"}},
		},
		{Name: "workers", Workers: true, Default: "0", Placeholder: "WHERE", Help: "{searchers}"},
		{
			Name: "from", Kind: File, Placeholder: "FILE",
			Help: "Begin at the estimates of this result, which odes fit wrote as JSON.",
		},
		{
			Name: "onward", Kind: Whole, Placeholder: "N",
			Help: "Begin with controls shifted by N pieces, for a moving horizon.",
		},
		{
			Name: "resume", Kind: File, Placeholder: "FILE",
			Help: "Keep searches in this file, and do not repeat those in it.",
		},
		{
			Name: "log", Kind: File, Placeholder: "FILE",
			Help: "Write the iterations of all searches to this file, as lines of JSON.",
		},
		{Name: "draw", Kind: Many, Placeholder: "WHAT[=FILE]", Help: "Draw {fitpictures}. May be repeated."},
	},
	Examples: []Example{
		{"odes fit model.ode -o fitted.ode", "estimate params; write the model with the estimates"},
		{"odes fit model.ode --starts 50 --resume starts.txt", "from many points; go on from there after Ctrl-C"},
		{"odes fit model.ode --in subject_3", "the random effects of one patient (MAP), or fit one experiment alone"},
		{"odes fit model.ode --draw profiles=p.svg --draw waterfall", "with pictures"},
		{"odes fit model.ode --set k2=0.3 --format json", "from another start, for other programs"},
	},
	Has:        report.HasFit,
	OutputHelp: "{fitoutput}",
	Patience:   time.Minute, // for what is told of the best point so far
	Pictures:   fitPictures,
	Draw:       "draw",
	Sets:       true,
	Session: &Session{
		Form: "fit [starts n] | waterfall | profiles | data | residuals | predicted | correlation | pairs | parts " +
			"[-o file.svg]",
		Help: "estimate params from data, with standard errors and intervals, and set them; or draw a picture of the " +
			"last fit",
	},
	Check: checkWorkers,
	Do:    runFit,
}

// checkWorkers finds what is wrong with --workers.
func checkWorkers(v Values) error {
	where := v["workers"]
	if n, err := strconv.Atoi(where); !elsewhere(where) && where != "" && (err != nil || n < 0) {
		return Wrongf("--workers takes a whole number from 0, local:8 or nats://host, not %q", where)
	}
	return nil
}

// elsewhere tells whether others make the searches.
func elsewhere(where string) bool { return strings.Contains(where, ":") }

// runFit makes a fit.
func runFit(ctx context.Context, a *Ask) (*Result, error) {
	opts := fit.Options{Options: a.Options, Starts: a.Values.Number("starts"), Source: a.Source}
	opts.Fit = a.Values["fit"]
	opts.Source.Text, opts.Source.Files = a.Text()
	if err := begin(a, &opts); err != nil {
		return nil, err
	}
	kept, err := keep(a, &opts)
	if err != nil {
		return nil, err
	}
	if where := a.Values["workers"]; elsewhere(where) {
		var end func()
		if opts.Backend, end, err = a.Workers(where); err != nil {
			return nil, err
		}
		defer end()
	} else {
		opts.Workers = a.Values.Number("workers")
	}
	if tell := a.Tell; tell != nil {
		opts.Told = func(at fit.Progress) { tell(fitProgress(at)) }
	}
	r, err := fit.Run(ctx, a.Model, opts)
	if e := kept.close(); e != nil && err == nil {
		err = e
	}
	if r == nil {
		return nil, failed(ctx, err, fit.ErrNoMinimum)
	}
	head, arrays := fitAnswer(r)
	result := &Result{
		Status: r.Status, Warnings: r.Warnings, Of: r, Found: r.Assignments(), Head: head, Arrays: arrays,
		Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
			return f.Fit(w, h, r, opts)
		},
		Despite: func(f *report.Format) bool { return f.Messages }, // programs read that it failed
	}
	if w := r.Stats.Steady; w.Searches > 0 {
		result.Work = []string{steadyWork(w)}
	}
	return result, failed(ctx, err, fit.ErrNoMinimum)
}

// begin sets the values at which the first search begins, those of --from and --onward. What --set sets counts more.
func begin(a *Ask, o *fit.Options) error {
	onward := a.Values.Number("onward")
	if onward < 0 {
		return Wrongf("--onward %d: it is a number of pieces, at least 0", onward)
	}
	var saved []odes.Assignment
	if from := a.Values["from"]; from != "" {
		text, err := input.File(from, nil)
		if err != nil {
			return &odes.FileError{Path: from, Err: err}
		}
		if saved, err = fit.ReadEstimates(text); err == nil {
			_, err = a.Model.Symbols(saved)
		}
		if err != nil {
			return Wrongf("--from %s: %v", from, err)
		}
	}
	saved, err := fit.Onward(a.Model, saved, onward)
	o.Set = append(saved, o.Set...)
	return err
}

// fitProgress tells of a fit.
func fitProgress(at fit.Progress) Progress {
	p := Progress{Phase: at.Phase, Steps: at.Done, Done: float64(at.Done) / float64(max(at.Of, 1)), Best: at.Best}
	if at.Epochs > 0 && at.Phase == "searches" && at.Done < at.Of {
		p.Done += float64(at.Epoch) / float64(at.Epochs) / float64(max(at.Of, 1))
		p.Note = fmt.Sprintf(", epoch %d of %d: %.6g", at.Epoch, at.Epochs, at.Value)
	}
	if at.Evaluations == 1 {
		p.Note += ", 1 run"
	} else if at.Evaluations > 0 {
		p.Note += fmt.Sprintf(", %d runs", at.Evaluations)
	}
	if !math.IsNaN(at.Best) {
		p.Note += fmt.Sprintf(", best %.8g", at.Best)
	}
	return p
}

// steadyWork says what searches for steady states took.
func steadyWork(w fit.SteadyWork) string {
	count := func(n int, one, many string) string {
		if n == 1 {
			return "1 " + one
		}
		return fmt.Sprintf("%d %s", n, many)
	}
	text := count(w.Searches, "steady state", "steady states") + ": " +
		count(w.Steps, "step of runs", "steps of runs") + ", " +
		count(w.Newton, "step of Newton's method", "steps of Newton's method")
	if w.Periods > 0 {
		text += ", " + count(w.Periods, "period", "periods")
	}
	if w.Warm+w.Known == 0 {
		return text
	}
	text += fmt.Sprintf("; %d began at that of the last values, and %d were known", w.Warm, w.Known)
	if w.Saved > 0 { // periods are not counted
		text += ", which saved about " + count(w.Saved, "step", "steps")
	}
	text += "; " + count(w.Confirmed, "minimum was", "minima were") + " confirmed by runs from the initial values"
	if w.Repeated > 0 {
		text += ", and " + count(w.Repeated, "search was", "searches were") + " made anew"
	}
	return text
}
