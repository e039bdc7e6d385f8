package cluster

import (
	"fmt"
	"io"
	"sync"
	"time"
)

// Metrics count what a worker does. The zero value is ready to use, and nil counts nothing.
type Metrics struct {
	mu                                       sync.Mutex
	chunks, members, failures, steps, asides int
	seconds                                  float64
}

func (m *Metrics) add(r result, took time.Duration) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.chunks++
	m.members += r.members
	m.failures += r.failures
	m.steps += r.steps
	m.seconds += took.Seconds()
}

func (m *Metrics) aside() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asides++
}

// Write writes the counts in the text format of Prometheus.
func (m *Metrics) Write(w io.Writer) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, c := range []struct {
		name, help string
		value      any
	}{
		{"odes_chunks_total", "Chunks computed and stored.", m.chunks},
		{"odes_members_total", "Members of these chunks, and searches.", m.members},
		{"odes_failed_members_total", "Members and searches that failed.", m.failures},
		{"odes_steps_total", "Steps of all members.", m.steps},
		{"odes_chunks_set_aside_total", "Chunks that were set aside.", m.asides},
		{"odes_chunk_seconds_total", "Seconds that chunks took, over all threads.", m.seconds},
	} {
		fmt.Fprintf(w, "# HELP %s %s\n# TYPE %s counter\n%s %v\n", c.name, c.help, c.name, c.name, c.value)
	}
}
