package record

// Forget drops the states that tr keeps, but for the one at the start. Readers then recompute what they need.
func (tr *Trajectory) Forget() { tr.kept.spread(0, tr.units) }

// Units returns how many steps of positive length tr has.
func (tr *Trajectory) Units() int { return tr.units }

// Places calls each after each unit of a run with CheckpointBinomial and room for so many states beside the one at the
// start, with the units before which states are kept then. The list is valid until each returns.
func Places(units, room int, each func(unit int, kept []int)) {
	s := &states{tr: &Trajectory{}}
	s.reset(1, false, room, 0)
	var kept []int
	for u := 1; u < units; u++ {
		if level := s.place(u); level >= 0 {
			_ = s.put(u, level, []float64{0}) // in memory
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
