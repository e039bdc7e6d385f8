// Package units is the algebra of physical units: dimensions with exact
// rational exponents, and scales. It knows no names of a model and no syntax.
package units

// Dims is the number of base dimensions: m, kg, s, A, K, mol, cd, rad.
const Dims = 8

// Ratio is an exact rational exponent in lowest terms, Den > 0; the zero value is 0.
type Ratio struct{ Num, Den int32 }

// Unit is a dimension and a scale (the factor to coherent SI). The zero Unit
// is unknown: compatible with anything.
type Unit struct {
	known bool
	scale float64
	dims  [Dims]Ratio
	text  string // as a user would write it; empty: composed from dims
}
