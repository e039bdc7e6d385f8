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
			Doc: "the number of sets of data, 1 by default",
		},
		{
			Key: "seed", Kind: Count, Default: "1",
			Doc: "a whole number that chooses other random numbers, 1 by default",
		},
		{
			Key: "prior", Kind: Switch, Default: "off",
			Doc: "`on`: for each set of data, params are drawn from their priors; `off`, the default: params are " +
				"those of the model",
		},
		{
			Key: "times", Kind: Numbers,
			Doc: "times that replace those of the tables, in the unit of time: `[0, 1, 2]` or `\"0:0.5:24\"`. " +
				"Tables then have these times once for each combination of texts; numbers in other columns are " +
				"those of the last row before",
		},
		{
			Key: "table", Kind: Name,
			Doc: "the table to draw, if the model observes several",
		},
	},
}
