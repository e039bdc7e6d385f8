package typecheck

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
)

// cover records which pieces give which elements of an array.
type cover struct {
	c     *checker
	shape types.Shape
	by    []int32 // 1 + the number of the first piece of the element; 0 for none
	spans []source.Span
	again int // an element given twice, -1 for none
	other int32
	whole bool // every element by piece 1: by is not filled in
}

func newCover(c *checker, shape types.Shape) *cover {
	return &cover{c: c, shape: shape, again: -1}
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

// add marks the elements of p; false when that was too much work, which was reported.
func (v *cover) add(p Piece) bool {
	v.spans = append(v.spans, p.Span)
	n := int32(len(v.spans))
	if n == 1 && coversAll(p, v.shape) {
		v.whole = true
		return true
	}
	v.fill()
	return v.c.eachElement(p.Subs, v.shape, p.Indices, p.Span, func(_, o int) {
		if v.by[o] != 0 {
			if v.again < 0 {
				v.again, v.other = o, n
			}
			return
		}
		v.by[o] = n
	})
}

// coversAll recognises pieces that give every element once by their form: the
// whole, or u[i,j] for i, j over all values.
func coversAll(p Piece, shape types.Shape) bool {
	if p.Subs == nil {
		return len(p.Indices) == 0
	}
	var met []*Index
	for k, s := range p.Subs {
		if s.At == nil {
			if s.Lo != 1 || s.Step != 1 || s.Count != shape[k] {
				return false
			}
			continue
		}
		v, ok := s.At.(*LoopVar)
		if !ok || v.Index.Lo != 1 || v.Index.Step != 1 || v.Index.Count != shape[k] || slices.Contains(met, v.Index) ||
			!slices.Contains(p.Indices, v.Index) {
			return false
		}
		met = append(met, v.Index)
	}
	return len(met) == len(p.Indices)
}

// free reports whether p overlaps nothing that was added.
func (v *cover) free(p Piece) bool {
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

// missing names the first element that no piece gives.
func (v *cover) missing() (name string, is bool) {
	if v.whole && v.by == nil {
		return "", false
	}
	v.fill()
	if i := slices.Index(v.by, 0); i >= 0 {
		return element(i, v.shape), true
	}
	return "", false
}

// twice names an element given by two pieces, with their places.
func (v *cover) twice() (name string, spans []source.Span, is bool) {
	if v.again < 0 {
		return "", nil, false
	}
	return element(v.again, v.shape), []source.Span{v.spans[v.by[v.again]-1], v.spans[v.other-1]}, true
}

// element names the element at flat offset o: "3", "2,5".
func element(o int, shape types.Shape) string {
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

// lines is " (lines 12, 15)".
func lines(spans []source.Span) string {
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

// eachElement calls f with the flat offset of every element that subs select
// for every value of indices (iteration number and offset). Subscripts are in
// bounds.
func (c *checker) eachElement(subs []Sub, shape types.Shape, indices []*Index, s source.Span,
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
				if _, is := r.(tooLarge); !is {
					panic(r)
				}
				ok = false
				c.errorf(CodeSize, s, "the indices of this assignment take too much work at compile time")
			}
		}()
		p := offsets(&evaluator{limit: c.env.MaxElements}, subs, shape, indices)
		for i, base := range p.base {
			if base < 0 {
				continue
			}
			for _, d := range p.block {
				f(i, base+d)
			}
		}
	}()
	return ok
}
