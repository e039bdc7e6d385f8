package report

import (
	"bufio"
	"io"
	"math"

	"odes.dev/odes"
)

// benchJSON writes what a benchmark measured, as one line.
func benchJSON(w io.Writer, h Heading, b *odes.Bench, _ TableOptions) error {
	j := newJSON(w)
	j.raw(`{"model": `)
	j.text(h.Model)
	j.raw(`, "backend": `)
	j.text(b.Settings.Backend)
	j.raw(`, "lanes": `)
	j.int(int64(b.Settings.Lanes))
	j.raw(`, "threads": `)
	j.int(int64(b.Settings.Threads))
	j.raw(`, "runs": `)
	j.int(int64(b.Runs))
	program := func(name string, p odes.BenchProgram) {
		j.raw(`, "`, name, `": {"ns": `)
		j.number(p.Nanoseconds)
		j.raw(`, "instructions": `)
		j.int(int64(p.Instructions))
		j.raw(`, "bytes": `)
		j.int(int64(p.Bytes))
		j.raw(`, "native_bytes": `)
		j.int(int64(p.Native))
		j.raw(`, "gflops": `)
		j.number(p.GFlops)
		j.raw("}")
	}
	program("rhs", b.RHS)
	program("vjp", b.VJP)
	program("step", b.Step)
	program("step_vjp", b.StepVJP)
	times := func(name string, t odes.BenchTimes) {
		j.raw(`, "`, name, `": {"median_s": `)
		j.number(t.Median)
		j.raw(`, "min_s": `)
		j.number(t.Min)
		j.raw("}")
	}
	times("forward", b.Forward)
	times("adjoint", b.Adjoint)
	times("gradient", b.Gradient)
	j.raw(`, "steps": `)
	j.int(int64(b.Steps))
	j.raw(`, "evaluations": `)
	j.int(int64(b.Evaluations))
	j.raw(`, "transposes": `)
	j.int(int64(b.Transposes))
	j.raw(`, "checkpoint": `)
	j.text(b.Settings.Checkpoint)
	j.raw(`, "recomputed_steps": `)
	j.int(int64(b.RecomputedSteps))
	j.raw(`, "peak_trajectory_bytes": `)
	j.int(b.PeakTrajectoryBytes)
	j.raw(`, "checksum": `)
	j.number(b.Checksum)
	j.raw("}\n")
	return j.w.Flush()
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
	p.columns([]column{
		{left: true, cells: []string{"right-hand side", "its transpose", "step", "its transpose"}},
		{head: "ns", cells: cells(func(p odes.BenchProgram) string { return significant(p.Nanoseconds, 4) })},
		{head: "instructions", cells: cells(counted(instructions))},
		{head: "ns each", cells: cells(counted(perInstruction))},
		{head: "bytes", cells: cells(counted(func(p odes.BenchProgram) string { return count(p.Bytes) }))},
		{head: "native code", cells: cells(counted(func(p odes.BenchProgram) string { return count(p.Native) }))},
		{head: "gflops", cells: cells(func(p odes.BenchProgram) string { return significant(p.GFlops, 3) })},
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
	p.prose("\n%s What is not in steps is error control, recording, events and what is observed.", within)
	if b.RecomputedSteps > 0 {
		p.prose("\nThe run was kept in part (checkpoint = %s): %s bytes, and %s computed twice.",
			b.Settings.Checkpoint, count(int(b.PeakTrajectoryBytes)), plural(b.RecomputedSteps, "step"))
	}
	p.line("\n%s, checksum %s", plural(b.Runs, "run"), plainNumber(b.Checksum))
	return p.w.Flush()
}

func count(n int) string { return plainNumber(float64(n)) }
