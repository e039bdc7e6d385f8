package stdlib

import "odes.dev/odes/tape"

// in is the argument list of a case.
func in(x ...float64) []float64 { return x }

// elementwise are the functions applied element by element.
var elementwise = []*Func{
	{
		Name: "exp", Args: []string{"x"}, Op: tape.Exp, Value: "e^x", Doc: "exponential",
		Cases: []Case{{in(0), 1}, {in(1), 2.718281828459045}},
	},
	{
		Name: "log", Args: []string{"x"}, Op: tape.Log, Value: "ln x", Domain: "x > 0", Doc: "natural logarithm",
		Cases: []Case{{in(1), 0}, {in(2), 0.6931471805599453}},
	},
	{
		Name: "log10", Args: []string{"x"}, Op: tape.Log10, Value: "log(x)/log(10)", Domain: "x > 0",
		Doc: "decimal logarithm", Cases: []Case{{in(1000), 3}},
	},
	{
		Name: "log1p", Args: []string{"x"}, Op: tape.Log1p, Value: "log(1 + x)", Domain: "x > -1",
		Doc: "logarithm of 1 + x, accurate for small x", Cases: []Case{{in(1e-10), 9.9999999995e-11}},
	},
	{
		Name: "expm1", Args: []string{"x"}, Op: tape.Expm1, Value: "exp(x) - 1",
		Doc: "exponential minus 1, accurate for small x", Cases: []Case{{in(1e-10), 1.00000000005e-10}},
	},
	{
		Name: "sqrt", Args: []string{"x"}, Op: tape.Sqrt, Units: UnitsRoot, Value: "x^(1/2)", Domain: "x ≥ 0",
		Kinks: "the derivative is infinite at 0", Doc: "square root", Cases: []Case{{in(9), 3}},
	},
	{
		Name: "cbrt", Args: []string{"x"}, Op: tape.Cbrt, Units: UnitsRoot, Value: "x^(1/3)",
		Kinks: "the derivative is infinite at 0", Doc: "cube root, of negative numbers too",
		Cases: []Case{{in(-27), -3}},
	},
	{
		Name: "abs", Args: []string{"x"}, Op: tape.Abs, Units: UnitsSame, Value: "|x|", Kinks: "x = 0",
		Doc: "absolute value; a kink, not a mode", Cases: []Case{{in(-2), 2}},
	},
	{
		Name: "sign", Args: []string{"x"}, Op: tape.Sign, Units: UnitsSameToNo, Mode: true, Value: "-1, 0 or 1",
		Kinks: "jumps at x = 0", Doc: "sign; a mode, switched at its root",
		Cases: []Case{{in(-2), -1}, {in(0), 0}, {in(5), 1}},
	},
	{
		Name: "sin", Args: []string{"x"}, Op: tape.Sin, Value: "sin x", Doc: "sine of an angle in radians",
		Cases: []Case{{in(0), 0}, {in(1), 0.8414709848078965}},
	},
	{
		Name: "cos", Args: []string{"x"}, Op: tape.Cos, Value: "cos x", Doc: "cosine of an angle in radians",
		Cases: []Case{{in(0), 1}, {in(1), 0.5403023058681398}},
	},
	{
		Name: "tan", Args: []string{"x"}, Op: tape.Tan, Value: "tan x", Doc: "tangent of an angle in radians",
		Cases: []Case{{in(1), 1.5574077246549023}},
	},
	{
		Name: "asin", Args: []string{"x"}, Op: tape.Asin, Value: "arcsin x", Domain: "-1 ≤ x ≤ 1",
		Doc: "angle whose sine is x, in [-π/2, π/2]", Cases: []Case{{in(1), 1.5707963267948966}},
	},
	{
		Name: "acos", Args: []string{"x"}, Op: tape.Acos, Value: "arccos x", Domain: "-1 ≤ x ≤ 1",
		Doc: "angle whose cosine is x, in [0, π]", Cases: []Case{{in(1), 0}},
	},
	{
		Name: "atan", Args: []string{"x"}, Op: tape.Atan, Value: "arctan x", Doc: "angle whose tangent is x",
		Cases: []Case{{in(1), 0.7853981633974483}},
	},
	{
		Name: "atan2", Args: []string{"y", "x"}, Op: tape.Atan2, Units: UnitsSameToNo, Mode: true,
		Value: "angle of (x, y)", Domain: "(x, y) ≠ (0, 0)", Kinks: "jumps by 2π where y = 0, x < 0",
		Doc: "angle of the point (x, y), in (-π, π]", Cases: []Case{{in(1, 1), 0.7853981633974483}},
	},
	{
		Name: "sinh", Args: []string{"x"}, Op: tape.Sinh, Value: "(exp(x) - exp(-x))/2", Doc: "hyperbolic sine",
		Cases: []Case{{in(1), 1.1752011936438014}},
	},
	{
		Name: "cosh", Args: []string{"x"}, Op: tape.Cosh, Value: "(exp(x) + exp(-x))/2", Doc: "hyperbolic cosine",
		Cases: []Case{{in(1), 1.5430806348152437}},
	},
	{
		Name: "tanh", Args: []string{"x"}, Op: tape.Tanh, Value: "sinh(x)/cosh(x)", Doc: "hyperbolic tangent",
		Cases: []Case{{in(1), 0.7615941559557649}},
	},
	{
		Name: "asinh", Args: []string{"x"}, Op: tape.Asinh, Value: "log(x + sqrt(x^2 + 1))",
		Doc: "inverse hyperbolic sine", Cases: []Case{{in(1), 0.881373587019543}},
	},
	{
		Name: "acosh", Args: []string{"x"}, Op: tape.Acosh, Value: "log(x + sqrt(x^2 - 1))", Domain: "x ≥ 1",
		Doc: "inverse hyperbolic cosine", Cases: []Case{{in(2), 1.3169578969248167}},
	},
	{
		Name: "atanh", Args: []string{"x"}, Op: tape.Atanh, Value: "log((1 + x)/(1 - x))/2", Domain: "-1 < x < 1",
		Doc: "inverse hyperbolic tangent", Cases: []Case{{in(0.5), 0.5493061443340548}},
	},
	{
		Name: "hypot", Args: []string{"a", "b"}, Op: tape.Hypot, Units: UnitsSame, Value: "sqrt(a^2 + b^2)",
		Kinks: "(0, 0)", Doc: "length of the vector (a, b), without overflow", Cases: []Case{{in(3, 4), 5}},
	},
	{
		Name: "erf", Args: []string{"x"}, Op: tape.Erf, Value: "2/sqrt(pi) ∫₀ˣ exp(-s^2) ds", Doc: "error function",
		Cases: []Case{{in(1), 0.8427007929497149}},
	},
	{
		Name: "erfc", Args: []string{"x"}, Op: tape.Erfc, Value: "1 - erf(x)",
		Doc: "complementary error function, accurate for large x", Cases: []Case{{in(1), 0.15729920705028513}},
	},
	{
		Name: "lgamma", Args: []string{"x"}, Op: tape.Lgamma, Value: "log |Γ(x)|", Domain: "x not 0, -1, -2, …",
		Doc: "logarithm of the gamma function", Cases: []Case{{in(5), 3.1780538303479458}},
	},
	{
		Name: "floor", Args: []string{"x"}, Op: tape.Floor, Mode: true, Value: "⌊x⌋", Kinks: "jumps at whole numbers",
		Doc: "greatest whole number ≤ x; a mode", Cases: []Case{{in(-1.5), -2}},
	},
	{
		Name: "ceil", Args: []string{"x"}, Op: tape.Ceil, Mode: true, Value: "⌈x⌉", Kinks: "jumps at whole numbers",
		Doc: "least whole number ≥ x; a mode", Cases: []Case{{in(-1.5), -1}},
	},
	{
		Name: "round", Args: []string{"x"}, Op: tape.Round, Mode: true, Value: "nearest whole number",
		Kinks: "jumps at halves", Doc: "nearest whole number, halves away from zero; a mode",
		Cases: []Case{{in(2.5), 3}, {in(-0.4), 0}},
	},
	{
		Name: "trunc", Args: []string{"x"}, Op: tape.Trunc, Mode: true, Value: "whole part of x",
		Kinks: "jumps at whole numbers but 0", Doc: "whole part, towards zero; a mode", Cases: []Case{{in(-1.5), -1}},
	},
	{
		Name: "mod", Args: []string{"a", "b"}, Op: tape.Mod, Units: UnitsSame, Mode: true, Value: "a - b*floor(a/b)",
		Domain: "b ≠ 0", Kinks: "jumps where a/b is whole", Doc: "remainder with the sign of b; a mode",
		Cases: []Case{{in(5, 3), 2}, {in(-1, 3), 2}},
	},
	{
		Name: "min", Args: []string{"a", "b"}, Op: tape.Min, Units: UnitsSame, Value: "a if a <= b, else b",
		Kinks: "a = b", Doc: "lesser of two, element by element; a kink, not a mode", Cases: []Case{{in(1, 2), 1}},
	},
	{
		Name: "max", Args: []string{"a", "b"}, Op: tape.Max, Units: UnitsSame, Value: "a if a >= b, else b",
		Kinks: "a = b", Doc: "greater of two, element by element; a kink, not a mode", Cases: []Case{{in(1, 2), 2}},
	},
	{
		Name: "clamp", Args: []string{"x", "lo", "hi"}, Units: UnitsSame, Body: "min(max(x, lo), hi)",
		Deriv: []string{"if x > lo and x < hi then 1 else 0", "if x <= lo then 1 else 0", "if x >= hi then 1 else 0"},
		Value: "min(max(x, lo), hi)", Kinks: "x = lo, x = hi",
		Doc:   "x kept within [lo, hi]; of an index, the no-flux boundary of a stencil",
		Cases: []Case{{in(5, 1, 3), 3}, {in(0, 1, 3), 1}, {in(2, 1, 3), 2}},
	},
	{
		Name: "step", Args: []string{"x"}, Units: UnitsSameToNo, Mode: true, Body: "if x >= 0 then 1 else 0",
		Deriv: []string{"0"}, Value: "0 for x < 0, else 1", Kinks: "jumps at x = 0", Doc: "unit step; a mode",
		Cases: []Case{{in(-1), 0}, {in(0), 1}, {in(2), 1}},
	},
	{
		Name: "smoothstep", Args: []string{"a", "b", "x"}, Units: UnitsSameToNo,
		Body:  "clamp((x - a)/(b - a), 0, 1)^2*(3 - 2*clamp((x - a)/(b - a), 0, 1))",
		Value: "3 s^2 - 2 s^3 with s = (x - a)/(b - a) kept within [0, 1]", Domain: "a ≠ b",
		Kinks: "the second derivative jumps at a and b", Doc: "smooth rise from 0 at a to 1 at b",
		Cases: []Case{{in(0, 2, 1), 0.5}, {in(0, 2, 3), 1}, {in(0, 2, -1), 0}},
	},
	{
		Name: "sigmoid", Args: []string{"x"}, Op: tape.Sigmoid, Value: "1/(1 + exp(-x))",
		Doc: "logistic function, without overflow", Cases: []Case{{in(0), 0.5}},
	},
	{
		Name: "wrap", Args: []string{"i", "n"}, Class: Index, Units: UnitsSame, Body: "mod(i - 1, n) + 1",
		Value: "mod(i - 1, n) + 1", Doc: "index i brought into 1:n: the periodic boundary of a stencil",
		Cases: []Case{{in(0, 4), 4}, {in(5, 4), 1}, {in(3, 4), 3}},
	},
}
