package keys

import "math"

// solver is the solver block.
var solver = Block{
	Name: "solver", Foreign: "options settings",
	Form: "solver { method = dopri5  rtol = 1e-9 }",
	Text: "Settings of the solver. On the command line: --solver.rtol=1e-9. A named block (solver fast { … }) is " +
		"chosen by --solver fast.",
	Rows: []Row{
		{
			Key: "method", Kind: Word,
			Doc: "`dopri5` unless said otherwise, and `rodas5p` (on some grids `rkc2`) while a run is stiff; with " +
				"`auto`, `rtol` chooses the former; docs/methods.md",
		},
		{
			Key: "stages", Kind: Count,
			Doc: "of `rkc2`: 2 to 50",
		},
		{
			Key: "theta", Kind: Number,
			Doc: "of `theta`: 0.5 to 1",
		},
		{
			Key: "rtol", Default: "1e-6",
			Doc: "`rtol` is 1e-6 and `atol` is `auto` unless said otherwise: by the size of each state; " +
				"`atol = [x = 1e-9, v = 1e-12]` gives states their own and leaves others as they were (elements: " +
				"`x = [1e-9, 1e-12]`); so does `[1e-9, 1e-12]`, as declared; an `rtol` below 1e-15, but 0, is 1e-15",
		},
		{Key: "atol", Default: "auto"},
		{
			Key: "sens_tol", Kind: Number, Range: Range{To: 1, With: true},
			Doc: "repeats the run with tighter tolerances until the estimated error of every derivative is at most " +
				"this, relative to the largest derivative of the same objective by the same variable; " +
				"docs/methods.md says what of zeros",
		},
		{
			Key: "h0", Kind: Number, Range: positive, Unit: "time",
			Doc: "first, smallest and largest step, and how many",
		},
		{Key: "hmin", Kind: Number, Range: positive, Unit: "time"},
		{Key: "hmax", Kind: Number, Range: positive, Unit: "time"},
		{Key: "max_steps", Kind: Count},
		{
			Key: "fixed_step", Kind: Number, Range: positive, Unit: "time",
			Doc: "that step, without error control",
		},
		{
			Key: "quad_tol", Words: []string{"off"},
			Doc: "the relative tolerance of integrals that objectives read, with a thousandth of it as the absolute " +
				"one; `rtol` and `atol` unless said otherwise; `off`: steps follow the states alone; " +
				"docs/methods.md",
		},
		{
			Key: "stability", Kind: Switch, Default: "on",
			Doc: "`on` unless said otherwise: no step of an explicit method is longer than what is stable; `off`: " +
				"as long as its error allows",
		},
		{
			Key: "dense", Kind: Word, Words: []string{"own", "hermite"}, Default: "own",
			Doc: "between the ends of steps: `own`, the dense output of the method, unless said otherwise; " +
				"`hermite`: Hermite's cubic, of order 3, in explicit Runge–Kutta methods",
		},
		{
			Key: "observe", Kind: Word, Words: []string{"auto", "clip", "dense"}, Default: "auto",
			Doc: "`auto`, `clip` (steps end at observation times) or `dense` (they are read inside steps): `auto` " +
				"is `dense` for more than 16 of them, if the method's dense output is good enough",
		},
		{
			Key: "event_tol", Kind: Number, Range: positive, Unit: "time",
			Doc: "how close in time events are one group (10 units in the last place unless said otherwise); how " +
				"many events and changes of mode a run may have (10,000 unless said otherwise), and how many rounds " +
				"one group (100)",
		},
		{Key: "max_events", Kind: Count},
		{Key: "max_cascade", Kind: Count},
		{
			Key: "recheck", Kind: Word, Words: []string{"round", "body"}, Default: "round",
			Doc: "`round` unless said otherwise: what events of one time set off comes after them; `body`: the " +
				"conditions are evaluated after every body, and what became true competes by priority",
		},
		{
			Key: "ties", Words: []string{"file", "random"}, Default: "file",
			Doc: "events of equal priority, at one time: in the order of the `file`, unless said otherwise, or in " +
				"one that is drawn: `random(seed = 7)`",
		},
		{
			Key: "controller", Kind: Word, Default: "pi",
			Doc: "the rule for step lengths: `pi` unless said otherwise; `predictive` suits stiff models; `odes doc " +
				"pi` and others",
		},
		{
			Key: "max_growth", Kind: Number, Range: Range{From: 1, To: math.Inf(1)},
			Doc: "how many times longer than the last a step may be: that of the controller unless said otherwise, " +
				"10 for `pi` and `predictive`, and 5 for most others",
		},
		{
			Key: "checkpoint", Words: []string{"all", "states", "binomial", "stages"},
			Doc: "what is kept of a run for its gradient; what is not is computed again, to the same bits: `all` " +
				"(the stages of every step), `states`, `states(k)` (one in k), `states(every = k, ram = n)` (the " +
				"last n of them in memory and the others in a file), `binomial(n)` or `revolve(ram = n, disk = m)` " +
				"(so many states, placed for the least work, m of them in a file), `stages(n)` or `stages(ram = n, " +
				"disk = m)` (so many steps with their stages); without a number as many as half of `memory` holds. " +
				"Unless said otherwise all is kept, and where `memory` is too small for it states only, then one in " +
				"2, 4 …; docs/methods.md",
		},
		{
			Key: "units", Kind: Word, Words: []string{"off", "warn", "strict"},
			Doc: "`off`, `warn` or `strict`: contradictions are errors unless said otherwise; `strict` refuses " +
				"unknown units as well",
		},
		{
			Key: "threads", Kind: Count,
			Doc: "goroutines, and what a run and its results may take (`\"2 GB\"`; docs/limits.md has the default); " +
				"results do not depend on them",
		},
		{Key: "memory", Kind: Size, Unit: "bytes"},
		{
			Key: "steady", Kind: Word, Words: []string{"auto", "newton", "run"}, Default: "auto",
			Doc: "how steady states are found: `auto`, the default, follows the run with growing steps until " +
				"Newton's method takes over; `newton` begins with that; `run` goes on to the end; docs/steady.md",
		},
		{
			Key: "steady_start", Kind: Word, Words: []string{"auto", "own", "warm"}, Default: "auto",
			Doc: "where searches for steady states begin: `own`, where the run is; `warm`, at the steady state of " +
				"the first experiment, of the member before in a sweep, or of the last iteration of a fit; `auto`, " +
				"the default: `warm` within fits, whose results are confirmed, and `own` elsewhere; docs/steady.md",
		},
		{
			Key: "steady_tol", Kind: Number, Range: positive,
			Doc: "the last step of Newton's method to a steady state, in units of `rtol*abs(x) + atol` (1e-3 unless " +
				"said otherwise)",
		},
		{
			Key: "marginal", Words: []string{"laplace", "focei", "foce", "fo", "agq", "imp"}, Default: "laplace",
			Doc: "how nll() is integrated over random effects: `laplace`, unless said otherwise, `focei`, `foce`, " +
				"`fo`, `agq(n = 5)` (Gauss–Hermite quadrature with so many nodes for each random effect) or " +
				"`imp(n = 1000, seed = 1)` (importance sampling); docs/populations.md",
		},
		{
			Key: "linear", Kind: Word, Default: "auto",
			Doc: "how implicit methods solve the linear equations of a step: `dense`, `band` and `sparse` factor a " +
				"matrix; `gmres` needs no factors, only products, for grids whose factors have no room; `auto` " +
				"chooses by the pattern of the Jacobian; docs/methods.md",
		},
	},
}
