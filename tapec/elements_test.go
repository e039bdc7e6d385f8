package tapec_test

import (
	"slices"
	"testing"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// A tangent of one element gives the same as a matrix and as two unit vectors, for each
// element.
func TestElements(t *testing.T) {
	const rows, cols = 3, 4
	b := tape.NewBuilder("products")
	m := b.Input("dot.p.M", tape.Shape{rows, cols}, true)
	kept := b.Input("dot.p.K", tape.Shape{2, 2}, true)
	x := b.Input("x", tape.Shape{cols}, false)
	y := b.Input("y", tape.Shape{rows}, true)
	b.Output("Mx", b.MatMul(m, x, false, false))
	b.Output("My", b.MatMul(m, y, true, false))
	b.Output("yM", b.MatMul(y, m, false, false))
	b.Output("xM", b.MatMul(x, m, false, true))
	b.Output("K", b.SumAxes(kept))
	dense := b.Tape()
	short, names := tapec.Elements(dense, func(string) bool { return true })
	if !slices.Equal(names, []string{"dot.p.M"}) {
		t.Fatalf("replaced %v, want the matrix that is only multiplied", names)
	}
	if err := tape.Check(short); err != nil {
		t.Fatal(err)
	}
	full, sides := tape.NewEvaluator[float64](dense), tape.NewEvaluator[float64](short)
	for _, e := range []*tape.Evaluator[float64]{full, sides} {
		copy(e.Input("x"), []float64{1.5, -2, 3.25, 0.5})
		copy(e.Input("y"), []float64{-1, 0.75, 2})
		copy(e.Input("dot.p.K"), []float64{1, 2, 3, 4})
	}
	for i := range rows {
		for j := range cols {
			row, column := sides.Input("row.dot.p.M"), sides.Input("column.dot.p.M")
			for _, v := range [][]float64{full.Input("dot.p.M"), row, column} {
				clear(v)
			}
			full.Input("dot.p.M")[i*cols+j] = 2
			row[i], column[j] = 2, 1
			full.Run()
			sides.Run()
			for _, o := range dense.Outputs {
				if got, want := sides.Output(o.Name), full.Output(o.Name); !slices.Equal(got, want) {
					t.Errorf("M[%d,%d]: %s is %v, want %v", i, j, o.Name, got, want)
				}
			}
		}
	}
}
