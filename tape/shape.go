package tape

import (
	"fmt"
	"slices"
	"strings"
)

// maxSize bounds the number of elements of a value. So sizes cannot overflow an int,
// and a hostile text cannot ask for all memory.
const maxSize = 1 << 31

// Size returns the number of elements: 1 for a scalar.
func (s Shape) Size() int {
	n := 1
	for _, d := range s {
		n *= d
	}
	return n
}

// Rank returns the number of axes.
func (s Shape) Rank() int { return len(s) }

// Equal reports whether s and t are the same.
func (s Shape) Equal(t Shape) bool { return slices.Equal(s, t) }

// String returns the shape in the form "[200 3]", which is "[]" for a scalar.
func (s Shape) String() string {
	var b strings.Builder
	b.WriteByte('[')
	for i, d := range s {
		if i > 0 {
			b.WriteByte(' ')
		}
		fmt.Fprint(&b, d)
	}
	b.WriteByte(']')
	return b.String()
}

// Strides returns the distance between neighbours along each axis.
func (s Shape) Strides() []int {
	st := make([]int, len(s))
	n := 1
	for i := len(s) - 1; i >= 0; i-- {
		st[i] = n
		n *= s[i]
	}
	return st
}

// check returns an error if no value can have the shape s.
func (s Shape) check() error {
	if len(s) > MaxRank {
		return fmt.Errorf("shape %v has rank %d, more than %d", s, len(s), MaxRank)
	}
	n := 1
	for _, d := range s {
		if d < 1 {
			return fmt.Errorf("shape %v has an axis of length %d", s, d)
		}
		if d > maxSize/n {
			return fmt.Errorf("shape %v has too many elements", s)
		}
		n *= d
	}
	return nil
}

// Stretch returns the shape of the result of an elementwise op, given those of its
// operands: their common shape after axes of length 1 have stretched. Operands of
// rank 0 fit any others. It is an error if ranks or lengths do not match.
func Stretch(shapes ...Shape) (Shape, error) {
	var out Shape
	for _, s := range shapes {
		switch {
		case len(s) == 0:
		case len(out) == 0:
			out = slices.Clone(s)
		case len(out) != len(s):
			return nil, fmt.Errorf("shapes %v and %v do not match: ranks differ", out, s)
		default:
			for k, d := range s {
				switch {
				case out[k] == 1:
					out[k] = d
				case d != 1 && d != out[k]:
					return nil, fmt.Errorf("shapes %v and %v do not match on axis %d", out, s, k)
				}
			}
		}
	}
	return out, nil
}

// infer returns the shape of the result of in, given those of its operands. Where the
// operands do not determine it (Slice, Pad, Reshape, Broadcast, Put, Drop, Const), infer
// checks in.Shape against them and returns it.
func infer(in *Instr, args []Shape) (Shape, error) {
	row := in.Op.Row()
	if err := in.Shape.check(); err != nil {
		return nil, err
	}
	if row.Elementwise() {
		return Stretch(args...)
	}
	switch in.Op {
	case Const:
		if n := len(in.Attr.Data); n != 1 && n != in.Shape.Size() {
			return nil, fmt.Errorf("%d elements do not fill shape %v", n, in.Shape)
		}
		return in.Shape, nil
	case Slice:
		return in.Shape, within(&in.Attr, in.Shape, args[0])
	case Pad:
		return in.Shape, within(&in.Attr, args[0], in.Shape)
	case Reshape:
		if args[0].Size() != in.Shape.Size() {
			return nil, fmt.Errorf("cannot reshape %v to %v: the numbers of elements differ", args[0], in.Shape)
		}
		return in.Shape, nil
	case Broadcast:
		if out, err := Stretch(args[0], in.Shape); err != nil || !out.Equal(in.Shape) {
			return nil, fmt.Errorf("cannot stretch %v to %v", args[0], in.Shape)
		}
		return in.Shape, nil
	case Transpose:
		return permuted(args[0], in.Attr.Perm)
	case Concat:
		return concatenated(args, in.Attr.Axis)
	case Take, Put:
		return indexed(in, args[0])
	case SumAxes, ProdAxes, MaxAxes, MinAxes:
		return reduced(args[0], in.Attr.Axes)
	case MatMul:
		return product(args[0], args[1], in.Attr.TA, in.Attr.TB)
	case Dot, Outer, Find, Pick, Drop:
		return ofVectors(in, args)
	}
	return nil, fmt.Errorf("unknown op %d", in.Op)
}

// ofVectors returns the shape of the result of an op of vectors.
func ofVectors(in *Instr, args []Shape) (Shape, error) {
	switch in.Op {
	case Dot:
		if len(args[0]) != 1 || !args[0].Equal(args[1]) {
			return nil, fmt.Errorf("dot wants two vectors of one length, not %v and %v", args[0], args[1])
		}
		return nil, nil
	case Outer:
		if len(args[0]) != 1 || len(args[1]) != 1 {
			return nil, fmt.Errorf("outer wants two vectors, not %v and %v", args[0], args[1])
		}
		return Shape{args[0][0], args[1][0]}, nil
	case Find, Pick:
		least := 1
		if in.Op == Find {
			least = 2
		}
		if len(args[0]) != 1 || args[0][0] < least {
			return nil, fmt.Errorf("%v wants a vector of at least %d elements, not %v", in.Op, least, args[0])
		}
		return args[1], nil
	case Drop:
		if len(in.Shape) != 1 || !args[0].Equal(args[1]) {
			return nil, fmt.Errorf("drop wants a place for each element and makes a vector, not %v of %v and %v",
				in.Shape, args[0], args[1])
		}
		return in.Shape, nil
	}
	return nil, fmt.Errorf("unknown op %d", in.Op)
}

// within checks that a window lies in an array of shape whole. The window has shape
// part, and a says where it starts and by which steps it goes.
func within(a *Attr, part, whole Shape) error {
	n := len(whole)
	if len(part) != n {
		return fmt.Errorf("a window of rank %d does not fit rank %d", len(part), n)
	}
	if len(a.Start) != n {
		return fmt.Errorf("start has %d entries for rank %d", len(a.Start), n)
	}
	if a.Step != nil && len(a.Step) != n {
		return fmt.Errorf("step has %d entries for rank %d", len(a.Step), n)
	}
	for k := range whole {
		step := 1
		if a.Step != nil {
			step = a.Step[k]
		}
		if step < 1 || step > maxSize {
			return fmt.Errorf("step %d on axis %d is not in 1 … %d", step, k, maxSize)
		}
		if a.Start[k] < 0 || a.Start[k] >= whole[k] || part[k]-1 > (whole[k]-1-a.Start[k])/step {
			return fmt.Errorf("%d elements from %d by %d do not fit in length %d (axis %d)",
				part[k], a.Start[k], step, whole[k], k)
		}
	}
	return nil
}

func permuted(s Shape, perm []int) (Shape, error) {
	if len(perm) != len(s) {
		return nil, fmt.Errorf("perm has %d entries for rank %d", len(perm), len(s))
	}
	out := make(Shape, len(s))
	seen := [MaxRank]bool{}
	for i, p := range perm {
		if p < 0 || p >= len(s) || seen[p] {
			return nil, fmt.Errorf("perm %v is not a permutation", perm)
		}
		seen[p] = true
		out[i] = s[p]
	}
	return out, nil
}

func concatenated(args []Shape, axis int) (Shape, error) {
	out := slices.Clone(args[0])
	if axis < 0 || axis >= len(out) {
		return nil, fmt.Errorf("axis %d is not an axis of shape %v", axis, out)
	}
	for _, s := range args[1:] {
		if len(s) != len(out) {
			return nil, fmt.Errorf("cannot concatenate shapes %v and %v: ranks differ", args[0], s)
		}
		for k := range s {
			if k != axis && s[k] != out[k] {
				return nil, fmt.Errorf("cannot concatenate shapes %v and %v along axis %d", args[0], s, axis)
			}
		}
		out[axis] += s[axis]
	}
	return out, out.check()
}

func indexed(in *Instr, arg Shape) (Shape, error) {
	axis, index := in.Attr.Axis, in.Attr.Index
	if axis < 0 || axis >= len(arg) {
		return nil, fmt.Errorf("axis %d is not an axis of shape %v", axis, arg)
	}
	if len(index) == 0 {
		return nil, fmt.Errorf("the index is empty")
	}
	out := slices.Clone(arg)
	length := arg[axis] // of the indexed axis
	if in.Op == Take {
		out[axis] = len(index)
	} else {
		if len(in.Shape) != len(arg) {
			return nil, fmt.Errorf("cannot put %v into shape %v: ranks differ", arg, in.Shape)
		}
		if len(index) != arg[axis] {
			return nil, fmt.Errorf("%d positions for %d slices", len(index), arg[axis])
		}
		length = in.Shape[axis]
		out[axis] = length
	}
	for _, i := range index {
		if i < 0 || i >= length {
			return nil, fmt.Errorf("position %d is not in 0 … %d", i, length-1)
		}
	}
	return out, out.check()
}

func reduced(s Shape, axes []int) (Shape, error) {
	if len(axes) == 0 {
		return nil, fmt.Errorf("no axes to reduce")
	}
	last := -1
	for _, k := range axes {
		if k <= last || k >= len(s) {
			return nil, fmt.Errorf("axes %v are not ascending axes of shape %v", axes, s)
		}
		last = k
	}
	var out Shape
	for k, d := range s {
		if !slices.Contains(axes, k) {
			out = append(out, d)
		}
	}
	return out, nil
}

func product(a, b Shape, ta, tb bool) (Shape, error) {
	bad := fmt.Errorf("cannot multiply shapes %v @ %v", flipped(a, ta), flipped(b, tb))
	switch {
	case len(a) == 2 && len(b) == 2:
		a, b = flipped(a, ta), flipped(b, tb)
		if a[1] != b[0] {
			return nil, bad
		}
		return Shape{a[0], b[1]}, nil
	case len(a) == 2 && len(b) == 1 && !tb:
		a = flipped(a, ta)
		if a[1] != b[0] {
			return nil, bad
		}
		return Shape{a[0]}, nil
	case len(a) == 1 && len(b) == 2 && !ta:
		b = flipped(b, tb)
		if a[0] != b[0] {
			return nil, bad
		}
		return Shape{b[1]}, nil
	}
	return nil, bad
}

func flipped(s Shape, t bool) Shape {
	if t && len(s) == 2 {
		return Shape{s[1], s[0]}
	}
	return s
}
