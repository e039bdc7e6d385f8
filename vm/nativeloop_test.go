package vm

import (
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/tape"
)

// TestStretches compares the places that stretches give for the elements of a view with what the
// view's reader lays out.
func TestStretches(t *testing.T) {
	r := elem.NewRand(3)
	pick := func(k int) int { return int(r.Uint64() % uint64(k)) }
	for range 500 {
		shape := tape.Shape{1 + pick(5), 1 + pick(6), 1 + pick(7)}[pick(3):]
		src := make([]float64, shape.Size())
		for i := range src {
			src[i] = float64(1 + i)
		}
		w := own(0, shape)
		for range pick(3) {
			switch pick(4) {
			case 0:
				part, start, step := shape, make([]int, len(shape)), make([]int, len(shape))
				part = slices.Clone(w.shape)
				for k, n := range w.shape {
					step[k] = 1 + pick(2)
					start[k] = pick(n)
					part[k] = 1 + pick((n-start[k]-1)/step[k]+1)
				}
				w = w.window(part, &tape.Attr{Start: start, Step: step})
			case 1:
				i, j := pick(len(w.shape)), pick(len(w.shape))
				w.shape, w.strides = slices.Clone(w.shape), slices.Clone(w.strides)
				w.shape[i], w.shape[j] = w.shape[j], w.shape[i]
				w.strides[i], w.strides[j] = w.strides[j], w.strides[i]
			case 2:
				if k := pick(len(w.shape)); w.shape[k] == 1 {
					to := slices.Clone(w.shape)
					to[k] = 4
					w = w.stretch(to)
				}
			}
		}
		switch {
		case pick(3) == 0:
			whole, a := slices.Clone(w.shape), tape.Attr{}
			for k, n := range w.shape {
				a.Start, a.Step = append(a.Start, pick(3)), append(a.Step, 1+pick(2))
				whole[k] = a.Start[k] + (n-1)*a.Step[k] + 1 + pick(3)
			}
			if pick(2) == 0 {
				a.Step = nil
				for k, n := range w.shape {
					whole[k] = max(whole[k]-n, a.Start[k]+n)
				}
			}
			w = w.padded(whole, &a)
		case w.dense() && pick(2) == 0:
			axis := pick(len(w.shape))
			index := make([]int, 1+pick(8))
			for i := range index {
				index[i] = (i + pick(2)) % w.shape[axis]
			}
			to := slices.Clone(w.shape)
			to[axis] = len(index)
			w = w.gathered(to, &tape.Attr{Axis: axis, Index: index})
		}
		n := w.shape.Size()
		want := make([]float64, n)
		c := &storage{lane: []bool{false}}
		c.reader(w, 1).read(want, src, 0)
		list, ok := w.stretches(n)
		if !ok {
			t.Fatalf("more than %d stretches of %v", n, w)
		}
		for _, parts := range [][]stretch{list, singles(list, n)} {
			for i, s := range parts {
				end := n
				if i+1 < len(parts) {
					end = parts[i+1].first
				}
				if s.first >= end || i == 0 && s.first != 0 {
					t.Fatalf("stretches %v of %d elements", parts, n)
				}
				for e := s.first; e < end; e++ {
					x := 0.0
					switch s.kind {
					case along:
						x = src[s.at+e-s.first]
					case same:
						x = src[s.at]
					}
					if x != want[e] {
						t.Fatalf("element %d of %+v is %v, not %v: %v", e, w, want[e], x, parts)
					}
				}
			}
		}
	}
}
