package help

// columns explain the columns of records of doses, by their NONMEM names.
var columns = []Entry{
	{
		"dosing", "doses D { gut where CMT == 1  lag = tlag  f = F1 }",
		"Patients come as tables with doses and measurements in one column of time. doses D { … } makes " +
			"records of doses of the rows of a table that have an amount, and says which states take them; " +
			"experiment subject from D by D.ID makes a run of each subject. The columns are found by their " +
			"names, in capitals or not: AMT RATE DUR CMT EVID II ADDL SS MDV, each of which odes doc explains. " +
			"Behind a state stand where, lag (ALAG), f, dur (RATE -2) and rate (RATE -1). odes check lists the " +
			"doses of each subject, odes plot marks them, and odes run --in subject_3 --doses new.csv gives " +
			"others. docs/dosing.md tells all.",
	},
	{
		"AMT", "doses D { amt = D.mg  gut }",
		"The amount of a dose, in the unit of its state, which gets F*AMT of it. Without a column EVID a " +
			"row with an amount is a dose, and others are measurements.",
	},
	{
		"RATE", "doses D { body rate = R1  dur = D1 }",
		"0: a bolus, or an infusion where DUR is positive. Positive: an infusion at this rate, for " +
			"F*AMT/RATE. -1: at the rate that the model gives by rate = e. -2: for as long as the model says by" +
			" dur = e.",
	},
	{
		"DUR", "doses D { body }",
		"How long an infusion takes, where RATE is 0: at a rate of F*AMT/DUR. Where the model says it, RATE" +
			" is -2.",
	},
	{
		"EVID", "doses D { gut }",
		"0: a measurement, unless MDV is 1. 1: a dose. 2: neither. 3: a reset of all states to what they " +
			"began with. 4: a reset, then a dose. With 3 and 4 the time may go back: a new occasion, whose " +
			"clock starts anew.",
	},
	{
		"II", "doses D { gut }",
		"The interval between doses of ADDL or SS. Without either it is refused.",
	},
	{
		"ADDL", "doses D { gut }",
		"How many further doses follow, each II after the last.",
	},
	{
		"SS", "doses D { gut }",
		"1: the states become those that repeat under doses every II, and then the dose of the record is " +
			"given. 2: the same is added to what is there. With RATE and without AMT: a constant infusion, " +
			"which ends.",
	},
	{
		"MDV", "doses D { gut }",
		"1 where a value is missing: the row is no measurement.",
	},
	{
		"CMT", "doses D { gut where CMT == 1  body where CMT == 2 }",
		"Which compartment takes a dose. A model says by where which states take which rows, by this or any" +
			" other column.",
	},
	{
		"ALAG", "doses D { gut lag = tlag }",
		"How much later than its record a dose comes: lag = e.",
	},
}
