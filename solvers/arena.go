package solvers

import "math/bits"

// arena hands out slots of equal size from chunks that hold a power of two of them.
type arena struct {
	slot   int
	shift  uint
	chunks [][]float64
	n      int
}

func (a *arena) reset(slot int) {
	a.n = 0
	if slot == a.slot {
		return
	}
	*a = arena{slot: slot}
	// Chunks of about eight thousand numbers.
	if per := 1 << 13 / max(slot, 1); per > 1 {
		a.shift = uint(min(bits.Len(uint(per))-1, 10))
	}
}

func (a *arena) at(i int) []float64 {
	lo := (i & (1<<a.shift - 1)) * a.slot
	return a.chunks[i>>a.shift][lo : lo+a.slot : lo+a.slot]
}

// grows returns how many bytes the next slot would allocate.
func (a *arena) grows() int64 {
	if a.n>>a.shift < len(a.chunks) {
		return 0
	}
	return int64(a.slot) << a.shift * 8
}

func (a *arena) next() []float64 {
	if a.n>>a.shift == len(a.chunks) {
		a.chunks = append(a.chunks, make([]float64, a.slot<<a.shift))
	}
	a.n++
	return a.at(a.n - 1)
}

func (a *arena) bytes() int64 { return int64(len(a.chunks)) * int64(a.slot) << a.shift * 8 }

// release lets the memory of slots up to i be collected, where no later slot shares it. They may not be used any
// more.
func (a *arena) release(i int) {
	if (i+1)&(1<<a.shift-1) == 0 {
		a.chunks[i>>a.shift] = nil
	}
}

// drop gives up all memory.
func (a *arena) drop() { a.chunks, a.n = nil, 0 }
