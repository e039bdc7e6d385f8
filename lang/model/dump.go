package model

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes/lang/types"
)

// Dump writes m as text, for golden files and `odes emit --stage model`. Expressions are written
// with all parentheses. A subexpression that several expressions share is written once, as %1, %2
// …. Long constant arrays are cut. It returns the errors of w.
func Dump(w io.Writer, m *Model) error {
	d := &dumper{names: map[Expr]string{}, uses: map[Expr]int{}}
	d.model(m)
	if _, err := io.WriteString(w, d.out.String()); err != nil {
		return err
	}
	for _, x := range m.Experiments {
		if _, err := fmt.Fprintf(w, "\nexperiment %s\n", x.Name); err != nil {
			return err
		}
		if err := Dump(w, x.Model); err != nil {
			return err
		}
	}
	return nil
}

type dumper struct {
	out   strings.Builder
	names map[Expr]string
	uses  map[Expr]int
	lines []string // definitions of shared subexpressions, written before the line that needs them
}

func (d *dumper) printf(format string, args ...any) {
	s := fmt.Sprintf(format, args...)
	for _, l := range d.lines {
		d.out.WriteString(l + "\n")
	}
	d.lines = nil
	d.out.WriteString(s + "\n")
}

func (d *dumper) model(m *Model) {
	d.count(m)
	title := ""
	if m.Title != "" {
		title = " " + strconv.Quote(m.Title)
	}
	d.printf("model %s%s", m.Name, title)
	d.printf("time %s from %s to %s", symbolText(m.Time), d.expr(m.From), d.expr(m.To))
	for _, p := range m.Params {
		bounds := ""
		if !math.IsInf(p.Lo, -1) || !math.IsInf(p.Hi, 1) || p.Least != nil || p.Most != nil {
			one := func(v float64, made Expr) string {
				if made != nil {
					return d.expr(made)
				}
				return float(v)
			}
			bounds = fmt.Sprintf(" in [%s, %s]", one(p.Lo, p.Least), one(p.Hi, p.Most))
		}
		d.printf("param %s = %s%s%s", symbolText(p), d.expr(p.Value), bounds, literal(p))
	}
	for _, s := range m.States {
		word := "state"
		if s.Kind == AlgSymbol {
			word = "alg"
		}
		d.printf("%s %s = %s%s", word, symbolText(s), d.expr(s.Value), literal(s))
	}
	for _, s := range m.Discretes {
		d.printf("discrete %s = %s%s", symbolText(s), d.expr(s.Value), literal(s))
	}
	for i, r := range m.Rates {
		d.printf("%s' = %s", m.States[i].Name, d.expr(r))
	}
	for _, x := range m.Masses {
		d.printf("mass(%s): unknowns %v, rows %v, columns %v, values "+
			"%v", x.State.Name, x.Unknowns, x.Rows, x.Cols, x.Values)
	}
	for _, r := range m.Residuals {
		d.printf("0 = %s", d.expr(r.Value))
	}
	for _, e := range m.Events {
		d.event(e)
	}
	for _, o := range m.Outputs {
		d.printf("output %s%s = %s", o.Name, typeText(o.Value.Type()), d.expr(o.Value))
	}
	for _, o := range m.Objectives {
		word := "objective"
		relation := ""
		if o.Relation != "" {
			word, relation = "constraint", " "+o.Relation+" 0"
		}
		d.printf("%s %s%s = %s%s%s", word, o.Name, typeText(o.Value.Type()), d.expr(o.Value), relation,
			binderText(o.Indices))
	}
	for _, a := range m.Asserts {
		d.printf("assert %s, %q", d.expr(a.Cond), a.Text)
	}
	for _, v := range m.Invariants {
		d.printf("invariant %s == %s", d.expr(v.Left), d.expr(v.Right))
	}
	for _, t := range m.Totals {
		d.printf("total %s", symbolText(t))
	}
	for _, b := range m.Settings.Blocks {
		name := ""
		if b.Name != "" {
			name = " " + b.Name
		}
		d.printf("%s%s {%s%s }", b.Kind, name, settingsText(b.Keys), drawsText(b))
	}
}

func literal(s *Symbol) string {
	if s.Literal {
		return ""
	}
	return "  # depends on other names"
}

func (d *dumper) event(e *Event) {
	var b strings.Builder
	fmt.Fprintf(&b, "event %s", e.Name)
	if e.Kind() == ByCrossing {
		fmt.Fprintf(&b, " when %s crosses 0%s", d.expr(e.Crossing), map[int8]string{1: " up", -1: " down"}[e.Way])
		if e.When != nil {
			fmt.Fprintf(&b, " and %s", d.expr(e.When))
		}
	} else if e.When != nil {
		fmt.Fprintf(&b, " when %s", d.expr(e.When))
	}
	for i, t := range e.Times {
		if i == 0 {
			b.WriteString(" at ")
		} else {
			b.WriteString(", ")
		}
		b.WriteString(d.expr(t))
	}
	for _, p := range []struct {
		word string
		e    Expr
	}{{"every", e.Every}, {"from", e.From}, {"to", e.To}, {"count", e.Count}, {"period", e.Period}} {
		if p.e != nil {
			fmt.Fprintf(&b, " %s %s", p.word, d.expr(p.e))
		}
	}
	b.WriteString(binderText(e.Indices))
	if e.Priority != 0 {
		fmt.Fprintf(&b, " priority %s", float(e.Priority))
	}
	if e.Rank != nil {
		fmt.Fprintf(&b, " priority %s", d.expr(e.Rank))
	}
	if e.Once {
		b.WriteString(" once")
	}
	if e.Start {
		b.WriteString(" at start")
	}
	if e.Slot != nil {
		fmt.Fprintf(&b, " for slot in 1:%d", e.Slot.Count)
	}
	if e.Transient {
		fmt.Fprintf(&b, ", while %s", e.If.Name)
	}
	if e.Tol > 0 {
		fmt.Fprintf(&b, ", tol = %s", float(e.Tol))
	}
	if e.Stop {
		b.WriteString(" stop")
	}
	d.printf("%s", b.String())
	for _, a := range e.Body {
		d.printf("  %s%s = %s%s", a.Target.Name, d.subs(a.Subs), d.expr(a.Value), binderText(a.Indices))
	}
}

func symbolText(s *Symbol) string { return s.Name + typeText(s.Type) }

// typeText returns "[3 4] : [m]", without the parts that are scalar or unknown.
func typeText(t types.Type) string {
	s := ""
	if len(t.Shape) > 0 {
		s = t.Shape.String()
	}
	if t.Unit.Known() {
		s += " : [" + t.Unit.String() + "]"
	}
	return s
}

func binderText(list []*Index) string {
	if len(list) == 0 {
		return ""
	}
	parts := make([]string, len(list))
	for i, ix := range list {
		last := ix.Lo + (ix.Count-1)*ix.Step
		if ix.Step == 1 {
			parts[i] = fmt.Sprintf("%s in %d:%d", ix.Name, ix.Lo, last)
		} else {
			parts[i] = fmt.Sprintf("%s in %d:%d:%d", ix.Name, ix.Lo, ix.Step, last)
		}
	}
	return " for " + strings.Join(parts, ", ")
}

func float(x float64) string { return strconv.FormatFloat(x, 'g', -1, 64) }

// count finds the subexpressions that occur in several places.
func (d *dumper) count(m *Model) {
	seen := map[Expr]bool{}
	var roots []Expr
	roots = append(roots, m.From, m.To)
	for _, list := range [][]*Symbol{m.Params, m.States, m.Discretes} {
		for _, s := range list {
			roots = append(roots, s.Value)
		}
	}
	roots = append(roots, m.Rates...)
	for _, r := range m.Residuals {
		roots = append(roots, r.Value)
	}
	for _, e := range m.Events {
		roots = append(roots, e.Crossing, e.When, e.Every, e.From, e.To, e.Count, e.Rank)
		roots = append(roots, e.Times...)
		for _, a := range e.Body {
			roots = append(roots, a.Value)
		}
	}
	for _, o := range m.Outputs {
		roots = append(roots, o.Value)
	}
	for _, o := range m.Objectives {
		roots = append(roots, o.Value)
	}
	for _, a := range m.Asserts {
		roots = append(roots, a.Cond)
	}
	for _, v := range m.Invariants {
		roots = append(roots, v.Left, v.Right)
	}
	for _, r := range roots {
		if r != nil {
			d.uses[r]++
		}
	}
	Walk(func(e Expr) bool {
		seen[e] = true
		for _, p := range parts(e) {
			d.uses[p]++
		}
		return true
	}, roots...)
}

// parts returns the operands of e.
func parts(e Expr) []Expr {
	var list []Expr
	switch e := e.(type) {
	case *Call:
		list = append(list, e.Args...)
	case *Access:
		list = append(list, e.X)
		for _, s := range e.Subs {
			list = append(list, s.At)
		}
	case *Assemble:
		for _, p := range e.Pieces {
			for _, s := range p.Subs {
				list = append(list, s.At)
			}
			list = append(list, p.Value)
		}
	case *Reduce:
		list = append(list, e.Body)
	case *If:
		list = append(list, e.Cond, e.Then, e.Else)
	case *Stack:
		list = append(list, e.Elems...)
	case *NoEvent:
		list = append(list, e.X)
	case *Limit:
		list = append(list, e.X)
	case *Functional:
		list = append(list, e.Body, e.From, e.To, e.Times)
		list = append(list, e.Elem...)
	}
	kept := list[:0]
	for _, x := range list {
		if x != nil {
			kept = append(kept, x)
		}
	}
	return kept
}

// expr writes e. A shared subexpression is defined on a line before.
func (d *dumper) expr(e Expr) string {
	if name, ok := d.names[e]; ok {
		return name
	}
	text := d.text(e)
	switch e.(type) {
	case *Const, *Ref, *LoopVar, *Row:
		return text
	}
	if d.uses[e] < 2 {
		return text
	}
	name := "%" + strconv.Itoa(len(d.names)+1)
	d.names[e] = name
	d.lines = append(d.lines, name+typeText(e.Type())+" = "+text)
	return name
}

func (d *dumper) text(e Expr) string {
	switch e := e.(type) {
	case *Const:
		return constText(e)
	case *Ref:
		return e.Sym.Name
	case *LoopVar:
		return e.Index.Name
	case *Call:
		args := make([]string, len(e.Args))
		for i, a := range e.Args {
			args[i] = d.expr(a)
		}
		switch n := e.Fn.Name; {
		case n == "neg":
			return "-" + args[0]
		case n == "not":
			return "not " + args[0]
		case len(args) == 2 && (n == "and" || n == "or" || !(n[0] >= 'a' && n[0] <= 'z')):
			return "(" + args[0] + " " + n + " " + args[1] + ")"
		default:
			return n + "(" + strings.Join(args, ", ") + ")"
		}
	case *Access:
		return d.expr(e.X) + d.subs(e.Subs)
	case *Assemble:
		list := make([]string, len(e.Pieces))
		for i, p := range e.Pieces {
			list[i] = d.subs(p.Subs) + " " + d.expr(p.Value) + binderText(p.Indices)
		}
		return "array" + e.T.Shape.String() + "{" + strings.Join(list, "; ") + "}"
	case *Reduce:
		return e.Fn.Name + "(" + d.expr(e.Body) + binderText(e.Indices) + ")"
	case *If:
		word := "if"
		if e.Static {
			word = "static if"
		}
		return "(" + word + " " + d.expr(e.Cond) + " then " + d.expr(e.Then) + " else " + d.expr(e.Else) + ")"
	case *Stack:
		list := make([]string, len(e.Elems))
		for i, x := range e.Elems {
			list[i] = d.expr(x)
		}
		return "[" + strings.Join(list, ", ") + "]"
	case *NoEvent:
		return "noevent(" + d.expr(e.X) + ")"
	case *Limit:
		return map[bool]string{false: "pre(", true: "post("}[e.Post] + d.expr(e.X) + ")"
	case *Row:
		return e.Table.Name + "." + e.Table.Columns[e.Column]
	case *Functional:
		return d.functional(e)
	}
	return fmt.Sprintf("%T", e)
}

func (d *dumper) functional(e *Functional) string {
	var args []string
	event := ""
	if e.Event != nil && e.Kind != Steady {
		event = e.Event.Name
		if e.Elem != nil {
			subs := make([]string, len(e.Elem))
			for i, x := range e.Elem {
				subs[i] = d.expr(x)
			}
			event += "[" + strings.Join(subs, ",") + "]"
		}
		args = append(args, event)
	}
	if e.Times != nil {
		args = append(args, d.expr(e.Times))
	}
	if e.Body != nil {
		args = append(args, d.expr(e.Body))
	}
	if e.From != nil {
		args = append(args, "from = "+d.expr(e.From))
	}
	if e.To != nil {
		args = append(args, "to = "+d.expr(e.To))
	}
	if e.Nth > 0 {
		args = append(args, "nth = "+strconv.Itoa(e.Nth))
	}
	return e.Kind.Facts().Name + "(" + strings.Join(args, ", ") + ")"
}

func (d *dumper) subs(subs []Sub) string {
	if subs == nil {
		return ""
	}
	list := make([]string, len(subs))
	for i, s := range subs {
		switch {
		case s.At != nil:
			list[i] = d.expr(s.At)
		case s.Step == 1:
			list[i] = fmt.Sprintf("%d:%d", s.Lo, s.Lo+s.Count-1)
		default:
			list[i] = fmt.Sprintf("%d:%d:%d", s.Lo, s.Step, s.Lo+(s.Count-1)*s.Step)
		}
	}
	return "[" + strings.Join(list, ",") + "]"
}

func constText(e *Const) string {
	if e.T.Kind == types.Bool && len(e.Data) == 1 && len(e.T.Shape) == 0 {
		return strconv.FormatBool(e.Data[0] != 0)
	}
	if len(e.T.Shape) == 0 {
		return float(e.Data[0])
	}
	if len(e.Data) == 1 {
		return "fill" + e.T.Shape.String() + "(" + float(e.Data[0]) + ")"
	}
	const most = 12
	list := []string{}
	for i, x := range e.Data {
		if i == most {
			list = append(list, fmt.Sprintf("… %d more", len(e.Data)-most))
			break
		}
		list = append(list, float(x))
	}
	shape := ""
	if len(e.T.Shape) > 1 {
		shape = e.T.Shape.String()
	}
	return shape + "[" + strings.Join(list, ", ") + "]"
}

// drawsText writes what an ensemble draws, and what it reads.
func drawsText(b Block) string {
	var out strings.Builder
	for _, w := range b.Draws {
		fmt.Fprintf(&out, " %s ~ %s%v", w.Target, w.Dist, w.Args)
		if !math.IsInf(w.Lo, -1) || !math.IsInf(w.Hi, 1) {
			fmt.Fprintf(&out, " in [%g, %g]", w.Lo, w.Hi)
		}
	}
	if b.Rows != nil {
		fmt.Fprintf(&out, " %v %v", b.Rows.Columns, b.Rows.Data)
	}
	return out.String()
}

func settingsText(keys []Setting) string {
	s := ""
	for _, k := range keys {
		s += " " + k.Key + " = " + settingText(k.Value)
	}
	return s
}

func settingText(v SettingValue) string {
	var list []string
	for _, x := range v.List {
		list = append(list, settingText(x))
	}
	for _, k := range v.Keys {
		list = append(list, k.Key+" = "+settingText(k.Value))
	}
	switch {
	case v.Number != nil:
		return float(*v.Number)
	case v.Call:
		return v.Word + "(" + strings.Join(list, ", ") + ")"
	case v.Array:
		return v.Word + "[" + strings.Join(list, ", ") + "]"
	case v.Word != "":
		return v.Word
	}
	return strconv.Quote(v.Text)
}
