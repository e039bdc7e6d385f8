package fit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"odes.dev/odes"
)

// ReadEstimates returns the estimates of a result as odes fit writes it in JSON, for Options.Set: searches begin there.
// Numbers that JSON lacks are left out.
func ReadEstimates(text []byte) ([]odes.Assignment, error) {
	var saved struct {
		Estimates []struct {
			Name  string `json:"name"`
			Index []int  `json:"index"`
			Value any    `json:"value"`
			Unit  string `json:"unit"`
			// Symmetric tells that the element of the other side of the diagonal is the same.
			Symmetric bool `json:"symmetric"`
		} `json:"estimates"`
	}
	if err := json.Unmarshal(text, &saved); err != nil {
		return nil, fmt.Errorf("it is no result of a fit in JSON: %w", err)
	}
	var list []odes.Assignment
	for _, e := range saved.Estimates {
		if v, ok := e.Value.(float64); ok && e.Name != "" {
			list = append(list, odes.Assignment{
				Name: elementName(e.Name, "", false, e.Index), Values: []float64{v}, Unit: e.Unit,
			})
			if e.Symmetric && len(e.Index) == 2 && e.Index[0] != e.Index[1] {
				list = append(list, odes.Assignment{
					Name:   elementName(e.Name, "", false, []int{e.Index[1], e.Index[0]}),
					Values: []float64{v}, Unit: e.Unit,
				})
			}
		}
	}
	if list == nil {
		return nil, errors.New("it has no estimates; odes fit --format json writes them")
	}
	return list, nil
}

// Onward returns what set sets with the controls of m moved on by so many pieces: each piece has the value of a later
// one, and the last ones that of the last. So a horizon that moves on begins where it was solved before.
func Onward(m *odes.Model, set []odes.Assignment, pieces int) ([]odes.Assignment, error) {
	symbols, err := m.Symbols(set)
	if err != nil || pieces == 0 {
		return set, err
	}
	out := slices.Clone(set)
	for _, s := range symbols {
		if !s.Control {
			continue
		}
		n := s.Shape[len(s.Shape)-1]
		values := make([]float64, len(s.Values))
		for k := range values {
			values[k] = s.Values[k-k%n+min(k%n+pieces, n-1)]
		}
		out = append(out, odes.Assignment{Name: s.Name, Values: values})
	}
	return out, nil
}
