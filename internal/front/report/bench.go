package report

import (
	"bufio"
	"io"
	"math"

	"odes.dev/odes"
)

// benchForm is what a benchmark measured.
type benchForm struct {
	Model       string       `json:"model"`
	Backend     string       `json:"backend"`
	Lanes       int          `json:"lanes"`
	Threads     int          `json:"threads"`
	Runs        int          `json:"runs"`
	RHS         benchProgram `json:"rhs"`
	VJP         benchProgram `json:"vjp"`
	Step        benchProgram `json:"step"`
	StepVJP     benchProgram `json:"step_vjp"`
	Forward     benchTimes   `json:"forward"`
	Adjoint     benchTimes   `json:"adjoint"`
	Gradient    benchTimes   `json:"gradient"`
	Steps       int          `json:"steps"`
	Evaluations int          `json:"evaluations"`
	Transposes  int          `json:"transposes"`
	Checkpoint  string       `json:"checkpoint"`
	Recomputed  int          `json:"recomputed_steps"`
	PeakBytes   int64        `json:"peak_trajectory_bytes"`
	Checksum    float64      `json:"checksum"`
}

type benchProgram struct {
	Nanoseconds  float64 `json:"ns"`
	Instructions int     `json:"instructions"`
	Bytes        int     `json:"bytes"`
	Native       int     `json:"native_bytes"`
	GFlops       float64 `json:"gflops"`
}

type benchTimes struct {
	Median float64 `json:"median_s"`
	Min    float64 `json:"min_s"`
}

// benchJSON writes what a benchmark measured, as one line.
func benchJSON(w io.Writer, h Heading, b *odes.Bench, _ TableOptions) error {
	program := func(p odes.BenchProgram) benchProgram {
		return benchProgram{p.Nanoseconds, p.Instructions, p.Bytes, p.Native, p.GFlops}
	}
	times := func(t odes.BenchTimes) benchTimes { return benchTimes{t.Median, t.Min} }
	s := b.Settings
	return writeJSON(w, benchForm{
		Model: h.Model, Backend: s.Backend, Lanes: s.Lanes, Threads: s.Threads, Runs: b.Runs,
		RHS: program(b.RHS), VJP: program(b.VJP), Step: program(b.Step), StepVJP: program(b.StepVJP),
		Forward: times(b.Forward), Adjoint: times(b.Adjoint), Gradient: times(b.Gradient),
		Steps: b.Steps, Evaluations: b.Evaluations, Transposes: b.Transposes, Checkpoint: s.Checkpoint,
		Recomputed: b.RecomputedSteps, PeakBytes: b.PeakTrajectoryBytes, Checksum: b.Checksum,
	})
}

// benchTable writes what a benchmark measured, for people.
func benchTable(w io.Writer, h Heading, b *odes.Bench, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.prose("%s (%s): %s, %s, %s, %s, %s\n", h.Model, h.File, b.Settings.Method, plural(b.Steps, "step"),
		plural(b.Settings.Lanes, "lane"), plural(b.Settings.Threads, "thread"), b.Settings.Backend)
	programs := []odes.BenchProgram{b.RHS, b.VJP, b.Step, b.StepVJP}
	cells := func(of func(p odes.BenchProgram) string) (list []string) {
		for _, p := range programs {
			list = append(list, of(p))
		}
		return list
	}
	instructions := func(p odes.BenchProgram) string { return count(p.Instructions) }
	perInstruction := func(p odes.BenchProgram) string { return significant(p.Nanoseconds/float64(p.Instructions), 3) }
	counted := func(n func(p odes.BenchProgram) string) func(p odes.BenchProgram) string {
		return func(p odes.BenchProgram) string {
			if p.Instructions == 0 {
				return "–"
			}
			return n(p)
		}
	}
	measured := func(n func(p odes.BenchProgram) string) func(p odes.BenchProgram) string {
		return func(p odes.BenchProgram) string {
			if p.Nanoseconds == 0 {
				return "–"
			}
			return n(p)
		}
	}
	p.columns([]column{
		{left: true, cells: []string{"right-hand side", "its transpose", "step", "its transpose"}},
		{head: "ns", cells: cells(measured(func(p odes.BenchProgram) string { return significant(p.Nanoseconds, 4) }))},
		{head: "instructions", cells: cells(counted(instructions))},
		{head: "ns each", cells: cells(counted(perInstruction))},
		{head: "bytes", cells: cells(counted(func(p odes.BenchProgram) string { return count(p.Bytes) }))},
		{head: "native code", cells: cells(counted(func(p odes.BenchProgram) string { return count(p.Native) }))},
		{head: "gflops", cells: cells(measured(func(p odes.BenchProgram) string { return significant(p.GFlops, 3) }))},
	})
	p.line("")
	ms := func(s float64) string { return significant(1e3*s, 4) }
	percent := func(p odes.BenchProgram, n int, t odes.BenchTimes, threads int) string {
		return plainNumber(math.Round(100*p.Share(n, t.Min, threads))) + " %"
	}
	threads := b.Settings.Threads
	evaluations := percent(b.RHS, b.Evaluations, b.Forward, 1)
	transposes := percent(b.VJP, b.Transposes, b.Adjoint, threads)
	if b.Step.Instructions > 0 { // steps do not call it
		evaluations = "–"
	}
	if b.StepVJP.Instructions > 0 {
		transposes = "–"
	}
	steps := percent(b.Step, b.Steps, b.Forward, 1)
	transposed := percent(b.StepVJP, b.TransposedSteps, b.Adjoint, threads)
	if b.Step.Nanoseconds == 0 {
		steps, transposed = "–", "–"
	}
	p.columns([]column{
		{left: true, cells: []string{"forward", "adjoint", "gradient"}},
		{head: "median ms", cells: []string{ms(b.Forward.Median), ms(b.Adjoint.Median), ms(b.Gradient.Median)}},
		{head: "least ms", cells: []string{ms(b.Forward.Min), ms(b.Adjoint.Min), ms(b.Gradient.Min)}},
		{head: "in right-hand sides", cells: []string{evaluations, transposes, ""}},
		{head: "in steps", cells: []string{steps, transposed, ""}},
	})
	within := "Steps include their right-hand sides."
	if b.Step.Instructions > 0 {
		within = "A whole step is one program, right-hand sides included."
	}
	if b.Step.Nanoseconds > 0 {
		p.prose("\n%s What is not in steps is error control, recording, events and what is observed.", within)
	} else {
		p.prose("\nThe model reads its past, and its steps are not measured alone. What is not in right-hand sides " +
			"is steps, the reading of the past, error control, recording, events and what is observed.")
	}
	if b.RecomputedSteps > 0 {
		p.prose("\nThe run was kept in part (checkpoint = %s): %s bytes, and %s computed twice.",
			b.Settings.Checkpoint, count(int(b.PeakTrajectoryBytes)), plural(b.RecomputedSteps, "step"))
	}
	p.line("\n%s, checksum %s", plural(b.Runs, "run"), plainNumber(b.Checksum))
	return p.w.Flush()
}

func count(n int) string { return plainNumber(float64(n)) }
