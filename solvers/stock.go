package solvers

import (
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

// take returns n numbers of any value.
func (s *Stock) take(n int) []float64 {
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

// give adds blocks, of which the first will be taken first. Those that came first make room for them.
func (s *Stock) give(blocks [][]float64) {
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
