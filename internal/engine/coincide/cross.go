package coincide

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/internal/engine/contact"
	"odes.dev/odes/sens"
	"odes.dev/odes/tapec"
)

// Crossing is a sens.Crosser for the runs of a Model. It keeps what it met.
type Crossing struct {
	*Model
	Met []Met
	// Sets reports whether a body sets a condition to its threshold at a time: what comes there alone is met as well.
	Sets    func(t float64) bool
	columns [][2]int     // where active params lie among active ones, and among all
	unknown map[int]bool // directions that cannot be followed
	leaps   map[int]bool // directions along which states, discretes or modes leap
	shaken  map[int]bool // directions along which values in between may be others than those of the run
	jumps   map[int][]float64
	start   *Met // what comes at the start, or stands at its threshold there, of a run that is not followed there
}

// Met is a group of causes of the run.
type Met struct {
	T       float64
	Number  int // of the meeting
	base    *contact.Side
	group   *contact.Group
	local   *local
	Unknown string // why it is not followed
	Stories map[int][]contact.Step
	Causes  []string // in the words of the model
	Names   []string // of guards among them, as solvers know them
	Guards  []int    // of these and of all others
}

// Within is within which times are that of the meeting.
func (m *Met) Within() float64 { return 10 * m.group.Near }

// Differs reports whether what happens along two directions comes in another order.
func (m *Met) Differs(a, b int) bool { return m.Story(a) != m.Story(b) }

// Parts reports whether a move along either of two directions parts causes, or the order differs.
func (m *Met) Parts(a, b int) bool {
	return len(m.Stories[a]) > 1 || len(m.Stories[b]) > 1 || m.Differs(a, b)
}

// Still reports whether a move along either of two directions neither parts causes nor moves their time.
func (m *Met) Still(a, b int) bool {
	moved := func(x contact.Step) bool { return x.Shift != 0 }
	return !m.Parts(a, b) && !slices.ContainsFunc(m.Stories[a], moved) && !slices.ContainsFunc(m.Stories[b], moved)
}

// Story is what happens along a direction, in its order.
func (m *Met) Story(direction int) (text string) {
	for _, s := range m.Stories[direction] {
		text += fmt.Sprint(s.Events, s.Instants, s.Modes, ";")
	}
	return text
}

// Cross begins the crossings of a run. active are the names of the params that derivatives are taken by.
func (m *Model) Cross(active []string) *Crossing {
	c := &Crossing{
		Model: m, unknown: map[int]bool{}, leaps: map[int]bool{}, shaken: map[int]bool{}, jumps: map[int][]float64{},
	}
	for _, name := range active {
		column, param := m.problem.Column(name), m.problem.Model.Param(name)
		for i := range column.Len {
			c.columns = append(c.columns, [2]int{column.Offset + i, param.Offset + i})
		}
	}
	return c
}

// Meets implements sens.Crosser.
func (c *Crossing) Meets(at *sens.Meeting) bool {
	l, g := c.group(at)
	causes, fixed := c.causes(l, g, at)
	if at.Start && causes+fixed == 0 || !at.Start && causes+min(fixed, 1) < 2 && !(causes == 1 && c.Sets(at.T)) {
		return false
	}
	met := Met{
		T: at.T, Number: at.Number, group: g, local: l, Stories: map[int][]contact.Step{},
	}
	met.Guards = c.touched(l, g, at)
	met.Causes, met.Names = c.words(l, g, met.Guards)
	if at.Start {
		met.Causes = append([]string{"the start"}, met.Causes...)
	}
	base, err := met.follow(at, make([]float64, len(g.Z)), 0)
	if !at.Start && err == nil && !c.same(base, at) {
		g.Holds = true
		base, err = met.follow(at, make([]float64, len(g.Z)), 0)
	}
	switch {
	case at.Start && (err != nil || !c.same(base, at) || c.mayBegin):
		c.start = &met
		return false
	case err != nil:
		met.Unknown = err.Error()
	case !c.same(base, at):
		met.Unknown = "what is followed is not what the run did"
	}
	met.base = base
	c.Met = append(c.Met, met)
	return true
}

// same reports whether a side has what the run has behind a meeting.
func (c *Crossing) same(s *contact.Side, at *sens.Meeting) bool {
	close := func(x, y []float64) bool {
		for i, v := range x {
			if d := math.Abs(v - y[i]); d > float64(1e-6*max(math.Abs(v), math.Abs(y[i]), 1e-3)) {
				return false
			}
		}
		return true
	}
	if !close(s.Z[:c.nY], at.Yp) || !close(s.Z[c.nY:c.nY+c.nD], at.Dp) {
		return false
	}
	for i, m := range at.Mp {
		if m != s.M[i] && !s.Over {
			return false
		}
	}
	return true
}

// causes counts the causes of a group, and those whose times are fixed.
func (c *Crossing) causes(l *local, g *contact.Group, at *sens.Meeting) (n, fixed int) {
	after, _ := l.Times(g.Z, nil)
	for i, t := range after {
		switch {
		case !(math.Abs(t) <= g.Near):
		case c.instants[i].Fixed:
			fixed++
		default:
			n++
		}
	}
	n += l.last(g)
	seen := map[any]bool{}
	for _, i := range c.touched(l, g, at) {
		var key any = i
		if first := len(c.compiled.GuardList); i >= first {
			key = c.compiled.ClockList[i-first].Span
		} else if x := c.compiled.GuardList[i]; x.Clock {
			key = x.Span
		}
		if !seen[key] {
			seen[key] = true
			n++
		}
	}
	return n, fixed
}

// touched lists the conditions, as Model.atoms has them, that pass their thresholds at a meeting: with the left limits
// there or, where bodies or modes have set something to its threshold, with the right ones.
func (c *Crossing) touched(l *local, g *contact.Group, at *sens.Meeting) (list []int) {
	k := make([]float64, len(g.Z))
	find := func(z, m []float64) {
		l.Rates(z, m, k)
		margin, rate := l.Margins(z, m, k, 1, 0)
		for a, i := range c.atoms {
			if math.Abs(margin[a]) <= float64(g.Near*math.Abs(rate[a])) && rate[a] != 0 && !slices.Contains(list, i) {
				list = append(list, i)
			}
		}
	}
	if find(g.Z, g.M); !slices.Equal(at.Y, at.Yp) || !slices.Equal(at.D, at.Dp) || !slices.Equal(at.M, at.Mp) {
		z := slices.Clone(g.Z)
		copy(z, at.Yp)
		copy(z[c.nY:], at.Dp)
		find(z, at.Mp)
	}
	return list
}

// met returns what is known of a meeting.
func (c *Crossing) met(at *sens.Meeting) *Met {
	for i := range c.Met {
		if c.Met[i].Number == at.Number {
			return &c.Met[i]
		}
	}
	return nil
}

// Show implements sens.Crosser. What stands at its threshold at the start, and moves away from there, happens or does
// not: that is not followed here.
func (c *Crossing) Show(direction int, td float64, pd, y, d []float64) {
	if c.start == nil {
		return
	}
	l, g := c.start.local, c.start.group
	c.aim(l, pd)
	dz := make([]float64, len(g.Z))
	copy(dz, y)
	copy(dz[c.nY:], d)
	k := make([]float64, len(g.Z))
	l.Rates(g.Z, g.M, k)
	_, rate := l.Margins(g.Z, g.M, k, 1, 0)
	rate = slices.Clone(rate)
	margin, value := l.Margins(g.Z, g.M, dz, td, 1)
	for a, r := range rate {
		if math.Abs(margin[a]) <= float64(g.Near*math.Abs(r)) && math.Abs(value[a]) > float64(1e-12*math.Abs(r)) {
			c.unknown[direction] = true
		}
	}
	after, slope := l.Times(g.Z, dz)
	for i, t := range after {
		if math.Abs(t) <= g.Near && math.Abs(slope[i]-td) > 1e-12 {
			c.unknown[direction] = true
		}
	}
}

// follow follows the group of a meeting along a motion.
func (m *Met) follow(at *sens.Meeting, dz []float64, td float64) (*contact.Side, error) {
	if at.Start {
		return m.group.Begin(dz, td)
	}
	m.group.Far = td
	return m.group.Follow(dz)
}

// aim has params of a local move as those do that derivatives are by.
func (c *Crossing) aim(l *local, pd []float64) {
	clear(l.pd)
	for _, at := range c.columns {
		l.pd[at[1]] = pd[at[0]]
	}
}

// Cross implements sens.Crosser.
func (c *Crossing) Cross(at *sens.Meeting, direction int, td float64, pd, y, d, f []float64) error {
	met := c.met(at)
	if met.Unknown != "" {
		c.unknown[direction] = true
		return &contact.UnknownError{Why: met.Unknown}
	}
	c.aim(met.local, pd)
	dz := make([]float64, len(met.group.Z))
	copy(dz, y)
	copy(dz[c.nY:], d)
	s, err := met.follow(at, dz, td)
	if err != nil {
		c.unknown[direction] = true
		return err
	}
	met.Stories[direction] = s.Story
	c.compare(s, met.base, direction)
	copy(y, s.DZ)
	copy(d, s.DZ[c.nY:])
	for i, x := range s.DZ[c.nY+c.nD:] {
		f[i] += x
	}
	return nil
}

// compare notes what is another one behind a group along a direction than in the run.
func (c *Crossing) compare(s, base *contact.Side, direction int) {
	states := c.nY + c.nD
	if s.Over != base.Over || !s.Over && !(slices.Equal(s.M, base.M) && contact.Close(s.Z[:states], base.Z[:states])) {
		c.leaps[direction] = true
	}
	for i := range c.compiled.Functionals {
		f := &c.compiled.Functionals[i]
		for k := states + f.Offset; k < states+f.Offset+f.Shape.Size(); k++ {
			by := s.Z[k] - base.Z[k]
			switch {
			case contact.Close(s.Z[k:k+1], base.Z[k:k+1]):
				continue
			case f.Kind.Facts().Firings: // it may not be there at all
				c.leaps[direction] = true
				continue
			case c.jumps[direction] == nil:
				c.jumps[direction] = make([]float64, len(s.Z)-states)
			}
			c.jumps[direction][k-states] += by
		}
	}
	c.lack(s.Outside, direction)
	happened, was := eventsOf(s.Story), eventsOf(base.Story)
	if len(happened) > 1 || !slices.Equal(happened, was) {
		c.shaken[direction] = true
	}
	times := map[int]int{} // how many times more an event happens than in the run
	for _, e := range happened {
		times[e]++
	}
	for _, e := range was {
		times[e]--
	}
	for e, n := range times {
		if n != 0 && c.events[e].Once { // on one side, it is still to come
			c.unknown[direction] = true
		}
		if n != 0 && c.numbered(e) { // what is read of one of its times is read elsewhere then
			c.leaps[direction] = true
		}
	}
}

// lack notes which functionals have no value along a direction: what is read outside of the run, and integrals with a
// bound there.
func (c *Crossing) lack(outside []int, direction int) {
	for _, i := range outside {
		in := &c.compiled.InstantList[i]
		read := c.problem.Model.ReadAt(in)
		for k := range c.compiled.Functionals {
			f := &c.compiled.Functionals[k]
			whole := slices.Contains(read, k)
			for j := range f.Shape.Size() {
				bound := in.Bound != tapec.NoBound && j < len(f.Window) && slices.Contains(in.Modes, f.Window[j])
				if !whole && !bound {
					continue
				}
				if c.jumps[direction] == nil {
					c.jumps[direction] = make([]float64, c.problem.Model.Layout.NF)
				}
				c.jumps[direction][f.Offset+j] = math.NaN()
			}
		}
	}
}

// numbered reports whether something is read of one of the times of an event, by number.
func (c *Crossing) numbered(event int) bool {
	return slices.ContainsFunc(c.compiled.Functionals, func(f tapec.Functional) bool {
		return f.Kind.Facts().Firings && f.Nth != 0 && f.Event == c.of[event]
	})
}

// eventsOf lists the events of a story.
func eventsOf(story []contact.Step) (list []int) {
	for _, s := range story {
		list = append(list, s.Events...)
	}
	return list
}

// Leaps reports whether states leap along a direction: nothing is known of what follows.
func (c *Crossing) Leaps(direction int) bool { return c.leaps[direction] }

// Shaken reports whether states may go through other values along a direction than in the run.
func (c *Crossing) Shaken(direction int) bool { return c.shaken[direction] }

// Jump implements sens.Crosser.
func (c *Crossing) Jump(direction int) []float64 {
	if c.leaps[direction] || c.unknown[direction] {
		return nil
	}
	return c.jumps[direction]
}

// Unknown reports whether a direction could not be followed.
func (c *Crossing) Unknown(direction int) bool { return c.unknown[direction] }

var _ sens.Crosser = (*Crossing)(nil)

// Shifts returns how the time of the nth happening of an event, or change of a mode, at a meeting moves along n
// directions: NaN where it does not come.
func (c *Crossing) Shifts(m *Met, e *sens.EventTime, nth, n int) []float64 {
	come := func(story []contact.Step) (list []float64) {
		for _, s := range story {
			in, number := s.Events, c.Number(e)
			if e.Mode {
				in = s.Modes
			}
			for _, k := range in {
				if k == number {
					list = append(list, s.Shift)
				}
			}
		}
		return list
	}
	row := slices.Repeat([]float64{math.NaN()}, n)
	if m.base == nil {
		return row
	}
	nth = min(nth, max(len(come(m.base.Story)), 1)-1) // a mode may have several guards
	for k := range row {
		if list := come(m.Stories[k]); nth < len(list) {
			row[k] = list[nth]
		}
	}
	return row
}

// Number returns that of an event, or of the mode that changes.
func (c *Crossing) Number(e *sens.EventTime) int {
	if e.Mode {
		return c.guards[e.Guard].Mode
	}
	return c.first[e.Firing.Event] + e.Firing.Elem
}

// Order names what happens along a direction, in its order; what comes at one time is one element.
func (c *Crossing) Order(m *Met, direction int) (list []string) {
	for _, s := range m.Stories[direction] {
		var at []string
		add := func(name string) {
			if name != "" && !slices.Contains(at, name) {
				at = append(at, name)
			}
		}
		for _, e := range s.Events {
			add(c.events[e].Name)
		}
		for _, i := range s.Instants {
			add(c.instantName(i))
		}
		for _, k := range s.Modes {
			for _, x := range c.compiled.Modes {
				if k >= x.Offset && k < x.Offset+x.Shape.Size() {
					add(phrase(x.Span.Text()))
				}
			}
		}
		if len(at) > 0 {
			list = append(list, strings.Join(at, " and "))
		}
	}
	return list
}

// phrase is a text of the model on one line: of a choice, its condition.
func phrase(text string) string {
	if _, of, is := strings.Cut(text, "if "); is {
		text, _, _ = strings.Cut(of, " then ")
	}
	return strings.Join(strings.Fields(text), " ")
}

// instantName is what an instant is called.
func (c *Crossing) instantName(i int) string {
	switch c.moments[i].Kind {
	case contact.Reads:
		return "an observation"
	case contact.Ends:
		return "the end"
	case contact.Rechoose:
		return "a bound or knot"
	}
	return c.moments[i].Name
}

// words names the causes of a group.
func (c *Crossing) words(l *local, g *contact.Group, guards []int) (list, names []string) {
	add := func(name string) {
		if name = phrase(name); name != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	after, _ := l.Times(g.Z, nil)
	for i, t := range after {
		if !(math.Abs(t) <= g.Near) {
			continue
		}
		add(c.instantName(i))
	}
	for _, i := range guards {
		if i < len(c.guards) && c.guards[i].Name != "" {
			names = append(names, c.guards[i].Name)
		}
		if first := len(c.compiled.GuardList); i >= first {
			add(c.compiled.ClockList[i-first].Span.Text())
		} else if x := c.compiled.GuardList[i]; x.Event >= 0 {
			add(c.events[c.first[x.Event]+x.Elem].Name)
		} else {
			add(x.Span.Text())
		}
	}
	return list, names
}
