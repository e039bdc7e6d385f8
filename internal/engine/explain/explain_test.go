package explain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/sens"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/methods"
	"odes.dev/odes/solvers/record"
	"odes.dev/odes/typecheck"
)

const ball = `time t from 0 to 1
state x = 1
state v = 0
x' = v
v' = -9.81
event bounce when x <= 0 { v = -v }
objective J = integral(x, from = 0.2, to = 0.8)
`

func explainer(t *testing.T) *explain.Explainer { return explainerOf(t, ball) }

func explainerOf(t *testing.T, text string) *explain.Explainer {
	t.Helper()
	var list diag.List
	checked, _ := compile.Text("ball.ode", text, typecheck.Env{}, &list)
	m, _ := compile.Model(checked, &list)
	if err := list.Err(); err != nil {
		t.Fatal(err)
	}
	return explain.New(m)
}

// TestFailures explains every error of a run: with a code, the place in the text that it is about, and words that say
// what to do.
func TestFailures(t *testing.T) {
	at := solvers.Place{
		T: 0.5, H: 0.01, Step: 7, Y: []float64{1, 2},
		Worst: []solvers.WorstState{{Name: "v", Scaled: 3}},
	}
	spec, _ := methods.Lookup("rodas4")
	method := spec.New(solvers.Size{N: 2}, 0)
	for _, c := range []struct {
		err     error
		code    diag.Code
		text    string // of the place in the model
		want    string
		nowhere bool // the error names no place of the run
	}{
		{
			&solvers.NonFiniteError{Place: at, What: "the initial state"}, explain.CodeNonFinite, "t",
			"the initial state is not a finite number at t = 0.5", false,
		},
		{
			&solvers.StepUnderflowError{Place: at, HMin: 1e-16}, explain.CodeUnderflow, "-9.81", "fell below 1e-16",
			false,
		},
		{&solvers.StepUnderflowError{Place: at, NonFinite: true}, explain.CodeUnderflow, "t", "however short", false},
		{&solvers.TooManyStepsError{Place: at, Max: 9}, explain.CodeTooMany, "-9.81", "raise solver.max_steps", false},
		{
			&solvers.TooManyStepsError{Place: at, Max: 9, Matrix: &solvers.MatrixError{
				Kind: solvers.MatrixNotFinite, Rows: []int{1}, Cols: []int{0},
			}}, explain.CodeTooMany, "-9.81", "since the derivative of v' by x is not a finite number", false,
		},
		{
			&solvers.TooManyStepsError{Place: at, Max: 9, Matrix: &solvers.MatrixError{
				Kind: solvers.MatrixTooLarge, Bytes: 3e9, Limit: 2e9,
			}}, explain.CodeTooMany, "-9.81", "more than 3 GB of memory, and may take 2 GB", false,
		},
		{
			&solvers.ChatteringError{Place: at, Event: "bounce", Times: []float64{0.5}, Reason: "fires too often"},
			explain.CodeChattering, "bounce", "end the run with such an event", false,
		},
		{
			&solvers.CascadeError{Place: at, Events: []string{"bounce"}, Max: 5}, explain.CodeCascade, "bounce",
			"raise solver.max_cascade", false,
		},
		{&record.MemoryError{Place: at, Limit: 2e6}, explain.CodeMemory, "t", "the 2 MB that memory leaves it", false},
		{&record.DiskError{Op: "write", Err: errors.New("no space")}, explain.CodeMemory, "t", "TMP", true},
		{
			&solvers.CancelledError{Place: at, Cause: context.Canceled}, explain.CodeInterrupted, "",
			"interrupted at t = 0.5 (step 8", false,
		},
		{
			&solvers.StepUnderflowError{Place: at, NonFinite: true, Matrix: &solvers.MatrixError{
				Kind: solvers.MatrixSingular, Rows: []int{1}, Cols: []int{0, 1},
			}}, explain.CodeUnderflow, "-9.81", "they do not determine x, v", false,
		},
		{
			&solvers.NonFiniteError{Place: at, Matrix: &solvers.MatrixError{
				Kind: solvers.MatrixNotFinite, Rows: []int{1}, Cols: []int{2},
			}}, explain.CodeNonFinite, "-9.81", "the derivative of v' by t is not a finite number at t = 0.5", false,
		},
		{
			&solvers.NonFiniteError{Place: at, Matrix: &solvers.MatrixError{
				Kind: solvers.MatrixNotFinite, Rows: []int{2}, Cols: []int{0},
			}}, explain.CodeNonFinite, "t", "the derivative of what an objective integrates by x", false,
		},
		{
			&solvers.StepUnderflowError{Place: at, NonFinite: true, Matrix: &solvers.MatrixError{
				Kind: solvers.MatrixNotFinite, Overflow: true, Rows: []int{0}, Cols: []int{1},
			}}, explain.CodeUnderflow, "v", "those of v overflow there", false,
		},
		{
			&solvers.StepUnderflowError{Place: at, NonFinite: true, Matrix: &solvers.MatrixError{
				Kind: solvers.MatrixDiverged, Rows: []int{1}, Cols: []int{1},
			}}, explain.CodeUnderflow, "-9.81", "it goes on to change v; shorter steps", false,
		},
		{
			&solvers.MatrixError{Kind: solvers.MatrixTooLarge, Bytes: 3e9, Limit: 2e9}, explain.CodeMemory, "t",
			"need more than 3 GB of memory once they are factored, and may take 2 GB; take fewer states", true,
		},
		{
			&solvers.MatrixError{Kind: solvers.MatrixTooLarge, Bytes: 3e9, Limit: 2e9, Iterative: true},
			explain.CodeMemory, "t", "take linear = gmres, which has no factors, fewer states", true,
		},
		{&solvers.NoJacobianError{Method: "rodas4"}, explain.CodeIncapable, "t", "method rodas4 needs the", true},
		{&sens.BackwardError{T: 0.3}, explain.CodeBackward, "t", "0.3", true},
		{
			&solvers.TimeError{Instant: 99, Message: "the end comes before the start"}, explain.CodeTime, "t",
			"the end comes", true,
		},
		{
			&solvers.IncapableError{Method: "rk4", Lacks: solvers.DenseDerivatives}, explain.CodeIncapable, "t",
			"rk4 has no derivatives of its dense output, which this run asks for", true,
		},
		{context.DeadlineExceeded, explain.CodeInterrupted, "", "while differentiating", true},
	} {
		list, place := explainer(t).Failure(fmt.Errorf("wrapped: %w", c.err), nil, method)
		if list == nil || len(list.Diagnostics) != 1 {
			t.Errorf("%T: %v", c.err, list)
			continue
		}
		d := list.Diagnostics[0]
		if d.Code != c.code || !strings.Contains(d.Message, c.want) || !strings.HasPrefix(d.Span.Text(), c.text) {
			t.Errorf("%T: %s at %q: %s", c.err, d.Code, d.Span.Text(), d.Message)
		}
		if (place == nil) != c.nowhere || place != nil && place.T != 0.5 {
			t.Errorf("%T: place %v", c.err, place)
		}
	}
	if list, place := explainer(t).Failure(errors.New("something else"), nil, nil); list != nil || place != nil {
		t.Errorf("an error of nobody's: %v, %v", list, place)
	}
}

// TestManyStates holds that the states that keep steps small come with their values where a place cannot show all.
func TestManyStates(t *testing.T) {
	list, _ := explainerOf(t, "time t from 0 to 1\nstate x[5] = 1\nx' = -x\n").Failure(&solvers.StepUnderflowError{
		Place: solvers.Place{
			T: 0.5, Y: []float64{1, 2, 3, 4, -5e9},
			Worst: []solvers.WorstState{{Name: "x[5]", Value: -5e9, Scaled: 64}},
		},
	}, nil, nil)
	want := "x[4] = 4, … (5 states); kept small by x[5] = -5e+09 (error 64 × tolerance)"
	if m := list.Diagnostics[0].Message; !strings.Contains(m, want) {
		t.Errorf("%s\nwithout: %s", m, want)
	}
}

// TestWarnings gives every kind of warning a code and the place of its event.
func TestWarnings(t *testing.T) {
	for kind, code := range map[solvers.WarningKind]diag.Code{
		solvers.Grazing: explain.CodeGrazing, solvers.Tie: explain.CodeTie,
		solvers.OneSided: explain.CodeTie, solvers.Outside: explain.CodeOutside, solvers.Stiff: explain.CodeStiff,
		solvers.Rest: explain.CodeRest, solvers.Unstable: explain.CodeUnstable, solvers.Past: explain.CodeOutside,
	} {
		var l diag.List
		explainer(t).Warnings([]solvers.Warning{{
			Kind: kind, Name: "bounce", Other: "tick", T: 0.25, Value: 4,
			Instant: -1,
		}}, &l)
		if l.Len() != 1 {
			t.Errorf("kind %v: %v", kind, l.All())
			continue
		}
		d := l.All()[0]
		where := "bounce"
		if kind == solvers.Stiff || kind == solvers.Unstable {
			where = "t"
		}
		if d.Code != code || !strings.HasPrefix(d.Span.Text(), where) || strings.Contains(d.Message, "%!") {
			t.Errorf("kind %v: %s at %q: %s", kind, d.Code, d.Span.Text(), d.Message)
		}
	}
}
