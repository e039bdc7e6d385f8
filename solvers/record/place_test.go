package record

import "testing"

// TestPlaceLooksAtAll compares placements of binomial checkpoints with those of a search through all states.
func TestPlaceLooksAtAll(t *testing.T) {
	for _, room := range []int{1, 2, 3, 7, 40, 200} {
		s := &states{tr: &Trajectory{}}
		s.reset(1, false, room, 0)
		var all []keptState
		for u := 1; u < 3000; u++ {
			level, drop := 0, -1
			if n := len(all); n >= room {
				most := all[n-1].level
				for i := n - 2; i >= 0 && drop < 0; i-- {
					if all[i].level < most {
						drop = i
					}
					most = all[i].level
				}
				if drop < 0 {
					level, drop = all[n-1].level+1, n-1
				}
				all = append(all[:drop], all[drop+1:]...)
			}
			all = append(all, keptState{unit: u, level: level})
			if got := s.place(u); got != level {
				t.Fatalf("room for %d, unit %d: level %d, want %d", room, u, got, level)
			}
			if err := s.put(u, level, []float64{0}); err != nil {
				t.Fatal(err)
			}
			left := all
			for _, k := range s.list {
				if k.gone {
					continue
				}
				if k.unit != left[0].unit {
					t.Fatalf("room for %d, unit %d: a state is of unit %d, want %d", room, u, k.unit, left[0].unit)
				}
				left = left[1:]
			}
			if len(left) > 0 || s.inMemory != len(all) {
				t.Fatalf("room for %d, unit %d: %d states are missing, %d have memory", room, u, len(left), s.inMemory)
			}
		}
	}
}
