package hybrid

import (
	"odes.dev/odes/solvers/lanes"
)

// memberLanes is what makes the steps of one member of the method in lanes, and their blocks.
type memberLanes struct {
	step   lanes.Stepper // nil where they are not made side by side
	rows   *lanes.Rows
	reads  bool        // guards are read in lanes
	pieces [][]float64 // blocks, pieceBlocks in each
	blocks int         // that were begun
	next   []float64   // the block of the steps to come; nil as long as there are none
	aside  []float64   // a block
}

const pieceBlocks = 64

// blockPlace says where a block is: the member of the method whose steps it has, and which of its blocks it is.
type blockPlace struct{ member, block int }

// block returns a block.
func (m *memberLanes) block(i int) []float64 {
	n := m.rows.Block()
	at := i % pieceBlocks * n
	return m.pieces[i/pieceBlocks][at : at+n : at+n]
}

// grow begins another block. Without keep two take turns.
func (m *memberLanes) grow(keep bool) {
	i := m.blocks
	switch n := m.rows.Block(); {
	case keep && i/pieceBlocks == len(m.pieces):
		m.pieces = append(m.pieces, make([]float64, pieceBlocks*n))
	case !keep && m.pieces == nil:
		m.pieces = [][]float64{make([]float64, 2*n)}
	}
	if m.blocks++; !keep {
		i %= 2
	}
	m.next = m.block(i)
}

// begin returns the block of the steps to come.
func (m *memberLanes) begin(keep bool) []float64 {
	if m.next == nil {
		m.grow(keep)
	}
	return m.next
}

// note counts the block whose steps a member of the method has made, and notes where it is if it is kept.
func (l *Lanes) note(member int) {
	if l.present++; l.keep {
		l.made = append(l.made, blockPlace{member, l.members[member].blocks - 1})
	}
}

// in reports whether the member of the method makes the steps of the lane, which has a run.
func (a *lane) in(member int) bool { return a.s != nil && a.member == member }

// turn returns the member of the method that makes the next block; wants counts the lanes that want a step of each. The
// others wait until no lane wants the present one. Runs of one model have their changes in the same order, and mostly
// begin together: so all of them go through a stretch that is stiff before any goes on, and lanes are seldom empty.
func turn(now int, wants []int) int {
	if wants[now] == 0 {
		for m, n := range wants {
			if n > wants[now] {
				now = m
			}
		}
	}
	return now
}

// change has another member of the method, which its solver has chosen, make the steps of lane i. It reports whether
// steps of that can be made side by side.
func (l *Lanes) change(i int, a *lane) bool {
	a.settle()
	if sizes := a.s.tol.sizes; sizes != nil {
		sizes.Changed = true
	}
	m := &l.members[a.s.member]
	if m.step == nil {
		return false
	}
	a.member, a.rows, a.moved = a.s.member, m.rows, true
	a.block = m.begin(l.keep)[i:]
	return true
}
