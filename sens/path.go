package sens

import (
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/record"
)

// path keeps the tangents of a walk: at the start of each step, and at each mark. A nil path keeps nothing.
//
// Where the run has states in a file, the tangents at steps are in a file of their own, and one block of them is in
// memory. The walk writes block after block, and the way back reads each once.
type path struct {
	n, d, l int
	size    solvers.Size // of the system
	steps   []float64    // [of a block][1 + N + 1][L]: ṫ, ẏ, ḣ
	marks   []float64    // [marks][1 + 2(N + D)][L]: ṫ, left limits, right limits

	run     *record.Trajectory
	block   int  // how many steps are in steps at once
	present int  // which block that is
	written bool // by the walk: the file does not have it yet
	file    record.Disk
	buf     []byte
	err     error // of the file; from then on the tangents are wrong
}

// blockBytes is about what a block of tangents takes. Reading that much at once costs little more than the copying.
const blockBytes = 1 << 16

// blockOf returns for how many steps tangents are in memory at once.
func blockOf(run *record.Trajectory, lanes int) int {
	if !run.Keep.InFile() {
		return run.Steps()
	}
	return min(max(1, blockBytes/(8*lanes*(run.Size().N+2))), run.Steps())
}

// PathBytes returns the memory, in bytes, that the tangents of one sweep take in so many lanes.
func PathBytes(run *record.Trajectory, lanes int) int64 {
	z, block := run.Size(), int64(blockOf(run, lanes))
	if block < int64(run.Steps()) {
		block *= 2 // with the buffer
	}
	return 8 * int64(lanes) * (block*int64(z.N+2) + int64(run.Marks())*int64(2*(z.N+z.D)+1))
}

func newPath(run *record.Trajectory, lanes int) *path {
	z := run.Size()
	p := &path{n: z.N * lanes, d: z.D * lanes, l: lanes, size: z, run: run}
	p.renew()
	return p
}

// renew makes room for the tangents of the run as it is now.
func (p *path) renew() {
	p.block, p.present, p.written, p.err = blockOf(p.run, p.l), 0, false, nil
	p.steps = need(p.steps, p.block*(2*p.l+p.n))
	p.marks = need(p.marks, p.run.Marks()*(p.l+2*(p.n+p.d)))
}

// close closes the file.
func (p *path) close() {
	if p.file != nil {
		_ = p.file.Close() // what is in it is no longer wanted
		p.file = nil
	}
}

// turn makes the block of step i present. What the walk has written goes to the file first. The walk writes all of a
// block, and the way back reads it.
func (p *path) turn(i int, read bool) {
	to := i / p.block
	if to == p.present || p.err != nil {
		return
	}
	if p.file == nil {
		if p.file, p.err = p.run.Scratch(); p.err != nil {
			p.file = nil
			return
		}
	}
	at := func(block int) int64 { return int64(block) * 8 * int64(len(p.steps)) }
	if p.written {
		if p.err = record.WriteDisk(p.file, at(p.present), &p.buf, p.steps); p.err != nil {
			return
		}
	}
	p.present, p.written = to, false
	if read {
		p.err = record.ReadDisk(p.file, at(to), &p.buf, p.steps)
	}
}

func (p *path) step(i int, td, yd, hd []float64) {
	if p == nil {
		return
	}
	p.turn(i, false)
	p.written = true
	t, y, h := p.at(i)
	copy(t, td)
	copy(y, yd)
	copy(h, hd)
}

// stepAt returns the tangents at step i, which hold until the next call.
func (p *path) stepAt(i int) (td, yd, hd []float64) {
	p.turn(i, true)
	return p.at(i)
}

// at returns where the tangents of step i are, in the present block.
func (p *path) at(i int) (td, yd, hd []float64) {
	w := 2*p.l + p.n
	i %= p.block
	at := p.steps[i*w : (i+1)*w]
	return at[:p.l], at[p.l : p.l+p.n], at[p.l+p.n:]
}

func (p *path) mark(k int, td, ymd, dmd, ypd, dpd []float64) {
	if p == nil {
		return
	}
	m := p.markAt(k)
	copy(m.T, td)
	copy(m.Ym, ymd)
	copy(m.Dm, dmd)
	copy(m.Yp, ypd)
	copy(m.Dp, dpd)
}

func (p *path) markAt(k int) PointTangent {
	w := p.l + 2*(p.n+p.d)
	at := p.marks[k*w : (k+1)*w]
	take := func(n int) []float64 {
		x := at[:n:n]
		at = at[n:]
		return x
	}
	return PointTangent{T: take(p.l), Ym: take(p.n), Dm: take(p.d), Yp: take(p.n), Dp: take(p.d)}
}
