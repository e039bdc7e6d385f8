package vm

import (
	"slices"

	"odes.dev/odes/internal/base/team"
)

// Steps on long arrays are done in parts, which depend on nothing but their place in the arrays: segments of a loop in
// native code, strips, rows of a product. So a team may share the parts, with the same bits.

// sharedStep is a step in parts.
type sharedStep interface {
	step
	parts() int
	part(m *Machine, i int)
}

// Share lets a team do the parts of steps on long arrays; nil for this goroutine alone. The team belongs to the
// goroutine that runs the machine.
func (m *Machine) Share(t *team.Team) {
	if !m.p.shares || t == nil {
		m.team, m.peers, m.common = nil, nil, nil
		return
	}
	m.team, m.peers, m.common = t, make([]*Machine, t.Size()-1), make([][]float64, len(m.regs))
	for i := range m.peers {
		m.peers[i] = m.p.newPeer()
	}
}

// sharedParts are steps that do not depend on one another: the segments of a loop in native code, some in each thread,
// or all steps of each part of a tape that was cut.
type sharedParts [][]step

func (s sharedParts) parts() int { return len(s) }

func (s sharedParts) part(m *Machine, i int) {
	for _, x := range s[i] {
		x.run(m)
	}
}

func (s sharedParts) run(m *Machine) {
	if m.team != nil {
		m.runShared(s)
		return
	}
	for i := range s {
		if m.halt.over() {
			return
		}
		s.part(m, i)
	}
}

// shareParts makes the steps since the first of each part one.
func (c *compiler) shareParts(first []int) {
	if len(first) == 0 {
		return
	}
	c.flush()
	s := make(sharedParts, 0, len(first))
	for i, from := range first {
		to := len(c.p.steps)
		if i+1 < len(first) {
			to = first[i+1]
		}
		s = append(s, slices.Clone(c.p.steps[from:to]))
	}
	c.p.steps = append(c.p.steps[:first[0]], s)
	c.p.shares = true
}

// newPeer returns a machine that has its own temporaries and no other memory.
func (p *Program) newPeer() *Machine {
	m := &Machine{p: p, regs: make([][]float64, len(p.regs)), scratch: make([]float64, p.wide)}
	m.temporaries(make([]float64, p.stripElements()))
	for i := range p.regs {
		if m.regs[i] != nil {
			m.private = append(m.private, private{i, m.regs[i]})
		}
	}
	return m
}

// private is a register that a peer does not share.
type private struct {
	reg  int
	data []float64
}

// runShared runs a step in parts.
func (m *Machine) runShared(s sharedStep) {
	m.sharing = s
	m.pieces++
	copy(m.common, m.regs) // this machine's own cursors move while peers begin
	m.team.Do(s.parts(), m)
}

// Part implements team.Work.
func (m *Machine) Part(part, who int) {
	if m.halt.over() {
		return
	}
	w := m
	if who > 0 {
		if w = m.peers[who-1]; w.pieces != m.pieces {
			w.pieces = m.pieces
			copy(w.regs, m.common)
			for _, x := range w.private {
				w.regs[x.reg] = x.data
			}
		}
	}
	m.sharing.part(w, part)
}
