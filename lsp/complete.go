package lsp

import (
	"context"
	"io/fs"
	"path"
	"slices"
	"sort"
	"strings"

	"odes.dev/odes/data"
	"odes.dev/odes/help"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/policy"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
	"odes.dev/odes/typecheck"
)

// cursor is where something is being written. It relies on the tokens before it, because such a text seldom parses.
type cursor struct {
	tokens []ast.Token // before the cursor, without the word that ends there
	word   string      // that word, as far as it is written
	start  int         // where it begins
	item   int         // the token that begins the item; -1: there is none
	kind   string      // the word that the item begins with; "equation", or "" where an item is to begin
	open   []int       // tokens that open the brackets around the cursor, outermost first
}

// cursorAt reads the tokens before off.
func cursorAt(d *document, off int) *cursor {
	all := d.syntax().tree.Tokens
	n := sort.Search(len(all), func(i int) bool { return all[i].Start >= off })
	c := &cursor{tokens: all[:n], start: off, item: -1}
	fresh := false // the word begins a line
	if n > 0 && all[n-1].End >= off {
		switch t := &all[n-1]; t.Kind {
		case ast.IdentToken, ast.KeywordToken, ast.QuotedToken:
			c.word, c.start, fresh = d.text.s[t.Start:off], t.Start, t.NewLine
			c.tokens = all[:n-1]
		}
	}
	if c.word == "" {
		end := 0
		if n > 0 {
			end = all[n-1].End
		}
		fresh = n == 0 || strings.ContainsAny(d.text.s[min(end, off):off], "\n\r")
	}
	for i := len(c.tokens) - 1; i >= 0 && c.item < 0; i-- {
		switch t := &c.tokens[i]; {
		case t.Kind == ast.KeywordToken && parser.StartsItem(t.Text) && !(t.Text == "let" && c.inBody(i)):
			c.item, c.kind = i, t.Text
		case c.startsDoses(i):
			c.item, c.kind = i, ofDoses
		case t.NewLine && t.Kind != ast.KeywordToken && c.equation(i):
			c.item, c.kind = i, "equation"
		}
	}
	for i := max(c.item, 0); i < len(c.tokens); i++ {
		if c.tokens[i].Kind != ast.SignToken {
			continue
		}
		switch c.tokens[i].Text {
		case "(", "[", "{":
			c.open = append(c.open, i)
		case ")", "]", "}":
			c.open = c.open[:max(0, len(c.open)-1)]
		}
	}
	if last := c.last(); len(c.open) == 0 &&
		(last == nil || last.Text == "}" || last.Text == ";" || fresh && !continues(last)) {
		c.kind, c.item = "", -1
	}
	return c
}

// startsDoses reports whether token i starts `doses D {`.
func (c *cursor) startsDoses(i int) bool {
	return c.tokens[i].Text == ofDoses && c.tokens[i].Kind == ast.IdentToken && i+2 < len(c.tokens) &&
		c.tokens[i+2].Text == "{"
}

// inBody reports whether the token at i stands within braces, as far as the tokens before it tell, back to an item.
func (c *cursor) inBody(i int) bool {
	depth := 0
	for i--; i >= 0; i-- {
		switch t := &c.tokens[i]; {
		case t.Text == "}" && t.Kind == ast.SignToken:
			depth++
		case t.Text == "{" && t.Kind == ast.SignToken:
			if depth--; depth < 0 {
				return true
			}
		case t.Kind == ast.KeywordToken && depth == 0 && t.Text != "let" && parser.StartsItem(t.Text):
			return false
		}
	}
	return false
}

// equation reports whether x', x[i]' … begins at token i.
func (c *cursor) equation(i int) bool {
	for j := i + 1; j < len(c.tokens) && j < i+40 && !c.tokens[j].NewLine; j++ {
		switch c.tokens[j].Text {
		case "'":
			return true
		case "=", "(", "{", ",":
			if c.tokens[j].Text != "," {
				return false
			}
		}
	}
	return false
}

// continues reports whether an item goes on behind t.
func continues(t *ast.Token) bool {
	return t.Kind == ast.SignToken && !slices.Contains([]string{")", "]", "}", "'"}, t.Text) ||
		t.Kind == ast.KeywordToken && t.Text != "end" && t.Text != "stop"
}

func (c *cursor) last() *ast.Token {
	if len(c.tokens) == 0 {
		return nil
	}
	return &c.tokens[len(c.tokens)-1]
}

// before returns the text of the n-th token before the cursor, from 1; "" when there is none.
func (c *cursor) before(n int) string {
	if n > len(c.tokens) {
		return ""
	}
	return c.tokens[len(c.tokens)-n].Text
}

// inUnit reports whether the cursor stands in the brackets of a unit.
func (c *cursor) inUnit() bool {
	return slices.ContainsFunc(c.open, func(i int) bool { return c.tokens[i].Text == "[" && c.unitBracket(i) })
}

// unitBracket reports whether the bracket at token i begins a unit: behind a number, an array, a colon or `as`.
func (c *cursor) unitBracket(i int) bool {
	if i == 0 {
		return false
	}
	switch t := &c.tokens[i-1]; {
	case t.Kind == ast.NumberToken, t.Text == "as" && t.Kind == ast.KeywordToken:
		return true
	case t.Text == ":":
		return true
	case t.Text == "]" && t.Kind == ast.SignToken:
		depth := 0
		for j := i - 1; j > 0; j-- {
			switch c.tokens[j].Text {
			case "]":
				depth++
			case "[":
				if depth--; depth == 0 { // an array, and not an index: nothing to be indexed stands before it
					before := &c.tokens[j-1]
					return before.Kind != ast.IdentToken && before.Kind != ast.QuotedToken && before.Text != ")"
				}
			}
		}
	}
	return false
}

// brace returns the word of the item whose braces are the innermost brackets around the cursor; "" for other brackets.
func (c *cursor) brace() string {
	if n := len(c.open); n > 0 && c.tokens[c.open[n-1]].Text == "{" {
		return c.kind
	}
	return ""
}

// setting returns the block and, where a value is being written, its key.
func (c *cursor) setting() (block, key string, ok bool) {
	if !parser.IsBlock(c.kind) || len(c.open) == 0 {
		return "", "", false
	}
	at := len(c.tokens)
	if len(c.open) > 1 { // within the brackets of a value
		at = c.open[1]
		for at > 1 && c.tokens[at-1].Text != "=" {
			at--
		}
	}
	if at > 1 && c.tokens[at-1].Text == "=" {
		return c.kind, c.tokens[at-2].Text, true
	}
	return c.kind, "", true
}

// completer collects what may be written.
type completer struct {
	ctx   context.Context
	s     *Server
	d     *document
	c     *cursor
	at    textRange // that is replaced
	items []completionItem
	seen  map[string]bool
}

// mostItems is how long a list may be. A longer one is cut to the items that begin with what is written.
const mostItems = 500

func (p *completer) add(kind, label, detail, doc string, insert string, data ...string) {
	if p.seen[label] || label == "" {
		return
	}
	p.seen[label] = true
	item := completionItem{
		Label: label, Kind: shown[kind].completion, Detail: detail,
		Edit: textEdit{p.at, insert}, Data: data,
	}
	if doc != "" {
		item.Documentation = &markup{"markdown", doc}
	}
	if insert == "" {
		item.Edit.NewText = label
	}
	if strings.Contains(insert, "$") {
		item.Format = 2
	}
	p.items = append(p.items, item)
}

// function adds a function. Its parentheses come with it if the client can put the cursor between them.
func (p *completer) function(name, detail, doc string, data ...string) {
	insert := name
	off := p.d.text.offset(p.at.End, p.s.enc)
	if p.s.client.Capabilities.TextDocument.Completion.CompletionItem.SnippetSupport &&
		!strings.HasPrefix(p.d.text.s[off:], "(") {
		insert = name + "($0)"
	}
	p.add("function", name, detail, doc, insert, data...)
}

// name adds a name of the model.
func (p *completer) name(n *typecheck.Name) {
	if fn, ok := n.Decl.(*ast.Fn); ok {
		p.function(n.Name, form(n.Name, parameters(fn)), n.Doc)
		return
	}
	detail := n.Kind
	if len(n.Type.Shape) > 0 {
		detail += " " + n.Type.Shape.String()
	}
	insert := ""
	head, _, dotted := strings.Cut(n.Name, ".")
	if b := p.d.syntax().index.globals[head]; dotted && b != nil && b.kind == "component" {
		insert = n.Name // of a component
	} else if n.Kind != "column" && parser.Reserved(n.Name) || nameLength(n.Name) < len(n.Name) {
		insert = "`" + n.Name + "`"
	}
	p.add(n.Kind, n.Name, detail+unitSuffix(n.Type), n.Doc, insert)
}

// completion lists what may be written at off.
func (s *Server) completion(ctx context.Context, d *document, off int) (any, error) {
	list := completionList{Items: []completionItem{}}
	tree := d.syntax().tree
	for _, c := range tree.Comments {
		if c.Span.Start < off && off <= c.Span.End {
			return list, nil
		}
	}
	if d.found == nil {
		s.check(ctx, d)
	}
	p := &completer{ctx: ctx, s: s, d: d, c: cursorAt(d, off), seen: map[string]bool{}}
	p.at = d.text.span(p.c.start, off, s.enc)
	if t := tokenAt(tree, off-1); t != nil && t.Kind == ast.StringToken && t.Start < off &&
		(off < t.End || !closed(d.text.s[t.Start:t.End])) {
		p.c.tokens = p.c.tokens[:len(p.c.tokens)-1]
		p.files(d.text.s[t.Start+1:off], off)
	} else {
		p.words()
	}
	if len(p.items) > mostItems {
		list.IsIncomplete = true
		word := strings.ToLower(p.c.word)
		p.items = slices.DeleteFunc(p.items,
			func(i completionItem) bool { return !strings.HasPrefix(strings.ToLower(i.Label), word) })
		p.items = p.items[:min(len(p.items), mostItems)]
	}
	list.Items = append(list.Items, p.items...)
	return list, nil
}

// closed reports whether a string token has its second quote.
func closed(s string) bool {
	return len(s) > 1 && strings.HasSuffix(s, `"`) && !strings.HasSuffix(s, `\"`)
}

// files lists files of the model's folder: models to import, or data.
func (p *completer) files(written string, off int) {
	var endings []string
	switch call := p.c.before(2); {
	case p.c.before(1) == "import" || p.c.before(1) == "from":
		endings = []string{".ode"}
		for _, m := range stdlib.Modules() {
			if !strings.HasPrefix(m, written) {
				continue
			}
			p.at = p.d.text.span(off-len(written), off, p.s.enc)
			p.add("module", m, "built in", "", "", topicOf(help.Module), m)
		}
	case p.c.before(1) == "(" && call == "csv":
		endings = data.TableEndings()
	case p.c.before(1) == "(" && call == "load":
		endings = data.Endings()
	default:
		return
	}
	folder, base := path.Split(written)
	folder = path.Clean(folder)
	if p.d.path == "" || !fs.ValidPath(folder) {
		return
	}
	files := p.s.folder(p.ctx, p.d)
	p.at = p.d.text.span(off-len(base), off, p.s.enc)
	names := map[string]bool{}
	if files.disk != nil {
		entries, _ := fs.ReadDir(files.disk, folder) // a folder that is not there has nothing in it
		for _, e := range entries {
			names[e.Name()] = e.IsDir()
		}
	}
	for name := range files.open {
		if path.Dir(name) == key(path.Join(files.folder, folder)) {
			names[path.Base(name)] = false
		}
	}
	var sorted []string
	for name := range names {
		sorted = append(sorted, name)
	}
	slices.Sort(sorted)
	for _, name := range sorted {
		switch {
		case strings.HasPrefix(name, ".") || folder == "." && name == path.Base(p.d.path):
		case names[name]:
			p.add("folder", name+"/", "", "", "")
		case slices.Contains(endings, path.Ext(name)):
			p.add("file", name, "", "", "")
		}
	}
}

// words lists words and names that may stand at the cursor.
func (p *completer) words() {
	c, survey := p.c, p.d.known()
	block, key, inSettings := c.setting()
	switch {
	case c.before(1) == ".":
		p.parts(survey, c.owner())
		if of := typecheck.Find(survey.Names, c.before(2)); of != nil {
			for i := range of.Members {
				p.name(&of.Members[i])
			}
		}
	case c.inUnit():
		p.units(survey)
	case inSettings && key == "":
		for _, k := range keys.Names(block) {
			p.add("setting", k, "setting of "+block, "", k+" = ", topicOf(help.Setting), block+"."+k)
		}
	case inSettings && keys.Find(block, key).Named() != nil:
		p.names(survey, keys.Find(block, key).Named())
	case inSettings:
		for _, v := range settings.Words(block, key) {
			p.add("value", v, "", "", "", topicOf(help.Method), v)
		}
	case c.kind == "":
		p.itemStart(survey)
	case c.brace() == "use":
		if c.item+3 < len(c.tokens) {
			p.given(survey, c.tokens[c.item+3].Text)
		}
		p.expression(survey)
	case c.brace() == ofDoses && c.before(1) != "=":
		p.dosesItem(survey)
	case c.brace() == "data":
		p.add("column", "time", "the column of times, which every table has", "", "time = ")
	default:
		p.expression(survey)
	}
}

// parts adds what a component has.
func (p *completer) parts(survey *typecheck.Survey, of string) {
	for _, n := range survey.Names {
		if rest, ok := strings.CutPrefix(n.Name, of+"."); ok && of != "" {
			if n.Name = rest; strings.Contains(rest, ".") { // of a component in it
				p.add(n.Kind, rest, n.Kind+unitSuffix(n.Type), n.Doc, rest)
				continue
			}
			p.name(&n)
		}
	}
}

// given adds what a component can be given: params, and the initial values of its states.
func (p *completer) given(survey *typecheck.Survey, of string) {
	for _, n := range survey.Names {
		rest, ok := strings.CutPrefix(n.Name, of+".")
		switch {
		case !ok:
		case n.Kind == "param" || n.Kind == "const":
			p.add(n.Kind, rest, n.Kind+unitSuffix(n.Type), n.Doc, rest+" = ")
		case n.Kind == "state":
			p.add("param", "initial("+rest+")", "initial value"+unitSuffix(n.Type), n.Doc, "initial("+rest+") = ")
		}
	}
}

// owner returns the name before a dot: "c.m" in c[2].m.
func (c *cursor) owner() string {
	name := ""
	for i := len(c.tokens) - 1; i > 0 && c.tokens[i].Text == "."; i-- {
		i--
		for depth := 0; i >= 0; i-- {
			if t := c.tokens[i].Text; t == "]" {
				depth++
			} else if t == "[" {
				depth--
			} else if depth == 0 {
				break
			}
		}
		if i < 0 {
			return ""
		}
		if name != "" {
			name = "." + name
		}
		name = c.tokens[i].Text + name
	}
	return name
}

// dosesItem lists what may stand in `doses D { … }`, but for values: columns of D behind `where`, and else states and
// what is said of doses.
func (p *completer) dosesItem(survey *typecheck.Survey) {
	of := typecheck.Find(survey.Names, p.c.tokens[p.c.item+1].Text)
	for i := len(p.c.tokens) - 1; i > p.c.item; i-- {
		switch p.c.tokens[i].Text {
		case "where":
			if of != nil {
				for k := range of.Members {
					p.name(&of.Members[k])
				}
			}
		case "=", "{":
		default:
			continue
		}
		break
	}
	p.names(survey, []string{"state"})
	for _, w := range []string{"where", "lag", "f", "dur", "rate"} {
		insert := w + " = "
		topic := []string{topicOf(help.Word), recordOf(w)}
		if w == "where" {
			insert, topic = w+" ", []string{topicOf(help.Word), w}
		}
		p.add("setting", w, "of doses", "", insert, topic...)
	}
	if of == nil || p.c.before(1) != "{" {
		return
	}
	for _, name := range []string{"amt", "rate", "dur", "evid", "ii", "addl", "ss", "mdv"} {
		p.add("setting", name, "the column of "+of.Name+" that it is", "", name+" = "+of.Name+".", topicOf(help.Word),
			strings.ToUpper(name))
	}
}

// topicOf names a topic in the data of an item.
func topicOf(t help.Topic) string { return string('a' + rune(t)) }

func (p *completer) units(survey *typecheck.Survey) {
	for i := range survey.Units {
		n := &survey.Units[i]
		p.add("unit", n.Name, declaration(n.Decl, n.Kind), n.Doc, "")
	}
	names, prefixes := stdlib.UnitNames()
	for _, name := range names {
		si, doc, _ := stdlib.UnitDoc(name)
		p.add("unit", name, si, doc, "")
	}
	if p.c.word == "" {
		return
	}
	for _, prefix := range prefixes {
		for _, name := range names {
			if unit := prefix + name; strings.HasPrefix(unit, p.c.word) {
				if si, doc, ok := stdlib.UnitDoc(unit); ok {
					p.add("unit", unit, si, doc, "")
				}
			}
		}
	}
}

// names adds the names of the model that are of some kinds.
func (p *completer) names(survey *typecheck.Survey, kinds []string) {
	for i := range survey.Names {
		if n := &survey.Names[i]; slices.Contains(kinds, n.Kind) && n.Given.IsZero() {
			p.name(n)
		}
	}
	// Names that are newer than the last check.
	globals := p.d.syntax().index.globals
	for _, name := range sortedNames(globals) {
		if b := globals[name]; slices.Contains(kinds, b.kind) {
			p.name(&typecheck.Name{Name: b.name, Kind: b.kind, Doc: docOf(b.node), Decl: b.node})
		}
	}
}

func sortedNames(m map[string]*binding) []string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// itemStart lists what an item begins with.
func (p *completer) itemStart(survey *typecheck.Survey) {
	for i := range survey.Names {
		if n := &survey.Names[i]; n.Kind == "state" {
			left := n.Name
			if len(n.Type.Shape) == 0 {
				left += "'"
			}
			p.add("state", left, "equation of "+n.Name+unitSuffix(n.Type), n.Doc, left+" = ")
		}
	}
	for _, w := range parser.ItemWords() {
		p.word(w)
	}
}

func (p *completer) word(w string) {
	text, _ := help.On(help.Word, w)
	_, rest, _ := strings.Cut(text, "\n\n    ")
	head, _, _ := strings.Cut(rest, "\n")
	p.add("keyword", w, head, "", "", topicOf(help.Word), w)
}

// The kinds of names that expressions know.
var (
	// inRun are those that have a meaning while a model runs.
	inRun = strings.Fields("const param state discrete let output time control alg function module")
	// inGoal are those of objectives and constraints.
	inGoal = append([]string{"event", "data table"}, inRun...)
	// kindsIn are those of items that do not know inRun, by the word that the item begins with.
	kindsIn = map[string][]string{
		"const":      {"const", "function", "module"},
		"param":      {"const", "param", "function", "module"},
		"time":       {"const", "param", "function", "module"},
		"fn":         {"const", "function", "module"},
		"experiment": {"const", "param", "function", "data table", "module"},
		"objective":  inGoal,
		"constraint": inGoal,
		"observe":    append([]string{"data table"}, inRun...),
		"data":       {"const", "function"},
		"import":     {},
		"model":      {},
		"unit":       {},
	}
)

// firstArguments are the kinds of names that the first argument of a function is, where that is not any expression.
var firstArguments = map[string][]string{
	"at_event": {"event"}, "event_time": {"event"}, "initial": {"state"}, "pre": {"state", "discrete"},
	"post": {"state", "discrete"}, "nll": {"data table"},
}

// expression lists what an expression may hold where it stands.
func (p *completer) expression(survey *typecheck.Survey) {
	c := p.c
	if words := policy.WordsOf(c.before(2)); c.kind == "event" && c.before(1) == "=" && words != nil {
		for _, w := range words {
			p.add("keyword", w, "", "", "")
		}
		return
	}
	kinds, special := kindsIn[c.kind]
	if !special {
		kinds = inRun
	}
	if first := firstArguments[c.before(2)]; c.before(1) == "(" && first != nil { // most likely meant: comes first
		p.names(survey, first)
		for i := range p.items {
			p.items[i].SortText = " " + p.items[i].Label
		}
	}
	x := p.d.syntax().index
	for _, b := range x.visible(c.start) {
		p.add(b.kind, b.name, b.kind, docOf(b.node), "")
	}
	p.names(survey, kinds)
	p.broken(x)
	if c.kind == "event" && c.brace() != "" {
		p.word("let")
		for _, w := range parser.WordsIn("body") {
			p.word(w)
		}
	} else {
		for _, w := range parser.WordsIn(c.kind) {
			p.word(w)
		}
	}
	if c.kind == "import" || c.kind == "model" || c.kind == "unit" {
		return
	}
	goal := c.kind == "objective" || c.kind == "constraint"
	noise := c.before(1) == "~"
	for _, f := range stdlib.Funcs() {
		if (f.Class == stdlib.Functional) && !goal || (f.Class == stdlib.Noise) != noise {
			continue
		}
		p.function(f.Name, form(f.Name, arguments(f)), "", topicOf(help.Function), f.Name)
	}
	for _, k := range stdlib.Constants {
		p.add("constant", k.Name, k.Doc, "", "")
	}
	for _, w := range append(parser.WordsIn("expression"), "true", "false") {
		p.word(w)
	}
}

// broken offers names of the item around if that does not parse: its scopes are not known then, and its names are.
func (p *completer) broken(x *index) {
	for _, at := range x.broken {
		if p.c.start < at.Start || at.End < p.c.start {
			continue
		}
		for _, t := range tokensIn(p.d.parsed.tree, at) {
			if t.Kind == ast.IdentToken && t.Start != p.c.start && x.globals[t.Text] == nil &&
				len(stdlib.Named(t.Text)) == 0 {
				p.add("let", t.Text, "", "", "")
			}
		}
	}
}

// resolveCompletion adds the documentation of an item of the language.
func (s *Server) resolveCompletion(_ context.Context, item *completionItem) (any, error) {
	if len(item.Data) == 2 && len(item.Data[0]) == 1 {
		if t := help.Topic(item.Data[0][0] - 'a'); t <= help.Grammar {
			p := &page{markdown: true}
			if !p.topic(t, item.Data[1]) && t == help.Method {
				p.topic(help.Controller, item.Data[1])
			}
			if p.b.Len() > 0 {
				doc := p.markup()
				item.Documentation = &doc
			}
		}
	}
	return item, nil
}

// signatureHelp shows the arguments of the call around off.
func (s *Server) signatureHelp(_ context.Context, d *document, off int) (any, error) {
	c := cursorAt(d, off)
	for _, i := range slices.Backward(c.open) {
		if i == 0 || c.tokens[i].Text != "(" || c.tokens[i-1].Kind != ast.IdentToken &&
			c.tokens[i-1].Kind != ast.QuotedToken {
			continue
		}
		list := s.signatures(d, c.tokens[:i])
		if len(list) == 0 {
			return nil, nil
		}
		n, depth := 0, 0
		for _, t := range c.tokens[i+1:] {
			switch t.Text {
			case "(", "[":
				depth++
			case ")", "]":
				depth--
			case ",":
				if depth == 0 {
					n++
				}
			}
		}
		help := signatureHelp{Signatures: list, ActiveParameter: n}
		for k, g := range list {
			if n < len(g.Parameters) {
				help.ActiveSignature = k
				break
			}
		}
		return help, nil
	}
	return nil, nil
}

// signatures are the forms of the function whose name ends tokens.
func (s *Server) signatures(d *document, tokens []ast.Token) []signature {
	last := len(tokens) - 1
	name := tokens[last].Text
	of := func(fn *ast.Fn, doc string) []signature { return []signature{makeSignature(name, parameters(fn), doc)} }
	if last > 1 && tokens[last-1].Text == "." {
		if m := typecheck.Find(d.known().Names, tokens[last-2].Text); m != nil {
			if n := typecheck.Find(m.Members, name); n != nil {
				if fn, ok := n.Decl.(*ast.Fn); ok {
					return of(fn, n.Doc)
				}
			}
		}
		return nil
	}
	if b := d.syntax().index.globals[name]; b != nil {
		if fn, ok := b.node.(*ast.Fn); ok {
			return of(fn, fn.Doc)
		}
	}
	if n := typecheck.Find(d.known().Names, name); n != nil {
		if fn, ok := n.Decl.(*ast.Fn); ok {
			return of(fn, n.Doc)
		}
	}
	var list []signature
	for _, f := range stdlib.Named(name) {
		doc := f.Doc
		if f.Value != "" {
			doc = f.Value + ": " + doc
		}
		list = append(list, makeSignature(name, arguments(f), escaper.Replace(doc)))
	}
	return list
}

func makeSignature(name string, args []string, doc string) signature {
	g := signature{Label: form(name, args), Parameters: []parameter{}}
	for _, a := range args {
		g.Parameters = append(g.Parameters, parameter{a})
	}
	if doc != "" {
		g.Documentation = &markup{"markdown", doc}
	}
	return g
}
