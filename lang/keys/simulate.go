package keys

// Simulate is what a simulate block says, with defaults where it says nothing. The tag of a field is the key that sets
// it.
type Simulate struct {
	Replicates int       `key:"simulate.replicates"`
	Seed       uint64    `key:"simulate.seed"`
	Prior      bool      `key:"simulate.prior"`
	Times      []float64 `key:"simulate.times"` // nil: as the tables have them
	Table      string    `key:"simulate.table"` // "": the only one
}

// simulate is the simulate block.
var simulate = Block{
	Name: "simulate",
	Form: "simulate { seed = 1  replicates = 100  prior = on }",
	Text: "What odes simulate draws: see docs/simulate.md. On the command line: --simulate.replicates=100.",
	Rows: []Row{
		{
			Key: "replicates", Kind: Count, Default: "1",
			Doc: "how many sets of data: 1 unless said otherwise",
		},
		{
			Key: "seed", Kind: Count, Default: "1",
			Doc: "a whole number that changes which data are drawn; 1 unless said otherwise",
		},
		{
			Key: "prior", Kind: Switch, Default: "off",
			Doc: "`on`: each set of data has params of its own, which are drawn from their priors; `off` unless said " +
				"otherwise: params are as in the model",
		},
		{
			Key: "times", Kind: Numbers,
			Doc: "times in place of those of the tables, in the unit of time: `[0, 1, 2]` or `\"0:0.5:24\"`; tables " +
				"then have these for each combination of texts, and the numbers of other columns as in the last row " +
				"before",
		},
		{
			Key: "table", Kind: Name,
			Doc: "which table of the model is drawn, where it observes several",
		},
	},
}
