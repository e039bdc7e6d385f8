package ensemble

import (
	"math"
)

// Statistics sum up rows that come one by one, of members that did not fail.
type Statistics struct {
	OK, Partial, Failed int
	Failures            []Failure // the first of them
	Codes               map[string]int
	Columns             []Summary // of every number of a row, but for those of the params
	first               int       // of the columns within a row
	width               int
}

// keptFailures is how many failures Statistics remember.
const keptFailures = 20

// Summary sums up the finite ones of some numbers.
type Summary struct {
	N        int
	Missing  int // numbers that are not finite
	Mean     float64
	squares  float64 // of the distances from the mean
	Min, Max float64
	Sketch   Sketch
}

// NewStatistics returns statistics without rows.
func NewStatistics(t *Table) *Statistics {
	s := &Statistics{Codes: map[string]int{}, first: len(t.Params), width: t.Width()}
	s.Columns = make([]Summary, s.width-s.first)
	for i := range s.Columns {
		s.Columns[i].Min, s.Columns[i].Max = math.Inf(1), math.Inf(-1)
	}
	return s
}

// Add adds the rows of a chunk.
func (s *Statistics) Add(c *Chunk) {
	for i, status := range c.Status {
		switch status {
		case Failed:
			s.Failed++
			continue
		case Partial:
			s.Partial++
		default:
			s.OK++
		}
		for k, x := range c.Rows[i*s.width+s.first : (i+1)*s.width] {
			s.Columns[k].Add(x)
		}
	}
	for _, f := range c.Failures {
		if s.Codes[f.Code]++; len(s.Failures) < keptFailures {
			s.Failures = append(s.Failures, f)
		}
	}
}

// Conclude takes in what comparisons found that rows did not say, after the last chunk.
func (s *Statistics) Conclude(f *Findings) {
	n := len(f.Partial())
	s.OK, s.Partial = s.OK-n, s.Partial+n
}

// Status returns how members ended: "ok", "failed" where all failed, and "partial" otherwise.
func (s *Statistics) Status() string {
	switch {
	case s.OK+s.Partial == 0:
		return "failed"
	case s.Failed+s.Partial > 0:
		return "partial"
	}
	return "ok"
}

// Members returns how many members there are so far.
func (s *Statistics) Members() int { return s.OK + s.Partial + s.Failed }

// Add adds a number.
func (s *Summary) Add(x float64) {
	if x-x != 0 {
		s.Missing++
		return
	}
	s.moments(x)
	s.Min, s.Max = min(s.Min, x), max(s.Max, x)
	s.Sketch.Add(x)
}

// moments adds a number without what only quantiles need.
func (s *Summary) moments(x float64) {
	s.N++
	d := x - s.Mean
	s.Mean += d / float64(s.N)
	s.squares = math.FMA(d, x-s.Mean, s.squares)
}

// SD returns the standard deviation, with N - 1; NaN for fewer than two numbers.
func (s *Summary) SD() float64 {
	if s.N < 2 {
		return math.NaN()
	}
	return math.Sqrt(s.squares / float64(s.N-1))
}
