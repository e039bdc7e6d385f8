package keys

// Fit is what a fit block says but for what is searched for, with defaults where it says nothing. The tag of a field is
// the key that sets it.
type Fit struct {
	Objective string // of minimize or maximize; "": the choice is open
	Maximize  bool
	// Algorithm is "auto", "trust", "lbfgsb", "sqp", "adam" or "saem".
	Algorithm string `key:"fit.algorithm"`
	// Rate, Batch, Epochs and Decay are those of adam; 0 where nothing is said.
	Rate   float64 `key:"fit.rate"`
	Batch  int     `key:"fit.batch"` // experiments, or rows, of a step
	Epochs int     `key:"fit.epochs"`
	Decay  float64 `key:"fit.decay"`
	Starts int     `key:"fit.starts"`
	// Points is how the starts are chosen after the first: "lhs", "sobol" or "random".
	Points  string `key:"fit.points"`
	Seed    uint64 `key:"fit.seed"`
	MaxIter int    `key:"fit.max_iter"` // of each start; 0 means 300
	// MaxTime is how many seconds all searches may take; 0 means any number.
	MaxTime float64 `key:"fit.max_time"`
	// Intervals are "auto", "profile", "wald", "bootstrap", from so many refits, or "none", at the probability Level.
	Intervals string  `key:"fit.intervals"`
	Bootstrap int     `key:"fit.bootstrap"`
	Level     float64 `key:"fit.level"`
	// Scatter is "known" where the standard deviations of the model are right, and "estimated" where they are so up to
	// a common factor, which the residuals tell.
	Scatter string `key:"fit.scatter"`
	// Errors is what the standard errors of populations are made from: "r", "s" or "sandwich".
	Errors string `key:"fit.errors"`
	// Shooting is how searches divide runs into parts that begin with values of their own.
	Shooting Shooting
}

// Shooting says into which parts multiple shooting divides a run. The zero value does not.
type Shooting struct {
	Auto     bool      // where a search by whole runs does not come to a good end
	Segments int       // so many of about the same length
	Times    []float64 // where parts begin, in the unit of time
}

// On reports whether runs are to be divided.
func (s *Shooting) On() bool { return s.Auto || s.Segments > 0 || len(s.Times) > 0 }

// fit is the fit block.
var fit = Block{
	Name: "fit",
	Form: "fit { minimize = J  over = [k1, k2]  log = [k1] }",
	Text: "What a fit searches for, and how: see odes fit and docs/fit.md.",
	Rows: []Row{
		{
			Key: "minimize", Kind: Objective,
			Doc: "the objective to minimise or maximise; by default the only objective, or the only one that is " +
				"a likelihood",
		},
		{Key: "maximize", Kind: Objective},
		{
			Key: "over", Kind: Variables,
			Doc: "the params and initial values, `initial(x)`, to estimate; by default all params with bounds or " +
				"a prior",
		},
		{
			Key: "log", Kind: Variables,
			Doc: "the params and initial values of `over` that are searched on a logarithmic scale, or `all`",
		},
		{
			Key: "algorithm", Kind: Word, Default: "auto",
			Words: []string{"auto", "trust", "lbfgsb", "sqp", "adam", "saem"},
			Doc: "`auto`, the default, takes `sqp` with constraints, `trust` for likelihoods of data (Gauss and " +
				"Newton's method in a trust region) and for other objectives of up to 30 numbers (with exact " +
				"second derivatives), and `lbfgsb` for more. `adam` is for the weights of networks: many small " +
				"steps along gradients of all data or of batches, and then `auto`. `saem` is for random effects: " +
				"stochastic approximation EM, and then `auto` on the integral by `imp` or `agq`; " +
				"docs/populations.md",
		},
		{
			Key: "rate", Kind: Number, Range: positive,
			Doc: "settings of `adam`. `rate`: about how far a step moves a weight, or any other number relative " +
				"to its value at the start (default 0.01). `epochs`: the number of passes through all data " +
				"(500). `decay`: the final rate divided by the first one (0.1)",
		},
		{Key: "epochs", Kind: Count},
		{Key: "decay", Kind: Number, Range: positive},
		{
			Key: "batch", Kind: Count,
			Doc: "with `adam`: the number of experiments in a step, drawn anew in each epoch, or of rows of data " +
				"in a model without experiments; by default all",
		},
		{
			Key: "starts", Kind: Count, Default: "1",
			Doc: "`starts`: the number of searches (default 1). The first one starts at the values in the file, " +
				"others at points from the priors or within the bounds. `points`: how these are drawn, by `lhs` " +
				"(a Latin hypercube, the default), `sobol` or `random`. `seed`: a whole number that chooses " +
				"other points. `max_iter`: the most iterations of a search (300)",
		},
		{Key: "points", Kind: Word, Default: "lhs"},
		{Key: "seed", Kind: Count, Default: "1"},
		{Key: "max_iter", Kind: Count},
		{
			Key: "max_time", Kind: Number, Range: positive,
			Doc: "the most seconds for all searches; the certificate, intervals and the like may take half of " +
				"this time more",
		},
		{
			Key: "intervals", Kind: Word, Default: "auto",
			Words: []string{"auto", "profile", "wald", "bootstrap", "none"},
			Doc: "how intervals of estimates are computed: by `profile`, `wald` or `bootstrap`, or `none`; " +
				"`auto`, the default, is `profile` for up to 30 estimates and `wald` for more. `level`: their " +
				"probability (0.95)",
		},
		{Key: "level", Kind: Number, Range: Range{To: 1}, Default: "0.95"},
		{
			Key: "bootstrap", Kind: Count, Default: "1000",
			Doc: "the number of refits of `intervals = bootstrap`, to rows of data drawn with replacement " +
				"(default 1000)",
		},
		{
			Key: "scatter", Kind: Word, Words: []string{"known", "estimated"}, Default: "known",
			Doc: "`known`, the default: standard deviations are those of the model; `estimated`: they have a " +
				"common unknown factor, which the residuals determine",
		},
		{
			Key: "errors", Kind: Word, Words: []string{"r", "s", "sandwich"}, Default: "r",
			Doc: "standard errors in models with random effects: by `r`, the default, the Hessian of nll(); by " +
				"`s`, the sum over subjects of the products of their gradients; or by the `sandwich` of both; " +
				"docs/populations.md",
		},
		{
			Key: "shooting", Kind: Own, Words: []string{"off", "auto"}, Default: "off",
			Doc: "multiple shooting, for fits that start far away: the number of parts of each run, the times at " +
				"which parts begin (such as `D.time`), `auto` (only if a search by whole runs has no good end) " +
				"or `off`, the default",
		},
	},
}
