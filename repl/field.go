package repl

import (
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// Places of a vector field, and cells of a grid in which nullclines are found.
const (
	fieldColumns, fieldRows = 20, 11
	nullclineCells          = 80
)

// addField draws the vector field and the nullclines of a model that has the two states x and y and nothing else that
// moves. Other models have no field in a plane.
func addField(m *odes.Model, set []odes.Assignment, p *plot.Lines, x, y string) {
	states, rates, err := m.Field(set)
	if err != nil {
		return
	}
	i, j := slices.Index(states, x), slices.Index(states, y)
	if len(states) != 2 || i < 0 || j < 0 || i == j {
		return
	}
	at := func(a, b float64) (da, db float64) {
		z := make([]float64, 2)
		z[i], z[j] = a, b
		d := rates(z)
		return d[i], d[j]
	}
	xs := around(p, func(c *plot.Curve) []float64 { return c.X })
	ys := around(p, func(c *plot.Curve) []float64 { return c.Y })
	if !(xs[0] < xs[1]) || !(ys[0] < ys[1]) {
		return
	}
	p.Arrows = field(xs, ys, at)
	for k, name := range []string{x, y} {
		c := nullcline(xs, ys, func(a, b float64) float64 {
			da, db := at(a, b)
			return []float64{da, db}[k]
		})
		if len(c.X) > 0 {
			c.Name = name + "' = 0"
			p.Curves = append(p.Curves, c)
		}
	}
}

// around returns the range of the curves, with some room.
func around(p *plot.Lines, of func(c *plot.Curve) []float64) [2]float64 {
	lo, hi := math.Inf(1), math.Inf(-1)
	for k := range p.Curves {
		for _, v := range of(&p.Curves[k]) {
			if !math.IsNaN(v) {
				lo, hi = min(lo, v), max(hi, v)
			}
		}
	}
	room := 0.1 * (hi - lo)
	return [2]float64{lo - room, hi + room}
}

// field returns arrows at the places of a grid. Slow ones are shorter, but not as much as they are slow.
func field(xs, ys [2]float64, at func(a, b float64) (da, db float64)) (list []plot.Arrow) {
	const wide, tall = 2.4, 1.0 // of a picture
	fastest := 0.0
	for r := range fieldRows {
		for c := range fieldColumns {
			a := plot.Arrow{
				X: xs[0] + (xs[1]-xs[0])*(float64(c)+0.5)/fieldColumns,
				Y: ys[0] + (ys[1]-ys[0])*(float64(r)+0.5)/fieldRows,
			}
			da, db := at(a.X, a.Y)
			a.Across, a.Up = da/(xs[1]-xs[0])*wide, db/(ys[1]-ys[0])*tall
			if speed := math.Hypot(a.Across, a.Up); speed > 0 && !math.IsInf(speed, 0) {
				fastest = max(fastest, speed)
				list = append(list, a)
			}
		}
	}
	for k := range list {
		a := &list[k]
		speed := math.Hypot(a.Across, a.Up)
		long := 0.45 + 0.55*math.Pow(speed/fastest, 0.4)
		a.Across, a.Up = a.Across/speed*long, a.Up/speed*long
	}
	return list
}

// nullcline returns where f is zero, in the cells of a grid: pieces of lines, which gaps part.
func nullcline(xs, ys [2]float64, f func(a, b float64) float64) plot.Curve {
	const n = nullclineCells
	place := func(s [2]float64, k int) float64 { return s[0] + (s[1]-s[0])*float64(k)/n }
	values := make([][]float64, n+1)
	for r := range values {
		for c := range n + 1 {
			values[r] = append(values[r], f(place(xs, c), place(ys, r)))
		}
	}
	var pieces [][2][2]float64
	for r := range n {
		for c := range n {
			var cut [][2]float64 // where the sides of the cell cross zero
			side := func(r0, c0, r1, c1 int) {
				if r0 > r1 || c0 > c1 { // so that neighbours come to the same bits
					r0, c0, r1, c1 = r1, c1, r0, c0
				}
				u, v := values[r0][c0], values[r1][c1]
				if u-u != 0 || v-v != 0 || (u < 0) == (v < 0) {
					return
				}
				w := u / (u - v)
				cut = append(cut, [2]float64{
					place(xs, c0) + w*(place(xs, c1)-place(xs, c0)), place(ys, r0) + w*(place(ys, r1)-place(ys, r0)),
				})
			}
			side(r, c, r, c+1)
			side(r, c+1, r+1, c+1)
			side(r+1, c+1, r+1, c)
			side(r+1, c, r, c)
			for k := 0; k+1 < len(cut); k += 2 {
				pieces = append(pieces, [2][2]float64{cut[k], cut[k+1]})
			}
		}
	}
	return chained(pieces)
}

// chained joins pieces of lines at their ends; gaps part what does not meet.
func chained(pieces [][2][2]float64) plot.Curve {
	meet := map[[2]float64][]int{}
	for k, piece := range pieces {
		for _, end := range piece {
			meet[end] = append(meet[end], k)
		}
	}
	used := make([]bool, len(pieces))
	next := func(end [2]float64) (other [2]float64, ok bool) {
		for _, k := range meet[end] {
			if !used[k] {
				used[k] = true
				if pieces[k][0] == end {
					return pieces[k][1], true
				}
				return pieces[k][0], true
			}
		}
		return end, false
	}
	curve := plot.Curve{Loop: true, Gaps: true}
	for k := range pieces {
		if used[k] {
			continue
		}
		used[k] = true
		var back, line [][2]float64
		for at, ok := next(pieces[k][0]); ok; at, ok = next(at) {
			back = append(back, at)
		}
		slices.Reverse(back)
		line = append(back, pieces[k][0], pieces[k][1])
		for at, ok := next(pieces[k][1]); ok; at, ok = next(at) {
			line = append(line, at)
		}
		for _, q := range line {
			curve.X, curve.Y = append(curve.X, q[0]), append(curve.Y, q[1])
		}
		curve.X, curve.Y = append(curve.X, math.NaN()), append(curve.Y, math.NaN())
	}
	return curve
}
