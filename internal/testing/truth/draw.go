package truth

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Number is what a model must print.
type Number struct {
	Of  string // an objective
	Wrt string // a variable; "" for the value
	// Index is the element of an array that Wrt is.
	Index int
	Truth float64
	// Size is that of the terms of the number, where they may cancel.
	Size float64
	// Scale is how far the variable may go for results to change as a whole; 0 where that is not known.
	Scale float64
}

// Case is a model with numbers that are known.
type Case struct {
	Family  string
	Text    string
	Numbers []Number

	choices, written []float64
	params           []param
}

// draw makes a model.
type draw struct{ driver }

// Draw returns the model of a family that belongs to a seed.
func (f *Family) Draw(seed uint64) Case {
	return f.from(choices{random: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))})
}

// from returns the model that belongs to some choices.
func (f *Family) from(c choices) Case {
	d := &draw{driver{newSheet(c)}}
	f.draw(d)
	return Case{
		Family: f.Name, Text: d.text(), Numbers: d.numbers, choices: d.made[:d.at], written: d.written,
		params: d.params,
	}
}

// moving returns the numbers of c where the closed form has another value of one of its params, in place of that of the
// text. It reports whether these are numbers of the same text.
func (f *Family) moving(c Case, slot int, by float64) (numbers []Number, ok bool) {
	d := &draw{driver{newSheet(choices{made: c.choices})}}
	d.written, d.moved, d.by = c.written, slot, by
	f.draw(d)
	return d.numbers, d.text() == c.Text && len(d.numbers) == len(c.Numbers)
}

// Second is a second derivative that a model must print.
type Second struct {
	Of    string
	Wrt   [2]param
	Truth float64
	// Size is that of the largest second derivative of the value, each times the scales of its params, over the scales
	// of these two.
	Size float64
}

// Seconds returns those second derivatives of a model whose truth differences of its first derivatives tell: none where
// these depend on the difference.
func (f *Family) Seconds(c Case) (list []Second) {
	most := map[string]float64{}
	for _, p := range c.params {
		if p.scale == 0 {
			continue
		}
		slope := func(by float64) (d []float64, ok bool) {
			up, right := f.moving(c, p.slot, by)
			down, left := f.moving(c, p.slot, -by)
			if !right || !left {
				return nil, false
			}
			for i := range up {
				d = append(d, (up[i].Truth-down[i].Truth)/(2*by))
			}
			return d, true
		}
		far, ok1 := slope(1e-4 * p.scale)
		near, ok2 := slope(2.5e-5 * p.scale)
		// Two may agree by chance where closed forms cancel.
		again, ok3 := slope(3e-5 * p.scale)
		once, ok4 := slope(3.6e-5 * p.scale)
		if !ok1 || !ok2 || !ok3 || !ok4 {
			continue
		}
		for i, n := range c.Numbers {
			at := slices.IndexFunc(c.params, func(q param) bool { return q.name == n.Wrt && q.index == n.Index })
			if n.Wrt == "" || at < 0 || n.Scale == 0 {
				continue
			}
			s := Second{Of: n.Of, Wrt: [2]param{p, c.params[at]}, Truth: near[i] + (near[i]-far[i])/15}
			unit := p.scale * n.Scale
			spread := max(near[i], far[i], again[i], once[i]) - min(near[i], far[i], again[i], once[i])
			if !(spread*unit <= 1e-4*(math.Abs(s.Truth)*unit+1e-3*n.Size*n.Scale)) {
				continue
			}
			most[n.Of] = max(most[n.Of], math.Abs(s.Truth)*unit, 1e-2*n.Size*n.Scale)
			list = append(list, s)
		}
	}
	for i := range list {
		s := &list[i]
		s.Size = most[s.Of] / (s.Wrt[0].scale * s.Wrt[1].scale)
	}
	return list
}

// Simpler returns a model like c for which failing still holds, but made of simpler choices. It asks failing at most
// budget times.
func (f *Family) Simpler(c Case, budget int, failing func(Case) bool) Case {
	try := func(made []float64) bool {
		if budget == 0 || slices.Equal(made, c.choices) {
			return false
		}
		budget--
		next := f.from(choices{made: made})
		if !failing(next) {
			return false
		}
		c = next
		return true
	}
	for again := true; again && budget > 0; {
		again = false
		for i := 0; i < len(c.choices); i++ {
			for _, x := range []float64{0, 0.5, math.Round(c.choices[i]*4) / 4} {
				if x >= c.choices[i] || i >= len(c.choices) {
					continue
				}
				made := slices.Clone(c.choices)
				made[i] = x
				if try(made) {
					again = true
					break
				}
			}
		}
	}
	return c
}
