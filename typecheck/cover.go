package typecheck

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/tabulate"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/typecheck/cover"
)

func newCover(c *checker, shape types.Shape) *cover.Cover {
	return cover.New(shape, func(p model.Piece, f func(int)) bool {
		return c.eachElement(p.Subs, shape, p.Indices, p.Span, func(_, o int) { f(o) })
	})
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
