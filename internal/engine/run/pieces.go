package run

import (
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/engine/coincide"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/result"
)

// At a coincidence derivatives are those of a function that is linear in pieces: in each, causes have one order. Moves
// close to that of one column lie in pieces beside it. Derivatives along some moves that lie close together tell the
// gradient of a piece.

// mostPieces is how many pieces of a coincidence are told. beside and aside are the parts of sizes by which moves are
// beside those of columns, and differ from each other.
const (
	mostPieces = 8
	besideMove = 0x1p-5
	aside      = 0x1p-12
)

// pieces adds to the coincidences of s their pieces, as sides of the run have them.
func (r checking) pieces(ctx context.Context, s *trust.Result, sides *Sides, d *trust.Decision) error {
	size := r.problem.Size()
	work := float64(size.N+size.Q+1) * float64(s.Stats.Steps)
	if !slices.ContainsFunc(s.OneSided.Coincidences, func(c result.Coincidence) bool { return !c.Leap }) ||
		len(r.parts) > 0 || float64(2*directions*r.columns)*work > mostCrossed {
		return nil
	}
	move := func(k int, v []float64) {
		column, up := k%(2*r.columns)/2, k%2
		for l := range v {
			v[l] = besideMove * float64(d.Sizes[l]*portion(l, k/(2*r.columns)))
		}
		v[column] = math.Copysign(d.Sizes[column], float64(2*up-1))
	}
	near, c, err := sides.walk(ctx, 2*directions*r.columns, move)
	if err != nil {
		return err
	}
	var ways []int // moves in different pieces
	of := make([][]int, len(sides.Met))
	for n := range of {
		for k := 0; len(c.Met) == len(of) && d.Uses(n) && k < 2*directions*r.columns && len(of[n]) < mostPieces; k++ {
			if c.Unknown(k) || c.Leaps(k) || slices.ContainsFunc(of[n], func(other int) bool {
				return c.Met[n].Story(k) == c.Met[n].Story(other)
			}) {
				continue
			}
			if of[n] = append(of[n], k); !slices.Contains(ways, k) {
				ways = append(ways, k)
			}
		}
	}
	if len(ways) == 0 || float64(len(ways)*r.columns)*work > mostCrossed {
		return nil
	}
	gradients, err := r.gradientsOf(ctx, sides.walk, ways, d.Sizes, move, near.Slopes, c)
	if err != nil {
		return err
	}
	for n, list := range of {
		var pieces []result.Piece
		for _, k := range list {
			if g := gradients[slices.Index(ways, k)]; g != nil {
				pieces = append(pieces, result.Piece{Order: c.Order(&c.Met[n], k), Gradient: g})
			}
		}
		if len(pieces) > 1 {
			s.Piece(d, n, pieces)
		}
	}
	return nil
}

// gradientsOf returns the gradients of the pieces in which moves lie, along which slopes are known: nil for one that is
// not what slopes say, or whose piece is too narrow.
func (r checking) gradientsOf(ctx context.Context, walk sidedWalk, ways []int, sizes []float64,
	move func(k int, v []float64), slopes [][]float64, first *coincide.Crossing,
) (list [][]float64, err error) {
	found, c, err := walk(ctx, len(ways)*r.columns, func(q int, v []float64) {
		move(ways[q/r.columns], v)
		l := q % r.columns
		v[l] += float64(aside * sizes[l])
	})
	if err != nil {
		return nil, err
	}
	v := make([]float64, r.columns)
	for n, k := range ways {
		row := make([]float64, len(r.objectives)*r.columns)
		move(k, v)
		ok := true
		for i := range r.objectives {
			sum, most := 0.0, 0.0
			for l := range r.columns {
				q := n*r.columns + l
				x := (found.Slopes[q][i] - slopes[k][i]) / float64(aside*sizes[l])
				row[i*r.columns+l] = x
				sum += float64(x * v[l])
				most = max(most, math.Abs(float64(x*v[l])))
				ok = ok && sameStories(first, k, c, q)
			}
			ok = ok && (slopes[k][i] != slopes[k][i] || math.Abs(sum-slopes[k][i]) <= float64(1e-8*most))
		}
		if !ok {
			row = nil
		}
		list = append(list, row)
	}
	return list, nil
}

// sameStories reports whether everything comes in one order along a move of one crossing and another one of another.
func sameStories(a *coincide.Crossing, k int, b *coincide.Crossing, q int) bool {
	return slices.EqualFunc(a.Met, b.Met, func(x, y coincide.Met) bool { return x.Story(k) == y.Story(q) })
}
