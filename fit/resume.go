package fit

import (
	"encoding/json"
	"math"
	"strings"
)

// kept is a search as it is written down. Numbers that JSON lacks are left out.
type kept struct {
	Number      int        `json:"number"`
	Status      string     `json:"status"`
	Why         string     `json:"why"`
	From        []float64  `json:"from"`
	X           []float64  `json:"x,omitempty"`
	To          []float64  `json:"to,omitempty"`
	Value       *float64   `json:"value,omitempty"`
	Evaluations int        `json:"evaluations"`
	Failures    int        `json:"failures"`
	Iterations  int        `json:"iterations"`
	Seconds     float64    `json:"seconds"`
	Violated    bool       `json:"violated,omitempty"`
	Steady      SteadyWork `json:"steady,omitzero"`
}

// WriteStart returns a line that holds a search, for ReadStarts.
func WriteStart(s Start) string {
	k := kept{
		Number: s.Number, Status: s.Status, Why: s.Why, From: s.From, X: s.x, To: s.To, Evaluations: s.Evaluations,
		Failures: s.Failures, Iterations: s.Iterations, Seconds: s.Seconds, Violated: s.Violated,
		Steady: s.steady,
	}
	if !math.IsNaN(s.Value) {
		k.Value = &s.Value
	}
	b, err := json.Marshal(k)
	if err != nil { // a number that is none
		return ""
	}
	return string(b) + "\n"
}

// ReadStarts reads what WriteStart wrote, for Options.Done. Lines that were not written to their end are left out.
func ReadStarts(text string) []Start {
	var list []Start
	for line := range strings.Lines(text) {
		var k kept
		if json.Unmarshal([]byte(line), &k) != nil {
			continue
		}
		s := Start{
			Number: k.Number, Status: k.Status, Why: k.Why, From: k.From, x: k.X, To: k.To, Value: math.NaN(),
			Evaluations: k.Evaluations, Failures: k.Failures, Iterations: k.Iterations, Seconds: k.Seconds, Cluster: -1,
			Violated: k.Violated, steady: k.Steady,
		}
		if k.Value != nil {
			s.Value = *k.Value
		}
		list = append(list, s)
	}
	return list
}
