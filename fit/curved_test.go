package fit

import (
	"math"
	"strings"
	"testing"

	"odes.dev/odes"
)

// TestCurved: importance sampling comes to integrals of curved likelihoods, and approximations about a mode of them are
// named, by draws that know their error. The integrals are those of the trapezoidal rule on grids of 4001 by 4001 or
// 2000001 points.
func TestCurved(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		want  float64
		named []string
		right string
	}{
		"ridge": {
			"param s = 0.06, w = 1.24\nrandom e ~ normal(0, w), h ~ normal(0, w)\noutput f = 1.24*(h + e^2 + 0.1*e)\n" +
				"data D { ID = [1, 1]  time = [0, 1]  DV = [0.4324, 0.4972] }\nobserve y = f ~ normal(s) from D.DV\n",
			0.4442778,
			[]string{"laplace", "agq(n = 5)"},
			"imp(n = 30000, seed = 2)",
		},
		"ring": {
			"param s = 0.158, w = 0.98\nrandom e ~ normal(0, w), h ~ normal(0, w)\n" +
				"output f = (e + 0.05)^2 + (h + 0.03)^2\ndata D { ID = [1, 1, 1]  time = [0, 1, 2]\n" +
				"DV = [0.3454, 0.2452, -0.0616] }\nobserve y = f ~ normal(s) from D.DV\n",
			1.2733751,
			[]string{"laplace", "agq(n = 5)"},
			"imp(n = 10000)",
		},
		"kinks": {
			"param s = 0.0159, w = 0.6\nrandom e ~ normal(0, w)\noutput f = exp(-(e - 0.494)^2/(2*0.0617^2)) + " +
				"0.8*exp(-(e + 0.494)^2/(2*(0.0617*0.5)^2))\ndata D { ID = [1, 1, 1]  time = [0, 1, 2]\n" +
				"DV = [0.03735, 0.06449, 0.01256] }\nobserve y = f ~ laplace(s) from D.DV\n",
			-3.9440249,
			[]string{"laplace", "agq(n = 5)"},
			"imp(n = 10000)",
		},
	} {
		of := func(method string) (float64, string) {
			m, err := odes.Parse("m.ode", "time t from 0 to 2\n"+c.text+"experiment subject from D by D.ID { }\n"+
				"objective L = nll()\nsolver { marginal = "+method+" }\n", odes.ParseOptions{})
			if err != nil {
				t.Fatal(err)
			}
			r, err := m.Sensitivities(t.Context(), odes.Options{Wrt: []string{"s"}})
			if err != nil {
				t.Fatal(err)
			}
			text := ""
			for _, d := range r.Warnings {
				text += d.Message + "\n"
			}
			return r.Values[0].Value, text
		}
		const told = "is not that of an independent integral"
		for _, method := range c.named {
			if _, text := of(method); !strings.Contains(text, told) {
				t.Errorf("%s by %s: %s", name, method, text)
			}
		}
		v, text := of(c.right)
		if math.Abs(v-c.want) > 0.1 || strings.Contains(text, told) {
			t.Errorf("%s: %.5g, not %.5g: %s", name, v, c.want, text)
		}
	}
}
