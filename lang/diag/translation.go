package diag

import (
	"fmt"

	"odes.dev/odes/lang/source"
)

// told is d as it is told to those who wrote the files that a translation was made from, and have not seen the
// translation: with the places that its places were made from. The place in the translation follows, since only there
// can one see which part of an expression is meant.
func (d *Diagnostic) told() Diagnostic {
	t := *d
	t.Related = nil
	if from, ok := d.Span.Origin(); ok {
		t.Span = from.Span
		t.Message = from.What + ": " + d.Message
		t.Related = append(t.Related, Related{d.Span, "this is what it becomes"})
	}
	for _, n := range d.Related {
		if from, ok := n.Span.Origin(); ok {
			n = Related{from.Span, from.What + ": " + n.Message}
		}
		t.Related = append(t.Related, n)
	}
	return t
}

// placed writes where at begins. A translation has the name of what it was made from, whose lines are others.
func placed(at source.Span) string {
	b := at.Begin()
	return fmt.Sprintf("%s:%d:%d:", nameOf(at.File), b.Line, b.Column)
}

func nameOf(f *source.File) string {
	if f.IsTranslation() {
		return f.Name() + " (translated)"
	}
	return f.Name()
}
