package sbml

import (
	"fmt"
	"sort"
	"strings"
	"sync"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// Items is a translation as it is being written: items of the language, each with what it is made from.
type Items struct {
	b     strings.Builder
	from  source.Origin // of what is written next
	items []item
}

// item is where an item of the language starts in the text, and what it is made from.
type item struct {
	start int
	from  source.Origin
}

// From says what the items are made from that follow. The zero Origin is nothing in particular.
func (t *Items) From(from source.Origin) { t.from = from }

// Item writes the first line of an item, or all of it.
func (t *Items) Item(format string, args ...any) {
	t.items = append(t.items, item{t.b.Len(), t.from})
	t.Line(format, args...)
}

// Line writes a line that begins no item.
func (t *Items) Line(format string, args ...any) { fmt.Fprintf(&t.b, format+"\n", args...) }

// Add writes what another text holds.
func (t *Items) Add(other *Items) {
	for _, x := range other.items {
		t.items = append(t.items, item{t.b.Len() + x.start, x.from})
	}
	t.b.WriteString(other.b.String())
}

// Format returns the text in its normal layout, as a translation of file that has this name. It returns nil after
// reporting an error.
func (t *Items) Format(name string, file *source.File, list *diag.List) *source.File {
	formatted, err := parser.Format(name, t.b.String())
	if err == nil {
		return source.Translation(name, formatted, t.origins(name, formatted))
	}
	at := source.Span{File: file}
	text := "the translation does not parse; please report it, with the model: " + err.Error()
	if wrong := diag.Of(err); len(wrong) > 0 && wrong[0].Code == parser.CodeDepth {
		text = "an expression has more brackets in each other, or operators in a row, than odes reads: give its " +
			"parts names, by assignment rules"
		i := sort.Search(len(t.items), func(i int) bool { return t.items[i].start > wrong[0].Span.Start }) - 1
		if i >= 0 && t.items[i].from.What != "" {
			at, text = t.items[i].from.Span, t.items[i].from.What+": "+text
		}
	}
	list.Errorf(parser.CodeForeignFile, at, "%s", text)
	return nil
}

// origins returns a function that says what is at an offset of the formatted text, which has the items of the text in
// their order. It looks for them when it is first asked.
func (t *Items) origins(name, formatted string) func(int) (source.Origin, bool) {
	starts := sync.OnceValue(func() []int {
		var list []int
		for _, x := range parser.Parse(source.NewFile(name, formatted), new(diag.List)).Items {
			list = append(list, x.Pos().Start)
		}
		return list
	})
	items := t.items // and not t: its text would live as long as the model
	return func(offset int) (from source.Origin, ok bool) {
		i := sort.SearchInts(starts(), offset+1) - 1
		if i < 0 || i >= len(items) {
			return from, false
		}
		return items[i].from, items[i].from.What != ""
	}
}
