package help

import (
	"strings"

	"odes.dev/odes/lang/policy"
	"odes.dev/odes/parser"
)

// Entry is a word of the language, or the name of a format: what it means and how it is written.
type Entry struct{ Name, Form, Text string }

// words are the reserved words, in the order of the manual.
var words = entries(func(w parser.Word) bool { return w.Kind != parser.FreeWord })

// others are words that mean something in some places, and can be names in all others.
var others = entries(func(w parser.Word) bool { return w.Kind == parser.FreeWord })

// subjects are explained by a name that is no word of the language.
var subjects = []Entry{
	{
		"composition", "use Cell as c[i] { k = kk[i] } for i in 1:10",
		"Models are made of models. `import model \"cell.ode\" as Cell` names a file, or one of std/pk, " +
			"std/neuro and std/epi, and `use` makes copies of it, `use Cell as a { k = 2 }` a single one. " +
			"The name x of the file is a.x or c[3].x in the model, and c.x is the array of all copies. The " +
			"braces set the file's params, consts and initial(x); the values may use the model's names and the " +
			"time. A param that is not set keeps its value, and is differentiated. Copies include events, " +
			"invariants and asserts. They include data and experiments only with `with data`, and never settings " +
			"or objectives. Components may use others. `odes flatten` writes one text; docs/composition.md has " +
			"the rules.",
	},
}

// entries returns the words of the language for which want is true.
func entries(want func(parser.Word) bool) []Entry {
	var list []Entry
	for _, w := range parser.Words() {
		if want(w) {
			list = append(list, Entry{w.Name, w.Form, w.Text})
		}
	}
	return list
}

// codes explains the codes of diagnostics. A test compares it with the constants that the packages declare.
var codes = map[string]string{
	"ambiguous-limit": "A state that the event changes has two values there: write pre(v) or post(v).",
	"accuracy": "How accurate derivatives are: sens_tol was met with tighter tolerances, or could " +
		"not be met.",
	"trust": "How an independent run judges the numbers of a result. It uses another method, other steps, and " +
		"tighter tolerances. Numbers on which both runs agree are right; numbers that differ are marked loose or lost.",
	"fit": "Remarks about a fit: searches that failed, estimates at a bound, params that are not " +
		"identifiable from the data (before a fit, odes check --identifiable tells them); docs/fit.md.",
	"population": "Remarks about the integral over random effects: the objective as in NONMEM, " +
		"searches for modes that did not converge, subjects with several modes.",
	"simulate": "Remarks about simulated data.",
	"predict": "Remarks about predictions from draws: rows whose leave-one-out estimate depends on " +
		"single draws, and is not reliable.",
	"shooting": "A fit by multiple shooting runs the model in parts. Some models do not allow this: they read " +
		"more of a run than one part, or move the times of parts; docs/fit.md, docs/control.md.",
	"sample": "Remarks about draws from a posterior: chains that differ, too few effective draws, steps " +
		"that diverged, several modes, errors of the solver that change the posterior; docs/sample.md.",
	"assert-failed":    "An assert does not hold for the params of this run.",
	"assertion-failed": "An assert of constants does not hold.",
	"assigned-twice": "The body of an event assigns to an element twice; all assignments happen at once, " +
		"so neither would come last.",
	"assignment-in-condition": "A condition is a comparison: x <= 0, not x = 0.",
	"auto":                    "What auto chose, and why.",
	"backward": "A continuous adjoint could not be integrated backwards to its tolerance; use " +
		"--mode adjoint.",
	"bad-bounds": "Bounds are written in [lo, hi], with lo not above hi and the value between.",
	"bad-data":   "A table of data needs columns of equal length, and a column time.",
	"bad-event-option": "Options of an event follow commas before its body: " +
		strings.Join(policy.Names(), ", ") + ".",
	"bad-event-condition": "The condition of an event is a comparison of reals, or some of them joined by and, or.",
	"bad-number":          "A number is written like 1, 1.5 or 2e-3.",
	"bad-quoted-name":     "A name in backquotes is not closed on its line, or empty.",
	"bad-range": "A loop runs over lo:hi or lo:step:hi, of whole numbers known when the model " +
		"is compiled.",
	"bad-setting": "The value of a setting is not of the kind the key takes.",
	"bad-subscript": "A subscript is a whole number known when the model is compiled, affine in loop " +
		"variables; clamp and wrap are allowed.",
	"bad-target":          "Equations are for states; events change states and discretes.",
	"bad-unit":            "A unit is names and powers in brackets: [kg*m/s^2].",
	"bare-assignment":     "An assignment outside of an event's body: write let, param or const.",
	"bare-exponent":       "[m^1/2] means (m^1)/2; a rational power needs parentheses: [m^(1/2)].",
	"bracket-on-new-line": "( and [ continue an expression on the same line only.",
	"cannot-compile":      "The construct has no meaning where it stands.",
	"cannot-export": "The format of odes export cannot express this; docs/export.md has the table of what each " +
		"construct becomes.",
	"cascade":            "Events at one time keep making each other true (setting max_cascade).",
	"chained-comparison": "Comparisons do not chain: write a < b and b < c.",
	"chattering": "An event fires over and over within a tiny part of the run, or there are more events than " +
		"max_events. Its times accumulate (a Zeno point), the solution slides along a switch, rounding alone decides " +
		"its condition, or the events are simply many.",
	"cyclic-definition":  "Definitions use each other in a circle.",
	"duplicate-equation": "An element of a state has more than one equation; add terms with +=.",
	"duplicate-name":     "A name is declared twice.",
	"event-never-fires": "The condition of an event cannot become true, as one that holds from the start " +
		"on (write at start), or its time lies outside the run.",
	"foreign-derivative": "A derivative is written x' = …, not der(x) or d/dt(x).",
	"foreign-file": "The file is written in another program's language. SBML, PEtab, NONMEM and others are " +
		"translated (odes import); the message says which part is wrong, or cannot be translated. " +
		"docs/language.md, From " +
		"other programs, has the words of SBML, Antimony, NONMEM, rxode2, Stan, Matlab, XPPAUT, Modelica and others.",
	"foreign-operator": "An operator of another language: power is ^, conditions are joined by and, or, not.",
	"domain-edge": "The argument of a root or power left its domain within steps, by less than the " +
		"error of states. Its value " +
		"was taken at the edge of the domain; results that may depend on this are marked.",
	"glued-coefficient": "A coefficient and its species are separated by a space: 2 A.",
	"gradient-check":    "The result of check = fd(…): the gradient is right, or has an error of this size.",
	"grazing": "An event's guard only touches zero: its time is ill-determined, and has no reliable " +
		"derivative.",
	"hidden-event": "A condition on states may have held for a moment within a step unseen, or did not come true by " +
		"less than the error of the solution.",
	"not-exported": "odes export leaves this out, or the other program treats it differently; docs/export.md lists " +
		"what is exported.",
	"steady-state": "There is no steady state to return. The message says what the states do instead, or why the " +
		"steady state is not reliable.",
	"incapable":          "The method lacks a feature that the run needs; choose another method.",
	"index-out-of-range": "An index lies outside the array.",
	"inferred-unit": "A name was declared without a unit, and its use determines the unit. Write the unit, if " +
		"it is the intended one.",
	"interrupted": "The run was ended from outside.",
	"invariant-violated": "An invariant does not hold: at the start, which is an error of the model, or " +
		"along the run.",
	"invalid-character": "A character that is not part of the language.",
	"invalid-encoding":  "The text is not UTF-8.",
	"kink": "A value is taken exactly where a function has no derivative: abs, hypot or a root of " +
		"a square at 0, a tie of min or max, a condition that an event sets exactly to its threshold, a jump of " +
		"params alone as floor(p) at a whole number. The derivative of one side, or 0, is used.",
	"look-alike-character": "A typographic sign stands where an ASCII one belongs.",
	"memory":               "Too little memory for the command, or for the record of the run (setting memory).",
	"misplaced-end":        "end is the last index, and stands only within an index.",
	"misplaced-functional": "final, integral and their kind stand in objectives only, and not in each other.",
	"misplaced-prime": "' is the time derivative and stands on the left of an equation; transpose with " +
		"transpose(A).",
	"missing-else":       "An if-expression always needs else.",
	"missing-equation":   "An element of a state has no equation.",
	"missing-expression": "Something is missing behind an operator or an equals sign.",
	"drift": "At the end of a step, an algebraic unknown was far from its equations: tolerances are too " +
		"loose for it. Or, after an event, the unknowns are on another branch of solutions than before it.",
	"index": "The algebraic equations (0 = …) do not determine the unknowns (alg) for any values. " +
		"Usually the model has " +
		"a higher index, and an equation must be differentiated by time.",
	"inconsistent": "Newton's method found no values of the unknowns (alg) for which the algebraic equations " +
		"hold, at " +
		"the start or after an event: give a better guess.",
	"missing-item":      "A model needs time, and a state or, where nothing moves, an output; a param needs a value.",
	"missing-operator":  "There is no multiplication without a sign: write 2*k.",
	"nested-too-deeply": "The expression is nested too deeply.",
	"no-influence":      "Nothing depends on this param, so all its derivatives are 0.",
	"non-finite":        "The model produced a NaN or infinity; the message names the first expression that did.",
	"not-available": "The language has this, but this version cannot run it; odes check checks it " +
		"nevertheless.",
	"not-known-here": "The value of this name is known too late for its use here: shapes are known before params, " +
		"params before states.",
	"numeric-unit": "A bracket after a number or an array literal is a unit; give the array a name " +
		"to index it.",
	"override":             "An override does not fit what it sets.",
	"predefined-name":      "pi, inf, true, false and end have their meaning already.",
	"recursive-function":   "Functions are inlined, so they cannot call themselves.",
	"reserved-word":        "A word of the language is used as a name; put it in backquotes or choose another.",
	"resting-event":        "An event's guard stays at zero after it fired.",
	"second-derivative":    "Write a second-order equation as two: x' = v and v' = ….",
	"setting":              "A setting has a value it cannot take, or there is no such setting.",
	"shape-mismatch":       "Shapes do not fit: only scalars stretch.",
	"single-quoted-string": "Strings stand in double quotes.",
	"step-underflow": "The step became too small for the time to move: a singularity, a stiff model, or a " +
		"tolerance that cannot be met.",
	"stiff": "Stability, not accuracy, limits the steps of this explicit method: a component of the " +
		"solution decays much faster than the solution changes. With method = auto, odes takes an implicit method " +
		"for such steps. For diffusion on large grids there is rkc2.",
	"tie": "Events or changes of mode at the same time as another event, an observation, the start or the " +
		"end, or a condition on its threshold at the start: in the other order the result differs, or changes at " +
		"another rate. The gradient is that of the order in the run.",
	"time-outside":        "A given time lies outside the run, or a body set it to a time in the past.",
	"time-span":           "The end of time lies before its start, or is not finite.",
	"too-large":           "An array or loop is larger than odes handles.",
	"too-many-dimensions": "Loops are nested so deeply that an array would have too many axes.",
	"too-many-errors":     "Only the first errors are shown.",
	"delay":               "A delay that a run cannot read, such as one that is not positive; docs/delays.md.",
	"too-many-pending":    "More executions of an event with a delay wait than it has room for (its option pending).",
	"too-many-steps":      "The run needs more steps than allowed (setting max_steps).",
	"type-mismatch":       "A condition stands where a number is needed, or the other way round.",
	"unavailable": "A setting asks for a feature that this version lacks; the message says what " +
		"happens instead.",
	"unchosen": "All settings blocks of a kind have names, so none is used unless a flag names it: " +
		"--solver fast, --sens fast, --fit fast or --ensemble fast. A block without a name is always used.",
	"unclosed-bracket":    "A bracket is not closed.",
	"uncovered-element":   "A definition given element by element leaves some out.",
	"undefined-name":      "Nothing of that name is declared.",
	"unexpected-token":    "This cannot stand here.",
	"unit-mismatch":       "Units differ; nothing is converted unasked: write e as [unit].",
	"unknown-escape":      `Strings know \", \\ and \n.`,
	"unknown-item":        "Items start with a reserved word, equations with a name and a prime.",
	"component":           "A component, or its copies, cannot be used in this way.",
	"unknown-name":        "The model has nothing of that name.",
	"unknown-setting":     "There is no such key.",
	"unknown-unit":        "There is no unit of that name; define it with unit.",
	"unseen-peak":         "A function of time has a peak between the stages of fixed steps, which miss it.",
	"unreadable-file":     "A file that the model loads cannot be read.",
	"unstable":            "Steps of fixed length are too long for the stability of this method.",
	"unterminated-string": "A string is not closed on its line.",
	"unused-experiments": "The model has experiments, but no objective reads them: only nll() is a sum over " +
		"experiments. All other objectives read the run without their changes.",
	"value-of-trajectory": "An objective needs the time of a value: final(x), initial(x), integral(x) ….",
	"wrong-arguments":     "A function got too many, too few or misnamed arguments.",
	"wrong-kind":          "A name stands where something of another kind belongs.",
	"usage":               "The command line is wrong.",
	"file":                "A file could not be read or written.",
}
