package truth

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// choices is the source of everything that is random in a model: a row of numbers in [0, 1), of which 0 is the
// simplest. A row that is given is read again, with zeros after its end, so that a model can be made simpler by
// making the numbers so.
type choices struct {
	random *rand.Rand // nil: nothing is added to made
	made   []float64
	at     int
}

func (c *choices) next() float64 {
	if c.at == len(c.made) {
		x := 0.0
		if c.random != nil {
			x = c.random.Float64()
		}
		c.made = append(c.made, x)
	}
	c.at++
	return c.made[c.at-1]
}

// pick chooses one of n.
func (c *choices) pick(n int) int { return min(n-1, int(c.next()*float64(n))) }

func (c *choices) chance(p float64) bool { return c.next() > 1-p }

// oneOf chooses one of some texts.
func (c *choices) oneOf(list ...string) string { return list[c.pick(len(list))] }

// oneNumber chooses one of some numbers.
func (c *choices) oneNumber(list ...float64) float64 { return list[c.pick(len(list))] }

// uniform chooses a number in [lo, hi), with four digits or, now and then, with two.
func (c *choices) uniform(lo, hi float64) float64 {
	digits := 4
	if c.next() < 0.25 {
		digits = 2
	}
	return c.rounded(lo+(hi-lo)*c.next(), lo, hi, digits)
}

// log chooses a number in [lo, hi), as often in each decade.
func (c *choices) log(lo, hi float64) float64 {
	digits := 4
	if c.next() < 0.25 {
		digits = 2
	}
	return c.rounded(lo*math.Pow(hi/lo, c.next()), lo, hi, digits)
}

// rounded returns x with so many digits, if that leaves it in the bounds.
func (c *choices) rounded(x, lo, hi float64, digits int) float64 {
	short, _ := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits, 64), 64)
	if short <= lo || short >= hi {
		return x
	}
	return short
}

func number(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
