package keys

// sens is the sens block.
var sens = Block{
	Name: "sens",
	Form: "sens { of = [J]  wrt = [k, initial(x)]  mode = adjoint }",
	Text: "What to differentiate, by what, and how. On the command line: --sens.mode=tangent.",
	Rows: []Row{
		{
			Key: "of", Kind: Objectives,
			Doc: "`of`: the objectives to differentiate (default: all); `wrt`: params and `initial(x)` to " +
				"differentiate by (default: all params, and initial values that are numbers)",
		},
		{Key: "wrt", Kind: Variables},
		{
			Key: "mode", Kind: Word, Default: "adjoint",
			Doc: "how derivatives are computed: `adjoint`, the default; `auto` takes `adjoint` or `tangent`, " +
				"whichever costs less; odes doc adjoint and others explain the modes; " +
				"docs/methods-derivatives.md",
		},
		{
			Key: "check",
			Doc: "`fd(directions = 3, tol = 1e-5)` checks the gradient as odes verify does, along this number of " +
				"random directions. A note says that it is right, or a warning how large the error is",
		},
		{
			Key: "control", Kind: Word, Words: []string{"auto", "on", "off"}, Default: "auto",
			Doc: "`on`: error control of the run includes derivatives of the states; `auto`, the default: only " +
				"if `trust` finds that they need it; `off`: never",
		},
		{
			Key: "trust", Kind: Switch, Default: "on",
			Doc: "`on`, the default: an independent run checks all results, and numbers that it does not confirm " +
				"are marked; `off`: no such run",
		},
		{
			Key: "error", Kind: Switch, Default: "off",
			Doc: "`on`: show the estimated error of every derivative, by the independent run of `trust`",
		},
		{
			Key: "rtol", Kind: Number, Range: Range{To: 1},
			Doc: "tolerances of the adjoint variables, for `continuous` and `backsolve`; by default `rtol` is " +
				"that of the solver, and `atol` a thousandth of `rtol` times the largest variable so far",
		},
		{Key: "atol", Kind: Number, Range: positive},
		{
			Key: "steady", Kind: Word, Words: []string{"solve", "run"}, Default: "solve",
			Doc: "how first derivatives of steady states are computed: `solve`, the default, solves linear " +
				"equations; `run` integrates these in time until they come to rest, for comparisons; " +
				"docs/steady.md",
		},
		{
			Key: "bump", Kind: Number, Range: positive,
			Doc: "with `mode = differences`: the change of each variable, up and down, in its unit. By default, " +
				"differences are extrapolated from four changes, by 1e-4 and 2e-4 of the variable",
		},
		{
			Key: "order", Default: "1",
			Doc: "`order = 2` adds the Hessian of every objective to its gradient. `hvp = [1, 0, -2]` adds the " +
				"product of the Hessian with a vector, at the cost of one column of the Hessian. The vector has " +
				"a number for each element of `wrt`, or is the name of a const or param. Both are exact for the " +
				"computed solution, and need a mode that differentiates it; docs/methods-derivatives.md",
		},
		{Key: "hvp"},
	},
}
