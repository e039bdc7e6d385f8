package examples_test

import (
	"fmt"
	"math"
	"testing"
)

// TestBounceWithout compares the derivatives of the height of a ball with what they would be if events did not move
// with what their times depend on. Both are known in closed form.
func TestBounceWithout(t *testing.T) {
	const g, e, h0, end = 9.81, 0.8, 2.0, 2.0
	s := studied(t, "bounce/bounce.ode", "sens.of", "height", "sens.wrt", "[g, e, h0]")
	t1 := math.Sqrt(2 * h0 / g)
	t2 := t1 * (1 + 2*e)
	v1 := -g * t1      // before the first bounce
	v2 := e * v1       // before the second, -e v1 being the velocity between
	rest := end - t2   // after the second
	between := t2 - t1 // 2 e t1
	var rows [][]string
	for i, name := range []string{"g", "e", "h0"} {
		dg, de, dh := 0.0, 0.0, 0.0
		switch name {
		case "g":
			dg = 1
		case "e":
			de = 1
		case "h0":
			dh = 1
		}
		// x and v and their derivatives: x' = v, v' = -g; at a bounce v becomes -e v, and nothing else happens.
		x, v := dh-dg*t1*t1/2, -dg*t1
		v = -de*v1 - e*v
		x, v = x+v*between-dg*between*between/2, v-dg*between
		v = -de*v2 - e*v
		x += v*rest - dg*rest*rest/2
		got := s.Gradient[i]
		rows = append(rows, []string{
			"`" + name + "`", fmt.Sprintf("%.7f", got), fmt.Sprintf("%.7f", x),
			fmt.Sprintf("%.0f %%", 100*math.Abs(x-got)/math.Abs(got)),
		})
	}
	// h(T) = e² |v1| (T - t2) - g (T - t2)²/2 with t1 and t2 from above, differentiated by hand.
	dt1 := [3]float64{-t1 / (2 * g), 0, t1 / (2 * h0)}
	for i := range 3 {
		dt2 := dt1[i] * (1 + 2*e)
		speed := dt1[i] * g * e * e
		want := 0.0
		switch i {
		case 0:
			speed += t1 * e * e
			want = -rest * rest / 2
		case 1:
			dt2 += 2 * t1
			speed += 2 * e * g * t1
		}
		want += speed*rest - e*e*g*t1*dt2 + g*rest*dt2
		if got := s.Gradient[i]; math.Abs(got-want) > 1e-9*math.Abs(want) {
			t.Errorf("derivative %d of the height is %.12g, want %.12g", i, got, want)
		}
	}
	tabled(t, "bounce/README.md", "without",
		[]string{"by", "derivative", "events held where they were", "off by"}, rows)
}
