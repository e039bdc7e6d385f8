package typecheck

import (
	"slices"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
)

// cover records which pieces define which elements of an array.
type cover struct {
	c       *checker
	shape   types.Shape
	by      []int32 // 1 + the number of the first piece of the element; 0 for none
	spans   []source.Span
	overlap int   // an element that two pieces define; -1 for none
	other   int32 // number of the second of these pieces
	whole   bool  // piece 1 defines every element, and by is not filled in
}

func newCover(c *checker, shape types.Shape) *cover {
	return &cover{c: c, shape: shape, overlap: -1}
}

func (v *cover) fill() {
	if v.by == nil {
		v.by = make([]int32, v.shape.Size())
		if v.whole {
			for i := range v.by {
				v.by[i] = 1
			}
		}
	}
}

// add marks the elements of p. It returns false when that was too much work, which was reported.
func (v *cover) add(p model.Piece) bool {
	v.spans = append(v.spans, p.Span)
	n := int32(len(v.spans))
	if n == 1 && p.Whole(v.shape) {
		v.whole = true
		return true
	}
	v.fill()
	return v.c.eachElement(p.Subs, v.shape, p.Indices, p.Span, func(_, o int) {
		if v.by[o] != 0 {
			if v.overlap < 0 {
				v.overlap, v.other = o, n
			}
			return
		}
		v.by[o] = n
	})
}

// free reports whether p overlaps none of the pieces that were added.
func (v *cover) free(p model.Piece) bool {
	if len(v.spans) == 0 {
		return true
	}
	if p.Subs == nil || v.whole && v.by == nil {
		return false
	}
	v.fill()
	clear := true
	ok := v.c.eachElement(p.Subs, v.shape, p.Indices, p.Span, func(_, o int) { clear = clear && v.by[o] == 0 })
	return ok && clear
}

// missing names the first element that no piece defines.
func (v *cover) missing() (name string, is bool) {
	if v.whole && v.by == nil {
		return "", false
	}
	v.fill()
	if i := slices.Index(v.by, 0); i >= 0 {
		return v.shape.Element(i), true
	}
	return "", false
}

// twice names an element that two pieces define, with their places.
func (v *cover) twice() (name string, spans []source.Span, is bool) {
	if v.overlap < 0 {
		return "", nil, false
	}
	return v.shape.Element(v.overlap), []source.Span{v.spans[v.by[v.overlap]-1], v.spans[v.other-1]}, true
}

// eachElement calls f for every element that subs select for every value of indices, with the
// number of the iteration and the flat offset of the element. Subscripts are in bounds.
func (c *checker) eachElement(subs []model.Sub, shape types.Shape, indices []*model.Index, s source.Span,
	f func(iteration, offset int),
) bool {
	n := 1.0
	for _, ix := range indices {
		n *= float64(ix.Count)
	}
	block := 1.0
	if subs == nil {
		block = float64(shape.Size())
	}
	for _, b := range subs {
		if b.At == nil {
			block *= float64(b.Count)
		}
	}
	if n*block > float64(c.env.MaxElements) {
		c.errorf(CodeSize, s, "this assigns %.3g elements; the limit is %.3g", n*block, float64(c.env.MaxElements))
		return false
	}
	ok := true
	func() {
		defer func() {
			if r := recover(); r != nil {
				if _, is := r.(tabulate.TooLarge); !is {
					panic(r)
				}
				ok = false
				c.errorf(CodeSize, s, "the indices of this assignment take too much work at compile time")
			}
		}()
		p := tabulate.Offsets(&tabulate.Evaluator{Limit: c.env.MaxElements, List: c.list}, subs, shape, indices)
		for i, base := range p.Base {
			if base < 0 {
				continue
			}
			for _, d := range p.Block {
				f(i, base+d)
			}
		}
	}()
	return ok
}
