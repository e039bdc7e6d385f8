package ast

import (
	"strconv"
	"strings"
	"unicode"
)

// ExprString returns e as it would be written in a model, on one line, with
// the parentheses that the tree needs.
func ExprString(e Expr) string {
	var t text
	t.expr(e, 0)
	return t.String()
}

// UnitString returns u as it would be written, with its brackets; "" for nil.
func UnitString(u *Unit) string {
	if u == nil {
		return ""
	}
	var t text
	t.unit(u)
	return t.String()
}

// ItemString returns an item as it would be written, on one line.
func ItemString(item Item) string {
	var t text
	t.form(item.form())
	return t.String()
}

// text writes trees in the syntax of the language.
type text struct{ strings.Builder }

func (t *text) put(parts ...string) {
	for _, s := range parts {
		t.WriteString(s)
	}
}

func (t *text) ident(n Ident) {
	plain := n.Name != "" && !n.Quoted
	for i, r := range n.Name {
		plain = plain && (r == '_' || unicode.IsLetter(r) || i > 0 && unicode.In(r, unicode.Nd, unicode.Mn, unicode.Mc))
	}
	if plain {
		t.put(n.Name)
		return
	}
	t.put("`", n.Name, "`")
}

func quote(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func (t *text) unit(u *Unit) {
	t.put("[")
	t.factors(u)
	t.put("]")
}

func (t *text) factors(u *Unit) {
	for i := range u.Factors {
		f := &u.Factors[i]
		switch {
		case f.Div:
			t.put("/")
		case i > 0:
			t.put("*")
		}
		switch {
		case f.Group != nil:
			t.put("(")
			t.factors(f.Group)
			t.put(")")
		case f.Number != nil:
			t.put(f.Number.Text)
		default:
			t.put(f.Name)
		}
		switch {
		case f.Den > 1:
			t.put("^(", strconv.Itoa(f.Num), "/", strconv.Itoa(f.Den), ")")
		case f.Num != 1 || f.Bare:
			t.put("^", strconv.Itoa(f.Num))
		}
	}
}

// binding returns how tightly op binds: from 1 for or, to 8 for a power.
func (o Op) binding() int {
	switch o {
	case Or:
		return 1
	case And:
		return 2
	case Not:
		return 3
	case Add, Sub_:
		return 5
	case Mul, Div, MatMul:
		return 6
	case Neg, Plus:
		return 7
	case Pow:
		return 8
	}
	return 4
}

// expr writes e where operators that bind less tightly than bind need parentheses.
func (t *text) expr(e Expr, bind int) {
	switch n := e.(type) {
	case *Unary:
		t.unary(n, bind)
	case *Binary:
		t.binary(n, bind)
	case *If:
		t.wrapped(bind > 0, func() {
			for i := range n.Conds {
				t.put([2]string{"if ", " elseif "}[min(i, 1)])
				t.expr(n.Conds[i], 0)
				t.put(" then ")
				t.expr(n.Thens[i], 0)
			}
			t.put(" else ")
			t.expr(n.Else, 0)
		})
	default:
		t.operand(e)
	}
}

func (t *text) wrapped(parens bool, write func()) {
	if parens {
		t.put("(")
	}
	write()
	if parens {
		t.put(")")
	}
}

func (t *text) unary(n *Unary, bind int) {
	// A sign may follow ^ without parentheses: 2^-3.
	t.wrapped(n.Op.binding() < bind && !(bind == Pow.binding() && n.Op != Not), func() {
		t.put(n.Op.String())
		if n.Op == Not {
			t.put(" ")
		}
		t.expr(n.X, n.Op.binding())
	})
}

func (t *text) binary(n *Binary, bind int) {
	own := n.Op.binding()
	t.wrapped(own < bind, func() {
		left, right := own, own+1
		switch {
		case n.Op == Pow:
			left, right = own+1, own
		case n.Op.Comparison():
			left = own + 1
		}
		t.expr(n.X, left)
		switch n.Op {
		case Mul, Div, Pow:
			t.put(n.Op.String())
		default:
			t.put(" ", n.Op.String(), " ")
		}
		t.expr(n.Y, right)
		if n.Way != "" {
			t.put(" ", n.Way)
		}
	})
}

func (t *text) operand(e Expr) {
	switch n := e.(type) {
	case nil:
	case *Number:
		t.put(n.Text)
		if n.Unit != nil {
			t.put(" ")
			t.unit(n.Unit)
		}
	case *String:
		t.put(quote(n.Value))
	case *Name:
		t.ident(n.Ident)
	case *Paren:
		t.put("(")
		t.expr(n.X, 0)
		t.put(")")
	case *Call:
		t.expr(n.Fun, 9)
		t.put("(")
		for i := range n.Args {
			if i > 0 {
				t.put(", ")
			}
			if key := n.Args[i].Key; key != nil {
				t.ident(*key)
				t.put(" = ")
			}
			t.expr(n.Args[i].Value, 0)
		}
		t.binders(n.For)
		t.put(")")
	case *Index:
		t.postfixed(n.X)
		t.subs(n.Subs)
	case *Member:
		t.postfixed(n.X)
		t.put(".")
		t.ident(n.Name)
	case *As:
		t.expr(n.X, 9)
		t.put(" as ")
		t.unit(n.Unit)
	case *Entry:
		t.ident(n.Key)
		t.put(" = ")
		t.expr(n.Value, 0)
	case *Array:
		t.put("[")
		for i, x := range n.Elems {
			if i > 0 {
				t.put(", ")
			}
			t.expr(x, 0)
		}
		t.binders(n.For)
		t.put("]")
		if n.Unit != nil {
			t.put(" ")
			t.unit(n.Unit)
		}
	default:
		t.expr(e, 0)
	}
}

// postfixed writes the operand of a subscript or a member. A literal gets parentheses, since a
// bracket right after it would be a unit.
func (t *text) postfixed(x Expr) {
	switch x.(type) {
	case *Number, *Array, *As:
		t.put("(")
		t.expr(x, 0)
		t.put(")")
	case *Unary, *Binary, *If:
		t.wrapped(true, func() { t.expr(x, 0) })
	default:
		t.expr(x, 0)
	}
}

func (t *text) subs(list []*Sub) {
	if len(list) == 0 {
		return
	}
	t.put("[")
	for i, s := range list {
		if i > 0 {
			t.put(", ")
		}
		if s.All {
			t.put(":")
			continue
		}
		t.bounds(s.Lo, s.Step, s.Hi)
	}
	t.put("]")
}

func (t *text) bounds(lo, step, hi Expr) {
	t.expr(lo, Add.binding())
	if step != nil {
		t.put(":")
		t.expr(step, Add.binding())
	}
	if hi != nil {
		t.put(":")
		t.expr(hi, Add.binding())
	}
}

func (t *text) binders(list []Binder) {
	for i := range list {
		t.put([2]string{" for ", ", "}[min(i, 1)])
		t.binder(&list[i])
	}
}

func (t *text) binder(n *Binder) {
	t.ident(n.Name)
	t.put(" in ")
	t.bounds(n.Lo, n.Step, n.Hi)
}

func (t *text) lvalue(v *LValue) {
	if v.Of != nil {
		t.expr(v.Of, 0)
		t.put(".")
	}
	t.ident(v.Name)
	t.subs(v.Subs)
}
