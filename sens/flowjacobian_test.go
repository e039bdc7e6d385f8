package sens

import (
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/testing/seeds"

	"odes.dev/odes/solvers/matrices"
)

// TestColours requires that columns of one colour share no row, and that there is an entry for every pair of states
// that a row of the Jacobian depends on: of bands, at random, and with a row that depends on everything, which takes
// more colours than a word has bits.
func TestColours(t *testing.T) {
	const n = 150
	random := rand.New(rand.NewPCG(seeds.Of(t, 1), 2))
	for name, c := range map[string]struct {
		has  func(row, col int) bool
		most int
	}{
		"band":   {func(row, col int) bool { return row-col <= 1 && col-row <= 1 && row < n }, 5},
		"random": {func(int, int) bool { return random.IntN(60) == 0 }, n},
		"full":   {func(row, col int) bool { return row == col || row == n }, n},
		"none":   {func(row, col int) bool { return col == n }, 0},
	} {
		of := &matrices.Jacobian{}
		pairs := map[element]bool{}
		for row := range n + 1 { // the last is that of a quadrature
			var reads []int32
			for col := range n + 1 {
				if !c.has(row, col) {
					continue
				}
				of.Rows, of.Cols = append(of.Rows, int32(row)), append(of.Cols, int32(col))
				if col < n {
					reads = append(reads, int32(col))
				}
			}
			for _, i := range reads {
				for _, j := range reads {
					pairs[element{i, j}] = true
				}
			}
		}
		p := transpose(of, n, true)
		if len(p.second) != len(pairs) || p.many > c.most {
			t.Errorf("%s: %d entries, want %d; %d colours", name, len(p.second), len(pairs), p.many)
		}
		met := map[[2]int32]bool{} // row, colour
		for _, x := range p.second {
			at := [2]int32{x.row, p.colour[x.col]}
			if met[at] || !pairs[x] {
				t.Fatalf("%s: entry %v is not one, or another one of its colour is in its row", name, x)
			}
			met[at] = true
		}
		if got, want := len(p.places.Rows), len(p.direct)+len(p.states)+len(p.second)+n; got != want {
			t.Errorf("%s: %d places, want %d", name, got, want)
		}
	}
}
