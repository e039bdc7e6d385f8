package main

import (
	"fmt"
	"io"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/posterior"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/repl"
)

// drawn draws from the posterior. Unless params are at estimates, all that follows is at the draw in the middle.
func (r *reporter) drawn(fitted bool) (*analysis.Result, error) {
	values := analysis.Values{}
	if len(r.model.Observations()) > 0 && analysis.Predictable(r.model, r.opts) {
		values["predictive"] = "on"
	}
	result, err := compute(r.call, r.opts, func(o odes.Options) (*analysis.Result, error) {
		return analysis.Named("sample").Compute(r.ctx, &analysis.Ask{Model: r.model, Options: o, Values: values})
	})
	if err != nil {
		return nil, err
	}
	if r.ctx.Err() != nil {
		return nil, r.ctx.Err()
	}
	r.doubtful = r.doubtful || result.Status != "ok"
	if fitted {
		return result, nil
	}
	middle := result.Of.(*posterior.Result).Middle()
	r.opts.Set = append(r.opts.Set[:len(r.opts.Set):len(r.opts.Set)], middle...)
	return result, r.session.Set(middle, nil)
}

// sample writes what was drawn.
func (r *reporter) sample(result *analysis.Result, fitted bool) error {
	of := result.Of.(*posterior.Result)
	r.page.Section("Posterior")
	if err := r.warn(result.Warnings); err != nil {
		return err
	}
	s := &of.Settings
	text := fmt.Sprintf("%d draws from the density whose negative logarithm is %s", of.Draws(), s.Objective)
	if s.Method == "nuts" {
		text += fmt.Sprintf(", by %d chains", s.Chains)
	}
	if text += fmt.Sprintf(", seed %d.", s.Seed); !fitted {
		text += " What follows behind this part is at the draw in the middle of them."
	}
	r.page.Paragraph(text)
	table := report.Formats()[0]
	write := func(w io.Writer, h report.Heading, x *analysis.Result, o report.TableOptions) error {
		return x.WriteAs(table, w, h, o)
	}
	if err := report.On(r.page, write, r.about, result, report.TableOptions{}); err != nil {
		return err
	}
	row := analysis.Named("sample")
	about := repl.About(r.ctx, r.session, r.model, nil)
	for _, what := range row.Drawn() {
		if what == "predictive" && len(r.model.Observations()) == 0 {
			continue
		}
		picture, err := row.Picture(about, of, what)
		if err != nil {
			r.page.Paragraph("There is no picture of " + what + ": " + err.Error() + ".")
			continue
		}
		if err := r.draw(picture); err != nil {
			return err
		}
	}
	return nil
}
