package typecheck

import "slices"

// SettingRow explains settings that go together, in the words of the manual and of `odes doc`.
type SettingRow struct {
	Keys []string
	Text string
}

// settingRows are the keys of each block in the order of the manual. The blocks are those of parser.Blocks; what a key
// does is said where it acts.
var settingRows = map[string][]SettingRow{
	"solver": {
		{[]string{"method"}, "`dopri5` unless said otherwise, and `rodas5p` (on some grids `rkc2`) while a run is " +
			"stiff; with `auto`, `rtol` chooses the former; docs/methods.md"},
		{[]string{"stages"}, "of `rkc2`: 2 to 50"},
		{[]string{"theta"}, "of `theta`: 0.5 to 1"},
		{[]string{"rtol", "atol"}, "1e-6 and 1e-9 unless said otherwise; `atol = auto`: by the size of each state; " +
			"`atol = [x = 1e-9, v = 1e-12]` gives states their own and leaves others as they were (elements: " +
			"`x = [1e-9, 1e-12]`); so does `[1e-9, 1e-12]`, as declared; an `rtol` below 1e-15, but 0, is 1e-15"},
		{[]string{"sens_tol"}, "repeats the run with tighter tolerances until the estimated error of every " +
			"derivative is at most this, relative to the largest derivative of the same objective by the same " +
			"variable; docs/methods.md says what of zeros"},
		{[]string{"h0", "hmin", "hmax", "max_steps"}, "first, smallest and largest step, and how many"},
		{[]string{"fixed_step"}, "that step, without error control"},
		{[]string{"quad_tol"}, "the relative tolerance of integrals that objectives read, with a thousandth of it as " +
			"the absolute one; `rtol` and `atol` unless said otherwise; `off`: steps follow the states alone; " +
			"docs/methods.md"},
		{[]string{"stability"}, "`on` unless said otherwise: no step of an explicit method is longer than what is " +
			"stable; `off`: as long as its error allows"},
		{[]string{"dense"}, "between the ends of steps: `own`, the dense output of the method, unless said " +
			"otherwise; `hermite`: Hermite's cubic, of order 3, in explicit Runge–Kutta methods"},
		{[]string{"observe"}, "`auto`, `clip` (steps end at observation times) or `dense` (they are read inside " +
			"steps): `auto` is `dense` for more than 16 of them, if the method's dense output is good enough"},
		{[]string{"event_tol", "max_events", "max_cascade"}, "how close in time events are one group (10 units in " +
			"the last place unless said otherwise); how many events and changes of mode a run may have (10,000 " +
			"unless said otherwise), and how many rounds one group (100)"},
		{[]string{"recheck"}, "`round` unless said otherwise: what events of one time set off comes after them; " +
			"`body`: the conditions are evaluated after every body, and what became true competes by priority"},
		{[]string{"ties"}, "events of equal priority, at one time: in the order of the `file`, unless said " +
			"otherwise, or in one that is drawn: `random(seed = 7)`"},
		{[]string{"controller"}, "the rule for step lengths: `pi` unless said otherwise; `predictive` suits stiff " +
			"models; `odes doc pi` and others"},
		{[]string{"max_growth"}, "how many times longer than the last a step may be: that of the controller unless " +
			"said otherwise, 10 for `pi` and `predictive`, and 5 for most others"},
		{[]string{"checkpoint"}, "what is kept of a run for its gradient; what is not is computed again, to the same " +
			"bits: `all` (the stages of every step), `states`, `states(k)` (one in k), `states(every = k, ram = n)` " +
			"(the last n of them in memory and the others in a file), `binomial(n)` or `revolve(ram = n, disk = m)` " +
			"(so many states, placed for the least work, m of them in a file), `stages(n)` or " +
			"`stages(ram = n, disk = m)` (so many steps with their stages); without a number as many as half of " +
			"`memory` holds. Unless said otherwise all is kept, and where `memory` is too small for it states only, " +
			"then one in 2, 4 …; docs/methods.md"},
		{[]string{"units"}, "`off`, `warn` or `strict`: contradictions are errors unless said otherwise; `strict` " +
			"refuses unknown units as well"},
		{[]string{"threads", "memory"}, "goroutines, and what a run and its results may take (`\"2 GB\"`; " +
			"docs/limits.md has the default); results do not depend on them"},
		{[]string{"steady"}, "how steady states are found: `auto`, the default, follows the run with growing steps " +
			"until Newton's method takes over; `newton` begins with that; `run` goes on to the end; docs/steady.md"},
		{[]string{"steady_start"}, "where searches for steady states begin: `own`, where the run is; `warm`, at the " +
			"steady state of the first experiment, of the member before in a sweep, or of the last iteration of a " +
			"fit; `auto`, the default: `warm` within fits, whose results are confirmed, and `own` elsewhere; " +
			"docs/steady.md"},
		{[]string{"steady_tol"}, "the last step of Newton's method to a steady state, in units of " +
			"`rtol*abs(x) + atol` (1e-3 unless said otherwise)"},
		{[]string{"linear"}, "how implicit methods solve the linear equations of a step: `dense`, `band` and " +
			"`sparse` " +
			"factor a matrix; `gmres` needs no factors, only products, for grids whose factors have no room; `auto` " +
			"chooses by the pattern of the Jacobian; docs/methods.md"},
	},
	"sens": {
		{[]string{"of", "wrt"}, "objectives; params and `initial(x)`. Without them: all objectives; all params and " +
			"the literal initial values"},
		{[]string{"mode"}, "how derivatives are computed: `adjoint` unless said otherwise; `auto` takes it or " +
			"`tangent`, whichever costs less. `odes doc adjoint` and others explain them; docs/methods.md"},
		{[]string{"check"}, "`fd(directions = 3, tol = 1e-5)`: checks the gradient as `odes verify` does, along so " +
			"many random directions, and says in a note that it is right, or in a warning how far it is off"},
		{[]string{"control"}, "`on`: derivatives of the states take part in the error control of the run; `auto`, " +
			"the default: where `trust` finds that they must"},
		{[]string{"trust"}, "`on`, the default: compare all results with an independent run and mark what is not " +
			"right; `off`: leave that out"},
		{[]string{"error"}, "`on`: show the estimated error of every derivative, by the independent run of `trust`"},
		{[]string{"rtol", "atol"}, "of the adjoint variables of `continuous` and `backsolve`; without them, the " +
			"solver's `rtol`, and a thousandth of it of the largest variable so far"},
		{[]string{"steady"}, "how first derivatives of steady states are computed: `solve`, the default, solves " +
			"linear equations; `run` integrates these in time until they come to rest, to be compared with; " +
			"docs/steady.md"},
		{[]string{"bump"}, "of `differences`: by how much each variable is moved up and down, in its unit. Without " +
			"it the differences are extrapolated from four moves, by 1e-4 and 2e-4 of the variable"},
		{[]string{"order", "hvp"}, "`order = 2`: the Hessian of every objective comes with its gradient, exact for " +
			"the computed solution. `hvp = [1, 0, -2]`, with a number for each element of `wrt`, or the name of a " +
			"const or param that holds them: the product of the Hessian with that vector, at the cost of one of its " +
			"columns. " +
			"With the modes that differentiate the computed solution; docs/methods.md"},
	},
	"fit": {
		{[]string{"minimize", "maximize"}, "the objective that a fit is of; unless said otherwise the only one, or " +
			"the only one that is a likelihood"},
		{[]string{"over"}, "params and initial values, `initial(x)`, that are searched for; unless said otherwise " +
			"all params with bounds or a prior"},
		{[]string{"log"}, "those of them that are searched for on a logarithmic scale, or `all`"},
		{[]string{"algorithm"}, "`auto` unless said otherwise: `sqp` with constraints, `trust` for likelihoods of " +
			"data (Gauss and Newton's method in a trust region) and for anything else of up to 30 numbers (with " +
			"exact second derivatives), `lbfgsb` for more"},
		{[]string{"starts", "points", "seed", "max_iter"}, "how many searches (1 unless said otherwise): the first " +
			"from the values in the file, others from points that are drawn from the priors or within the bounds; " +
			"how: `lhs` (a Latin hypercube) unless said otherwise, `sobol` or `random`; a whole number that changes " +
			"which; and the iterations of each at most, 300 unless said otherwise"},
		{[]string{"max_time"}, "the seconds that all searches may take; then the best point so far is what there is"},
		{[]string{"intervals", "level"}, "`profile`, `wald`, `bootstrap`, `none` or, unless said otherwise, `auto` " +
			"(`profile` of up to 30 estimates, else `wald`): how intervals are found; their probability (0.95)"},
		{[]string{"bootstrap"}, "how many refits `intervals = bootstrap` makes, to rows of data drawn with " +
			"replacement: 1000 unless said otherwise"},
		{[]string{"scatter"}, "`known` unless said otherwise: the standard deviations in the model are right; " +
			"`estimated`: they are so up to one factor, which the residuals tell"},
	},
	"ensemble": {
		{[]string{"n"}, "how many members: 1000 unless said otherwise, and one for each row where `rows` names a " +
			"table"},
		{[]string{"points"}, "`sobol` unless said otherwise: a Sobol sequence, scrambled; `lhs`: a Latin hypercube; " +
			"`random`: independent draws"},
		{[]string{"seed"}, "a whole number that changes which values are drawn; 1 unless said otherwise"},
		{[]string{"rows"}, "a CSV file, `rows = \"sets.csv\"`, whose columns have the names of params: each row is a " +
			"member"},
		{[]string{"gradient"}, "`on` unless said otherwise: derivatives of the objectives of every member; `off`: " +
			"values"},
	},
}

// SettingRows explains the keys of a block, one of parser.Blocks. The slice is a copy.
func SettingRows(block string) []SettingRow { return slices.Clone(settingRows[block]) }

// Kinds of names that settings are values of, as in [Name].
var (
	goals     = []string{"objective", "constraint"}
	variables = []string{"param", "state"}
)

// settingNames are the settings whose values are names of the model.
var settingNames = map[string][]string{
	"sens.of": goals, "fit.minimize": goals, "fit.maximize": goals,
	"sens.wrt": variables, "fit.over": variables, "fit.log": variables,
}

// SettingNames returns the kinds of names of the model that a key of a block takes; nil where it takes something else.
func SettingNames(block, key string) []string { return slices.Clone(settingNames[block+"."+key]) }

// settingKeys are the keys of each block. What a value may be is decided by those who use it. This
// package keeps only the form of the value.
var settingKeys = func() map[string][]string {
	keys := map[string][]string{}
	for block, rows := range settingRows {
		for _, r := range rows {
			keys[block] = append(keys[block], r.Keys...)
		}
	}
	return keys
}()
