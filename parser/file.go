package parser

import (
	"errors"
	"slices"
	"strings"

	"github.com/alecthomas/participle/v2/lexer"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Parse parses a model file. The result is never nil. An item that does not parse becomes an *ast.Bad, its errors are
// added to l, and parsing goes on at the next item. An item whose mistake leaves its meaning clear (`x**2`, a numeric
// unit) is kept whole, and l has the error all the same.
func Parse(f *source.File, l *diag.List) *ast.File { return parseFile(new(parse), f, l) }

// parseFile parses a file with p.
func parseFile(p *parse, f *source.File, l *diag.List) *ast.File {
	var lexed diag.List
	lexed.While(l.Done())
	tokens, comments := scan(f, &lexed)
	file := &ast.File{Source: f, Tokens: tokens[:len(tokens)-1], Comments: comments}
	p.file, p.diags, p.tokens = f, l, tokens
	if p.foreignFile() {
		file.Items = []ast.Item{&ast.Bad{At: ast.At{Span: p.span(0, len(f.Text()))}}}
		return file
	}
	for i, d := range lexed.All() {
		if i == maxErrors {
			p.tooMany(d.Span)
			return file
		}
		l.Add(d)
	}
	g := readyGrammar()
	g.p = p
	file.Items = g.file(l.Len())
	g.p = nil
	grammars.Put(g)
	attachDocs(file)
	return file
}

// file parses items to the end of the file. before is the length of the list
// of diagnostics at the start.
func (g *grammar) file(before int) []ast.Item {
	p := g.p
	lex, err := lexer.Upgrade(&stream{file: p.file, tokens: p.tokens})
	if err != nil { // a stream has no errors
		panic(err)
	}
	var items []ast.Item
	afterError := false
	for p.peek().Kind != ast.EOF {
		if p.is(";") || afterError && (p.is("}") || p.is(")") || p.is("]")) {
			p.i++
			continue
		}
		p.diags.Look()
		if p.diags.Len()-before >= maxErrors {
			p.tooMany(p.at(p.peek()))
			break
		}
		start := p.i
		p.failed, p.depth, p.index, p.unitDef = false, 0, 0, false
		item := g.item(lex)
		if afterError = p.failed; afterError {
			p.skip(start)
			item = p.lost(start, p.i)
		}
		at := p.span(p.tokens[start].Start, p.tokens[p.i-1].End)
		item.(interface{ Place(source.Span) }).Place(at)
		if n, ok := item.(*ast.Settings); ok {
			n.Block.Span = p.at(&p.tokens[start])
		}
		if n := len(items); afterError && n > 0 && !p.tokens[start].NewLine && !isToken(&p.tokens[start-1], ";") {
			// What failed here was meant to continue the item before it, so that item is not whole either.
			if _, lost := items[n-1].(*ast.Bad); !lost {
				whole := p.lost(p.tokenAt(items[n-1].Pos().Start), p.i)
				whole.Place(items[n-1].Pos().To(at))
				items[n-1] = whole
				continue
			}
		}
		items = append(items, item)
	}
	return items
}

// lost makes an item of tokens that did not parse.
func (c *cursor) lost(start, end int) *ast.Bad {
	bad := &ast.Bad{}
	first := &c.tokens[start]
	switch {
	case first.Kind == ast.KeywordToken:
		bad.Word = first.Text
	case isToken(&c.tokens[start+1], "'") || c.startsEquation(start):
		bad.Word = "equation"
	}
	braces, others := 0, 0
	for i := start; i < end; i++ {
		t := &c.tokens[i]
		if isName(t) && braces == 0 {
			before := i > start && (i == start+1 || isToken(&c.tokens[i-1], ","))
			after := c.tokens[i+1]
			declares := others == 0 && (before || isToken(&after, "=") || i == start)
			if declares || bad.Word == "reaction" {
				bad.Names = append(bad.Names, c.ident(t))
			}
		}
		if isName(t) && i > start && c.startsEquation(i) { // in a loop around it
			bad.Names = append(bad.Names, c.ident(t))
		}
		if i == start {
			if state, _ := c.otherDerivative(t); state != "" {
				name := c.ident(t)
				name.Name = strings.TrimSpace(state)
				bad.Names = append(bad.Names, name)
			}
		}
		braces, others = nesting(t, braces, others)
	}
	return bad
}

// item parses the item that starts here.
func (g *grammar) item(lex *lexer.PeekingLexer) ast.Item {
	p := g.p
	t := p.peek()
	var rule production
	switch {
	case p.startsEquation(p.i):
		rule = g.parser("Target")
	case t.Kind == ast.KeywordToken && p.startsPrimed(p.i):
		rule = g.parser("Target") // of a reserved word: the name says so
	case t.Kind == ast.KeywordToken:
		rule = g.parser(t.Text)
	case t.Kind == ast.NumberToken && t.Text == "0" && isToken(p.ahead(1), "="):
		rule = g.parser("0")
	case p.freeItem(p.i) != "":
		rule = g.parser(t.Text)
	case isName(t) && isToken(p.ahead(1), "'"):
		rule = g.parser("Target") // without its "=": the rule says so
	}
	if rule == nil {
		p.misfit()
		return nil
	}
	start := p.i
	if int(lex.RawCursor()) > start { // a failed item looked further
		lex.LoadCheckpoint(lexer.Checkpoint{})
	}
	if int(lex.RawCursor()) < start {
		lex.FastForward(lexer.RawCursor(start - 1))
	}
	item, err := rule(lex)
	if err != nil {
		if !errors.Is(err, errReported) {
			p.structural(start, err)
		}
		return nil
	}
	p.i = int(lex.RawCursor())
	return item
}

// alsoInside are words that start items, and parts of items in braces as well.
var alsoInside = []string{"let", "output", "equilibrate"}

// skip moves to the start of the next item after a failed one, which started
// at token start.
func (p *parse) skip(start int) {
	braces, others := 0, 0
	for i := start; i < p.i; i++ {
		braces, others = nesting(&p.tokens[i], braces, others)
	}
	p.i = max(p.i, start+1)
	for ; p.tokens[p.i].Kind != ast.EOF; p.i++ {
		t := &p.tokens[p.i]
		if p.startsItem(p.i) && (t.NewLine || braces+others == 0) &&
			!(braces > 0 && slices.Contains(alsoInside, t.Text)) {
			return
		}
		if t.NewLine && braces+others == 0 && p.meantItem(p.i) {
			return
		}
		braces, others = nesting(t, braces, others)
	}
}

// nesting counts the brackets that are open behind t.
func nesting(t *ast.Token, braces, others int) (int, int) {
	if t.Kind == ast.SignToken {
		switch t.Text {
		case "{":
			braces++
		case "}":
			braces, others = max(0, braces-1), 0
		case "(", "[":
			others++
		case ")", "]":
			others = max(0, others-1)
		}
	}
	return braces, others
}
