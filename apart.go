package odes

import (
	"math"
	"strings"

	"odes.dev/odes/solvers"
	"odes.dev/odes/tape"
)

// Apart implements solvers.Separator: it looks where both come about at other values of the variables, and of the states, which move
// with them. Times and conditions that depend on discretes only move apart through these, of which it does not know; they count as fixed.
func (w *worker) Apart(t float64, y, d []float64, a, b solvers.Cause) bool {
	if len(w.columns) == 0 && len(w.free) == 0 {
		return false
	}
	if a.Guard < 0 {
		a, b = b, a
	}
	c := w.newElsewhere(t, y, d)
	switch {
	case a.Guard < 0:
		c.move(0, 1e-3)
		times := c.times()
		x, z := c.timeOf(times, a), c.timeOf(times, b)
		return math.Abs(x-z) > float64(1e-9*max(math.Abs(x), math.Abs(z), math.Abs(times[1]-times[0])))
	case b.Guard < 0:
		return c.leaves(a.Guard, b)
	}
	return c.parts(a.Guard, b.Guard)
}

// elsewhere evaluates times and conditions of a model at parameters and states next to those of a run.
type elsewhere struct {
	*worker
	t       float64
	y, d    []float64 // of the run
	p, near []float64 // moved
}

// ways are irrational: their multiples spread over the fractions.
var ways = [4]float64{0.6180339887498949, 0.4142135623730951, 0.7320508075688772, 0.6457513110645907}

func (w *worker) newElsewhere(t float64, y, d []float64) *elsewhere {
	return &elsewhere{worker: w, t: t, y: y, d: d}
}

// move moves the active parameters and all states, by at most size of themselves and in proportions that no sum of a few of them hides:
// others for each way.
func (c *elsewhere) move(way int, size float64) {
	m := c.model
	n := 0
	part := func(x float64) float64 {
		n++
		f := float64(float64(n) * ways[way])
		f -= math.Floor(f)
		return x + float64(size*(0.5+float64(0.5*f)))*max(math.Abs(x), 1e-3)
	}
	c.p = append(c.p[:0], c.point.p...)
	for _, s := range m.checked.Params {
		if _, active := c.columns["p."+s.Name]; !active || m.defaulted(s) && !c.point.cutP[s] {
			continue
		}
		at := m.part("p." + s.Name)
		for k := range at.len {
			c.p[at.offset+k] = part(c.p[at.offset+k])
		}
	}
	for _, def := range m.compiled.Defaults { // after what they use
		if len(def.Tape.Inputs) > 0 && !c.point.cutP[def.Param] {
			at := m.part("p." + def.Param.Name)
			made := make([]float64, at.len)
			fill(made, m.evalDefault(def, c.p))
			for k, x := range made {
				if c.point.follows(def.Param, k) {
					c.p[at.offset+k] = x
				}
			}
		}
	}
	c.near = append(c.near[:0], c.y...)
	for i, x := range c.near {
		c.near[i] = part(x)
	}
}

// eval returns output of a tape at what was moved.
func (c *elsewhere) eval(t *tape.Tape, output string, at float64) []float64 {
	e := tape.NewEvaluator[float64](t)
	from := map[vector][]float64{vecT: {at}, vecY: c.near, vecP: c.p, vecD: c.d, vecM: c.in[primal][vecM]}
	for _, in := range t.Inputs {
		place := c.model.part(in.Name)
		copy(e.Input(in.Name), from[place.vec][place.offset:])
	}
	e.Run()
	return e.Output(output)
}

// times returns the instants.
func (c *elsewhere) times() []float64 {
	if c.model.compiled.Instants == nil {
		return make([]float64, 2)
	}
	return c.eval(c.model.compiled.Instants, "T", 0)
}

func (c *elsewhere) timeOf(times []float64, a solvers.Cause) float64 {
	if k := c.Instants()[a.Instant].Period; k >= 0 && a.Nth > 0 {
		return math.FMA(float64(a.Nth), times[k], times[a.Instant])
	}
	return times[a.Instant]
}

// guard returns a root function at a time.
func (c *elsewhere) guard(i int, at float64) float64 {
	return c.eval(c.model.compiled.Guards, "rho", at)[i]
}

// start puts the states where a run would begin.
func (c *elsewhere) start(at float64) {
	start := c.model.compiled.Start
	for _, o := range start.Outputs {
		if place := c.model.part(o.Name); strings.HasPrefix(o.Name, "y.") {
			copy(c.near[place.offset:], c.eval(start, o.Name, at))
		}
	}
	for i, cut := range c.cut {
		if cut {
			c.near[i] = c.initial[i]
		}
	}
}

// leaves reports whether the root of guard i leaves the time of an instant.
func (c *elsewhere) leaves(i int, at solvers.Cause) bool {
	moved := append([]float64(nil), c.y...)
	for way := range 3 {
		c.move(way, 1e-3)
		times := c.times()
		t := c.timeOf(times, at)
		if at.Instant == 0 {
			copy(moved, c.near)
			c.start(t)
			for _, o := range c.free {
				copy(c.near[o.from:o.from+o.len], moved[o.from:])
			}
		}
		off := math.Abs(c.guard(i, t))
		size := math.Abs(c.guard(i, t+float64(1e-3*(times[1]-times[0])))-c.guard(i, t)) + math.Abs(c.guard(i, c.t))
		if off > float64(1e-6*size) {
			return true
		}
	}
	return false
}

// parts reports whether the roots of guards i and j part: not where the two change in proportion, whichever way one goes.
func (c *elsewhere) parts(i, j int) bool {
	c.p, c.near = append(c.p[:0], c.point.p...), append(c.near[:0], c.y...)
	x0, z0 := c.guard(i, c.t), c.guard(j, c.t)
	const size = 1e-6
	span := max(math.Abs(c.t), 1)
	x, z := c.guard(i, c.t+float64(size*span))-x0, c.guard(j, c.t+float64(size*span))-z0
	for way := range ways {
		c.move(way, size)
		u, v := c.guard(i, c.t)-x0, c.guard(j, c.t)-z0
		if cross := math.Abs(float64(x*v) - float64(z*u)); cross > float64(1e-3*(math.Abs(x)+math.Abs(u))*(math.Abs(z)+math.Abs(v))) {
			return true
		}
		if math.Abs(u)+math.Abs(v) > math.Abs(x)+math.Abs(z) {
			x, z = u, v
		}
	}
	return false
}
