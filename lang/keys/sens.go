package keys

// sens is the sens block.
var sens = Block{
	Name: "sens",
	Form: "sens { of = [J]  wrt = [k, initial(x)]  mode = adjoint }",
	Text: "What to differentiate, by what, and how. On the command line: --sens.mode=tangent.",
	Rows: []Row{
		{
			Key: "of", Kind: Objectives,
			Doc: "objectives; params and `initial(x)`. Without them: all objectives; all params and the literal " +
				"initial values",
		},
		{Key: "wrt", Kind: Variables},
		{
			Key: "mode", Kind: Word, Default: "adjoint",
			Doc: "how derivatives are computed: `adjoint` unless said otherwise; `auto` takes it or `tangent`, " +
				"whichever costs less. `odes doc adjoint` and others explain them; docs/methods.md",
		},
		{
			Key: "check",
			Doc: "`fd(directions = 3, tol = 1e-5)`: checks the gradient as `odes verify` does, along so many random " +
				"directions, and says in a note that it is right, or in a warning how far it is off",
		},
		{
			Key: "control", Kind: Word, Words: []string{"auto", "on", "off"}, Default: "auto",
			Doc: "`on`: derivatives of the states take part in the error control of the run; `auto`, the default: " +
				"where `trust` finds that they must",
		},
		{
			Key: "trust", Kind: Switch, Default: "on",
			Doc: "`on`, the default: compare all results with an independent run and mark what is not right; `off`: " +
				"leave that out",
		},
		{
			Key: "error", Kind: Switch, Default: "off",
			Doc: "`on`: show the estimated error of every derivative, by the independent run of `trust`",
		},
		{
			Key: "rtol", Kind: Number, Range: Range{To: 1},
			Doc: "of the adjoint variables of `continuous` and `backsolve`; without them, the solver's `rtol`, and " +
				"a thousandth of it of the largest variable so far",
		},
		{Key: "atol", Kind: Number, Range: positive},
		{
			Key: "steady", Kind: Word, Words: []string{"solve", "run"}, Default: "solve",
			Doc: "how first derivatives of steady states are computed: `solve`, the default, solves linear " +
				"equations; `run` integrates these in time until they come to rest, to be compared with; " +
				"docs/steady.md",
		},
		{
			Key: "bump", Kind: Number, Range: positive,
			Doc: "of `differences`: by how much each variable is moved up and down, in its unit. Without it the " +
				"differences are extrapolated from four moves, by 1e-4 and 2e-4 of the variable",
		},
		{
			Key: "order", Default: "1",
			Doc: "`order = 2`: the Hessian of every objective comes with its gradient, exact for the computed " +
				"solution. `hvp = [1, 0, -2]`, with a number for each element of `wrt`, or the name of a const or " +
				"param that holds them: the product of the Hessian with that vector, at the cost of one of its " +
				"columns. With the modes that differentiate the computed solution; docs/methods.md",
		},
		{Key: "hvp"},
	},
}
