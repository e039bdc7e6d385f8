package ensemble

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/sample"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/lang/diag"
)

// Which members are compared with independent runs.
const (
	Sample = ""    // some of them; all, where there are fewer than smallest
	All    = "all" // every member
	None   = "off" // no member, as where the settings say sens.trust = off
)

// Of ensembles of smallest members or more a sample is compared: so many members that the seed draws, those with the
// extremes of as many values, and those with extremes of derivatives and outputs at times as long as no more than one
// in oneOf is compared.
const (
	smallest   = 32
	drawn      = 16
	mostValues = 16
	oneOf      = 64
)

// Doubt says why the comparison of a member with an independent run does not confirm all of its numbers.
type Doubt struct {
	Member  int    `json:"member"`
	Lost    bool   `json:"lost,omitempty"` // not even the first digit of some number is sure
	Message string `json:"message"`
	// Off are the errors of numbers of which few digits are right, by their places in the row; infinite where no
	// comparison tells how large they are.
	Off []Off `json:"off,omitempty"`
	// Minor tells, after the run, that all of these are small beside the same numbers of other members, as those of a
	// member for which a derivative nearly vanishes. The member counts as confirmed.
	Minor bool `json:"-"`

	ok bool // the row does not say it
}

// Off is the estimated error of a number of a row.
type Off struct {
	At    int  `json:"at"`
	Error Real `json:"error"`
}

// Findings are what comparisons of members with independent runs found.
type Findings struct {
	Compared    int     // members that were compared
	Unconfirmed int     // of these, those that independent runs do not confirm
	Minor       int     // of those that are confirmed, those whose doubts are minor
	Doubts      []Doubt // of a sample all, else the first of them; those that are minor come last
	// Controlled tells that the derivatives of all members were under error control, since a member that was drawn
	// needed it (sens.control = auto).
	Controlled bool

	marked  []Doubt   // whose rows do not say it, by their members
	sizes   []float64 // the largest absolute values of the numbers of rows
	pending []Doubt   // of which sizes decide whether they are minor
	keep    int       // how many Doubts are kept at least
}

// Warnings tells what is to be said of what was found.
func (f *Findings) Warnings() (list []diag.Diagnostic) {
	if f.Controlled {
		list = append(list, diag.Diagnostic{
			Code: odes.CodeTrust, Level: diag.Note, Message: "derivatives of all members are under error control " +
				"(control = on), since members that were compared with independent runs needed it",
		})
	}
	if f.Minor > 0 {
		list = append(list, diag.Diagnostic{
			Code: odes.CodeTrust, Level: diag.Note, Message: fmt.Sprintf("%s small numbers of which few digits are "+
				"right; beside those of other members, the errors are small",
				diag.CountOf(f.Minor, "member has", "members have")),
		})
	}
	if f.Unconfirmed == 0 {
		return list
	}
	verb := "are"
	if f.Unconfirmed == 1 {
		verb = "is"
	}
	return append(list, diag.Diagnostic{
		Code: odes.CodeTrust, Level: diag.Warning, Message: fmt.Sprintf("%d of %s compared with an independent run "+
			"%s not confirmed, and others may be like these; the first is member %d: %s", f.Unconfirmed,
			diag.Count(f.Compared, "member"), verb, f.Doubts[0].Member+1, f.Doubts[0].Message),
	})
}

// Partial returns the members whose rows say that they are ok, and that are not confirmed.
func (f *Findings) Partial() (list []int) {
	for _, d := range f.marked {
		if d.ok && !d.Minor {
			list = append(list, d.Member)
		}
	}
	return list
}

// Mark writes doubts of members into a chunk that Run handed over.
func (f *Findings) Mark(c *Chunk) {
	at, _ := slices.BinarySearchFunc(f.marked, c.First, func(d Doubt, first int) int {
		return cmp.Compare(d.Member, first)
	})
	for ; at < len(f.marked) && f.marked[at].Member < c.First+len(c.Status); at++ {
		d := f.marked[at]
		if i := d.Member - c.First; !d.Minor && c.Status[i] == OK {
			c.Status[i] = Partial
		}
		if !slices.ContainsFunc(c.Doubts, func(x Doubt) bool { return x.Member == d.Member }) {
			c.Doubts = append(c.Doubts, d)
		}
	}
}

// add takes in what was found of members that are all compared.
func (f *Findings) add(p *Problem, c *Chunk) {
	if p.trust != All {
		return
	}
	width := p.Table.Width()
	for i, s := range c.Status {
		if s != Failed {
			f.Compared++
			f.measure(c.Rows[i*width : (i+1)*width])
		}
	}
	for _, d := range c.Doubts {
		d.ok = c.Status[d.Member-c.First] == OK
		if len(d.Off) > 0 && len(f.pending) < mostPending {
			f.pending = append(f.pending, d)
			continue
		}
		f.doubt(d)
	}
}

// mostPending bounds how many doubts wait for the sizes of numbers of all members. Those beyond count as they are.
const mostPending = 1000

// measure takes in how large the numbers of a row are.
func (f *Findings) measure(row []float64) {
	if f.sizes == nil {
		f.sizes = make([]float64, len(row))
	}
	for k, x := range row {
		if x-x == 0 {
			f.sizes[k] = max(f.sizes[k], math.Abs(x))
		}
	}
}

// doubt takes in a doubt about which nothing is open.
func (f *Findings) doubt(d Doubt) {
	if d.Minor {
		f.Minor++
	} else {
		f.Unconfirmed++
	}
	if d.ok || f.keep > 0 { // else rows say it
		f.marked = append(f.marked, d)
	}
	if len(f.Doubts) < max(keptFailures, f.keep) {
		f.Doubts = append(f.Doubts, d)
	}
}

// small is the part of the largest number of its column below which an error is minor.
const small = 1e-4

// conclude decides which doubts are minor, when all rows were measured.
func (f *Findings) conclude() {
	for _, d := range f.pending {
		d.Minor = true
		for _, o := range d.Off {
			d.Minor = d.Minor && float64(o.Error) <= float64(small*f.sizes[o.At])
		}
		f.doubt(d)
	}
	f.pending = nil
	slices.SortStableFunc(f.marked, func(a, b Doubt) int { return cmp.Compare(a.Member, b.Member) })
	slices.SortStableFunc(f.Doubts, func(a, b Doubt) int {
		switch {
		case a.Minor == b.Minor:
			return cmp.Compare(a.Member, b.Member)
		case a.Minor:
			return 1
		}
		return -1
	})
}

// comparing returns which members are compared: Sample, All or None.
func (p *Problem) comparing() string {
	switch {
	case p.Job.Trust == All:
		return All
	case p.Job.Trust == None || !p.manner.Compared:
		return None
	case p.points.n < smallest:
		return All
	}
	return Sample
}

// comparer compares a sample of the members of a problem.
type comparer struct {
	p       *Problem
	backend Backend
	found   *Findings
	drawn   []int        // members, ascending
	alone   map[int]*own // what compared members are by themselves
	first   int          // of the columns that can have extremes
	columns []int        // that are looked at, within a row
	ends    []holder     // of each column the least and the largest
	rows    map[int][]float64
	status  map[int]Status // of members that were compared
	kept    map[string]*kept
}

// own is what came of a member by itself, in a run that was compared with an independent one.
type own struct {
	row   []float64
	why   string // it failed
	doubt *Doubt
}

// holder is the member that has the extreme of a column.
type holder struct {
	member int // -1 for none
	value  float64
	row    []float64
	status Status
}

// newComparer chooses what is looked at.
func newComparer(p *Problem, b Backend) *comparer {
	t := &p.Table
	k := &comparer{
		p: p, backend: b, found: &Findings{}, alone: map[int]*own{}, first: len(t.Params), rows: map[int][]float64{},
		status: map[int]Status{}, kept: map[string]*kept{},
	}
	n := uint64(t.Members)
	for i := range uint64(min(drawn, t.Members)) {
		k.drawn = append(k.drawn, int(sample.Permute(i, n, p.Job.Design.Seed^drawKey)))
	}
	slices.Sort(k.drawn)
	values := t.Values
	rest := t.Width() - k.first - len(values)
	k.spread(k.first, len(values), mostValues)
	k.spread(k.first+len(values), rest, max(0, (t.Members/oneOf-drawn)/2-len(k.columns)))
	k.ends = make([]holder, 2*len(k.columns))
	for i := range k.ends {
		k.ends[i].member = -1
	}
	return k
}

// drawKey tells the draw of members to compare from all others with the same seed.
const drawKey = 0x636f6d70617265

// spread takes most of the n columns from at on, evenly.
func (k *comparer) spread(at, n, most int) {
	m := min(n, most)
	for i := range m {
		k.columns = append(k.columns, at+i*n/m)
	}
}

// see takes in what came of members.
func (k *comparer) see(c *Chunk) {
	width := k.p.Table.Width()
	for _, m := range k.drawn {
		if i := m - c.First; i >= 0 && i < len(c.Status) {
			k.rows[m] = slices.Clone(c.Rows[i*width : (i+1)*width])
			k.status[m] = c.Status[i]
		}
	}
	for i := range c.Status {
		row := c.Rows[i*width : (i+1)*width]
		for j, at := range k.columns {
			x := row[at]
			if x-x != 0 {
				continue
			}
			least, most := &k.ends[2*j], &k.ends[2*j+1]
			if least.member < 0 || x < least.value {
				*least = holder{c.First + i, x, append(least.row[:0], row...), c.Status[i]}
			}
			if most.member < 0 || x > most.value {
				*most = holder{c.First + i, x, append(most.row[:0], row...), c.Status[i]}
			}
		}
	}
}

// extremes returns the members that hold extremes and were not drawn.
func (k *comparer) extremes() (list []int) {
	for _, h := range k.ends {
		if _, known := k.rows[h.member]; h.member >= 0 && !known {
			k.rows[h.member], k.status[h.member] = h.row, h.status
			list = append(list, h.member)
		}
	}
	slices.Sort(list)
	return list
}

// compare runs members by themselves and compares them with independent runs.
func (k *comparer) compare(ctx context.Context, members []int, control string) error {
	if len(members) == 0 {
		return nil
	}
	p, err := k.p.byThemselves(members, control)
	if err != nil {
		return err
	}
	backend := k.backend
	if local, ok := backend.(Local); ok {
		if k.kept[control] == nil {
			k.kept[control] = &kept{}
		}
		local.kept = k.kept[control]
		backend = local
	}
	width := p.Table.Width()
	_, err = Run(ctx, p, Config{Backend: backend, Each: func(c *Chunk) error {
		for i, status := range c.Status {
			o := &own{row: slices.Clone(c.Rows[i*width : (i+1)*width])}
			if status == Failed {
				o.why = "the run failed"
			}
			k.alone[members[c.First+i]] = o
		}
		for _, f := range c.Failures {
			k.alone[members[f.Member]].why = f.Message
		}
		for _, d := range c.Doubts {
			d.Member = members[d.Member]
			k.alone[d.Member].doubt = &d
		}
		return nil
	}})
	return err
}

// byThemselves returns the problem of members that are run one by one and compared with independent runs. control is
// that of their derivatives; "" leaves it to the settings.
func (p *Problem) byThemselves(members []int, control string) (*Problem, error) {
	job := *p.Job
	job.Design = Design{Points: Rows, Names: p.points.names}
	for _, m := range members {
		row := make([]float64, len(p.points.names))
		p.points.at(m, row)
		job.Design.Table = append(job.Design.Table, Reals(row))
	}
	job.Trust, job.Chunk = All, 1
	job.Options = slices.Clip(job.Options)
	if control != "" {
		job.Options = append(job.Options, odes.Setting{Key: "sens.control", Value: control})
	}
	if p.warm {
		job.Options = append(job.Options, odes.Setting{Key: "solver.steady_start", Value: "own"})
	}
	points, err := job.Design.open()
	if err != nil {
		return nil, err
	}
	// Rows hold what those of p hold. To open the problem anew would take longer than short members do.
	q := &Problem{
		Job: &job, ID: job.ID(), Model: p.Model, Table: p.Table, Chunk: 1, points: points, opts: p.opts,
		manner: p.manner, trust: All,
	}
	q.manner.Warm = false
	q.Table.Members = points.n
	q.opts.Settings = append(slices.Clone(job.Options), odes.Setting{Key: "sens.trust", Value: "on"})
	return q, nil
}

// controlled returns p with the derivatives of all members under error control.
func (p *Problem) controlled() (*Problem, error) {
	job := *p.Job
	job.Options = append(slices.Clip(job.Options), odes.Setting{Key: "sens.control", Value: "on"})
	return OpenModel(&job, p.Model)
}

// lost returns which of members have numbers that are lost.
func (k *comparer) lost(members []int) (list []int) {
	for _, m := range members {
		if d := k.alone[m].doubt; d != nil && d.Lost {
			list = append(list, m)
		}
	}
	return list
}

// draw compares the members that the seed draws, before the others are computed. Where derivatives of some are lost and
// error control helps, all members have it. It returns the problem of the members.
func (k *comparer) draw(ctx context.Context) (p *Problem, control string, err error) {
	may := k.p.manner.AutoControl && k.p.Job.Gradient
	if may {
		control = "off"
	}
	if err := k.compare(ctx, k.drawn, control); err != nil {
		return nil, "", err
	}
	lost := k.lost(k.drawn)
	if !may || len(lost) == 0 {
		return k.p, control, nil
	}
	before := make([]*own, len(lost))
	for i, m := range lost {
		before[i] = k.alone[m]
	}
	if err := k.compare(ctx, lost, ""); err != nil { // as one run does
		return nil, "", err
	}
	if len(k.lost(lost)) == len(lost) {
		for i, m := range lost {
			k.alone[m] = before[i]
		}
		return k.p, control, nil
	}
	k.found.Controlled = true
	if err := k.compare(ctx, k.drawn, "on"); err != nil {
		return nil, "", err
	}
	p, err = k.p.controlled()
	return p, "on", err
}

// conclude compares the members with extremes, and holds the numbers of all members that were compared against what
// they are by themselves.
func (k *comparer) conclude(ctx context.Context, control string) error {
	if err := k.compare(ctx, k.extremes(), control); err != nil {
		return err
	}
	members := make([]int, 0, len(k.rows))
	for m := range k.rows {
		if k.status[m] != Failed {
			members = append(members, m)
		}
	}
	slices.Sort(members)
	f := k.found
	f.Compared, f.keep = len(members), len(members)
	for _, m := range members {
		f.measure(k.rows[m])
	}
	for _, m := range members {
		o := k.alone[m]
		d := Doubt{Member: m, Lost: true}
		switch {
		case o.why != "":
			d.Message = "the same run by itself fails: " + o.why
		case !k.same(k.rows[m], o.row):
			d.Message = "the same run by itself gives other numbers"
			if k.p.warm {
				d.Message = "the run from its own initial values leads to other numbers (steady_start = warm)"
			}
		case o.doubt != nil:
			d = *o.doubt
		default:
			continue
		}
		if d.ok = k.status[m] == OK; len(d.Off) > 0 {
			f.pending = append(f.pending, d)
		} else {
			f.doubt(d)
		}
	}
	f.conclude()
	return nil
}

// near is the part of a number by which a steady state may differ that was searched for from elsewhere.
const near = 1e-3

// same reports whether two rows hold the same numbers: the same bits, or about the same where searches for steady
// states began elsewhere.
func (k *comparer) same(a, b []float64) bool {
	for i := range a {
		x, y := a[i], b[i]
		switch {
		case x == y || x != x && y != y:
		case k.p.warm && math.Abs(x-y) <= near*max(math.Abs(x), math.Abs(y)):
		default:
			return false
		}
	}
	return true
}

// judgement is what a result that was compared with an independent run says of itself.
type judgement struct {
	values   []odes.Value
	trusts   []odes.Trust // of derivatives; nil where all are sound
	gradient []float64
	errors   []float64 // of derivatives; nil where nothing was compared
	outputs  []odes.Series
	wanted   []string // of the outputs; nil for all
	warnings []diag.Diagnostic
}

// doubt returns why the numbers of a result are not confirmed; nil if they are. first is the place of the first value
// in a row. What has no value is told elsewhere.
func (j *judgement) doubt(member, first int) *Doubt {
	d := Doubt{Member: member}
	worst := odes.Sound
	add := func(t odes.Trust, at int, x, err, loose float64) {
		if worst = max(worst, t); t != odes.Sound {
			if !(err > float64(loose*math.Abs(x))) { // something else than the error makes it so
				err = math.Inf(1)
			}
			d.Off = append(d.Off, Off{at, Real(err)})
		}
	}
	for i, v := range j.values {
		if !math.IsNaN(v.Value) {
			add(v.Trust, first+i, v.Value, v.Error, trust.LooseValue)
		}
	}
	for k, t := range j.trusts {
		err := 0.0
		if j.errors != nil {
			err = j.errors[k]
		}
		add(t, first+len(j.values)+k, j.gradient[k], err, trust.LooseDerivative)
	}
	for _, o := range j.outputs {
		if j.wanted == nil || slices.Contains(j.wanted, o.Name) {
			add(o.Trust, first, 0, 0, 0)
		}
	}
	if worst == odes.Sound {
		return nil
	}
	if d.Lost = worst == odes.Lost; d.Lost || slices.ContainsFunc(d.Off, func(o Off) bool {
		return math.IsInf(float64(o.Error), 1)
	}) {
		d.Off = nil
	}
	var said []string
	for _, w := range j.warnings {
		if w.Code == odes.CodeTrust && w.Level == diag.Warning {
			said = append(said, w.Message)
		}
	}
	if d.Message = strings.Join(said, "; "); said == nil {
		d.Message = "few digits are right"
	}
	return &d
}

// remarks returns why members of c failed or are not confirmed, member by member.
func (c *Chunk) remarks() []Failure {
	list := slices.Clone(c.Failures)
	for _, d := range c.Doubts {
		list = append(list, Failure{d.Member, string(odes.CodeTrust), d.Message})
	}
	slices.SortStableFunc(list, func(a, b Failure) int { return cmp.Compare(a.Member, b.Member) })
	return list
}
