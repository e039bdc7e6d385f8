// Package small has a change of every kind.
package small

import "time"

var limit = 7

func f(a, b int, s []float64) (n int32, wait time.Duration) {
	var pair [2]float64
	for i := 0; i < len(s); i++ {
		if x := s[i]; x > 0.5 && a <= b {
			pair[i%2] += x * float64(limit)
			continue
		} else if x == 0 {
			break
		}
		g(&pair[0], true)
	}
	n = int32(pair[0]) - 1
	wait = time.Duration(n) * (time.Second + 2)
	return n, wait
}

func g(x *float64, yes bool) {
	if yes {
		*x /= 3
	}
}
