package keys

// Sample is what a sample block says but for what is drawn, with defaults where it says nothing. The tag of a field is
// the key that sets it.
type Sample struct {
	Objective string  `key:"sample.of"` // "": nll() - log_prior()
	Method    string  `key:"sample.method"`
	Chains    int     `key:"sample.chains"`
	Draws     int     `key:"sample.draws"` // of each chain
	Warmup    int     `key:"sample.warmup"`
	Metric    string  `key:"sample.metric"`
	Target    float64 `key:"sample.target"` // of the acceptance
	Depth     int     `key:"sample.depth"`  // of trees, at most
	Starts    int     `key:"sample.starts"` // searches for modes; 0: twice as many as chains
	Seed      uint64  `key:"sample.seed"`
	Random    string  `key:"sample.random"` // "integrate" or "draw"
}

// sample is the sample block.
var sample = Block{
	Name: "sample",
	Form: "sample { of = L  over = [k, V]  chains = 4  draws = 1000  seed = 1 }",
	Text: "What odes sample draws from, and how: see docs/sample.md. On the command line: --sample.draws=4000.",
	Rows: []Row{
		{
			Key: "of", Kind: Objective,
			Doc: "minus the logarithm of the density that is drawn from; unless said otherwise `nll() - log_prior()`",
		},
		{
			Key: "over", Kind: Variables,
			Doc: "params and initial values, `initial(x)`, that are drawn; unless said otherwise all params with " +
				"bounds or a prior",
		},
		{
			Key: "method", Kind: Word, Words: []string{"nuts", "smc", "pathfinder", "laplace"}, Default: "nuts",
			Doc: "`nuts` unless said otherwise: chains that come to the posterior itself; `smc`: populations of " +
				"particles that come to it from the priors, for several modes and for the evidence; `laplace` and " +
				"`pathfinder`: normal distributions at the modes, or on the way to them, reweighted, with a number " +
				"(Pareto's k) that says how far they are to be trusted",
		},
		{
			Key: "chains", Kind: Count, Default: "4",
			Doc: "how many chains, 4 unless said otherwise, the draws of each, 1000, and the iterations before them, " +
				"500, in which a chain finds steps and metric",
		},
		{Key: "draws", Kind: Count, Default: "1000"},
		{Key: "warmup", Kind: Count, Default: "500"},
		{
			Key: "metric", Kind: Word, Words: []string{"hessian", "dense", "diag"}, Default: "hessian",
			Doc: "in which coordinates chains move: those of the exact `hessian` at the mode, corrected by the draws " +
				"of warm-up, unless said otherwise; `dense` and `diag` learn covariances or variances from the draws " +
				"alone, for posteriors without a mode",
		},
		{
			Key: "target", Kind: Number, Range: Range{To: 1}, Default: "0.8",
			Doc: "the share of steps that is to be accepted, 0.8 unless said otherwise: 0.95 makes shorter steps, " +
				"and fewer divergences",
		},
		{
			Key: "depth", Kind: Count, Default: "10",
			Doc: "the most doublings of a trajectory: 10 unless said otherwise",
		},
		{
			Key: "starts", Kind: Count,
			Doc: "how many searches look for modes before the chains begin: twice as many as chains unless said " +
				"otherwise",
		},
		{
			Key: "seed", Kind: Count, Default: "1",
			Doc: "a whole number that changes which values are drawn; 1 unless said otherwise",
		},
		{
			Key: "random", Kind: Word, Words: []string{"integrate", "draw"}, Default: "integrate",
			Doc: "what becomes of the random effects of a population. `integrate` unless said otherwise: the " +
				"likelihood is integrated over them; `draw`: those of each subject are drawn with the params",
		},
	},
}
