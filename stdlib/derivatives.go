package stdlib

// derivatives are the partial derivatives of the elementwise functions and
// operators by each parameter, in odes syntax, where they exist. They are for
// the reader, and hold the transposes and tangents of the tapes to account; a
// derivative by whole numbers is 0.
var derivatives = map[string][]string{
	"exp": {"exp(x)"}, "log": {"1/x"}, "log10": {"1/(x*log(10))"}, "log1p": {"1/(1 + x)"}, "expm1": {"exp(x)"},
	"sqrt": {"1/(2*sqrt(x))"}, "cbrt": {"1/(3*cbrt(x)^2)"}, "abs": {"sign(x)"}, "sign": {"0"},
	"sin": {"cos(x)"}, "cos": {"-sin(x)"}, "tan": {"1 + tan(x)^2"},
	"asin": {"1/sqrt(1 - x^2)"}, "acos": {"-1/sqrt(1 - x^2)"}, "atan": {"1/(1 + x^2)"},
	"atan2": {"x/(x^2 + y^2)", "-y/(x^2 + y^2)"},
	"sinh":  {"cosh(x)"}, "cosh": {"sinh(x)"}, "tanh": {"1 - tanh(x)^2"},
	"asinh": {"1/sqrt(x^2 + 1)"}, "acosh": {"1/sqrt(x^2 - 1)"}, "atanh": {"1/(1 - x^2)"},
	"hypot": {"a/hypot(a, b)", "b/hypot(a, b)"},
	"erf":   {"2/sqrt(pi)*exp(-x^2)"}, "erfc": {"-2/sqrt(pi)*exp(-x^2)"}, "sigmoid": {"sigmoid(x)*(1 - sigmoid(x))"},
	"floor": {"0"}, "ceil": {"0"}, "round": {"0"}, "trunc": {"0"}, "mod": {"1", "-floor(a/b)"},
	"min": {"if a <= b then 1 else 0", "if a <= b then 0 else 1"}, "max": {"if a >= b then 1 else 0", "if a >= b then 0 else 1"},
	"clamp": {"if x > lo and x < hi then 1 else 0", "if x <= lo then 1 else 0", "if x >= hi then 1 else 0"},
	"step":  {"0"},
	"+":     {"1", "1"}, "-": {"1", "-1"}, "*": {"b", "a"}, "/": {"1/b", "-a/b^2"}, "neg": {"-1"},
	"^": {"b*a^(b - 1)", "a^b*log(a)"},
}

// Derivatives returns the partial derivatives of f by its parameters, in odes
// syntax; nil where the table has none: of lgamma, whose derivative (digamma)
// is no function of the language, and of what is no elementwise function.
func (f *Func) Derivatives() []string {
	if f.Class != Elementwise {
		return nil
	}
	return derivatives[f.Name]
}
