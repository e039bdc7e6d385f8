package fit_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/fit"
)

// mirrors are pairs of models that say the same: one with data y, and one with the data on the other side of zero (or
// their inverses, where logarithms are compared) and the limits exchanged.
var mirrors = []struct{ name, noise, of, mirrored string }{
	{"lower", "normal", "below = D.low", "above = E.low"},
	{"upper", "normal", "above = D.high", "below = E.high"},
	{"both", "normal", "below = D.low, above = D.high", "above = E.low, below = E.high"},
	{"some", "normal", "below = D.few, above = D.high", "above = E.few, below = E.high"},
	{"logarithms", "lognormal", "below = D.low, above = D.high", "above = E.low, below = E.high"},
	{"absolute", "laplace", "above = D.high", "below = E.high"},
	{"absolute logarithms", "loglaplace", "above = D.high, below = D.low", "below = E.high, above = E.low"},
	{"none", "normal", "below = D.few", "above = E.few"},
}

// mirrored returns a model and its mirror image.
func mirrored(noise, of, beside, scatter string) (this, other string) {
	const text = `time t from 0 to 5
param a = 1 in [0.1, 9], b = 0.5 in [-1, 2]
state x = a
x' = b
data %[1]s {
  time = [0, 1, 2, 3, 4, 5, 4.5, 0.5]
  v    = %[2]s
  low  = %[3]s
  few  = %[4]s
  high = %[5]s
}
observe y = %[6]s ~ %[7]s(0.2, %[8]s) from %[1]s.v
objective L = nll()
solver { rtol = 1e-9 }
fit { minimize = L over = [a, b] scatter = %[9]s }
`
	log := strings.HasPrefix(noise, "log")
	list := func(turned bool, values ...float64) string {
		s := "["
		for i, v := range values {
			if i > 0 {
				s += ", "
			}
			switch {
			case turned && log:
				v = 1 / v
			case turned:
				v = -v
			}
			if math.IsNaN(v) {
				s += "nan"
				continue
			}
			s += fmt.Sprintf("%.17g", v)
		}
		return s + "]"
	}
	write := func(turned bool, table, limits, value string) string {
		nan := math.NaN()
		return fmt.Sprintf(text, table, list(turned, 1.1, 1.4, 2.3, 2.5, 3.1, 3, 3, 1.3),
			list(turned, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2, 1.2), list(turned, 0.5, nan, nan, 1, nan, nan, nan, 0.1),
			list(turned, 3, 3, 3, 3, 3, 3, 3, nan), value, noise, limits, scatter)
	}
	value := "-x"
	if log {
		value = "1/x"
	}
	return write(false, "D", of, "x"), write(true, "E", beside, value)
}

// alike compares two numbers, of which both may be none.
func alike(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want)) || got == want || math.IsNaN(got) && math.IsNaN(want)) {
		t.Errorf("%s is %.15g, and %.15g of the mirror image", what, got, want)
	}
}

// TestMirrors: data beyond upper limits are as those beyond lower ones in the mirror image of the model, in estimates,
// errors, intervals, criteria, predictions and their residuals.
func TestMirrors(t *testing.T) {
	for _, x := range mirrors {
		for _, scatter := range []string{"known", "estimated"} {
			kinks := strings.HasSuffix(x.noise, "laplace")
			if scatter == "estimated" && kinks {
				continue // there are no squares to estimate it from
			}
			t.Run(x.name+" "+scatter, func(t *testing.T) {
				this, other := mirrored(x.noise, x.of, x.mirrored, scatter)
				r, s := run(t, parse(t, this), fit.Options{}), run(t, parse(t, other), fit.Options{})
				const tol = 1e-6
				log := strings.HasPrefix(x.noise, "log")
				jacobian := 0.0 // of the logarithms of the data
				for k := range r.Predictions {
					p, q := &r.Predictions[k], &s.Predictions[k]
					if p.Side != -q.Side || (p.Side != 0) != math.IsNaN(p.Residual) {
						t.Errorf("row %d: %+v, %+v", k, *p, *q)
					}
					alike(t, "residual", p.Residual, -q.Residual, tol)
					if !log {
						alike(t, "datum", p.Data, -q.Data, 0)
						alike(t, "prediction", p.Value, -q.Value, tol)
						alike(t, "error", p.Error, q.Error, tol)
						alike(t, "scatter", p.Scatter, q.Scatter, tol)
						continue
					}
					alike(t, "datum", p.Data, 1/q.Data, tol)
					alike(t, "prediction", p.Value, 1/q.Value, tol)
					if p.Side == 0 {
						jacobian += 2 * math.Log(p.Data)
					}
				}
				if (x.name == "none") != (count(r.Predictions) == 0) {
					t.Errorf("%d data are beyond their limits", count(r.Predictions))
				}
				alike(t, "likelihood", r.NLL, s.NLL+jacobian, tol)
				alike(t, "AIC", r.AIC, s.AIC+2*jacobian, tol)
				alike(t, "BIC", r.BIC, s.BIC+2*jacobian, tol)
				alike(t, "factor", r.Factor, s.Factor, tol)
				if r.Rows != s.Rows || r.Freedom != s.Freedom || r.Status != s.Status {
					t.Errorf("%d rows, freedom %d, %s; %d, %d, %s", r.Rows, r.Freedom, r.Status, s.Rows, s.Freedom,
						s.Status)
				}
				for k := range r.Estimates {
					p, q := &r.Estimates[k], &s.Estimates[k]
					alike(t, p.Name, p.Value, q.Value, tol)
					if !kinks { // errors at a kink are those of one side of it
						alike(t, "its error", p.StdErr, q.StdErr, 1e-4)
					}
					alike(t, "its lower end", p.Lower, q.Lower, 1e-4)
					alike(t, "its upper end", p.Upper, q.Upper, 1e-4)
				}
				if scatter == "estimated" && math.IsNaN(r.Estimates[0].StdErr) {
					t.Error("there are no errors")
				}
			})
		}
	}
}

func count(list []fit.Prediction) (n int) {
	for i := range list {
		if list[i].Side != 0 {
			n++
		}
	}
	return n
}

// TestUnclearLimits: where a limit depends on params, it is not known which data are numbers, and none has a residual.
func TestUnclearLimits(t *testing.T) {
	this, _ := mirrored("normal", "above = b*6", "", "known")
	list, err := fit.Predict(t.Context(), parse(t, this), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range list {
		if !math.IsNaN(list[i].Residual) {
			t.Errorf("row %d: %+v", i, list[i])
		}
	}
}
