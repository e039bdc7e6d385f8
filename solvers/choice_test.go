package solvers

import (
	"math"
	"testing"
)

// TestDearMemberIsNotTried demands that an implicit member one step of which costs more than the rest of the run
// is not tried, however long stability has held steps short; and that it is tried where that costs less.
func TestDearMemberIsNotTried(t *testing.T) {
	explicit, _ := Lookup("dopri5")
	implicit, _ := Lookup("rodas5p")
	m := Switching("two", explicit, implicit).New(Size{N: 1}, 1)
	for price, want := range map[float64]bool{2: true, 2000: false} {
		x := choice{kind: true}
		for _, m := range Members(m) {
			d, _ := m.(StiffnessDetector)
			x.members, x.of = append(x.members, m), append(x.of, d)
			x.long = append(x.long, []float64{1, 1})
		}
		x.guess, x.ready = []float64{1, price}, make([]bool, 2)
		x.price = make([]float64, len(x.members))
		x.reset()
		by := &spectrum{rho: 1e4, cos: 1}
		h := x.stable(0, 1, by)
		if math.IsInf(h, 1) {
			t.Fatal("no step is held short")
		}
		tried := false
		for range 10 * choiceTry { // steps that error allows to be hardly longer
			tried = tried || x.next(0, 1.01*h, 1000*h, by) == 1
		}
		if tried != want {
			t.Errorf("a member of price %v: tried is %v", price, tried)
		}
	}
}
