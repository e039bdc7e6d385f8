package ensemble

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
)

// DefaultN is how many members an ensemble has, unless something says it.
const DefaultN = 1000

// DesignFor returns the design that the ensemble block of a model says. Axes, if there are any, take the place of what
// the block draws.
func DesignFor(m *odes.Model, e *odes.Members, axes []Axis) (Design, error) {
	d := Design{Points: e.Points, N: e.N, Seed: e.Seed}
	if len(axes) > 0 {
		if d.Axes = axes; d.N == 0 {
			d.N = DefaultN
		}
		return d, nil
	}
	if e.Rows != nil {
		if len(e.Draws) > 0 {
			return d, errors.New("the ensemble block names a table and draws values; choose one of these")
		}
		return TableDesign(e.Names, e.Rows, e.N), nil
	}
	if d.N == 0 {
		d.N = DefaultN
	}
	if len(e.Draws) == 0 {
		say := "nothing says what differs between members: write ensemble { k ~ lognormal(0, 1) }, " +
			"give params priors, or name values after the model: 'k ~ lognormal(0, 1)' or k from 1 to 2"
		for _, d := range e.Notes {
			say += "; " + d.Message
		}
		return d, errors.New(say)
	}
	symbols, err := m.Symbols(nil)
	if err != nil {
		return d, err
	}
	for _, draw := range e.Draws {
		if len(draw.Of) > 0 {
			return d, fmt.Errorf("the prior of %s depends on other params (%s), and an ensemble draws each value by "+
				"itself; say what is drawn in its block, or give the members as rows", draw.Name,
				strings.Join(draw.Of, ", "))
		}
		if each := draw.Each(nil); each != nil {
			list := elements(Axis{Name: draw.Name, Unit: draw.Unit}, symbols)
			for i, one := range each {
				list[i].Dist, list[i].Args = one.Dist, Reals(one.Args)
				list[i].Lo, list[i].Hi = Real(one.Lo), Real(one.Hi)
			}
			d.Axes = append(d.Axes, list...)
			continue
		}
		a := Axis{
			Name: draw.Name, Unit: draw.Unit, Dist: draw.Dist, Args: Reals(draw.Args), Lo: Real(draw.Lo),
			Hi: Real(draw.Hi),
		}
		d.Axes = append(d.Axes, elements(a, symbols)...)
	}
	return d, nil
}

// elements returns an axis for every element of what an axis names.
func elements(a Axis, symbols []odes.Symbol) []Axis {
	for _, s := range symbols {
		if len(s.Shape) == 0 || !(s.Kind == "param" && s.Name == a.Name ||
			s.Kind == "state" && "initial("+s.Name+")" == a.Name) {
			continue
		}
		list := make([]Axis, size(s.Shape))
		for i := range list {
			list[i] = a
			if list[i].Name = s.Element(i); s.Kind == "state" {
				list[i].Name = odes.Variable{
					Name: s.Name, Initial: true, Shape: s.Shape, Written: s.Written,
				}.Element(i)
			}
		}
		return list
	}
	return []Axis{a}
}

// TableDesign returns a design whose members are the first n rows of a table; all where n is 0. Rows have a number for
// each name.
func TableDesign(names []string, rows [][]float64, n int) Design {
	d := Design{Points: Rows, Names: names}
	if n > 0 && n < len(rows) {
		rows = rows[:n]
	}
	for _, row := range rows {
		d.Table = append(d.Table, Reals(row))
	}
	return d
}

// gridPoints is how many values an axis of a grid has, unless something says it.
const gridPoints = 21

// ReadAxes reads what differs between members, as users write it behind a command:
//
//	k from 0.1 to 10 points 20 log, g from 1 [m/s^2] to 20, x ~ normal(0, 1)
//
// Commas are optional. A range without ends is that of the param's bounds, or from a tenth to ten times of its value.
// The latter is spaced by equal ratios unless `linear` is said, all others are evenly unless `log` is.
// Distributions are written as in the language, with numbers in units of what they are of.
func ReadAxes(m *odes.Model, set []odes.Assignment, text string) ([]Axis, error) {
	symbols, err := m.Symbols(set)
	if err != nil {
		return nil, err
	}
	words := split(text)
	var list []Axis
	for len(words) > 0 {
		var a []Axis
		if a, words, err = readAxis(m, symbols, words); err != nil {
			return nil, err
		}
		list = append(list, a...)
	}
	for i, a := range list {
		if slices.ContainsFunc(list[:i], func(b Axis) bool { return b.Name == a.Name }) {
			return nil, fmt.Errorf("%s is named twice", a.Name)
		}
	}
	return list, nil
}

// split cuts text at blanks and commas outside of brackets and backquotes, and around `~`. A bracket after a blank
// belongs to what is before it: a unit behind a number.
func split(text string) (words []string) {
	depth, from, quoted := 0, -1, false
	end := func(i int) {
		if from >= 0 {
			words = append(words, text[from:i])
		}
		from = -1
	}
	for i, c := range text {
		if quoted = quoted != (c == '`'); quoted || c == '`' {
			if from < 0 {
				from = i
			}
			continue
		}
		switch {
		case c == '(' || c == '[':
			if depth == 0 && from < 0 && len(words) > 0 && c == '[' {
				words[len(words)-1] += " " // joined below
				from = i
			}
			depth++
		case c == ')' || c == ']':
			depth--
		}
		switch {
		case depth == 0 && (c == ' ' || c == '\t' || c == ','):
			end(i)
		case depth == 0 && c == '~':
			end(i)
			words = append(words, "~")
		case from < 0:
			from = i
		}
	}
	end(len(text))
	for i := len(words) - 1; i > 0; i-- { // a unit behind its number
		if strings.HasPrefix(words[i], "[") {
			words[i-1] += words[i]
			words = slices.Delete(words, i, i+1)
		}
	}
	return words
}

// asRange says how k=5,6 or k=5:6 is written here.
func asRange(text string) error {
	name, values, _ := strings.Cut(text, "=")
	list := strings.FieldsFunc(values, func(r rune) bool { return strings.ContainsRune(" ,:[]", r) })
	from, to := "1", "10"
	if last := len(list) - 1; last > 0 {
		from, to = list[0], list[last]
	}
	return fmt.Errorf("a range has no =: write %s from %s to %s",
		strings.TrimSpace(name), from, to)
}

// readAxis reads the first axis of words.
func readAxis(m *odes.Model, symbols []odes.Symbol, words []string) ([]Axis, []string, error) {
	name := strings.TrimSpace(strings.ReplaceAll(words[0], "`", ""))
	words = words[1:]
	kind, of := "param", name
	if inner, ok := strings.CutPrefix(name, "initial("); ok {
		kind = "state"
		of, _, _ = strings.Cut(inner, ")")
	}
	if strings.Contains(name, "=") || len(words) > 0 && strings.HasPrefix(words[0], "=") { // as other programs have it
		return nil, nil, asRange(name + " " + strings.Join(words, " "))
	}
	at := slices.IndexFunc(symbols, func(s odes.Symbol) bool { return s.Kind == kind && s.Name == base(of) })
	if at < 0 {
		if _, err := m.Symbols([]odes.Assignment{{Name: name, Values: []float64{0}}}); err != nil {
			return nil, nil, err // which says what there is instead
		}
		return nil, nil, fmt.Errorf("the model has no param %q", name)
	}
	s := symbols[at]
	a := Axis{Name: name, Unit: s.Unit, Lo: Real(s.Lo), Hi: Real(s.Hi)}
	if len(words) > 0 && words[0] == "~" {
		if len(words) < 2 {
			return nil, nil, fmt.Errorf("after %s ~ stands a distribution, such as normal(0, 1)", name)
		}
		err := a.distribution(words[1])
		return elements(a, symbols), words[2:], err
	}
	lo, hi := around(s)
	given, log, linear := 0, false, false
	value := func(word, text string) (float64, error) { return endOf(m, name, word, text) }
	var err error
	for len(words) > 0 {
		word := words[0]
		if word == "log" || word == "linear" {
			log, linear, words = log || word == "log", linear || word == "linear", words[1:]
			continue
		}
		if word != "from" && word != "to" && word != "points" {
			break
		}
		if len(words) < 2 {
			return nil, nil, fmt.Errorf("%s: a number follows %s", name, word)
		}
		switch word {
		case "from":
			lo, err = value(word, words[1])
			given++
		case "to":
			hi, err = value(word, words[1])
			given++
		case "points":
			if a.Count, err = strconv.Atoi(words[1]); err != nil || a.Count < 1 {
				err = fmt.Errorf("points takes a whole number from 1, not %q", words[1])
			}
		}
		if err != nil {
			return nil, nil, err
		}
		words = words[2:]
	}
	if log, err = byRatios(s, given, lo, hi, log, linear); err != nil {
		return nil, nil, err
	}
	if a.Count == 0 {
		a.Count = gridPoints
	}
	return elements(Span(a.Name, a.Unit, lo, hi, log, a.Count), symbols), words, nil
}

// endOf reads the end of an axis that stands behind a word, in the unit of what the axis is of.
func endOf(m *odes.Model, name, word, text string) (float64, error) {
	number, unit, _ := strings.Cut(text, "[")
	x, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if errors.Is(err, strconv.ErrRange) {
		return 0, fmt.Errorf("%s %s: %q is too large for double precision (1.8e308)", name, word, text)
	}
	if err != nil || x-x != 0 {
		return 0, fmt.Errorf("%s %s: %q is not a number", name, word, text)
	}
	as, err := m.Convert(odes.Assignment{Name: name, Values: []float64{x}, Unit: strings.TrimSuffix(unit, "]")})
	if err != nil {
		return 0, err
	}
	return as.Values[0], nil
}

// byRatios reports whether a range of s, of which so many ends are given, is spaced by equal ratios, and checks it.
func byRatios(s odes.Symbol, given int, lo, hi float64, log, linear bool) (bool, error) {
	switch {
	case given < 2 && math.IsNaN(lo+hi):
		return false, fmt.Errorf("%s has no range of its own; write %[1]s from 1 to 2", s.Name)
	case !(hi > lo):
		return false, fmt.Errorf("the range of %s from %g to %g is empty; the smaller end comes first", s.Name, lo, hi)
	case log && linear:
		return false, fmt.Errorf("%s is both log and linear; choose one of these", s.Name)
	case log && !(lo > 0):
		return false, fmt.Errorf("a range by equal ratios is positive, and that of %s begins with %g", s.Name, lo)
	}
	return log || given == 0 && !linear && lo > 0 && math.IsInf(s.Hi-s.Lo, 0), nil
}

// distribution reads "normal(0, 1)".
func (a *Axis) distribution(text string) error {
	name, list, ok := strings.Cut(text, "(")
	list, closed := strings.CutSuffix(list, ")")
	if !ok || !closed {
		return fmt.Errorf("%s: after ~ stands a distribution, such as normal(0, 1), and not %q", a.Name, text)
	}
	a.Dist = strings.TrimSpace(name)
	for _, arg := range strings.Split(list, ",") {
		x, err := strconv.ParseFloat(strings.TrimSpace(arg), 64)
		switch {
		case errors.Is(err, strconv.ErrRange):
			return fmt.Errorf("%s ~ %s: %q is too large for double precision (1.8e308)", a.Name, text,
				strings.TrimSpace(arg))
		case err != nil && strings.Contains(arg, "["):
			return fmt.Errorf("%s ~ %s: numbers stand without units here, in those of %s; an ensemble block in the "+
				"model takes units", a.Name, text, a.Name)
		case err != nil:
			return fmt.Errorf("%s ~ %s: %q is not a number", a.Name, text, strings.TrimSpace(arg))
		}
		a.Args = append(a.Args, Real(x))
	}
	return nil
}

// around returns a range around the value of a param, within the bounds of its declaration; NaN where there is none.
func around(s odes.Symbol) (lo, hi float64) {
	if !math.IsInf(s.Lo, 0) && !math.IsInf(s.Hi, 0) {
		return s.Lo, s.Hi
	}
	if len(s.Values) != 1 {
		return math.NaN(), math.NaN()
	}
	switch now := s.Values[0]; {
	case now > 0:
		lo, hi = now/10, now*10
	case now < 0:
		lo, hi = now*10, now/10
	default:
		lo, hi = -1, 1
	}
	return max(lo, s.Lo), min(hi, s.Hi)
}
