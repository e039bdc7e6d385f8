// Package target reads what one sets, or differentiates by: params, initial values and their elements, as text.
package target

import (
	"strconv"
	"strings"
)

// Target is what one sets, or differentiates by: a param, or the initial value of a state, or an element of either.
type Target struct {
	Name       string // without backquotes
	Initial    bool   // the initial value of state Name, not a param
	Subscripts string // as written: "[1,2]"; "" for the whole
	Text       string // all of it, as written
}

const initialOf = "initial("

// Parse reads "k", "A[1,2]", "initial(x)", "initial(x)[2]" or "initial(x[2])"; names without brackets may stand
// in backquotes. What is of copy 2 of a component is "c[2].k", or "c.k[2]"; both are read as the second. It returns
// false where the text has another form. The name is then what comes closest to one.
func Parse(text string) (t Target, ok bool) {
	inner, initial := strings.CutPrefix(text, initialOf)
	outer, ok := "", true
	if initial {
		end := strings.LastIndex(inner, ")")
		if ok = end >= 0 && (end+1 == len(inner) || beginSubscripts(inner[end+1:])); ok {
			inner, outer = inner[:end], inner[end+1:]
		}
	}
	name, subscripts := cutName(folded(inner))
	ok = ok && (name != "" || initial) && !strings.Contains(name, "[")
	return Target{Name: name, Initial: initial, Subscripts: subscripts + outer, Text: text}, ok
}

// folded moves the subscripts of components to the end: c[2].m.x[1] is c.m.x[2,1].
func folded(text string) string {
	if strings.HasPrefix(text, "`") || !strings.Contains(text, "].") {
		return text
	}
	var name strings.Builder
	var subs []string
	for part := range strings.SplitSeq(text, ".") {
		head, sub, ok := strings.Cut(strings.TrimSuffix(part, "]"), "[")
		if name.Len() > 0 {
			name.WriteByte('.')
		}
		name.WriteString(head)
		if ok {
			subs = append(subs, sub)
		}
	}
	return name.String() + "[" + strings.Join(subs, ",") + "]"
}

func beginSubscripts(text string) bool { return strings.HasPrefix(strings.TrimSpace(text), "[") }

// cutName cuts a name from the subscripts behind it.
func cutName(text string) (name, subscripts string) {
	if inner, quoted := strings.CutPrefix(text, "`"); quoted {
		if name, subscripts, _ = strings.Cut(inner, "`"); subscripts == "" || beginSubscripts(subscripts) {
			return name, subscripts
		}
		return strings.TrimSuffix(inner, "`"), ""
	}
	if i := strings.Index(text, "["); i >= 0 {
		return text[:i], text[i:]
	}
	return text, ""
}

// Index returns the subscripts, 1-based; nil for the whole. It returns false if they are not numbers.
func (t Target) Index() (index []int, ok bool) {
	if t.Subscripts == "" {
		return nil, true
	}
	list, opened := strings.CutPrefix(t.Subscripts, "[")
	list, closed := strings.CutSuffix(list, "]")
	if !opened || !closed {
		return nil, false
	}
	for _, s := range strings.Split(list, ",") {
		i, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil {
			return nil, false
		}
		index = append(index, i)
	}
	return index, true
}

// String returns "k", "A[1,2]", "initial(x)" or "initial(x)[2]".
func (t Target) String() string {
	if t.Initial {
		return initialOf + t.Name + ")" + t.Subscripts
	}
	return t.Name + t.Subscripts
}
