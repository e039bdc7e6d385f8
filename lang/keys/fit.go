package keys

// Fit is what a fit block says but for what is searched for, with defaults where it says nothing. The tag of a field is
// the key that sets it.
type Fit struct {
	Objective string // of minimize or maximize; "": the choice is open
	Maximize  bool
	// Algorithm is "auto", "trust", "lbfgsb", "sqp" or "adam".
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
			Doc: "the objective that a fit is of; unless said otherwise the only one, or the only one that is a " +
				"likelihood",
		},
		{Key: "maximize", Kind: Objective},
		{
			Key: "over", Kind: Variables,
			Doc: "params and initial values, `initial(x)`, that are searched for; unless said otherwise all params " +
				"with bounds or a prior",
		},
		{
			Key: "log", Kind: Variables,
			Doc: "those of them that are searched for on a logarithmic scale, or `all`",
		},
		{
			Key: "algorithm", Kind: Word, Words: []string{"auto", "trust", "lbfgsb", "sqp", "adam"}, Default: "auto",
			Doc: "`auto` unless said otherwise: `sqp` with constraints, `trust` for likelihoods of data (Gauss and " +
				"Newton's method in a trust region) and for anything else of up to 30 numbers (with exact second " +
				"derivatives), `lbfgsb` for more; `adam` for the weights of networks: many small steps along " +
				"gradients, of parts of the data if so asked, and then what `auto` does",
		},
		{
			Key: "rate", Kind: Number, Range: positive,
			Doc: "of `adam`: how far a step moves a weight, about, and any other number in parts of its value at the " +
				"start (0.01 unless said otherwise); how many times all data are gone through (500); and to which " +
				"part of itself the rate has fallen in the end (0.1)",
		},
		{Key: "epochs", Kind: Count},
		{Key: "decay", Kind: Number, Range: positive},
		{
			Key: "batch", Kind: Count,
			Doc: "of `adam`: how many experiments a step looks at, drawn anew in each epoch, or rows of data in a " +
				"model without experiments; all unless said otherwise",
		},
		{
			Key: "starts", Kind: Count, Default: "1",
			Doc: "how many searches (1 unless said otherwise): the first from the values in the file, others from " +
				"points that are drawn from the priors or within the bounds; how: `lhs` (a Latin hypercube) unless " +
				"said otherwise, `sobol` or `random`; a whole number that changes which; and the iterations of each " +
				"at most, 300 unless said otherwise",
		},
		{Key: "points", Kind: Word, Default: "lhs"},
		{Key: "seed", Kind: Count, Default: "1"},
		{Key: "max_iter", Kind: Count},
		{
			Key: "max_time", Kind: Number, Range: positive,
			Doc: "the seconds that all searches may take; what follows them may take half as long",
		},
		{
			Key: "intervals", Kind: Word, Default: "auto",
			Words: []string{"auto", "profile", "wald", "bootstrap", "none"},
			Doc: "`profile`, `wald`, `bootstrap`, `none` or, unless said otherwise, `auto` (`profile` of up to 30 " +
				"estimates, else `wald`): how intervals are found; their probability (0.95)",
		},
		{Key: "level", Kind: Number, Range: Range{To: 1}, Default: "0.95"},
		{
			Key: "bootstrap", Kind: Count, Default: "1000",
			Doc: "how many refits `intervals = bootstrap` makes, to rows of data drawn with replacement: 1000 " +
				"unless said otherwise",
		},
		{
			Key: "scatter", Kind: Word, Words: []string{"known", "estimated"}, Default: "known",
			Doc: "`known` unless said otherwise: the standard deviations in the model are right; `estimated`: they " +
				"are so up to one factor, which the residuals tell",
		},
		{
			Key: "errors", Kind: Word, Words: []string{"r", "s", "sandwich"}, Default: "r",
			Doc: "of models with random effects, standard errors by the inverse of `r`, the Hessian of nll(), unless " +
				"said otherwise, or of `s`, the sum over subjects of the products of their gradients; or by the " +
				"`sandwich` of both; docs/populations.md",
		},
		{
			Key: "shooting", Kind: Own, Words: []string{"off", "auto"}, Default: "off",
			Doc: "for fits that start far away: a number of parts into which each run is divided, `D.time` or other " +
				"times at which they begin, `auto` (where a search by whole runs does not come to a good end) or, " +
				"unless said otherwise, `off`",
		},
	},
}
