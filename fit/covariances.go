package fit

import (
	"math"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/spd"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// A matrix of covariances of random effects is searched for by the logarithms of its standard deviations and its
// Cholesky factor: coordinates that are no elements of it. Results list the elements of its lower triangle, one for
// each coordinate. Bounds of the text are kept by variances, and by what follows for covariances from those.

// block is such a matrix.
type block struct {
	*spd.Pattern
	variable, column int // of settings.Over; of a row of derivatives, where its elements begin
	first            int // of its coordinates
	start            []float64
}

// part returns the coordinates of the block.
func (b *block) part(x []float64) []float64 { return x[b.first : b.first+b.Size()] }

// matrices is what a problem knows of its blocks.
type matrices struct{ *problem }

// add adds the coordinates of what is a matrix of covariances. It reports whether it is one.
func (p matrices) add(i int, values []float64, lo, hi float64, l *diag.List) bool {
	v := p.settings.Over[i]
	if len(v.Shape) != 2 || !slices.Contains(p.model.Covariances(), v.Name) {
		return false
	}
	n := v.Shape[0]
	w := slices.Clone(values[v.Offset : v.Offset+v.Size()])
	pattern, err := spd.New(n, w)
	if err != nil {
		l.Errorf(odes.CodeSetting, source.Span{}, "%s cannot be searched for from its values: it is a matrix of "+
			"covariances of random effects, and %s", v.Name, err)
		return true
	}
	b := &block{Pattern: pattern, variable: i, column: v.Offset, first: len(p.coords), start: w}
	p.blocks = append(p.blocks, b)
	for k, x := range pattern.Of(w) {
		row, column := pattern.Element(k)
		c := coordinate{
			variable: i, element: row*n + column, column: v.Offset + row*n + column, index: []int{row + 1, column + 1},
			lo: math.Inf(-1), hi: math.Inf(1), block: b, within: [2]float64{lo, hi},
		}
		c.name = elementName(v.Name, v.Written, v.Initial, c.index)
		if row == column {
			if hi <= 0 {
				l.Errorf(odes.CodeSetting, source.Span{}, "%s is a variance, which is positive, and its upper bound "+
					"is %s: give the matrix other bounds", c.name, diag.Number(hi))
				return true
			}
			if lo > 0 {
				c.lo = c.of(lo)
			}
			if !math.IsInf(hi, 1) {
				c.hi = c.of(hi)
			}
		}
		c.first = min(max(x, c.lo), c.hi)
		p.coords = append(p.coords, c)
		p.start = append(p.start, c.first)
	}
	return true
}

// variance tells that a coordinate is that of a variance.
func (c *coordinate) variance() bool { return c.block != nil && c.index[0] == c.index[1] }

// ofBlock returns what follows from a coordinate of a matrix alone: a variance, or a correlation where nothing else is
// in its rows.
func (c *coordinate) ofBlock(x float64) float64 {
	switch {
	case !c.variance():
		return correlated(x)
	case x == c.lo && c.within[0] > 0: // a bound is met with every bit
		return c.within[0]
	case x == c.hi:
		return c.within[1]
	}
	return elem.Exp(float64(2 * x))
}

// correlated returns the correlation that follows from a coordinate alone.
func correlated(x float64) float64 {
	if math.IsInf(x, 0) {
		return math.Copysign(1, x)
	}
	return x / math.Sqrt(1+float64(x*x))
}

// dependent names a covariance that has come to where its correlation, with all effects before held, is 1 or -1 but for
// a five-thousandth; "" for none. A search that has come so far does not end at a minimum: it is on the way to 1 or -1.
func (p matrices) dependent(x []float64) string {
	const steep = 50 // a correlation of 1 - 2e-4
	for k, c := range p.coords {
		if c.block != nil && !c.variance() && math.Abs(x[k]) >= steep {
			return c.name
		}
	}
	return ""
}

// move is the derivative of an element of what is searched for by a coordinate.
type move struct {
	column int
	slope  float64
}

// moves returns which elements move with each coordinate at x.
func (p matrices) moves(x []float64) [][]move {
	list := make([][]move, len(x))
	for k := range x {
		if c := &p.coords[k]; c.block == nil {
			list[k] = []move{{c.column, c.slope(c.value(x[k]))}}
		}
	}
	for _, b := range p.blocks {
		_, slopes, _ := b.Derivatives(b.part(x))
		n := b.Size()
		for e := range b.N * b.N {
			for k, s := range slopes[e*n : (e+1)*n] {
				if s != 0 {
					list[b.first+k] = append(list[b.first+k], move{b.column + e, s})
				}
			}
		}
	}
	return list
}

// pull returns the derivative by a coordinate, times sign, of what has these derivatives by elements.
func pull(sign float64, row []float64, by []move) float64 {
	if len(by) == 0 {
		return 0
	}
	sum := float64(sign * row[by[0].column] * by[0].slope)
	for _, m := range by[1:] {
		sum += float64(sign * row[m.column] * m.slope)
	}
	return sum
}

// pullTwice returns the second derivative by two coordinates, without what bends the scale of the search.
func pullTwice(sign float64, h []float64, columns int, a, b []move) float64 {
	sum := 0.0
	for i, m := range a {
		for j, o := range b {
			d := float64(sign * h[m.column*columns+o.column] * m.slope * o.slope)
			if i == 0 && j == 0 {
				sum = d
				continue
			}
			sum += d
		}
	}
	return sum
}

// bend adds to a Hessian what the scales of blocks bend, given derivatives by elements, times sign.
func (p matrices) bend(sign float64, row, x, h []float64) {
	n := len(x)
	for _, b := range p.blocks {
		_, _, curves := b.Derivatives(b.part(x))
		k := b.Size()
		for e := range b.N * b.N {
			g := float64(sign * row[b.column+e])
			for i := range k {
				for j := range k {
					h[(b.first+i)*n+b.first+j] += float64(g * curves[(e*k+i)*k+j])
				}
			}
		}
	}
}

// spread makes the covariance of values from that of their coordinates, [n][n].
func (p matrices) spread(x, cov []float64) []float64 {
	n := len(x)
	j := make([]float64, n*n)
	for k := range x {
		if c := &p.coords[k]; c.block == nil {
			j[k*n+k] = c.slope(c.value(x[k]))
		}
	}
	for _, b := range p.blocks {
		_, slopes, _ := b.Derivatives(b.part(x))
		size := b.Size()
		for i := range size {
			e := p.coords[b.first+i].element
			copy(j[(b.first+i)*n+b.first:], slopes[e*size:(e+1)*size])
		}
	}
	at := func(a, b int) float64 { // a product with zero is nothing, also where there is no covariance
		sum := 0.0
		for k := range n {
			for l := range n {
				if f := float64(j[a*n+k] * j[b*n+l]); f != 0 {
					sum += float64(f * cov[k*n+l])
				}
			}
		}
		return sum
	}
	out := make([]float64, n*n)
	for a := range n {
		for b := range n {
			out[a*n+b] = at(a, b)
		}
	}
	return out
}

// wald fills in the interval of an element of a matrix: that of a variance on its logarithmic scale.
func (x *Estimate) wald(z float64) {
	if x.Index[0] == x.Index[1] {
		by := elem.Exp(float64(z * x.StdErr / x.Value))
		x.Lower, x.Upper = x.Value/by, float64(x.Value*by)
		return
	}
	x.Lower, x.Upper = x.Value-float64(z*x.StdErr), x.Value+float64(z*x.StdErr)
}

// Covariances is a matrix of covariances of random effects that was searched for, as standard deviations and
// correlations. Errors are standard errors; NaN where there is none.
type Covariances struct {
	Name           string
	N              int
	SD, SDErr      []float64 // [N]
	R, RErr        []float64 // [N][N]: those of zeros of the text are 0
	RLower, RUpper []float64 // intervals of correlations, on Fisher's scale
}

// covariances tells matrices as standard deviations and correlations, given the covariance of the estimates; nil: none.
func (p matrices) covariances(x, spread []float64, z float64) (list []Covariances) {
	none := func(n int) []float64 { return slices.Repeat([]float64{math.NaN()}, n) }
	for _, b := range p.blocks {
		n := b.N
		w := b.Matrix(b.part(x))
		c := Covariances{
			Name: p.settings.Over[b.variable].Name, N: n, SD: make([]float64, n), SDErr: none(n),
			R: make([]float64, n*n), RErr: none(n * n), RLower: none(n * n), RUpper: none(n * n),
		}
		at := map[int]int{} // of an element: its coordinate
		for k := range b.Size() {
			at[p.coords[b.first+k].element] = b.first + k
		}
		// se is that of what has these derivatives by elements.
		se := func(elements []int, slopes []float64) float64 {
			if spread == nil {
				return math.NaN()
			}
			sum := 0.0
			for i, e := range elements {
				for j, f := range elements {
					sum += float64(slopes[i] * slopes[j] * spread[at[e]*len(x)+at[f]])
				}
			}
			return math.Sqrt(sum)
		}
		for i := range n {
			c.SD[i] = math.Sqrt(w[i*n+i])
			c.SDErr[i] = se([]int{i*n + i}, []float64{0.5 / c.SD[i]})
			c.R[i*n+i] = 1
			for j := range i {
				r := w[i*n+j] / (c.SD[i] * c.SD[j])
				e := math.NaN()
				if _, free := at[i*n+j]; free {
					e = se([]int{i*n + j, i*n + i, j*n + j},
						[]float64{1 / (c.SD[i] * c.SD[j]), -0.5 * r / w[i*n+i], -0.5 * r / w[j*n+j]})
				}
				half := math.Tanh(float64(z * e / (1 - float64(r*r)))) // by the addition theorem of tanh
				lower, upper := (r-half)/(1-float64(r*half)), (r+half)/(1+float64(r*half))
				for _, k := range [2]int{i*n + j, j*n + i} {
					c.R[k], c.RErr[k], c.RLower[k], c.RUpper[k] = r, e, lower, upper
				}
			}
		}
		list = append(list, c)
	}
	return list
}

// correlation notes the end of a profile of one.
func (p matrices) correlation(c *coordinate, s *side, out *Result) {
	if out.Population == nil {
		return
	}
	name := p.settings.Over[c.variable].Name
	for i := range out.Population.Covariances {
		of := &out.Population.Covariances[i]
		if of.Name != name {
			continue
		}
		a, b := c.index[0]-1, c.index[1]-1
		for _, k := range [2]int{a*of.N + b, b*of.N + a} {
			if s.direction < 0 {
				of.RLower[k] = s.end
			} else {
				of.RUpper[k] = s.end
			}
		}
	}
}

// outside warns of elements that lie outside of the bounds of the text: a search cannot keep these.
func (p matrices) outside(out *Result) {
	for i := range p.coords {
		c := &p.coords[i]
		if c.block == nil || c.variance() {
			continue
		}
		v := out.Estimates[i].Value
		if v < c.within[0] || v > c.within[1] {
			out.Warnings = append(out.Warnings, diag.Diagnostic{
				Code: CodeFit, Level: diag.Warning, Message: c.name + " is " + diag.Number(v) + ", outside of its " +
					"bounds in the model: the search keeps only the bounds of variances",
			})
		}
	}
}
