package tapec

import (
	"math"
	"testing"

	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

// places lays out the outputs and inputs of a tape one after the other.
func places(tp *tape.Tape) (of, wrt []Placed, rows, cols int) {
	for _, o := range tp.Outputs {
		of = append(of, Placed{o.Name, rows})
		rows += tp.Shape(o.Value).Size()
	}
	for _, in := range tp.Inputs {
		wrt = append(wrt, Placed{in.Name, cols})
		cols += in.Shape.Size()
	}
	return of, wrt, rows, cols
}

func jacobian(t fataler, tp *tape.Tape) *Jacobian {
	t.Helper()
	of, wrt, rows, cols := places(tp)
	j, err := NewJacobian(tp, of, wrt)
	if err != nil {
		t.Fatalf("%v\n%s", err, tp)
	}
	checkPlaces(t, j, rows, cols)
	return j
}

// checkPlaces checks that each entry has a place.
func checkPlaces(t fataler, j *Jacobian, rows, cols int) {
	t.Helper()
	if err := tape.Check(j.Tape); err != nil {
		t.Fatalf("%v\n%s", err, j.Tape)
	}
	n := 0
	for i, o := range j.Tape.Outputs {
		if o.Name != Entries.Number(i).String() {
			t.Fatalf("output %d is called %s", i, o.Name)
		}
		n += j.Tape.Shape(o.Value).Size()
	}
	if len(j.Rows) != n || len(j.Cols) != n {
		t.Fatalf("%d rows and %d columns of %d entries", len(j.Rows), len(j.Cols), n)
	}
	for e, r := range j.Rows {
		if c := j.Cols[e]; r < 0 || c < 0 || int(r) >= rows || int(c) >= cols {
			t.Fatalf("entry %d is at (%d, %d) of %d × %d", e, r, c, rows, cols)
		}
	}
}

// entries returns the values of all entries.
func entries(t fataler, j *Jacobian, inputs map[string][]float64) []float64 {
	t.Helper()
	e := runTape(t, j.Tape, inputs)
	var out []float64
	for _, o := range j.Tape.Outputs {
		out = append(out, e.Value(o.Value)...)
	}
	return out
}

// columnsByComplexStep returns the derivatives of all outputs by all inputs, column by column.
func columnsByComplexStep(t fataler, tp *tape.Tape, inputs map[string][]float64) [][]float64 {
	t.Helper()
	var out [][]float64
	for _, in := range tp.Inputs {
		for i := range in.Shape.Size() {
			dot := map[string][]float64{}
			for _, other := range tp.Inputs {
				dot["dot."+other.Name] = make([]float64, other.Shape.Size())
			}
			dot["dot."+in.Name][i] = 1
			step := complexStep(t, tp, inputs, dot)
			var column []float64
			for _, o := range tp.Outputs {
				column = append(column, step["dot."+o.Name]...)
			}
			out = append(out, column)
		}
	}
	return out
}

// checkJacobian compares the entries with the complex step, where that and the value are finite. Where there is no
// entry, nothing depends on the input.
func checkJacobian(t fataler, tp *tape.Tape, inputs map[string][]float64, tol float64) *Jacobian {
	t.Helper()
	j := jacobian(t, tp)
	checkEntries(t, tp, j, inputs, tol)
	return j
}

// checkEntries is checkJacobian for what a way to make it gave.
func checkEntries(t fataler, tp *tape.Tape, j *Jacobian, inputs map[string][]float64, tol float64) {
	t.Helper()
	values := entries(t, j, inputs)
	want := columnsByComplexStep(t, tp, inputs)
	at := runTape(t, tp, inputs)
	var outputs []float64
	for _, o := range tp.Outputs {
		outputs = append(outputs, at.Value(o.Value)...)
	}
	got := make([][]float64, len(want))
	for c := range got {
		got[c] = make([]float64, len(want[c]))
	}
	singular := map[[2]int]bool{} // entries of ∞ and -∞ at one place, such as of √(x - y) at x = y
	for e, x := range values {
		r, c := int(j.Rows[e]), int(j.Cols[e])
		got[c][r] += x
		if math.IsInf(x, 0) && got[c][r] != got[c][r] {
			singular[[2]int{r, c}] = true
		}
	}
	const steep = 1e40 // in the place of an infinite slope, a step finds one that its own length sets
	for c := range got {
		for r, x := range got[c] {
			if math.IsInf(x, 0) && math.Abs(want[c][r]) > steep {
				continue
			}
			if w := want[c][r]; w-w == 0 && outputs[r]-outputs[r] == 0 && !singular[[2]int{r, c}] &&
				!(math.Abs(x-w) <= tol*(math.Abs(w)+1)) {
				t.Fatalf("row %d, column %d: %v, complex step gives %v\n%s\n%s", r, c, x, w, tp, j.Tape)
			}
		}
	}
}

func TestJacobianOfEveryOp(t *testing.T) {
	for _, c := range tapetest.Cases() {
		t.Run(c.Name, func(t *testing.T) {
			if differentiable(c.Tape) {
				checkJacobian(t, c.Tape, c.Inputs, 1e-12)
				return
			}
			of, wrt, _, _ := places(c.Tape)
			if _, err := NewJacobian(c.Tape, of, wrt); err == nil {
				t.Error("no error")
			}
		})
	}
}

func TestJacobianOfRandomTapes(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Smooth)
		checkJacobian(rt, tp, tapetest.Fill(tp, 11), 1e-11)
	})
}

// Sums with terms in any order are stretched as they are.
func TestStretchedSums(t *testing.T) {
	tp := parseTape(t, `tape stretched
in x [20]
%1  = outer x x       : [20 20]
%2  = sin %1          : [20 20]
%3  = take x axis=0 index=[3*7 5 2 1 0 4 6 7 8 9 10 11 12 13] : [20]
%4  = mul x %3        : [20]
%5  = take %4 axis=0 index=[3 1 2 2 19] : [5]
%6  = put %5 axis=0 index=[2 2 0 1 1] : [3]
%7  = sum %6 axes=[0]
%8  = sum %2 axes=[0 1]
%9  = add %7 %8
%10 = broadcast %9    : [1]
%11 = minof %10 axes=[0]
%12 = reshape %6      : [1 3 1]
%13 = broadcast %12   : [2 3 4]
%14 = mul %13 %9      : [2 3 4]
%15 = outer %6 %5     : [3 5]
out a %11
out b %14
out c %15
`)
	inputs := tapetest.Fill(tp, 5)
	checkJacobian(t, tp, inputs, 1e-11)
	of, wrt, _, _ := places(tp)
	j, err := limits{most: 1}.jacobian(tp, of, wrt)
	if err != nil {
		t.Fatal(err)
	}
	checkEntries(t, tp, j, inputs, 1e-11)
}

func TestJacobianOfRandomModels(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		g := newGen(rt)
		c := compileModel(rt, g.model(g.over(4)))
		values := g.world()
		if differentiable(c.Rates) && len(c.Rates.Inputs) > 0 {
			checkJacobian(rt, c.Rates, values, 1e-10)
		}
	})
}

// Tangents of colours give the same entries as terms, and a pattern that holds theirs.
func TestColouredJacobians(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Smooth)
		of, wrt, rows, cols := places(tp)
		pattern, err := direct(tp, of, wrt, 0)
		if err != nil {
			rt.Fatal(err)
		}
		j, err := coloured(tp, of, wrt, pattern)
		if err != nil {
			rt.Fatal(err)
		}
		checkPlaces(rt, j, rows, cols)
		checkEntries(rt, tp, j, tapetest.Fill(tp, 11), 1e-11)
		has := map[[2]int32]bool{}
		for e, r := range j.Rows {
			if at := [2]int32{r, j.Cols[e]}; has[at] {
				rt.Fatalf("two entries at %v", at)
			} else {
				has[at] = true
			}
		}
		terms := jacobian(rt, tp)
		for e, r := range terms.Rows {
			if at := [2]int32{r, terms.Cols[e]}; !has[at] {
				rt.Fatalf("a term has an entry at %v, the pattern has none\n%s", at, tp)
			}
		}
	})
}

// Columns of a colour have no row in common.
func TestColours(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.IntRange(1, 100).Draw(rt, "n")
		place := rapid.Int32Range(0, int32(n))
		entries := rapid.IntRange(0, 4*n).Draw(rt, "entries")
		var rows, cols []int32
		for range entries {
			rows, cols = append(rows, place.Draw(rt, "row")), append(cols, place.Draw(rt, "column"))
		}
		colours := Colours(rows, cols)
		of := map[[2]int32]int32{} // the column with a colour in a row
		most := 0
		inRow := map[int32]map[int32]bool{}
		for e, r := range rows {
			c := cols[e]
			at := [2]int32{r, colours[c]}
			if other, ok := of[at]; ok && other != c || colours[c] < 0 {
				rt.Fatalf("columns %d and %d have colour %d and row %d", c, other, colours[c], r)
			}
			of[at] = c
			if inRow[r] == nil {
				inRow[r] = map[int32]bool{}
			}
			inRow[r][c] = true
			most = max(most, len(inRow[r]))
		}
		if got := countOf(colours); got < most || got > len(cols) {
			rt.Fatalf("%d colours, of at least %d", got, most)
		}
	})
}

// overlap has many terms that overlap without having the same places.
func overlap() *tape.Tape {
	const n = 16
	b := tape.NewBuilder("overlap")
	x := b.Input("x", tape.Shape{n}, false)
	sum := b.Op1(tape.Sin, x)
	for k := range 100 {
		index := make([]int, n)
		for i := range index {
			index[i] = (i*i*k + i*(k%7) + k) % n
		}
		sum = b.Add(sum, b.Mul(b.Op1(tape.Sin, b.Take(x, 0, index)), b.Take(x, 0, index)))
	}
	b.Output("y", b.Op1(tape.Cos, b.Op1(tape.Sin, sum)))
	return b.Tape()
}

// Entries of the same place are added up before more is done with them.
func TestOverlappingTerms(t *testing.T) {
	tp := overlap()
	j := checkJacobian(t, tp, tapetest.Fill(tp, 3), 1e-11)
	if len(j.Rows) > 16*16 || j.Terms > 20_000 {
		t.Errorf("%d entries, %d operations", len(j.Rows), j.Terms)
	}
}

// Terms that are too many, or more work than tangents, give way to colours.
func TestLimits(t *testing.T) {
	tp := overlap()
	of, wrt, rows, cols := places(tp)
	for _, c := range []struct {
		limits
		direct bool
	}{
		{limits{always: 1 << 16, factor: 2, most: 1 << 27}, true},
		{limits{factor: 2, most: 1 << 27}, true},
		{limits{most: 1 << 27}, false},
		{limits{always: 1 << 16, factor: 2, most: 100}, false},
	} {
		j, err := c.jacobian(tp, of, wrt)
		if err != nil {
			t.Fatal(err)
		}
		if j.Direct != c.direct {
			t.Errorf("%+v: direct is %v", c.limits, j.Direct)
		}
		checkPlaces(t, j, rows, cols)
		checkEntries(t, tp, j, tapetest.Fill(tp, 3), 1e-11)
	}
}
