package ast

import (
	"slices"
	"strings"
)

// Format returns a file in the normal layout: one item a line, at most one blank line in a row, one
// space around operators that bind loosely and none around those that bind tightly, blocks indented
// by two, columns aligned in groups of similar items. Comments, line breaks inside items and the
// writer's own indentation of continued lines stay. Format is idempotent.
//
// A file with an item that did not parse comes back as it is. A file that holds other errors should
// not be formatted. A tree made by a program, which has no tokens, is written item by item.
func Format(f *File) string {
	if f.Tokens == nil && len(f.Items) > 0 {
		var b strings.Builder
		for _, item := range f.Items {
			for line := range strings.Lines(docOf(item)) {
				b.WriteString("## " + strings.TrimRight(line, "\n") + "\n")
			}
			b.WriteString(ItemString(item) + "\n")
		}
		return b.String()
	}
	for _, item := range f.Items {
		if _, bad := item.(*Bad); bad {
			return f.Source.Text()
		}
	}
	if len(f.Items) == 0 && slices.ContainsFunc(f.Tokens, func(t Token) bool { return t.Text != ";" }) {
		return f.Source.Text()
	}
	l := newLayout(f)
	l.arrange()
	align(l.out)
	return l.text()
}

// cell is a piece of a line. Cells of the same slot are aligned within a group of lines.
type cell struct {
	slot int
	gap  int // least number of spaces before it
	text strings.Builder
}

// line is a line of output.
type line struct {
	blank   bool // a blank line stands before it
	indent  int
	cells   []*cell
	class   string // consecutive lines of one class are aligned; "" for none
	comment string // behind the cells, or alone

	head *line // the setting that this line continues; nil for none
	sign int   // of a setting: the column of its = in the source, moved along with the statement
}

// layout distributes tokens and comments over lines.
type layout struct {
	file  *File
	lines Lines
	items map[int]Item // by the offset where they start
	out   []*line

	statements map[int]bool // offsets where a part of a block starts
	settings   map[int]bool // offsets of settings
	signs      map[int]bool // offsets of unary operators
	units      map[int]bool // offsets of the brackets of units
	arrays     map[int]bool // offsets of the brackets of arrays; true where one spans lines
	groups     map[int]bool // offsets of parentheses that group
	cells      map[int]cell // offsets where a cell starts

	brackets []byte // open ones: u(nit) i(ndex) a(rray) t(able: an array over lines) c(all) g(roup) b(lock)
	opened   []int  // for each open block, the number of lines there were at its brace
	loop     int    // len(brackets) where a `for` is being read, or -1
	shift    int    // how far the statement has moved to the right
	head     *line  // the setting that is being read, or nil
}

func newLayout(f *File) *layout {
	l := &layout{
		file: f, lines: LinesOf(f), items: map[int]Item{}, statements: map[int]bool{}, settings: map[int]bool{},
		signs: map[int]bool{}, units: map[int]bool{},
		arrays: map[int]bool{}, groups: map[int]bool{}, cells: map[int]cell{}, loop: -1,
	}
	for _, item := range f.Items {
		l.items[item.Pos().Start] = item
	}
	Inspect(f, func(n Node) bool {
		at := n.Pos().Start
		switch n := n.(type) {
		case *Affect, *ExpItem:
			l.statements[at] = true
		case *Setting, *UseSet:
			l.statements[at] = true
			l.settings[at] = true
		case *Let:
			l.statements[at] = true
		case *Unary:
			l.signs[at] = n.Op != Not
		case *Unit:
			l.units[at] = true
		case *Array:
			l.arrays[at] = strings.Contains(n.Span.Text(), "\n")
		case *Paren:
			l.groups[at] = true
		}
		return true
	})
	return l
}

// source returns token i as it is written out.
func (l *layout) source(i int) string {
	t := &l.file.Tokens[i]
	switch t.Kind {
	case IdentToken, KeywordToken, SignToken:
		return t.Text
	case QuotedToken:
		return "`" + t.Text + "`"
	}
	return l.file.Source.Text()[t.Start:t.End]
}

// is reports whether token i is the sign or keyword text.
func (l *layout) is(i int, text string) bool {
	if i < 0 || i >= len(l.file.Tokens) {
		return false
	}
	t := &l.file.Tokens[i]
	return (t.Kind == SignToken || t.Kind == KeywordToken) && t.Text == text
}

func (l *layout) blocks() int { return strings.Count(string(l.brackets), "b") }

func (l *layout) top() byte {
	if len(l.brackets) == 0 {
		return 0
	}
	return l.brackets[len(l.brackets)-1]
}

// arrange distributes all tokens and comments.
func (l *layout) arrange() {
	tokens, comments := l.file.Tokens, l.file.Comments
	end := 0 // of what was written last
	last := -1
	for i, c := 0, 0; i < len(tokens) || c < len(comments); {
		if c < len(comments) && (i == len(tokens) || comments[c].Span.Start < tokens[i].Start) {
			l.comment(c, i, end)
			end = comments[c].Span.End
			c++
			continue
		}
		if l.is(i, ";") && l.dropped(i) {
			i++
			continue
		}
		t := &tokens[i]
		item := l.items[t.Start]
		newLine := last < 0 || l.lines.Of[i] != l.lines.Of[last]
		switch {
		case item != nil:
			l.brackets, l.opened, l.loop = l.brackets[:0], l.opened[:0], -1
			l.begin(i, end, 0)
			l.group(i, item)
		case l.is(i, "}") && (newLine || l.spread()):
			l.begin(i, end, 2*(l.blocks()-1))
		case newLine && (l.statements[t.Start] || l.is(i, "return")):
			l.begin(i, end, 2*l.blocks())
			l.setting(i)
		case newLine:
			l.begin(i, end, l.continued(t.Start))
			l.out[len(l.out)-1].head = l.head
		default:
			l.add(i, last)
		}
		l.track(i)
		end, last = t.End, i
		i++
	}
}

// dropped reports whether the semicolon i has no effect: between items, and at the end of a line or
// block.
func (l *layout) dropped(i int) bool {
	if l.blocks() == 0 || i+1 == len(l.file.Tokens) {
		return true
	}
	return l.file.Tokens[i].NewLine || l.file.Tokens[i+1].NewLine || l.is(i+1, "}") || l.is(i+1, ";")
}

// spread reports whether the open block takes several lines.
func (l *layout) spread() bool {
	return len(l.opened) > 0 && l.opened[len(l.opened)-1] != len(l.out)
}

// begin starts a line with token i.
func (l *layout) begin(i, end, indent int) {
	t := &l.file.Tokens[i]
	text := l.file.Source.Text()
	blank := len(l.out) > 0 && emptyLine(text[end:t.Start]) && !l.is(i, "}") && !l.opens()
	n := &line{blank: blank, indent: indent, cells: []*cell{{}}}
	n.cells[0].text.WriteString(l.source(i))
	l.out = append(l.out, n)
	if l.items[t.Start] != nil || l.statements[t.Start] || l.is(i, "}") || l.is(i, "return") {
		l.shift = indent - l.column(l.lineStart(t.Start))
		l.head = nil
	}
}

// opens reports whether the last line ends with an opening brace.
func (l *layout) opens() bool {
	n := l.out[len(l.out)-1]
	return len(n.cells) > 0 && strings.HasSuffix(n.cells[len(n.cells)-1].text.String(), "{")
}

// lineStart returns the offset of the first thing on the line that holds off.
func (l *layout) lineStart(off int) int {
	text := l.file.Source.Text()
	i := l.file.Source.LineStart(l.file.Source.LineAt(off))
	for i < off && (text[i] == ' ' || text[i] == '\t' || text[i] == '\r') {
		i++
	}
	return i
}

// column returns how many columns off stands from the left, where only blanks precede it.
func (l *layout) column(off int) int {
	text := l.file.Source.Text()
	n := 0
	for i := l.file.Source.LineStart(l.file.Source.LineAt(off)); i < off; i++ {
		switch text[i] {
		case '\t':
			n += 4 - n%4
		case '\r':
		default:
			n++
		}
	}
	return n
}

// maxIndent bounds the indentation of continued lines that is kept.
const maxIndent = 80

// continued returns the indentation of a continued line: the writer's, moved
// along with the statement, but at least two more than the block's.
func (l *layout) continued(off int) int {
	return max(2*l.blocks()+2, min(l.column(off)+l.shift, maxIndent))
}

// comment places comment c: behind what stands on its line, or on a line of its own. Token next is
// the one that follows it, and end is where what precedes it ends.
func (l *layout) comment(c, next, end int) {
	it := l.file.Comments[c]
	if l.lines.Comments[c].Behind {
		l.out[len(l.out)-1].comment = it.Text
		return
	}
	for l.is(next, ";") {
		next++
	}
	indent := 2 * l.blocks()
	var head *line
	if next < len(l.file.Tokens) {
		t := &l.file.Tokens[next]
		if l.items[t.Start] != nil {
			indent = 0
		} else if !l.statements[t.Start] && !l.is(next, "}") && !l.is(next, "return") {
			indent, head = l.continued(it.Span.Start), l.head
		}
	}
	blank := len(l.out) > 0 && emptyLine(l.file.Source.Text()[end:it.Span.Start]) && !l.opens()
	l.out = append(l.out, &line{blank: blank, indent: indent, comment: it.Text, head: head})
}

// add puts token i on the current line, behind token last.
func (l *layout) add(i, last int) {
	n := l.out[len(l.out)-1]
	c := n.cells[len(n.cells)-1]
	if next, ok := l.cells[l.file.Tokens[i].Start]; ok && n.class != "" {
		c = &cell{slot: next.slot, gap: next.gap}
		n.cells = append(n.cells, c)
	} else {
		c.text.WriteString(strings.Repeat(" ", l.space(last, i)))
	}
	c.text.WriteString(l.source(i))
}

// track updates the open brackets and the loop after token i.
func (l *layout) track(i int) {
	t := &l.file.Tokens[i]
	switch {
	case l.is(i, "for"):
		l.loop = len(l.brackets)
	case t.Kind != SignToken:
	case t.Text == "(" || t.Text == "[" || t.Text == "{":
		l.brackets = append(l.brackets, l.kind(i))
		if t.Text == "{" {
			l.opened = append(l.opened, len(l.out))
		}
	case t.Text == ")" || t.Text == "]" || t.Text == "}":
		if len(l.brackets) > 0 {
			l.brackets = l.brackets[:len(l.brackets)-1]
		}
		if t.Text == "}" && len(l.opened) > 0 {
			l.opened = l.opened[:len(l.opened)-1]
		}
		if l.loop > len(l.brackets) {
			l.loop = -1
		}
	}
}

// kind classes the opening bracket i.
func (l *layout) kind(i int) byte {
	start := l.file.Tokens[i].Start
	multi, array := l.arrays[start]
	switch {
	case l.is(i, "{"):
		return 'b'
	case l.top() == 'u' || l.units[start]:
		return 'u'
	case array && (multi || l.top() == 't'):
		return 't'
	case array || l.is(i, "[") && l.is(i-1, "in"):
		return 'a'
	case l.is(i, "["):
		return 'i'
	case l.groups[start]:
		return 'g'
	}
	return 'c'
}

// text joins the lines.
func (l *layout) text() string {
	var b strings.Builder
	for _, n := range l.out {
		if n.blank {
			b.WriteByte('\n')
		}
		var body strings.Builder
		body.WriteString(strings.Repeat(" ", n.indent))
		for _, c := range n.cells {
			body.WriteString(strings.Repeat(" ", c.gap))
			body.WriteString(c.text.String())
		}
		body.WriteString(n.comment)
		b.WriteString(strings.TrimRight(body.String(), " "))
		b.WriteByte('\n')
	}
	return b.String()
}
