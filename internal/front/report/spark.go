package report

import "math"

var levels = []rune("▁▂▃▄▅▆▇█")

// fewestTimes is the least number of times that a sparkline is drawn of.
const fewestTimes = 8

// spark draws how values change with time, in n characters of equal time; "" where there is nothing to see. The times
// ascend.
func spark(times []float64, value func(i int) float64, n int) string {
	if len(times) < fewestTimes || n < 2 {
		return ""
	}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range times {
		if v := value(i); v-v == 0 {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	from, to := times[0], times[len(times)-1]
	if !(hi-lo > 1e-12*max(math.Abs(lo), math.Abs(hi))) || !(to > from) || math.IsInf(hi-lo, 0) {
		return ""
	}
	out := make([]rune, n)
	at := 0
	for k := range out {
		t := from + (to-from)*float64(k)/float64(n-1)
		for at+1 < len(times) && times[at+1] <= t {
			at++
		}
		v := value(at)
		if at+1 < len(times) && t > times[at] { // on the line to the next
			v += (value(at+1) - v) * (t - times[at]) / (times[at+1] - times[at])
		}
		if v-v != 0 {
			out[k] = ' '
			continue
		}
		f := (v - lo) / (hi - lo) * float64(len(levels))
		out[k] = levels[min(max(int(f), 0), len(levels)-1)]
	}
	return string(out)
}
