package simd

import (
	"math"
	"sync"
	"time"
)

// halved reports whether the processor does a vector of eight in two halves, as Zen 4 does: then AVX-512 saves
// instructions, but adds no faster. No feature bit says so, so products that stay in the first cache are timed, once a
// process, in less than a tenth of a millisecond. What it decides changes no bits.
var halved = sync.OnceValue(func() bool {
	const rows, inner, lanes = 2 * panelRows, 128, 8
	y, a, z := make([]float64, rows*lanes), make([]float64, rows*inner), make([]float64, inner*lanes)
	least := func(times int, product func(y, a, z *float64, rows, inner, ys, as, zs, from int)) int64 {
		least := int64(math.MaxInt64)
		for range times {
			start := time.Now()
			product(&y[0], &a[0], &z[0], rows, inner, lanes, panelRows*inner, lanes, 0)
			least = min(least, time.Since(start).Nanoseconds())
		}
		return least
	}
	// Some processors wake the upper halves within the first microseconds.
	wide := least(32, laneProductWide)
	return 4*wide > 3*least(16, laneProduct8)
})
