package parser

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/policy"
)

// Word is a word of the language, as the parser, the help, editors and their grammars know it.
type Word struct {
	Name string
	Kind WordKind
	Form string // an example
	Text string // what it means
	// In lists where a word stands that starts no item: the items, by the words that they start with, "equation",
	// "expression", or "body" for the body of an event.
	In string

	body    string // what stands in the braces of an item; "" where the grammar tells
	gives   names  // how many names stand behind the word
	foreign string // what other languages write for it
	belongs string // where it stands, for those who start an item with it; "" for what stands in expressions
}

// WordKind tells where a word stands.
type WordKind uint8

// The kinds of words. All but FreeWord are reserved.
const (
	ItemWord     WordKind = iota // an item starts with it
	BlockWord                    // a settings block, which is an item as well, starts with it
	PartWord                     // it stands within items and expressions
	OperatorWord                 // it is an operator, or a part of one
	FreeWord                     // it means something in some places, as `count` does after `every`
)

// names says how many names an item word gives.
type names uint8

const (
	none names = iota
	one
	several // separated by commas, each with its value
)

// Texts of several words.
const (
	aSetting   = "a setting"
	aCondition = "a condition is an expression: x' = if c then a else b"
)

// language is the table of all words, in the order of the manual: first the reserved ones, then the free ones. Those
// that items start with stand beside the grammar of the items. Settings blocks are those of package keys.
var language = slices.Concat(namesWords, dynamicsWords, dataWords, goalsWords, blockWords(), inside, optionWords(),
	freed)

// blockWords are the words of settings blocks, which package keys describes.
func blockWords() (list []Word) {
	for _, b := range keys.Blocks() {
		list = append(list, Word{Name: b.Name, Kind: BlockWord, foreign: b.Foreign, Form: b.Form, Text: b.Text})
	}
	return list
}

// optionWords are the options of events, which package policy describes.
func optionWords() (list []Word) {
	for _, o := range policy.Options() {
		list = append(list, Word{Name: o.Name, Kind: FreeWord, In: "event", Form: o.Form, Text: o.Text})
	}
	return list
}

// inside are the words within items and expressions, and free ones.
var inside = []Word{
	{
		Name: "if", Kind: PartWord, In: "expression",
		belongs: aCondition,
		Form:    "if x > 0 then a else b",
		Text: "A choice. On time or states, in an equation, it is switched by an event at the root of its " +
			"condition, and gradients see the switch. noevent(…) opts out.",
	},
	{
		Name: "then", Kind: PartWord, In: "expression",
		belongs: aCondition,
		Form:    "if x > 0 then a else b",
		Text:    "Follows the condition of an if.",
	},
	{
		Name: "elseif", Kind: PartWord, In: "expression",
		belongs: aCondition,
		Form:    "if x > 1 then a elseif x > 0 then b else c",
		Text:    "A further condition of an if.",
	},
	{
		Name: "else", Kind: PartWord, In: "expression",
		belongs: aCondition,
		Form:    "if x > 0 then a else b",
		Text:    "The last branch of an if; it is never left out.",
	},
	{
		Name: "for", Kind: PartWord, In: "event let output objective constraint equation body",
		belongs: `"for" follows an equation or a let: x[i]' = ... for i in 1:n`,
		Form:    "x[i]' = -k[i]*x[i] for i in 1:n",
		Text:    "Runs over a range; loops are never unrolled.",
	},
	{
		Name: "in", Kind: PartWord, In: "param",
		Form: "for i in 1:2:9",
		Text: "Stands between a loop variable and its range lo:hi or lo:step:hi, and before the bounds of a " +
			"param: in [0, 1].",
	},
	{
		Name: "end", Kind: PartWord, In: "expression",
		belongs: "an item ends by itself, and so does a loop: x[i]' = ... for i in 1:n",
		Form:    "x[end]",
		Text:    "The last index.",
	},
	{
		Name: "and", Kind: OperatorWord, In: "expression",
		Form: "a < b and b < c",
		Text: "Both conditions; or: one of them; not: the opposite.",
	},
	{
		Name: "or", Kind: OperatorWord, In: "expression",
		Form: "a < b or b < c",
		Text: "One of two conditions, or both.",
	},
	{
		Name: "not", Kind: OperatorWord, In: "expression",
		Form: "not (a < b or b < c)",
		Text: "The opposite of a condition.",
	},
	{
		Name: "as", Kind: OperatorWord, In: "import expression",
		Form: "e as [ug/L]",
		Text: "Converts a value to another unit of the same dimension. It binds more tightly than operators: " +
			"(A/V) as [ug/L].",
	},
	{
		Name: "from", Kind: FreeWord, In: "event time observe import experiment",
		Form: "time t from 0 to 10",
		Text: "Begins the start: of time, of a periodic event, and of the column that is observed (observe … " +
			"from D.y); also the file of an import, and the table that experiments are made from.",
	},
	{
		Name: "to", Kind: FreeWord, In: "event time",
		Form: "time t from 0 to 10",
		Text: "Begins the end: of time, and of a periodic event.",
	},
	{
		Name: "count", Kind: FreeWord, In: "event",
		Form: "event tick every 24 [h] count 5 { y = 0 }",
		Text: "Begins the greatest number of firings of a periodic event.",
	},
	{
		Name: "mass", Kind: FreeWord, In: "equation",
		Form: "mass(x) = M",
		Text: "The equations x' = f are M*x' = f, with a matrix of numbers that may be singular.",
	},
	{
		Name: "past", Kind: FreeWord, In: "equation",
		Form: "past x = exp(t)",
		Text: "The state x before the start, for `delay(x, tau)`: an expression of time and params. " +
			"Without it the past is the initial value.",
	},
	{
		Name: "priority", Kind: FreeWord, In: "event",
		Form: "event late when x > 10 priority -1 { stop }",
		Text: "Decides between events at the same time: higher first, 0 without it, then the order of the file.",
	},
	{
		Name: "once", Kind: FreeWord, In: "event",
		Form: "event e when x > 1 once { x = 0 }",
		Text: "The event fires once at most.",
	},
	{
		Name: "up", Kind: FreeWord, In: "event",
		Form: "event e when x crosses 1 up { n += 1 }",
		Text: "Restricts crosses: the left side rises through the right one.",
	},
	{
		Name: "down", Kind: FreeWord, In: "event",
		Form: "event e when x crosses 1 down { n += 1 }",
		Text: "Restricts crosses: the left side falls through the right one.",
	},
	{
		Name: "start", Kind: FreeWord, In: "event",
		Form: "event e when x > 1 at start { n += 1 }",
		Text: "With `at start`, the event fires at the start as well, if its condition holds there.",
	},
}

// freed are the free words behind the options of events.
var freed = []Word{
	{
		Name: "by", Kind: FreeWord, In: "experiment",
		Form: "experiment subject from D by D.id { wt = D.wt  at D.time where amt > 0 { depot += D.amt } }",
		Text: "Makes one experiment for each value of a column of a table: subject_1, subject_2 … It is compared " +
			"with the rows that have this value. In its items a column is a number, which must be the same in all of " +
			"these rows, or in an event at D.time, which has an element for each row, the one of the row.",
	},
	{
		Name: "doses", Kind: FreeWord, In: "data",
		Form: "doses D { gut where CMT == 1  lag = tlag  f = F1 }",
		Text: "The rows of a table that have an amount are records of doses, as NONMEM reads them: TIME AMT RATE DUR " +
			"CMT EVID II ADDL SS MDV. Behind each state stand the rows that it takes, and `lag`, `f`, `dur`, `rate`.",
	},
	{
		Name: "random", Kind: FreeWord, In: "experiment",
		Form: "random e_CL ~ normal(0, w_CL), e_V ~ normal(0, w_V)",
		Text: "Random effects: numbers with a value of their own in every experiment of `experiment " +
			"subject from D by " +
			"D.id`. nll() integrates over them, as `solver { marginal = focei }` says. Standard deviations may be " +
			"params; `random e[2] ~ mvnormal(Omega)` has the covariances of `param Omega[2,2]`. With `by D.OCC` " +
			"there is a value for each occasion.",
	},
	{
		Name: "where", Kind: FreeWord, In: "experiment observe",
		Form: `use D where arm == "high"`,
		Text: "Begins a condition that chooses rows of a table: the rows with which an experiment is compared, " +
			"or the rows at whose times an event happens (at D.time where amt > 0 { … }).",
	},
	{
		Name: "with", Kind: FreeWord, In: "use",
		Form: "use Patient as a { dose = 3 } with data",
		Text: "With `with data`, the tables, observations and experiments of a component come along.",
	},
	{
		Name: "piecewise", Kind: FreeWord, In: "control",
		Form: "control u = 0 piecewise constant on grid(0, 2, 41)",
		Text: "Begins the form of a control: piecewise constant, or piecewise linear between its nodes.",
	},
	{
		Name: "constant", Kind: FreeWord, In: "control",
		Form: "control u = 0 piecewise constant on grid(0, 2, 41)",
		Text: "A control that keeps its value between the times of its grid.",
	},
	{
		Name: "linear", Kind: FreeWord, In: "control",
		Form: "control u = 0 piecewise linear on grid(0, 2, 41)",
		Text: "A control that is linear between the nodes of its grid.",
	},
	{
		Name: "on", Kind: FreeWord, In: "control",
		Form: "control u = 0 piecewise constant on grid(0, 2, 41)",
		Text: "Begins the grid of times of a control.",
	},
}

// The table by what the parser asks.
var (
	wordNamed = map[string]*Word{}
	itemWords = map[string]bool{} // an item starts with them
	reserved  = map[string]bool{}
	spellings = map[string]string{} // item words, by what other languages write for them
)

func init() {
	for i := range language {
		w := &language[i]
		wordNamed[w.Name] = w
		itemWords[w.Name] = w.Kind == ItemWord || w.Kind == BlockWord
		reserved[w.Name] = w.Kind != FreeWord && !lateBlocks[w.Name]
		for _, other := range strings.Fields(w.foreign) {
			spellings[other] = w.Name
		}
	}
}

// lateBlocks are the words of settings blocks that came after models used them as names. They start a block where they
// are the first of a line and a body follows, and are names elsewhere.
var lateBlocks = map[string]bool{"sample": true, "simulate": true}

// LateBlock reports whether a word starts a settings block where a body follows, and is a name elsewhere.
func LateBlock(name string) bool { return lateBlocks[name] }

// Reserved reports whether name is a reserved word, which a model can use as a name only in backquotes.
func Reserved(name string) bool { return reserved[name] }

// StartsItem reports whether a word starts an item. Settings blocks are items.
func StartsItem(word string) bool { return itemWords[word] }

// IsBlock reports whether a word starts a settings block.
func IsBlock(word string) bool {
	w := wordNamed[word]
	return w != nil && w.Kind == BlockWord
}

// Words returns the words of the language in the order of the manual.
func Words() []Word { return slices.Clone(language) }

// WordsOf returns the names of the words of some kinds, in alphabetical order.
func WordsOf(kinds ...WordKind) []string {
	var list []string
	for _, w := range language {
		if slices.Contains(kinds, w.Kind) {
			list = append(list, w.Name)
		}
	}
	slices.Sort(list)
	return list
}

// ItemWords returns the words that start items, those of settings blocks included, in alphabetical order.
func ItemWords() []string { return WordsOf(ItemWord, BlockWord) }

// Blocks returns the words that start settings blocks, in the order of the manual.
func Blocks() []string {
	var list []string
	for _, w := range language {
		if w.Kind == BlockWord {
			list = append(list, w.Name)
		}
	}
	return list
}

// WordsIn returns the words that stand in a place, as [Word.In] names it. Words of the expressions and bodies within an
// item are not among its own. Operators come last.
func WordsIn(where string) []string {
	var list, operators []string
	for _, w := range language {
		switch {
		case !slices.Contains(strings.Fields(w.In), where):
		case w.Kind == OperatorWord:
			operators = append(operators, w.Name)
		default:
			list = append(list, w.Name)
		}
	}
	return append(list, operators...)
}

// holds returns what stands in the braces of the item that starts with word, or "".
func holds(word string) string {
	switch w := wordNamed[word]; {
	case w == nil:
		return ""
	case w.Kind == BlockWord:
		return aSetting
	default:
		return w.body
	}
}

// belongs says where a reserved word that starts no item belongs.
func belongs(word string) string {
	if w := wordNamed[word]; w != nil && w.belongs != "" {
		return w.belongs
	}
	return "it belongs inside an expression"
}

// isSettings reports whether keys and values stand in the braces behind word.
func isSettings(word string) bool { return holds(word) == aSetting }

// gives reports how many names stand behind word.
func gives(word string) names {
	if w := wordNamed[word]; w != nil {
		return w.gives
	}
	return none
}
