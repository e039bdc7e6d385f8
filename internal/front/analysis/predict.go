package analysis

import (
	"context"
	"io"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/goodness"
	"odes.dev/odes/internal/front/report"
)

// predict compares a model with its data.
var predict = &Row{
	Name: "predict",
	Help: "Compare the model with its data, row by row.",
	Examples: []Example{
		{"odes predict fitted.ode", "data, what the model says, and residuals"},
		{"odes predict fitted.ode -o residuals.csv", "for other programs"},
		{"odes predict model.ode --draws draws.csv", "what all draws of odes sample say of the data"},
		{"odes predict fitted.ode --draw data=data.svg --draw residuals", "with pictures"},
		{"odes predict population.ode --draw gof --draw vpc=vpc.svg", "PRED, IPRED, CWRES and NPDE of a population"},
	},
	Flags: []Flag{
		In,
		{
			Name: "draws", Kind: File, Placeholder: "FILE",
			Help: "Predict by all draws of this file, which odes sample wrote: ranges, leave-one-out, and checks.",
		},
		{
			Name: "seed", Kind: Whole, Placeholder: "N",
			Help: "Seed of simulated data: for the predictions of --draws, or for a population.",
		},
		{
			Name: "replicates", Kind: Whole, Placeholder: "N",
			Help: "Number of simulated sets of data of a population, for NPDE and visual predictive checks.",
		},
		{Name: "draw", Kind: Many, Placeholder: "WHAT[=FILE]", Help: "Draw {predictpictures}. May be repeated."},
	},
	Pictures: predictPictures,
	Draw:     "draw",
	Has:      report.HasPredictions,
	Run:      compareOnce,
	Asked: func(ctx context.Context, a *Ask) (*Result, error) {
		if a.Values["draws"] != "" {
			if a.Values["replicates"] != "" {
				return nil, Wrongf("--replicates is of populations: each of --draws gives one set of data")
			}
			return predictedBy(ctx, a)
		}
		if len(a.Model.RandomEffects()) > 0 {
			return populatedBy(ctx, a)
		}
		for _, name := range []string{"seed", "replicates"} {
			if a.Values[name] != "" {
				return nil, Wrongf("--%s is of data that are drawn: it goes with a model that has random effects, or "+
					"with --draws FILE", name)
			}
		}
		return compareOnce(ctx, a.Model, a.Options)
	},
}

// populatedBy compares a population with its data.
func populatedBy(ctx context.Context, a *Ask) (*Result, error) {
	o := goodness.Options{Options: a.Options}
	if a.Values["seed"] != "" {
		o.Seed = uint64(a.Values.Number("seed"))
	}
	if a.Values["replicates"] != "" {
		if o.Replicates = int(a.Values.Number("replicates")); o.Replicates < 1 {
			return nil, Wrongf("--replicates is a whole number from 1")
		}
	}
	if tell := a.Tell; tell != nil {
		o.Tell = func(done, of int) {
			tell(Progress{Phase: odes.PhaseRuns, Steps: done, Done: float64(done) / float64(of)})
		}
	}
	return populated(ctx, a.Model, o)
}

// compareOnce compares a model with its data as it stands.
func compareOnce(ctx context.Context, m *odes.Model, o odes.Options) (*Result, error) {
	if len(m.RandomEffects()) > 0 {
		return populated(ctx, m, goodness.Options{Options: o})
	}
	list, err := fit.Predict(ctx, m, o)
	if err != nil {
		return nil, err
	}
	of, numbers := Observations(list)
	return &Result{
		Write: func(f *report.Format, w io.Writer, h report.Heading, opts report.TableOptions) error {
			return f.Predictions(w, h, list, opts)
		},
		Head: map[string]any{"observations": of}, Arrays: []Array{numbers}, Of: &fit.Result{Predictions: list},
	}, nil
}

// Observation says what so many rows of predictions are of, one after the other.
type Observation struct {
	Experiment  string `json:"experiment"`
	Observation string `json:"observation"`
	Unit        string `json:"unit"`
	Rows        int    `json:"rows"`
}

// predictionColumns is how many numbers a row of predictions has.
const predictionColumns = 8

// Observations returns what rows of predictions are of, and the rows: the time, the datum, the prediction, its standard
// error, the standard deviation of the datum, the residual, 1 where only that is known that the value is at most the
// datum, and 1 where it is at least that.
func Observations(list []fit.Prediction) ([]Observation, Array) {
	heads, rows := []Observation{}, make([]float64, 0, predictionColumns*len(list))
	for _, p := range list {
		of := Observation{Experiment: p.Experiment, Observation: p.Observation, Unit: p.Unit}
		if of.Unit == "unknown" {
			of.Unit = ""
		}
		last := len(heads) - 1
		if last >= 0 {
			of.Rows = heads[last].Rows
		}
		if last < 0 || of != heads[last] {
			of.Rows = 0
			heads, last = append(heads, of), last+1
		}
		heads[last].Rows++
		rows = append(rows, p.T, p.Data, p.Value, p.Error, p.Scatter, p.Residual,
			float64(max(-p.Side, 0)), float64(max(p.Side, 0)))
	}
	return heads, Array{"predictions", []int{len(list), predictionColumns}, rows}
}
