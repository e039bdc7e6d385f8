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
			Doc: "the objective to draw from: minus the logarithm of the density; by default `nll() - " +
				"log_prior()`",
		},
		{
			Key: "over", Kind: Variables,
			Doc: "the params and initial values, `initial(x)`, to draw; by default all params with bounds or a " +
				"prior",
		},
		{
			Key: "method", Kind: Word, Words: []string{"nuts", "smc", "pathfinder", "laplace"}, Default: "nuts",
			Doc: "`nuts`, the default: Markov chains by the No-U-Turn sampler; `smc`: populations of particles, " +
				"tempered from the prior to the posterior, for several modes and for the evidence; `laplace` and " +
				"`pathfinder`: normal distributions at the modes, or on the way to them, reweighted, with a number " +
				"(Pareto's k) that says whether the weights can be trusted",
		},
		{
			Key: "chains", Kind: Count, Default: "4",
			Doc: "`chains`: the number of chains (4); `draws`: the draws of each chain (1000); `warmup`: the " +
				"iterations before them, which adapt steps and metric (500)",
		},
		{Key: "draws", Kind: Count, Default: "1000"},
		{Key: "warmup", Kind: Count, Default: "500"},
		{
			Key: "metric", Kind: Word, Words: []string{"hessian", "dense", "diag"}, Default: "hessian",
			Doc: "the metric of the chains: by the exact `hessian` at the mode, the default, corrected by the " +
				"draws of the warm-up; `dense` and `diag` estimate covariances or variances from draws alone, " +
				"for posteriors without a mode",
		},
		{
			Key: "target", Kind: Number, Range: Range{To: 1}, Default: "0.8",
			Doc: "the acceptance rate to which steps are adapted, 0.8 by default; 0.95 makes shorter steps and " +
				"fewer divergences",
		},
		{
			Key: "depth", Kind: Count, Default: "10",
			Doc: "the most doublings of a trajectory, 10 by default",
		},
		{
			Key: "starts", Kind: Count,
			Doc: "the number of searches for modes before the chains begin; by default twice the number of " +
				"chains",
		},
		{
			Key: "seed", Kind: Count, Default: "1",
			Doc: "a whole number that chooses other random numbers, 1 by default",
		},
		{
			Key: "random", Kind: Word, Words: []string{"integrate", "draw"}, Default: "integrate",
			Doc: "the random effects of a population: with `integrate`, the default, the likelihood is an " +
				"integral over them; with `draw`, those of each subject are drawn together with the params",
		},
	},
}
