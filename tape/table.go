package tape

import (
	"fmt"
	"math"

	"odes.dev/odes/internal/base/elem"
)

// Class groups the ops by how their results depend on their operands.
type Class uint8

// The classes.
const (
	Constant    Class = iota // no operands
	Elementwise              // element by element, with broadcasting
	Condition                // elementwise, but the result is 0 or 1 and has no derivative
	Structure                // moves elements
	Contraction              // sums, products and extrema over axes
	Lookup                   // finds places in a vector, and reads or adds there
)

// String returns the name of the class.
func (c Class) String() string {
	return [...]string{"constant", "elementwise", "condition", "structure", "contraction", "lookup"}[c]
}

// Row is a row of the table of ops and says everything about one op. The evaluators,
// the derivatives, the documentation and the tests are made from it.
type Row struct {
	Op    Op
	Name  string // in the text form
	Arity int    // number of operands; -1 for one or more
	Class Class
	Doc   string // the value, in terms of a, b, c

	// Deriv holds, for an elementwise op, the derivatives of the result y by each
	// operand. They are expressions of the language in a, b, c, y and n, which is
	// Attr.Power. An empty one is zero almost everywhere.
	Deriv [3]string

	// NoDeriv tells that the derivative exists but that no ops make it.
	NoDeriv bool

	// Singular tells that there are points where the value is finite and a derivative is
	// not, such as sqrt at 0 and asin at 1. A tangent or cotangent of 0 stays 0 there, so
	// that sqrt(max(h, 0)) has the derivative 0 for h below 0. BoundedVJP of package tapec sets
	// a bound in place of such derivatives.
	Singular bool

	// On says where each operand of an elementwise op is defined and the op is smooth.
	// Tests take their arguments from there.
	On [3]Domain

	// Flops is the number of floating-point operations that one element of an elementwise
	// op counts for in reports. A function counts for one.
	Flops int

	// The value of an elementwise op, in the functions that fit Arity: Real1 and Complex1
	// for one operand, and so on. Powi has none of them, since it has an attribute. The
	// real function defines the bits that every backend of a machine gives.
	Real1    func(a float64) float64
	Real2    func(a, b float64) float64
	Real3    func(a, b, c float64) float64
	Complex1 func(a complex128) complex128
	Complex2 func(a, b complex128) complex128
	Complex3 func(a, b, c complex128) complex128

	// The enclosure of an elementwise op over intervals; see Interval.
	Interval1 func(a Interval) Interval
	Interval2 func(a, b Interval) Interval
	Interval3 func(a, b, c Interval) Interval
}

// Domain says which arguments an op is made for.
type Domain uint8

// The domains.
const (
	Everywhere    Domain = iota
	NonZero              // smooth but at 0
	Positive             // > 0
	AboveMinusOne        // > -1
	AboveOne             // > 1
	WithinOne            // between -1 and 1
)

// Elementwise reports whether the op works element by element and so broadcasts its
// operands. Conditions are among these ops.
func (r *Row) Elementwise() bool { return r.Class == Elementwise || r.Class == Condition }

func unary(op Op, name, doc, deriv string, f func(float64) float64, g func(complex128) complex128) Row {
	return Row{
		Op: op, Name: name, Arity: 1, Class: Elementwise, Doc: doc, Deriv: [3]string{deriv},
		Flops: 1, Real1: f, Complex1: g,
	}
}

func binary(op Op, name, doc, da, db string, f func(a, b float64) float64, g func(a, b complex128) complex128) Row {
	return Row{
		Op: op, Name: name, Arity: 2, Class: Elementwise, Doc: doc, Deriv: [3]string{da, db},
		Flops: 1, Real2: f, Complex2: g,
	}
}

func condition(op Op, name, doc string, f func(a, b float64) float64, g func(a, b complex128) complex128) Row {
	return Row{Op: op, Name: name, Arity: 2, Class: Condition, Doc: doc, Flops: 1, Real2: f, Complex2: g}
}

// on returns the row with the domains of its operands.
func (r Row) on(domains ...Domain) Row {
	copy(r.On[:], domains)
	return r
}

// singular returns the row of an op with a singular derivative.
func (r Row) singular() Row {
	r.Singular = true
	return r
}

// free returns the row of an op that no report counts as work.
func (r Row) free() Row {
	r.Flops = 0
	return r
}

// rises returns the row of an op of one operand that never falls on its domain and is NaN elsewhere. Its values lie
// within a range.
func (r Row) rises(domain, within Interval) Row {
	return r.within1(rising(r.Real1, false, domain, within))
}

// risesExactly is rises for an op whose values are rounded correctly.
func (r Row) risesExactly(domain Interval) Row { return r.within1(rising(r.Real1, true, domain, line)) }

// falls is rises for an op that never rises.
func (r Row) falls(domain, within Interval) Row { return r.within1(falling(r.Real1, domain, within)) }

// within1 and within2 return the row with the enclosure of its values.
func (r Row) within1(f func(a Interval) Interval) Row {
	r.Interval1 = f
	return r
}

func (r Row) within2(f func(a, b Interval) Interval) Row {
	r.Interval2 = f
	return r
}

func move(op Op, name string, arity int, doc string) Row {
	return Row{Op: op, Name: name, Arity: arity, Class: Structure, Doc: doc}
}

func contract(op Op, name string, arity int, doc string) Row {
	return Row{Op: op, Name: name, Arity: arity, Class: Contraction, Doc: doc}
}

func lookup(op Op, name, doc string) Row {
	return Row{Op: op, Name: name, Arity: 2, Class: Lookup, Doc: doc}
}

// rows is the op table.
var rows = [...]Row{
	{Op: Const, Name: "const", Class: Constant, Doc: "a constant array"},

	unary(Neg, "neg", "-a", "-1", elem.Neg, elem.CNeg).within1(enclosedNeg).free(),
	unary(Abs, "abs", "a < 0 ? -a : a", "sign(a)", elem.Abs, elem.CAbs).within1(enclosedAbs).free(),
	unary(Sign, "sign", "-1, 0 or 1", "", elem.Sign, elem.CSign).risesExactly(line).free(),
	{
		Op: Not, Name: "not", Arity: 1, Class: Condition, Doc: "1 - a, for a condition a",
		Flops: 1, Real1: elem.Not, Complex1: elem.CNot, Interval1: enclosedNot,
	},
	unary(Recip, "recip", "1/a", "-y^2", elem.Recip, elem.CRecip).within1(enclosedRecip).on(NonZero),
	unary(Sqrt, "sqrt", "the square root of a", "0.5 / y", elem.Sqrt, elem.CSqrt).
		risesExactly(upwards).on(Positive).singular(),
	unary(Cbrt, "cbrt", "the cube root of a", "1 / (3*y^2)", elem.Cbrt, elem.CCbrt).
		rises(line, line).on(NonZero).singular(),
	unary(Exp, "exp", "e to the power a", "y", elem.Exp, elem.CExp).rises(line, upwards),
	unary(Expm1, "expm1", "exp(a) - 1, accurate near 0", "exp(a)", elem.Expm1, elem.CExpm1).
		rises(line, Interval{-1, math.Inf(1)}),
	unary(Log, "log", "the natural logarithm of a", "1 / a", elem.Log, elem.CLog).rises(upwards, line).on(Positive),
	unary(Log1p, "log1p", "log(1 + a), accurate near 0", "1 / (1 + a)", elem.Log1p, elem.CLog1p).
		rises(Interval{-1, math.Inf(1)}, line).on(AboveMinusOne),
	unary(Log10, "log10", "the decimal logarithm of a", "0.4342944819032518 / a", elem.Log10, elem.CLog10).
		rises(upwards, line).on(Positive),
	unary(Sin, "sin", "the sine of a", "cos(a)", elem.Sin, elem.CSin).within1(enclosedSin),
	unary(Cos, "cos", "the cosine of a", "-sin(a)", elem.Cos, elem.CCos).within1(enclosedCos),
	unary(Tan, "tan", "the tangent of a", "1 + y^2", elem.Tan, elem.CTan).within1(enclosedTan).on(WithinOne),
	unary(Asin, "asin", "the arc sine of a", "1 / sqrt((1 - a)*(1 + a))", elem.Asin, elem.CAsin).rises(unit, line).
		on(WithinOne).singular(),
	unary(Acos, "acos", "the arc cosine of a", "-1 / sqrt((1 - a)*(1 + a))", elem.Acos, elem.CAcos).
		falls(unit, upwards).
		on(WithinOne).singular(),
	unary(Atan, "atan", "the arc tangent of a", "1 / (1 + a^2)", elem.Atan, elem.CAtan).rises(line, line),
	unary(Sinh, "sinh", "the hyperbolic sine of a", "cosh(a)", elem.Sinh, elem.CSinh).rises(line, line),
	unary(Cosh, "cosh", "the hyperbolic cosine of a", "sinh(a)", elem.Cosh, elem.CCosh).within1(enclosedCosh),
	// Where y is near ±1, one of these factors is exact. 1 - y² would lose digits there.
	unary(Tanh, "tanh", "the hyperbolic tangent of a", "(1 - y)*(1 + y)", elem.Tanh, elem.CTanh).rises(line, unit),
	unary(Asinh, "asinh", "the inverse hyperbolic sine of a", "1 / hypot(a, 1)", elem.Asinh, elem.CAsinh).
		rises(line, line),
	unary(
		Acosh, "acosh", "the inverse hyperbolic cosine of a",
		"1 / (sqrt(a - 1)*sqrt(a + 1))", elem.Acosh, elem.CAcosh,
	).rises(Interval{1, math.Inf(1)}, upwards).on(AboveOne).singular(),
	unary(Atanh, "atanh", "the inverse hyperbolic tangent of a", "1 / ((1 - a)*(1 + a))", elem.Atanh, elem.CAtanh).
		rises(unit, line).
		on(WithinOne),
	unary(Erf, "erf", "the error function of a", "1.1283791670955126 * exp(-a^2)", elem.Erf, elem.CErf).
		rises(line, unit),
	unary(Erfc, "erfc", "1 - erf(a), accurate for large a", "-1.1283791670955126 * exp(-a^2)", elem.Erfc, elem.CErfc).
		falls(line, Interval{0, 2}),
	unary(Lgamma, "lgamma", "the logarithm of |Γ(a)|", "digamma(a)", elem.Lgamma, elem.CLgamma).
		within1(enclosedLgamma).on(Positive),
	unary(Digamma, "digamma", "the derivative of lgamma", "trigamma(a)", elem.Digamma, elem.CDigamma).
		within1(enclosedDigamma).on(Positive),
	unary(Trigamma, "trigamma", "the derivative of digamma", "tetragamma(a)", elem.Trigamma, elem.CTrigamma).
		within1(positive(falling(elem.Trigamma, upwards, upwards))).
		on(Positive),
	{
		Op: Tetragamma, Name: "tetragamma", Arity: 1, Class: Elementwise, Doc: "the derivative of trigamma",
		NoDeriv: true, On: [3]Domain{Positive}, Flops: 1, Real1: elem.Tetragamma, Complex1: cTetragamma,
		Interval1: positive(rising(elem.Tetragamma, false, upwards, downward)),
	},
	unary(Floor, "floor", "the greatest integer ≤ a", "", elem.Floor, elem.CFloor).risesExactly(line),
	unary(Ceil, "ceil", "the least integer ≥ a", "", elem.Ceil, elem.CCeil).risesExactly(line),
	unary(Round, "round", "the nearest integer, halves away from 0", "", elem.Round, elem.CRound).
		risesExactly(line),
	unary(Trunc, "trunc", "the integer part of a", "", elem.Trunc, elem.CTrunc).risesExactly(line),
	unary(Sigmoid, "sigmoid", "1/(1 + exp(-a))", "y * (1 - y)", elem.Sigmoid, elem.CSigmoid).rises(line, either),
	unary(Sqr, "sqr", "a·a", "2*a", elem.Sqr, elem.CSqr).within1(enclosedSqr),
	{
		Op: Powi, Name: "powi", Arity: 1, Class: Elementwise, Doc: "a to the integer power n",
		Deriv: [3]string{"n * a^(n - 1)"}, On: [3]Domain{NonZero}, Flops: 1,
	},

	binary(Add, "add", "a + b", "1", "1", elem.Add, elem.CAdd).within2(enclosedAdd),
	binary(Sub, "sub", "a - b", "1", "-1", elem.Sub, elem.CSub).within2(enclosedSub),
	binary(Mul, "mul", "a·b", "b", "a", elem.Mul, elem.CMul).within2(enclosedMul),
	binary(Div, "div", "a/b", "1 / b", "-y / b", elem.Div, elem.CDiv).within2(enclosedDiv).on(Everywhere, NonZero),
	// 0^0 is 1, and 0^b is 0 for b > 0. Their derivatives are 0, where the formulas would give 0·∞. A base that is
	// negative by no more than the error of a stage, as those of Hill functions are where a state begins at 0, counts
	// as 0 for the exponent: there is no logarithm of it.
	binary(
		Pow, "pow", "a to the power b",
		"if b == 0 then 0 else b * a^(b - 1)",
		fmt.Sprintf("if a <= 0 and a >= -%g and b >= 0 then 0 else y * log(a)", elem.PowNoise),
		elem.Pow, elem.CPow,
	).within2(enclosedPow).on(Positive, NonZero).singular(),
	binary(
		Atan2, "atan2", "the angle of the point (b, a)",
		"(b / hypot(a, b)) / hypot(a, b)", "-(a / hypot(a, b)) / hypot(a, b)", elem.Atan2, elem.CAtan2,
	).within2(enclosedAtan2).on(NonZero, NonZero).singular(),
	binary(
		Hypot, "hypot", "√(a² + b²), without overflow",
		"if y == 0 then 0 else a / y", "if y == 0 then 0 else b / y", elem.Hypot, elem.CHypot,
	).within2(enclosedHypot).on(NonZero, NonZero).singular(),
	binary(Mod, "mod", "a - b·floor(a/b)", "1", "-floor(a / b)", elem.Mod, elem.CMod).
		within2(enclosedMod).on(Everywhere, NonZero),
	binary(Min, "min", "b < a ? b : a", "if b < a then 0 else 1", "if b < a then 1 else 0", elem.Min, elem.CMin).
		within2(enclosedMin),
	binary(Max, "max", "a < b ? b : a", "if a < b then 0 else 1", "if a < b then 1 else 0", elem.Max, elem.CMax).
		within2(enclosedMax),
	condition(Less, "less", "a < b", elem.Less, elem.CLess).within2(enclosedLess),
	condition(LessEq, "lesseq", "a <= b", elem.LessEq, elem.CLessEq).within2(enclosedLessEq),
	condition(Equal, "equal", "a == b", elem.Equal, elem.CEqual).within2(enclosedEqual),
	condition(NotEqual, "notequal", "a != b", elem.NotEqual, elem.CNotEqual).within2(enclosedNotEqual),
	condition(And, "and", "a != 0 and b != 0", elem.And, elem.CAnd).within2(enclosedAnd),
	condition(Or, "or", "a != 0 or b != 0", elem.Or, elem.COr).within2(enclosedOr),
	binary(ZeroMul, "zeromul", "a·b, and 0 where a is 0", "b", "a", elem.ZeroMul, elem.CZeroMul).
		within2(enclosedZeroMul),

	{
		Op: Select, Name: "select", Arity: 3, Class: Elementwise, Doc: "a != 0 ? b : c",
		Deriv: [3]string{"", "if a != 0 then 1 else 0", "if a != 0 then 0 else 1"},
		Real3: elem.Select, Complex3: elem.CSelect, Interval3: enclosedSelect,
	},
	{
		Op: FMA, Name: "fma", Arity: 3, Class: Elementwise, Doc: "a·b + c, rounded once",
		Deriv: [3]string{"b", "a", "1"}, Flops: 2, Real3: elem.FMA, Complex3: elem.CFMA, Interval3: enclosedFMA,
	},

	move(Slice, "slice", 1, "the elements start + i·step of each axis"),
	move(Pad, "pad", 1, "a, placed at start + i·step of each axis, in zeros"),
	move(Reshape, "reshape", 1, "the elements of a in another shape"),
	move(Transpose, "transpose", 1, "axis perm[i] of a as axis i"),
	move(Broadcast, "broadcast", 1, "a, its axes of length 1 stretched, or a scalar filled"),
	move(Concat, "concat", -1, "the operands one after the other along an axis"),
	move(Take, "take", 1, "the positions index along an axis"),
	move(Put, "put", 1, "zeros, with the slices of a added at the positions index along an axis"),

	contract(SumAxes, "sum", 1, "the sum over axes"),
	contract(ProdAxes, "prod", 1, "the product over axes"),
	contract(MaxAxes, "maxof", 1, "the largest element over axes"),
	contract(MinAxes, "minof", 1, "the smallest element over axes"),
	contract(MatMul, "matmul", 2, "the matrix product a @ b"),
	contract(Dot, "dot", 2, "the sum of a[i]·b[i]"),
	contract(Outer, "outer", 2, "a[i]·b[j]"),

	lookup(Find, "find", "the interval between two knots a that b lies in"),
	lookup(Pick, "pick", "the elements of a at the places b"),
	lookup(Drop, "drop", "zeros, with the elements of a added at the places b"),
}

// cTetragamma drops the imaginary part, since no op makes its derivative.
func cTetragamma(a complex128) complex128 { return complex(elem.Tetragamma(real(a)), 0) }

var (
	byOp   [numOps]*Row
	byName = map[string]Op{}
)

func init() {
	for i := range rows {
		r := &rows[i]
		byOp[r.Op] = r
		byName[r.Name] = r.Op
	}
}

// Ops returns every op, in the order of the table.
func Ops() []Op {
	out := make([]Op, len(rows))
	for i := range rows {
		out[i] = rows[i].Op
	}
	return out
}

// Valid reports whether o is an op of the table.
func (o Op) Valid() bool { return o > Invalid && o < numOps }

// Row returns the row of o in the table. It must not be changed.
func (o Op) Row() *Row { return byOp[o] }

// String returns the name of o in the text form.
func (o Op) String() string {
	if !o.Valid() {
		return "invalid"
	}
	return byOp[o].Name
}

// OpByName returns the op with the given name in the text form.
func OpByName(name string) (Op, bool) {
	o, ok := byName[name]
	return o, ok
}
