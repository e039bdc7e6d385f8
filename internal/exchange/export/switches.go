package export

import (
	"fmt"
	"slices"
)

// switches are where rates may jump, or bend at a known time, though no event is written there: conditions of `if`,
// tables, and functions such as floor. An importer has to come there, as it has to come to events.
type switches struct {
	w       *fmuWriter
	seen    map[*node]bool
	states  []*node // each changes its sign there, and depends on states
	clocks  []*node // the same, of the time alone
	moments []*node // known times
}

// mostKnots is how many knots of a table are told, unless the time is its place.
const mostKnots = 64

// switches finds those of nodes.
func (w *fmuWriter) switches(of []*node) *switches {
	s := &switches{w: w, seen: map[*node]bool{}}
	scope := w.scope(nil)
	var visit func(n *node)
	visit = func(n *node) {
		if n == nil || s.seen[n] || n.uses&(ofTime|ofStates) == 0 {
			return
		}
		s.seen[n] = true
		switch n.op {
		case name:
			visit(scope.behind(n.of))
		case choice:
			s.condition(n.args[0])
		case held, lookup:
			s.table(n)
		case "floor", "ceil", "trunc", "round":
			s.at(w.parity(n))
		case "mod":
			s.at(w.parity(w.call("floor", w.call("/", n.args[0], n.args[1]))))
		case "sign":
			s.at(n.args[0])
		}
		for _, a := range n.args {
			visit(a)
		}
	}
	for _, n := range of {
		visit(n)
	}
	return s
}

// parity is positive where a whole number is odd, and negative where it is even: it changes its sign where that jumps.
func (w *fmuWriter) parity(n *node) *node {
	return w.call("-", w.call("mod", n, w.num(2)), w.num(0.5))
}

// condition takes the comparisons of a condition.
func (s *switches) condition(n *node) {
	switch n.op {
	case "<", "<=":
		a, b := n.args[0], n.args[1]
		for _, side := range [][2]*node{{a, b}, {b, a}} {
			if side[0].op == name && side[0].of == s.w.time && side[1].uses&(ofTime|ofStates) == 0 {
				s.moment(side[1])
				return
			}
		}
		s.at(s.w.call("-", b, a))
	case "and", "or", "not":
		for _, a := range n.args {
			s.condition(a)
		}
	}
}

// table takes the knots of a table: those of one that jumps, and those at known times.
func (s *switches) table(n *node) {
	q, knots, _, _ := n.parts()
	shift, place := s.w.num(0), q
	if (q.op == "-" || q.op == "+") && q.args[1].uses&(ofTime|ofStates) == 0 {
		place, shift = q.args[0], q.args[1]
		if q.op == "+" {
			shift = s.w.call("neg", shift)
		}
	}
	timed := place.op == name && place.of == s.w.time
	if !timed && (n.op == lookup || len(knots) > mostKnots) {
		return
	}
	for _, k := range knots {
		if timed && k.uses&(ofTime|ofStates) == 0 {
			s.moment(s.w.call("+", k, shift))
		} else {
			s.at(s.w.call("-", q, k))
		}
	}
}

// at takes a function that changes its sign there.
func (s *switches) at(g *node) {
	switch list := &s.states; {
	case g.uses&(ofTime|ofStates) == 0:
	case g.uses&ofStates == 0:
		list = &s.clocks
		fallthrough
	default:
		if !slices.Contains(*list, g) {
			*list = append(*list, g)
		}
	}
}

func (s *switches) moment(n *node) {
	if !slices.Contains(s.moments, n) {
		s.moments = append(s.moments, n)
	}
}

// write writes the functions that tell of them.
func (s *switches) write() {
	w := s.w
	write := func(function, doc string, of []*node) {
		if len(of) == 0 {
			return
		}
		in := w.scope(nil)
		for i, n := range of {
			in.assign(fmt.Sprintf("g[%d]", i), n, nil)
		}
		in.end("void", function, "double t, const double *y, const double *p, double *g", doc, "t", "y", "p")
	}
	write("switches", "What changes its sign where rates may jump.", s.states)
	write("clocks", "The same, of what depends on the time alone.", s.clocks)
	write("moments", "Times at which rates may jump or bend.", s.moments)
}
