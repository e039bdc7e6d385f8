package tapec

import (
	"slices"

	"odes.dev/odes/tape"
)

// bars collects the contributions to a cotangent until all of them can be added.
type bars struct {
	whole []tape.Value
	parts []contribution
}

// contribution is a contribution to some elements only: to a window if start is set,
// else to the positions index along axis. It waits until all contributions are known,
// since many small ones make one Concat or one Put. Padding each with zeros and adding
// them one by one would cost the size of the whole every time.
type contribution struct {
	value       tape.Value
	start, step []int
	axis        int
	index       []int
}

// addPart adds p to the cotangent of the only operand of in.
func (r *reverse) addPart(in *tape.Instr, p contribution) {
	a := in.Args[0]
	r.bars[a].parts = append(r.bars[a].parts, p)
}

// collect returns the cotangent of v, or none if nothing contributes to it.
func (r *reverse) collect(v tape.Value) tape.Value {
	sum := none
	for _, x := range r.bars[v].whole {
		sum = r.plus(sum, x)
	}
	return r.plus(sum, r.assemble(r.bars[v].parts, r.t.Shape(v)))
}

// assemble returns the sum of parts, each in zeros of the given shape.
func (r *reverse) assemble(parts []contribution, shape tape.Shape) tape.Value {
	if len(parts) == 0 {
		return none
	}
	lines := make([]line, len(parts))
	axis, aligned := -1, true // whether all lie along one axis
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
	// The rest lie along several axes, or along none. Their positions in the flattened
	// array put them together.
	flat := tape.Shape{shape.Size()}
	chosen := make([]line, len(small))
	for i, k := range small {
		p := &parts[k]
		value := r.b.Reshape(p.value, tape.Shape{r.b.Shape(p.value).Size()})
		chosen[i] = line{value: value, axis: 0, index: p.flat(r.b.Shape(p.value), shape)}
	}
	return r.plus(sum, r.b.Reshape(r.scatter(chosen, flat), shape))
}

// place returns one contribution in zeros.
func (r *reverse) place(p *contribution, shape tape.Shape) tape.Value {
	if p.start != nil {
		return r.b.Pad(p.value, shape, p.start, p.step)
	}
	return r.b.Put(p.value, p.axis, p.index, shape[p.axis])
}

// line is a contribution that covers all axes but one, and the positions index on that
// one. Its axis is -1 for a contribution that is none.
type line struct {
	value tape.Value
	axis  int
	index []int
}

func (r *reverse) line(p *contribution, shape tape.Shape) line {
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
		axis = 0 // the window is as large as the whole
	}
	index := make([]int, size[axis])
	for i := range index {
		index[i] = p.start[axis] + i*p.by(axis)
	}
	return line{p.value, axis, index}
}

// by returns the step of a window along axis.
func (p *contribution) by(axis int) int {
	if p.step == nil {
		return 1
	}
	return p.step[axis]
}

// flat lists the positions of the elements of p in the flattened whole.
func (p *contribution) flat(size, shape tape.Shape) []int {
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

// tile puts lines along one axis together by a Concat, with zeros in the gaps. It
// returns none if a line has gaps itself or if two of them overlap.
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

// scatter adds lines along one axis up by a Put.
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
