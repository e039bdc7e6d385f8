package serve

import (
	"sync"
	"time"

	"odes.dev/odes"
)

// seldom returns what passes progress on ten times a second at most, one at a time.
func seldom(tell func(odes.Progress)) func(odes.Progress) {
	var mu sync.Mutex
	var last time.Time
	return func(p odes.Progress) {
		mu.Lock()
		defer mu.Unlock()
		if now := time.Now(); now.Sub(last) > 100*time.Millisecond {
			last = now
			tell(p)
		}
	}
}
