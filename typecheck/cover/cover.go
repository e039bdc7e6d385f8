// Package cover finds out which pieces of a definition define which elements of an array.
package cover

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
)

// Cover records which pieces define which elements of an array.
type Cover struct {
	Shape types.Shape
	// each calls f for every element that a piece defines, with its offset. It returns false when that was too much
	// work, which it has reported.
	each    func(p model.Piece, f func(offset int)) bool
	by      []int32 // 1 + the number of the first piece of the element; 0 for none
	spans   []source.Span
	overlap int   // an element that two pieces define; -1 for none
	other   int32 // number of the second of these pieces
	whole   bool  // piece 1 defines every element, and by is not filled in
}

// New returns a Cover of an array without pieces.
func New(shape types.Shape, each func(p model.Piece, f func(offset int)) bool) *Cover {
	return &Cover{Shape: shape, each: each, overlap: -1}
}

func (v *Cover) fill() {
	if v.by == nil {
		v.by = make([]int32, v.Shape.Size())
		if v.whole {
			for i := range v.by {
				v.by[i] = 1
			}
		}
	}
}

// Add marks the elements of p. It returns false when that was too much work, which was reported.
func (v *Cover) Add(p model.Piece) bool {
	v.spans = append(v.spans, p.Span)
	n := int32(len(v.spans))
	if n == 1 && p.Whole(v.Shape) {
		v.whole = true
		return true
	}
	v.fill()
	return v.each(p, func(o int) {
		if v.by[o] != 0 {
			if v.overlap < 0 {
				v.overlap, v.other = o, n
			}
			return
		}
		v.by[o] = n
	})
}

// Free reports whether p overlaps none of the pieces that were added.
func (v *Cover) Free(p model.Piece) bool {
	if len(v.spans) == 0 {
		return true
	}
	if p.Subs == nil || v.whole && v.by == nil {
		return false
	}
	v.fill()
	clear := true
	ok := v.each(p, func(o int) { clear = clear && v.by[o] == 0 })
	return ok && clear
}

// Missing names the first element that no piece defines.
func (v *Cover) Missing() (name string, is bool) {
	if v.whole && v.by == nil {
		return "", false
	}
	v.fill()
	if i := slices.Index(v.by, 0); i >= 0 {
		return v.Shape.Element(i), true
	}
	return "", false
}

// Twice names an element that two pieces define, with their places.
func (v *Cover) Twice() (name string, spans []source.Span, is bool) {
	if v.overlap < 0 {
		return "", nil, false
	}
	return v.Shape.Element(v.overlap), []source.Span{v.spans[v.by[v.overlap]-1], v.spans[v.other-1]}, true
}

// BothMissing names an element that neither of two defines.
func BothMissing(a, b *Cover) (string, bool) {
	if (a.whole && a.by == nil) || (b.whole && b.by == nil) {
		return "", false
	}
	a.fill()
	b.fill()
	for i := range a.by {
		if a.by[i] == 0 && b.by[i] == 0 {
			return a.Shape.Element(i), true
		}
	}
	return "", false
}

// Whole reports whether the first piece defines every element.
func (v *Cover) Whole() bool { return v.whole }

// WithZeros adds zero pieces for the elements that v does not cover.
func (v *Cover) WithZeros(pieces []model.Piece, zero model.Expr) []model.Piece {
	if v.whole && v.by == nil {
		return pieces
	}
	v.fill()
	shape := v.Shape
	if len(shape) == 0 {
		return pieces
	}
	last := shape[len(shape)-1]
	stride := shape.Strides()
	for o := 0; o < len(v.by); {
		if v.by[o] != 0 {
			o++
			continue
		}
		// A run along the last axis. In a matrix, successive empty rows are joined.
		n := 0
		for o%last+n < last && v.by[o+n] == 0 {
			n++
		}
		rows := 1
		if n == last && len(shape) >= 2 {
			for r := (o / stride[len(shape)-2]) % shape[len(shape)-2]; r+rows < shape[len(shape)-2] &&
				allZero(v.by[o+rows*last:o+(rows+1)*last]); {
				rows++
			}
		}
		subs := make([]model.Sub, len(shape))
		for k := range shape {
			i := o / stride[k] % shape[k]
			subs[k] = model.Sub{Lo: i + 1, Step: 1, Count: 1}
		}
		subs[len(shape)-1].Count = n
		if rows > 1 {
			subs[len(shape)-2].Count = rows
		}
		pieces = append(pieces, model.Piece{
			Subs: subs, Value: zero,
			Span: pieces[0].Span,
		})
		o += n + (rows-1)*last
	}
	return pieces
}

func allZero(v []int32) bool {
	for _, x := range v {
		if x != 0 {
			return false
		}
	}
	return true
}
