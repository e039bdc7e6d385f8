package stdlib

// trajectory are the functions that read a trajectory or control events.
var trajectory = []*Func{
	{
		Name: "noevent", Args: []string{"e"}, Class: Special, Units: UnitsSame, Value: "e",
		Doc: "the value of e without events: its conditions end no steps, and the gradient is that of the branch taken",
	},
	{
		Name: "pre", Args: []string{"e"}, Class: Special, Units: UnitsSame, Value: "e",
		Doc: "the value of e just before the instant: before the event's body",
	},
	{
		Name: "post", Args: []string{"e"}, Class: Special, Units: UnitsSame, Value: "e",
		Doc: "the value of e just after the instant: after the event's body",
	},
	{
		Name: "at_trigger", Args: []string{"e"}, Class: Special, Units: UnitsSame, Value: "e",
		Doc: "in the body of an event with a delay and values = execution: the value of e at the trigger",
	},
	{
		Name: "delay", Args: []string{"e", "tau"}, Class: Special, Units: UnitsFree, Value: "e at the time t - tau",
		Doc: "the value of e at the time t - tau: delay(x, 3); before the start, states have their `past x = …`, or " +
			"initial values",
	},
	{
		Name: "mass_action", Args: []string{"kf", "kr"}, MinArgs: 1, Class: Special, Units: UnitsFree,
		Value: "kf*Π left^n - kr*Π right^m", Doc: "rate of a reaction by the law of mass action; only after `rate`",
	},
	{
		Name: "final", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "e at the end",
		Doc: "the value of e at the end of the run, after the body of an event there",
	},
	{
		Name: "initial", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "e at the start",
		Doc: "the value of e at the start of the run",
	},
	{
		Name: "integral", Args: []string{"e", "from", "to"}, MinArgs: 1, Class: Functional, Units: UnitsFree,
		Value: "∫ e dt", Doc: "integral over time: integral(e), integral(e, from = a, to = b)",
	},
	{
		Name: "sum_at", Args: []string{"times", "e"}, Class: Functional, Units: UnitsFree, Value: "Σ e(times[i])",
		Doc: "sum of e over the given times",
	},
	{
		Name: "at_event", Args: []string{"event", "e", "nth"}, MinArgs: 2, Class: Functional, Units: UnitsFree,
		Value: "Σ e at the firings", Doc: "sum of e over the firings of an event, or its value at one: at_event(ev, " +
			"e, nth = 2)",
	},
	{
		Name: "event_time", Args: []string{"event", "k"}, Class: Functional, Units: UnitsFree,
		Value: "time of firing k",
		Doc:   "time of the k-th firing of an event",
	},
	{
		Name: "steady", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "e at the steady state",
		Doc: "the value of e at the steady state that the run would reach if it continued beyond its end with time " +
			"fixed",
	},
	{
		Name: "max_over", Args: []string{"e"}, Class: Functional, Units: UnitsSame, Value: "greatest e",
		Doc: "greatest value of e along the run: at the start or the end, just before or after an event, or " +
			"within a step; for an array, of each element. The smallest value is -max_over(-e)",
	},
	{
		Name: "nll", Args: []string{"data"}, MinArgs: 0, Class: Functional, Value: "-log likelihood",
		Doc: "negative logarithm of the likelihood of all observations, or of those in one table",
	},
	{
		Name: "log_prior", Args: nil, Class: Functional, Value: "Σ log prior",
		Doc: "logarithm of the prior density of the params",
	},
}
