package tapec

import (
	"fmt"
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

// block holds some elements of an array that is being put together: those at all
// combinations of the positions at[k] along each dimension k. The axes of the loops
// around the array are the first dimensions of its value.
type block struct {
	v  tape.Value
	at [][]int
}

// assemble puts an array together from pieces.
func (l *lowerer) assemble(e *model.Assemble, s scope) array {
	own := shapeOf(e)
	var pieces []piece
	var outer []*axis
	for i := range e.Pieces {
		p := &e.Pieces[i]
		if empty(p.Indices) {
			continue
		}
		q := l.piece(p, own, s)
		pieces = append(pieces, q)
		outer = union(outer, without(q.x.ax, q.loops...))
	}
	l.deep(len(outer) + len(own))
	lead := lengths(outer)
	blocks := make([]block, 0, len(pieces))
	for _, p := range pieces {
		b, ok := l.block(p, outer)
		if !ok {
			return array{v: l.scatter(pieces, outer, own), ax: outer, own: own}
		}
		blocks = append(blocks, b)
	}
	extent := make([][]int, len(own))
	for k, n := range own {
		extent[k] = count(n)
	}
	return array{v: l.tile(blocks, extent, lead), ax: outer, own: own}
}

func empty(indices []*model.Index) bool {
	return slices.ContainsFunc(indices, func(ix *model.Index) bool { return ix.Count == 0 })
}

// piece is a lowered typecheck.Piece.
type piece struct {
	x      array
	loops  []*axis // the axes of the piece's own indices
	places []place // one for each dimension of the target
}

func (l *lowerer) piece(p *model.Piece, own tape.Shape, s scope) piece {
	s = s.with(l.frames, p.Indices)
	q := piece{x: l.lower(p.Value, s), loops: s.axesOf(p.Indices)}
	for k, n := range own {
		if p.Subs == nil {
			q.places = append(q.places, place{at: count(n), keep: true})
			continue
		}
		q.places = append(q.places, l.c.place(p.Subs[k], n, s, func() string { return p.Span.Text() }))
	}
	return q
}

// block makes a block of p. It reports false if the positions of p are not all
// combinations of some positions along each dimension.
func (em *emitter) block(p piece, outer []*axis) (block, bool) {
	var used []*axis
	var ranges tape.Shape
	for _, q := range p.places {
		switch {
		case q.keep:
			ranges = append(ranges, len(q.at))
		case len(q.ax) > 1 || len(q.ax) == 1 && (slices.Contains(used, q.ax[0]) || !slices.Contains(p.loops, q.ax[0])):
			return block{}, false
		default:
			used = append(used, q.ax...)
		}
	}
	if lengths(without(p.loops, used...)).Size() != 1 {
		return block{}, false
	}
	axes := union(outer, used, p.x.ax)
	w, dims := em.label(array{v: em.expand(p.x, axes, ranges), ax: axes, own: ranges})
	want := slices.Clone(outer)
	var b block
	for k, q := range p.places {
		b.at = append(b.at, q.at)
		switch {
		case q.keep:
			want, dims = append(want, dims[0]), dims[1:]
		case len(q.ax) == 1:
			want = append(want, q.ax[0])
		default:
			want = append(want, em.frames.label(1, k))
		}
	}
	b.v = em.arrange(w, want)
	return b, true
}

// tile puts blocks together that cover extent, which lists positions along each
// dimension in ascending order. The shape of the loops around the array is lead.
func (em *emitter) tile(blocks []block, extent [][]int, lead tape.Shape) tape.Value {
	if len(blocks) == 1 {
		v := blocks[0].v
		for k, at := range blocks[0].at {
			v = em.reorder(v, len(lead)+k, ranks(at, extent[k]))
		}
		return v
	}
	for k := range extent {
		groups, ok := groupBy(blocks, k)
		if !ok || len(groups) == 1 {
			continue
		}
		var vs []tape.Value
		var order []int
		for _, g := range groups {
			part := slices.Sorted(slices.Values(g[0].at[k]))
			inner := slices.Clone(extent)
			inner[k] = part
			vs = append(vs, em.tile(g, inner, lead))
			order = append(order, part...)
		}
		v := em.emit().Concat(len(lead)+k, vs...)
		return em.reorder(v, len(lead)+k, ranks(order, extent[k]))
	}
	shape := make(tape.Shape, len(extent))
	for k, e := range extent {
		shape[k] = len(e)
	}
	var vs []tape.Value
	var order []int
	for _, b := range blocks {
		at := []int{0}
		for k, p := range b.at {
			r := ranks(p, extent[k])
			next := make([]int, 0, len(at)*len(r))
			for _, a := range at {
				for _, q := range r {
					next = append(next, a*shape[k]+q)
				}
			}
			at = next
		}
		order = append(order, at...)
		vs = append(vs, em.reshape(b.v, join(lead, tape.Shape{len(at)})))
	}
	return em.spread(vs, order, lead, shape)
}

// spread concatenates the vectors vs and moves element i to order[i]. Dimensions of shape
// lead stand before those of each vector and of the result.
func (em *emitter) spread(vs []tape.Value, order []int, lead, shape tape.Shape) tape.Value {
	v := em.emit().Concat(len(lead), vs...)
	v = em.reorder(v, len(lead), order)
	return em.reshape(v, join(lead, shape))
}

// ranks returns the indices in sorted of the positions at, all of which are there.
func ranks(at, sorted []int) []int {
	out := make([]int, len(at))
	for i, p := range at {
		out[i], _ = slices.BinarySearch(sorted, p)
	}
	return out
}

// groupBy groups blocks by their positions along dimension k. It reports false if two
// sets of positions overlap but are not equal.
func groupBy(blocks []block, k int) ([][]block, bool) {
	index := map[string]int{}
	owner := map[int]int{}
	var groups [][]block
	for _, b := range blocks {
		at := slices.Sorted(slices.Values(b.at[k]))
		key := fmt.Sprint(at)
		g, ok := index[key]
		if !ok {
			g = len(groups)
			index[key] = g
			groups = append(groups, nil)
			for _, p := range at {
				if _, taken := owner[p]; taken {
					return nil, false
				}
				owner[p] = g
			}
		}
		groups[g] = append(groups[g], b)
	}
	return groups, true
}

// scatter puts pieces together element by element: it concatenates their elements and
// permutes them.
func (em *emitter) scatter(pieces []piece, outer []*axis, own tape.Shape) tape.Value {
	lead := lengths(outer)
	var vs []tape.Value
	var order []int
	for _, p := range pieces {
		at, ranges := p.positions(own)
		axes := union(outer, p.loops)
		w, dims := em.label(array{v: em.expand(p.x, axes, ranges), ax: axes, own: ranges})
		want := slices.Concat(outer, p.loops, dims)
		v := em.emitTranspose(w, want)
		vs = append(vs, em.reshape(v, join(lead, tape.Shape{len(at)})))
		order = append(order, at...)
	}
	return em.spread(vs, order, lead, own)
}

// positions returns where the elements of p go in an array of shape own. Its result is
// row-major over the loops of p and then over its ranges, whose lengths it returns.
func (p piece) positions(own tape.Shape) (at []int, ranges tape.Shape) {
	at = make([]int, lengths(p.loops).Size())
	for k, q := range p.places {
		if !q.keep {
			addTable(at, p.loops, q, own[k+1:].Size())
		}
	}
	for k, q := range p.places {
		if !q.keep {
			continue
		}
		ranges = append(ranges, len(q.at))
		next := make([]int, 0, len(at)*len(q.at))
		for _, a := range at {
			for _, r := range q.at {
				next = append(next, a+r*own[k+1:].Size())
			}
		}
		at = next
	}
	return at, ranges
}
