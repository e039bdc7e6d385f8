package hybrid

import (
	"math"
	"math/rand/v2"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
)

// TestDearMemberIsNotTried demands that an implicit member one step of which costs more than the rest of the run
// is not tried, however long stability has held steps short; and that it is tried where that costs less, also where
// errors hold steps a little shorter than stability would.
func TestDearMemberIsNotTried(t *testing.T) {
	explicit, _ := methods.Lookup("dopri5")
	implicit, _ := methods.Lookup("rodas5p")
	m := solvers.Switching("two", explicit, implicit).New(solvers.Size{N: 1}, 1)
	for price, want := range map[float64]bool{2: true, 2000: false} {
		x := choice{kinds: true, kin: []kin{{0, 1}, {1, 2}}}
		for _, m := range solvers.Members(m) {
			d, _ := m.(solvers.StiffnessDetector)
			x.members, x.of = append(x.members, m), append(x.of, d)
			x.long = append(x.long, []float64{1, 1})
		}
		x.guess, x.ready = []float64{1, price}, make([]bool, 2)
		x.price = make([]float64, len(x.members))
		by := &spectrum{rho: 1e4, cos: 1}
		h := x.stable(0, 1, by)
		if math.IsInf(h, 1) {
			t.Fatal("no step is held short")
		}
		for _, part := range []float64{1.01, 0.95} { // of h, that error allows
			x.reset()
			tried := false
			for range 10 * choiceTry {
				tried = tried || x.next(0, part*h, 1000*h, by) == 1
			}
			if tried != want {
				t.Errorf("a member of price %v, steps of %v: tried is %v", price, part, tried)
			}
		}
	}
}

// TestCalmChoice demands of steps that nothing holds short what the comparison of all prices says.
func TestCalmChoice(t *testing.T) {
	rng := rand.New(rand.NewPCG(seeds.Of(t, 57), 1))
	calms := 0
	for n := range 300 {
		var members []*solvers.Spec
		for _, name := range [][]string{
			{"dopri5", "rkc2", "rodas5p"},
			{"tsit5", "dopri5"},
			{"dopri5", "tsit5", "bs5", "rodas5p"},
			{"dop853", "rodas5p"},
		}[n%4] {
			m, _ := methods.Lookup(name)
			members = append(members, m)
		}
		m := solvers.Switching("some", members...).New(solvers.Size{N: 2}, 0)
		var both [2]choice
		for i := range both {
			both[i] = newChoice(idle{}, m, &solvers.Tolerance{Rel: 1e-6, Abs: []float64{1e-9}}, false)
		}
		for i := range both[0].price {
			price := both[0].price[i] * math.Exp2(2*rng.Float64()-1)
			both[0].costing(i, price)
			both[1].costing(i, price)
		}
		now := 0
		by := &spectrum{cos: 1}
		for range 60 {
			if rng.IntN(4) == 0 {
				by.rho, by.cos = math.Exp2(8*rng.Float64()-4), rng.Float64()
			}
			h := math.Exp2(12*rng.Float64() - 9)
			both[0].look(by.cos)
			if c := both[0].calmly(now); c.at(h, by.rho) {
				calms++
			}
			both[1].look(by.cos)
			for i := range both[1].calm {
				both[1].calm[i] = calm{i, 0} // nothing is known
			}
			a, b := both[0].next(now, h, 10, by), both[1].next(now, h, 10, by)
			x, y := &both[0], &both[1]
			if a != b || x.since != y.since || x.held != y.held || x.better != y.better || x.wait != y.wait {
				t.Fatalf("h %g, rho %g, cos %g, member %d: %d instead of %d", h, by.rho, by.cos, now, a, b)
			}
			if rng.IntN(3) > 0 {
				now = a
			}
		}
	}
	if calms < 3000 {
		t.Errorf("only %d choices were made at once", calms)
	}
}

// idle is a Field of two states that rest.
type idle struct{ solvers.Field }

func (idle) Size() solvers.Size { return solvers.Size{N: 2} }
