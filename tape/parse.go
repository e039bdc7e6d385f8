package tape

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Parse reads the text form of a tape and checks the tape. Errors of syntax tell the
// line, those of Check the instruction.
func Parse(text string) (*Tape, error) {
	p := &textParser{names: map[string]Value{}}
	if err := p.lex(text); err != nil {
		return nil, err
	}
	if err := p.tape(); err != nil {
		return nil, fmt.Errorf("line %d: %w", p.line(), err)
	}
	if err := Check(p.t); err != nil {
		return nil, err
	}
	lane := PerLane(p.t)
	for i, said := range p.lanes {
		if v := len(p.t.Inputs) + i; said != lane[v] {
			return nil, fmt.Errorf("tape %s: %%%d: lane is marked %v, but its operands make it %v",
				p.t.Name, v, said, lane[v])
		}
	}
	return p.t, nil
}

// word is a token of the text form. A newline outside brackets is the word "\n".
type word struct {
	text   string
	line   int
	quoted bool // a name in quotes, which is never a keyword
}

// maxEntries bounds the number of list entries of a text, in which x*n, though short,
// stands for many.
const maxEntries = 1 << 24

type textParser struct {
	t       *Tape
	words   []word
	at      int
	names   map[string]Value // the inputs
	lanes   []bool           // what the text says of each instruction
	entries int              // read so far
}

func (p *textParser) lex(text string) error {
	line, depth := 1, 0
	add := func(s string, quoted bool) { p.words = append(p.words, word{s, line, quoted}) }
	for len(text) > 0 {
		c := text[0]
		n := 1
		switch {
		case c == '\n':
			if depth == 0 {
				add("\n", false)
			}
			line++
		case c == ' ' || c == '\t' || c == '\r':
		case c == '#':
			if n = strings.IndexByte(text, '\n'); n < 0 {
				n = len(text)
			}
		case c == '[' || c == '{':
			depth++
			add(text[:1], false)
		case c == ']' || c == '}':
			depth--
			add(text[:1], false)
		case c == '"':
			q, err := strconv.QuotedPrefix(text)
			if err != nil {
				return fmt.Errorf("line %d: a quoted name does not end", line)
			}
			s, err := strconv.Unquote(q)
			if err != nil {
				return fmt.Errorf("line %d: %s is not a quoted name", line, q)
			}
			n = len(q)
			add(s, true)
		default:
			n = strings.IndexAny(text, " \t\r\n#[]{}\"")
			if n < 0 {
				n = len(text)
			}
			add(text[:n], false)
		}
		text = text[n:]
	}
	p.words = append(p.words, word{"\n", line, false})
	return nil
}

func (p *textParser) line() int {
	return p.words[min(p.at, len(p.words)-1)].line
}

// peek returns the next word, which is empty at the end of the text.
func (p *textParser) peek() word {
	if p.at < len(p.words) {
		return p.words[p.at]
	}
	return word{}
}

func (p *textParser) is(text string) bool {
	w := p.peek()
	return w.text == text && !w.quoted
}

// accept reads the next word and reports true if it is the given one.
func (p *textParser) accept(text string) bool {
	if p.is(text) {
		p.at++
		return true
	}
	return false
}

func (p *textParser) expect(text string) error {
	if p.accept(text) {
		return nil
	}
	return fmt.Errorf("expected %q, found %q", text, p.peek().text)
}

// name reads a name, with or without quotes.
func (p *textParser) name() (string, error) {
	w := p.peek()
	r, _ := utf8.DecodeRuneInString(w.text)
	if !w.quoted && r != '_' && !unicode.IsLetter(r) {
		return "", fmt.Errorf("expected a name, found %q", w.text)
	}
	p.at++
	return w.text, nil
}

func (p *textParser) tape() error {
	p.t = &Tape{}
	for p.accept("\n") {
	}
	if err := p.expect("tape"); err != nil {
		return err
	}
	name, err := p.name()
	if err != nil {
		return err
	}
	p.t.Name = name
	for {
		if p.at >= len(p.words) {
			return nil
		}
		if err := p.expect("\n"); err != nil {
			return err
		}
		switch {
		case p.at >= len(p.words) || p.is("\n"):
		case p.accept("in"):
			err = p.input()
		case p.accept("out"):
			err = p.output()
		default:
			err = p.instr()
		}
		if err != nil {
			return err
		}
	}
}

func (p *textParser) input() error {
	name, err := p.name()
	if err != nil {
		return err
	}
	if len(p.t.Instrs) > 0 {
		return fmt.Errorf("input %s stands behind an instruction", name)
	}
	var shape Shape
	if p.is("[") {
		if shape, err = p.ints(); err != nil {
			return err
		}
	}
	if _, ok := p.names[name]; ok {
		return fmt.Errorf("input %s is there twice", name)
	}
	p.names[name] = Value(len(p.t.Inputs))
	p.t.Inputs = append(p.t.Inputs, Input{Name: name, Shape: shape, PerLane: p.accept("lane")})
	return nil
}

func (p *textParser) output() error {
	name, err := p.name()
	if err != nil {
		return err
	}
	v, err := p.ref()
	if err != nil {
		return err
	}
	p.t.Outputs = append(p.t.Outputs, Output{Name: name, Value: v})
	return nil
}

// ref reads an operand: the name of an input, or % and the number of an instruction.
func (p *textParser) ref() (Value, error) {
	w := p.peek()
	if num, ok := strings.CutPrefix(w.text, "%"); ok && !w.quoted {
		n, err := strconv.ParseInt(num, 10, 32)
		if err != nil || n < 0 {
			return 0, fmt.Errorf("%q is not a value", w.text)
		}
		p.at++
		return Value(n), nil
	}
	v, ok := p.names[w.text]
	if !ok {
		return 0, fmt.Errorf("%q is not an input", w.text)
	}
	p.at++
	return v, nil
}

// instr reads "%3 = op operands attributes : shape lane".
func (p *textParser) instr() error {
	v := len(p.t.Inputs) + len(p.t.Instrs)
	if err := p.expect("%" + strconv.Itoa(v)); err != nil {
		return err
	}
	if err := p.expect("="); err != nil {
		return err
	}
	op, ok := OpByName(p.peek().text)
	if !ok {
		return fmt.Errorf("%q is not an op", p.peek().text)
	}
	p.at++
	in := Instr{Op: op}
	if op == Const {
		if err := p.data(&in.Attr); err != nil {
			return err
		}
	}
	for p.at < len(p.words) && !p.is("\n") && !p.is(":") {
		if ok, err := p.attr(&in.Attr); err != nil {
			return err
		} else if ok {
			continue
		}
		a, err := p.ref()
		if err != nil {
			return err
		}
		in.Args = append(in.Args, a)
	}
	lane := false
	if p.accept(":") {
		var err error
		if p.is("[") {
			if in.Shape, err = p.ints(); err != nil {
				return err
			}
		}
		lane = p.accept("lane")
	}
	p.t.Instrs = append(p.t.Instrs, in)
	p.lanes = append(p.lanes, lane)
	return nil
}

// attr reads an attribute, if there is one, and reports whether there was.
func (p *textParser) attr(a *Attr) (bool, error) {
	w := p.peek()
	if w.quoted {
		return false, nil
	}
	switch w.text {
	case "ta":
		p.at++
		a.TA = true
		return true, nil
	case "tb":
		p.at++
		a.TB = true
		return true, nil
	}
	if num, ok := strings.CutPrefix(w.text, "power="); ok {
		p.at++
		return true, integer(num, &a.Power)
	}
	if num, ok := strings.CutPrefix(w.text, "axis="); ok {
		p.at++
		return true, integer(num, &a.Axis)
	}
	for _, list := range []struct {
		key string
		to  *[]int
	}{{"perm=", &a.Perm}, {"start=", &a.Start}, {"step=", &a.Step}, {"index=", &a.Index}, {"axes=", &a.Axes}} {
		if w.text == list.key {
			p.at++
			xs, err := p.ints()
			*list.to = xs
			return true, err
		}
	}
	return false, nil
}

func integer(text string, to *int) error {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n != int64(int(n)) {
		return fmt.Errorf("%q is not an integer", text)
	}
	*to = int(n)
	return nil
}

// data reads the elements of a Const: one number, or a list of them in braces.
func (p *textParser) data(a *Attr) error {
	if !p.accept("{") {
		x, err := float(p.peek().text)
		p.at++
		a.Data = []float64{x}
		return err
	}
	for !p.accept("}") {
		text, n, err := p.repeated()
		if err != nil {
			return err
		}
		x, err := float(text)
		if err != nil {
			return err
		}
		for range n {
			a.Data = append(a.Data, x)
		}
	}
	return nil
}

func float(text string) (float64, error) {
	switch text {
	case "nan":
		return math.NaN(), nil
	case "inf":
		return math.Inf(1), nil
	case "-inf":
		return math.Inf(-1), nil
	}
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || x != x || math.IsInf(x, 0) || strings.Contains(text, "_") {
		return 0, fmt.Errorf("%q is not a number", text)
	}
	return x, nil
}

// repeated reads an entry x or x*n of a list. It returns the text of x, and n.
func (p *textParser) repeated() (string, int, error) {
	w := p.peek()
	if w.quoted || w.text == "\n" || w.text == "" {
		return "", 0, fmt.Errorf("a list does not end")
	}
	p.at++
	x, count, ok := strings.Cut(w.text, "*")
	n := 1
	if ok {
		if err := integer(count, &n); err != nil || n < 1 {
			return "", 0, fmt.Errorf("%q is not a number of repetitions", count)
		}
	}
	return x, n, p.spend(n)
}

func (p *textParser) spend(n int) error {
	if n > maxEntries-p.entries {
		return fmt.Errorf("the lists have more than %d entries", maxEntries)
	}
	p.entries += n
	return nil
}

// ints reads a list of integers in brackets.
func (p *textParser) ints() ([]int, error) {
	if err := p.expect("["); err != nil {
		return nil, err
	}
	var out []int
	for !p.accept("]") {
		text, n, err := p.repeated()
		if err != nil {
			return nil, err
		}
		parts := strings.Split(text, ":")
		var v [3]int
		if len(parts) > 3 {
			return nil, fmt.Errorf("%q is not a range", text)
		}
		for i, s := range parts {
			if err := integer(s, &v[i]); err != nil {
				return nil, err
			}
		}
		if len(parts) == 1 {
			for range n {
				out = append(out, v[0])
			}
			continue
		}
		lo, step, hi := v[0], 1, v[1]
		if len(parts) == 3 {
			step, hi = v[1], v[2]
		}
		if n != 1 || step < 1 || step > maxSize || lo < 0 || hi < lo || hi > maxSize {
			return nil, fmt.Errorf("%q is not a range", text)
		}
		if err := p.spend((hi-lo)/step + 1); err != nil {
			return nil, err
		}
		for i := lo; i < hi; i += step {
			out = append(out, i)
		}
	}
	return out, nil
}
