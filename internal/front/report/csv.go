package report

import (
	"encoding/csv"
	"io"
	"math"

	"odes.dev/odes"
)

// sensCSV writes one row per derivative: objective, wrt, index, derivative, the objective's value, the derivative's
// error where that was asked for, and its trust ("", "loose" or "lost") unless all derivatives are sound. The index of
// an array element is "1,2"; that of a scalar is empty. Objectives without derivatives have one row, with the value
// alone. Where derivatives are others on the other side, the columns left and right have both; where values leap,
// value_left and value_right have these. Second derivatives bring two more columns, wrt2 and index2. They are empty in
// the rows of first derivatives, and wrt2 is "hvp" in those of products of a Hessian with the direction asked for.
func sensCSV(w io.Writer, _ Heading, s *odes.Sensitivities, _ TableOptions) error {
	out := csv.NewWriter(w)
	row := []string{"objective", "wrt", "index", "derivative", "value"}
	if s.Settings.Errors && s.Errors != nil {
		row = append(row, "error")
	}
	trust := 0
	if s.Trusts != nil || s.HessianTrusts != nil || s.ProductTrusts != nil {
		trust, row = len(row), append(row, "trust")
	}
	sided := len(row)
	left, right, from, to := s.Gradients()
	if left != nil {
		row = append(row, "left", "right")
	}
	if from != nil {
		row = append(row, "value_left", "value_right")
	}
	second := s.Hessian != nil || s.Products != nil
	if second {
		row = append(row, "wrt2", "index2")
	}
	out.Write(row)
	for i, value := range s.Values {
		row[4] = plainNumber(value.Value)
		if !hasValue(value) || len(s.Variables) == 0 {
			clear(row[1:4])
			clear(row[5:])
			if row[0] = value.Name; s.Trusts != nil {
				row[trust] = grade(value.Trust)
			}
			out.Write(row)
			continue
		}
		for _, v := range s.Variables {
			for k, d := range s.Derivative(i, v) {
				row[0], row[1], row[2], row[3] = value.Name, v.String(), subscripts(v.Shape, k), plainNumber(d)
				at := i*s.Columns + v.Offset + k
				if s.Settings.Errors && s.Errors != nil {
					row[5] = plainNumber(s.Errors[at])
				}
				if trust > 0 {
					row[trust] = ""
				}
				if s.Trusts != nil {
					row[trust] = grade(s.Trusts[at])
				}
				for n, of := range [][]float64{left, right, from, to} {
					if of != nil {
						row[sided+n] = sideNumber(of[at])
					}
				}
				if second {
					row[len(row)-2], row[len(row)-1] = "", ""
				}
				out.Write(row)
			}
		}
		secondRows(s, i, row, trust, func() { out.Write(row) })
	}
	out.Flush()
	return out.Error()
}

// sideNumber writes what there is on one side, nothing where that is not a number.
func sideNumber(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return plainNumber(x)
}

// grade is the word for trust, "" for what is sound.
func grade(t odes.Trust) string {
	if t == odes.Sound {
		return ""
	}
	return t.String()
}

// secondRows fills row with one second derivative of objective i after the other, in lexical order, then with the
// elements of the product.
func secondRows(s *odes.Sensitivities, i int, row []string, trust int, write func()) {
	wrt2 := len(row) - 2
	for k := 5; k < wrt2; k++ {
		row[k] = ""
	}
	judged := func(errors []float64, trusts []odes.Trust, at int) {
		if s.Settings.Errors && s.Errors != nil && errors != nil {
			row[4] = plainNumber(errors[at])
		}
		if trusts != nil {
			row[trust] = grade(trusts[at])
		}
	}
	each := func(f func(v odes.Variable, k int)) {
		for _, v := range s.Variables {
			for k := range v.Size() {
				f(v, k)
			}
		}
	}
	if s.Hessian != nil {
		h := s.Second(i)
		each(func(v odes.Variable, k int) {
			each(func(u odes.Variable, l int) {
				d := h[(v.Offset+k)*s.Columns+u.Offset+l]
				row[1], row[2], row[3] = v.String(), subscripts(v.Shape, k), plainNumber(d)
				row[wrt2], row[wrt2+1] = u.String(), subscripts(u.Shape, l)
				judged(s.HessianErrors, s.HessianTrusts, (i*s.Columns+v.Offset+k)*s.Columns+u.Offset+l)
				write()
			})
		})
	}
	if s.Products != nil {
		each(func(v odes.Variable, k int) {
			row[1], row[2], row[3] = v.String(), subscripts(v.Shape, k), plainNumber(s.Products[i*s.Columns+v.Offset+k])
			row[wrt2], row[wrt2+1] = "hvp", ""
			judged(s.ProductErrors, s.ProductTrusts, i*s.Columns+v.Offset+k)
			write()
		})
	}
}

// runCSV writes one row per time and one column per element of an output, under a header of names.
func runCSV(w io.Writer, h Heading, s *odes.Solution, _ TableOptions) error {
	out := csv.NewWriter(w)
	row := []string{h.Time}
	for _, o := range s.Outputs {
		for k := range size(o.Shape) {
			row = append(row, o.Element(k))
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
