package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/playground"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/plot"
	"odes.dev/odes/repl"
)

// reportCmd is odes report.
type reportCmd struct {
	reading
	Model string `arg:"" help:"Model file; - is standard input."`
	setFlag
	solverFlags
	Fit        bool   `help:"Estimate params from the data first, as odes fit does; all else is at the estimates."`
	Sample     bool   `help:"Draw from the posterior first, as odes sample does; without --fit, all else is at a draw."`
	Output     string `short:"o" type:"result" placeholder:"FILE" help:"{output}"`
	Playground string `default:"https://odes.dev/playground.html" placeholder:"URL" help:"{playground}"`
}

const (
	// maxGradients is of how many objectives a report draws the derivatives: a page is for reading.
	maxGradients = 6
	// maxRows is how many rows of data a report lists. It draws more.
	maxRows = 200
)

// Run computes what a page tells of a model, and writes it.
func (k *reportCmd) Run(c *call) error {
	c.configure(k.global, formatFlag{})
	opts, err := modelFlags{setFlag: k.setFlag, solverFlags: k.solverFlags}.options(c)
	if err != nil {
		return err
	}
	session := c.session(false)
	if err := c.start(session, k.Model, k.setFlag, k.solverFlags); err != nil {
		return err
	}
	m := session.Model()
	c.diagnose(m.Warnings())
	memory.Keep(m.Memory(opts))
	out, err := c.open(k.Output)
	if err != nil {
		return err
	}
	defer out.discard()
	r := &reporter{call: c, model: m, session: session, opts: opts, about: heading(m)}
	r.playground = k.Playground
	r.path = k.Model
	var fitted *fit.Result
	if k.Fit { // first: links and all that follows are at the estimates
		if fitted, err = r.estimate(); err != nil {
			return err
		}
	}
	var drawn *analysis.Result
	if k.Sample {
		if drawn, err = r.drawn(fitted != nil); err != nil {
			return err
		}
	}
	r.begin(out)
	parts := []func() error{r.messages, r.course, r.gradients, r.data, r.params, func() error {
		r.page.Section("Text")
		r.page.Source(m.Info().File, session.Text())
		return nil
	}}
	if drawn != nil {
		parts = slices.Insert(parts, 1, func() error { return r.sample(drawn, fitted != nil) })
	}
	if fitted != nil {
		parts = slices.Insert(parts, 1, func() error { return r.fit(fitted) })
	}
	for _, part := range parts {
		if err := part(); err != nil {
			return err
		}
	}
	if err := r.page.Close(); err != nil {
		return out.failure(err)
	}
	if err := out.commit(); err != nil {
		return err
	}
	if r.doubtful {
		return status(exitRun)
	}
	return nil
}

// titleOf names a model in a heading.
func titleOf(m *odes.Model) string {
	info := m.Info()
	if info.Title == "" {
		return info.Name
	}
	return info.Name + ": " + info.Title
}

// reporter writes the parts of a page on a model.
type reporter struct {
	*call
	model   *odes.Model
	session *repl.Session // that draws
	opts    odes.Options
	about   report.Heading
	page    *report.Page
	path    string // of the model
	// playground is where links to the page lead on which one tries models; "none" for no link.
	playground string
	doubtful   bool // something is not to be trusted, or no minimum
}

// messages writes what the compiler says.
func (r *reporter) messages() error { return r.page.Messages(r.model.Warnings()) }

// warn shows warnings of a result, on the page as well.
func (r *reporter) warn(list []diag.Diagnostic) error {
	r.diagnose(list)
	return r.page.Messages(list)
}

// compute does work with a bar of progress.
func compute[R any](c *call, opts odes.Options, work func(o odes.Options) (R, error)) (result R, err error) {
	bar := c.attach(&opts)
	err = c.work(func() (err error) {
		result, err = work(opts)
		return err
	})
	bar.clear()
	return result, err
}

// begin begins the page: with what made it, when, and a link to the playground.
func (r *reporter) begin(out io.Writer) {
	info, _ := debug.ReadBuildInfo()
	head := report.Head{
		Title: titleOf(r.model), Style: plot.LiveStyle(), Script: plot.LiveScript(),
		Made: fmt.Sprintf("%s, by odes %s on %s", filepath.Base(r.model.Info().File), version(info),
			madeAt().Format("2 January 2006, 15:04 MST")),
	}
	if link := r.link(); link != "" {
		head.Links = []report.Link{{Text: "Open in the playground", To: link}}
	}
	r.page = report.NewPage(out, head)
}

// madeAt is the time at which a page is made, or what SOURCE_DATE_EPOCH says, so that pages can be made again.
func madeAt() time.Time {
	if s, err := strconv.ParseInt(os.Getenv("SOURCE_DATE_EPOCH"), 10, 64); err == nil {
		return time.Unix(s, 0).UTC()
	}
	return time.Now()
}

// link returns a link to the playground that holds the model, its files and the values that differ from those of the
// text; "" where it would be too long, or a file of it is not to be had.
func (r *reporter) link() string {
	if r.playground == "none" || r.playground == "" {
		return ""
	}
	text := r.session.Text()
	files, folder := map[string]string{}, input.Folder(filepath.Dir(r.path), &r.seen)
	for _, name := range playground.Named(text) {
		b, err := input.Read(folder, name, playground.MostLink*10)
		if err != nil || !utf8.Valid(b) {
			return ""
		}
		files[name] = string(b)
	}
	set := map[string]float64{}
	symbols, err := r.model.Symbols(r.opts.Set)
	if err != nil {
		return ""
	}
	before, err := r.model.Symbols(nil)
	if err != nil {
		return ""
	}
	for i, s := range symbols {
		for k, v := range s.Values {
			if s.Kind == "param" && v != before[i].Values[k] {
				set[s.Element(k)] = v
			}
		}
	}
	fragment, err := playground.Link(text, files, set)
	if err != nil || len(fragment) > playground.MostLink {
		return ""
	}
	return r.playground + "#" + fragment
}

// estimate estimates params, and lets all that follows be at the estimates; nil where there is no minimum.
func (r *reporter) estimate() (*fit.Result, error) {
	result, err := compute(r.call, r.opts, func(o odes.Options) (*fit.Result, error) {
		return fit.Run(r.ctx, r.model, fit.Options{Options: o})
	})
	if err != nil {
		if errors.Is(err, fit.ErrNoMinimum) && r.ctx.Err() == nil {
			return nil, r.without("fit", err)
		}
		return nil, err
	}
	r.doubtful = r.doubtful || result.Status != "ok"
	r.opts.Set = slices.Concat(r.opts.Set, result.Assignments())
	return result, r.session.Set(result.Assignments(), nil)
}

// fit writes what was estimated.
func (r *reporter) fit(result *fit.Result) error {
	r.page.Section("Fit")
	if err := r.warn(result.Warnings); err != nil {
		return err
	}
	if err := report.On(r.page, report.FitTable, r.about, result, report.TableOptions{}); err != nil {
		return err
	}
	if len(result.Starts) > 1 {
		if err := r.drawFit(result, "waterfall"); err != nil {
			return err
		}
	}
	for _, what := range []string{"profiles", "correlation", "pairs"} {
		if err := r.drawFit(result, what); err != nil {
			return err
		}
	}
	return nil
}

// course draws the outputs over time.
func (r *reporter) course() error {
	r.page.Section("Course")
	var picture plot.Picture
	err := r.work(func() (err error) {
		picture, err = r.session.Picture(r.ctx, "", repl.PointsInFiles)
		return err
	})
	if err != nil && diag.Of(err) == nil && r.ctx.Err() == nil && !errors.Is(err, errInternal) {
		r.page.Paragraph("There is no picture: " + err.Error() + ".")
		return nil
	}
	if err != nil {
		return err
	}
	doubts, lost := r.session.Doubts()
	r.doubtful = r.doubtful || lost
	if err := r.page.Messages(doubts); err != nil {
		return err
	}
	return r.draw(picture)
}

// draw writes a picture.
func (r *reporter) draw(p plot.Picture) error {
	var b bytes.Buffer
	if err := plot.Live(&b, p, plot.Page{}); err != nil {
		return err
	}
	r.page.Picture(b.Bytes())
	return nil
}

// drawFit writes a picture of a fit, if it has something to show.
func (r *reporter) drawFit(result *fit.Result, what string) error {
	p, err := analysis.Named("fit").Picture(repl.About(r.ctx, r.session, r.model, result.Assignments()), result, what)
	if err != nil {
		return nil // profiles, for one, need intervals
	}
	return r.draw(p)
}

// gradients writes objectives, their derivatives and the events; of a model without objectives, outputs and events.
func (r *reporter) gradients() error {
	if r.model.Info().Objectives == 0 {
		s, err := compute(r.call, r.opts, func(o odes.Options) (*odes.Solution, error) {
			return r.model.Solve(r.ctx, o)
		})
		if err != nil {
			return err
		}
		r.doubtful = r.doubtful || s.Status != "ok"
		r.page.Section("Outputs and events")
		if err := r.warn(s.Warnings); err != nil {
			return err
		}
		return report.On(r.page, report.RunTable, r.about, s, report.TableOptions{})
	}
	opts := r.opts
	report.Formats()[0].Want(&opts, report.TableOptions{})
	s, err := compute(r.call, opts, func(o odes.Options) (*odes.Sensitivities, error) {
		return fit.Sensitivities(r.ctx, r.model, o)
	})
	if err != nil {
		return err
	}
	defer s.Close()
	r.doubtful = r.doubtful || s.Status != "ok"
	r.page.Section("Objectives, derivatives and events")
	if err := r.warn(s.Warnings); err != nil {
		return err
	}
	if err := report.On(r.page, report.SensTable, r.about, s, report.TableOptions{}); err != nil {
		return err
	}
	if len(s.Variables) == 0 {
		return nil
	}
	for i := range min(len(s.Values), maxGradients) {
		picture, err := compute(r.call, opts, func(odes.Options) (plot.Picture, error) {
			return r.session.Influences(r.ctx, s, i)
		})
		if err != nil {
			return err
		}
		if err := r.draw(picture); err != nil {
			return err
		}
	}
	return nil
}

// data compares the model with its data.
func (r *reporter) data() error {
	if len(r.model.Observations()) == 0 {
		return nil
	}
	list, err := compute(r.call, r.opts, func(o odes.Options) ([]fit.Prediction, error) {
		return fit.Predict(r.ctx, r.model, o)
	})
	if err != nil {
		return err
	}
	r.page.Section("Data")
	for _, what := range []string{"data", "residuals", "predicted"} {
		if err := r.drawFit(&fit.Result{Predictions: list}, what); err != nil {
			return err
		}
	}
	if len(list) > maxRows {
		r.page.Paragraph(fmt.Sprintf("There are %d rows: odes predict lists them.", len(list)))
		return nil
	}
	return report.On(r.page, report.PredictTable, r.about, list, report.TableOptions{})
}

// params lists params with their values.
func (r *reporter) params() error {
	list, err := r.model.Symbols(r.opts.Set)
	if err != nil {
		return err
	}
	list = slices.DeleteFunc(list, func(s odes.Symbol) bool { return s.Kind != "param" })
	if len(list) == 0 {
		return nil
	}
	r.page.Section("Params")
	r.page.Symbols(list)
	return nil
}
