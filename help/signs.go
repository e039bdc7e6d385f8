package help

import "odes.dev/odes/sens"

// signs are the operators and other marks.
var signs = []Entry{
	{"'", "x' = -k*x", "The derivative by time. It stands on the left of an equation only."},
	{"+", "a + b", "The sum, element by element; only scalars stretch. Between species of a reaction it joins them."},
	{"-", "a - b", "The difference; before a value, its negative. -x^2 is -(x^2)."},
	{"*", "a*b", "The product, element by element. It is never left out. The product of matrices is @."},
	{"/", "a/b", "The quotient, element by element."},
	{"@", "A @ x", "The product of matrices and vectors; of two vectors, a scalar."},
	{"^", "x^2", "The power. It goes from right to left: 2^3^2 is 2^9."},
	{"<", "x < 1", "Less. Comparisons do not chain: a < b and b < c."},
	{"<=", "x <= 1", "Less or equal."},
	{">", "x > 1", "Greater."},
	{">=", "x >= 1", "Greater or equal."},
	{"==", "i == 1", "Equality, of indices and texts; of reals that change, it holds at instants: the condition " +
		"of an event."},
	{"!=", "i != 1", "Inequality, of indices and texts."},
	{"=", "let a = 2*b", "Gives a name its value, a state its derivative, a target of an event its new value."},
	{"+=", "x' += inflow", "Adds: to a derivative, or, in the body of an event, to a value."},
	{"-=", "event e at 1 { x -= 2 }", "Takes away from a value, in the body of an event."},
	{"*=", "event e at 1 { x *= 2 }", "Multiplies a value, in the body of an event."},
	{"/=", "event e at 1 { x /= 2 }", "Divides a value, in the body of an event."},
	{"->", "reaction r: 2 A + B -> C rate k*A^2*B", "Stands between the reactants and the products of a reaction."},
	{"<->", "reaction r: A <-> B rate kf*A - kb*B", "Marks a net rate, which may be negative."},
	{
		"~", "observe y = C ~ normal(sd) from D.dv",
		"Begins a distribution: the noise of an observation, the prior of a param.",
	},
	{":", "param v : [m/s] = 2", "After a name, begins its unit; after the name of a reaction or constraint, its " +
		"definition. Also in ranges: 1:n, 1:2:n. Alone in an index it means all of an axis."},
	{",", "param a = 1, b = 2", "Separates names that are declared together, arguments, subscripts and elements."},
	{";", "param a = 1; param b = 2", "May end an item; it is never needed."},
	{".", "kin.hill(x, K, n)", "Takes a name of a module, or a column of a table."},
	{"(", "f(x)", "Arguments of a function, on the line of its name; elsewhere parentheses group."},
	{"[", "x[i], 3 [m/s], [1, 2, 3]", "After a name, begins an index; after a number or an array, a " +
		"unit; elsewhere, an " +
		"array. An index or unit stands on the same line as its name, number or array."},
	{"{", "event e when x > 1 { x = 0 }", "Begins the body of an event, function or experiment, or a block of " +
		"settings or data."},
	{"#", "x' = -x  # a comment", "Begins a comment, to the end of the line."},
	{"##", "param k = 1  ## rate of decay", "Begins a documentation comment: it describes the declaration directly " +
		"below it, or the declaration on whose first or last line it stands. Tables, plots and help repeat it."},
	{"`", "param `end of dose` = 3", "Names that are reserved words, or have spaces, stand in backquotes."},
}

// marks stand behind numbers of results.
var marks = []Entry{
	{"?", "0.0412?", "After a number of a result: it is loose. By an independent run, few of its digits are right " +
		"(odes doc trust). At the end of an interval of a fit: the end is uncertain. JSON writes " +
		"\"loose\"."},
	{"!", "0.0412!", "After a number of a result: it is lost, not to be trusted. An independent run has another " +
		"value, or nothing confirms it (odes doc trust). JSON writes \"lost\"."},
	{"|", "-2.00|", "After a derivative: it is one-sided. Two things happen at one time, and if the " +
		"variable changes in " +
		"the other direction, the derivative is different. The lines below the table have both; JSON " +
		"writes \"one_sided\"."},
	{"~0", "~0", "In place of a number of a result: it is zero within its estimated error. JSON has " +
		"the number, and its error under \"uncertain\"."},
}

// modes are the ways to compute a gradient.
var modes = func() []Entry {
	var list []Entry
	for _, m := range sens.Modes() {
		list = append(list, Entry{m.Name, "sens { mode = " + m.Name + " }", m.Doc})
	}
	return list
}()
