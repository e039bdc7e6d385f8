package help

// columns explain the columns of records of doses, by their NONMEM names.
var columns = []Entry{
	{
		"dosing", "doses D { gut where CMT == 1  lag = tlag  f = F1 }",
		"Patients come as tables with doses and measurements in one column of time. doses D { … } turns " +
			"the rows of a table that have an amount into records of doses, and says which states take them; " +
			"experiment subject from D by D.ID makes a run of each subject. The columns are found by their " +
			"names, in capitals or not: AMT RATE DUR CMT EVID II ADDL SS MDV, each of which odes doc explains. " +
			"After a state follow where, lag (ALAG), f, dur (RATE -2) and rate (RATE -1). odes check lists the " +
			"doses of each subject, odes plot marks them, and odes run --in subject_3 --doses new.csv gives " +
			"others. docs/dosing.md has all rules.",
	},
	{
		"AMT", "doses D { amt = D.mg  gut }",
		"The amount of a dose, in the unit of its state; the state gets F*AMT. Without a column EVID, a " +
			"row with an amount is a dose, and any other row is a measurement.",
	},
	{
		"RATE", "doses D { body rate = R1  dur = D1 }",
		"0: a bolus, or an infusion where DUR is positive. Positive: an infusion at this rate, for a " +
			"time of F*AMT/RATE. -1: an infusion whose rate the model gives, rate = e. -2: an infusion whose " +
			"duration the model gives, dur = e.",
	},
	{
		"DUR", "doses D { body }",
		"The duration of an infusion with RATE 0; its rate is F*AMT/DUR. If the model gives the duration, RATE" +
			" is -2.",
	},
	{
		"EVID", "doses D { gut }",
		"0: a measurement, unless MDV is 1. 1: a dose. 2: neither. 3: a reset of all states to their " +
			"initial values. 4: a reset, then a dose. With 3 and 4 the time may go back: a new occasion begins, " +
			"with its own clock.",
	},
	{
		"II", "doses D { gut }",
		"The interval between doses of ADDL or SS. An II without ADDL or SS is an error.",
	},
	{
		"ADDL", "doses D { gut }",
		"The number of further doses, each II after the one before.",
	},
	{
		"SS", "doses D { gut }",
		"1: the states become the steady state of doses every II, and then the dose of the record is " +
			"given. 2: the same is added to the present states. With RATE and without AMT: the steady state of a " +
			"constant infusion, which then ends.",
	},
	{
		"MDV", "doses D { gut }",
		"1: the value is missing, and the row is no measurement.",
	},
	{
		"CMT", "doses D { gut where CMT == 1  body where CMT == 2 }",
		"The compartment of a dose. In a model, where says which rows a state takes, by this or any" +
			" other column.",
	},
	{
		"ALAG", "doses D { gut lag = tlag }",
		"The lag of a dose: the time from its record to the dose, lag = e.",
	},
}
