package fit

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/base/optim"
	"odes.dev/odes/internal/base/sample"
)

// spectrum is the singular value decomposition of the rows of the Fisher information: those of which the sums of the
// products of columns are its elements. Active constraints leave the directions that are tangent to them.
type spectrum struct {
	scale   []float64 // norms of the columns; the inverse size of the number where its column is nothing
	largest float64   // singular value of the scaled columns, in all directions
	free    int       // directions that are left
	reach   []float64 // of each number: the square of the part of its direction that is left; nil: 1
	// values are the singular values in the directions that are left, descending, and v the right singular vectors, as
	// rows. Where there are many more directions than rows, those in which no row leads are not among them.
	values []float64
	v      []float64
}

// listed is how many directions that the data do not tell are told one by one.
const listed = 20

// rows evaluates the comparison at x and returns the rows of the Fisher information by the coordinates of keep: those
// of residuals, and those of which the products are the curvature of the rest. squares is the sum of squared residuals.
func (e *evaluator) information(
	ctx context.Context, x []float64, keep []int,
) (rows [][]float64, squares float64, err error) {
	if err := e.at(ctx, x); err != nil {
		return nil, 0, err
	}
	n := len(x)
	at := optim.Residuals{
		R: make([]float64, e.rows), J: make([]float64, e.rows*n), Gradient: make([]float64, n),
		Curvature: make([]float64, n*n),
	}
	e.fill(x, optim.Slopes, &at, nil)
	for i, r := range at.R {
		squares += float64(r * r)
		row := make([]float64, len(keep))
		for a, k := range keep {
			row[a] = at.J[i*n+k]
		}
		rows = append(rows, row)
	}
	values, vectors := eigen(sub(at.Curvature, n, keep), len(keep))
	for i, v := range values {
		if v > 0 {
			row := slices.Clone(vectors[i*len(keep) : (i+1)*len(keep)])
			for k := range row {
				row[k] *= math.Sqrt(v)
			}
			rows = append(rows, row)
		}
	}
	return rows, squares, nil
}

// decompose returns the spectrum of rows with a column for each number of these sizes. left are gradients of what is
// not to change.
func decompose(ctx context.Context, rows [][]float64, sizes []float64, left [][]float64) (spectrum, error) {
	n := len(sizes)
	s := spectrum{scale: make([]float64, n), free: n}
	cols := columns(rows, n)
	for j := range cols {
		if s.scale[j] = norm(cols[j]); s.scale[j] == 0 {
			s.scale[j] = 1 / sizes[j]
			continue
		}
		for i := range cols[j] {
			cols[j][i] /= s.scale[j]
		}
	}
	along, basis := cols, [][]float64(nil)
	if len(left) > 0 {
		var err error
		if basis, err = tangents(ctx, left, s.scale); err != nil {
			return s, err
		}
		along = make([][]float64, len(basis)) // columns of products of the rows with the basis
		s.free, s.reach = len(basis), make([]float64, n)
	}
	for a, t := range basis {
		for j, x := range t {
			s.reach[j] += float64(x * x)
		}
		along[a] = make([]float64, len(rows))
		for j, x := range t {
			for i, y := range cols[j] {
				along[a][i] += float64(x * y)
			}
		}
	}
	singular := svd
	if s.free > len(rows)+listed {
		singular = func(ctx context.Context, cols [][]float64) (values, v []float64, err error) {
			return svdOfRows(ctx, columns(cols, len(rows)))
		}
	}
	var err error
	if s.values, s.v, err = singular(ctx, along); err != nil {
		return s, err
	}
	all := s.values
	if len(left) > 0 {
		s.v = products(s.v, basis, n)
		if all, _, err = singular(ctx, cols); err != nil {
			return s, err
		}
	}
	for _, v := range all {
		s.largest = max(s.largest, v)
	}
	return s, nil
}

// products returns rows of coefficients of a basis as rows of n elements.
func products(rows []float64, basis [][]float64, n int) (out []float64) {
	for k := len(basis); len(rows) > 0; rows = rows[k:] {
		row := make([]float64, n)
		for a, t := range basis {
			for j, x := range t {
				row[j] += float64(rows[a] * x)
			}
		}
		out = append(out, row...)
	}
	return out
}

// tangents returns an orthonormal basis of the directions in which nothing with these gradients changes. scale divides
// numbers.
func tangents(ctx context.Context, gradients [][]float64, scale []float64) (basis [][]float64, err error) {
	n := len(scale)
	var rows [][]float64
	for _, g := range gradients {
		row := make([]float64, n)
		for j := range row {
			row[j] = g[j] / scale[j]
		}
		if size := norm(row); size > 0 {
			for j := range row {
				row[j] /= size
			}
			rows = append(rows, row)
		}
	}
	values, v, err := svd(ctx, columns(rows, n))
	for r, value := range values {
		const nothing = 1e-8 // less is rounding, or a gradient that follows from the others
		if value > nothing*values[0] {
			continue
		}
		t := v[r*n : (r+1)*n]
		for j := range t {
			if math.Abs(t[j]) < nothing {
				t[j] = 0
			}
		}
		basis = append(basis, t)
	}
	return basis, err
}

// columns returns the columns of rows of n elements.
func columns(rows [][]float64, n int) [][]float64 {
	cols := make([][]float64, n)
	for j := range cols {
		cols[j] = make([]float64, len(rows))
		for i := range rows {
			cols[j][i] = rows[i][j]
		}
	}
	return cols
}

// vanished makes columns of rows zero that belong to logarithms of which no change is seen: to an estimate that ran
// towards zero, such as a standard deviation beside a larger one.
func (p *problem) vanished(m *minimum, rows [][]float64) {
	const nothing = 1e-8 // standard deviations of the data, for a change by a factor e
	for a, i := range m.keep {
		size := 0.0
		for _, r := range rows {
			size = math.Hypot(size, r[a])
		}
		if p.coords[i].log && size < nothing {
			for _, r := range rows {
				r[a] = 0
			}
		}
	}
}

// release finds bounds at which a search stopped by chance, as it may where nothing else tells an estimate: without
// them, but with all constraints, the objective could be less by no more than its error. Where nothing that is compared
// with data changes either, as at a variance of zero, slopes tell nothing of the estimate, and it stays at its bound.
func (p *problem) release(ctx context.Context, e *evaluator, m *minimum, c *certificate) error {
	m.idle, m.gains = make([]bool, len(m.x)), make([]float64, len(m.x))
	var list []int
	sizes := p.sizes(m.x)
	for i, at := range m.at {
		if at == 0 {
			continue
		}
		if m.gains[i] = (judge{p}).without(c, i); m.gains[i] <= max(mostGain, c.Noise) {
			list = append(list, i)
		}
	}
	least := max(mostGain, c.Noise)
	if len(list) == 0 {
		return p.activate(ctx, e, m, least)
	}
	rows, _, err := e.information(ctx, m.x, list)
	if err != nil {
		return err
	}
	const nothing = 1e-8 // standard deviations of the data
	for a, c := range columns(rows, len(list)) {
		m.idle[list[a]] = float64(norm(c)*sizes[list[a]]) > nothing
	}
	return p.activate(ctx, e, m, least) // what these bounds do not hold, constraints may
}

// inform finds the covariance of the estimates, and what the data do not tell.
func (p *problem) inform(ctx context.Context, e *evaluator, m *minimum, out *Result) error {
	m.keep = m.free()
	k, n := len(m.keep), len(m.x)
	rows, squares, err := e.information(ctx, m.x, m.keep)
	if err != nil {
		return err
	}
	p.vanished(m, rows)
	if m.fisher, err = decompose(ctx, rows, pick(p.sizes(m.x), m.keep), m.gradients()); err != nil {
		return err
	}
	m.fitted = m.fisher.free - p.ofNoise(e, m)
	m.freedom = e.rows - m.fitted
	out.Freedom = m.freedom
	out.Factor = 1
	if p.settings.Scatter == "estimated" {
		out.Factor = math.NaN()
		if m.freedom > 0 {
			m.factor = math.Sqrt(squares / float64(m.freedom))
			out.Factor = m.factor
		}
	}
	lost := p.untold(m, out, e.comparison.RTol)

	m.cov = make([]float64, n*n)
	for i := range m.cov {
		m.cov[i] = math.NaN()
	}
	for a, i := range m.keep {
		if lost[a] {
			m.cov[i*n+i] = math.Inf(1)
		}
	}
	if k > 0 && !slices.Contains(lost, false) {
		return nil // there are no standard errors
	}

	inverse, err := judge{p}.inverse(ctx, e, m, out, rows)
	if err != nil {
		return err
	}
	for a, i := range m.keep {
		for b, j := range m.keep {
			if !lost[a] && !lost[b] {
				m.cov[i*n+j] = inverse[a*k+b]
			}
		}
	}
	out.Correlation = make([][]float64, n)
	for i := range out.Correlation {
		out.Correlation[i] = make([]float64, n)
		for j := range out.Correlation[i] {
			out.Correlation[i][j] = m.cov[i*n+j] / math.Sqrt(m.cov[i*n+i]*m.cov[j*n+j])
		}
	}
	return nil
}

// inverse returns the covariance of the coordinates of keep: the inverse of the observed information where there is
// one, and of the expected one otherwise. Of a common factor of standard deviations only the latter is known.
//
// Estimates trade with one that the data hardly tell, but no farther than its bounds let it move. What has bounds that
// are nearer to each other than its standard error is long is as if it were spread evenly between them.
func (p judge) inverse(
	ctx context.Context, e *evaluator, m *minimum, out *Result, rows [][]float64,
) (inverse []float64, err error) {
	k := len(m.keep)
	weight, uniform := p.weight(e)
	by := float64(out.Factor * out.Factor) // NaN: there are no errors
	if p.settings.Scatter == "known" && uniform {
		by = weight
	}
	var observed []float64
	if m.hessian != nil && p.settings.Scatter == "known" && uniform && len(out.Unidentified) == 0 &&
		len(m.active) == 0 {
		observed = sub(m.hessian, len(m.x), m.keep)
	}
	invertible := observed != nil
	solve := func(s *spectrum) []float64 {
		var c []float64
		if invertible {
			c = invert(slices.Clone(observed), k)
			invertible = c != nil
		}
		if c == nil {
			c = s.inverse(p.blind(e.comparison.RTol))
		}
		for i := range c {
			c[i] *= by
		}
		return c
	}
	inverse = solve(&m.fisher)
	b := p.bounds()
	widths := map[int]float64{} // variances between bounds
	m.alone = make([]float64, len(m.x))
	for a, i := range m.keep {
		m.alone[i] = inverse[a*k+a]
		if w := b.Hi[i] - b.Lo[i]; w > 0 && w*w < inverse[a*k+a] {
			widths[a] = float64(w*w) / 12
			row := make([]float64, k)
			row[a] = math.Sqrt(by / widths[a])
			if rows = append(rows, row); invertible {
				observed[a*k+a] += by / widths[a]
			}
			m.narrow = append(m.narrow, i)
		}
	}
	if len(widths) == 0 {
		return inverse, nil
	}
	within, err := decompose(ctx, rows, pick(p.sizes(m.x), m.keep), m.gradients())
	if err != nil {
		return nil, err
	}
	inverse = solve(&within)
	for a, i := range m.keep {
		v := inverse[a*k+a]
		if w, is := widths[a]; !is {
			m.alone[i] = v
		} else if own := v / (1 - v/w); own > 0 && own < 12*w { // by bounds of others it is told better than by its own
			m.alone[i] = own
		}
	}
	return inverse, nil
}

// ofNoise counts the estimates that only the noise reads. They fit no data: what a common factor of standard deviations
// follows from is the same whatever they are.
func (p *problem) ofNoise(e *evaluator, m *minimum) (n int) {
	if e.comparison == nil {
		return 0
	}
	for _, i := range m.keep {
		var moves, noise bool
		for gi := range e.comparison.Groups {
			g := &e.comparison.Groups[gi]
			at := func(slopes []float64, k int) bool { return slopes[k*e.comparison.Columns+p.coords[i].column] != 0 }
			for k := range g.T {
				moves = moves || at(g.Prediction.Slopes, k)
				for a := range g.Args {
					noise = noise || at(g.Args[a].Slopes, k)
				}
			}
		}
		if noise && !moves {
			n++
		}
	}
	return n
}

// weight returns the weight that all likelihoods have in the objective; false if they differ.
func (p *problem) weight(e *evaluator) (float64, bool) {
	if e.comparison == nil { // a likelihood that is not read row by row
		return 1, true
	}
	w := e.comparison.Groups[0].Weight
	for i := range e.comparison.Groups {
		if e.comparison.Groups[i].Weight != w {
			return 1, false
		}
	}
	return w, true
}

// blind is the singular value, beside the largest, of what the data do not tell: runs are no more accurate.
func (p *problem) blind(rtol float64) float64 { return max(1e-8, min(10*rtol, 1e-4)) }

// untold finds the combinations of estimates that the data do not tell, and marks those that belong to one, by their
// places in keep.
func (p *problem) untold(m *minimum, out *Result, rtol float64) (lost []bool) {
	k := len(m.keep)
	lost = make([]bool, k)
	s := &m.fisher
	limit := float64(p.blind(rtol) * s.largest)
	sizes := judge{p}.extents(m.x)
	told := 0
	for told < len(s.values) && s.values[told] > limit {
		told++
	}
	if s.free-told > listed {
		s.untold(told, lost)
		c := Combination{Directions: s.free - told}
		for a, i := range m.keep {
			if lost[a] {
				c.Names = append(c.Names, p.coords[i].name)
			}
		}
		out.Unidentified, out.Identifiable = []Combination{c}, false
		return lost
	}
	for r := told; r < len(s.values); r++ {
		// What moves by little beside its size may still make up for all that an estimate near zero does to the data.
		effect := s.v[r*k : (r+1)*k] // on what was measured
		change := make([]float64, k) // relative, of the params
		most, strongest := 0.0, 0.0
		for a, i := range m.keep {
			change[a] = effect[a] / s.scale[a]
			change[a] /= sizes[i]
			if math.Abs(change[a]) > math.Abs(most) {
				most = change[a]
			}
			strongest = max(strongest, math.Abs(effect[a]))
		}
		c := Combination{Directions: 1}
		for a, i := range m.keep {
			const little = 1e-3
			if w := change[a] / most; math.Abs(w) > little || math.Abs(effect[a]) > float64(little*strongest) {
				c.Names, c.Weights = append(c.Names, p.coords[i].name), append(c.Weights, w)
				lost[a] = true
			}
		}
		out.Unidentified = append(out.Unidentified, c)
	}
	out.Identifiable = len(out.Unidentified) == 0
	return lost
}

// untold marks numbers whose directions do not lie within the first of the singular vectors.
func (s *spectrum) untold(told int, lost []bool) {
	const rounding = 1e-6
	k := len(lost)
	for a := range lost {
		rest := 1.0
		if s.reach != nil {
			rest = s.reach[a]
		}
		for r := range told {
			rest -= float64(s.v[r*k+a] * s.v[r*k+a])
		}
		lost[a] = rest > rounding
	}
}

// inverse returns the pseudoinverse of the Fisher information. Singular values below limit times the largest are zero.
func (s *spectrum) inverse(limit float64) []float64 {
	k := len(s.scale)
	out := make([]float64, k*k)
	for r, value := range s.values {
		if !(value > limit*s.largest) {
			break
		}
		for i := range k {
			for j := range k {
				out[i*k+j] += s.v[r*k+i] / s.scale[i] / value * (s.v[r*k+j] / s.scale[j] / value)
			}
		}
	}
	return out
}

// estimates lists the estimates, with standard errors and Wald's intervals.
func (p *problem) estimates(m *minimum, out *Result) {
	n := len(m.x)
	z := p.quantile(m)
	values := p.values(m.x)
	var spread []float64
	if len(p.blocks) > 0 && m.cov != nil {
		spread = matrices{p}.spread(m.x, m.cov)
	}
	if out.Population != nil {
		out.Population.Covariances = matrices{p}.covariances(m.x, spread, z)
	}
	for i := range p.coords {
		c := &p.coords[i]
		v := p.settings.Over[c.variable]
		x := Estimate{
			Name: v.Name, Initial: v.Initial, Index: c.index, Written: v.Written, Unit: known(v.Unit), Log: c.log,
			Start: c.first, Value: values[i], StdErr: math.NaN(), Lower: math.NaN(), Upper: math.NaN(),
			LowBound: c.lo, HighBound: c.hi, AtBound: m.at[i],
		}
		if c.block != nil {
			x.Start, x.matrix = c.block.start[c.element], c.block.N
			if x.LowBound, x.HighBound = math.Inf(-1), math.Inf(1); c.variance() {
				x.LowBound, x.HighBound = max(c.within[0], 0), c.within[1]
			}
		}
		if x.Decided = m.cov != nil && len(m.active) > 0 && m.cov[i*n+i] == 0; x.Decided {
			out.Estimates = append(out.Estimates, x)
			continue
		}
		if m.cov != nil && slices.Contains(m.keep, i) {
			se := math.Sqrt(m.cov[i*n+i])
			if slices.Contains(m.narrow, i) && !math.IsInf(se, 1) {
				se = math.Sqrt(m.alone[i]) // of the data, whatever its own bounds are
			}
			x.StdErr = se * math.Abs(c.slope(values[i]))
			if c.block != nil {
				x.StdErr = math.Sqrt(spread[i*n+i])
			}
			switch {
			case p.settings.Intervals == "none":
			case c.block != nil:
				x.wald(z)
			default:
				x.Lower, x.Upper = c.value(m.x[i]-z*se), c.value(m.x[i]+z*se)
				if x.Lower < c.lo && !math.IsInf(se, 1) {
					x.Lower, x.OpenLower = c.lo, "bound"
				}
				if x.Upper > c.hi && !math.IsInf(se, 1) {
					x.Upper, x.OpenUpper = c.hi, "bound"
				}
			}
		}
		out.Estimates = append(out.Estimates, x)
	}
	matrices{p}.outside(out)
}

// quantile returns how many standard errors an interval reaches to each side.
func (p *problem) quantile(m *minimum) float64 {
	tail := (1 - p.settings.Level) / 2
	if p.settings.Scatter == "estimated" && m.freedom > 0 {
		d, err := sample.NewDist("student", []float64{float64(m.freedom), 0, 1}, math.Inf(-1), math.Inf(1))
		if err == nil {
			return -d.Quantile(tail)
		}
	}
	return -sample.NormalQuantile(tail, 1-tail)
}

// predictions lists the data with what the model says, and the criteria that follow.
func (p *problem) predictions(e *evaluator, m *minimum, out *Result) {
	out.Predictions = nil
	n, nll := len(m.x), 0.0
	slopes := make([]float64, n)
	for i := range slopes {
		slopes[i] = p.coords[i].slope(p.coords[i].value(m.x[i]))
	}
	var by []float64
	for gi := range e.comparison.Groups {
		g := &e.comparison.Groups[gi]
		for k := range g.T {
			t := rowOf(g, k)
			nll += t.square*t.square/2 + t.rest
			row := PredictionOf(g, k)
			if m.cov != nil {
				by = by[:0]
				for _, i := range m.keep {
					d := g.Prediction.Slopes[k*e.comparison.Columns+p.coords[i].column] * slopes[i]
					by = append(by, d)
				}
				sum := 0.0
				for a, i := range m.keep {
					if by[a] == 0 || math.IsNaN(sum) {
						continue
					}
					for b, j := range m.keep {
						if by[b] != 0 {
							sum += float64(by[a] * by[b] * m.cov[i*n+j])
						}
					}
				}
				row.Error = math.Sqrt(sum)
			}
			row.Scatter *= m.factor
			row.Residual /= m.factor
			out.Predictions = append(out.Predictions, row)
		}
	}
	out.Rows = len(out.Predictions)
	out.NLL = nll
	k := float64(n)
	out.AIC, out.BIC = 2*nll+2*k, 2*nll+k*math.Log(float64(out.Rows))
}

// known returns a unit, or "" for one that is not known.
func known(unit string) string {
	if unit == "unknown" {
		return ""
	}
	return unit
}
