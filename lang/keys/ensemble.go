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
	Text: "The values that differ between the members of odes ensemble: draws from distributions (by default the " +
		"priors), or rows of a table. On the command line: --ensemble.n=1000.",
	Rows: []Row{
		{
			Key: "n", Kind: Count,
			Doc: "the number of members, 1000 by default, or with `rows` one for each row",
		},
		{
			Key: "points", Kind: Word, Default: "sobol",
			Doc: "how values are drawn: `sobol`, the default, a scrambled Sobol sequence; `lhs`, a Latin " +
				"hypercube; `random`, independently",
		},
		{
			Key: "seed", Kind: Count, Default: "1",
			Doc: "a whole number that chooses other random numbers, 1 by default",
		},
		{
			Key: "rows", Kind: File,
			Doc: "a CSV file, `rows = \"sets.csv\"`, whose columns have names of params; each row is a member",
		},
		{
			Key: "gradient", Kind: Switch, Default: "on",
			Doc: "`on`, the default: derivatives of the objectives of every member; `off`: values only",
		},
	},
}
