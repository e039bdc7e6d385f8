package elem

import "math"

func Cbrt(a float64) float64        { return math.Cbrt(a) }
func Exp(a float64) float64         { return math.Exp(a) }
func Expm1(a float64) float64       { return math.Expm1(a) }
func Log(a float64) float64         { return math.Log(a) }
func Log1p(a float64) float64       { return math.Log1p(a) }
func Log10(a float64) float64       { return math.Log10(a) }
func Sin(a float64) float64         { return math.Sin(a) }
func Cos(a float64) float64         { return math.Cos(a) }
func Tan(a float64) float64         { return math.Tan(a) }
func Asin(a float64) float64        { return math.Asin(a) }
func Acos(a float64) float64        { return math.Acos(a) }
func Atan(a float64) float64        { return math.Atan(a) }
func Sinh(a float64) float64        { return math.Sinh(a) }
func Cosh(a float64) float64        { return math.Cosh(a) }
func Tanh(a float64) float64        { return math.Tanh(a) }
func Asinh(a float64) float64       { return math.Asinh(a) }
func Acosh(a float64) float64       { return math.Acosh(a) }
func Atanh(a float64) float64       { return math.Atanh(a) }
func Erf(a float64) float64         { return math.Erf(a) }
func Erfc(a float64) float64        { return math.Erfc(a) }
func Pow(a, b float64) float64      { return math.Pow(a, b) }
func Powi(a float64, n int) float64 { return math.Pow(a, float64(n)) }
func Atan2(y, x float64) float64    { return math.Atan2(y, x) }
func Hypot(a, b float64) float64    { return math.Hypot(a, b) }
func Sigmoid(a float64) float64     { return 1 / (1 + math.Exp(-a)) }
func Lgamma(a float64) float64      { v, _ := math.Lgamma(a); return v }
func Digamma(a float64) float64 {
	s := 0.0
	for a < 10 {
		s -= 1 / a
		a++
	}
	r := 1 / (a * a)
	return s + math.Log(a) - 0.5/a - r*(1.0/12-r*(1.0/120-r*(1.0/252-r*(1.0/240-r/132))))
}
func Trigamma(a float64) float64 {
	s := 0.0
	for a < 10 {
		s += 1 / (a * a)
		a++
	}
	r := 1 / (a * a)
	return s + 1/a + r/2 + r/a*(1.0/6-r*(1.0/30-r*(1.0/42-r/30)))
}
func Tetragamma(a float64) float64 {
	s := 0.0
	for a < 10 {
		s -= 2 / (a * a * a)
		a++
	}
	r := 1 / (a * a)
	return s - r - r/a - r*r*(0.5-r*(1.0/6-r*(1.0/6-r*0.3)))
}
