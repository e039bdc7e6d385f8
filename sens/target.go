package sens

// target is the rows of a result that one sweep backwards writes, one in each lane: objectives and, beyond these, the
// times of events.
type target struct {
	res        *Result
	objectives int
	stride     int
	first      int         // row
	rows       [][]float64 // [L] where the derivatives by p parameters go
}

// aim makes the rows those from first on, for derivatives by p parameters.
func (t *target) aim(first, p int) {
	t.first = first
	for j := range t.rows {
		t.rows[j] = t.res.row(first+j, p, t.stride)
	}
}

// times reports whether all rows are of times of events.
func (t *target) times() bool { return t.first >= t.objectives }

// last returns the last mark that a row depends on, of marks.
func (t *target) last(marks int) int {
	if !t.times() {
		return marks - 1
	}
	return t.res.Events[min(t.first+len(t.rows)-t.objectives, len(t.res.Events))-1].Mark
}

// seed adds to tb, the cotangents of time at mark k, those of the rows that are its time.
func (t *target) seed(k int, tb []float64) {
	for j := range t.rows {
		if e := t.first + j - t.objectives; e >= 0 && e < len(t.res.Events) && t.res.Events[e].Mark == k {
			tb[j]++
		}
	}
}

// suspect notes the objectives whose cotangents yb and tb are not finite.
func (t *target) suspect(yb, tb []float64) {
	l := len(t.rows)
	for j := range min(l, max(t.objectives-t.first, 0)) {
		sum := tb[j]
		for i := range len(yb) / l {
			sum += yb[i*l+j]
		}
		if sum-sum != 0 {
			t.res.Suspect[t.first+j] = true
		}
	}
}

// write writes what is known of objectives besides the rows: whether these are sound, and the derivatives yb by n
// initial values.
func (t *target) write(sound bool, yb []float64, n int) {
	l := len(t.rows)
	for j := range min(l, max(t.objectives-t.first, 0)) {
		o := t.first + j
		t.res.Sound[o] = sound
		switch {
		case len(t.res.DY0) == 0:
		case l == 1:
			copy(t.res.DY0[o*n:], yb[:n])
		default:
			for i := range n {
				t.res.DY0[o*n+i] = yb[i*l+j]
			}
		}
	}
}
