// Package stock keeps memory of runs for the next ones.
package stock

import (
	"math"
	"slices"
	"sync"
)

// Stock is memory for the steps of trajectories whose runs follow one another. A run is then recorded where the one
// before it was read last, in memory that caches still hold and that nobody has to clear. Goroutines may share it.
type Stock struct {
	Most int64 // bytes that it holds at most, besides those in use

	mu     sync.Mutex
	blocks [][]float64 // the last is taken first
}

// Take returns n numbers of any value.
func (s *Stock) Take(n int) []float64 {
	if s != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		for i, b := range slices.Backward(s.blocks) {
			if len(b) >= n {
				s.blocks = slices.Delete(s.blocks, i, i+1)
				return b[:n]
			}
		}
	}
	return make([]float64, n)
}

// Give adds blocks, of which the first will be taken first. Those that came first make room for them.
func (s *Stock) Give(blocks [][]float64) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range slices.Backward(blocks) {
		if b != nil {
			s.blocks = append(s.blocks, b[:cap(b)])
		}
	}
	bytes, from := int64(0), len(s.blocks)
	for ; from > 0; from-- {
		if bytes += 8 * int64(len(s.blocks[from-1])); bytes > s.Most {
			break
		}
	}
	s.blocks = slices.Delete(s.blocks, 0, from)
}

// Spoil makes the memory that s holds mean nothing, and returns the size of each block: tests
// ask for it.
func (s *Stock) Spoil() (sizes []int) {
	for _, b := range s.blocks {
		sizes = append(sizes, len(b))
		for i := range b {
			b[i] = math.NaN()
		}
	}
	return sizes
}
