package plot

import (
	"math"
	"strconv"
	"strings"
)

// tick is a labelled place on an axis.
type tick struct {
	at    float64
	label string
}

// ticks returns about n round places in s. Where their labels would be long, these say how far beyond an offset the
// places are.
func (s span) ticks(a Axis, n int) (list []tick, offset float64) {
	list, step := s.linearTicks(a, n)
	if step == 0 {
		return list, 0
	}
	longest := 7.0 // digits of a label
	big := max(math.Abs(s.lo), math.Abs(s.hi))
	if big >= powers {
		longest = 4 // and a power of ten
	}
	if len(list) == 0 || math.Floor(math.Log10(big))-math.Floor(math.Log10(step)+1e-9)+1 <= longest {
		return list, 0
	}
	round := math.Pow(10, math.Ceil(math.Log10(s.hi-s.lo)-1e-9))
	offset = math.Floor(list[0].at/round+1e-9) * round
	if last := list[len(list)-1].at; last <= 0 {
		offset = math.Ceil(last/round-1e-9) * round
	}
	for e := math.Log10(round) + 1; e <= math.Log10(big); e++ { // 1e6 rather than 999990, where it is in s
		p := math.Pow(10, math.Round(e))
		if k, last := s.multiples(p); k <= last && k != 0 {
			offset = k * p
		}
	}
	rest := make([]float64, len(list))
	for i, t := range list {
		rest[i] = t.at - offset
		if math.Abs(rest[i]) < step/2 {
			rest[i] = 0
		}
	}
	for i, t := range labelled(rest, step) {
		list[i].label = t.label
	}
	return list, offset
}

// plainTicks returns ticks without an offset, with the step between them.
func (s span) plainTicks(n int) (list []tick, step float64) { return s.linearTicks(Axis{}, n) }

// linearTicks returns about n round places in s, and the step between them; 0 for powers of ten.
func (s span) linearTicks(a Axis, n int) (ticks []tick, step float64) {
	if a.Log {
		if t := s.decades(n); len(t) >= 2 {
			return t, 0
		}
	}
	step = roundStep((s.hi - s.lo) / float64(max(1, n)))
	if step == 0 || math.IsInf(step, 0) {
		return nil, 0
	}
	first, last := s.multiples(step)
	if last-first < 2 { // there should be at least two labels, where finer steps give them
		step = roundStep((s.hi - s.lo) / float64(n+2))
		first, last = s.multiples(step)
	}
	var list []float64
	for k := first; k <= last && len(list) < 50; k++ {
		x := k * step
		if math.Abs(x) < step/2 {
			x = 0
		}
		list = append(list, x)
	}
	return labelled(list, step), step
}

// multiples returns the first and the last multiple of step in s.
func (s span) multiples(step float64) (first, last float64) {
	return math.Ceil(s.lo/step - 1e-9), math.Floor(s.hi/step + 1e-9)
}

// roundStep returns the least of 1, 2 and 5 times powers of ten that is not below x.
func roundStep(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 0) {
		return 0
	}
	p := math.Pow(10, math.Floor(math.Log10(x)))
	for _, m := range []float64{1, 2, 5, 10} {
		if m*p >= x*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// decades returns powers of ten in s, thinned to about n. When there are few, 2 and 5 times these
// come in between.
func (s span) decades(n int) []tick {
	lo, hi := math.Floor(math.Log10(s.lo)), math.Ceil(math.Log10(s.hi))
	factors := []float64{1}
	if math.Floor(math.Log10(s.hi))-math.Ceil(math.Log10(s.lo)) < 2 { // one or two powers of ten
		factors = []float64{1, 2, 5}
	}
	every := max(1, math.Ceil((hi-lo)/float64(max(1, n))))
	var list []tick
	for e := lo; e <= hi; e++ {
		if math.Mod(e, every) != 0 {
			continue
		}
		for _, f := range factors {
			x := f * math.Pow(10, e)
			if x >= s.lo*(1-1e-9) && x <= s.hi*(1+1e-9) {
				list = append(list, tick{x, number(x, 6)})
			}
		}
	}
	return list
}

// powers is from where labels are written with powers of ten.
const powers = 1e6

// labelled writes the places of ticks with the decimals that their step needs.
func labelled(list []float64, step float64) []tick {
	big := 0.0
	for _, x := range list {
		big = max(big, math.Abs(x))
	}
	out := make([]tick, len(list))
	decimals := int(max(0, math.Ceil(-math.Log10(step)-1e-9)))
	for i, x := range list {
		out[i].at = x
		switch {
		case x == 0:
			out[i].label = "0"
		case big >= powers || big < 1e-3:
			digits := int(max(0, math.Floor(math.Log10(math.Abs(x)))-math.Floor(math.Log10(step)+1e-9)))
			out[i].label = exponent(strconv.FormatFloat(x, 'e', min(digits, 15), 64))
		default:
			out[i].label = strconv.FormatFloat(x, 'f', decimals, 64)
		}
	}
	return out
}

// number writes x with n significant digits at most.
func number(x float64, n int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	if m := math.Abs(x); m != 0 && (m < 1e-4 || m >= 1e6) {
		return exponent(strconv.FormatFloat(x, 'e', n-1, 64))
	}
	s := strconv.FormatFloat(x, 'g', n, 64)
	if strings.Contains(s, "e") { // for example 123456 with few digits
		f, _ := strconv.ParseFloat(s, 64)
		return strconv.FormatFloat(f, 'f', -1, 64)
	}
	return s
}

// exponent shortens "1.500e+06" to "1.5e6".
func exponent(s string) string {
	m, e, ok := strings.Cut(s, "e")
	if !ok {
		return s
	}
	if strings.Contains(m, ".") {
		m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
	}
	n, err := strconv.Atoi(e)
	if err != nil || n == 0 {
		return m
	}
	return m + "e" + strconv.Itoa(n)
}
