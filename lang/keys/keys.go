// Package keys is the table of settings: which keys the blocks of a model have, what each takes, and what is said of
// it. Everything else that knows of keys reads it: the checker, overrides, sessions, editors, completion, help and the
// manual, whose tables are written from it.
//
// To add a key, add a row here, and a field to the struct that holds it where it acts, with the key as its tag:
//
//	Bootstrap int `key:"fit.bootstrap"`
//
// The package internal/engine/settings finds the field by its tag and reads values into it by the kind of the row. What
// has a form of its own (kind Own) it reads by a function of its own.
package keys

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// Kind says what values a key takes.
type Kind uint8

// The kinds.
const (
	Own        Kind = iota // a form of its own
	Number                 // a number in Range
	Count                  // a whole number from 1
	Switch                 // on or off
	Word                   // one of Words; where these are nil, a name of a table of the program, as those of methods
	Objective              // an objective of the model
	Objectives             // objectives of the model
	Variables              // params and initial values of the model
	Size                   // bytes
	File                   // the name of a file
	Name                   // the name of a part of the model
	Numbers                // a list of numbers, or "from:step:to"
)

// Row is a key of a block.
type Row struct {
	Block, Key string
	Kind       Kind
	Range      Range
	// Unit is what a number counts, or whose unit it has: "time", "bytes"; "" for a pure number.
	Unit string
	// Default is the value of a block that does not have the key, as a model would write it. It is "" where what acts
	// on the setting chooses, or must know that nothing was said.
	Default string
	// Words are those that the key takes, in the order in which they are offered.
	Words []string
	// Doc explains the key, and those after it that have none, in the words of the manual and of `odes doc`.
	Doc string
}

// Range is an interval of numbers, without its ends unless With has its lower one. The zero value has all numbers.
type Range struct {
	From, To float64
	With     bool
}

var positive = Range{To: math.Inf(1)}

// Has reports whether x lies in r.
func (r Range) Has(x float64) bool {
	return r == Range{} || x > r.From && x < r.To || r.With && x == r.From
}

// String says what a number must be to lie in r; "" for all numbers.
func (r Range) String() string {
	number := func(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }
	switch {
	case r == Range{}:
		return ""
	case r == positive:
		return "positive"
	case math.IsInf(r.To, 1):
		return "greater than " + number(r.From)
	case r.With:
		return "in [" + number(r.From) + ", " + number(r.To) + ")"
	}
	return "in (" + number(r.From) + ", " + number(r.To) + ")"
}

// Named returns the kinds of names of the model that the key takes, as the checker calls them; nil where it takes
// something else, or r is nil.
func (r *Row) Named() []string {
	if r == nil {
		return nil
	}
	switch r.Kind {
	case Objective, Objectives:
		return []string{"objective", "constraint"}
	case Variables:
		return []string{"param", "state"}
	}
	return nil
}

// Takes says what values the key takes, where the kind tells; otherwise it is "".
func (r *Row) Takes() string {
	text := map[Kind]string{
		Number: "a number", Count: "a whole number from 1", Size: "a number of bytes, or a size such as \"2 GB\"",
		Objective: "an objective", Objectives: "objectives", Variables: "params and initial values",
		File: "the name of a file, in quotes",
		Name: "a name of the model", Numbers: "numbers, [1, 2, 5], or \"from:step:to\"",
	}[r.Kind]
	switch {
	case r.Kind == Switch || r.Kind == Word && r.Words != nil:
		last := len(r.Words) - 1
		return strings.Join(r.Words[:last], ", ") + " or " + r.Words[last]
	case r.Range == positive:
		text = "a positive number"
	case r.Range != Range{}:
		text += " " + r.Range.String()
	}
	if r.Unit == "time" {
		text += ", in the unit of time"
	}
	return text
}

// Block is a kind of settings blocks.
type Block struct {
	Name string
	Form string // an example
	Text string // what it is for
	// Foreign are words that other languages write for it, separated by blanks.
	Foreign string
	Rows    []Row
}

// blocks are in the order of the manual.
var blocks = filled(solver, sens, fit, sample, simulate, ensemble)

// filled fills in what rows leave to others.
func filled(blocks ...Block) []Block {
	for _, b := range blocks {
		for i := range b.Rows {
			r := &b.Rows[i]
			r.Block = b.Name
			if r.Doc == "" && i > 0 {
				r.Doc = b.Rows[i-1].Doc
			}
			if r.Kind == Switch {
				r.Words = []string{"on", "off"}
			}
		}
	}
	return blocks
}

// Blocks returns the settings blocks of the language. They must not be changed.
func Blocks() []Block { return blocks }

// Of returns the rows of a block, in the order of the manual. They must not be changed.
func Of(block string) []Row {
	for i := range blocks {
		if blocks[i].Name == block {
			return blocks[i].Rows
		}
	}
	return nil
}

// Find returns the row of a key, which must not be changed; nil where the block has no such key.
func Find(block, key string) *Row {
	rows := Of(block)
	if i := slices.IndexFunc(rows, func(r Row) bool { return r.Key == key }); i >= 0 {
		return &rows[i]
	}
	return nil
}

// Names returns the keys of a block, in the order of the manual.
func Names(block string) []string {
	var names []string
	for _, r := range Of(block) {
		names = append(names, r.Key)
	}
	return names
}

// Entry is what is said of keys that go together.
type Entry struct {
	Keys []string
	Text string
}

// Entries explain the keys of a block, in the order of the manual.
func Entries(block string) []Entry {
	var list []Entry
	for _, r := range Of(block) {
		if last := len(list) - 1; last >= 0 && list[last].Text == r.Doc {
			list[last].Keys = append(list[last].Keys, r.Key)
			continue
		}
		list = append(list, Entry{[]string{r.Key}, r.Doc})
	}
	return list
}

// Manual is the table of a block in the manual.
func Manual(block string) string {
	var b strings.Builder
	b.WriteString("| `" + block + "` | |\n|---|---|\n")
	for _, e := range Entries(block) {
		b.WriteString("| `" + strings.Join(e.Keys, "`, `") + "` | " + e.Text + " |\n")
	}
	return b.String()
}
