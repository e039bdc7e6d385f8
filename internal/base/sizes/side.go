package sizes

import "math"

// Side makes tolerances, laid out [state][lane], what they are after steps that were accepted to the states y: those of
// from, or per of y where that is more. The steps of lanes with a mask of zero were not accepted, and other tolerances
// are left alone. No state is young.
func Side(to, from, y, mask, per []float64) {
	n := len(mask)
	for i, p := range per {
		was, now, ys := from[i*n:][:n], to[i*n:][:n], y[i*n:][:n]
		for k, abs := range was {
			if x := math.Abs(float64(p * ys[k])); x > abs && mask[k] != 0 {
				abs = x
			}
			now[k] = abs
		}
	}
}
