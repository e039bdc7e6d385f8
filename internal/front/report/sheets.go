package report

import (
	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// sensSheet has a row for each derivative: objective, wrt, index, derivative, the objective's value, the derivative's
// error where that was asked for, and its trust ("", "loose" or "lost") unless all derivatives are sound. The index of
// an array element is "1,2"; that of a scalar is empty. Objectives without derivatives have one row, with the value
// alone. Where derivatives are others on the other side, the columns left and right have both; where values leap,
// value_left and value_right have these. Second derivatives bring two more columns, wrt2 and index2. They are empty in
// the rows of first derivatives, and wrt2 is "hvp" in those of products of a Hessian with the direction asked for. A
// row whose wrt is "direction" has the derivative along that, where it is another one on the other side.
func sensSheet(_ Heading, s *odes.Sensitivities) *sheet {
	t := &sheet{name: "derivatives"}
	t.texts("objective", "wrt", "index")
	t.numbers("derivative", "value")
	c := &derivativeCells{s: s, errors: -1, trust: -1, sides: -1, second: -1}
	if s.Settings.Errors && s.Errors != nil {
		c.errors = t.numbers("error")
	}
	if s.Trusts != nil || s.HessianTrusts != nil || s.ProductTrusts != nil {
		c.trust = t.texts("trust")
	}
	left, right, from, to := s.Gradients()
	c.sides = len(t.columns)
	if c.left, c.right = s.Slopes(); left == nil && c.left != nil {
		left, right = s.Gradient, s.Gradient
	}
	if left != nil {
		c.sided = append(c.sided, left, right)
		t.numbers("left", "right")
	}
	if from != nil {
		c.sided = append(c.sided, from, to)
		t.numbers("value_left", "value_right")
	}
	if s.Hessian != nil || s.Products != nil {
		c.second = t.texts("wrt2", "index2")
	}
	c.row = make([]cell, len(t.columns))
	t.rows = c.write
	return t
}

// derivativeCells fills rows of a sheet of derivatives. Its columns are -1 where the sheet lacks them.
type derivativeCells struct {
	s                            *odes.Sensitivities
	errors, trust, sides, second int
	sided                        [][]float64 // of the columns from sides on
	left, right                  []float64   // along the direction; nil for none
	row                          []cell
}

func (c *derivativeCells) write(yield func([]cell)) {
	s := c.s
	for i, value := range s.Values {
		if !hasValue(value) || len(s.Variables) == 0 {
			clear(c.row)
			c.row[0], c.row[4] = text(value.Name), number(value.Value)
			if s.Trusts != nil {
				c.row[c.trust] = text(grade(value.Trust))
			}
			yield(c.row)
			continue
		}
		for _, v := range s.Variables {
			for k, d := range s.Derivative(i, v) {
				at := i*s.Columns + v.Offset + k
				c.fill(i, v, k, d, judged{s.Errors, s.Trusts}, at)
				for n, of := range c.sided {
					c.row[c.sides+n] = some(of[at])
				}
				yield(c.row)
			}
		}
		c.secondOrder(i, yield)
	}
}

// judged is what is known of the numbers of an array.
type judged struct {
	errors []float64
	trusts []odes.Trust
}

// fill fills the row of a derivative d of objective i by element k of v. It stands at a place of an array that was
// judged.
func (c *derivativeCells) fill(i int, v odes.Variable, k int, d float64, by judged, at int) {
	clear(c.row)
	value := &c.s.Values[i]
	c.row[0], c.row[1], c.row[2] = text(value.Name), text(v.String()), text(subscripts(v.Shape, k))
	c.row[3], c.row[4] = number(d), number(value.Value)
	if c.errors >= 0 && by.errors != nil {
		c.row[c.errors] = number(by.errors[at])
	}
	if c.trust >= 0 && by.trusts != nil {
		c.row[c.trust] = text(grade(by.trusts[at]))
	}
}

// secondOrder gives the second derivatives of objective i in lexical order, then the elements of the product.
func (c *derivativeCells) secondOrder(i int, yield func([]cell)) {
	s := c.s
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
				row, column := v.Offset+k, u.Offset+l
				at := (i*s.Columns+row)*s.Columns + column
				c.fill(i, v, k, h[row*s.Columns+column], judged{s.HessianErrors, s.HessianTrusts}, at)
				c.row[c.second], c.row[c.second+1] = text(u.String()), text(subscripts(u.Shape, l))
				yield(c.row)
			})
		})
	}
	if c.left != nil { // what the gradient makes of it, which is that of the order of the run
		var x float64
		for k, d := range s.Direction {
			x += float64(d * s.Gradient[i*s.Columns+k])
		}
		clear(c.row)
		c.row[0], c.row[1] = text(s.Values[i].Name), text("direction")
		c.row[3], c.row[4] = number(x), number(s.Values[i].Value)
		c.row[c.sides], c.row[c.sides+1] = number(c.left[i]), number(c.right[i])
		yield(c.row)
	}
	if s.Products != nil {
		each(func(v odes.Variable, k int) {
			at := i*s.Columns + v.Offset + k
			c.fill(i, v, k, s.Products[at], judged{s.ProductErrors, s.ProductTrusts}, at)
			c.row[c.second] = text("hvp")
			yield(c.row)
		})
	}
}

// grade is the word for trust, "" for what is sound.
func grade(t odes.Trust) string {
	if t == odes.Sound {
		return ""
	}
	return t.String()
}

// runSheet has a row for each time and a column for each element of an output.
func runSheet(h Heading, s *odes.Solution) *sheet {
	t := &sheet{name: "run"}
	t.numbers(h.Time)
	for _, o := range s.Outputs {
		for k := range size(o.Shape) {
			t.numbers(o.Element(k))
		}
	}
	t.rows = func(yield func([]cell)) {
		row := make([]cell, 0, len(t.columns))
		for i, at := range s.T {
			row = append(row[:0], number(at))
			for _, o := range s.Outputs {
				n := size(o.Shape)
				for _, x := range o.Values[i*n : (i+1)*n] {
					row = append(row, number(x))
				}
			}
			yield(row)
		}
	}
	return t
}

// fitSheet has a row for each estimate.
func fitSheet(_ Heading, r *fit.Result) *sheet {
	t := &sheet{name: "estimates"}
	t.texts("name")
	t.numbers("value", "stderr", "lower", "upper")
	t.texts("unit", "at_bound")
	t.numbers("start")
	t.rows = func(yield func([]cell)) {
		for i := range r.Estimates {
			x := &r.Estimates[i]
			yield([]cell{
				text(x.Text()), number(x.Value), number(x.StdErr), number(x.Lower), number(x.Upper), text(x.Unit),
				yesNo(x.AtBound != 0), number(x.Start),
			})
		}
	}
	return t
}

// predictionSheet has a row for each value: experiment, observation, t, data, prediction, its standard error where
// there is one, the standard deviation of the data, the residual in units of that, and whether only that is known
// that the value is at most the datum, or at least.
func predictionSheet(_ Heading, list []fit.Prediction) *sheet {
	t := &sheet{name: "predictions"}
	t.texts("experiment", "observation")
	for _, n := range predictionNumbers(&fit.Prediction{}) {
		t.numbers(n.name)
	}
	t.texts("below", "above")
	t.rows = func(yield func([]cell)) {
		for i := range list {
			p := &list[i]
			row := []cell{text(p.Experiment), text(p.Observation)}
			for _, n := range predictionNumbers(p) {
				row = append(row, some(n.value))
			}
			yield(append(row, yesNo(p.Side < 0), yesNo(p.Side > 0)))
		}
	}
	return t
}

// longSheet has a row for each number of the common form: the table, the row and its label, the column, its unit, the
// number. Facts are those of the table "". Their texts stand in the column textAt.
func longSheet(form *Tables, textAt string) *sheet {
	t := &sheet{name: "result"}
	t.texts("table")
	t.numbers("row")
	label := t.texts("label")
	t.texts("column", "unit")
	value := t.numbers("value")
	t.rows = func(yield func([]cell)) {
		for _, f := range form.Facts {
			row := []cell{{}, {}, {}, text(f.Name), text(f.Unit), number(f.Value)}
			switch {
			case f.Text != "" && textAt == "label":
				row[label], row[value] = text(f.Text), cell{}
			case f.Text != "":
				row[value] = text(f.Text)
			}
			yield(row)
		}
		for i := range form.Tables {
			x := &form.Tables[i]
			for k := range x.Rows() {
				for _, c := range x.Columns {
					yield([]cell{
						text(x.Name), number(float64(k + 1)), text(x.Label(k)), text(c.Name), text(c.Unit),
						number(c.Values[k]),
					})
				}
			}
		}
	}
	return t
}

// tablesCSV is the long sheet.
func tablesCSV(_ Heading, form *Tables) *sheet { return longSheet(form, "value") }

// tablesParquet is the sheet of the only table. Several tables, and facts alone, are the long sheet.
func tablesParquet(_ Heading, form *Tables) *sheet {
	if len(form.Tables) != 1 {
		return longSheet(form, "label")
	}
	x := &form.Tables[0]
	t := &sheet{name: x.Name}
	if x.Labels != nil {
		t.texts("label")
	}
	for _, c := range x.Columns {
		t.numbers(c.Name)
	}
	t.rows = func(yield func([]cell)) {
		row := make([]cell, 0, len(t.columns))
		for k := range x.Rows() {
			if row = row[:0]; x.Labels != nil {
				row = append(row, text(x.Labels[k]))
			}
			for _, c := range x.Columns {
				row = append(row, some(c.Values[k]))
			}
			yield(row)
		}
	}
	return t
}

// branchSheet has a row for each place.
func branchSheet(_ Heading, b *odes.Branch) *sheet {
	t := &sheet{name: "branch"}
	t.numbers(b.Param)
	t.numbers(b.States...)
	t.numbers("growing", "eigenvalue", "imaginary")
	t.texts("kind")
	t.rows = func(yield func([]cell)) {
		for _, x := range b.Places {
			row := []cell{number(x.X)}
			for _, y := range x.Y {
				row = append(row, number(y))
			}
			re, im := sixDigits(real(x.Eigenvalue)), sixDigits(imag(x.Eigenvalue))
			yield(append(row, number(float64(x.Growing)), number(re), number(im), text(x.Kind)))
		}
	}
	return t
}
