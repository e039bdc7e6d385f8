package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// bars collects what flows into a cotangent, to be added up once all is there.
type bars struct {
	whole []tape.Value
	parts []part
}

// part is a contribution to some elements only: a window if start is set, else
// the positions index along axis. Parts are kept until the end because many
// small ones make one Concat or one Put, where adding each, padded with zeros,
// would cost the size of the whole every time.
type part struct {
	value       tape.Value
	start, step []int
	axis        int
	index       []int
}

func (r *reverse) addPart(in *tape.Instr, p part) {
	a := in.Args[0]
	r.bars[a].parts = append(r.bars[a].parts, p)
}

// collect returns the cotangent of v, none if nothing flowed into it.
func (r *reverse) collect(v tape.Value) tape.Value {
	sum := none
	for _, x := range r.bars[v].whole {
		sum = r.plus(sum, x)
	}
	return r.plus(sum, r.assemble(r.bars[v].parts, r.t.Shape(v)))
}

// assemble returns the sum of parts in zeros of the given shape.
func (r *reverse) assemble(parts []part, shape tape.Shape) tape.Value {
	if len(parts) == 0 {
		return none
	}
	lines := make([]line, len(parts)) // the parts that lie along one axis
	axis, aligned := -1, true         // the axis that they have in common
	for i := range parts {
		lines[i] = r.line(&parts[i], shape)
		k := lines[i].axis
		aligned = aligned && k >= 0 && (axis < 0 || k == axis)
		axis = k
	}
	if aligned && len(parts) > 1 {
		if x := r.tile(lines, shape); x != none {
			return x
		}
	}
	sum := none
	var small []int
	smallAligned := true
	for i := range parts {
		if 4*r.b.Shape(parts[i].value).Size() >= shape.Size() || len(parts) == 1 {
			sum = r.plus(sum, r.place(&parts[i], shape))
			continue
		}
		if len(small) > 0 && lines[i].axis != lines[small[0]].axis || lines[i].axis < 0 {
			smallAligned = false
		}
		small = append(small, i)
	}
	switch {
	case len(small) == 0:
		return sum
	case len(small) == 1:
		return r.plus(sum, r.place(&parts[small[0]], shape))
	case smallAligned:
		chosen := make([]line, len(small))
		for i, k := range small {
			chosen[i] = lines[k]
		}
		if x := r.tile(chosen, shape); x != none {
			return r.plus(sum, x)
		}
		return r.plus(sum, r.scatter(chosen, shape))
	}
	// Windows of several kinds: by their positions in the flat array.
	flat := tape.Shape{shape.Size()}
	chosen := make([]line, len(small))
	for i, k := range small {
		p := &parts[k]
		value := r.b.Reshape(p.value, tape.Shape{r.b.Shape(p.value).Size()})
		chosen[i] = line{value: value, axis: 0, index: p.flat(r.b.Shape(p.value), shape)}
	}
	return r.plus(sum, r.b.Reshape(r.scatter(chosen, flat), shape))
}

// place returns one part in zeros.
func (r *reverse) place(p *part, shape tape.Shape) tape.Value {
	if p.start != nil {
		return r.b.Pad(p.value, shape, p.start, p.step)
	}
	return r.b.Put(p.value, p.axis, p.index, shape[p.axis])
}

// line is a part that is whole on all axes but one.
type line struct {
	value tape.Value
	axis  int // -1 if the part is not such
	index []int
}

func (r *reverse) line(p *part, shape tape.Shape) line {
	if p.start == nil {
		return line{p.value, p.axis, p.index}
	}
	size := r.b.Shape(p.value)
	axis := -1
	for k := range shape {
		if size[k] != shape[k] {
			if axis >= 0 {
				return line{axis: -1}
			}
			axis = k
		}
	}
	if axis < 0 {
		axis = 0 // a window as large as the whole
	}
	index := make([]int, size[axis])
	for i := range index {
		index[i] = p.start[axis] + i*p.by(axis)
	}
	return line{p.value, axis, index}
}

func (p *part) by(axis int) int {
	if p.step == nil {
		return 1
	}
	return p.step[axis]
}

// flat lists the positions of the part's elements in the flattened whole.
func (p *part) flat(size, shape tape.Shape) []int {
	out := []int{0}
	for k, n := range shape {
		next := make([]int, 0, len(out)*size[k])
		for _, o := range out {
			for i := range size[k] {
				at := i
				switch {
				case p.start != nil:
					at = p.start[k] + i*p.by(k)
				case k == p.axis:
					at = p.index[i]
				}
				next = append(next, o*n+at)
			}
		}
		out = next
	}
	return out
}

// tile returns lines that are contiguous and do not overlap, put together by one
// Concat with zeros in the gaps; none if they are not so.
func (r *reverse) tile(lines []line, shape tape.Shape) tape.Value {
	sorted := slices.Clone(lines)
	slices.SortStableFunc(sorted, func(a, b line) int { return a.index[0] - b.index[0] })
	axis := sorted[0].axis
	at := 0
	var pieces []tape.Value
	gap := func(to int) {
		if to > at {
			zeros := slices.Clone(shape)
			zeros[axis] = to - at
			pieces = append(pieces, r.b.Const(zeros, 0))
		}
	}
	for _, l := range sorted {
		n := len(l.index)
		if l.index[0] < at || l.index[n-1] != l.index[0]+n-1 || !slices.IsSorted(l.index) {
			return none
		}
		gap(l.index[0])
		pieces = append(pieces, l.value)
		at = l.index[0] + n
	}
	gap(shape[axis])
	return r.b.Concat(axis, pieces...)
}

// scatter returns lines along one axis added up by one Put.
func (r *reverse) scatter(lines []line, shape tape.Shape) tape.Value {
	var values []tape.Value
	var index []int
	for _, l := range lines {
		values = append(values, l.value)
		index = append(index, l.index...)
	}
	axis := lines[0].axis
	return r.b.Put(r.b.Concat(axis, values...), axis, index, shape[axis])
}
