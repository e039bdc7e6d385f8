package repl

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// splice replaces bytes of a text by a piece of what was entered.
type splice struct {
	start, end int
	before     string // inserted before the piece
	from, to   int    // bytes of the entry
	after      string
}

// piece says which bytes of a text came from which bytes of an entry. Where the text has something
// else in the place of a name, span is the number of bytes of the name, and every byte of the text
// corresponds to the whole name.
type piece struct{ at, from, n, span int }

// begin and end return where in the entry a range of the text begins and ends.
func (p piece) begin(at int) int {
	if p.span > 0 {
		return p.from
	}
	return p.from + at - p.at
}

func (p piece) end(at int) int {
	if p.span > 0 {
		return p.from + p.span
	}
	return p.from + min(at, p.at+p.n) - p.at
}

// apply makes the replacements, which do not overlap.
func apply(text, entry string, list []splice) (string, []piece) {
	slices.SortStableFunc(list, func(a, b splice) int { return cmp.Compare(a.start, b.start) })
	var b strings.Builder
	var pieces []piece
	at := 0
	for _, s := range list {
		b.WriteString(text[at:s.start] + s.before)
		pieces = append(pieces, piece{at: b.Len(), from: s.from, n: s.to - s.from})
		b.WriteString(entry[s.from:s.to] + s.after)
		at = s.end
	}
	b.WriteString(text[at:])
	return b.String(), pieces
}

// remap moves the places of diagnostics from the text that an entry became a part of to the entry.
func (ws *workspace) remap(list []diag.Diagnostic, entry *source.File, pieces []piece) []diag.Diagnostic {
	move := func(at source.Span) source.Span {
		if at.IsZero() || at.File.Name() != ws.name() {
			return at
		}
		for i, p := range pieces {
			if at.Start < p.at || at.Start > p.at+p.n || at.End < p.at ||
				at.Start == p.at+p.n && i+1 < len(pieces) && pieces[i+1].at == at.Start {
				continue
			}
			end := p.end(at.End)
			for _, q := range pieces[i+1:] {
				if at.End > q.at && at.End <= q.at+q.n {
					end = max(end, q.end(at.End))
				}
			}
			return source.Span{File: entry, Start: p.begin(at.Start), End: end}
		}
		return at
	}
	out := slices.Clone(list)
	for i := range out {
		out[i].Span = move(out[i].Span)
		out[i].Related = slices.Clone(out[i].Related)
		for k := range out[i].Related {
			out[i].Related[k].Span = move(out[i].Related[k].Span)
		}
		out[i].Fixes = nil // fixes are meant for files
	}
	return out
}

// key identifies a declaration: two items with the same key declare the same thing. The key ""
// equals no other.
func key(it parser.Item, p parser.Part) string {
	switch {
	case p.Add, it.Kind == "import":
		return ""
	case it.Kind == "time", it.Kind == "model":
		return it.Kind
	}
	return strings.Join(strings.Fields(p.Name), "")
}

// isBlock tells whether an item is a settings block, whose keys are merged.
func isBlock(it parser.Item) bool {
	word, _, _ := strings.Cut(it.Kind, " ")
	return parser.IsBlock(word)
}

// enter adds items to the model's text. A declaration replaces the one of the same name.
func (ws *workspace) enter(w io.Writer, input string) error {
	items, err := parser.Outline(Entry, input)
	if err != nil {
		return err
	}
	text, pieces, did, err := ws.merge(input, items)
	if err != nil {
		return err
	}
	return ws.accept(w, text, input, pieces, did)
}

// merge puts items into the text of the model.
func (ws *workspace) merge(input string, items []parser.Item) (string, []piece, string, error) {
	old, err := parser.Outline(ws.name(), ws.now.text)
	if err != nil {
		return "", nil, "", err
	}
	b := blend{text: ws.now.text, old: old, gone: map[[2]int]bool{}, homes: map[int][]splice{}}
	var did []string
	last := 0 // the end of the item before
	for _, it := range items {
		found := b.put(it)
		what := it.Kind
		var names []string
		for _, p := range it.Parts {
			names = append(names, p.Name)
		}
		what = strings.TrimSpace(what + " " + strings.Join(names, ", "))
		if found {
			did = append(did, what+": changed")
			last = it.End
			continue
		}
		did = append(did, what+": added")
		gap := "\n"
		if ws.now.text == "" || strings.HasSuffix(ws.now.text, "\n") {
			gap = ""
		}
		from, to := withComments(input, last, it)
		last = to
		b.list = append(b.list, splice{
			start: len(ws.now.text), end: len(ws.now.text), before: gap, from: from, to: to,
			after: "\n",
		})
	}
	text, pieces := apply(ws.now.text, input, b.splices())
	return text, pieces, strings.Join(did, "; "), nil
}

// withComments returns the bytes of an item together with the comments above it, from last on, and
// the comment behind it on its line.
func withComments(input string, last int, it parser.Item) (from, to int) {
	from, to = last, it.End
	for from < it.Start && strings.ContainsRune(" \t\r\n;", rune(input[from])) {
		from++
	}
	if !strings.HasPrefix(input[from:], "#") {
		from = it.Start
	}
	line, _, _ := strings.Cut(input[to:], "\n")
	if strings.HasPrefix(strings.TrimLeft(line, " \t;"), "#") {
		to += len(strings.TrimRight(line, " \t\r"))
	}
	return from, to
}

// blend is an entry that goes into a text. Parts of lists are replaced or taken out one by one, and each only once;
// what is then left of every old item is decided for the item as a whole.
type blend struct {
	text  string
	old   []parser.Item
	list  []splice         // of parts and keys that others replace, and of what is new
	gone  map[[2]int]bool  // item and part in old: whether it is taken out, not replaced
	homes map[int][]splice // new items that come in the place of an old one, or behind it
}

// put puts a new item where the old ones stand that declare the same. It returns false if there are none.
func (b *blend) put(it parser.Item) (found bool) {
	for _, p := range it.Parts {
		if isBlock(it) {
			found = b.putKey(it, p) || found
			continue
		}
		for i, o := range b.old {
			for k, q := range o.Parts {
				if isBlock(o) || key(it, p) == "" || key(it, p) != key(o, q) || !b.take(i, k) {
					continue
				}
				switch {
				case !found && len(o.Parts) > 1 && len(it.Parts) == 1 && o.Kind == it.Kind: // a part for a part
					b.gone[[2]int{i, k}] = false
					b.list = append(b.list, splice{start: q.Start, end: q.End, from: p.Start, to: p.End})
				case !found:
					b.homes[i] = append(b.homes[i], splice{from: it.Start, to: it.End})
				}
				found = true
			}
		}
	}
	return found
}

// take notes that a part of an old item goes. It returns false if that was so before.
func (b *blend) take(item, part int) bool {
	at := [2]int{item, part}
	if _, before := b.gone[at]; before {
		return false
	}
	b.gone[at] = true
	return true
}

// putKey puts a key of a settings block into the block of the same name.
func (b *blend) putKey(it parser.Item, p parser.Part) bool {
	for i, o := range b.old {
		if o.Kind != it.Kind {
			continue
		}
		for k, q := range o.Parts {
			if q.Name == p.Name && b.take(i, k) {
				b.gone[[2]int{i, k}] = false
				b.list = append(b.list, splice{start: q.Start, end: q.End, from: p.Start, to: p.End})
				return true
			}
		}
		end := o.Start + strings.LastIndexByte(b.text[o.Start:o.End], '}')
		b.list = append(b.list, splice{start: end, end: end, before: " ", from: p.Start, to: p.End, after: " "})
		return true
	}
	return false
}

// splices returns what makes the new text of the old one. They do not overlap.
func (b *blend) splices() []splice {
	list := b.list
	for i, o := range b.old {
		left := len(o.Parts)
		for k := range o.Parts {
			if b.gone[[2]int{i, k}] {
				left--
			}
		}
		homes := b.homes[i]
		switch {
		case left == len(o.Parts):
			continue
		case left == 0:
			s := splice{start: o.Start, end: o.End}
			if len(homes) > 0 {
				s.from, s.to = homes[0].from, homes[0].to
				homes = homes[1:]
			} else if strings.HasPrefix(b.text[o.End:], "\n") && (o.Start == 0 || b.text[o.Start-1] == '\n') {
				s.end++ // the whole line
			}
			list = append(list, s)
		default:
			list = append(list, b.cuts(i)...)
		}
		for _, s := range homes { // behind what is left of the item
			s.start, s.end, s.before = o.End, o.End, "\n"
			list = append(list, s)
		}
	}
	return list
}

// cuts takes parts out of a list of which others stay, with their commas.
func (b *blend) cuts(item int) (list []splice) {
	parts := b.old[item].Parts
	gone := func(k int) bool { return k < len(parts) && b.gone[[2]int{item, k}] }
	for k := 0; k < len(parts); k++ {
		if !gone(k) {
			continue
		}
		s := splice{start: parts[k].Start}
		if k > 0 {
			s.start = parts[k-1].End
		}
		first := k == 0
		for gone(k + 1) {
			k++
		}
		s.end = parts[k].End
		if first {
			s.end = parts[k+1].Start
		}
		list = append(list, s)
	}
	return list
}

// Codes of diagnostics that an unfinished model may have.
const (
	codeMissing    = "missing-item"
	codeNoEquation = "missing-equation"
	codeUndefined  = "undefined-name"
	codeTrajectory = "value-of-trajectory"
	codeNoEffect   = "no-influence"
)

// draftable reports whether the errors only say that something has not been entered yet.
func (ws *workspace) draftable(list []diag.Diagnostic) bool {
	building := ws.now.model == nil
	for _, d := range list {
		if d.Level != diag.Error {
			continue
		}
		switch d.Code {
		case codeMissing, codeNoEquation:
		case codeUndefined:
			if !building {
				return false
			}
		default:
			return false
		}
	}
	return true
}

// accept checks a new text and makes it the model's. If it is wrong, it reports the errors at their
// places in the entry.
func (ws *workspace) accept(w io.Writer, text, entry string, pieces []piece, did string) error {
	st := ws.now
	st.text, st.model, st.missing = text, nil, nil
	m, err := ws.parse(text)
	file := source.NewFile(Entry, entry)
	if err != nil {
		list := diag.Of(err)
		if list == nil {
			return err
		}
		if !ws.draftable(list) {
			return &diag.ListError{Diagnostics: ws.remap(list, file, pieces)}
		}
		st.missing = list
		ws.move(st, did)
		ws.Say(w, "%s\nnot complete yet: %s", did, list[0].Message)
		return nil
	}
	if len(st.set) > 0 {
		if _, err := m.Symbols(st.set); err != nil { // what was set no longer exists or has another shape
			st.set = nil
			did += " (values set before are dropped)"
		}
	}
	st.model = m
	before := map[string]bool{}
	if ws.now.model != nil {
		for _, d := range ws.now.model.Warnings() {
			before[string(d.Code)+d.Message] = true
		}
	}
	ws.move(st, did)
	ws.Say(w, "%s", did)
	var fresh []diag.Diagnostic
	for _, d := range m.Warnings() {
		if !before[string(d.Code)+d.Message] {
			fresh = append(fresh, d)
		}
	}
	ws.diagnose(w, ws.remap(fresh, file, pieces))
	return nil
}

// remove deletes the declaration of a name.
func (ws *workspace) remove(w io.Writer, name string) error {
	old, err := parser.Outline(ws.name(), ws.now.text)
	if err != nil {
		return err
	}
	b := blend{text: ws.now.text, old: old, gone: map[[2]int]bool{}}
	for i, o := range old {
		for k, q := range o.Parts {
			if !isBlock(o) && strings.Join(strings.Fields(q.Name), "") == strings.Join(strings.Fields(name), "") {
				b.take(i, k)
			}
		}
	}
	if len(b.gone) == 0 {
		return fmt.Errorf("the model declares no %q%s", name, diag.DidYouMean(name, ws.declared()))
	}
	text, _ := apply(ws.now.text, "", b.splices())
	return ws.accept(w, text, "", nil, name+": removed")
}

// declared lists the names that the text declares.
func (ws *workspace) declared() []string {
	items, _ := parser.Outline(ws.name(), ws.now.text)
	var names []string
	for _, it := range items {
		if isBlock(it) || it.Kind == "model" {
			continue
		}
		for _, p := range it.Parts {
			name, _, _ := strings.Cut(strings.TrimSuffix(p.Name, "'"), "[")
			names = append(names, strings.TrimSpace(name))
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
