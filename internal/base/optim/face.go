package optim

import "math"

// quadratic is a model of an objective around a point: its slopes and a symmetric matrix B that stands for the second
// derivatives. Steps z are measured in the sizes of the variables.
type quadratic interface {
	// apply sets out to B·z.
	apply(z, out []float64)
	// minimize changes the free components of z, which is within the radius, so that slopeᵀz + ½zᵀBz becomes small
	// within |z| ≤ radius, and reports whether the radius bounds the result.
	minimize(slope []float64, free []int, z []float64, radius float64) bool
}

// face finds steps of a quadratic model within bounds.
type face struct {
	q         quadratic
	slope     []float64
	lo, hi    []float64 // bounds of a step, lo ≤ 0 ≤ hi
	product   []float64
	try, best []float64
	free      []int
}

// value returns slopeᵀz + ½zᵀBz.
func (f *face) value(z []float64) float64 {
	f.q.apply(z, f.product)
	return dot(f.slope, z) + float64(0.5*dot(z, f.product))
}

// presses reports whether variable i is at a bound and its slope holds it there.
func presses(slope, lo, hi float64) bool {
	return lo >= 0 && (slope > 0 || hi <= 0) || hi <= 0 && slope < 0
}

// step sets z to a step that makes the model small within the bounds and |z| ≤ radius: at least as small as the Cauchy
// point, which lies on the projected path against the slopes. It returns the model's value, which is not positive,
// and whether the radius bounds the step.
//
// The variables that their slopes press against bounds are held. While the minimiser over the others is beyond a bound,
// the step goes as far as the bound, the variable joins those that are held, and the rest is minimised again.
func (f *face) step(z []float64, radius float64) (value float64, bounded bool) {
	clear(z)
	f.free = f.free[:0]
	for i, g := range f.slope {
		if !presses(g, f.lo[i], f.hi[i]) {
			f.free = append(f.free, i)
		}
	}
	for first := true; len(f.free) > 0; first = false {
		copy(f.try, z)
		bounded = f.q.minimize(f.slope, f.free, f.try, radius)
		v := f.value(f.try)
		if !(v < value) {
			// Rounding of an extreme model leaves nothing of its minimiser.
			if first {
				value = f.cauchy(z, radius)
			}
			break
		}
		part, stop := 1.0, -1
		for _, i := range f.free {
			to := f.lo[i]
			if f.try[i] > z[i] {
				to = f.hi[i]
			}
			if f.try[i] < f.lo[i] || f.try[i] > f.hi[i] {
				if p := (to - z[i]) / (f.try[i] - z[i]); p < part || stop < 0 {
					part, stop = p, i
				}
			}
		}
		if stop < 0 {
			copy(z, f.try)
			return v, bounded
		}
		copy(f.best, z)
		for _, i := range f.free {
			f.best[i] += float64(part * (f.try[i] - z[i]))
			f.best[i] = math.Max(f.lo[i], math.Min(f.best[i], f.hi[i]))
		}
		if f.best[stop] = f.lo[stop]; f.try[stop] > f.hi[stop] {
			f.best[stop] = f.hi[stop]
		}
		least := f.value(f.best)
		if first {
			for _, i := range f.free {
				f.try[i] = math.Max(f.lo[i], math.Min(f.try[i], f.hi[i]))
			}
			if v := f.value(f.try); v < least {
				least = v
				copy(f.best, f.try)
			}
			if v := f.cauchy(f.try, radius); v < least {
				least = v
				copy(f.best, f.try)
			}
		}
		if least < value {
			value = least
			copy(z, f.best)
		}
		free := f.free[:0]
		for _, i := range f.free {
			if i != stop && z[i] > f.lo[i] && z[i] < f.hi[i] || z[i] == 0 && i != stop {
				free = append(free, i)
			}
		}
		f.free = free
	}
	return value, norm(z) > 0.8*radius
}

// cauchy sets z to a point of the projected path against the slopes with a sufficient decrease of the model.
func (f *face) cauchy(z []float64, radius float64) float64 {
	clear(z)
	for _, i := range f.free {
		z[i] = -f.slope[i]
	}
	length := norm(z)
	if length == 0 {
		return 0
	}
	f.q.apply(z, f.product)
	t := radius / length
	if bend := dot(z, f.product); bend > 0 {
		t = math.Min(t, length*length/bend)
	}
	for range 60 {
		clear(z)
		for _, i := range f.free {
			z[i] = math.Max(f.lo[i], math.Min(float64(-t*f.slope[i]), f.hi[i]))
		}
		v := f.value(z)
		if v <= 0.01*dot(f.slope, z) {
			return v
		}
		t /= 2
	}
	clear(z)
	return 0
}
