package rhs

import (
	"errors"
	"fmt"
	"math"
)

// Point is where a Problem is tested: time, states and params.
type Point struct {
	T    float64
	Y, P []float64
}

// Check tests all functions of b at the given points, and says of each derivative that is wrong which it is:
//
//   - Functions write the whole of their results, the same ones each time, and change nothing else.
//   - Push agrees with differences of the values, to what differences can tell.
//   - Pull is the transpose of Push, to rounding, and adds to what it is given. Both are linear.
//   - Jacobian has the derivatives that Push has, where Places says, and there are no others.
//
// Points should be where nothing is zero by chance; where a function is not differentiable, differences cannot agree.
// Check costs a Push and two values for each state and param, and a Pull for each rate.
func (b *Problem) Check(points ...Point) error {
	if len(points) == 0 {
		return errors.New("nothing was checked: no point was given")
	}
	var found []error
	for _, at := range points {
		if err := b.complete(at.P); err != nil {
			return err
		}
		if len(at.Y) != b.N {
			return fmt.Errorf("a point has %d states, the problem %d", len(at.Y), b.N)
		}
		for _, f := range b.functions(at) {
			found = append(found, f.check()...)
		}
		found = append(found, b.checkPlaces(at)...)
	}
	const most = 20
	if n := len(found); n > most {
		found = append(found[:most:most], fmt.Errorf("and %d more", n-most))
	}
	return errors.Join(found...)
}

// function is one of a problem's, over all of its arguments in one vector x.
type function struct {
	name   string
	x      []float64
	inputs func(i int) string // names of the elements of x
	out    int
	eval   func(x, out []float64)
	push   func(x, xd, out []float64) // nil where the problem has none
	pull   func(x, w, xb []float64)   // adds; nil where the problem has none
}

// functions returns what b has, at a point.
func (b *Problem) functions(at Point) (list []function) {
	n, q, p := b.N, b.Q, b.P
	typ := append(append([]float64{at.T}, at.Y...), at.P...)
	inputs := func(parts ...any) func(int) string { // names and lengths in turn
		return func(i int) string {
			for k := 0; k < len(parts); k += 2 {
				if size := parts[k+1].(int); i < size {
					if parts[k] == "t" {
						return "t"
					}
					return name(parts[k].(string), i)
				} else {
					i -= size
				}
			}
			return ""
		}
	}
	t, y, par := func(x []float64) float64 { return x[0] }, func(x []float64) []float64 { return x[1 : 1+n] },
		func(x []float64) []float64 { return x[1+n:] }
	field := func(
		name string, out int, eval func(float64, []float64, []float64, []float64),
		push func(float64, []float64, []float64, float64, []float64, []float64, []float64),
		pull func(float64, []float64, []float64, []float64, []float64, []float64) float64,
	) {
		f := function{
			name: name, x: typ, out: out, inputs: inputs("t", 1, "y", n, "p", p),
			eval: func(x, to []float64) { eval(t(x), y(x), par(x), to) },
		}
		if push != nil {
			f.push = func(x, d, to []float64) { push(t(x), y(x), par(x), t(d), y(d), par(d), to) }
		}
		if pull != nil {
			f.pull = func(x, w, b []float64) { b[0] += pull(t(x), y(x), par(x), w, y(b), par(b)) }
		}
		list = append(list, f)
	}
	field("Rates", n+q, b.Rates, b.RatesPush, b.RatesPull)
	if b.Jacobian != nil {
		field("Jacobian", len(b.Places.Rows), b.Jacobian, b.JacobianPush, b.JacobianPull)
	}
	if b.Start != nil {
		list = append(list, function{
			name: "Start", x: at.P, out: n, inputs: inputs("p", p), eval: b.Start, push: b.StartPush, pull: b.StartPull,
		})
	}
	if b.Values != nil {
		x := append(append([]float64(nil), at.Y...), make([]float64, q)...)
		for i := range q {
			x[n+i] = 1 + 1/float64(2+i)
		}
		f := function{name: "Values", x: append(x, at.P...), out: b.M, inputs: inputs("y", n, "q", q, "p", p)}
		f.eval = func(x, to []float64) { b.Values(x[:n], x[n:n+q], x[n+q:], to) }
		if b.ValuesPush != nil {
			f.push = func(x, d, to []float64) {
				b.ValuesPush(x[:n], x[n:n+q], x[n+q:], d[:n], d[n:n+q], d[n+q:], to)
			}
		}
		if b.ValuesPull != nil {
			f.pull = func(x, w, c []float64) { b.ValuesPull(x[:n], x[n:n+q], x[n+q:], w, c[:n], c[n:n+q], c[n+q:]) }
		}
		list = append(list, f)
	}
	return list
}

// twice calls do with two results that hold different numbers, and returns what it wrote, or an error where it did not
// write all, wrote something else the second time, or changed x.
func (f *function) twice(what string, n int, do func(x, to []float64)) ([]float64, error) {
	x := append([]float64(nil), f.x...)
	first, second := make([]float64, n), make([]float64, n)
	for i := range first {
		first[i], second[i] = 1e300, -1e300
	}
	for _, to := range [][]float64{first, second} {
		do(x, to)
		for i, v := range x {
			if v != f.x[i] {
				return nil, fmt.Errorf("%s%s changes its argument %s", f.name, what, f.inputs(i))
			}
		}
	}
	for i, v := range first {
		if math.Float64bits(v) != math.Float64bits(second[i]) {
			return nil, fmt.Errorf("%s%s does not write element %d, or other values each time", f.name, what, i)
		}
	}
	return first, nil
}

// check returns what is wrong.
func (f *function) check() (found []error) {
	n := len(f.x)
	values, err := f.twice("", f.out, f.eval)
	if err != nil {
		return []error{err}
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return []error{fmt.Errorf("%s: element %d is %v", f.name, i, v)}
		}
	}
	var pushed [][]float64 // by each input
	if f.push != nil {
		for i := range n {
			d := make([]float64, n)
			d[i] = 1
			column, err := f.twice("Push", f.out, func(x, to []float64) { f.push(x, d, to) })
			if err != nil {
				return append(found, err)
			}
			pushed = append(pushed, column)
			found = append(found, f.differ(i, column, "Push")...)
		}
		found = append(found, f.linear(pushed)...)
	}
	if f.pull == nil {
		return found
	}
	size := 0.0 // of all derivatives: what rounding is relative to
	for i := range pushed {
		for _, v := range pushed[i] {
			size = max(size, math.Abs(v))
		}
	}
	pulled := make([][]float64, n)
	for k := range f.out {
		w := make([]float64, f.out)
		w[k] = 1
		x, row, more := append([]float64(nil), f.x...), make([]float64, n), make([]float64, n)
		f.pull(x, w, row)
		for i, v := range x {
			if v != f.x[i] {
				return append(found, fmt.Errorf("%sPull changes its argument %s", f.name, f.inputs(i)))
			}
		}
		for i, v := range w {
			if i == k && v != 1 || i != k && v != 0 {
				return append(found, fmt.Errorf("%sPull changes the weight of element %d", f.name, i))
			}
		}
		for i := range more {
			more[i] = 1
		}
		f.pull(x, w, more)
		for i, v := range row {
			if d := more[i] - 1 - v; !(math.Abs(d) <= 1e-15*(1+math.Abs(v))) {
				found = append(found, fmt.Errorf("%sPull does not add to the cotangent of %s", f.name, f.inputs(i)))
				break
			}
		}
		for i := range n {
			pulled[i] = append(pulled[i], row[i])
			if pushed == nil {
				continue
			}
			if a, b := row[i], pushed[i][k]; !(math.Abs(a-b) <= 1e-12*max(math.Abs(a), math.Abs(b), 1e-3*size)) {
				found = append(found, fmt.Errorf("%sPull gives %v for the derivative of element %d by %s, and Push %v",
					f.name, a, k, f.inputs(i), b))
			}
		}
	}
	if pushed == nil {
		for i, column := range pulled {
			found = append(found, f.differ(i, column, "Pull")...)
		}
	}
	return append(found, f.linearPull(pulled)...)
}

// linear returns an error where Push along several inputs is not the sum of those along each.
func (f *function) linear(columns [][]float64) []error {
	d, got := several(len(f.x)), make([]float64, f.out)
	f.push(f.x, d, got)
	for k, v := range got {
		want, size := 0.0, 0.0
		for i, column := range columns {
			want += d[i] * column[k]
			size += math.Abs(d[i] * column[k])
		}
		if !(math.Abs(v-want) <= 1e-12*size) {
			return []error{fmt.Errorf("%sPush is not linear: element %d is %v along several inputs, want %v",
				f.name, k, v, want)}
		}
	}
	return nil
}

// linearPull returns an error where Pull with several weights is not the sum of those with each; columns has what it
// gives for each input, by elements.
func (f *function) linearPull(columns [][]float64) []error {
	w, got := several(f.out), make([]float64, len(f.x))
	f.pull(append([]float64(nil), f.x...), append([]float64(nil), w...), got)
	for i, v := range got {
		want, size := 0.0, 0.0
		for k, d := range columns[i] {
			want += w[k] * d
			size += math.Abs(w[k] * d)
		}
		if !(math.Abs(v-want) <= 1e-12*size) {
			return []error{fmt.Errorf("%sPull is not linear: with several weights it gives %v for %s, want %v",
				f.name, v, f.inputs(i), want)}
		}
	}
	return nil
}

// several returns n numbers of different sizes, negative ones, since the others that are tried are positive.
func several(n int) []float64 {
	d := make([]float64, n)
	for i := range d {
		d[i] = -1 / float64(3+i)
	}
	return d
}

// differ compares the derivatives by input i with differences of two lengths, whose difference tells how far they are
// to be trusted.
func (f *function) differ(i int, column []float64, by string) (found []error) {
	at := func(h float64) []float64 {
		x, up, down := append([]float64(nil), f.x...), make([]float64, f.out), make([]float64, f.out)
		x[i] = f.x[i] + h
		f.eval(x, up)
		x[i] = f.x[i] - h
		f.eval(x, down)
		for k := range up {
			up[k] = (up[k] - down[k]) / (2 * h)
		}
		return up
	}
	h := 1e-5 * max(math.Abs(f.x[i]), 1e-2)
	coarse, fine := at(2*h), at(h)
	values := make([]float64, f.out)
	f.eval(f.x, values)
	for k, v := range column {
		best := (4*fine[k] - coarse[k]) / 3
		limit := 10*math.Abs(fine[k]-coarse[k]) + 1e-9*math.Abs(best) + 1e-14*math.Abs(values[k])/h
		if !(math.Abs(v-best) <= limit) {
			found = append(found, fmt.Errorf("%s%s gives %v for the derivative of element %d by %s; "+
				"differences say %.8g", f.name, by, v, k, f.inputs(i), best))
		}
	}
	return found
}

// checkPlaces returns what is wrong with the values of the Jacobian and its places.
func (b *Problem) checkPlaces(at Point) (found []error) {
	if b.Jacobian == nil {
		return nil
	}
	rates := b.functions(at)[0]
	width := b.N + b.Q
	values := make([]float64, len(b.Places.Rows))
	b.Jacobian(at.T, at.Y, at.P, values)
	columns := make([][]float64, b.N+1) // in the order of states and time
	for i := range columns {
		columns[i] = make([]float64, width)
	}
	for e, v := range values {
		columns[b.Places.Cols[e]][b.Places.Rows[e]] += v
	}
	for i, column := range columns {
		input := (i + 1) % (b.N + 1) // of Rates, where time comes first
		if rates.push == nil {
			found = append(found, rates.differ(input, column, " and its Jacobian:")...)
			continue
		}
		d, want := make([]float64, len(rates.x)), make([]float64, width)
		d[input] = 1
		rates.push(rates.x, d, want)
		for k, v := range column {
			if !(math.Abs(v-want[k]) <= 1e-12*max(math.Abs(v), math.Abs(want[k]))) {
				found = append(found, fmt.Errorf("Jacobian gives %v for the derivative of rate %d by %s, and "+
					"RatesPush %v", v, k, rates.inputs(input), want[k]))
			}
		}
	}
	return found
}

// name returns the name of an element.
func name(of string, i int) string { return fmt.Sprintf("%s[%d]", of, i) }
