package solvers

// Forget drops the states that tr keeps, but for the one at the start.
func (tr *Trajectory) Forget() { tr.kept.spread(0, tr.units) }

// Units returns how many steps of positive length tr has.
func (tr *Trajectory) Units() int { return tr.units }

// Split is where the next state is kept.
var Split = split

var Update = update

// Places returns the units before which states are kept of a run while it is made, after each of its units, with room
// for so many beside the start.
func Places(units, room int, each func(unit int, kept []int)) {
	s := &states{tr: &Trajectory{}}
	s.reset(1, false, room, 0)
	var kept []int
	for u := 1; u < units; u++ {
		if level := s.place(u); level >= 0 {
			if err := s.put(u, level, []float64{0}); err != nil {
				panic(err)
			}
		}
		kept = kept[:0]
		for _, k := range s.list {
			if !k.gone {
				kept = append(kept, k.unit)
			}
		}
		each(u+1, kept)
	}
}

// Times returns the start and the end of step i.
func (tr *Trajectory) Times(i int) (t, t1 float64) {
	r := tr.rec(i)
	return r.t, r.t1
}
