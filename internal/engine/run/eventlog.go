package run

import (
	"math"

	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
	"odes.dev/odes/sens"

	"odes.dev/odes/solvers/record"
)

// manyEvents is how many events of a run are listed where Options.EventLog allows a log.
var manyEvents = 4096

// loggedEvents has the events of a run where they are too many to be listed. The derivatives of their times, one row
// for each, are in a file, in the order in which walks along the run write them: for one block of params after the
// other. What else there is to say of an event follows from what happened in the run and is made as it is read.
type loggedEvents struct {
	run   *Runner // that made the run
	n     int     // events
	width int     // of a row
	lanes int     // params of a block

	file  record.Disk
	buf   []byte
	rows  []float64 // to be written, of a block; or that were read, of all blocks
	first int       // param of the present block
	next  int       // event of it whose row comes next
	done  bool      // all is written
	from  int       // the first of the rows that were read
	err   error     // of the file; what was read means nothing then

	// What was compared with it, if anything was.
	twin     *loggedEvents
	estimate func(x, y float64) float64
	grader   *trust.Grader
}

// loggedRows is how many rows are in memory at once.
const loggedRows = 1024

// Compare implements trust.Log.
func (l *loggedEvents) Compare(twin result.EventLog, estimate func(x, y float64) float64) {
	l.twin, _ = twin.(*loggedEvents)
	l.estimate = estimate
}

// Grade implements trust.Log.
func (l *loggedEvents) Grade(g *trust.Grader) { l.grader = g }

// Close gives up the file, and that of the twin.
func (l *loggedEvents) Close() {
	for ; l != nil; l = l.twin {
		l.close()
	}
}

// close closes the file.
func (l *loggedEvents) close() {
	if l != nil && l.file != nil {
		_ = l.file.Close() // what is in it is no longer wanted
		l.file = nil
	}
}

// add adds what is known of an event: the derivatives of its time by the params from first on. Events come in order,
// for one first after the other.
func (l *loggedEvents) add(e sens.EventTime, first int, td []float64) {
	if !l.run.model.Shows(e) || l.err != nil {
		return
	}
	if first != l.first {
		l.flush()
		l.first, l.next, l.lanes = first, 0, len(td)
	}
	l.rows = append(l.rows, td...)
	if l.next++; l.next%loggedRows == 0 {
		l.flush()
	}
}

// at returns where the row of event i in the block of param first is in the file.
func (l *loggedEvents) at(first, i int) int64 { return 8 * int64(l.lanes) * int64(first/l.lanes*l.n+i) }

// flush writes the rows that were added.
func (l *loggedEvents) flush() {
	if len(l.rows) > 0 && l.err == nil {
		l.err = record.WriteDisk(l.file, l.at(l.first, l.next-len(l.rows)/l.lanes), &l.buf, l.rows)
	}
	l.rows = l.rows[:0]
}

// rewind prepares for reading. Nothing can be added then.
func (l *loggedEvents) rewind() {
	if !l.done {
		l.flush()
		l.done = true
	}
	l.from = math.MinInt / 2
}

// row writes the derivatives of the time of event i by the variables. Events are read in order, or nearly so.
func (l *loggedEvents) row(i int, params, work []float64) {
	k := max(l.lanes, 1)
	blocks := (l.width + k - 1) / k
	if i < l.from || i >= l.from+loggedRows {
		l.from = i - i%loggedRows
		have := min(loggedRows, l.n-l.from) * k
		l.rows = append(l.rows[:0], make([]float64, loggedRows*k*blocks)...)
		for b := 0; b < blocks && l.lanes > 0 && l.err == nil; b++ {
			at := b * loggedRows * k
			l.err = record.ReadDisk(l.file, l.at(b*k, l.from), &l.buf, l.rows[at:at+have])
		}
	}
	for p := range work {
		work[p] = l.rows[(p/k*loggedRows+i-l.from)*k+p%k]
	}
	r := l.run
	r.chain.Pull(work, 1, l.width)
	clear(params)
	r.gatherer.Gather(params, work, nil)
}

// record returns what is known of the time of event i.
func (l *loggedEvents) record(i int) result.Event {
	return l.run.model.Event(l.run.happened.List[i].Event(), l.run.guards, l.run.out.From, l.run.out.To)
}

// twins returns the number of the event in the twin that each event is, -1 for none: the first of its kind is the first
// one there, and so on.
func (l *loggedEvents) twins() []int32 {
	out := make([]int32, l.n)
	for i := range out {
		out[i] = -1
	}
	mine, other := &l.run.happened, &l.twin.run.happened
	here, there := mine.ByKind(), other.ByKind()
	for len(here) > 0 && len(there) > 0 {
		switch c := trust.Kinds(&mine.List[here[0]], &other.List[there[0]]); {
		case c < 0:
			here = here[1:]
		case c > 0:
			there = there[1:]
		default:
			out[here[0]] = there[0]
			here, there = here[1:], there[1:]
		}
	}
	return out
}

// Each calls f with each event, which holds until f returns.
func (l *loggedEvents) Each(f func(*result.Event) error) error {
	l.rewind()
	var twins []int32
	if l.twin != nil {
		l.twin.rewind()
		twins = l.twins()
	}
	c := l.run.columns
	params, other, errors := make([]float64, c), make([]float64, c), make([]float64, c)
	work, trusts := make([]float64, l.width), make([]result.Trust, c)
	for i := range l.n {
		e := l.record(i)
		e.Params = params
		l.row(i, params, work)
		if twins != nil && twins[i] >= 0 {
			k := int(twins[i])
			twin := l.twin.record(k)
			l.twin.row(k, other, work)
			e.Error, e.Errors = l.estimate(e.T, twin.T), errors
			for k, x := range params {
				errors[k] = l.estimate(x, other[k])
			}
		}
		if l.grader != nil {
			clear(trusts)
			e.Trusts = trusts
			l.grader.GradeEvent(&e, l.run.out.From, l.run.out.To)
		}
		if err := l.failed(); err != nil {
			return err
		}
		if err := f(&e); err != nil {
			return err
		}
	}
	return l.failed()
}

// failed returns the error of the file, or of that of the twin.
func (l *loggedEvents) failed() error {
	switch {
	case l == nil:
		return nil
	case l.err == nil:
		return l.twin.failed()
	}
	return l.err
}
