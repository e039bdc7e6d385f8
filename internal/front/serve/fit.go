package serve

import (
	"context"
	"encoding/json"
	"math"
	"sync"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/analysis"
)

// fitHead is the head of the result of a fit. What it says of estimates is in the order of their elements.
type fitHead struct {
	listed
	Status       string                 `json:"status"`
	Objective    objectiveHead          `json:"objective"`
	Value        number                 `json:"value"`
	Error        number                 `json:"value_error"`
	GradientNorm number                 `json:"gradient_norm"`
	KKT          kktHead                `json:"kkt"`
	Variables    []fitVariable          `json:"variables"`
	Open         [][2]string            `json:"open"` // why the interval of an estimate has no end: below, above
	Starts       []startHead            `json:"starts"`
	Clusters     []clusterHead          `json:"clusters"`
	Unidentified []combinationHead      `json:"unidentified"`
	Rows         int                    `json:"rows"`
	NLL          number                 `json:"nll"`
	AIC          number                 `json:"aic"`
	BIC          number                 `json:"bic"`
	Factor       number                 `json:"factor"`
	Constraints  []constraintHead       `json:"constraints"`
	Observations []analysis.Observation `json:"observations"`
	Warnings     []json.RawMessage      `json:"warnings"`
	Settings     fitSettingsHead        `json:"settings"`
	Stats        fitStatsHead           `json:"stats"`
}

// kktHead says how far the estimates are from a minimum.
type kktHead struct {
	Stationarity number `json:"stationarity"`
	Feasibility  number `json:"feasibility"`
	Noise        number `json:"noise"`
}

type fitVariable struct {
	variableHead
	Log bool `json:"log"`
}

type startHead struct {
	Number      int    `json:"number"`
	Status      string `json:"status"`
	Why         string `json:"why"`
	Evaluations int    `json:"evaluations"`
	Failures    int    `json:"failures"`
	Iterations  int    `json:"iterations"`
	Seconds     number `json:"seconds"`
	Cluster     int    `json:"cluster"`
}

type clusterHead struct {
	Value  number `json:"value"`
	Starts int    `json:"starts"`
	Best   int    `json:"best"`
}

type combinationHead struct {
	Names      []string `json:"names"`
	Weights    []number `json:"weights"`    // none of more than one direction
	Directions int      `json:"directions"` // how many
}

type constraintHead struct {
	Name     string `json:"name"`
	Unit     string `json:"unit"`
	Relation string `json:"relation"`
	Value    number `json:"value"`
}

type fitSettingsHead struct {
	Objective string       `json:"objective"`
	Maximize  bool         `json:"maximize"`
	Algorithm string       `json:"algorithm"`
	Starts    int          `json:"starts"`
	Seed      uint64       `json:"seed"`
	Intervals string       `json:"intervals"`
	Level     number       `json:"level"`
	Scatter   string       `json:"scatter"`
	Run       settingsHead `json:"run"`
}

type fitStatsHead struct {
	Evaluations int    `json:"evaluations"`
	Failures    int    `json:"failures"`
	Seconds     number `json:"seconds"`
}

// fitted fits a model.
func fitted(
	s *server, ctx context.Context, r *request, values []float64, tell func(odes.Progress),
) (answer, error) {
	m, g, err := s.open(r, values)
	if err != nil {
		return answer{}, err
	}
	opts := fit.Options{Options: r.options()}
	opts.Set, opts.Fit = g.set, r.Fit
	if r.Progress {
		tell = seldom(tell)
		opts.Told = func(p fit.Progress) {
			tell(odes.Progress{
				Phase: p.Phase, T: p.Best, Steps: p.Done, Done: float64(p.Done) / float64(max(p.Of, 1)),
			})
		}
	}
	f, err := fit.Run(ctx, m, opts)
	if err != nil {
		return answer{}, err
	}
	return fitAnswer(f), nil
}

// seldom returns what passes progress on ten times a second at most, one at a time.
func seldom(tell func(odes.Progress)) func(odes.Progress) {
	var mu sync.Mutex
	var last time.Time
	return func(p odes.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			tell(p)
		}
	}
}

func fitAnswer(f *fit.Result) answer {
	n := len(f.Estimates)
	set, run := f.Settings, settingsOf(f.Run)
	spent := f.Stats.Seconds
	h := &fitHead{
		Status: f.Status, Objective: objectivesOf([]odes.Value{f.Objective})[0], Value: number(f.Objective.Value),
		Error: number(f.Objective.Error), GradientNorm: number(f.GradientNorm), Variables: []fitVariable{},
		KKT:  kktHead{number(f.KKT.Stationarity), number(f.KKT.Feasibility), number(f.KKT.Noise)},
		Open: [][2]string{}, Starts: []startHead{}, Clusters: []clusterHead{}, Unidentified: []combinationHead{},
		Rows: f.Rows, NLL: number(f.NLL), AIC: number(f.AIC), BIC: number(f.BIC), Factor: number(f.Factor),
		Constraints: []constraintHead{}, Warnings: diagnostics(f.Warnings),
		Settings: fitSettingsHead{
			set.Objective, set.Maximize, f.Algorithm, set.Starts, set.Seed, set.Intervals, number(set.Level),
			set.Scatter, run,
		},
		Stats: fitStatsHead{
			f.Stats.Evaluations, f.Stats.Failures,
			number(spent.Compile + spent.Searches + spent.Errors + spent.Profiles),
		},
	}
	for i, v := range variablesOf(set.Over) {
		h.Variables = append(h.Variables, fitVariable{v, set.Log[i]})
	}
	columns := make([][]float64, 8)
	var profile []float64
	for i, x := range f.Estimates {
		h.Open = append(h.Open, [2]string{x.OpenLower, x.OpenUpper})
		for k, v := range []float64{
			x.Value, x.StdErr, x.Lower, x.Upper, x.Start, x.LowBound, x.HighBound, float64(x.AtBound),
		} {
			columns[k] = append(columns[k], v)
		}
		for _, p := range x.Profile {
			profile = append(profile, float64(i), p.Value, p.Rise)
		}
	}
	var arrays []array
	for k, name := range []string{"estimates", "stderr", "lower", "upper", "before", "low", "high", "at_bound"} {
		arrays = append(arrays, array{name, []int{n}, columns[k]})
	}
	arrays = append(arrays, array{"profile", []int{len(profile) / 3, 3}, profile})
	if f.Correlation != nil {
		var list []float64
		for _, row := range f.Correlation {
			list = append(list, row...)
		}
		arrays = append(arrays, array{"correlation", []int{n, n}, list})
	}
	var from, to, at []float64
	for _, s := range f.Starts {
		h.Starts = append(h.Starts, startHead{
			s.Number, s.Status, s.Why, s.Evaluations, s.Failures, s.Iterations, number(s.Seconds), s.Cluster,
		})
		at = append(at, s.Value)
		from = append(from, s.From...)
		if s.To == nil {
			s.To = missing(n)
		}
		to = append(to, s.To...)
	}
	arrays = append(arrays,
		array{"start_values", []int{len(at)}, at},
		array{"start_from", []int{len(at), n}, from},
		array{"start_to", []int{len(at), n}, to})
	for _, c := range f.Clusters {
		h.Clusters = append(h.Clusters, clusterHead{number(c.Value), c.Starts, c.Best})
	}
	for _, u := range f.Unidentified {
		c := combinationHead{Names: u.Names, Directions: u.Directions, Weights: []number{}}
		for _, w := range u.Weights {
			c.Weights = append(c.Weights, number(w))
		}
		h.Unidentified = append(h.Unidentified, c)
	}
	for _, c := range f.Constraints {
		h.Constraints = append(h.Constraints, constraintHead{c.Name, known(c.Unit), c.Relation, number(c.Value)})
	}
	list, predictions := analysis.Observations(f.Predictions)
	h.Observations = list
	return answer{head: h, arrays: append(arrays, array{predictions.Name, predictions.Shape, predictions.Values})}
}

// missing returns n numbers that are not there.
func missing(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}
