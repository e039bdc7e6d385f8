package nonmem

import (
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// writer writes the translation.
type writer struct {
	*control
	leaves  []*leaf
	items   *sbml.Items
	used    map[string]bool             // names that are taken
	defs    []*assignment               // what becomes a `let`, in order
	called  map[*assignment]string      // what they are called
	twin    map[*assignment]*assignment // of equal variables, the one that is written
	clean   map[*assignment]bool
	states  []string
	thetaAs []string
	etaAs   []string
	sigmaAs map[int]string // by the effect
	matrix  map[*block]string
	table   string
	columns map[string]string // data items that formulas read, by what they are called there
	effects bool              // there are random effects
	start   bool              // runs begin at the first row of each subject
	printer printer
	inNoise bool
	err     error
}

// write writes the model of the leaves.
func (c *control) write(leaves []*leaf) (*source.File, error) {
	w := &writer{
		control: c, leaves: leaves, items: &sbml.Items{}, used: map[string]bool{}, called: map[*assignment]string{},
		clean: map[*assignment]bool{}, twin: map[*assignment]*assignment{}, sigmaAs: map[int]string{},
		matrix: map[*block]string{}, columns: map[string]string{},
		thetaAs: make([]string, len(c.thetas)+1), etaAs: make([]string, c.omega.n+1),
	}
	w.printer = printer{leaf: w.leaf, whole: w.wholeColumn}
	w.prepare()
	if w.err != nil {
		return nil, w.err
	}
	w.name()
	w.text()
	if w.err != nil {
		return nil, w.err
	}
	return w.items.Format(c.source.Name(), c.source, c.list), nil
}

// fail keeps the first error.
func (w *writer) fail(at place, format string, args ...any) {
	if w.err == nil {
		w.err = faultf(at, format, args...)
	}
}

// roots visits all formulas of the model, which change may replace.
func (w *writer) roots(change func(*expr) *expr) {
	for i := range w.compartments {
		w.compartments[i].rate = change(w.compartments[i].rate)
	}
	for _, name := range w.pk.order {
		if w.special(name) {
			w.pk.vars[name] = change(w.pk.vars[name])
		}
	}
	for _, l := range w.leaves {
		l.value, l.sd = change(l.value), change(l.sd)
		if l.limit != nil {
			l.limit = change(l.limit)
		}
	}
}

// special reports whether a variable of $PK is one of doses, or the start of a state.
func (w *writer) special(name string) bool {
	for _, kind := range []string{"ALAG", "F", "R", "D"} {
		if rest, ok := strings.CutPrefix(name, kind); ok {
			if i, err := strconv.Atoi(rest); err == nil && w.doses()[i] {
				return true
			}
		}
	}
	for i := range w.compartments {
		if name == element("A_0", i+1) {
			return true
		}
	}
	return false
}

// doses says which compartments doses go to, from 1.
func (c *control) doses() map[int]bool {
	all := map[int]bool{}
	if c.pred {
		return all
	}
	for i := range c.data.rows {
		if k := c.dosed(i); k > 0 {
			all[k] = true
		}
	}
	return all
}

// dosed is the compartment that a row gives a dose to, 0 for none.
func (c *control) dosed(row int) int {
	t := c.data
	kind := t.get("EVID", row)
	const reset = 4
	if kind != 1 && kind != reset && (t.column("EVID") != nil ||
		t.get("AMT", row) == 0 && !(t.get("RATE", row) > 0 && t.get("SS", row) > 0)) {
		return 0
	}
	if k := int(t.get("CMT", row)); k > 0 {
		return k
	}
	return c.dose
}

// prepare takes out of formulas what never holds, and finds variables that they read.
func (w *writer) prepare() {
	rows := make([]int, len(w.data.rows))
	for i := range rows {
		rows[i] = i
	}
	w.roots(func(e *expr) *expr { return w.cleaned(e, rows, false) })
	seen := map[*expr]bool{}
	type named struct {
		name string
		body *expr
	}
	first := map[named]*assignment{}
	var walk func(e *expr)
	walk = func(e *expr) {
		if seen[e] {
			return
		}
		seen[e] = true
		for _, a := range e.args {
			walk(a)
		}
		if e.op == local {
			walk(e.def.body)
			key := named{e.def.name, w.m.whole(e.def.body)}
			if first[key] == nil {
				first[key] = e.def
				w.defs = append(w.defs, e.def)
			}
			w.twin[e.def] = first[key]
		}
	}
	w.roots(func(e *expr) *expr { walk(e); return e })
}

// cleaned is a formula without what has no value, where the rows of the data never come to it. Soft says that a
// condition on more than data decides.
func (w *writer) cleaned(e *expr, rows []int, soft bool) *expr {
	if !e.holds(unset, wrongOp) || w.err != nil {
		return e
	}
	switch e.op {
	case wrongOp:
		w.fail(e.at, "%s", e.name)
		return e
	case unset:
		if !soft {
			w.err = w.unset(e)
			return e
		}
		w.warn(e.at, "%s has no value where this condition does not hold: it is 0 there, and NONMEM keeps the one "+
			"of the "+
			"row before", e.name)
		return w.m.num(0)
	case local:
		if !w.clean[e.def] {
			w.clean[e.def] = true
			e.def.body = w.cleaned(e.def.body, w.all(), soft)
		}
		return e
	case choice:
		return w.chosen(e, rows, soft)
	}
	args := make([]*expr, len(e.args))
	for i, a := range e.args {
		args[i] = w.cleaned(a, rows, soft)
	}
	return w.m.apply(e.op, e.name, e.at, args...)
}

func (w *writer) all() []int {
	rows := make([]int, len(w.data.rows))
	for i := range rows {
		rows[i] = i
	}
	return rows
}

func (w *writer) chosen(e *expr, rows []int, soft bool) *expr {
	when := w.m.whole(e.args[0])
	yes, no := []int{}, []int{}
	if onlyData(when) {
		for _, row := range rows {
			if w.holds(when, row) {
				yes = append(yes, row)
			} else {
				no = append(no, row)
			}
		}
	} else {
		yes, no, soft = rows, rows, true
	}
	switch {
	case len(no) == 0 && e.args[2].holds(unset, wrongOp):
		return w.cleaned(e.args[1], yes, soft)
	case len(yes) == 0 && e.args[1].holds(unset, wrongOp):
		return w.cleaned(e.args[2], no, soft)
	}
	return w.m.apply(choice, "", e.at, w.cleaned(e.args[0], rows, soft), w.cleaned(e.args[1], yes, soft),
		w.cleaned(e.args[2], no, soft))
}

// free is a name that nothing else has.
func (w *writer) free(name string) string {
	if parser.Reserved(name) || name == "pi" || name == "inf" || name == "nan" || name == "true" || name == "false" ||
		name == "end" {
		name += "_"
	}
	free := name
	for k := 2; w.used[free]; k++ {
		free = fmt.Sprintf("%s_%d", name, k)
	}
	w.used[free] = true
	return free
}

// plain reports whether a variable is written as what it stands for: a number, a parameter, an effect.
func plain(d *assignment) bool {
	switch d.body.op {
	case number, theta, eta, column, clock, state, local:
		return true
	}
	return false
}

// labelForm is a name that a comment begins with.
var labelForm = lazy.Regexp(`^(?:\d+[.)]?\s+)?([A-Za-z]\w*)\s*(?:$|[;,:(\[{|/-])`)

// name gives names to all that the model declares.
func (w *writer) name() {
	w.used["t"] = true
	// Variables have the names of the code; of several with one name the last has it.
	last := map[string]*assignment{}
	for _, d := range w.defs {
		last[d.name] = d
	}
	aliases := map[*assignment]int{}
	for _, d := range w.defs {
		if b := d.body; b.op == theta && w.thetaAs[b.n] == "" && last[d.name] == d {
			w.thetaAs[b.n] = w.free(d.name)
			aliases[d] = b.n
		}
	}
	for _, d := range w.defs {
		if last[d.name] == d && !plain(d) {
			w.called[d] = w.free(codeName(d.name))
		}
	}
	for _, d := range w.defs {
		if last[d.name] != d && !plain(d) {
			w.called[d] = w.free(codeName(d.name) + "_1")
		}
	}
	for i := range w.thetas {
		if w.thetaAs[i+1] != "" {
			continue
		}
		t := w.thetas[i]
		label := t.label
		if i < len(w.names) && w.names[i] != "" {
			label = w.names[i]
		}
		if m := labelForm().FindStringSubmatch(t.comment); label == "" && m != nil {
			label = m[1]
		}
		if label == "" || !plainName(label) {
			label = w.within[effect{theta, i + 1}]
		}
		if label == "" {
			w.thetaAs[i+1] = w.free(fmt.Sprintf("theta%d", i+1))
		} else {
			w.thetaAs[i+1] = w.free("theta_" + label)
		}
	}
	for i := range w.omega.n {
		if name := w.within[effect{eta, i + 1}]; name != "" {
			w.etaAs[i+1] = w.free("eta_" + name)
		} else {
			w.etaAs[i+1] = w.free(fmt.Sprintf("eta%d", i+1))
		}
	}
	for i, k := range w.compartments {
		name := k.name
		if name == "" {
			name = fmt.Sprintf("A%d", i+1)
		}
		w.states = append(w.states, w.free(name))
	}
	w.table = w.free("D")
}

// codeName is a variable of the code as a name: DADT(1) and A_0(1) have brackets.
func codeName(name string) string {
	return strings.NewReplacer("(", "_", ")", "").Replace(name)
}

// leaf writes what is no operator.
func (w *writer) leaf(e *expr) string {
	switch e.op {
	case theta:
		return w.thetaAs[e.n]
	case eta:
		return w.etaAs[e.n]
	case sigma:
		return w.residual(e)
	case state:
		return w.states[e.n-1]
	case clock:
		if w.shifted {
			w.fail(e.at, "the code reads the time, which goes back within a subject (EVID 3 or 4): odes has times "+
				"that "+
				"ascend; add a column with the time of the occasion")
		}
		return "t"
	case column:
		return w.item(e)
	case local:
		if name := w.called[w.twin[e.def]]; name != "" && !(w.inNoise && w.varies(e)) {
			return name
		}
		b := e.def.body
		if plain(e.def) {
			return w.printer.text(b)
		}
		return "(" + w.printer.text(b) + ")"
	case wrongOp, unset:
		w.fail(e.at, "%s", e.name)
	}
	return "0"
}

// varies reports whether a variable of $ERROR reads data items that change within a subject.
func (w *writer) varies(e *expr) (yes bool) {
	visit(e, func(x *expr) bool {
		yes = yes || x.op == column && !w.data.fixed(x.name)
		return !outside(x)
	})
	return yes
}

// item is a data item in a formula: a covariate, or the number of the row in noises.
func (w *writer) item(e *expr) string {
	name := w.columnName(e.name)
	switch {
	case e.name == "DV":
		w.fail(e.at, "a formula reads DV, what is measured: odes compares with it, and predicts without it")
	case e.name == "TIME" && w.shifted:
		w.fail(e.at, "the code reads TIME, which goes back within a subject (EVID 3 or 4): odes has times that "+
			"ascend; "+
			"add a column with the time of the occasion")
	case w.inNoise:
		return w.table + "." + name
	}
	if w.columns[e.name] == "" {
		w.columns[e.name] = w.free(e.name)
	}
	return w.columns[e.name]
}

// columnName is what a data item is called in the table.
func (w *writer) columnName(item string) string {
	switch item {
	case "TIME":
		if !w.indexed {
			return "time"
		}
	case "DUR": // which odes takes as the durations of infusions
		return "DUR_"
	}
	return item
}

// wholeColumn reports whether a comparison is of a data item of whole numbers with one.
func (w *writer) wholeColumn(e *expr) bool {
	a, b := e.args[0], e.args[1]
	return a.op == column && w.data.whole(a.name) && b.op == number && b.value == math.Trunc(b.value)
}

// residual is the standard deviation of a residual error.
func (w *writer) residual(e *expr) string {
	b, k := w.sigma.of(e.n)
	if b.repeats != nil {
		b = b.repeats
	}
	n := b.first + k
	if b.block {
		if w.matrix[b] == "" {
			w.matrix[b] = w.free("Sigma")
		}
		other, j := w.sigma.of(int(e.value))
		if other == nil { // the deviation of one
			return fmt.Sprintf("sqrt(%s[%d,%d])", w.matrix[b], k+1, k+1)
		}
		return fmt.Sprintf("%s[%d,%d]", w.matrix[b], k+1, j+1)
	}
	if w.sigmaAs[n] == "" {
		w.sigmaAs[n] = w.free(w.residualName(n, b, k))
	}
	return w.sigmaAs[n]
}

// residualName says whether an error is proportional or additive, where that is clear.
func (w *writer) residualName(n int, b *block, k int) string {
	if m := labelForm().FindStringSubmatch(b.comments[k]); m != nil {
		return "sd_" + strings.ToLower(m[1])
	}
	for _, l := range w.leaves {
		name := ""
		visit(l.sd, func(e *expr) bool {
			if e.op == sigma && e.n == n {
				name = "sd_add"
			}
			if e.op == mul && e.args[1].op == sigma && e.args[1].n == n {
				if name = "sd"; w.m.same(e.args[0], l.value) {
					name = "sd_prop"
				}
				return false
			}
			return true
		})
		if name != "" {
			return name
		}
	}
	return "sd"
}

// text writes all items.
func (w *writer) text() {
	t := w.items
	body := &sbml.Items{}
	w.lets(body)
	w.equations(body)
	rest, doses := &sbml.Items{}, &sbml.Items{}
	w.observations(rest)
	if w.hasDoses() && w.data.column("AMT") == nil { // records have amounts
		w.extra("AMT", func(int) (float64, bool) { return 0, true })
	}
	w.dosesItem(doses)
	base := strings.Map(func(r rune) rune {
		if r == '_' || r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, strings.TrimSuffix(path.Base(strings.ReplaceAll(w.source.Name(), `\`, "/")), path.Ext(w.source.Name())))
	if base == "" || !isLetter(base[0]) || parser.Reserved(base) {
		base = "model_" + base
	}
	if w.title != "" {
		t.Item("model %s %s", base, quoted(w.title))
	} else {
		t.Item("model %s", base)
	}
	w.span()
	t.Line("")
	w.params()
	w.randoms()
	w.covariates()
	t.Line("")
	t.Add(body)
	t.Line("")
	w.dataItem()
	t.Add(doses)
	t.Add(rest)
	w.experiments()
	t.Line("")
	t.Item("objective %s = nll()", w.free("L"))
	switch {
	case strings.HasPrefix(w.marginal, "fo") && slices.ContainsFunc(w.leaves, func(l *leaf) bool {
		return l.limit != nil
	}):
		w.marginal = "laplace" // the others are for values that are measured
	case w.marginal == "":
		w.marginal = "focei"
	}
	if w.effects {
		t.Item("solver { marginal = %s }", w.marginal)
	}
	if w.effects && w.algorithm != "" {
		t.Item("fit { algorithm = %s }", w.algorithm)
	}
}

func quoted(s string) string {
	s = strings.ToValidUTF8(s, "?")
	return `"` + strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == '\\' || r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s) + `"`
}

// comment is a documentation comment behind an item.
func comment(s string) string {
	s = strings.TrimSpace(strings.Trim(quoted(s), `"`))
	if s == "" {
		return ""
	}
	return "    ## " + s
}

// span writes the time.
func (w *writer) span() {
	ids, times := w.data.column("ID"), w.data.column("TIME")
	if w.indexed || times == nil {
		n, most := 0, 0
		for i := range ids {
			if n++; i == 0 || ids[i] != ids[i-1] {
				n = 1
			}
			most = max(most, n)
		}
		w.items.Item("time t from 0 to %d", most)
		return
	}
	from, to := math.Inf(1), math.Inf(-1)
	firsts := map[float64]bool{}
	for i, x := range times {
		from, to = min(from, x), max(to, x)
		if i == 0 || ids[i] != ids[i-1] {
			firsts[x] = true
		}
	}
	if from == to {
		to++
	}
	if len(firsts) > 1 && w.drifts() {
		w.start = true
		name := w.free("start")
		w.columns["\x00start"] = name
		first, id := 0.0, math.NaN()
		column := w.extra("START", func(row int) (float64, bool) {
			if ids[row] != id {
				id, first = ids[row], times[row]
			}
			return first, true
		})
		w.columns["\x00column"] = column
		w.items.Item("param %s = %s    ## the first row of the subject", name, decimal(from))
		w.items.Item("time t from %s to %s", name, decimal(to))
		return
	}
	w.items.Item("time t from %s to %s", decimal(min(from, to)), decimal(to))
}

// drifts reports whether states may change before the first row: they begin with an amount, or have equations of $DES.
func (w *writer) drifts() bool {
	for i := range w.compartments {
		if e := w.pk.get(element("A_0", i+1)); e != nil && !e.is(0) {
			return true
		}
	}
	return slices.Contains(general, w.advan)
}

// params writes what is estimated.
func (w *writer) params() {
	at := func(p place, format string, args ...any) {
		w.items.From(source.Origin{
			Span: source.Span{File: w.source, Start: p.start, End: p.end},
			What: fmt.Sprintf(format, args...),
		})
	}
	for i, x := range w.thetas {
		at(x.at, "THETA(%d)", i+1)
		if x.fixed {
			w.items.Item("const %s = %s%s", w.thetaAs[i+1], decimal(x.value), comment(x.comment))
			continue
		}
		w.items.Item("param %s = %s in [%s, %s]%s", w.thetaAs[i+1], decimal(x.value), decimal(x.low), decimal(x.high),
			comment(x.comment))
	}
	for _, n := range slices.Sorted(maps.Keys(w.sigmaAs)) {
		b, k := w.sigma.of(n)
		at(b.at, "SIGMA(%d,%d)", n, n)
		w.spread(w.sigmaAs[n], root(b.cov[k][k]), b.fixed[k], b.comments[k])
	}
	for _, b := range w.sigma.blocks {
		if name := w.matrix[b]; name != "" {
			at(b.at, "$SIGMA BLOCK(%d)", b.n)
			w.square(name, b)
		}
	}
	w.items.From(source.Origin{})
}

// spread writes a standard deviation.
func (w *writer) spread(name string, value float64, fixed bool, about string) {
	if fixed {
		w.items.Item("const %s = %s%s", name, decimal(value), comment(about))
		return
	}
	w.items.Item("param %s = %s in [0, inf]%s", name, decimal(value), comment(about))
}

// root is a square root, of few digits where these have the same square.
func root(x float64) float64 {
	r := math.Sqrt(x)
	const most = 15
	for digits := range most {
		short, err := strconv.ParseFloat(strconv.FormatFloat(r, 'g', digits+1, 64), 64)
		if err == nil && math.Abs(short*short-x) <= 4e-16*x {
			return short
		}
	}
	return r
}

// covariance writes the matrix of a block of effects so that a fit may move all of it, and it stays positive definite:
// by standard deviations and the correlation of two, and by the Cholesky factor of more.
func (w *writer) covariance(b *block) string {
	t := w.items
	omega := w.free("Omega")
	if b.fixed[0] {
		w.square(omega, b)
		return omega
	}
	of := make([]string, b.n) // what the effects are called
	for k := range of {
		of[k] = strings.TrimPrefix(strings.TrimPrefix(w.etaAs[b.first+k], "eta_"), "eta")
	}
	const pair = 2
	if b.n == pair {
		a, c, r := w.free("w_"+of[0]), w.free("w_"+of[1]), w.free("cor_"+of[0]+"_"+of[1])
		sa, sc := root(b.cov[0][0]), root(b.cov[1][1])
		w.spread(a, sa, false, b.comments[0])
		w.spread(c, sc, false, b.comments[1])
		t.Item("param %s = %s in [-1, 1]", r, decimal(short(b.cov[0][1]/(sa*sc))))
		t.Item("let %s = [[%s^2, %s*%s*%s], [%s*%s*%s, %s^2]]", omega, a, r, a, c, r, a, c, c)
		return omega
	}
	l := factor(b.cov)
	rows := make([]string, b.n)
	for i := range b.n {
		cells := make([]string, b.n)
		for j := range cells {
			switch {
			case j > i:
				cells[j] = "0"
			case i == j:
				cells[j] = w.free("chol_" + of[i])
				t.Item("param %s = %s in [0, inf]%s", cells[j], decimal(l[i][j]), comment(b.comments[i]))
			default:
				cells[j] = w.free("chol_" + of[i] + "_" + of[j])
				t.Item("param %s = %s in [-inf, inf]", cells[j], decimal(l[i][j]))
			}
		}
		rows[i] = "[" + strings.Join(cells, ", ") + "]"
	}
	chol := w.free("chol")
	t.Item("let %s = [%s]    ## the Cholesky factor of %s", chol, strings.Join(rows, ", "), omega)
	t.Item("let %s = %s @ transpose(%[2]s)", omega, chol)
	return omega
}

// short is a number of few digits that differs by no more than rounding.
func short(x float64) float64 {
	const most, rounding = 15, 4e-16
	for digits := range most {
		s, err := strconv.ParseFloat(strconv.FormatFloat(x, 'g', digits+1, 64), 64)
		if err == nil && math.Abs(s-x) <= rounding*math.Abs(x) {
			return s
		}
	}
	return x
}

// square writes a matrix of covariances.
func (w *writer) square(name string, b *block) {
	rows := make([]string, b.n)
	for i := range rows {
		cells := make([]string, b.n)
		for j := range cells {
			cells[j] = decimal(short(b.cov[i][j]))
		}
		rows[i] = "[" + strings.Join(cells, ", ") + "]"
	}
	kind := "param"
	if b.fixed[0] {
		kind = "const"
	}
	w.items.Item("%s %s[%d,%d] = [%s]", kind, name, b.n, b.n, strings.Join(rows, ", "))
}

// randoms writes the random effects.
func (w *writer) randoms() {
	used := map[int]bool{}
	w.roots(func(e *expr) *expr {
		visit(e, func(x *expr) bool {
			used[x.n] = used[x.n] || x.op == eta
			return true
		})
		return e
	})
	t, effects := w.items, &sbml.Items{}
	spreads := map[*block]string{}
	for _, b := range w.omega.blocks {
		reads := false
		for k := range b.n {
			reads = reads || used[b.first+k]
		}
		if !reads {
			continue
		}
		from := source.Origin{Span: source.Span{File: w.source, Start: b.at.start, End: b.at.end}, What: "$OMEGA"}
		t.From(from)
		effects.From(from)
		lead := b
		if b.repeats != nil {
			lead = b.repeats
		}
		if !b.block {
			if spreads[lead] == "" {
				spreads[lead] = w.free("w_" + strings.TrimPrefix(strings.TrimPrefix(w.etaAs[lead.first], "eta_"),
					"eta"))
				w.spread(spreads[lead], root(b.cov[0][0]), b.fixed[0], lead.comments[0])
			}
			effects.Item("random %s ~ normal(0, %s)", w.etaAs[b.first], spreads[lead])
			continue
		}
		if spreads[lead] == "" {
			spreads[lead] = w.covariance(lead)
		}
		name := w.free("etas")
		effects.Item("random %s[%d] ~ mvnormal(%s)", name, b.n, spreads[lead])
		for k := range b.n {
			if used[b.first+k] {
				effects.Item("let %s = %s[%d]", w.etaAs[b.first+k], name, k+1)
			}
		}
	}
	t.From(source.Origin{})
	t.Add(effects)
	w.effects = len(spreads) > 0
}

// covariates writes data items that formulas read.
func (w *writer) covariates() {
	for _, name := range slices.Sorted(maps.Keys(w.columns)) {
		called, item := w.columns[name], w.columnName(name)
		switch {
		case name[0] == 0:
		case w.data.fixed(name):
			w.items.Item("param %s = %s    ## of the subject", called, decimal(w.data.column(name)[0]))
		default:
			w.items.Item("let %s = interp(%s.time, %[2]s.%[3]s, t, kind = next)", called, w.table, item)
		}
	}
}

// lets writes the variables.
func (w *writer) lets(t *sbml.Items) {
	for _, d := range w.defs {
		name := w.called[d]
		if name == "" || d.in == "ERROR" && !w.needed(d) {
			continue
		}
		t.From(source.Origin{
			Span: source.Span{File: w.source, Start: d.at.start, End: d.at.end}, What: codeName(d.name) + " of $" +
				d.in,
		})
		t.Item("let %s = %s", name, w.printer.text(d.body))
	}
	t.From(source.Origin{})
}

// needed reports whether a variable of $ERROR is read elsewhere than where noises have it written out.
func (w *writer) needed(d *assignment) (yes bool) {
	if !slices.ContainsFunc(w.leaves, func(l *leaf) bool { return w.varies(l.sd) }) {
		return true
	}
	look := func(e *expr) {
		visit(e, func(x *expr) bool {
			yes = yes || x.op == local && w.twin[x.def] == d
			return true
		})
	}
	for _, l := range w.leaves {
		look(l.value)
		w.inNoise = true
		visit(l.sd, func(x *expr) bool {
			yes = yes || x.op == local && w.twin[x.def] == d && !w.varies(x)
			return x.op != local || w.varies(x)
		})
		w.inNoise = false
	}
	return yes
}

// equations writes states and their rates.
func (w *writer) equations(t *sbml.Items) {
	if w.pred {
		// A run needs a state.
		w.states = []string{w.free("rest")}
		t.Item("state %s = 0    ## $PRED has no compartments", w.states[0])
		t.Item("%s' = 0", w.states[0])
		return
	}
	for i, name := range w.states {
		start := "0"
		if e := w.pk.get(element("A_0", i+1)); e != nil {
			start = w.printer.text(e)
		}
		t.Item("state %s = %s", name, start)
	}
	for i, name := range w.states {
		t.Item("%s' = %s", name, w.printer.text(w.compartments[i].rate))
	}
}

// observations writes how rows are measured.
func (w *writer) observations(t *sbml.Items) {
	for i, l := range w.leaves {
		name := "y"
		if len(w.leaves) > 1 {
			name = fmt.Sprintf("y%d", i+1)
		}
		name = w.free(name)
		value := w.printer.text(l.value)
		w.inNoise = true
		noise := w.printer.text(l.sd)
		if l.limit != nil {
			noise += ", below = " + w.printer.text(l.limit)
		}
		w.inNoise = false
		column := "DV"
		if l.column != "" {
			column = l.column
		}
		t.Item("observe %s = %s ~ normal(%s) from %s.%s%s", name, value, noise, w.table, column, w.where(l.rows))
	}
}

// where is a condition on data items that chooses rows among those that are measured.
func (w *writer) where(rows []int) string {
	if len(rows) == len(w.observed) {
		return ""
	}
	in := map[int]bool{}
	for _, row := range rows {
		in[row] = true
	}
	// One data item that tells them apart, by its values.
	for _, name := range w.asked {
		yes, no := map[float64]bool{}, map[float64]bool{}
		for _, row := range w.observed {
			if in[row] {
				yes[w.data.get(name, row)] = true
			} else {
				no[w.data.get(name, row)] = true
			}
		}
		const most = 8
		clash := len(yes) > most
		for v := range yes {
			clash = clash || no[v]
		}
		if clash {
			continue
		}
		var parts []string
		for _, v := range slices.Sorted(maps.Keys(yes)) {
			parts = append(parts, fmt.Sprintf("%s.%s == %s", w.table, w.columnName(name), decimal(v)))
		}
		w.kept(name)
		return " where " + strings.Join(parts, " or ")
	}
	// Else a column of its own.
	for _, name := range w.data.columns {
		if strings.HasPrefix(name, "KIND") && !slices.Contains(w.inputs, name) {
			k := slices.Index(w.data.columns, name)
			mark := 0.0
			for _, r := range w.data.rows {
				mark = max(mark, r[k].value)
			}
			for _, row := range rows {
				w.data.rows[row][k] = cell{mark + 1, false}
			}
			delete(w.data.known, name)
			return fmt.Sprintf(" where %s.%s == %s", w.table, name, decimal(mark+1))
		}
	}
	name := w.extra("KIND", func(row int) (float64, bool) {
		if in[row] {
			return 1, true
		}
		return 0, true
	})
	return fmt.Sprintf(" where %s.%s == 1", w.table, name)
}

// kept notes that the table of the model has a column.
func (w *writer) kept(name string) {
	if w.columns["\x00"+name] == "" {
		w.columns["\x00"+name] = name
	}
}

// experiments writes that each subject is a run.
func (w *writer) experiments() {
	var sets []string
	for _, name := range slices.Sorted(maps.Keys(w.columns)) {
		if name[0] != 0 && w.data.fixed(name) {
			sets = append(sets, fmt.Sprintf("%s = %s.%s", w.columns[name], w.table, w.columnName(name)))
		}
	}
	if w.start {
		sets = append(sets, fmt.Sprintf("%s = %s.%s", w.columns["\x00start"], w.table, w.columns["\x00column"]))
	}
	if len(sets) == 0 {
		w.items.Item("experiment subject from %s by %[1]s.ID", w.table)
		return
	}
	w.items.Item("experiment subject from %s by %[1]s.ID {\n  %s\n}", w.table, strings.Join(sets, "\n  "))
}
