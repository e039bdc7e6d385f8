package parser

import (
	"errors"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"odes.dev/odes/lang/ast"
)

// The structs of files items_*.go are the grammar of items. Expressions, units, names, subscripts and everything else
// that needs its own error messages are parsed by hand; in the structs they are parts. Every alternative starts with a
// token of its own, so the parser never looks ahead, and the first error is the right one.

// part is a piece of an item that a hand-written routine parses to a T.
type part[T any] interface{ get() T }

type held[T any] struct{ v T }

func (h held[T]) get() T { return h.v }

// Kinds of name, which differ in what they accept.
type (
	newName struct{ ast.Ident } // required
	doseKey struct{ ast.Ident } // before `=` in `doses`: reserved words too
	optName struct{ ast.Ident } // optional: a reserved word is not meant as a name
	dotName struct{ ast.Ident } // likewise; of a component it has dots
	keyName struct{ ast.Ident } // of a setting: reserved words too
)

// blockWord is the word that a settings block starts with.
type blockWord string

// unitValue is the value of a unit definition, where numbers are units.
type unitValue struct{ ast.Expr }

// moreTime is a further time of an event.
type moreTime struct{ ast.Expr }

// drawn is what stands before `~`, and its first name.
type drawn struct {
	first ast.Ident
	ast.Expr
}

// useKey is what a component is given: a name, initial(name), or a name of one of its own components.
type useKey struct{ ast.Expr }

// bounds is `in [lo, hi]`.
type bounds struct{ lo, hi ast.Expr }

// chosen is `where c`, and occasions is `by D.OCC`.
type (
	chosen    struct{ ast.Expr }
	occasions struct{ ast.Expr }
)

// place is filled by participle with where a struct starts and what follows it.
type place struct {
	Pos    lexer.Position
	EndPos lexer.Position
}

// grammar holds the participle parsers, bound to one parse at a time.
type grammar struct {
	p       *parse
	options []participle.Option
	rules   map[string]*madeRule // by what an item starts with
}

// madeRule is a rule with its parser, which is made when it is wanted first: most files have few kinds of items.
type madeRule struct {
	itemRule
	once  sync.Once
	parse production
}

// production parses one item from lex.
type production func(lex *lexer.PeekingLexer) (ast.Item, error)

// grammars are built once per goroutine that parses, not once per file.
var grammars = sync.Pool{New: func() any { return newGrammar() }}

// early is the grammar that Prepare builds, until somebody takes it.
var early atomic.Pointer[grammar]

// Prepare begins to build the parsers of what most models have, for the next call of Parse. A program that knows that
// it will parse a text can so prepare for it while it does something else. Whoever parses meanwhile makes what is not
// begun.
func Prepare() {
	g := newGrammar()
	if !early.CompareAndSwap(nil, g) {
		return
	}
	go func() { // the rule that takes longest goes first
		for _, start := range []string{"event", "time", "param", "Target", "objective", "solver"} {
			g.parser(start)
		}
	}()
}

// readyGrammar returns a grammar that nobody parses with.
func readyGrammar() *grammar {
	if g := early.Swap(nil); g != nil {
		return g
	}
	return grammars.Get().(*grammar)
}

// errReported ends an item whose error a part has reported.
var errReported = errors.New("reported")

// itemRule is the rule of an item.
type itemRule struct {
	starts []string // what the item starts with: words, "0" or "Target"
	// follows reports whether what stands at a token makes an item of the word before it, which is not reserved. There
	// is another token behind. It is nil for other rules.
	follows func(c *cursor, i int) bool
	// build makes the parser of the item for g. ebnf writes its grammar.
	build func(g *grammar, options []participle.Option) (parse production, ebnf func() string)
}

// itemRules are the rules of all items, in the order of the manual.
func itemRules() []itemRule {
	return slices.Concat(namesRules(), dynamicsRules(), dataRules(), goalsRules())
}

func newGrammar() *grammar {
	g := &grammar{rules: map[string]*madeRule{}}
	g.options = grammarOptions(g)
	for _, r := range itemRules() {
		rule := &madeRule{itemRule: r}
		for _, start := range r.starts {
			g.rules[start] = rule
		}
	}
	return g
}

// parser returns that of items that start in this way; nil for none.
func (g *grammar) parser(start string) production {
	rule := g.rules[start]
	if rule == nil {
		return nil
	}
	rule.once.Do(func() { rule.parse, _ = rule.build(g, g.options) })
	return rule.parse
}

// grammarOptions make the parts of the grammar that are parsed by hand.
func grammarOptions(g *grammar) []participle.Option {
	return []participle.Option{
		participle.Lexer(definition{}),
		participle.UseLookahead(0),
		participle.ParseTypeWith(func(lex *lexer.PeekingLexer) (ast.Expr, error) {
			return parsed(g, lex, func(p *parse) ast.Expr { return p.expr(0) })
		}),
		partOf(g, anywhere, func(p *parse) unitValue {
			p.unitDef = true
			defer func() { p.unitDef = false }()
			return unitValue{p.expr(0)}
		}),
		partOf(g, anywhere, (*parse).unit),
		partOf(g, func(t *ast.Token) bool { return !isToken(t, ")") }, func(p *parse) newName {
			name, _ := p.name()
			return newName{name}
		}),
		partOf(g, isName, func(p *parse) optName { return optName{p.ident(p.next())} }),
		partOf(g, isName, readDotted),
		partOf(g, isName, func(p *parse) useKey { return useKey{p.expr(0)} }),
		partOf(g, isBlockWord, func(p *parse) blockWord { return blockWord(p.next().Text) }),
		partOf(g, anywhere, nil, (*parse).drawn),
		partOf(g, anywhere, nil, readDoseKey),
		partOf(g, anywhere, nil, readChosen),
		partOf(g, anywhere, nil, readOccasions),
		partOf(g, anywhere, nil, (*parse).key),
		partOf(g, anywhere, nil, (*parse).lvalue),
		partOf(g, anywhere, nil, (*parse).specie),
		partOf(g, starts(","), nil, (*parse).moreTime),
		partOf(g, starts(","), nil, (*parse).option),
		partOf(g, func(t *ast.Token) bool { return t.Kind == ast.StringToken }, (*parse).str),
		partOf(g, starts("["), (*parse).dims),
		partOf(g, starts("["), (*parse).fnDims),
		partOf(g, starts("in"), (*parse).bounds),
		partOf(g, starts("for"), (*parse).binders),
	}
}

// after makes the rule that of a word which is a name where something else follows.
func (r itemRule) after(follows func(c *cursor, i int) bool) itemRule {
	r.follows = follows
	return r
}

// freeItems are the words that start an item without being reserved, with what follows them.
var freeItems = map[string]func(c *cursor, i int) bool{}

func init() {
	for _, r := range itemRules() {
		if r.follows != nil {
			freeItems[r.starts[0]] = r.follows
		}
	}
}

// rule joins the parser of G with what makes a tree of it, and with what G starts with. A grammar that does not build
// is a mistake in this file.
func rule[G any](tree func(*parse, *G) ast.Item, starts ...string) itemRule {
	return itemRule{starts: starts, build: func(g *grammar, options []participle.Option) (production, func() string) {
		parser, err := participle.Build[G](options...)
		if err != nil {
			panic("parser: grammar of " + reflect.TypeFor[G]().Name() + ": " + err.Error())
		}
		return func(lex *lexer.PeekingLexer) (ast.Item, error) {
			v, err := parser.ParseFromLexer(lex, participle.AllowTrailing(true))
			if err != nil {
				return nil, err
			}
			return tree(g.p, v), nil
		}, parser.String
	}}
}

func isBlockWord(t *ast.Token) bool { return t.Kind == ast.KeywordToken && IsBlock(t.Text) }

func anywhere(*ast.Token) bool { return true }

func starts(text string) func(*ast.Token) bool {
	return func(t *ast.Token) bool { return isToken(t, text) }
}

// partOf makes read the parser of part[T]. The part matches only where first accepts the next token.
func partOf[T any](g *grammar, first func(*ast.Token) bool, read func(*parse) T,
	maybe ...func(*parse) (T, bool),
) participle.Option {
	return participle.ParseTypeWith(func(lex *lexer.PeekingLexer) (part[T], error) {
		if !first(&g.p.tokens[lex.RawCursor()]) {
			return nil, participle.NextMatch
		}
		if read != nil {
			v, err := parsed(g, lex, read)
			return held[T]{v}, err
		}
		match := true
		v, err := parsed(g, lex, func(p *parse) (v T) {
			v, match = maybe[0](p)
			return v
		})
		if !match && err == nil {
			return nil, participle.NextMatch
		}
		return held[T]{v}, err
	})
}

// parsed runs a hand-written routine at the place of lex and moves lex behind
// what it consumed.
func parsed[T any](g *grammar, lex *lexer.PeekingLexer, read func(*parse) T) (T, error) {
	start := int(lex.RawCursor())
	g.p.i = start
	v := read(g.p)
	if g.p.i > start {
		lex.FastForward(lexer.RawCursor(g.p.i - 1))
	}
	if g.p.failed {
		return v, errReported
	}
	return v, nil
}
