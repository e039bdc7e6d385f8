package export

import (
	"fmt"
	"slices"
	"strings"
)

// readEvents takes events in the order of the file they are written to: those that conditions set off, then those at
// known times. What fires once has a discrete that tells.
func (w *cWriter) readEvents() {
	for _, timed := range []bool{false, true} {
		for _, e := range w.exporter.events {
			c := &cEvent{event: e}
			switch {
			case e.crossing != nil:
				c.root, c.filter = e.crossing, e.when
			case e.when != nil:
				c.root = e.when
			}
			if (c.root == nil) != timed {
				continue
			}
			if e.delay != nil {
				w.cannot(e.of.Span, "%s has a delay, for which this format has no place: set a discrete to the time, "+
					"and write an event at it", e.name)
			}
			if !e.persistent && !w.packed {
				w.note(e.of.Span, "%s is not persistent: where events come at one time, its condition is to be looked "+
					"at again before its body is executed", e.name)
			}
			if e.on.Once {
				done := &quantity{name: e.name + "_done", base: e.name + "_done", value: w.num(0), uses: ofDiscretes}
				w.exporter.discretes = append(w.exporter.discretes, done)
				c.body = append(slices.Clone(c.body), assignment{done, w.num(1)})
				open := w.call("<", w.named(done), w.num(0.5))
				if c.filter == nil {
					c.filter = open
				} else {
					c.filter = w.call("and", c.filter, open)
				}
			}
			w.list = append(w.list, c)
		}
	}
}

// way is how an event is set off: 1 as its root function rises.
func (e *cEvent) way() int {
	if e.crossing != nil {
		return int(e.on.Way)
	}
	return 1
}

func (w *cWriter) rooted() (n int) {
	for _, e := range w.list {
		if e.root != nil {
			n++
		}
	}
	return n
}

// margin is a number that is positive where a condition holds, negative where it does not, and 0 in between.
func (w *cWriter) margin(n *node) *node {
	switch n.op {
	case "<", "<=":
		return w.call("-", n.args[1], n.args[0])
	case "and":
		return w.call("min", w.margin(n.args[0]), w.margin(n.args[1]))
	case "or":
		return w.call("max", w.margin(n.args[0]), w.margin(n.args[1]))
	case "not":
		return w.call("neg", w.margin(n.args[0]))
	}
	return w.choose(n, w.num(1), w.num(-1))
}

// rootOf is what changes its sign where an event is set off.
func (w *cWriter) rootOf(e *cEvent) *node {
	if e.root.isBool {
		return w.margin(e.root)
	}
	return e.root
}

func (w *cWriter) eventFunctions() {
	if len(w.list) == 0 {
		return
	}
	const at = "double t, const double *y, const double *p"
	if w.rooted() > 0 {
		s := w.scope(nil)
		for k, e := range w.list {
			if e.root == nil {
				break
			}
			s.assign(fmt.Sprintf("g[%d]", k), w.rootOf(e), &quantity{name: e.name, doc: e.of.Doc})
		}
		s.end("void", "root_functions", at+", double *g", "What changes its sign where an event is set off. After its "+
			"body it is set off again once g\n * has been on the other side.", "t", "y", "p")
	}
	w.next()
	w.priority()
	w.fire()
}

// next writes when events at known times fire.
func (w *cWriter) next() {
	s := w.scope(nil)
	var b strings.Builder
	some := false
	for k, e := range w.list {
		if e.root != nil {
			continue
		}
		some = true
		fmt.Fprintf(&b, "    case %d: /* %s */\n", k, comment(e.name))
		in := w.scope(nil) // a block of its own
		in.temps, in.used = s.temps, s.used
		for _, n := range slices.Concat(e.times, []*node{e.every, e.from, e.to, e.count}) {
			if n != nil {
				in.count(n)
			}
		}
		var lines []string
		for _, t := range e.times {
			lines = append(lines, fmt.Sprintf("due = %s;", in.text(t, 0)), "if (due > after && due < next)",
				"    next = due;")
		}
		if e.every != nil {
			from := e.from
			if from == nil {
				from = w.from
			}
			a, period := in.text(from, cSum+1), in.text(e.every, cProduct+1)
			lines = append(
				lines, fmt.Sprintf("if (!(%s > 0.0))", period), "    break;",
				fmt.Sprintf("count = fmax(0.0, floor((after - %s)/%s) - 1.0);", a, period),
				fmt.Sprintf("while ((due = %s + count*%s) <= after)", a, period), "    count += 1.0;",
			)
			var held []string
			if e.to != nil {
				held = append(held, "due <= "+in.text(e.to, cLess+1))
			}
			if e.count != nil {
				held = append(held, "count < "+in.text(e.count, cLess+1))
			}
			if held == nil {
				lines = append(lines, "next = due;")
			} else {
				lines = append(lines, "if ("+strings.Join(held, " && ")+")", "    next = due;")
			}
		}
		s.temps = in.temps
		b.WriteString("    {\n" + indentLines(in.lines.String(), "    "))
		for _, l := range lines {
			b.WriteString(wrapped("        "+l) + "\n")
		}
		b.WriteString("        break;\n    }\n")
	}
	if !some {
		return
	}
	counts := "due"
	if strings.Contains(b.String(), "count = ") {
		counts = "due, count"
	}
	s.tail = "    double next = INFINITY, " + counts + ";\n    switch (event) {\n" + b.String() +
		"    }\n    return next;\n"
	s.end("double", "next_time", "int event, double after, const double *y, const double *p", "The first time later "+
		"than `after` at which an event fires that has known times, else INFINITY. Begin with\n * nextafter(from, "+
		"-INFINITY), and ask again after each event.", "y", "p")
}

func indentLines(text, by string) string {
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(by + l)
	}
	return b.String()
}

// ranked tells whether events have priorities.
func (w *cWriter) ranked() bool {
	return slices.ContainsFunc(w.list, func(e *cEvent) bool { return e.rank != nil || e.of.Priority != 0 })
}

// priority writes which of several events comes first.
func (w *cWriter) priority() {
	if !w.ranked() {
		return
	}
	s := w.scope(nil)
	var b strings.Builder
	for k, e := range w.list {
		n := e.rank
		if n == nil {
			n = w.num(e.of.Priority)
		}
		s.count(n)
		fmt.Fprintf(&b, "    case %d:\n        return %s;\n", k, s.text(n, 0))
	}
	s.tail = "    switch (event) {\n" + b.String() + "    }\n    return 0.0;\n"
	s.end("double", "priority", "int event, double t, const double *y, const double *p", "Of events at one time that "+
		"with the highest priority comes first.", "t", "y", "p")
}

// fire writes the bodies.
func (w *cWriter) fire() {
	s := w.scope(nil)
	var b strings.Builder
	for k, e := range w.list {
		fmt.Fprintf(&b, "    case %d: /* %s */\n    {\n", k, comment(e.name))
		in := w.scope(nil)
		in.temps, in.used = s.temps, s.used
		if e.filter != nil {
			in.count(e.filter)
		}
		for _, a := range e.body {
			in.count(a.value)
		}
		var lines []string
		if e.filter != nil {
			lines = append(lines, fmt.Sprintf("if (!(%s))", in.text(e.filter, 0)), "    return 0;")
		}
		var after []string // names of what they become
		s.used["y"] = s.used["y"] || len(e.body) > 0
		for i, a := range e.body { // all from the values before
			if len(e.body) == 1 {
				lines = append(lines, fmt.Sprintf("%s = %s;", w.place[a.to], in.text(a.value, 0)))
				break
			}
			text := in.text(a.value, 0)
			after = append(after, in.free("to"))
			in.lines.WriteString(wrapped(fmt.Sprintf("    const double %s = %s;", after[i], text)) + "\n")
		}
		if len(e.body) > 1 {
			for i, a := range e.body {
				lines = append(lines, fmt.Sprintf("%s = %s;", w.place[a.to], after[i]))
			}
		}
		lines = append(lines, "return "+map[bool]string{true: "1", false: "0"}[e.of.Stop]+";")
		s.temps = in.temps
		b.WriteString(indentLines(in.lines.String(), "    "))
		for _, l := range lines {
			b.WriteString(wrapped("        "+l) + "\n")
		}
		b.WriteString("    }\n")
	}
	s.tail = "    switch (event) {\n" + b.String() + "    }\n    return 0;\n"
	s.end("int", "fire", "int event, double t, double *y, const double *p", "The body of an event changes y. Returns "+
		"1 where it ends the run.", "t", "y", "p")
}
