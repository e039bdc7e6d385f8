package simd

import "odes.dev/odes/internal/base/elem"

// Op is an elementwise operation: the function of the same name in internal/base/elem.
type Op uint8

// The operations, by their number of operands.
const (
	Copy Op = iota
	Neg
	Abs
	Sign
	Not
	Recip
	Sqrt
	Sqr
	Cube   // (a·a)·a
	Fourth // (a·a)·(a·a)
	Recip2 // elem.Powi(a, -2), and so on
	Recip3
	Recip4
	Floor
	Ceil
	Round
	Trunc
	Cbrt
	Exp
	Expm1
	Log
	Log1p
	Log10
	Sin
	Cos
	Tan
	Asin
	Acos
	Atan
	Sinh
	Cosh
	Tanh
	Asinh
	Acosh
	Atanh
	Sigmoid
	Erf
	Erfc
	Lgamma
	Digamma
	Trigamma
	Tetragamma

	Add
	Sub
	Mul
	Div
	Min
	Max
	Less
	LessEq
	Equal
	NotEqual
	And
	Or
	ZeroMul
	Pow
	Atan2
	Hypot
	Mod

	Select
	FMA

	numOps
)

// operation says what an Op is, for one of the three arities.
type operation struct {
	name string
	f1   func(a float64) float64
	f2   func(a, b float64) float64
	f3   func(a, b, c float64) float64
}

var operations = [numOps]operation{
	Copy:       {name: "copy", f1: func(a float64) float64 { return a }},
	Neg:        {name: "neg", f1: elem.Neg},
	Abs:        {name: "abs", f1: elem.Abs},
	Sign:       {name: "sign", f1: elem.Sign},
	Not:        {name: "not", f1: elem.Not},
	Recip:      {name: "recip", f1: elem.Recip},
	Sqrt:       {name: "sqrt", f1: elem.Sqrt},
	Sqr:        {name: "sqr", f1: elem.Sqr},
	Cube:       {name: "cube", f1: func(a float64) float64 { return elem.Powi(a, 3) }},
	Fourth:     {name: "fourth", f1: func(a float64) float64 { return elem.Powi(a, 4) }},
	Recip2:     {name: "recip2", f1: func(a float64) float64 { return elem.Powi(a, -2) }},
	Recip3:     {name: "recip3", f1: func(a float64) float64 { return elem.Powi(a, -3) }},
	Recip4:     {name: "recip4", f1: func(a float64) float64 { return elem.Powi(a, -4) }},
	Floor:      {name: "floor", f1: elem.Floor},
	Ceil:       {name: "ceil", f1: elem.Ceil},
	Round:      {name: "round", f1: elem.Round},
	Trunc:      {name: "trunc", f1: elem.Trunc},
	Cbrt:       {name: "cbrt", f1: elem.Cbrt},
	Exp:        {name: "exp", f1: elem.Exp},
	Expm1:      {name: "expm1", f1: elem.Expm1},
	Log:        {name: "log", f1: elem.Log},
	Log1p:      {name: "log1p", f1: elem.Log1p},
	Log10:      {name: "log10", f1: elem.Log10},
	Sin:        {name: "sin", f1: elem.Sin},
	Cos:        {name: "cos", f1: elem.Cos},
	Tan:        {name: "tan", f1: elem.Tan},
	Asin:       {name: "asin", f1: elem.Asin},
	Acos:       {name: "acos", f1: elem.Acos},
	Atan:       {name: "atan", f1: elem.Atan},
	Sinh:       {name: "sinh", f1: elem.Sinh},
	Cosh:       {name: "cosh", f1: elem.Cosh},
	Tanh:       {name: "tanh", f1: elem.Tanh},
	Asinh:      {name: "asinh", f1: elem.Asinh},
	Acosh:      {name: "acosh", f1: elem.Acosh},
	Atanh:      {name: "atanh", f1: elem.Atanh},
	Sigmoid:    {name: "sigmoid", f1: elem.Sigmoid},
	Erf:        {name: "erf", f1: elem.Erf},
	Erfc:       {name: "erfc", f1: elem.Erfc},
	Lgamma:     {name: "lgamma", f1: elem.Lgamma},
	Digamma:    {name: "digamma", f1: elem.Digamma},
	Trigamma:   {name: "trigamma", f1: elem.Trigamma},
	Tetragamma: {name: "tetragamma", f1: elem.Tetragamma},

	Add:      {name: "add", f2: elem.Add},
	Sub:      {name: "sub", f2: elem.Sub},
	Mul:      {name: "mul", f2: elem.Mul},
	Div:      {name: "div", f2: elem.Div},
	Min:      {name: "min", f2: elem.Min},
	Max:      {name: "max", f2: elem.Max},
	Less:     {name: "less", f2: elem.Less},
	LessEq:   {name: "lesseq", f2: elem.LessEq},
	Equal:    {name: "equal", f2: elem.Equal},
	NotEqual: {name: "notequal", f2: elem.NotEqual},
	And:      {name: "and", f2: elem.And},
	Or:       {name: "or", f2: elem.Or},
	ZeroMul:  {name: "zeromul", f2: elem.ZeroMul},
	Pow:      {name: "pow", f2: elem.Pow},
	Atan2:    {name: "atan2", f2: elem.Atan2},
	Hypot:    {name: "hypot", f2: elem.Hypot},
	Mod:      {name: "mod", f2: elem.Mod},

	Select: {name: "select", f3: elem.Select},
	FMA:    {name: "fma", f3: elem.FMA},
}

func (op Op) String() string { return operations[op].name }

var byName = func() map[string]Op {
	m := map[string]Op{}
	for op := range numOps {
		m[op.String()] = op
	}
	return m
}()

// OpByName returns the operation of the given name. Operations that are ops of tapes have the names of these.
func OpByName(name string) (Op, bool) {
	op, ok := byName[name]
	return op, ok
}

// Arity returns the number of operands, 1 to 3.
func (op Op) Arity() int {
	switch {
	case op < Add:
		return 1
	case op < Select:
		return 2
	}
	return 3
}
