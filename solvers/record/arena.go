package record

import (
	"math/bits"

	"odes.dev/odes/solvers/stock"
)

// arena hands out slots of equal size from chunks that hold a power of two of them. Full chunks may move to a shelf.
type arena struct {
	slot   int
	shift  uint
	chunks [][]float64 // nil where they are on a shelf, or were given up
	n      int
	away   *shelved[float64] // nil while none are on a shelf
	stock  *stock.Stock      // that chunks are taken from; nil for new ones
}

func (a *arena) reset(slot int) {
	a.n = 0
	if slot == a.slot && a.away == nil {
		return
	}
	*a = arena{slot: slot, stock: a.stock}
	// Chunks of about a thousand numbers: each of many experiments has such chunks of its own, and most runs are short.
	if per := 1 << 10 / max(slot, 1); per > 1 {
		a.shift = uint(min(bits.Len(uint(per))-1, 10))
	}
}

func (a *arena) at(i int) []float64 {
	c := a.chunks[i>>a.shift]
	if c == nil && a.away != nil {
		c = a.away.chunk(i >> a.shift)
	}
	lo := (i & (1<<a.shift - 1)) * a.slot
	return c[lo : lo+a.slot : lo+a.slot]
}

// near is at for an arena without a shelf, and small enough to need no call.
func (a *arena) near(i int) []float64 {
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
		a.chunks = append(a.chunks, a.stock.Take(a.slot<<a.shift))
	}
	a.n++
	return a.near(a.n - 1)
}

func (a *arena) bytes() int64 {
	return int64(len(a.chunks)-a.away.count())*int64(a.slot)<<a.shift*8 + a.away.bytes()
}

// shelve moves all full chunks to a shelf, but not the last slot.
func (a *arena) shelve(to *shelf) error {
	if a.slot == 0 {
		return nil
	}
	for c := a.away.count(); c < (a.n-1)>>a.shift; c++ {
		if a.away == nil {
			a.away = &shelved[float64]{shelf: to}
		}
		if err := a.away.put(a.chunks[c]); err != nil {
			return err
		}
		a.chunks[c] = nil
	}
	return nil
}

// release lets the memory of slots up to i be collected, where no later slot shares it. They may not be used any
// more.
func (a *arena) release(i int) {
	if (i+1)&(1<<a.shift-1) == 0 {
		a.chunks[i>>a.shift] = nil
	}
}

// drop gives up all memory.
func (a *arena) drop() { a.chunks, a.n, a.away = nil, 0, nil }
