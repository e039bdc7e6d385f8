package nuts

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/optim"
)

// Numbers of dual averaging, those of Hoffman and Gelman.
const (
	gamma = 0.05
	t0    = 10
	kappa = 0.75
)

// begin begins dual averaging from a step.
func (a *Averaging) begin(step float64) {
	*a = Averaging{Mu: elem.Log(10 * step), Mean: elem.Log(step)}
}

// learn takes in an acceptance, and returns the step to try next.
func (a *Averaging) learn(accept, target float64) float64 {
	a.Count++
	eta := 1 / (a.Count + t0)
	a.Error = float64((1-eta)*a.Error) + float64(eta*(target-min(accept, 1)))
	x := a.Mu - float64(math.Sqrt(a.Count)/gamma*a.Error)
	forget := elem.Pow(a.Count, -kappa)
	a.Mean = float64(forget*x) + float64((1-forget)*a.Mean)
	return elem.Exp(x)
}

// windows returns the iterations of warm-up at whose ends the metric is learned; the first one is where the first
// window begins. A metric that is known at the start needs no time to find the mass.
func windows(warmup int, m Metric) []int {
	first, last, window := 75, 50, 25
	if m == Shrunk {
		first, last, window = 20, 40, 30
	}
	switch {
	case warmup < 20:
		return nil
	case warmup < first+last+window:
		first, last = warmup*15/100, warmup/10
		window = warmup - first - last
	}
	list := []int{first}
	for at := first; at < warmup-last; {
		at += window
		window *= 2
		if at+window > warmup-last { // a short one is part of that before it
			at = warmup - last
		}
		list = append(list, at)
	}
	return list
}

// deepest is the most doublings of an iteration: fewer while the metric is not known yet, since whole trajectories then
// cost much and teach little.
func (c *Chain) deepest(it int) int {
	const first, later = 6, 8
	switch w := c.windows; {
	case len(w) < 2 || it >= w[len(w)-2]:
		return c.o.Depth
	case it < w[1]:
		return min(c.o.Depth, first)
	}
	return min(c.o.Depth, later)
}

// firstStep finds a step whose first trajectory is accepted about as often as half of its tries, from that of now.
func (c *Chain) firstStep(ctx context.Context) error {
	direction := 0.0
	for range 60 {
		c.push()
		before := energy(c.now)
		to, err := c.leap(ctx, c.now, c.state.Step)
		if err != nil {
			return err
		}
		h := math.Inf(-1)
		if to != nil {
			if h = energy(to) - before; h-h != 0 {
				h = math.Inf(-1)
			}
			c.drop(to)
		}
		way := -1.0
		if h > -0.2231435513142097 { // the logarithm of 0.8
			way = 1
		}
		if direction == 0 {
			direction = way
		}
		if way != direction {
			break
		}
		c.state.Step = float64(c.state.Step * elem.Exp(direction*math.Ln2))
		if c.state.Step < 1e-12 || c.state.Step > 1e7 {
			break
		}
	}
	c.state.Averaging.begin(c.state.Step)
	return nil
}

// smooth is the sum of acceptances that a trajectory would have without leaps of the density. What a leap costs does
// not become less as steps become shorter, so steps that were to make up for leaps would shrink without end. A leap is
// the loss of one step that is far larger than those of the steps around it.
func (w *work) smooth() float64 {
	const least, times, near = 1, 10, 2
	sum, leaps := 0.0, 0
	for _, list := range w.losses {
		h := 0.0
		for i, x := range list {
			alone := i > 0 && i+1 < len(list) && math.Abs(x) > least
			for j := max(i-near, 0); j <= min(i+near, len(list)-1) && alone; j++ {
				alone = j == i || times*math.Abs(list[j]) < math.Abs(x)
			}
			if alone {
				leaps++
			} else {
				h += x
			}
			sum += elem.Exp(min(h, 0))
		}
	}
	if leaps == 0 {
		return w.accept
	}
	return sum
}

// learn is what warm-up does behind an iteration.
func (c *Chain) learn(ctx context.Context, it int, accept float64) error {
	c.state.Step = c.state.Averaging.learn(accept, c.o.Target)
	end := it+1 == c.o.Warmup
	if len(c.windows) > 1 {
		if it >= c.windows[0] && it < c.windows[len(c.windows)-1] {
			row := slices.Concat(c.now.q, c.now.g)
			if c.o.Centre != nil {
				for i, x := range c.o.Centre(c.now.q) {
					row[i] -= x
				}
			}
			c.state.Window = append(c.state.Window, row)
		}
		if slices.Contains(c.windows[1:], it+1) {
			if l := covariance(c.state.Window, c.o, c.state.Scale); l != nil {
				c.state.Scale = l
			}
			c.state.Window = nil
			if !end {
				return c.firstStep(ctx)
			}
		}
	}
	if end {
		c.state.Step, c.state.Window = elem.Exp(c.state.Averaging.Mean), nil
	}
	return nil
}

// covariance returns L of the covariance that fits draws and slopes best; nil where they tell none. Each row of the
// window is a draw q[n] and the slopes g[n] of the density there.
//
// Slopes tell more than draws: the metric that makes the Fisher divergence to a normal distribution least is the
// geometric mean of the covariance of draws and of the inverse of that of slopes, as in nutpie (A. Seyboldt and others,
// github.com/pymc-devs/nutpie). It is exact for a normal density as soon as there are more draws than numbers, and a
// tail does not inflate it as it inflates the covariance.
func covariance(window [][]float64, o Options, scale []float64) []float64 {
	m := len(window)
	if m < 5 {
		return nil
	}
	n := len(window[0]) / 2
	mean := make([]float64, 2*n)
	for _, row := range window {
		for i, x := range row {
			mean[i] += x
		}
	}
	for i := range mean {
		mean[i] /= float64(m)
	}
	l := make([]float64, n*n)
	if o.Metric == Shrunk && o.Scale != nil {
		copy(l, o.Scale)
	} else {
		for i := range n {
			q, g := 0.0, 0.0
			for _, row := range window {
				q += float64((row[i] - mean[i]) * (row[i] - mean[i]))
				g += float64((row[n+i] - mean[n+i]) * (row[n+i] - mean[n+i]))
			}
			before := 0.0
			for _, x := range scale[i*n : i*n+i+1] {
				before += float64(x * x)
			}
			// Both are compared with what the metric before says, which counts as a draw.
			w := (float64(q/before) + 1) / (float64(g*before) + 1)
			if l[i*n+i] = math.Sqrt(float64(before * math.Sqrt(w))); !(l[i*n+i] > 0) || math.IsInf(l[i*n+i], 1) {
				return nil
			}
		}
		if o.Metric == Diagonal {
			return l
		}
	}
	a, b := make([]float64, n*n), make([]float64, n*n)
	y, w := make([]float64, n), make([]float64, n)
	var sizes []float64
	whiten := func(row []float64) {
		for i := range n {
			y[i] = row[i] - mean[i]
		}
		Whiten(l, y)
		clear(w)
		for i := range n {
			g := row[n+i] - mean[n+i]
			for j, x := range l[i*n : i*n+i+1] {
				w[j] += float64(x * g)
			}
		}
	}
	for _, row := range window {
		whiten(row)
		sizes = append(sizes, dot(w, w))
	}
	slices.Sort(sizes)
	// A few places with slopes far larger than most would rule the covariance of all.
	most := 4 * sizes[m/2]
	for _, row := range window {
		whiten(row)
		if size := dot(w, w); size > most {
			for i := range w {
				w[i] = float64(w[i] * math.Sqrt(most/size))
			}
		}
		for i := range n {
			for j := range n {
				a[i*n+j] += float64(y[i] * y[j])
				b[i*n+j] += float64(w[i] * w[j])
			}
		}
	}
	for i := range n { // the coordinates of l count as a few draws
		const as = 3
		a[i*n+i] += as
		b[i*n+i] += as
	}
	c := between(a, b, n)
	if c == nil {
		return nil
	}
	return product(l, c, n)
}

// between returns L of the geometric mean of a and the inverse of b, both [n][n] and positive: the covariance C for
// which C b C = a.
func between(a, b []float64, n int) []float64 {
	l := Cholesky(a, n)
	if l == nil || !finite(b) {
		return nil
	}
	// C = L (Lᵀ b L)^(−1/2) Lᵀ.
	m := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := j; k < n; k++ {
				m[i*n+j] += float64(b[i*n+k] * l[k*n+j])
			}
		}
	}
	s := make([]float64, n*n)
	for i := range n {
		for j := range n {
			for k := i; k < n; k++ {
				s[i*n+j] += float64(l[k*n+i] * m[k*n+j])
			}
		}
	}
	values := optim.Eigen(s, n)
	c := make([]float64, n*n)
	u := make([]float64, n)
	for k, v := range values {
		if !(v > 0) {
			return nil
		}
		for i := range n {
			u[i] = 0
			for j := range i + 1 {
				u[i] += float64(l[i*n+j] * s[k*n+j])
			}
		}
		root := math.Sqrt(v)
		for i := range n {
			for j := range n {
				c[i*n+j] += float64(u[i] * u[j] / root)
			}
		}
	}
	return Cholesky(c, n)
}

// forward solves L x = y in place.
func forward(l, y []float64) {
	n := len(y)
	for i := range n {
		for j := range i {
			y[i] -= float64(l[i*n+j] * y[j])
		}
		y[i] /= l[i*n+i]
	}
}

// product returns the product of two lower triangular matrices.
func product(a, b []float64, n int) []float64 {
	c := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			for k := j; k <= i; k++ {
				c[i*n+j] += float64(a[i*n+k] * b[k*n+j])
			}
		}
	}
	return c
}

// Cholesky returns L of a symmetric matrix a[n][n] = L Lᵀ; nil where it is not positive.
func Cholesky(a []float64, n int) []float64 {
	l := make([]float64, n*n)
	for i := range n {
		for j := range i + 1 {
			s := a[i*n+j]
			for k := range j {
				s -= float64(l[i*n+k] * l[j*n+k])
			}
			if i > j {
				l[i*n+j] = s / l[j*n+j]
				continue
			}
			if !(s > 0) || math.IsInf(s, 1) {
				return nil
			}
			l[i*n+i] = math.Sqrt(s)
		}
	}
	return l
}

// Solve solves L Lᵀ x = y in place, and Whiten L x = y.
func Solve(l, y []float64) {
	n := len(y)
	forward(l, y)
	for i := n - 1; i >= 0; i-- {
		for j := i + 1; j < n; j++ {
			y[i] -= float64(l[j*n+i] * y[j])
		}
		y[i] /= l[i*n+i]
	}
}

// Whiten solves L x = y in place.
func Whiten(l, y []float64) { forward(l, y) }
