package report

import (
	"encoding/csv"
	"io"

	"odes.dev/odes"
)

// SensCSV writes one row per derivative: objective, wrt, index, derivative, and its error where that was estimated.
// The index of an array element is "1,2", of a scalar empty. Objectives without a value have no rows.
func SensCSV(w io.Writer, s *odes.Sensitivities) error {
	out := csv.NewWriter(w)
	row := []string{"objective", "wrt", "index", "derivative"}
	if s.Errors != nil {
		row = append(row, "error")
	}
	out.Write(row)
	for i, value := range s.Values {
		if !hasValue(value) {
			continue
		}
		for _, v := range s.Variables {
			for k, d := range s.Derivative(i, v) {
				row[0], row[1], row[2], row[3] = value.Name, v.String(), subscripts(v.Shape, k), plainNumber(d)
				if s.Errors != nil {
					row[4] = plainNumber(s.Errors[i*s.Columns+v.Offset+k])
				}
				out.Write(row)
			}
		}
	}
	out.Flush()
	return out.Error()
}

// RunCSV writes one row per time and one column per element of an output, under a header of names.
func RunCSV(w io.Writer, h Heading, s *odes.Solution) error {
	out := csv.NewWriter(w)
	row := []string{h.Time}
	for _, o := range s.Outputs {
		for k := range size(o.Shape) {
			row = append(row, element(o.Name, o.Shape, k))
		}
	}
	out.Write(row)
	for i, t := range s.T {
		row = append(row[:0], plainNumber(t))
		for _, o := range s.Outputs {
			n := size(o.Shape)
			for _, x := range o.Values[i*n : (i+1)*n] {
				row = append(row, plainNumber(x))
			}
		}
		out.Write(row)
	}
	out.Flush()
	return out.Error()
}
