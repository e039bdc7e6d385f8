package settings

import (
	"fmt"
	"math"
	"strings"

	"odes.dev/odes/lang/model"
)

// Marginal says how likelihoods are integrated over random effects.
type Marginal struct {
	Kind string // "laplace", "focei", "foce", "fo", "agq" or "imp"
	N    int    // nodes for each random effect of agq, draws of imp
	Seed uint64 // of imp
	// Starts is how many points of the distribution of random effects are looked at for further modes.
	Starts int
}

// ofPopulations is the relative tolerance of models with random effects, unless they have another one.
const ofPopulations = 1e-8

// String writes m as a model does.
func (m Marginal) String() string {
	var args []string
	switch m.Kind {
	case "agq":
		args = append(args, fmt.Sprintf("n = %d", m.N))
	case "imp":
		args = append(args, fmt.Sprintf("n = %d, seed = %d", m.N, m.Seed))
	}
	if m.Starts > 0 {
		args = append(args, fmt.Sprintf("starts = %d", m.Starts))
	}
	if args == nil {
		return m.Kind
	}
	return m.Kind + "(" + strings.Join(args, ", ") + ")"
}

// setMarginal reads `focei`, `agq(n = 5)` or `imp(n = 1000, seed = 1)`.
func setMarginal(s *Settings, v model.SettingValue) string {
	const usage = "is laplace, focei, foce, fo, agq(n = 5) or imp(n = 1000, seed = 1); with starts = 64, all but fo " +
		"look for more modes"
	m := Marginal{Kind: v.Word}
	limit := 0.0
	switch v.Word {
	case "laplace", "focei", "foce", "fo":
	case "agq":
		m.N, limit = 5, 100
	case "imp":
		m.N, m.Seed, limit = 1000, 1, 1e6
	default:
		return usage
	}
	if v.Array || len(v.List) > 1 || limit == 0 && len(v.List) > 0 || v.Call && len(v.List)+len(v.Keys) == 0 {
		return usage
	}
	args := v.Keys
	for _, x := range v.List {
		args = append(args, model.Setting{Key: "n", Value: x})
	}
	for _, k := range args {
		if wrong := m.take(k, limit, usage); wrong != "" {
			return wrong
		}
	}
	s.Marginal = m
	return ""
}

// take reads an argument. n is at most limit, and there is none where that is 0.
func (m *Marginal) take(k model.Setting, limit float64, usage string) (wrong string) {
	const mostStarts = 10000
	x := k.Value.Number
	whole := x != nil && *x == math.Floor(*x)
	switch {
	case k.Key == "starts" && m.Kind != "fo" && whole && *x >= 0 && *x <= mostStarts:
		m.Starts = int(*x)
	case k.Key == "starts" && m.Kind != "fo":
		return fmt.Sprintf("takes a whole number of starts up to %d", mostStarts)
	case k.Key == "n" && limit > 0 && whole && *x >= 1 && *x <= limit:
		m.N = int(*x)
	case k.Key == "seed" && m.Kind == "imp" && whole && *x >= 0 && *x <= 1<<53:
		m.Seed = uint64(*x)
	case k.Key == "n" && limit > 0:
		return fmt.Sprintf("takes a whole number n from 1 to %g", limit)
	default:
		return usage
	}
	return ""
}
