package keys

// Ensemble is what an ensemble block says beside what is drawn, with defaults where it says nothing. The tag of a field
// is the key that sets it.
type Ensemble struct {
	N        int    `key:"ensemble.n"`      // 0: not said
	Points   string `key:"ensemble.points"` // how points are chosen: "sobol", "lhs" or "random"
	Seed     uint64 `key:"ensemble.seed"`
	Gradient bool   `key:"ensemble.gradient"`
}

// ensemble is the ensemble block.
var ensemble = Block{
	Name: "ensemble",
	Form: "ensemble { n = 1000  k ~ lognormal(0, 1)  seed = 1 }",
	Text: "What differs between the members that odes ensemble runs: values drawn from distributions (from the " +
		"priors unless said otherwise), or rows of a table. On the command line: --ensemble.n=1000.",
	Rows: []Row{
		{
			Key: "n", Kind: Count,
			Doc: "how many members: 1000 unless said otherwise, and one for each row where `rows` names a table",
		},
		{
			Key: "points", Kind: Word, Default: "sobol",
			Doc: "`sobol` unless said otherwise: a Sobol sequence, scrambled; `lhs`: a Latin hypercube; `random`: " +
				"independent draws",
		},
		{
			Key: "seed", Kind: Count, Default: "1",
			Doc: "a whole number that changes which values are drawn; 1 unless said otherwise",
		},
		{
			Key: "rows", Kind: File,
			Doc: "a CSV file, `rows = \"sets.csv\"`, whose columns have the names of params: each row is a member",
		},
		{
			Key: "gradient", Kind: Switch, Default: "on",
			Doc: "`on` unless said otherwise: derivatives of the objectives of every member; `off`: values",
		},
	},
}
