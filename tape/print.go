package tape

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// The text form, which Parse reads back:
//
//	tape dy
//
//	in y.x    [200]
//	in p.A    [200 200]
//	in bar.dy [200]      lane
//
//	%3 = matmul p.A y.x   : [200]
//	%4 = mul y.x %3       : [200]
//	%5 = mul bar.dy %4    : [200] lane
//
//	out dy %4
//
// An instruction names its op, its operands and its attributes. Operands that are
// inputs go by their names, others by their numbers. After a colon follow the shape,
// unless it is that of a scalar, and "lane" if every lane has its own value. In lists
// of integers a:b stands for a, …, b-1 and a:s:b for every s-th of them. In all lists
// x*n stands for n times x. Names are quoted if they have unusual characters. A
// comment goes from "#" to the end of its line.

// Printer writes tapes as text.
type Printer struct {
	// MaxData is the number of list entries after which a list is cut short by "…",
	// or 0 for no limit. Text with such a list does not parse.
	MaxData int
}

// String returns the text form of t.
func (t *Tape) String() string {
	var b strings.Builder
	_ = Printer{}.Print(&b, t) // a Builder does not fail
	return b.String()
}

// Print writes the text form of t to w. Its errors are those of w.
func (p Printer) Print(w io.Writer, t *Tape) error {
	var b strings.Builder
	fmt.Fprintf(&b, "tape %s\n", quote(t.Name))
	names, shapes := make([]string, len(t.Inputs)), make([]string, len(t.Inputs))
	nameWidth, shapeWidth := 0, 0
	for i := range t.Inputs {
		names[i] = quote(t.Inputs[i].Name)
		nameWidth = max(nameWidth, len([]rune(names[i])))
		if len(t.Inputs[i].Shape) > 0 {
			shapes[i] = t.Inputs[i].Shape.String()
			shapeWidth = max(shapeWidth, len(shapes[i]))
		}
	}
	if len(t.Inputs) > 0 {
		b.WriteByte('\n')
	}
	for i := range t.Inputs {
		lane := ""
		if t.Inputs[i].PerLane {
			lane = "lane"
		}
		line := fmt.Sprintf("in %-*s %-*s %s", nameWidth, names[i], shapeWidth, shapes[i], lane)
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	if len(t.Instrs) > 0 {
		b.WriteByte('\n')
	}
	p.instrs(&b, t)
	if len(t.Outputs) > 0 {
		b.WriteByte('\n')
	}
	width := 0
	for _, o := range t.Outputs {
		width = max(width, len([]rune(quote(o.Name))))
	}
	for _, o := range t.Outputs {
		fmt.Fprintf(&b, "out %-*s %s\n", width, quote(o.Name), t.ref(o.Value))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// maxAlign is the width up to which a line has its shape in the common column.
const maxAlign = 60

func (p Printer) instrs(b *strings.Builder, t *Tape) {
	lane := PerLane(t)
	lines := make([]string, len(t.Instrs))
	width, numWidth := 0, 0
	for i := range t.Instrs {
		num := fmt.Sprintf("%%%d", len(t.Inputs)+i)
		numWidth = max(numWidth, len(num))
	}
	for i := range t.Instrs {
		num := fmt.Sprintf("%%%d", len(t.Inputs)+i)
		lines[i] = fmt.Sprintf("%-*s = %s", numWidth, num, p.instr(t, &t.Instrs[i]))
		if n := len([]rune(lines[i])); n <= maxAlign {
			width = max(width, n)
		}
	}
	for i, line := range lines {
		suffix := ""
		if s := t.Instrs[i].Shape; len(s) > 0 {
			suffix = " : " + s.String()
		}
		if lane[len(t.Inputs)+i] {
			if suffix == "" {
				suffix = " :"
			}
			suffix += " lane"
		}
		if suffix != "" {
			line = fmt.Sprintf("%-*s%s", width, line, suffix)
		}
		b.WriteString(line + "\n")
	}
}

func (p Printer) instr(t *Tape, in *Instr) string {
	parts := []string{in.Op.String()}
	for _, a := range in.Args {
		parts = append(parts, t.ref(a))
	}
	u, a := in.Op.uses(), &in.Attr
	if u.data {
		if len(a.Data) == 1 {
			parts = append(parts, number(a.Data[0]))
		} else {
			parts = append(parts, "{"+wrap(p.floats(a.Data))+"}")
		}
	}
	if u.power {
		parts = append(parts, "power="+strconv.Itoa(a.Power))
	}
	if u.perm {
		parts = append(parts, "perm=["+p.ints(a.Perm)+"]")
	}
	if u.window {
		parts = append(parts, "start=["+p.ints(a.Start)+"]")
		if a.Step != nil {
			parts = append(parts, "step=["+p.ints(a.Step)+"]")
		}
	}
	if u.axis {
		parts = append(parts, "axis="+strconv.Itoa(a.Axis))
	}
	if u.index {
		parts = append(parts, "index=["+p.ints(a.Index)+"]")
	}
	if u.axes {
		parts = append(parts, "axes=["+p.ints(a.Axes)+"]")
	}
	if u.flags && a.TA {
		parts = append(parts, "ta")
	}
	if u.flags && a.TB {
		parts = append(parts, "tb")
	}
	return strings.Join(parts, " ")
}

// ref returns how the text names a value.
func (t *Tape) ref(v Value) string {
	if v >= 0 && int(v) < len(t.Inputs) {
		return quote(t.Inputs[v].Name)
	}
	return "%" + strconv.Itoa(int(v))
}

// quote returns a name as the text has it. Names of letters, digits and a few signs
// stand as they are, others in quotes.
func quote(name string) string {
	plain := name != "" && name != "ta" && name != "tb" // words of the text form
	for i, r := range name {
		letter := r == '_' || unicode.IsLetter(r)
		if !letter && (i == 0 || !unicode.IsDigit(r) && !strings.ContainsRune(".@-", r)) {
			plain = false
		}
	}
	if plain {
		return name
	}
	return strconv.Quote(name)
}

// number returns the shortest text that reads back as x.
func number(x float64) string {
	switch {
	case x != x:
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// floats returns the items of a list of numbers, with x*n for repetitions.
func (p Printer) floats(xs []float64) []string {
	var items []string
	for i := 0; i < len(xs); {
		if p.MaxData > 0 && len(items) >= p.MaxData {
			items = append(items, "…")
			break
		}
		n := 1
		for i+n < len(xs) && sameBits(xs[i+n], xs[i]) {
			n++
		}
		items = append(items, times(number(xs[i]), n))
		i += n
	}
	return items
}

// maxLine is the width that long lists are wrapped to.
const maxLine = 100

// wrap joins items by spaces, over several lines if they do not fit on one.
func wrap(items []string) string {
	if line := strings.Join(items, " "); len(line) <= maxLine {
		return line
	}
	var b strings.Builder
	room := 0
	for _, it := range items {
		if len(it)+1 > room {
			b.WriteString("\n   ")
			room = maxLine
		}
		b.WriteString(" " + it)
		room -= len(it) + 1
	}
	b.WriteString("\n")
	return b.String()
}

// ints returns the text of a list of integers, with a:b or a:s:b for runs and x*n for
// repetitions.
func (p Printer) ints(xs []int) string {
	var items []string
	for i := 0; i < len(xs); {
		if p.MaxData > 0 && len(items) >= p.MaxData {
			items = append(items, "…")
			break
		}
		n, step := 1, 0
		if i+1 < len(xs) {
			step = xs[i+1] - xs[i]
			for i+n < len(xs) && xs[i+n]-xs[i+n-1] == step {
				n++
			}
		}
		switch {
		case step == 0 && n > 2:
			items = append(items, times(strconv.Itoa(xs[i]), n))
		case step == 1 && n > 2:
			items = append(items, fmt.Sprintf("%d:%d", xs[i], xs[i]+n))
		case step > 1 && n > 3:
			items = append(items, fmt.Sprintf("%d:%d:%d", xs[i], step, xs[i+n-1]+1))
		default:
			n = 1
			items = append(items, strconv.Itoa(xs[i]))
		}
		i += n
	}
	return strings.Join(items, " ")
}

func times(x string, n int) string {
	if n == 1 {
		return x
	}
	return x + "*" + strconv.Itoa(n)
}

// Equal reports whether t and u are equal but for spans.
func (t *Tape) Equal(u *Tape) bool {
	return t.Name == u.Name &&
		slices.EqualFunc(t.Inputs, u.Inputs, func(a, b Input) bool {
			return a.Name == b.Name && a.PerLane == b.PerLane && a.Shape.Equal(b.Shape)
		}) &&
		slices.EqualFunc(t.Instrs, u.Instrs, func(a, b Instr) bool { return same(&a, &b) }) &&
		slices.Equal(t.Outputs, u.Outputs)
}
