package stdlib

import (
	"fmt"
	"strings"
)

// Foreign returns advice on a name that other languages have for what this one provides, or that an embedded module
// declares, or "".
func Foreign(name string) string {
	for _, m := range ModuleNames() {
		if m.Name == name {
			return fmt.Sprintf("import it: import %s from \"%s\" gives %s", name, m.Module, m.Head)
		}
	}
	return foreign[strings.ToLower(name)]
}

// ForeignBefore is Foreign for a name with what stands behind it: e^x raises a number that has no name here.
func ForeignBefore(name, behind string) string {
	behind = strings.TrimLeft(behind, " \t")
	if name == "e" && (strings.HasPrefix(behind, "^") || strings.HasPrefix(behind, "**")) {
		return "write exp(x) for e^x, and exp(1) for the number"
	}
	return Foreign(name)
}

// NoModule says that there is no module of a name, from which a function was to come. Other languages keep elementary
// functions in one, as in Math.sin(x).
func NoModule(module, function string) string {
	switch strings.ToLower(module) {
	case "math", "np", "numpy", "jnp", "torch", "tf", "sympy":
		return "functions stand by themselves: write " + function
	}
	return fmt.Sprintf("%q is not an imported module; add: import \"file.ode\" as %s", module, module)
}

// foreign gives advice on the names that other languages have for what this one provides.
var foreign = map[string]string{
	"ln":         "the natural logarithm is log",
	"pow":        "write a^b",
	"power":      "write a^b",
	"der":        "write the derivative as x' = …",
	"ifelse":     "write if … then … else …",
	"linspace":   "write grid(a, b, n)",
	"piecewise":  "write if … then … elseif … else …",
	"heaviside":  "write step(x)",
	"arctan":     "write atan(x)",
	"arcsin":     "write asin(x)",
	"arccos":     "write acos(x)",
	"square":     "write x^2",
	"clip":       "write clamp(x, lo, hi)",
	"saturate":   "write clamp(x, lo, hi)",
	"sat":        "write clamp(x, lo, hi)",
	"limit":      "write clamp(x, lo, hi)",
	"sigma":      "write sum(e for i in 1:n)",
	"fmod":       "write mod(a, b)",
	"rem":        "write mod(a, b)",
	"len":        "write rows(v)",
	"length":     "write rows(v)",
	"size":       "write rows(A) or cols(A)",
	"identity":   "write eye(n)",
	"normal_pdf": "distributions stand after ~",
	"argmax": "the time of a peak is event_time(peak), of an event peak when the derivative, named by a let, " +
		"crosses 0",
	"count":          "the number of firings of an event is at_event(e, 1)",
	"switch":         "write if … then … elseif … else …",
	"where":          "write if … then … else …",
	"iff":            "write if … then … else …",
	"sgn":            "write sign(x)",
	"trapz":          "the integral over the run is integral(e)",
	"min_over":       "the least value along the run is -max_over(-e)",
	"maximum":        "write max(a, b)",
	"minimum":        "write min(a, b)",
	"einsum":         "write sum(e for i in 1:n)",
	"prior":          "write log_prior()",
	"logprior":       "write log_prior()",
	"loglikelihood":  "write -nll()",
	"log_likelihood": "write -nll()",
	"likelihood":     "write nll()",
	"loglik":         "write -nll()",
	"mse":            "write nll(), or sum_at(times, (x - y)^2)",
	"at_time":        "the value at a time is sum_at([time], e)",
	"value_at":       "the value at a time is sum_at([time], e)",
	"at":             "the value at a time is sum_at([time], e)",
	"last":           "the value at the end is final(e)",
	"first":          "the value at the start is initial(e)",
	"max_over_time":  "write max_over(e)",
	"min_over_time":  "the least value along the run is -max_over(-e)",
	"int":            "the integral over the run is integral(e), and x without its fraction trunc(x)",
	"average":        "write mean(v) of an array, and integral(e)/T of the run",
	"deriv":          "write the derivative as x' = …",
	"derivative":     "write the derivative as x' = …",
	"ddt":            "write the derivative as x' = …",
	"if_else":        "write if … then … else …",
	"unitstep":       "write step(x)",
	"unit_step":      "write step(x)",
	"swish":          "import it as silu: import silu from \"std/nn.ode\"",
	"logistic":       "write sigmoid(x)",
	"expit":          "write sigmoid(x)",
	"logit":          "write log(x/(1 - x))",
	"square_wave":    "write if mod(t, period) < width then … else …",
	"dirac":          "an impulse is an event: event dose at T { x += amount }",
	"impulse":        "an impulse is an event: event dose at T { x += amount }",
	"lag":            "an earlier value is delay(x, tau); a dose that comes later is an event at T + lag",
	"lagvalue":       "write delay(x, tau): the second argument is by how much it is late",
	"lagderiv":       "write the rate of x in delay(…, tau)",
	"rxdelayd":       "write the rate of x in delay(…, tau)",
	"pastvalue":      "write delay(x, tau): the second argument is by how much it is late",
	"ylag":           "write delay(x, tau): the second argument is by how much it is late",
	"delay_fixed":    "write delay(x, tau), and past x = … for its values before the start",
	"alag":           "a dose that comes later is an event at T + lag",
	"lookup":         "write interp(times, values, t)",
	"table":          "write interp(times, values, t)",
	"interp1d":       "write interp(times, values, t)",
	"spline":         "write interp(times, values, t, kind = spline)",
	"log2":           "write log(x)/log(2)",
	"sqr":            "write x^2",
	"nthroot":        "write x^(1/n)",
	"fix":            "write trunc(x)",
	"sec":            "write 1/cos(x)",
	"csc":            "write 1/sin(x)",
	"cot":            "write 1/tan(x)",
	"sech":           "write 1/cosh(x)",
	"phi":            "the normal distribution function is 0.5*erfc(-x/sqrt(2))",
	"normcdf":        "the normal distribution function is 0.5*erfc(-x/sqrt(2))",
	"pnorm":          "the normal distribution function is 0.5*erfc(-x/sqrt(2))",
}
