package nonmem

import (
	"math"
	"slices"
)

// scope holds the variables of abbreviated code; those of a branch of IF stand above the others.
type scope struct {
	vars  map[string]*expr
	order []string
	up    *scope
}

func newScope(up *scope) *scope { return &scope{vars: map[string]*expr{}, up: up} }

func (s *scope) get(name string) *expr {
	for ; s != nil; s = s.up {
		if e := s.vars[name]; e != nil {
			return e
		}
	}
	return nil
}

func (s *scope) set(name string, e *expr) {
	if s.vars[name] == nil {
		s.order = append(s.order, name)
	}
	s.vars[name] = e
}

// runner does what abbreviated code says with formulas in the place of numbers.
type runner struct {
	*control
	in    string // the record: PK, DES, ERROR or PRED
	scope *scope
	depth int
	// decide returns the value of a comparison of data items with numbers, where it is decided.
	decide func(*expr) *expr
}

// run does a list of statements.
func (r *runner) run(list []*statement) error {
	for _, s := range list {
		var err error
		switch s.kind {
		case 'x':
			r.left("EXIT (line %d) is left out: odes ends a search by its own rules", s.at)
		case '=':
			err = r.assign(s)
		case 'i':
			err = r.conditional(s.branches)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// assign gives a variable its value. Outside of IF it becomes one of the translation.
func (r *runner) assign(s *statement) error {
	name, err := r.target(s.to)
	if err != nil {
		return err
	}
	value := r.value(s.value)
	r.stands(name, value)
	if r.depth == 0 && value.op != number && value.op != wrongOp && value.op != local {
		value = r.m.make(expr{op: local, def: &assignment{name: name, body: value, at: s.at, in: r.in}, at: s.at})
	}
	r.scope.set(name, value)
	return nil
}

// stands notes in which variable a parameter or an effect stands first: it is called by that.
func (r *runner) stands(name string, e *expr) {
	if e.op == local {
		return
	}
	if (e.op == theta || e.op == eta) && r.within[e.key()] == "" {
		r.within[e.key()] = codeName(name)
	}
	for _, a := range e.args {
		r.stands(name, a)
	}
}

// effect is THETA(n) or ETA(n).
type effect struct {
	op op
	n  int
}

func (e *expr) key() effect { return effect{e.op, e.n} }

// target is the name of what is assigned to, such as CL or DADT(1).
func (r *runner) target(to *node) (string, error) {
	if to.kind == 'w' {
		if slices.Contains(r.inputs, to.text) && !slices.Contains([]string{"MDV"}, to.text) {
			return "", faultf(to.at, "%s is a data item, which code does not change here", to.text)
		}
		return to.text, nil
	}
	n, ok := index(to)
	if !ok {
		return "", faultf(to.at, "%s(…) is set by a whole number: %s(1)", to.text, to.text)
	}
	switch to.text {
	case "DADT", "A_0", "P":
	case "MTIME":
		return "", faultf(to.at, "times of the model (MTIME) are not read: write an `event` in the translation")
	default:
		return "", faultf(to.at, "%s(%d) = … is not read", to.text, n)
	}
	return element(to.text, n), nil
}

// index is the number in THETA(3).
func index(e *node) (int, bool) {
	const most = 10_000
	if len(e.args) != 1 || e.args[0].kind != 'n' {
		return 0, false
	}
	x := e.args[0].value
	return int(x), x == math.Trunc(x) && x >= 1 && x <= most
}

// conditional runs each branch of IF by itself, and gives each variable its value by the conditions.
func (r *runner) conditional(list []branch) error {
	if len(list) == 0 {
		return nil
	}
	when, at := r.m.num(1), place{} // of ELSE
	if n := list[0].when; n != nil {
		when, at = r.truth(n), n.at
	}
	before := r.scope
	inside := func(f func() error) (*scope, error) {
		s := newScope(before)
		r.scope = s
		r.depth++
		err := f()
		r.depth--
		r.scope = before
		return s, err
	}
	var yes, no *scope
	var err error
	if when.is(0) {
		yes = newScope(before)
	} else if yes, err = inside(func() error { return r.run(list[0].body) }); err != nil {
		return err
	}
	if when.op == number && !when.is(0) {
		no = newScope(before)
	} else if no, err = inside(func() error { return r.conditional(list[1:]) }); err != nil {
		return err
	}
	for _, name := range append(slices.Clone(yes.order), no.order...) {
		value := func(s *scope) *expr {
			if e := s.get(name); e != nil {
				return e
			}
			return r.m.make(expr{op: unset, name: name, at: at})
		}
		e := r.m.apply(choice, "", at, when, value(yes), value(no))
		if r.depth == 0 && e.op != number && e.op != local && !e.holds(wrongOp, unset) {
			e = r.m.make(expr{op: local, def: &assignment{name: name, body: e, at: at, in: r.in}, at: e.at})
		}
		before.set(name, e)
	}
	return nil
}

// truth is a condition. A number is true unless it is 0.
func (r *runner) truth(n *node) *expr {
	e := r.value(n)
	if !isTruth(e) && e.op != number && e.op != wrongOp {
		return r.compare("!=", e, r.m.num(0), n.at)
	}
	return e
}

func isTruth(e *expr) bool { return e.op == compare || e.op == and || e.op == or || e.op == not }

func (r *runner) compare(sign string, a, b *expr, at place) *expr {
	e := r.m.apply(compare, sign, at, a, b)
	if e.op == compare && r.decide != nil && onlyData(e) {
		if d := r.decide(r.m.whole(e)); d != nil {
			return d
		}
	}
	return e
}

// onlyData reports whether a formula reads data items and nothing else that changes.
func onlyData(e *expr) bool {
	return e.holds(column) && !e.holds(theta, eta, eps, state, clock, wrongOp, unset)
}

// value is a formula with what its names stand for.
func (r *runner) value(n *node) *expr {
	m := r.m
	args := func() []*expr {
		list := make([]*expr, len(n.args))
		for i, a := range n.args {
			list[i] = r.value(a)
		}
		return list
	}
	switch n.kind {
	case 'n':
		return m.num(n.value)
	case 'w':
		return r.name(n)
	case '(':
		return r.call(n)
	case '~':
		return m.apply(neg, "", n.at, args()...)
	case '^':
		return m.apply(pow, "", n.at, args()...)
	case 'o':
		switch n.text {
		case "and":
			return m.apply(and, "", n.at, r.truth(n.args[0]), r.truth(n.args[1]))
		case "or":
			return m.apply(or, "", n.at, r.truth(n.args[0]), r.truth(n.args[1]))
		case "not":
			return m.apply(not, "", n.at, r.truth(n.args[0]))
		}
		a := args()
		return r.compare(n.text, a[0], a[1], n.at)
	}
	a := args()
	for i, x := range a {
		if isTruth(x) { // NONMEM takes a condition as 1 or 0
			a[i] = m.apply(choice, "", n.at, x, m.num(1), m.num(0))
		}
	}
	return m.apply(map[byte]op{'+': add, '-': sub, '*': mul, '/': div}[n.kind], "", n.at, a...)
}

// words of NONMEM that have one value here.
var constants = map[string]float64{
	"ICALL": 2, "A_0FLG": 1, "IREP": 1, "NEWL2": 1, "COMACT": 0, "MIXNUM": 1, "ITER": 1, "IPROB": 1,
}

// keptWords are those of which the value depends on the course of the search or of the rows.
var keptWords = map[string]string{
	"NEWIND": "NEWIND tells the first row of a subject: add a column that does",
	"DOSTIM": "DOSTIM is not read", "DOSREC": "DOSREC is not read", "TSTATE": "TSTATE is not read",
	"CALLFL": "CALLFL is not read", "MIXEST": "mixtures are not read", "NIREP": "NIREP is not read",
}

// name is what a name stands for.
func (r *runner) name(n *node) *expr {
	m := r.m
	name := n.text
	if full := r.as[name]; full != "" {
		name = full
	}
	if e := r.scope.get(name); e != nil {
		return e
	}
	switch {
	case name == "T" && r.in == "DES", name == "TIME" && r.in == "ERROR":
		return m.make(expr{op: clock, at: n.at})
	case name == "F" && r.in == "ERROR":
		return r.prediction(n.at)
	case name == "TIME" && r.in == "DES":
		return m.wrong(n.at, "TIME in $DES is that of a row: write T for the time")
	case slices.Contains(r.inputs, name):
		return m.make(expr{op: column, name: name, at: n.at})
	case keptWords[name] != "":
		return m.wrong(n.at, "%s", keptWords[name])
	}
	if x, ok := constants[name]; ok {
		return m.num(x)
	}
	return m.wrong(n.at, "%s is not defined before this", n.text)
}

// functions of Fortran, by their names in odes. Those of truncated division and of the normal distribution have none
// there: they are written as formulas.
var functions = map[string]string{
	"EXP": "exp", "DEXP": "exp", "PEXP": "exp", "LOG": "log", "ALOG": "log", "DLOG": "log", "LOG10": "log10",
	"ALOG10": "log10", "DLOG10": "log10", "SQRT": "sqrt", "DSQRT": "sqrt", "SIN": "sin", "DSIN": "sin", "COS": "cos",
	"DCOS": "cos", "TAN": "tan", "DTAN": "tan", "ASIN": "asin", "DASIN": "asin", "ACOS": "acos", "DACOS": "acos",
	"ATAN": "atan", "DATAN": "atan", "SINH": "sinh", "DSINH": "sinh", "COSH": "cosh", "DCOSH": "cosh", "TANH": "tanh",
	"DTANH": "tanh", "ABS": "abs", "DABS": "abs", "INT": "trunc", "DINT": "trunc", "AINT": "trunc", "GAMLN": "lgamma",
	"PHI": normal, "MIN": "min", "MAX": "max", "DMIN1": "min", "DMAX1": "max", "AMIN1": "min", "AMAX1": "max",
	"MOD": remainder, "DMOD": remainder, "AMOD": remainder,
}

const (
	normal    = "PHI" // the distribution function of the normal distribution
	remainder = "MOD" // of division toward 0: it has the sign of the dividend, and `mod` of odes that of the divisor
)

// values of functions of one argument, by their names in odes.
var values = map[string]func(float64) float64{
	"exp": math.Exp, "log": math.Log, "log10": math.Log10, "sqrt": math.Sqrt, "sin": math.Sin, "cos": math.Cos,
	"tan": math.Tan, "asin": math.Asin, "acos": math.Acos, "atan": math.Atan, "sinh": math.Sinh, "cosh": math.Cosh,
	"tanh": math.Tanh, "abs": math.Abs, "trunc": math.Trunc,
	"lgamma": func(x float64) float64 { y, _ := math.Lgamma(x); return y },
	normal:   func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 },
}

// call is a function, or THETA(1) and others.
func (r *runner) call(n *node) *expr {
	const two = 2
	m := r.m
	i, ok := index(n)
	known := func(kind op, most int, what string) *expr {
		if !ok || i > most {
			return m.wrong(n.at, "there is no %s(…) of this number", n.text)
		}
		if kind == eta && r.omega.zero(i) {
			return m.num(0)
		}
		if kind == eps && r.in != "ERROR" && r.in != "PRED" {
			return m.wrong(n.at, "%s stands in $%s", what, r.in)
		}
		return m.make(expr{op: kind, n: i, at: n.at})
	}
	switch n.text {
	case "THETA":
		return known(theta, len(r.thetas), "THETA")
	case "ETA":
		return known(eta, r.omega.n, "ETA")
	case "EPS", "ERR":
		return known(eps, r.sigma.n, "EPS")
	case "SIGMA":
		if j, same := r.diagonal(n); same && j <= r.sigma.n {
			return m.apply(pow, "", n.at, r.deviation(j), m.num(two))
		}
		return m.wrong(n.at, "of SIGMA(i,j) only variances are read")
	case "A", "DADT":
		switch {
		case r.in == "PK":
			return m.wrong(n.at, "$PK reads amounts (A), which NONMEM takes at the row before: odes has no such values")
		case n.text == "DADT":
			if e := r.scope.get(element("DADT", i)); e != nil {
				return e
			}
			return m.wrong(n.at, "DADT is read before it is set")
		case !ok || i > len(r.compartments):
			return m.wrong(n.at, "the model has no such compartment")
		}
		return m.make(expr{op: state, n: i, at: n.at})
	case "A_0", "P":
		if e := r.scope.get(element(n.text, i)); ok && e != nil {
			return e
		}
	}
	return r.function(n)
}

// function is one of Fortran.
func (r *runner) function(n *node) *expr {
	const two = 2
	m := r.m
	f := functions[n.text]
	if f == "" {
		return m.wrong(n.at, "%s(…) is not read", n.text)
	}
	want := 1
	if f == "min" || f == "max" || f == remainder {
		want = two
	}
	if len(n.args) != want && !(len(n.args) > want && (f == "min" || f == "max")) {
		return m.wrong(n.at, "%s has another number of arguments", n.text)
	}
	args := make([]*expr, len(n.args))
	for k, a := range n.args {
		args[k] = r.value(a)
	}
	if f == remainder {
		a, b := args[0], args[1]
		whole := m.apply(call, "trunc", n.at, m.apply(div, "", n.at, a, b))
		return m.apply(sub, "", n.at, a, m.apply(mul, "", n.at, b, whole))
	}
	for len(args) > want { // the language has min and max of two
		args = append([]*expr{m.apply(call, f, n.at, args[:want]...)}, args[want:]...)
	}
	return m.apply(call, f, n.at, args...)
}

// zero reports whether an effect has a variance that is fixed to 0.
func (m *matrix) zero(i int) bool {
	b, k := m.of(i)
	return b != nil && b.fixed[k] && zero(b.cov[k:k+1])
}

// of is the block of an effect, and its place there.
func (m *matrix) of(i int) (*block, int) {
	for _, b := range m.blocks {
		if i >= b.first && i < b.first+b.n {
			return b, i - b.first
		}
	}
	return nil, 0
}

// diagonal is i of SIGMA(i,i).
func (r *runner) diagonal(n *node) (int, bool) {
	if len(n.args) != 2 {
		return 0, false
	}
	i, ok1 := index(&node{args: n.args[:1]})
	j, ok2 := index(&node{args: n.args[1:]})
	return i, ok1 && ok2 && i == j
}
