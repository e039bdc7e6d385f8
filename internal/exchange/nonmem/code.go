package nonmem

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// token is a word, number or sign of a control stream; words are in capital letters.
type token struct {
	kind byte // 'w' for a word, 'n' for a number, '\n' for the end of a line, 0 for the end, and else the sign itself
	text string
	place
}

// fault is what is wrong with a control stream, and where.
type fault struct {
	at   place
	text string
}

func (f *fault) Error() string { return f.text }

func faultf(at place, format string, args ...any) error {
	return &fault{at, fmt.Sprintf(format, args...)}
}

// dotted are the operators that stand between points.
var dotted = map[string]string{
	"EQ": "==", "NE": "!=", "GT": ">", "GE": ">=", "LT": "<", "LE": "<=", "AND": "and", "OR": "or", "NOT": "not",
	"EQN": "==", "NEN": "!=",
}

// signs are operators of more than one letter, before those of one.
var signs = []string{"**", "==", "/=", ">=", "<="}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// tokens reads a part of the text of a record, without its comments.
func tokens(text string, start, end int) (list []token, err error) {
	pos := start
	put := func(kind byte, word string, n int) {
		list = append(list, token{kind, word, place{pos, pos + n}})
		pos += n
	}
	for pos < end {
		switch c := text[pos]; {
		case c == ';':
			for pos < end && text[pos] != '\n' {
				pos++
			}
		case c == '\n':
			put('\n', "\n", 1)
		case c == ' ' || c == '\t' || c == '\r':
			pos++
		case c == '&':
			// The statement goes on in the next line.
			if pos, err = goesOn(text, pos, end); err != nil {
				return nil, err
			}
		case isLetter(c):
			n := 1
			for pos+n < end && (isLetter(text[pos+n]) || isDigit(text[pos+n])) {
				n++
			}
			put('w', strings.ToUpper(text[pos:pos+n]), n)
		case isDigit(c) || c == '.' && pos+1 < end && isDigit(text[pos+1]):
			n := numeral(text[pos:end])
			put('n', text[pos:pos+n], n)
		case c == '.':
			word, _, ok := strings.Cut(text[pos+1:min(end, pos+5)], ".")
			sign := dotted[strings.ToUpper(word)]
			if !ok || sign == "" {
				return nil, faultf(place{pos, pos + 1}, "this point is no part of a number or an operator such as .EQ.")
			}
			put('o', sign, len(word)+2)
		case c == '"':
			return nil, faultf(place{pos, pos + 1}, "verbatim code (behind \") is Fortran for NONMEM itself: write "+
				"what it computes in abbreviated code")
		case strings.IndexByte("+-*/()=<>,", c) >= 0:
			kind, sign, n := readSign(text[pos:end])
			put(kind, sign, n)
		default:
			return nil, faultf(place{pos, pos + 1}, "%q does not belong here", text[pos:pos+1])
		}
	}
	pos = end
	put('\n', "\n", 0)
	put(0, "", 0)
	return list, nil
}

// goesOn is where the next line begins, behind & and perhaps a comment.
func goesOn(text string, pos, end int) (int, error) {
	next := pos + 1
	for next < end && (text[next] == ' ' || text[next] == '\t' || text[next] == '\r') {
		next++
	}
	if next < end && text[next] == ';' {
		for next < end && text[next] != '\n' {
			next++
		}
	}
	if next < end && text[next] != '\n' {
		return pos, faultf(place{pos, pos + 1}, "& ends a line that goes on in the next one")
	}
	return next + 1, nil
}

// readSign is the sign that a text begins with, what it is, and how long.
func readSign(text string) (kind byte, sign string, n int) {
	sign = text[:1]
	for _, s := range signs {
		if strings.HasPrefix(text, s) {
			sign = s
			break
		}
	}
	n = len(sign)
	switch {
	case sign == "**":
		return '^', sign, n
	case sign == "/=":
		return 'o', "!=", n
	case n == 1 && sign != "<" && sign != ">":
		return sign[0], sign, n
	}
	return 'o', sign, n
}

// numeral is how long the number is that a text begins with. A point before a word is that of an operator: 1.EQ.2.
func numeral(text string) int {
	n := 0
	digits := func() {
		for n < len(text) && isDigit(text[n]) {
			n++
		}
	}
	digits()
	if n < len(text) && text[n] == '.' {
		word, _, ok := strings.Cut(text[n+1:min(len(text), n+5)], ".")
		if !ok || dotted[strings.ToUpper(word)] == "" {
			n++
			digits()
		}
	}
	if n < len(text) && strings.IndexByte("eEdD", text[n]) >= 0 {
		k := n + 1
		if k < len(text) && (text[k] == '+' || text[k] == '-') {
			k++
		}
		if k < len(text) && isDigit(text[k]) {
			n = k
			digits()
		}
	}
	return n
}

// readNumber is the value of a number as Fortran writes it.
func readNumber(text string) (float64, bool) {
	if strings.ContainsAny(text, "xXpP_nN") { // no hexadecimal numbers, Inf, NaN
		return 0, false
	}
	x, err := strconv.ParseFloat(strings.Map(func(c rune) rune {
		if c == 'd' || c == 'D' {
			return 'e'
		}
		return c
	}, text), 64)
	return x, err == nil
}

// node is a formula as it is written.
type node struct {
	kind  byte // 'n' number, 'w' name, '(' call or element, and operators: + - * / ^ ~ (minus) and those of conditions
	text  string
	value float64
	args  []*node
	at    place
}

// statement is one of abbreviated code: an assignment, or IF with its branches.
type statement struct {
	kind     byte // '=' or 'i', or 'x' for EXIT
	to       *node
	value    *node
	branches []branch
	at       place
}

// branch is a part of IF; the condition of ELSE is nil.
type branch struct {
	when *node
	body []*statement
}

// coder reads abbreviated code.
type coder struct {
	list   []token
	pos    int
	depth  int
	count  int               // of operators in the statement
	rename map[string]string // what $ABBR REPLACE says: "THETA(CL)" is "THETA(1)"
}

// maxDepth is how many brackets or IF may stand in each other.
const maxDepth = 200

func (c *coder) next() token { return c.list[c.pos] }

func (c *coder) take(kind byte) bool {
	if c.next().kind != kind {
		return false
	}
	c.pos++
	return true
}

func (c *coder) word(text string) bool {
	if t := c.next(); t.kind != 'w' || t.text != text {
		return false
	}
	c.pos++
	return true
}

func (t token) String() string {
	switch t.kind {
	case 0:
		return "the end of the record"
	case '\n':
		return "the end of the line"
	}
	return strconv.Quote(t.text)
}

func (c *coder) expect(kind byte, what string) error {
	if c.take(kind) {
		return nil
	}
	return faultf(c.next().place, "%v stands where %s is expected", c.next(), what)
}

// code reads all statements of a record.
func code(list []token, rename map[string]string) ([]*statement, error) {
	c := &coder{list: list, rename: rename}
	body, err := c.block()
	if err != nil {
		return nil, err
	}
	if t := c.next(); t.kind != 0 {
		return nil, faultf(t.place, "%s without IF before it", t.text)
	}
	return body, nil
}

// block reads statements up to ELSE, ELSEIF or ENDIF, or to the end.
func (c *coder) block() (body []*statement, err error) {
	if c.depth++; c.depth > maxDepth {
		return nil, faultf(c.next().place, "more than %d IF stand in each other", maxDepth)
	}
	defer func() { c.depth-- }()
	for {
		switch t := c.next(); {
		case t.kind == '\n':
			c.pos++
			continue
		case t.kind == 0, t.kind == 'w' && slices.Contains([]string{"ELSE", "ELSEIF", "ENDIF", "END"}, t.text):
			return body, nil
		}
		s, err := c.statement()
		if err != nil {
			return nil, err
		}
		body = append(body, s)
		if c.next().kind != 0 {
			if err := c.expect('\n', "the end of the statement"); err != nil {
				return nil, err
			}
		}
	}
}

// refusals are statements that have no translation.
var refusals = map[string]string{
	"DO": "loops (DO WHILE) are not read: write the statements out", "WHILE": "loops are not read",
	"CALL":    "calls of subroutines are not read",
	"DOWHILE": "loops (DO WHILE) are not read: write the statements out",
}

func (c *coder) statement() (*statement, error) {
	t := c.next()
	c.count = 0
	if t.kind != 'w' {
		return nil, faultf(t.place, "%v stands where a statement is expected", t)
	}
	following := c.list[c.pos+1]
	if why := refusals[t.text]; why != "" && following.kind != '=' {
		return nil, faultf(t.place, "%s", why)
	}
	switch {
	case t.text == "IF" && following.kind == '(':
		return c.conditional()
	case t.text == "EXIT" && (following.kind == 'n' || following.kind == '\n'):
		c.pos++
		for c.take('n') {
		}
		return &statement{kind: 'x', at: t.place}, nil
	}
	c.pos++
	to := &node{kind: 'w', text: t.text, at: t.place}
	if c.take('(') {
		args, err := c.arguments()
		if err != nil {
			return nil, err
		}
		to.kind, to.args = '(', args
	}
	if err := c.expect('=', "= of an assignment"); err != nil {
		return nil, err
	}
	value, err := c.formula()
	if err != nil {
		return nil, err
	}
	return &statement{kind: '=', to: to, value: value, at: place{t.start, c.list[c.pos-1].end}}, nil
}

// conditional reads IF (…) statement, or IF (…) THEN with its branches.
func (c *coder) conditional() (*statement, error) {
	s := &statement{kind: 'i', at: c.next().place}
	c.pos++
	when, err := c.bracket()
	if err != nil {
		return nil, err
	}
	if !c.word("THEN") {
		one, err := c.statement()
		if err != nil {
			return nil, err
		}
		s.branches = []branch{{when, []*statement{one}}}
		return s, nil
	}
	for {
		body, err := c.block()
		if err != nil {
			return nil, err
		}
		s.branches = append(s.branches, branch{when, body})
		t := c.next()
		c.pos++
		switch {
		case t.kind == 0:
			return nil, faultf(s.at, "this IF has no ENDIF")
		case t.text == "ENDIF", t.text == "END" && c.word("IF"):
			return s, nil
		case when == nil:
			return nil, faultf(t.place, "%s stands behind ELSE", t.text)
		case t.text == "ELSEIF", t.text == "ELSE" && c.word("IF"):
			if when, err = c.bracket(); err != nil {
				return nil, err
			}
			if !c.word("THEN") {
				return nil, faultf(c.next().place, "THEN is expected here")
			}
		case t.text == "ELSE":
			when = nil
		default:
			return nil, faultf(t.place, "%s does not belong here", t.text)
		}
	}
}

func (c *coder) bracket() (*node, error) {
	if err := c.expect('(', "("); err != nil {
		return nil, err
	}
	e, err := c.formula()
	if err != nil {
		return nil, err
	}
	return e, c.expect(')', ")")
}

func (c *coder) arguments() (args []*node, err error) {
	for {
		a, err := c.formula()
		if err != nil {
			return nil, err
		}
		args = append(args, a)
		if c.take(',') {
			continue
		}
		return args, c.expect(')', ")")
	}
}

// formula reads a formula or a condition.
func (c *coder) formula() (*node, error) {
	if c.depth++; c.depth > maxDepth {
		return nil, faultf(c.next().place, "more than %d brackets stand in each other", maxDepth)
	}
	defer func() { c.depth-- }()
	return c.level(0)
}

// levels are operators of two formulas, from those that bind least. Between them stand .NOT. and the signs.
var levels = [][]string{{"or"}, {"and"}, {"==", "!=", "<", "<=", ">", ">="}, {"+", "-"}, {"*", "/"}}

const (
	notLevel  = 2
	signLevel = 3
)

func (c *coder) level(i int) (*node, error) {
	if i == len(levels) {
		return c.power()
	}
	if c.count++; c.count > maxSize {
		return nil, faultf(c.next().place, "this formula has more than %d operators", maxSize/len(levels))
	}
	var left *node
	var err error
	t := c.next()
	switch {
	case i == notLevel && t.kind == 'o' && t.text == "not":
		c.pos++
		if left, err = c.level(i); err == nil {
			left = &node{kind: 'o', text: "not", args: []*node{left}, at: place{t.start, left.at.end}}
		}
	case i == signLevel && (t.kind == '+' || t.kind == '-'):
		c.pos++
		if left, err = c.level(i + 1); err == nil && t.kind == '-' {
			left = &node{kind: '~', args: []*node{left}, at: place{t.start, left.at.end}}
		}
	default:
		left, err = c.level(i + 1)
	}
	for err == nil {
		if c.count++; c.count > maxSize {
			return nil, faultf(c.next().place, "this formula has more than %d operators", maxSize/len(levels))
		}
		t := c.next()
		if t.kind == 0 || !slices.Contains(levels[i], t.text) {
			return left, nil
		}
		c.pos++
		var right *node
		if s := c.next(); i >= signLevel && (s.kind == '-' || s.kind == '+') { // a*-b, which some compilers take
			c.pos++
			if right, err = c.level(len(levels)); err == nil && s.kind == '-' {
				right = &node{kind: '~', args: []*node{right}, at: place{s.start, right.at.end}}
			}
		} else {
			right, err = c.level(i + 1)
		}
		if err == nil {
			kind := t.kind
			left = &node{kind: kind, text: t.text, args: []*node{left, right}, at: place{left.at.start, right.at.end}}
		}
	}
	return nil, err
}

func (c *coder) power() (*node, error) {
	base, err := c.operand()
	if err != nil || !c.take('^') {
		return base, err
	}
	if c.depth++; c.depth > maxDepth {
		return nil, faultf(c.next().place, "more than %d powers stand in each other", maxDepth)
	}
	defer func() { c.depth-- }()
	minus := c.take('-')
	exponent, err := c.power()
	if err != nil {
		return nil, err
	}
	if minus {
		exponent = &node{kind: '~', args: []*node{exponent}, at: exponent.at}
	}
	return &node{kind: '^', args: []*node{base, exponent}, at: place{base.at.start, exponent.at.end}}, nil
}

func (c *coder) operand() (*node, error) {
	t := c.next()
	switch t.kind {
	case '(':
		return c.bracket()
	case 'n':
		c.pos++
		x, ok := readNumber(t.text)
		if !ok {
			return nil, faultf(t.place, "%q is no number that double precision holds", t.text)
		}
		return &node{kind: 'n', value: x, at: t.place}, nil
	case 'w':
		c.pos++
		e := &node{kind: 'w', text: t.text, at: t.place}
		if !c.take('(') {
			return e, nil
		}
		args, err := c.arguments()
		if err != nil {
			return nil, err
		}
		e.kind, e.args, e.at.end = '(', args, c.list[c.pos-1].end
		if len(args) == 1 && args[0].kind == 'w' {
			if to := c.rename[t.text+"("+args[0].text+")"]; to != "" {
				return renamed(e, to), nil
			}
		}
		return e, nil
	}
	return nil, faultf(t.place, "%v stands where a number or a name is expected", t)
}

// renamed is THETA(CL) as $ABBR REPLACE says: THETA(3).
func renamed(e *node, to string) *node {
	name, rest, _ := strings.Cut(to, "(")
	x, ok := readNumber(strings.TrimSuffix(rest, ")"))
	if !ok {
		return e
	}
	return &node{kind: '(', text: name, at: e.at, args: []*node{{kind: 'n', value: x, at: e.at}}}
}
