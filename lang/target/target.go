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

// Written returns the form in which elements of a name are written: "c[].V", with brackets for the subscripts that
// choose a copy, where c is a component of which there are copies. It returns "" for other names. copies has the number
// of subscripts of each component.
func Written(name string, copies map[string]int) string {
	if len(copies) == 0 {
		return ""
	}
	out := ""
	for i, part := range strings.Split(name, ".") {
		if i > 0 {
			out += "."
		}
		out += part
		prefix := strings.Join(strings.SplitN(name, ".", i+2)[:i+1], ".")
		if n := copies[prefix]; n > 0 && prefix != name {
			out += "[" + strings.Repeat(",", n-1) + "]"
		}
	}
	if out == name {
		return ""
	}
	return out
}

// Element returns the name of element k, from 0 and row by row, of an array: "u[2,5]", and "c[3].V" for what is written
// "c[].V". Of a number it is the name.
func Element(written string, shape []int, k int) string {
	if len(shape) == 0 {
		return written
	}
	subs := make([]string, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		subs[d] = strconv.Itoa(k%shape[d] + 1)
		k /= shape[d]
	}
	return Subscripted(written, subs)
}

// Subscripted returns a name with subscripts: those of copies of components where they belong, the rest at the end.
func Subscripted(written string, subs []string) string {
	var out strings.Builder
	for {
		head, rest, ok := strings.Cut(written, "[")
		out.WriteString(head)
		commas, after, closed := strings.Cut(rest, "]")
		if !ok {
			break
		}
		if n := len(commas) + 1; closed && n <= len(subs) && strings.Trim(commas, ",") == "" {
			out.WriteString("[" + strings.Join(subs[:n], ",") + "]")
			subs, written = subs[n:], after
			continue
		}
		out.WriteByte('[')
		written = rest
	}
	if len(subs) > 0 {
		out.WriteString("[" + strings.Join(subs, ",") + "]")
	}
	return out.String()
}

// Array returns the name of the array that an element is of: "u" of "u[2,5]", "c.V" of "c[3].V".
func Array(element string) string {
	name, _, _ := strings.Cut(folded(element), "[")
	return name
}
