package linalg

import (
	"math"
)

// pivoting chooses as a pivot an entry that has at least threshold times the magnitude of the largest
// one of its column: the preferred one if it has, and the largest one otherwise.
type pivoting struct {
	values    []float64 // of the matrix
	threshold float64
	patch     float64   // what takes the place of smaller pivots; 0 for errors
	x         []float64 // a column, by rows of the matrix; zeros between columns
	l         []float64 // −L
	reach     reach
	uneven    bool // a pivot took the place of one that is small beside it, or gone: units should be looked at
}

func (c *pivoting) swap(a, b int32) { c.l[a], c.l[b] = c.l[b], c.l[a] }

func (c *pivoting) choose(t *search, o *Order, k int) (int32, error) {
	j := t.cols[k]
	for e := t.p.Start[j]; e < t.p.Start[j+1]; e++ {
		if i := t.p.Rows[e]; t.mark[i] == int32(k)+1 {
			c.x[i] = c.values[e]
		}
	}
	for f := len(t.found) - 1; f >= 0; f-- {
		m := t.found[f]
		u := c.x[o.rows[m]]
		c.x[o.rows[m]] = 0
		for q := t.lStart[m]; q < t.lStart[m+1]; q++ {
			i := t.lRows[q]
			c.x[i] = fma(c.l[q], u, c.x[i])
		}
	}
	preferred := t.prefer[k]
	at, most, own := preferred, 0.0, 0.0
	for _, i := range t.below {
		v := magnitude(c.x[i])
		if v > most || v == most && i < at || v != v {
			at, most = i, v
		}
		if i == preferred {
			own = v
		}
	}
	if at != preferred && !needs(&c.reach, t.p, c.values, int(j), int(at)) {
		best, largest := int32(-1), smallest
		for _, i := range t.below {
			if v := magnitude(c.x[i]); v > largest && needs(&c.reach, t.p, c.values, int(j), int(i)) {
				best, largest = i, v
			}
		}
		if best >= 0 {
			at, most = best, largest
		}
	}
	if !(most <= math.MaxFloat64) {
		return 0, &NotFiniteError{Row: int(at), Col: int(j), Value: most, Overflow: true}
	}
	if most < magnitude(c.patch) {
		if at = preferred; t.mark[at] != int32(k)+1 {
			at = t.below[0]
		}
		c.x[at], own = c.patch, -1
	} else if most < smallest {
		return 0, &SingularError{Rows: []int{int(preferred)}, Cols: []int{int(j)}}
	}
	if own >= float64(c.threshold*most) {
		at = preferred
	} else if own < float64(exchanged*most) {
		c.uneven = true
	}
	r := negativeInverse(c.x[at])
	for _, i := range t.below {
		if i != at {
			c.l = append(c.l, mul(c.x[i], r))
		}
		c.x[i] = 0
	}
	return at, nil
}
