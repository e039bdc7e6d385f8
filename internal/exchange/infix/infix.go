// Package infix reads formulas as programs write them, with operators between their operands, into MathML: what SBML
// has them in. A dialect says which operators and names a program has.
package infix

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"odes.dev/odes/internal/exchange/sbml"
)

// Dialect is how a program writes formulas.
type Dialect struct {
	Levels   []Level           // of operators with two operands, from those that bind least
	Prefixes map[string]string // operators before their operand; they bind less than powers, and more than Levels
	Powers   []string          // operators of powers, which group to the right
	OnePower bool              // a power of a power needs brackets, since programs differ
	Units    bool              // a name behind a number that Name does not know is its unit, which is left out
	Starts   string            // characters that names may begin with, beside letters and _
	Inside   string            // characters that names may have inside, beside letters, digits and _

	// Name returns what a name stands for, and Call what a function of arguments is.
	Name func(name string, at sbml.Place) (*sbml.Element, error)
	Call func(name string, args []*sbml.Element, at sbml.Place) (*sbml.Element, error)

	// Special reads what begins with a name and is no ordinary formula, or returns nil.
	Special func(p *Parser, name string, at sbml.Place) (*sbml.Element, error)
}

// Level is a set of operators that bind alike, by their signs, with their names in MathML. They group to the left; a
// chain of comparisons, such as a < b < c, is refused unless Chains.
type Level struct {
	Operators map[string]string
	Chains    bool
}

// Error is what is wrong with a formula.
type Error struct {
	At   sbml.Place
	Text string
}

func (e *Error) Error() string { return e.Text }

// Errorf makes an error at a place.
func Errorf(at sbml.Place, format string, args ...any) error {
	return &Error{at, fmt.Sprintf(format, args...)}
}

// maxDepth is how deeply formulas may be nested.
const maxDepth = 1000

// Parser reads a formula.
type Parser struct {
	d     *Dialect
	text  string
	base  int // where the text begins in its file
	pos   int
	depth int
}

// Parse reads a formula that begins at base in its file.
func Parse(d *Dialect, text string, base int) (*sbml.Element, error) {
	p := &Parser{d: d, text: text, base: base}
	e, err := p.Formula()
	if err != nil {
		return nil, err
	}
	if p.space(); p.pos < len(text) {
		return nil, Errorf(p.at(p.pos), "%q does not belong here", p.word())
	}
	return e, nil
}

func (p *Parser) at(start int) sbml.Place {
	return sbml.At(p.base+start, p.base+max(start, p.pos))
}

// space passes over white space.
func (p *Parser) space() {
	for p.pos < len(p.text) && strings.IndexByte(" \t\r\n", p.text[p.pos]) >= 0 {
		p.pos++
	}
}

// word is what stands next, for messages.
func (p *Parser) word() string {
	rest := p.text[p.pos:]
	if n := p.name(); n > 0 {
		return rest[:n]
	}
	_, n := utf8.DecodeRuneInString(rest)
	return rest[:n]
}

// name returns the length of the name that stands next, or 0.
func (p *Parser) name() int {
	n := 0
	for p.pos+n < len(p.text) {
		c := p.text[p.pos+n]
		letter := c == '_' || c|0x20 >= 'a' && c|0x20 <= 'z' || n == 0 && strings.IndexByte(p.d.Starts, c) >= 0
		if !letter && (n == 0 || !(c >= '0' && c <= '9' || strings.IndexByte(p.d.Inside, c) >= 0)) {
			break
		}
		n++
	}
	return n
}

// number returns the length of the number that stands next, or 0.
func (p *Parser) number() int {
	digits := func(i int) int {
		for i < len(p.text) && p.text[i] >= '0' && p.text[i] <= '9' {
			i++
		}
		return i
	}
	whole := digits(p.pos)
	end, n := whole, whole-p.pos
	if end < len(p.text) && p.text[end] == '.' {
		frac := digits(end + 1)
		n += frac - end - 1
		end = frac
	}
	if n == 0 {
		return 0
	}
	if end < len(p.text) && p.text[end]|0x20 == 'e' {
		from := end + 1
		if from < len(p.text) && (p.text[from] == '+' || p.text[from] == '-') {
			from++
		}
		if to := digits(from); to > from {
			end = to
		}
	}
	return end - p.pos
}

// Take passes over a sign if it stands next.
func (p *Parser) Take(sign string) bool {
	p.space()
	if !strings.HasPrefix(p.text[p.pos:], sign) {
		return false
	}
	p.pos += len(sign)
	return true
}

// TakeWord passes over a word, in small or capital letters, if it stands next.
func (p *Parser) TakeWord(word string) bool {
	p.space()
	n := p.name()
	if !strings.EqualFold(p.text[p.pos:p.pos+n], word) {
		return false
	}
	p.pos += n
	return true
}

// Mark returns where the parser is, and Back returns there.
func (p *Parser) Mark() int { return p.pos }

// Back goes back to a mark.
func (p *Parser) Back(mark int) { p.pos = mark }

// Expect passes over a sign, or fails.
func (p *Parser) Expect(sign string) error {
	if p.Take(sign) {
		return nil
	}
	if p.pos == len(p.text) {
		return Errorf(p.at(p.pos), "the formula ends where %q is expected", sign)
	}
	return Errorf(p.at(p.pos), "%q stands where %q is expected", p.word(), sign)
}

// operator returns the longest of some operators that stands next, and passes over it.
func (p *Parser) operator(of map[string]string) (name string, ok bool) {
	p.space()
	best := ""
	for sign := range of {
		if len(sign) > len(best) && strings.HasPrefix(p.text[p.pos:], sign) {
			best = sign
		}
	}
	if best == "" || p.longer(best) {
		return "", false
	}
	p.pos += len(best)
	return of[best], true
}

// longer reports whether what begins with a sign is a longer sign of another kind, as ** is none of *, and == none of
// =.
func (p *Parser) longer(sign string) bool {
	for _, power := range p.d.Powers {
		if len(power) > len(sign) && strings.HasPrefix(p.text[p.pos:], power) {
			return true
		}
	}
	for _, l := range p.d.Levels {
		for other := range l.Operators {
			if len(other) > len(sign) && strings.HasPrefix(p.text[p.pos:], other) {
				return true
			}
		}
	}
	return false
}

// Formula reads a formula.
func (p *Parser) Formula() (*sbml.Element, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, Errorf(p.at(p.pos), "the formula has more than %d brackets in each other", maxDepth)
	}
	defer func() { p.depth-- }()
	return p.level(0)
}

func (p *Parser) level(i int) (*sbml.Element, error) {
	if i == len(p.d.Levels) {
		return p.prefix()
	}
	start := p.start()
	left, err := p.level(i + 1)
	for n := 0; err == nil; n++ {
		op, ok := p.operator(p.d.Levels[i].Operators)
		if !ok {
			return left, nil
		}
		if n > 0 && !p.d.Levels[i].Chains {
			return nil, Errorf(p.at(start), "a chain of comparisons: write them with `and` between them")
		}
		var right *sbml.Element
		if right, err = p.level(i + 1); err == nil {
			left = sbml.Apply(p.at(start), op, left, right)
		}
	}
	return nil, err
}

func (p *Parser) start() int {
	p.space()
	return p.pos
}

// prefix reads signs before an operand.
func (p *Parser) prefix() (*sbml.Element, error) {
	start := p.start()
	op, ok := p.operator(p.d.Prefixes)
	if !ok {
		return p.power()
	}
	if p.depth++; p.depth > maxDepth {
		return nil, Errorf(p.at(start), "the formula has more than %d signs in a row", maxDepth)
	}
	defer func() { p.depth-- }()
	e, err := p.prefix()
	if err != nil || op == "plus" {
		return e, err
	}
	return sbml.Apply(p.at(start), op, e), nil
}

// power reads an operand, perhaps with an exponent, which may have a sign.
func (p *Parser) power() (*sbml.Element, error) {
	start := p.start()
	base, err := p.operand()
	if err != nil {
		return nil, err
	}
	for _, sign := range p.d.Powers {
		if !p.Take(sign) {
			continue
		}
		exponent, err := p.prefix()
		if err != nil {
			return nil, err
		}
		if c := exponent.Children(); p.d.OnePower && p.text[p.pos-1] != ')' && len(c) > 0 && c[0].Name() == "power" {
			return nil, Errorf(p.at(start), "a power of a power: write brackets around one of them")
		}
		return sbml.Apply(p.at(start), "power", base, exponent), nil
	}
	return base, nil
}

// Args reads arguments up to the bracket that closes them.
func (p *Parser) Args() ([]*sbml.Element, error) {
	var args []*sbml.Element
	if p.Take(")") {
		return nil, nil
	}
	for {
		a, err := p.Formula()
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		if p.Take(",") {
			continue
		}
		return args, p.Expect(")")
	}
}

// unit leaves out the unit behind a number. A name that stands for something is none: an operator is missing.
func (p *Parser) unit(number string) error {
	start := p.start()
	p.pos += p.name()
	name := p.text[start:p.pos]
	if name == "" {
		return nil
	}
	if _, err := p.d.Name(name, p.at(start)); err != nil {
		return nil
	}
	return Errorf(p.at(start), "%q is a name of the model and no unit: write %s*%s for a product", name, number, name)
}

func (p *Parser) operand() (*sbml.Element, error) {
	start := p.start()
	if p.Take("(") {
		e, err := p.Formula()
		if err != nil {
			return nil, err
		}
		return e, p.Expect(")")
	}
	if n := p.number(); n > 0 {
		p.pos += n
		e := sbml.Leaf(p.at(start), "cn", p.text[start:p.pos])
		if p.d.Units {
			if err := p.unit(p.text[start:p.pos]); err != nil {
				return nil, err
			}
		}
		return e, nil
	}
	n := p.name()
	if n == 0 {
		if p.pos == len(p.text) {
			return nil, Errorf(p.at(p.pos), "the formula ends where a number or a name is expected")
		}
		return nil, Errorf(p.at(p.pos), "%q stands where a number or a name is expected", p.word())
	}
	p.pos += n
	name := p.text[start:p.pos]
	if p.d.Special != nil {
		if e, err := p.d.Special(p, name, p.at(start)); e != nil || err != nil {
			return e, err
		}
	}
	if !p.Take("(") {
		return p.d.Name(name, p.at(start))
	}
	args, err := p.Args()
	if err != nil {
		return nil, err
	}
	return p.d.Call(name, args, p.at(start))
}

// Arity fails unless a function is called with as many arguments as it has.
func Arity(name string, args []*sbml.Element, at sbml.Place, least, most int) error {
	switch n := len(args); {
	case n >= least && n <= most:
		return nil
	case least == most:
		return Errorf(at, "%s has %d arguments, and is called with %d", name, least, n)
	default:
		return Errorf(at, "%s has %d to %d arguments, and is called with %d", name, least, most, n)
	}
}

// Constant makes a number or a constant of MathML, such as pi.
func Constant(name string, at sbml.Place) *sbml.Element { return sbml.New(at, name) }

// Choice makes a value under a condition, and another one otherwise.
func Choice(at sbml.Place, then, when, otherwise *sbml.Element) *sbml.Element {
	return Pieces(at, []*sbml.Element{then, when, otherwise})
}

// Pieces makes piecewise of values and conditions in turn, with what holds otherwise at the end, if there is one.
func Pieces(at sbml.Place, args []*sbml.Element) *sbml.Element {
	e := sbml.New(at, "piecewise")
	for i := 0; i+1 < len(args); i += 2 {
		e.Add(sbml.New(at, "piece").Add(args[i], args[i+1]))
	}
	if len(args)%2 == 1 {
		e.Add(sbml.New(at, "otherwise").Add(args[len(args)-1]))
	}
	return e
}

// Sign makes the sign of x.
func Sign(at sbml.Place, x *sbml.Element) *sbml.Element {
	zero, one := sbml.Leaf(at, "cn", "0"), sbml.Leaf(at, "cn", "1")
	return Pieces(at, []*sbml.Element{
		one, sbml.Apply(at, "gt", x, zero), sbml.Apply(at, "minus", one), sbml.Apply(at, "lt", x, zero), zero,
	})
}

// Log makes a logarithm to a base.
func Log(at sbml.Place, x, base *sbml.Element) *sbml.Element {
	return sbml.New(at, "apply").Add(sbml.New(at, "log"), sbml.New(at, "logbase").Add(base), x)
}
