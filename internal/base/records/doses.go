package records

import (
	"fmt"
	"math"
)

// The columns of records, by their NONMEM names.
const (
	Amount = "AMT"
	Rate   = "RATE"
	Length = "DUR"
	Kind   = "EVID"
	Period = "II"
	More   = "ADDL"
	Steady = "SS"
	Missed = "MDV"
)

// Columns lists the names of the columns that records are read from, besides the time. CMT is for the conditions of a
// model to read.
var Columns = []string{Amount, Rate, Length, Kind, Period, More, Steady, Missed}

// Table has the columns of records by name; those that a table does not have are missing.
type Table struct {
	Times   []float64
	Columns map[string][]float64
}

// at returns what row i has in a column: 0 where it has nothing.
func (t *Table) at(name string, i int) float64 {
	col := t.Columns[name]
	if i >= len(col) || math.IsNaN(col[i]) {
		return 0
	}
	return col[i]
}

// The kinds of rows, as EVID has them.
const (
	Measurement = iota
	DoseGiven
	OtherEvent
	Reset
	ResetAndDose
)

// KindOf returns the kind of a row. Without EVID a row with an amount is a dose. A measurement that is marked as missed
// (MDV) is another event.
func (t *Table) KindOf(i int) int {
	kind := 0
	if col := t.Columns[Kind]; i < len(col) && !math.IsNaN(col[i]) {
		kind = int(col[i])
	} else if t.at(Amount, i) != 0 || t.at(Rate, i) > 0 && t.at(Steady, i) > 0 {
		kind = DoseGiven
	}
	if kind == Measurement && t.at(Missed, i) != 0 {
		return OtherEvent
	}
	return kind
}

// Measured tells which rows of the table are measurements.
func (t *Table) Measured() []bool {
	list := make([]bool, len(t.Times))
	for i := range list {
		list[i] = t.KindOf(i) == Measurement
	}
	return list
}

// Form says how long a dose takes.
type Form uint8

// The forms of doses.
const (
	Bolus       Form = iota
	WithRate         // RATE > 0: for F·AMT/RATE
	WithLength       // a column of durations: at a rate of F·AMT/DUR
	ModelRate        // RATE = -1
	ModelLength      // RATE = -2
	Forms
)

// Dose is a record that gives something.
type Dose struct {
	Row    int // from 0
	Form   Form
	Time   float64
	Amount float64
	Rate   float64 // of WithRate, and of a constant infusion
	Length float64 // of WithLength
	Period float64 // II
	More   int     // ADDL
	Steady int     // SS
	Life   int     // how many records before it ended all that was
}

// Constant reports a constant infusion, which ends at the record: no amount, at steady state.
func (d *Dose) Constant() bool { return d.Amount == 0 }

// Course is the records of a subject, or of one of its occasions.
type Course struct {
	Doses  []Dose
	Resets []int // rows
	Ends   []int // rows that end all that was, for the doses before them: resets, and records of steady states
	// Last is the last row that is part of the course.
	First, Last int
	Times       []float64
}

// Occasions splits the rows of a subject into courses in time. A new one begins with a row whose kind is Reset or
// ResetAndDose, where time goes back or where the rows stand in another piece of the table. Otherwise the second result
// says what is wrong. With one, several are wrong, too: those would have random effects of their own.
func (t *Table) Occasions(rows []bool, one bool) (pieces [][]bool, why string) {
	last := -1
	for i, in := range rows {
		if !in || i >= len(t.Times) {
			continue
		}
		back := last >= 0 && t.Times[i] < t.Times[last]
		if last < 0 || back || last != i-1 {
			kind := t.KindOf(i)
			switch {
			case last >= 0 && one && (kind == Reset || kind == ResetAndDose):
				return nil, fmt.Sprintf("its clock starts anew in row %d, and each occasion would be a run with "+
					"random effects of its own: let its times go on (EVID 4 at a later time)", i+1)
			case last < 0 || kind == Reset || kind == ResetAndDose:
				pieces = append(pieces, make([]bool, len(rows)))
			case back:
				return nil, fmt.Sprintf("its time goes back from %v in row %d to %v in row %d", t.Times[last], last+1,
					t.Times[i], i+1)
			default:
				return nil, fmt.Sprintf("its rows stand in separate pieces of the table: up to row %d, and from row "+
					"%d on", last+1, i+1)
			}
		}
		pieces[len(pieces)-1][i] = true
		last = i
	}
	return pieces, ""
}

// Read reads the records among rows, which are one course in time. The error names a row and what is wrong with it.
func (t *Table) Read(rows []bool) (*Course, error) {
	c := &Course{First: -1, Times: t.Times}
	for i, in := range rows {
		if !in || i >= len(t.Times) {
			continue
		}
		if c.First < 0 {
			c.First = i
		}
		c.Last = i
		if why := t.misfit(i); why != "" {
			return nil, fmt.Errorf("row %d: %s", i+1, why)
		}
		kind := t.KindOf(i)
		if kind == Reset || kind == ResetAndDose {
			c.Resets = append(c.Resets, i)
		}
		steady := int(t.at(Steady, i))
		if kind == Reset || kind == ResetAndDose || kind == DoseGiven && steady == 1 {
			c.Ends = append(c.Ends, i)
		}
		if kind != DoseGiven && kind != ResetAndDose {
			continue
		}
		d := Dose{
			Row: i, Time: t.Times[i], Amount: t.at(Amount, i), Period: t.at(Period, i), More: int(t.at(More, i)),
			Steady: steady, Life: len(c.Ends),
		}
		switch rate := t.at(Rate, i); {
		case rate > 0:
			d.Form, d.Rate = WithRate, rate
		case rate == -1:
			d.Form = ModelRate
		case rate == -2:
			d.Form = ModelLength
		case t.at(Length, i) > 0:
			d.Form, d.Length = WithLength, t.at(Length, i)
		}
		c.Doses = append(c.Doses, d)
	}
	return c, nil
}

// misfit says what is wrong with a row; "" for nothing.
func (t *Table) misfit(i int) string {
	get := func(name string) float64 { return t.at(name, i) }
	for _, name := range Columns {
		if x := get(name); math.IsInf(x, 0) {
			return fmt.Sprintf("%s is %v", name, x)
		}
	}
	for _, w := range []struct {
		name string
		most float64
		what string
	}{
		{Kind, ResetAndDose, "0 for a measurement, 1 a dose, 2 another event, 3 a reset, 4 a reset and a dose"},
		{Steady, 2, "0, 1 for a steady state, or 2 for one that is added to what is there"},
		{Missed, 1, "0, or 1 for a value that is missing"},
		{More, math.MaxInt32, "how many further doses follow"},
	} {
		if x := get(w.name); x < 0 || x > w.most || x != math.Trunc(x) {
			return fmt.Sprintf("%s is %v, and must be %s", w.name, x, w.what)
		}
	}
	return t.misfitDose(i)
}

// misfitDose is misfit for what says how a dose is given.
func (t *Table) misfitDose(i int) string {
	get := func(name string) float64 { return t.at(name, i) }
	amount, rate, length, period := get(Amount), get(Rate), get(Length), get(Period)
	kind := t.KindOf(i)
	gives := kind == DoseGiven || kind == ResetAndDose
	constant := gives && amount == 0 && rate > 0 && get(Steady) > 0
	switch {
	case amount < 0:
		return fmt.Sprintf("AMT is %v; an amount is positive", amount)
	case !gives && amount != 0:
		return fmt.Sprintf("EVID is %d, so no dose is given, but AMT is %v; a row is either a measurement or a dose",
			int(get(Kind)), amount)
	case !gives:
		return ""
	case amount == 0 && !constant:
		return "a dose without an amount: AMT is 0 or missing"
	}
	return misfitTimes(amount, rate, length, period, get(More), get(Steady), constant)
}

// misfitTimes says what is wrong with how long a dose takes and how often it is given.
func misfitTimes(amount, rate, length, period, more, steady float64, constant bool) string {
	switch {
	case rate < 0 && rate != -1 && rate != -2:
		return fmt.Sprintf("RATE is %v; it is a rate, -1 where the model gives the rate, or -2 where it gives the "+
			"duration", rate)
	case length < 0:
		return fmt.Sprintf("DUR is %v; a duration is positive", length)
	case length > 0 && rate < 0, length > 0 && rate > 0 && math.Abs(amount-rate*length) > 1e-6*amount:
		return fmt.Sprintf("RATE is %v and DUR is %v, which contradict each other; leave one of them 0", rate, length)
	case period < 0:
		return fmt.Sprintf("II is %v; an interval is positive", period)
	case more > 0 && period == 0:
		return fmt.Sprintf("ADDL is %v, but II, the interval of the further doses, is 0 or missing", more)
	case constant && (period > 0 || more > 0):
		return "a constant infusion (SS with RATE and without AMT) has no II and no ADDL"
	case steady > 0 && !constant && period == 0:
		return fmt.Sprintf("SS is %v, but II, the interval of the doses before, is 0 or missing", steady)
	case period > 0 && steady == 0 && more == 0:
		return fmt.Sprintf("II is %v, but neither ADDL nor SS says that doses are repeated", period)
	}
	return ""
}
