package report

import (
	"bufio"
	"io"

	"odes.dev/odes"
)

// BenchJSON writes what a benchmark measured, as one line.
func BenchJSON(w io.Writer, h Heading, b *odes.Bench) error {
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
		j.raw(`, "gflops": `)
		j.number(p.GFlops)
		j.raw("}")
	}
	program("rhs", b.RHS)
	program("vjp", b.VJP)
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
	j.raw(`, "checksum": `)
	j.number(b.Checksum)
	j.raw("}\n")
	return j.w.Flush()
}

// BenchTable writes it for people.
func BenchTable(w io.Writer, h Heading, b *odes.Bench, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	p.line("%s (%s): %s, %s, %s, %s, %s\n", h.Model, h.File, b.Settings.Method, plural(b.Steps, "step"),
		plural(b.Settings.Lanes, "lane"), plural(b.Settings.Threads, "thread"), b.Settings.Backend)
	name := column{left: true, cells: []string{"right-hand side", "its transpose"}}
	cols := []column{
		name,
		{head: "ns", cells: []string{significant(b.RHS.Nanoseconds, 4), significant(b.VJP.Nanoseconds, 4)}},
		{head: "instructions", cells: []string{count(b.RHS.Instructions), count(b.VJP.Instructions)}},
		{head: "bytes", cells: []string{count(b.RHS.Bytes), count(b.VJP.Bytes)}},
		{head: "gflops", cells: []string{significant(b.RHS.GFlops, 3), significant(b.VJP.GFlops, 3)}},
	}
	p.columns(cols)
	p.line("")
	ms := func(s float64) string { return significant(1e3*s, 4) }
	p.columns([]column{
		{left: true, cells: []string{"forward", "adjoint", "gradient"}},
		{head: "median ms", cells: []string{ms(b.Forward.Median), ms(b.Adjoint.Median), ms(b.Gradient.Median)}},
		{head: "least ms", cells: []string{ms(b.Forward.Min), ms(b.Adjoint.Min), ms(b.Gradient.Min)}},
	})
	p.line("\n%s, checksum %s", plural(b.Runs, "run"), plainNumber(b.Checksum))
	return p.w.Flush()
}

func count(n int) string { return plainNumber(float64(n)) }
