package compiled

import (
	"math"

	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// plan says where the cotangents of parameters are summed during a sweep, and where they go in a row
// of the gradient. Those of small parameters are summed element by element, in lanes. Those of
// matrices are outer products, one for each stage of every step: their factors are recorded, and the
// products of many stages are computed at once.
type plan struct {
	Columns  map[string]vec.Part // of the active params: their places in a row
	Width    int                 // of a row
	direct   []direct
	gathered int // elements of all direct ones
	deferred []deferral
	empty    []vec.Part // columns that nothing is written to
	Record   int        // doubles that the factors of one stage take
	capacity int        // stages noted before the products are done
}

// direct is a parameter whose cotangents are summed element by element.
type direct struct {
	at, len, column int
	also            bool // it gets deferred products as well
}

// deferral is a product whose factors are recorded. It says where they lie in a record.
type deferral struct {
	left, right int
	rows, cols  int
	laneLeft    bool
	column      int
	first       bool // of its column
}

// leastDeferred is the number of elements from which it is cheaper to record factors than to add
// products.
const leastDeferred = 16

// newPlan orders the active parameters as they are given.
func newPlan(l *vec.Layout, active []string) *plan {
	p := &plan{Columns: map[string]vec.Part{}}
	for _, name := range active {
		at := l.Part(tapec.Param.Called(name))
		p.Columns[name] = vec.Part{Vec: vec.P, Offset: p.Width, Len: at.Len}
		p.Width += at.Len
	}
	return p
}

// column returns the place of an active param in a row.
func (p *plan) column(param string) vec.Part {
	at, ok := p.Columns[param]
	if !ok {
		panic("compiled: param " + param + " is not active")
	}
	return at
}

// moved returns where the tangents of the active params stand: in a row, or in a tangent of one.
func (p *plan) moved() map[tapec.Name]vec.Part {
	places := map[tapec.Name]vec.Part{}
	for name, at := range p.Columns {
		places[tapec.Param.Called(name)] = at
	}
	return places
}

// gather gives places to the parameters whose cotangents are summed element by element. It completes
// the plan, so all deferred products must be known.
func (p *plan) gather(tapes *tapec.Parts[*tape.Tape], active []string) map[tapec.Name]vec.Part {
	made := map[string]bool{}
	for _, t := range tapes.All() {
		if t != nil {
			for _, o := range t.Outputs {
				made[o.Name] = true
			}
		}
	}
	parts := map[tapec.Name]vec.Part{}
	written := map[int]bool{} // by column
	for _, d := range p.deferred {
		written[d.column] = true
	}
	for _, name := range active {
		param := tapec.Param.Called(name)
		if !made[param.Bar().String()] {
			continue
		}
		column := p.Columns[name]
		parts[param] = vec.Part{Vec: vec.P, Offset: p.gathered, Len: column.Len}
		p.direct = append(p.direct, direct{p.gathered, column.Len, column.Offset, written[column.Offset]})
		p.gathered += column.Len
	}
	for _, d := range p.direct {
		written[d.column] = true
	}
	for _, c := range p.Columns {
		if !written[c.Offset] {
			p.empty = append(p.empty, c)
		}
	}
	return parts
}

// defers plans the products of a transpose. It returns where their factors lie in a record.
func (p *plan) defers(list []tapec.Deferred, lanes int) map[tapec.Name]vec.Part {
	places := map[tapec.Name]vec.Part{}
	place := func(factor string, n int) int {
		name := tapec.MustName(factor)
		if at, ok := places[name]; ok {
			return at.Offset
		}
		places[name] = vec.Part{Vec: vec.Factors, Offset: p.Record, Len: n}
		p.Record += n
		return p.Record - n
	}
	for i, d := range list {
		left, right := d.Rows, d.Cols
		if d.LaneLeft {
			left *= lanes
		} else {
			right *= lanes
		}
		p.deferred = append(p.deferred, deferral{
			left: place(d.Left, left), right: place(d.Right, right), rows: d.Rows, cols: d.Cols,
			laneLeft: d.LaneLeft, column: p.column(tapec.MustName(d.Output).Of).Offset,
			first: len(p.deferred) == 0 || list[i-1].Output != d.Output, // those of one output stand together
		})
	}
	if p.Record > 0 { // the records of a flush should stay in the second-level cache
		p.capacity = min(max(1_200_000/(8*p.Record), 24), 96)
	}
	return places
}

// Ledger holds the sums and recorded factors of one worker, laid out by a plan.
type Ledger struct {
	*plan
	lanes   int
	Sums    []float64   // [gathered·L]
	rows    [][]float64 // of the gradient, per lane
	runs    []rowRun    // of those
	records []float64   // [capacity][record]
	noted   int
	flushed bool    // the rows hold products already
	finite  bool    // the sums are finite
	bound   float64 // of the sums of products; infinite where it is not known
	packed  []float64
	lane    []float64
}

// NewLedger returns a ledger for so many lanes.
func NewLedger(p *plan, lanes int) *Ledger {
	b := &Ledger{
		plan: p, lanes: lanes, Sums: make([]float64, p.gathered*lanes),
		records: make([]float64, p.capacity*p.Record),
	}
	for _, d := range p.deferred {
		cols := d.cols
		b.packed = make([]float64, max(len(b.packed), simd.PanelsSize(p.capacity, cols)))
		if !d.laneLeft {
			b.lane = make([]float64, max(len(b.lane), p.capacity*cols))
		}
	}
	return b
}

// rowRun is a run of rows that lie in one array, stride apart.
type rowRun struct{ first, n, stride int }

// appendRuns appends the runs of rows. nil rows are in none.
func appendRuns(runs []rowRun, rows [][]float64) []rowRun {
	for i := 0; i < len(rows); {
		r := rowRun{first: i, n: 1}
		for i++; i < len(rows); i++ {
			d := distance(rows[i-1], rows[i])
			if d <= 0 || r.n > 1 && d != r.stride {
				break
			}
			r.n, r.stride = r.n+1, d
		}
		if len(rows[r.first]) > 0 {
			runs = append(runs, r)
		}
	}
	return runs
}

// distance returns how far b begins behind a in one array, 0 if it does not.
func distance(a, b []float64) int {
	d := cap(a) - cap(b)
	if len(b) == 0 || d <= 0 || d >= cap(a) || &a[:d+1][d] != &b[0] {
		return 0
	}
	return d
}

// Begin starts a sweep that ends in rows.
func (b *Ledger) Begin(rows [][]float64) {
	b.rows, b.noted, b.flushed, b.finite, b.bound = rows, 0, false, true, 0
	b.runs = appendRuns(b.runs[:0], rows)
	clear(b.Sums)
}

// Next returns room for the factors of one stage.
func (b *Ledger) Next() []float64 {
	if b.Record == 0 {
		return nil
	}
	if b.noted == b.capacity {
		b.flush()
	}
	b.noted++
	return b.records[(b.noted-1)*b.Record : b.noted*b.Record]
}

// flush adds the recorded products to the rows, by one product of matrices per lane. Each element
// starts from its stored value and adds the stages in the order in which they were recorded, so that
// results do not depend on the capacity.
func (b *Ledger) flush() {
	if noted := b.records[:b.noted*b.Record]; b.flushed || len(noted) > b.Width*b.lanes {
		b.bound = math.Inf(1) // the rows are fewer numbers
	} else {
		b.bound = float64(float64(len(b.deferred)) * simd.Dot(noted, noted)) // 2|xy| ≤ x² + y²
	}
	for i := range b.deferred {
		d := &b.deferred[i]
		add := b.flushed || !d.first
		u := simd.Update{Rows: d.rows, Cols: d.cols, Inner: b.noted, Lanes: 1, RowG: d.cols, StepY: b.Record}
		packed := b.packed[:simd.PanelsSize(b.noted, d.cols)]
		if d.laneLeft && b.noted > 0 {
			simd.PackPanels(packed, b.records[d.right:], b.noted, d.cols, b.Record, false)
		}
		if d.laneLeft {
			u.RowY = b.lanes
			for _, r := range b.runs {
				u.Lanes, u.LaneG = r.n, r.stride
				to := b.rows[r.first][d.column : d.column+(r.n-1)*r.stride+d.rows*d.cols]
				simd.RankUpdate(&u, to, b.records[d.left+r.first:], packed, add)
			}
			continue
		}
		for l, row := range b.rows {
			if row == nil {
				continue
			}
			for k := range b.noted {
				from := b.records[k*b.Record+d.right:]
				for j := range d.cols {
					b.lane[k*d.cols+j] = from[j*b.lanes+l]
				}
			}
			if b.noted > 0 {
				simd.PackPanels(packed, b.lane, b.noted, d.cols, d.cols, false)
			}
			u.RowY = 1
			simd.RankUpdate(&u, row[d.column:d.column+d.rows*d.cols], b.records[d.left:], packed, add)
		}
	}
	b.flushed, b.noted = true, 0
}

// Finish completes the rows.
func (b *Ledger) Finish() {
	if len(b.deferred) > 0 {
		b.flush()
	}
	for _, d := range b.direct {
		for l, row := range b.rows {
			if row == nil {
				continue
			}
			to, from := row[d.column:d.column+d.len], b.Sums[d.at*b.lanes:]
			if b.lanes == 1 && !d.also {
				copy(to, from)
				sum := simd.Sum(to)
				b.finite = b.finite && sum-sum == 0
				continue
			}
			for i := range to {
				x := from[i*b.lanes+l]
				if d.also {
					x += to[i]
				}
				to[i] = x
				b.finite = b.finite && x-x == 0
			}
		}
	}
	for _, c := range b.empty {
		for _, row := range b.rows {
			if row != nil {
				clear(row[c.Offset : c.Offset+c.Len])
			}
		}
	}
}

// Sound reports whether the completed rows are known to hold finite numbers only, without a look at them.
func (b *Ledger) Sound() bool { return b.finite && b.bound < 1e300 }
