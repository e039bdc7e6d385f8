// Package cover finds out which pieces of a definition define which elements of an array.
package cover

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

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
	if n == 1 && coversAll(p, v.Shape) {
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

// coversAll recognises, by their form, pieces that define every element once: the whole, or u[i,j]
// for i and j over all values.
func coversAll(p model.Piece, shape types.Shape) bool {
	if p.Subs == nil {
		return len(p.Indices) == 0
	}
	var met []*model.Index
	for k, s := range p.Subs {
		if s.At == nil {
			if s.Lo != 1 || s.Step != 1 || s.Count != shape[k] {
				return false
			}
			continue
		}
		v, ok := s.At.(*model.LoopVar)
		if !ok || v.Index.Lo != 1 || v.Index.Step != 1 || v.Index.Count != shape[k] || slices.Contains(met, v.Index) ||
			!slices.Contains(p.Indices, v.Index) {
			return false
		}
		met = append(met, v.Index)
	}
	return len(met) == len(p.Indices)
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
		return Element(i, v.Shape), true
	}
	return "", false
}

// Twice names an element that two pieces define, with their places.
func (v *Cover) Twice() (name string, spans []source.Span, is bool) {
	if v.overlap < 0 {
		return "", nil, false
	}
	return Element(v.overlap, v.Shape), []source.Span{v.spans[v.by[v.overlap]-1], v.spans[v.other-1]}, true
}

// Element returns the name of the element at flat offset o: "3", "2,5".
func Element(o int, shape types.Shape) string {
	if len(shape) == 0 {
		return ""
	}
	at := make([]string, len(shape))
	for k := len(shape) - 1; k >= 0; k-- {
		at[k] = strconv.Itoa(o%shape[k] + 1)
		o /= shape[k]
	}
	return strings.Join(at, ",")
}

// Lines returns " (lines 12, 15)".
func Lines(spans []source.Span) string {
	var all []string
	for _, s := range spans {
		if s.File != nil {
			if n := strconv.Itoa(s.Begin().Line); !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (line %s)", all[0])
	}
	return fmt.Sprintf(" (lines %s)", strings.Join(all, ", "))
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
			return Element(i, a.Shape), true
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
