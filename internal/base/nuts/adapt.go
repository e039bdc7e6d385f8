package nuts

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
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

// windows returns the iterations of warm-up at whose ends the metric is learned; the first one is where the first window
// begins. A metric that is known at the start needs no time to find the mass.
func windows(warmup int, m Metric) []int {
	first, last, window := 75, 50, 25
	if m == Shrunk {
		first, last, window = 20, 30, 40
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

// learn is what warm-up does behind an iteration.
func (c *Chain) learn(ctx context.Context, it int, accept float64) error {
	c.state.Step = c.state.Averaging.learn(accept, c.o.Target)
	end := it+1 == c.o.Warmup
	if len(c.windows) > 1 {
		if it >= c.windows[0] && it < c.windows[len(c.windows)-1] {
			c.state.Window = append(c.state.Window, slices.Clone(c.now.q))
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

// covariance returns L of the covariance that draws [m][n] tell; nil where they tell none.
func covariance(draws [][]float64, o Options, scale []float64) []float64 {
	m := len(draws)
	if m < 5 {
		return nil
	}
	n := len(draws[0])
	mean := make([]float64, n)
	for _, q := range draws {
		for i, x := range q {
			mean[i] += x
		}
	}
	for i := range mean {
		mean[i] /= float64(m)
	}
	l := make([]float64, n*n)
	if o.Metric != Shrunk || o.Scale == nil {
		for i := range n {
			v := 0.0
			for _, q := range draws {
				v += float64((q[i] - mean[i]) * (q[i] - mean[i]))
			}
			v /= float64(m - 1)
			before := float64(scale[i*n+i] * scale[i*n+i])
			k := float64(m)
			if l[i*n+i] = math.Sqrt(float64(v*k/(k+5)) + float64(1e-3*before*5/(k+5))); !(l[i*n+i] > 0) {
				return nil
			}
		}
		if o.Metric == Diagonal {
			return l
		}
	} else {
		copy(l, o.Scale)
	}
	white := make([][]float64, m)
	for k, q := range draws {
		y := make([]float64, n)
		for i := range n {
			y[i] = q[i] - mean[i]
		}
		forward(l, y)
		white[k] = y
	}
	c := Cholesky(shrunk(white), n)
	if c == nil {
		return nil
	}
	return product(l, c, n)
}

// shrunk returns the covariance of rows whose mean is zero, drawn to a multiple of one by as much as makes its expected
// error least (Ledoit and Wolf).
func shrunk(rows [][]float64) []float64 {
	m, n := float64(len(rows)), len(rows[0])
	s := make([]float64, n*n)
	for _, y := range rows {
		for i, a := range y {
			for j := range i + 1 {
				s[i*n+j] += float64(a * y[j])
			}
		}
	}
	mu, far := 0.0, 0.0
	for i := range n {
		for j := range i + 1 {
			s[i*n+j] /= m
			s[j*n+i] = s[i*n+j]
		}
		mu += s[i*n+i] / float64(n)
	}
	for i := range n {
		for j := range n {
			d := s[i*n+j]
			if i == j {
				d -= mu
			}
			far += float64(d * d)
		}
	}
	wrong := 0.0
	for _, y := range rows {
		for i, a := range y {
			for j, b := range y {
				d := float64(a*b) - s[i*n+j]
				wrong += float64(d * d)
			}
		}
	}
	wrong /= float64(m * m)
	keep := 0.0
	if far > 0 {
		keep = max(1-wrong/far, 0)
	}
	for i := range n {
		for j := range n {
			s[i*n+j] = float64(s[i*n+j] * keep)
		}
		s[i*n+i] += float64((1 - keep) * mu)
	}
	return s
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
