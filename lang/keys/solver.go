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
			Doc: "the explicit method is `dopri5`, the default, or with `auto` the one that `rtol` chooses; " +
				"while a run is stiff, both use `rodas5p`, or on some grids `rkc2`; any other named method " +
				"makes all steps; docs/methods.md",
		},
		{
			Key: "stages", Kind: Count,
			Doc: "the number of stages of `rkc2`: 2 to 50",
		},
		{
			Key: "theta", Kind: Number,
			Doc: "the weight of the end of a step in `theta`: 0.5 to 1",
		},
		{
			Key: "rtol", Default: "1e-6",
			Doc: "the relative tolerance `rtol` (default 1e-6; smaller ones than 1e-15, except 0, are 1e-15) and " +
				"the absolute tolerance `atol` (default `auto`: by the size of each state). `atol = [x = 1e-9, " +
				"v = 1e-12]` sets those of x and v only, `x = [1e-9, 1e-12]` those of the elements of x, and " +
				"`atol = [1e-9, 1e-12]` those of all states in the order of their declarations",
		},
		{Key: "atol", Default: "auto"},
		{
			Key: "sens_tol", Kind: Number, Range: Range{To: 1, With: true},
			Doc: "the run is repeated with tighter tolerances until the estimated error of every derivative is " +
				"at most this, relative to the largest derivative of the same objective by the same variable; " +
				"docs/methods-trust.md says which zeros are exempt",
		},
		{
			Key: "h0", Kind: Number, Range: positive, Unit: "time",
			Doc: "`h0`, `hmin` and `hmax` are the first, the smallest and the largest step, `max_steps` the " +
				"largest number of steps",
		},
		{Key: "hmin", Kind: Number, Range: positive, Unit: "time"},
		{Key: "hmax", Kind: Number, Range: positive, Unit: "time"},
		{Key: "max_steps", Kind: Count},
		{
			Key: "fixed_step", Kind: Number, Range: positive, Unit: "time",
			Doc: "steps of this length, without error control",
		},
		{
			Key: "quad_tol", Words: []string{"off"},
			Doc: "the relative tolerance of integrals in objectives; their absolute tolerance is a thousandth of " +
				"it. Without it they have `rtol` and `atol`. With `off`, error control ignores integrals; " +
				"docs/methods-steps.md",
		},
		{
			Key: "stability", Kind: Switch, Default: "on",
			Doc: "`on`, the default: steps of explicit methods are no longer than is stable; `off`: only error " +
				"control limits them",
		},
		{
			Key: "dense", Kind: Word, Words: []string{"own", "hermite"}, Default: "own",
			Doc: "values between the ends of steps: by `own`, the default, the dense output of the method, or by " +
				"`hermite`, Hermite's cubic of order 3, with explicit Runge–Kutta methods",
		},
		{
			Key: "observe", Kind: Word, Words: []string{"auto", "clip", "dense"}, Default: "auto",
			Doc: "with `clip`, steps end at times of observations; with `dense`, values are read inside steps; " +
				"`auto`, the default, is `dense` for more than 16 times, if the dense output of the method is " +
				"accurate enough",
		},
		{
			Key: "event_tol", Kind: Number, Range: positive, Unit: "time",
			Doc: "`event_tol`: events that are closer in time form one group (default: 10 units in the last " +
				"place); `max_events`: the most events and changes of mode in a run (10,000); `max_cascade`: " +
				"the most rounds in one group of events (100)",
		},
		{Key: "max_events", Kind: Count},
		{Key: "max_cascade", Kind: Count},
		{
			Key: "recheck", Kind: Word, Words: []string{"round", "body"}, Default: "round",
			Doc: "`round`, the default: an event that others at the same time set off comes after all of these; " +
				"`body`: conditions are evaluated after every body, and events that have become due are ordered " +
				"by priority",
		},
		{
			Key: "ties", Words: []string{"file", "random"}, Default: "file",
			Doc: "the order of events with equal priority at one time: that of the `file`, the default, or a " +
				"random one, `random(seed = 7)`",
		},
		{
			Key: "controller", Kind: Word, Default: "pi",
			Doc: "the rule for step lengths, `pi` by default; `predictive` is for stiff models; odes doc pi and " +
				"others explain them",
		},
		{
			Key: "max_growth", Kind: Number, Range: Range{From: 1, To: math.Inf(1)},
			Doc: "the largest ratio of a step to the step before; by default it is that of the controller: 10 " +
				"for `pi` and `predictive`, 5 for most others",
		},
		{
			Key: "checkpoint", Words: []string{"all", "states", "binomial", "stages"},
			Doc: "which parts of a run are kept for its gradient; all others are computed again, with the same " +
				"bits. `all`: the stages of every step. `states`: the state before every step. `states(k)`: " +
				"every k-th state. `states(every = k, ram = n)`: the last n of these in memory, the others in a " +
				"file. `binomial(n)`: n states, placed for the least work. `revolve(ram = n, disk = m)`: the " +
				"same, with m further states in a file. `stages(n)` and `stages(ram = n, disk = m)`: whole " +
				"steps instead of states. Without a number, as many as half of `memory` holds. Without this " +
				"setting everything is kept, and if `memory` is too small, only states, then every 2nd, 4th … " +
				"state; docs/methods-derivatives.md",
		},
		{
			Key: "units", Kind: Word, Words: []string{"off", "warn", "strict"},
			Doc: "contradictions of units: `off` ignores them, `warn` warns; without this setting they are " +
				"errors. `strict` also refuses unknown units",
		},
		{
			Key: "threads", Kind: Count,
			Doc: "`threads`: the number of threads; `memory`: the most memory that a run and its results may " +
				"take, such as `\"2 GB\"` (docs/limits.md has the default). Results do not depend on them",
		},
		{Key: "memory", Kind: Size, Unit: "bytes"},
		{
			Key: "steady", Kind: Word, Words: []string{"auto", "newton", "run"}, Default: "auto",
			Doc: "how steady states are found: `auto`, the default, follows the run with growing steps until " +
				"Newton's method converges; `newton` begins with Newton's method; `run` follows the run to its " +
				"end; docs/steady.md",
		},
		{
			Key: "steady_start", Kind: Word, Words: []string{"auto", "own", "warm"}, Default: "auto",
			Doc: "where searches for steady states begin: `own`, at the present state of the run; `warm`, at the " +
				"steady state of the first experiment, of the last member of a sweep, or of the last iteration " +
				"of a fit; `auto`, the default: `warm` within fits, whose results are confirmed, and `own` " +
				"elsewhere; docs/steady.md",
		},
		{
			Key: "steady_tol", Kind: Number, Range: positive,
			Doc: "the largest last step of Newton's method to a steady state, in units of `rtol*abs(x) + atol` " +
				"(default 1e-3)",
		},
		{
			Key: "marginal", Words: []string{"laplace", "focei", "foce", "fo", "agq", "imp"}, Default: "laplace",
			Doc: "how nll() integrates over random effects: `laplace`, the default, `focei`, `foce`, `fo`, " +
				"`agq(n = 5)` (Gauss–Hermite quadrature with n nodes for each random effect) or `imp(n = 1000, " +
				"seed = 1)` (importance sampling); all but `fo` take `starts = 64`, and look for more modes; " +
				"docs/populations.md",
		},
		{
			Key: "linear", Kind: Word, Default: "auto",
			Doc: "how the linear equations of implicit steps are solved: `dense`, `band` and `sparse` factor a " +
				"matrix; `gmres` needs products only, for grids whose factors need too much memory; `auto`, the " +
				"default, chooses by the pattern of the Jacobian; docs/methods-linear.md",
		},
	},
}
