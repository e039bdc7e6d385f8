package stdlib

// arrays are the functions that make, reshape and reduce arrays.
var arrays = []*Func{
	{
		Name: "sum", Args: []string{"v"}, Class: Reduction, Units: UnitsSame, Value: "Σ v[i]",
		Doc: "sum of all elements, or of an expression over loop variables: sum(e for i in 1:n)",
	},
	{
		Name: "prod", Args: []string{"v"}, Class: Reduction, Units: UnitsFree, Value: "Π v[i]",
		Doc: "product of all elements",
	},
	{
		Name: "mean", Args: []string{"v"}, Class: Reduction, Units: UnitsSame, Value: "sum(v)/number of elements",
		Doc: "mean of all elements",
	},
	{
		Name: "min", Args: []string{"v"}, Class: Reduction, Units: UnitsSame, Value: "least element",
		Kinks: "where two elements tie", Doc: "least element of an array",
	},
	{
		Name: "max", Args: []string{"v"}, Class: Reduction, Units: UnitsSame, Value: "greatest element",
		Kinks: "where two elements tie", Doc: "greatest element of an array",
	},
	{
		Name: "norm", Args: []string{"v"}, Class: Reduction, Units: UnitsSame, Value: "sqrt(sum(v^2))", Kinks: "v = 0",
		Doc: "Euclidean norm of all elements",
	},
	{
		Name: "dot", Args: []string{"a", "b"}, Class: Structure, Units: UnitsProduct, Value: "Σ a[i]*b[i]",
		Doc: "scalar product of two vectors",
	},
	{
		Name: "outer", Args: []string{"a", "b"}, Class: Structure, Units: UnitsProduct, Value: "a[i]*b[j]",
		Doc: "matrix of all products of the elements of two vectors",
	},
	{
		Name: "transpose", Args: []string{"A"}, Class: Structure, Units: UnitsSame, Value: "A[j,i]",
		Doc: "matrix with rows and columns exchanged",
	},
	{
		Name: "diag", Args: []string{"v"}, Class: Structure, Units: UnitsSame, Value: "v on the diagonal",
		Doc: "diagonal matrix of a vector, or the diagonal of a square matrix",
	},
	{Name: "eye", Args: []string{"n"}, Class: Grid, Value: "identity matrix", Doc: "identity matrix of n rows"},
	{Name: "ones", Args: []string{"n", "m", "l"}, MinArgs: 1, Class: Grid, Value: "1, 1, …", Doc: "array of ones"},
	{Name: "zeros", Args: []string{"n", "m", "l"}, MinArgs: 1, Class: Grid, Value: "0, 0, …", Doc: "array of zeros"},
	{Name: "rows", Args: []string{"A"}, Class: Grid, Value: "length of the first axis", Doc: "number of rows"},
	{Name: "cols", Args: []string{"A"}, Class: Grid, Value: "length of the second axis", Doc: "number of columns"},
	{
		Name: "grid", Args: []string{"a", "b", "n"}, Class: Grid, Units: UnitsSame,
		Value:  "a + (b - a)*(i - 1)/(n - 1)",
		Domain: "n ≥ 2", Doc: "n equally spaced numbers from a to b",
	},
	{
		Name: "logspace", Args: []string{"a", "b", "n"}, Class: Grid, Value: "10^(a + (b - a)*(i - 1)/(n - 1))",
		Domain: "n ≥ 2", Doc: "n numbers from 10^a to 10^b, equally spaced in their logarithm",
	},
	{
		Name: "steps", Args: []string{"a", "b", "h"}, Class: Grid, Units: UnitsSame, Value: "a, a + h, … up to b",
		Domain: "h ≠ 0", Doc: "numbers from a to b at distance h, b included when it is reached",
	},
	{
		Name: "rand", Args: []string{"n", "m", "l"}, MinArgs: 1, Class: Grid, Value: "uniform in [0, 1)",
		Doc: "random numbers, fixed by the seed: rand(n, m, seed = 1)", Source: "xoshiro256**, doi:10.1145/3460772",
	},
	{
		Name: "randn", Args: []string{"n", "m", "l"}, MinArgs: 1, Class: Grid,
		Value:  "normal with mean 0 and deviation 1",
		Doc:    "normally distributed random numbers, fixed by the seed: randn(n, m, seed = 1)",
		Source: "polar method, doi:10.1137/1006063",
	},
	{
		Name: "load", Args: []string{"path"}, Class: Grid, Value: "the file's array",
		Doc: "array from a file in the model's folder: .csv, .npy or .mtx",
	},
	{
		Name: "csv", Args: []string{"path"}, Class: Grid, Value: "the file's table",
		Doc: "table of a data item: csv(\"file.csv\", time = \"t [h]\", y = \"conc [mg/L]\")",
	},
	{
		Name: "interp", Args: []string{"t", "y", "q"}, Class: Special, Units: UnitsFree,
		Value: "y at q between the knots t", Domain: "t ascending",
		Kinks: "at the knots (linear), at the ends; jumps at the knots (previous, next) and where rows have one time",
		Doc: "value of a table at q, constant outside it: interp(t, y, q), or with kind = spline (natural cubic), " +
			"kind = monotone (cubic without overshoot), kind = previous (held up to the next knot) or kind = next " +
			"(the value of the next knot); where q is affine in time, steps end at the knots",
		Source: "monotone: Fritsch and Butland, doi:10.1137/0905021",
	},
}
