package stdlib

import "odes.dev/odes/tape"

// Find returns the row called name of class c, or nil.
func Find(name string, c Class) *Func {
	for _, f := range byName[name] {
		if f.Class == c {
			return f
		}
	}
	return nil
}

// Named returns the rows called name: none, one, or two. There are two where the number of
// arguments decides between them (min and max, elementwise or as a reduction).
func Named(name string) []*Func { return byName[name] }

// Operator returns the row of an operator: "+", "-", "*", "/", "^", "neg", "@", "<", "<=", "==",
// "!=", "and", "or", "not". It panics for another name. The operators `>` and `>=` are `<` and `<=`
// with their operands exchanged.
func Operator(name string) *Func {
	for _, f := range Operators {
		if f.Name == name {
			return f
		}
	}
	panic("stdlib: no operator " + name)
}

// Funcs returns the rows that are called by name, in the order of the manual. The slice must not be
// changed.
func Funcs() []*Func { return funcs }

// Constants are the predefined numbers. `end` is not among them, because its value depends on the
// array whose index it stands in.
var Constants = []Constant{
	{Name: "pi", Value: 3.141592653589793, Doc: "ratio of a circle's circumference to its diameter"},
	{Name: "inf", Value: inf, Doc: "infinity; a time of inf never comes"},
	{Name: "nan", Value: nan, Doc: "not a number: a missing value of a data column"},
}

// Constant is a predefined number.
type Constant struct {
	Name  string
	Value float64
	Doc   string
}

// Operators are the rows of the operators. They are not called by name.
var Operators = []*Func{
	{
		Name: "+", Args: []string{"a", "b"}, Op: tape.Add, Units: UnitsSame, Value: "a + b",
		Doc: "sum, element by element", Cases: []Case{{[]float64{1, 2}, 3}},
	},
	{
		Name: "-", Args: []string{"a", "b"}, Op: tape.Sub, Units: UnitsSame, Value: "a - b",
		Doc: "difference, element by element", Cases: []Case{{[]float64{1, 2}, -1}},
	},
	{
		Name: "*", Args: []string{"a", "b"}, Op: tape.Mul, Units: UnitsProduct, Value: "a*b",
		Doc: "product, element by element", Cases: []Case{{[]float64{3, 2}, 6}},
	},
	{
		Name: "/", Args: []string{"a", "b"}, Op: tape.Div, Units: UnitsQuotient, Value: "a/b", Domain: "b ≠ 0",
		Doc: "quotient, element by element", Cases: []Case{{[]float64{3, 2}, 1.5}},
	},
	{
		Name: "^", Args: []string{"a", "b"}, Op: tape.Pow, Units: UnitsPower, Value: "a^b",
		Domain: "a > 0, or b a whole number", Doc: "power, element by element",
		Cases: []Case{{[]float64{3, 2}, 9}, {[]float64{-2, 3}, -8}, {[]float64{4, 0.5}, 2}},
	},
	{
		Name: "neg", Args: []string{"a"}, Op: tape.Neg, Units: UnitsSame, Value: "-a",
		Doc:   "negative, element by element",
		Cases: []Case{{[]float64{3}, -3}},
	},
	{
		Name: "@", Args: []string{"a", "b"}, Class: Structure, Units: UnitsProduct, Value: "Σ a[i,k]*b[k,j]",
		Doc: "matrix product; of two vectors, their scalar product",
	},
	{
		Name: "<", Args: []string{"a", "b"}, Class: Comparison, Op: tape.Less, Units: UnitsSameToNo, Value: "a < b",
		Doc: "whether a is less than b", Cases: []Case{{[]float64{1, 2}, 1}, {[]float64{2, 2}, 0}},
	},
	{
		Name: "<=", Args: []string{"a", "b"}, Class: Comparison, Op: tape.LessEq, Units: UnitsSameToNo, Value: "a <= b",
		Doc: "whether a is at most b", Cases: []Case{{[]float64{2, 2}, 1}, {[]float64{3, 2}, 0}},
	},
	{
		Name: "==", Args: []string{"a", "b"}, Class: Comparison, Op: tape.Equal, Units: UnitsSameToNo, Value: "a == b",
		Doc: "whether two indices are equal", Cases: []Case{{[]float64{2, 2}, 1}, {[]float64{3, 2}, 0}},
	},
	{
		Name: "!=", Args: []string{"a", "b"}, Class: Comparison, Op: tape.NotEqual, Units: UnitsSameToNo,
		Value: "a != b",
		Doc:   "whether two indices differ", Cases: []Case{{[]float64{2, 2}, 0}, {[]float64{3, 2}, 1}},
	},
	{
		Name: "and", Args: []string{"a", "b"}, Class: Logic, Op: tape.And, Value: "a and b",
		Doc: "whether both conditions hold", Cases: []Case{{[]float64{1, 0}, 0}, {[]float64{1, 1}, 1}},
	},
	{
		Name: "or", Args: []string{"a", "b"}, Class: Logic, Op: tape.Or, Value: "a or b",
		Doc: "whether one of the conditions holds", Cases: []Case{{[]float64{1, 0}, 1}, {[]float64{0, 0}, 0}},
	},
	{
		Name: "not", Args: []string{"a"}, Class: Logic, Op: tape.Not, Value: "not a",
		Doc: "whether the condition does not hold", Cases: []Case{{[]float64{1}, 0}, {[]float64{0}, 1}},
	},
}

// Interval and Pick read what is held between knots. No text calls them.
var (
	// Interval is how many of the ascending knots t are not above x: the number, from 0, of the interval between them
	// that x lies in.
	Interval = &Func{
		Name: "interval", Args: []string{"x", "t"}, Class: Structure, Op: tape.Find, Units: UnitsSameToNo, Mode: true,
	}
	// Pick is the element, along the last axis of a, at a place from 0.
	Pick = &Func{Name: "pick", Args: []string{"a", "place"}, Class: Structure, Op: tape.Pick, Units: UnitsSame}
)

var funcs = concat(elementwise, arrays, trajectory, distributions)

func concat(groups ...[]*Func) []*Func {
	var all []*Func
	for _, g := range groups {
		all = append(all, g...)
	}
	return all
}

var byName = func() map[string][]*Func {
	m := map[string][]*Func{}
	for _, f := range funcs {
		m[f.Name] = append(m[f.Name], f)
	}
	return m
}()
