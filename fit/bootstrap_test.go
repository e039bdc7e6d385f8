package fit_test

import (
	"math"
	"reflect"
	"testing"

	"odes.dev/odes/fit"
)

// TestBootstrap fits a mean to powers of 7. Each refit is then a sum of six of these, which its digits to the base 7
// count: six rows of one observation and three of another. The spread is that of the mean of what is drawn.
//
//odes:goroutines
func TestBootstrap(t *testing.T) {
	m := parse(t, `
time t from 0 to 1
param a = 1, b = 1
state x = 0
x' = 0
data D { time = [0, 0.2, 0.4, 0.6, 0.8, 1]  y = [1, 7, 49, 343, 2401, 16807]  z = [1, 7, nan, nan, 49, nan] }
observe one = a + x ~ normal(1) from D.y
observe two = b + x ~ normal(1) from D.z
objective loss = nll()
fit { over = [a, b]  intervals = bootstrap  bootstrap = 2000  level = 0.9  seed = 3 }
`)
	r := run(t, m, fit.Options{Workers: 3})
	if again := run(t, m, fit.Options{Workers: 1}); !reflect.DeepEqual(r.Bootstrap, again.Bootstrap) {
		t.Error("refits depend on the number of workers")
	}
	if len(r.Bootstrap) != 2000 {
		t.Fatalf("%d refits", len(r.Bootstrap))
	}
	for i, rows := range []int{6, 3} {
		mean, variance := 0.0, 0.0 // of what is drawn
		for k := range rows {
			mean += math.Pow(7, float64(k)) / float64(rows)
		}
		for k := range rows {
			variance += math.Pow(math.Pow(7, float64(k))-mean, 2) / float64(rows*rows)
		}
		square, below, above := 0.0, 0, 0
		x := r.Estimates[i]
		for _, refit := range r.Bootstrap {
			sum := refit[i] * float64(rows)
			whole, digits := int(math.Round(sum)), 0
			for k := whole; k > 0; k /= 7 {
				digits += k % 7
			}
			if math.Abs(sum-float64(whole)) > 1e-5*sum || digits != rows {
				t.Fatalf("%s = %v is no mean of %d values", x.Name, refit[i], rows)
			}
			square += (refit[i] - mean) * (refit[i] - mean) / 2000
			if refit[i] < x.Lower {
				below++
			}
			if refit[i] > x.Upper {
				above++
			}
		}
		near(t, "the variance of "+x.Name, square, variance, 0.1)
		if below > 100 || above > 100 || !(x.Lower < mean && mean < x.Upper) {
			t.Errorf("%s from %v to %v: %d refits below, %d above", x.Name, x.Lower, x.Upper, below, above)
		}
	}
}
