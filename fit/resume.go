package fit

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math"
	"strings"

	"odes.dev/odes/internal/base/optim"
)

// A search is kept as a line: its JSON, a space, and the checksum of that (CRC-32C, eight hexadecimal digits).
const checksumDigits = 8

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func checksum(text string) string {
	return fmt.Sprintf("%0*x", checksumDigits, crc32.Checksum([]byte(text), castagnoli))
}

// kept is a search as it is written down. Numbers that JSON lacks are left out.
type kept struct {
	Number      int        `json:"number"`
	Status      string     `json:"status"`
	Why         string     `json:"why"`
	From        []float64  `json:"from"`
	X           []float64  `json:"x,omitempty"`
	To          []float64  `json:"to,omitempty"`
	Value       *float64   `json:"value,omitempty"`
	Evaluations int        `json:"evaluations"`
	Failures    int        `json:"failures"`
	Iterations  int        `json:"iterations"`
	Seconds     float64    `json:"seconds"`
	Violated    bool       `json:"violated,omitempty"`
	Steady      SteadyWork `json:"steady,omitzero"`
	Training    *int       `json:"training,omitempty"` // it is none, but a training
}

// WriteStart returns a line that holds a search, for ReadStarts.
func WriteStart(s Start) string {
	k := kept{
		Number: s.Number, Status: s.Status, Why: s.Why, From: s.From, X: s.x, To: s.To, Evaluations: s.Evaluations,
		Failures: s.Failures, Iterations: s.Iterations, Seconds: s.Seconds, Violated: s.Violated,
		Steady: s.steady,
	}
	if !math.IsNaN(s.Value) {
		k.Value = &s.Value
	}
	b, err := json.Marshal(k)
	if err != nil { // a number that is none
		return ""
	}
	return string(b) + " " + checksum(string(b)) + "\n"
}

// keptTraining is a training as it is written down.
type keptTraining struct {
	Training *int           `json:"training"` // the number of its search
	From     []float64      `json:"from"`
	State    optim.Training `json:"state"`
}

// WriteTraining returns a line that holds a training, for ReadTrainings.
func WriteTraining(t Training) string {
	b, err := json.Marshal(keptTraining{Training: &t.Number, From: t.From, State: t.at})
	if err != nil { // a number that is none
		return ""
	}
	return string(b) + " " + checksum(string(b)) + "\n"
}

// DamagedError says that a line of kept searches is not what was written.
type DamagedError struct{ Line int } // counted from 1

func (e *DamagedError) Error() string { return fmt.Sprintf("line %d is damaged", e.Line) }

// whole calls f for each line that was written to its end, without its checksum. A line whose checksum is not that of
// its text, or that f does not take, is a DamagedError.
func whole(text string, f func(line []byte) error) error {
	n := 0
	for line := range strings.Lines(text) {
		n++
		line, whole := strings.CutSuffix(line, "\n")
		if !whole {
			break // it was being written when the process ended
		}
		at := len(line) - checksumDigits - 1
		if at < 0 || line[at] != ' ' || line[at+1:] != checksum(line[:at]) || f([]byte(line[:at])) != nil {
			return &DamagedError{Line: n}
		}
	}
	return nil
}

// ReadTrainings reads what WriteTraining wrote among what WriteStart did, for Options.Trained: see ReadStarts.
func ReadTrainings(text string) (list []Training, err error) {
	err = whole(text, func(line []byte) error {
		var k keptTraining
		if err := json.Unmarshal(line, &k); err != nil || k.Training == nil {
			return err // it may be a search
		}
		n := len(k.From)
		if s := &k.State; len(s.X) != n || len(s.M) != n || len(s.V) != n || len(s.Best) != n {
			return fmt.Errorf("a training of %d numbers has states of others", n)
		}
		list = append(list, Training{Number: *k.Training, From: k.From, at: k.State})
		return nil
	})
	return list, err
}

// ReadStarts reads what WriteStart wrote, for Options.Done; it leaves out what WriteTraining wrote. A last line that
// was not written to its end is left out: that search is made anew. Any other line whose checksum is not that of its
// text is a DamagedError.
func ReadStarts(text string) (list []Start, err error) {
	err = whole(text, func(line []byte) error {
		var k kept
		if err := json.Unmarshal(line, &k); err != nil || k.Training != nil {
			return err
		}
		s := Start{
			Number: k.Number, Status: k.Status, Why: k.Why, From: k.From, x: k.X, To: k.To, Value: math.NaN(),
			Evaluations: k.Evaluations, Failures: k.Failures, Iterations: k.Iterations, Seconds: k.Seconds, Cluster: -1,
			Violated: k.Violated, steady: k.Steady,
		}
		if k.Value != nil {
			s.Value = *k.Value
		}
		list = append(list, s)
		return nil
	})
	return list, err
}
