package analysis

import (
	"encoding/json"
	"math"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/wire"
)

// fitHead is the head of the result of a fit. What it says of estimates is in the order of their elements.
type fitHead struct {
	Status       string            `json:"status"`
	Objective    wire.Objective    `json:"objective"`
	Value        wire.Number       `json:"value"`
	Error        wire.Number       `json:"value_error"`
	GradientNorm wire.Number       `json:"gradient_norm"`
	KKT          kktHead           `json:"kkt"`
	Variables    []fitVariable     `json:"variables"`
	Open         [][2]string       `json:"open"` // why the interval of an estimate has no end: below, above
	Starts       []startHead       `json:"starts"`
	Clusters     []clusterHead     `json:"clusters"`
	Unidentified []combinationHead `json:"unidentified"`
	Rows         int               `json:"rows"`
	NLL          wire.Number       `json:"nll"`
	AIC          wire.Number       `json:"aic"`
	BIC          wire.Number       `json:"bic"`
	Factor       wire.Number       `json:"factor"`
	Constraints  []constraintHead  `json:"constraints"`
	Observations []Observation     `json:"observations"`
	Warnings     []json.RawMessage `json:"warnings"`
	Settings     fitSettingsHead   `json:"settings"`
	Stats        fitStatsHead      `json:"stats"`
}

// kktHead says how far the estimates are from a minimum.
type kktHead struct {
	Stationarity wire.Number `json:"stationarity"`
	Feasibility  wire.Number `json:"feasibility"`
	Noise        wire.Number `json:"noise"`
}

type fitVariable struct {
	wire.Variable
	Log bool `json:"log"`
}

type startHead struct {
	Number      int         `json:"number"`
	Status      string      `json:"status"`
	Why         string      `json:"why"`
	Evaluations int         `json:"evaluations"`
	Failures    int         `json:"failures"`
	Iterations  int         `json:"iterations"`
	Seconds     wire.Number `json:"seconds"`
	Cluster     int         `json:"cluster"`
}

type clusterHead struct {
	Value  wire.Number `json:"value"`
	Starts int         `json:"starts"`
	Best   int         `json:"best"`
}

type combinationHead struct {
	Names      []string      `json:"names"`
	Weights    []wire.Number `json:"weights"`    // none of more than one direction
	Directions int           `json:"directions"` // how many
}

type constraintHead struct {
	Name     string      `json:"name"`
	Unit     string      `json:"unit"`
	Relation string      `json:"relation"`
	Value    wire.Number `json:"value"`
}

type fitSettingsHead struct {
	Objective string        `json:"objective"`
	Maximize  bool          `json:"maximize"`
	Algorithm string        `json:"algorithm"`
	Starts    int           `json:"starts"`
	Seed      uint64        `json:"seed"`
	Intervals string        `json:"intervals"`
	Level     wire.Number   `json:"level"`
	Scatter   string        `json:"scatter"`
	Run       wire.Settings `json:"run"`
}

type fitStatsHead struct {
	Evaluations int         `json:"evaluations"`
	Failures    int         `json:"failures"`
	Seconds     wire.Number `json:"seconds"`
}

// fitAnswer is what programs get of a fit.
func fitAnswer(f *fit.Result) (*fitHead, []Array) {
	n := len(f.Estimates)
	set, run := f.Settings, wire.SettingsOf(f.Run)
	spent := f.Stats.Seconds
	h := &fitHead{
		Status: f.Status, Objective: wire.ObjectivesOf([]odes.Value{f.Objective})[0],
		Value: wire.Number(f.Objective.Value),
		Error: wire.Number(f.Objective.Error), GradientNorm: wire.Number(f.GradientNorm), Variables: []fitVariable{},
		KKT:  kktHead{wire.Number(f.KKT.Stationarity), wire.Number(f.KKT.Feasibility), wire.Number(f.KKT.Noise)},
		Open: [][2]string{}, Starts: []startHead{}, Clusters: []clusterHead{}, Unidentified: []combinationHead{},
		Rows: f.Rows, NLL: wire.Number(f.NLL), AIC: wire.Number(f.AIC), BIC: wire.Number(f.BIC),
		Factor:      wire.Number(f.Factor),
		Constraints: []constraintHead{}, Warnings: wire.Diagnostics(f.Warnings),
		Settings: fitSettingsHead{
			set.Objective, set.Maximize, f.Algorithm, set.Starts, set.Seed, set.Intervals, wire.Number(set.Level),
			set.Scatter, run,
		},
		Stats: fitStatsHead{
			f.Stats.Evaluations, f.Stats.Failures,
			wire.Number(spent.Compile + spent.Searches + spent.Errors + spent.Profiles),
		},
	}
	for i, v := range wire.VariablesOf(set.Over) {
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
	var arrays []Array
	for k, name := range []string{"estimates", "stderr", "lower", "upper", "before", "low", "high", "at_bound"} {
		arrays = append(arrays, Array{name, []int{n}, columns[k]})
	}
	arrays = append(arrays, Array{"profile", []int{len(profile) / 3, 3}, profile})
	if f.Correlation != nil {
		var list []float64
		for _, row := range f.Correlation {
			list = append(list, row...)
		}
		arrays = append(arrays, Array{"correlation", []int{n, n}, list})
	}
	var from, to, at []float64
	for _, s := range f.Starts {
		h.Starts = append(h.Starts, startHead{
			s.Number, s.Status, s.Why, s.Evaluations, s.Failures, s.Iterations, wire.Number(s.Seconds), s.Cluster,
		})
		at = append(at, s.Value)
		from = append(from, s.From...)
		if s.To == nil {
			s.To = missing(n)
		}
		to = append(to, s.To...)
	}
	arrays = append(arrays,
		Array{"start_values", []int{len(at)}, at},
		Array{"start_from", []int{len(at), n}, from},
		Array{"start_to", []int{len(at), n}, to})
	for _, c := range f.Clusters {
		h.Clusters = append(h.Clusters, clusterHead{wire.Number(c.Value), c.Starts, c.Best})
	}
	for _, u := range f.Unidentified {
		c := combinationHead{Names: u.Names, Directions: u.Directions, Weights: []wire.Number{}}
		for _, w := range u.Weights {
			c.Weights = append(c.Weights, wire.Number(w))
		}
		h.Unidentified = append(h.Unidentified, c)
	}
	for _, c := range f.Constraints {
		h.Constraints = append(h.Constraints, constraintHead{
			c.Name, wire.Known(c.Unit), c.Relation,
			wire.Number(c.Value),
		})
	}
	list, predictions := Observations(f.Predictions)
	h.Observations = list
	return h, append(arrays, predictions)
}

// missing returns n numbers that are not there.
func missing(n int) []float64 {
	list := make([]float64, n)
	for i := range list {
		list[i] = math.NaN()
	}
	return list
}
