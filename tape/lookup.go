package tape

import (
	"sort"

	"odes.dev/odes/internal/base/residue"
)

// IntervalOf returns the 0-based number of the interval between two ascending knots that x lies in, as Find defines it.
// Each knot is stride elements behind the one before.
func IntervalOf(knots []float64, stride int, x float64) int {
	return found((len(knots)+stride-1)/stride, func(i int) bool { return knots[i*stride] <= x })
}

// found returns how many of n knots but the first and the last are behind, those before all others.
func found(n int, behind func(i int) bool) int {
	return sort.Search(n-2, func(i int) bool { return !behind(i + 1) })
}

// PlaceOf returns the place in a vector of n elements that x tells, as Pick defines it.
func PlaceOf(x float64, n int) int {
	switch {
	case !(x >= 1):
		return 0
	case x >= float64(n-1):
		return n - 1
	}
	return int(x)
}

// find is Find for one element.
//
// The enclosure over an interval of more than one number does not count a knot at its upper end. What Find serves is
// continuous, so its values there are also those of the interval below.
func find[T Number](knots []T, x T) (y T) {
	n := len(knots)
	switch a := any(knots).(type) {
	case []float64:
		*any(&y).(*float64) = float64(IntervalOf(a, 1, any(x).(float64)))
	case []complex128:
		q := real(any(x).(complex128))
		*any(&y).(*complex128) = complex(float64(found(n, func(i int) bool { return real(a[i]) <= q })), 0)
	case []Interval:
		r, q := Interval{0, float64(n - 2)}, any(x).(Interval)
		if !q.unknown() {
			r.Lo = float64(found(n, func(i int) bool { return a[i].Hi <= q.Lo }))
			r.Hi = float64(found(n, func(i int) bool { return a[i].Lo < q.Hi || a[i].Lo == q.Hi && q.Lo == q.Hi }))
			r.Hi = max(r.Lo, r.Hi)
		}
		*any(&y).(*Interval) = r
	case []residue.Number:
		h := residue.Hash(residue.Number(Find), any(x).(residue.Number))
		for _, knot := range a {
			h = residue.Hash(h, knot)
		}
		*any(&y).(*residue.Number) = h
	}
	return y
}

// places returns the first and the last place in a vector of n elements that x may tell.
func places[T Number](x T, n int) (first, last int) {
	switch x := any(x).(type) {
	case float64:
		first = PlaceOf(x, n)
	case complex128:
		first = PlaceOf(real(x), n)
	case Interval:
		if x.unknown() {
			return 0, n - 1
		}
		return PlaceOf(x.Lo, n), PlaceOf(x.Hi, n)
	case residue.Number:
		first = int(uint64(x) % uint64(n))
	}
	return first, first
}

// pick is Pick for one element.
func pick[T Number](a []T, place T) T {
	i, last := places(place, len(a))
	x := a[i]
	for i++; i <= last; i++ {
		x = joined(x, a[i])
	}
	return x
}

// drop adds x to out at a place.
func drop[T Number](ar *arith[T], out []T, place, x T) {
	i, last := places(place, len(out))
	if i == last {
		out[i] = ar.add(out[i], x)
		return
	}
	var zero T
	for x = joined(zero, x); i <= last; i++ {
		out[i] = ar.add(out[i], x)
	}
}

// joined returns the hull of two intervals. Other numbers have one place only.
func joined[T Number](a, b T) T {
	if x, ok := any(a).(Interval); ok {
		return any(hull(x, any(b).(Interval))).(T)
	}
	return a
}
