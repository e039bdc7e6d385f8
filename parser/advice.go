package parser

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// advice recognises a mistake in the text of a model, and says what to write instead. Tables of advice are read from
// the top; the first row that fits answers.
type advice struct {
	example string // a text that this row answers

	// What the row fits: every condition that is given must hold. Lists are separated by spaces.
	next   string // the token that does not fit is one of these signs and keywords
	name   string // or one of these names
	before string // the token before it
	after  string // the token behind it
	wants  string // the grammar would go on with this sign or keyword
	item   string // the item starts with one of these words
	glued  bool   // the token goes on behind an item, on its line
	when   func(*site) bool

	// What it answers.
	code    diag.Code                // CodeUnexpected where none is given
	at      func(*site) source.Span  // onNext where none is given
	message string                   // the names in braces are those of [site.fill]
	fix     replacement              // none where its place is nil
	tell    func(s *site) (did bool) // instead of a message; the next rows are tried when it did nothing
}

// replacement is the fix of a row: what to write in a place, and what to call it.
type replacement struct {
	over        func(*site) source.Span
	text, label string
}

// site is a place where the tokens do not fit the grammar.
type site struct {
	*reporter
	start    int                  // the first token of the item, or the next one where none starts
	before   *ast.Token           // an empty one where there is none
	next     *ast.Token           // the one that does not fit
	after    *ast.Token           // behind the next one
	third    *ast.Token           // behind that
	expected []string             // what would have fitted: signs and keywords in quotes, and parts
	glued    bool                 // next stands behind an item, on its line
	word     func() (word string) // that the item starts with, or the one before
}

// site describes the place before the next token.
func (r *reporter) site() *site {
	t := r.peek()
	s := &site{
		reporter: r, start: r.i, before: new(ast.Token), next: t, after: r.ahead(1), third: r.ahead(2),
		word: r.itemWord,
	}
	if r.i > 0 {
		s.before = &r.tokens[r.i-1]
		s.glued = !t.NewLine && !isToken(s.before, ";")
	}
	return s
}

// answer reports what is wrong, by the first row that fits.
func (s *site) answer(table []advice) {
	for i := range table {
		r := &table[i]
		if !r.fits(s) || r.tell != nil && !r.tell(s) {
			continue
		}
		s.reporter.advice = r
		if r.tell == nil {
			r.report(s)
		}
		return
	}
}

func (r *advice) fits(s *site) bool {
	return (r.next == "" || isOneOf(s.next, r.next)) &&
		(r.name == "" || isName(s.next) && lists(r.name, s.next.Text)) &&
		(r.before == "" || isOneOf(s.before, r.before)) &&
		(r.after == "" || isOneOf(s.after, r.after)) &&
		(r.wants == "" || s.wants(r.wants)) &&
		(!r.glued || s.glued) &&
		(r.item == "" || lists(r.item, s.word())) &&
		(r.when == nil || r.when(s))
}

func (r *advice) report(s *site) {
	code, at := r.code, r.at
	if code == "" {
		code = CodeUnexpected
	}
	if at == nil {
		at = onNext
	}
	d := s.fail(code, at(s), "%s", s.fill(r.message))
	if r.fix.over != nil {
		d.Fix(r.fix.over(s), s.fill(r.fix.text), s.fill(r.fix.label))
	}
}

// fill replaces names in braces by what stands at s.
func (s *site) fill(message string) string {
	if !strings.Contains(message, "{") {
		return message
	}
	return strings.NewReplacer(
		"{before}", s.before.Text, "{next}", s.next.Text, "{after}", s.after.Text, // as they mean
		"{item}", s.word(), // the word that the item starts with
		"{found}", s.found(), "{last}", describe(s.before, false), // next and before, described
		"{behind}", s.behind(), // " after" the one before
		"{text}", s.at(s.next).Text(), // next, as it is written
		"{meant}", s.meantWord(s.next, s.after), // the item word that was meant
		"{declaration}", s.behindDeclaration(), // the word of the declaration that just ended
		"{place}", belongs(s.next.Text), // where a reserved word belongs
	).Replace(message)
}

// lists reports whether a list separated by spaces has a word.
func lists(list, word string) bool { return slices.Contains(strings.Fields(list), word) }

// isOneOf reports whether t is one of the signs and keywords of a list.
func isOneOf(t *ast.Token, list string) bool {
	return (t.Kind == ast.SignToken || t.Kind == ast.KeywordToken) && lists(list, t.Text)
}

// wants reports whether the sign or keyword text would have fitted.
func (s *site) wants(text string) bool { return slices.Contains(s.expected, `"`+text+`"`) }

// Places of messages and fixes.

func onNext(s *site) source.Span   { return s.at(s.next) }
func onBefore(s *site) source.Span { return s.at(s.before) }
func onFirst(s *site) source.Span  { return s.at(&s.tokens[s.start]) }
func inGap(s *site) source.Span    { return s.gap() }

// onComma is the second token before the next one.
func onComma(s *site) source.Span { return s.at(&s.tokens[s.i-2]) }

func beforeToNext(s *site) source.Span { return onBefore(s).To(onNext(s)) }
func nextToAfter(s *site) source.Span  { return onNext(s).To(s.at(s.after)) }
func nextToThird(s *site) source.Span  { return onNext(s).To(s.at(s.third)) }
func afterToThird(s *site) source.Span { return s.at(s.after).To(s.at(s.third)) }

// The places in front of and behind tokens are empty.

func atBefore(s *site) source.Span     { return s.span(s.before.Start, s.before.Start) }
func behindBefore(s *site) source.Span { return s.span(s.before.End, s.before.End) }
func atNext(s *site) source.Span       { return s.span(s.next.Start, s.next.Start) }
func behindNext(s *site) source.Span   { return s.span(s.next.End, s.next.End) }

// between is the gap between the token before and the next one; withNext includes the next one.
func between(s *site) source.Span  { return s.span(s.before.End, s.next.Start) }
func withNext(s *site) source.Span { return s.span(s.before.End, s.next.End) }
