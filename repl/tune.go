package repl

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/screen"
)

// Keys is a terminal that tells keys one by one.
type Keys interface {
	// Open makes the terminal tell single keys, and show what is written as it is, until close is called.
	Open() (terminal io.ReadWriter, close func(), err error)
}

// Keys that a tuner knows.
const (
	keyLess, keyMore         = "left", "right"
	keyMuchLess, keyMuchMore = "down", "up"
	keyFirst                 = "home"
	keyTake, keyLeave        = "enter", "escape"
)

// sequences are what terminals send.
var sequences = map[string]string{
	"[D": keyLess, "OD": keyLess, "[C": keyMore, "OC": keyMore,
	"[B": keyMuchLess, "OB": keyMuchLess, "[A": keyMuchMore, "OA": keyMuchMore,
	"[H": keyFirst, "OH": keyFirst, "[1~": keyFirst, "[7~": keyFirst,
	"[5~": keyMuchMore, "[6~": keyMuchLess,
}

// readKey returns the next key: one of those above, or "" for another. A single Escape is followed by another key, or
// by nothing more: then what comes next counts.
func readKey(r io.Reader) (string, error) {
	next := func() (byte, error) {
		var b [1]byte
		_, err := io.ReadFull(r, b[:])
		return b[0], err
	}
	b, err := next()
	if err != nil {
		return "", err
	}
	switch b {
	case '\r', '\n':
		return keyTake, nil
	case 'q', 'Q', 3, 4: // Ctrl-C and Ctrl-D
		return keyLeave, nil
	case 'h', '-':
		return keyLess, nil
	case 'l', '+':
		return keyMore, nil
	case 'j':
		return keyMuchLess, nil
	case 'k':
		return keyMuchMore, nil
	case '0':
		return keyFirst, nil
	case 0x1b:
		var text []byte
		for len(text) < 4 {
			if b, err = next(); err != nil || b == 0x1b {
				return keyLeave, nil
			}
			text = append(text, b)
			if len(text) == 1 && b != '[' && b != 'O' {
				return keyLeave, nil
			}
			if len(text) > 1 && (b == '~' || b >= 'A' && b <= 'Z') {
				return sequences[string(text)], nil
			}
		}
	}
	return "", nil
}

// tuner is a value that keys move.
type tuner struct {
	s        *Session
	name     string
	unit     string
	of       string // what is drawn
	lo, hi   float64
	log      bool
	at, from float64 // of 1000 parts of the range, as they are now and at first
	start    float64
	lines    int // of the last picture
}

const (
	tuneParts = 1000
	tuneLess  = 10  // parts that a key moves by
	tuneMuch  = 100 // and one that moves by much
)

// value is where the tuner stands. At first that is the value itself, to its last bit.
func (t *tuner) value() float64 {
	switch {
	case t.at == t.from:
		return t.start
	case t.log:
		return rounded(t.lo * math.Pow(t.hi/t.lo, t.at/tuneParts))
	}
	return rounded(t.lo + (t.hi-t.lo)*t.at/tuneParts)
}

// rounded leaves a value the digits that the keys can tell apart.
func rounded(x float64) float64 {
	var y float64
	if _, err := fmt.Sscan(short(x, 4), &y); err != nil {
		return x
	}
	return y
}

// part is where a value is in the range.
func (t *tuner) part(x float64) float64 {
	if t.log {
		return math.Round(tuneParts * math.Log(x/t.lo) / math.Log(t.hi/t.lo))
	}
	return math.Round(tuneParts * (x - t.lo) / (t.hi - t.lo))
}

// move moves the value by a key. It reports whether that is the last one, and whether the value is kept.
func (t *tuner) move(key string) (done, keep bool) {
	step := map[string]float64{
		keyLess: -tuneLess, keyMore: tuneLess, keyMuchLess: -tuneMuch, keyMuchMore: tuneMuch,
	}[key]
	switch key {
	case keyTake:
		return true, true
	case keyLeave:
		return true, false
	case keyFirst:
		t.at = t.from
	}
	t.at = min(tuneParts, max(0, t.at+step))
	return false, false
}

// newTuner reads `k from a to b of x`.
func newTuner(ctx context.Context, s *Session, rest string) (*tuner, error) {
	m, err := s.model()
	if err != nil {
		return nil, err
	}
	name, by := clauses(rest, "from", "to", "of")
	if name == "" {
		return nil, errors.New("tune what? tune k, or tune k from 0.1 to 10 of x")
	}
	symbol, err := s.target(m, name)
	if err != nil {
		return nil, err
	}
	if len(symbol.Shape) > 0 {
		return nil, fmt.Errorf("%s is an array; choose an element: tune %[1]s[1]", name)
	}
	now, err := s.present(ctx, name, symbol)
	if err != nil {
		return nil, err
	}
	t := &tuner{s: s, name: name, unit: symbol.Unit, of: by["of"], start: now}
	t.lo, t.hi = bounds(symbol, now)
	for word, to := range map[string]*float64{"from": &t.lo, "to": &t.hi} {
		if by[word] == "" {
			continue
		}
		v, err := s.constant(ctx, by[word], symbol)
		if err != nil {
			return nil, err
		}
		*to = v[0]
	}
	if !(t.hi > t.lo) {
		return nil, fmt.Errorf("the range from %s to %s is empty; the smaller end comes first", short(t.lo, 6),
			short(t.hi, 6))
	}
	t.log = t.lo > 0 && t.hi >= 10*t.lo
	t.at = min(tuneParts, max(0, t.part(now)))
	t.from = t.at
	return t, nil
}

// tune moves a value by keys. What was set stays if the user takes it, as if it had been entered.
func tune(s *Session, ctx context.Context, w io.Writer, rest string) error {
	t, err := newTuner(ctx, s, rest)
	if err != nil {
		return err
	}
	if s.cfg.Keys == nil {
		return fmt.Errorf("tune needs a keyboard, and this session has none: write %s = %s, and then plot %s", t.name,
			short(t.start, 6), t.of)
	}
	keys, end, err := s.cfg.Keys.Open()
	if err != nil {
		return err
	}
	_, _ = io.WriteString(w, "") // what tells of progress ends with the first thing that is written
	if err := t.draw(ctx, keys); err != nil {
		end()
		return err
	}
	keep := false
	for done := false; !done; {
		key, err := readKey(keys)
		if err != nil {
			break
		}
		before := t.at
		if done, keep = t.move(key); done || t.at == before {
			continue
		}
		if err := t.draw(ctx, keys); err != nil {
			end()
			return err
		}
	}
	end()
	if !keep || t.value() == t.start {
		s.Say(w, "%s stays %s", t.name, withUnit(short(t.start, 8), t.unit))
		return nil
	}
	return s.Exec(ctx, w, t.name+" = "+short(t.value(), 17))
}

// draw puts the picture of the value where the last one is.
func (t *tuner) draw(ctx context.Context, w io.Writer) error {
	s, before := t.s, t.s.now
	s.now.set = with(s.now.set, named(t.name), []float64{t.value()})
	defer func() { s.now = before }()
	var b bytes.Buffer
	if err := t.picture(ctx, &b); err != nil {
		if odes.Interrupted(err) || t.lines == 0 {
			return err
		}
		b.Reset() // a value that has no run has no picture
		fmt.Fprintf(&b, "%s\n", screen.Fold(err.Error(), max(20, s.width()-1), ""))
	}
	fmt.Fprintf(&b, "%s\n", t.ruler())
	const help = "← → move it, ↑ ↓ by much, Home back; Enter keeps it, q leaves it"
	fmt.Fprintf(&b, "%s\n", help)
	text := b.String()
	if t.lines > 0 {
		text = screen.Redraw(t.lines) + text
	}
	t.lines = strings.Count(b.String(), "\n")
	_, err := io.WriteString(w, text)
	return err
}

// picture draws the run, and lists objectives.
func (t *tuner) picture(ctx context.Context, w io.Writer) error {
	s := t.s
	p, err := s.Picture(ctx, t.of, 2*s.width())
	if err != nil {
		return err
	}
	if err := s.deliver(w, p, look{}); err != nil {
		return err
	}
	m, err := s.model()
	if err != nil {
		return err
	}
	list := objectives(m)
	if len(list) == 0 {
		return nil
	}
	sol, err := m.Solve(ctx, unchecked(s.options()))
	if err != nil {
		return err
	}
	var texts []string
	for _, v := range sol.Values {
		texts = append(texts, v.Name+" "+withUnit(short(v.Value, 6), v.Unit))
	}
	const most = 6
	if more := len(texts) - most; more > 0 {
		texts = append(texts[:most], fmt.Sprintf("… %d more", more))
	}
	_, err = fmt.Fprintln(w, screen.Fold(strings.Join(texts, ", "), max(20, s.width()-1), ""))
	return err
}

// ruler shows where in its range the value is.
func (t *tuner) ruler() string {
	low, high := short(t.lo, 4), short(t.hi, 4)
	head := t.name + " = " + withUnit(short(t.value(), 6), t.unit)
	room := max(10, min(60, t.s.width()-screen.Width(head)-len(low)-len(high)-8))
	at := int(math.Round(t.at / tuneParts * float64(room-1)))
	return fmt.Sprintf("%s  %s ├%s●%s┤ %s", head, low, strings.Repeat("─", at), strings.Repeat("─", room-1-at), high)
}
