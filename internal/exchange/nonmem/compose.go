package nonmem

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"odes.dev/odes/lang/source"
)

// leaf is how some rows are measured: all of them have the same formulas.
type leaf struct {
	rows     []int
	value    *expr // the median
	sd       *expr
	limit    *expr // of values below it, or nil
	censored bool  // all values are below the limit
	column   string
}

// maxKinds is how many kinds of measurements there may be, by the conditions of $ERROR.
const maxKinds = 200

// compose makes the model of what was read.
func (c *control) compose() (*source.File, error) {
	c.pk = newScope(nil)
	if c.pred {
		c.compartments = nil
	} else if err := c.build(); err != nil {
		return nil, err
	}
	n := len(c.compartments)
	for _, i := range c.observed {
		if k := c.data.get("CMT", i); !c.pred && (k > float64(n) || k != math.Trunc(k)) {
			return nil, faultf(c.data.at, "a measurement has CMT %v, and the model has %d compartments; amounts "+
				"that left "+
				"(the output compartment) are not read: add a compartment that collects them", k, n)
		}
	}
	if !c.pred {
		if err := c.individual(); err != nil {
			return nil, err
		}
		if err := c.derivatives(); err != nil {
			return nil, err
		}
	}
	leaves, err := c.leaves()
	if err != nil {
		return nil, err
	}
	return c.write(leaves)
}

// individual runs $PK.
func (c *control) individual() error {
	r := &runner{control: c, in: "PK", scope: newScope(nil)}
	err := r.run(c.code["PK"])
	c.pk = r.scope
	return err
}

// derivatives makes the rates of all compartments.
func (c *control) derivatives() error {
	if !slices.Contains(general, c.advan) {
		return c.rates(c.pk)
	}
	r := &runner{control: c, in: "DES", scope: newScope(c.pk)}
	if err := r.run(c.code["DES"]); err != nil {
		return err
	}
	for i := range c.compartments {
		rate := r.scope.get(element("DADT", i+1))
		if rate == nil {
			return faultf(c.at, "$DES does not set DADT(%d)", i+1)
		}
		if rate.op == local { // it stands in the equation itself
			rate = rate.def.body
		}
		c.compartments[i].rate = rate
	}
	return nil
}

// observation runs $ERROR or $PRED where comparisons of data items are decided.
func (c *control) observation(decide func(*expr) *expr) (*scope, error) {
	in := "ERROR"
	if c.pred {
		in = "PRED"
	}
	c.decide = decide
	r := &runner{control: c, in: in, scope: newScope(c.pk), decide: decide}
	err := r.run(c.code[in])
	return r.scope, err
}

// leaves finds how each kind of rows is measured.
func (c *control) leaves() ([]*leaf, error) {
	open, err := c.observation(nil)
	if err != nil {
		return nil, err
	}
	// What is asked of rows, and what of it holds in each.
	var asked []*expr
	note := func(e *expr) {
		if !slices.Contains(asked, e) {
			asked = append(asked, e)
		}
	}
	for _, name := range []string{"Y", "F_FLAG"} {
		e := open.get(name)
		if e == nil && name == "Y" {
			return nil, faultf(c.at, "the code does not set Y, what is measured")
		}
		if e == nil {
			continue
		}
		visit(e, func(x *expr) bool {
			if x.op == compare && onlyData(x) && c.changes(x) {
				note(c.m.whole(x))
				return false
			}
			return (x.op != compare || !onlyData(x)) && !outside(x)
		})
	}
	asked = append(asked, c.indicators(open.get("Y"), asked)...)
	for _, e := range asked {
		visit(e, func(x *expr) bool {
			if x.op == column && x.name != "DV" && x.name != "TIME" {
				c.asked = append(c.asked, x.name)
			}
			return true
		})
	}
	kinds := map[string]*leaf{}
	var order []string
	for _, row := range c.observed {
		key := make([]byte, len(asked))
		for i, e := range asked {
			key[i] = '0'
			if c.holds(e, row) {
				key[i] = '1'
			}
		}
		k := string(key)
		if kinds[k] == nil {
			if kinds[k], order = (&leaf{}), append(order, k); len(order) > maxKinds {
				return nil, faultf(c.at, "the conditions of the code make more than %d kinds of measurements", maxKinds)
			}
		}
		kinds[k].rows = append(kinds[k].rows, row)
	}
	var all []*leaf
	for _, k := range order {
		l := kinds[k]
		decided := map[*expr]*expr{}
		for i, e := range asked {
			decided[e] = c.m.num(float64(k[i] - '0'))
		}
		s, err := c.observation(func(e *expr) *expr { return decided[e] })
		if err != nil {
			return nil, err
		}
		if err := c.measure(l, s); err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return c.join(all)
}

// outside reports a variable of $PK, which has its value before rows are looked at.
func outside(e *expr) bool { return e.op == local && e.def.in == "PK" }

// indicators are comparisons that tell the values of data items apart that formulas of measurements calculate with, and
// that differ between rows of one time: Y = DVID*A + (1 - DVID)*B.
func (c *control) indicators(y *expr, asked []*expr) (list []*expr) {
	seen := map[string]bool{}
	visit(y, func(e *expr) bool {
		if e.op == compare && slices.Contains(asked, c.m.whole(e)) || outside(e) {
			return false
		}
		if e.op == column && !seen[e.name] && e.name != "DV" && c.tied(e.name) {
			seen[e.name] = true
			values := map[float64]bool{}
			for _, row := range c.observed {
				values[c.data.get(e.name, row)] = true
			}
			const most = 8
			if len(values) <= most {
				for _, v := range slices.Sorted(maps.Keys(values)) {
					list = append(list, c.m.make(expr{op: compare, name: "==", args: []*expr{
						c.m.make(expr{op: column, name: e.name}), c.m.num(v),
					}}))
				}
			}
		}
		return true
	})
	return list
}

// tied reports whether a data item differs between rows of one subject at one time.
func (c *control) tied(name string) bool {
	ids, times, list := c.data.column("ID"), c.data.column("TIME"), c.data.column(name)
	if times == nil || list == nil || c.indexed {
		return false
	}
	for i := 1; i < len(ids); i++ {
		if ids[i] == ids[i-1] && times[i] == times[i-1] && list[i] != list[i-1] {
			return true
		}
	}
	return false
}

// changes reports whether a comparison reads a data item that differs within a subject.
func (c *control) changes(e *expr) (yes bool) {
	visit(e, func(x *expr) bool {
		yes = yes || x.op == column && (x.name == "DV" || !c.data.fixed(x.name))
		return true
	})
	return yes
}

// holds reports whether a condition on data items holds in a row.
func (c *control) holds(e *expr, row int) bool {
	x, ok := c.inRow(e, row)
	return ok && x != 0
}

// inRow is the value of a formula of data items in a row.
func (c *control) inRow(e *expr, row int) (float64, bool) {
	return c.m.whole(e).evaluate(func(x *expr) (float64, bool) {
		if x.op != column {
			return 0, false
		}
		return c.data.get(x.name, row), true
	})
}

// bound puts the values of indicators in the place of data items.
func (c *control) bound(e *expr, rows []int) *expr {
	return c.m.rewrite(e, func(x *expr) *expr {
		if x.op == local && !x.holds(column) || outside(x) {
			return x
		}
		if x.op != column || !c.tied(x.name) {
			return nil
		}
		v := c.data.get(x.name, rows[0])
		for _, row := range rows {
			if c.data.get(x.name, row) != v {
				return nil
			}
		}
		return c.m.num(v)
	})
}

// measure finds the median and the noise of a kind of measurements.
func (c *control) measure(l *leaf, s *scope) error {
	y := s.get("Y")
	if y == nil {
		return faultf(c.at, "the code does not set Y in all rows of measurements")
	}
	at := y.at
	if y.op == local {
		at = y.def.at
	}
	flag := 0.0
	if e := s.get("F_FLAG"); e != nil {
		f := c.m.whole(e)
		if f.op != number && f.op != unset {
			return faultf(e.at, "F_FLAG depends on more than data items")
		}
		flag = f.value
	}
	if y.holds(column) && slices.ContainsFunc(c.inputs, c.tied) {
		y = c.bound(y, l.rows)
	}
	switch flag {
	case 0:
		var by map[int]*expr
		l.value, by = c.m.linear(y)
		if w := firstWrong(l.value); w != nil {
			return c.unset(w)
		}
		sd, err := c.noise(by, at)
		if err != nil {
			return err
		}
		l.sd = sd
		return nil
	case 1:
		return c.censor(l, y, at)
	}
	return faultf(at, "F_FLAG=%v: Y is a likelihood there; odes has it for values below a limit, as "+
		"Y=PHI((LLOQ-IPRED)/W)", flag)
}

// firstWrong is a part of a formula that has no translation, and that no condition chooses.
func firstWrong(e *expr) *expr {
	if e.op == wrongOp || e.op == unset {
		return e
	}
	return nil
}

// unset is the error of a formula that cannot be written.
func (c *control) unset(e *expr) error {
	if e.op == unset {
		return faultf(e.at, "%s has no value where no condition holds; NONMEM keeps the one of the row before: "+
			"give it one "+
			"in ELSE", e.name)
	}
	return faultf(e.at, "%s", e.name)
}

// noise is the standard deviation of the residual error, by the derivatives of Y.
func (c *control) noise(by map[int]*expr, at place) (*expr, error) {
	m := c.m
	order := slices.Sorted(maps.Keys(by))
	order = slices.DeleteFunc(order, func(n int) bool { return by[n].is(0) })
	if len(order) == 0 {
		return nil, faultf(at, "Y has no residual error (EPS) in some rows: odes needs one, or F_FLAG=1 with PHI")
	}
	do := func(o op, args ...*expr) *expr { return m.apply(o, "", at, args...) }
	two := m.num(2)
	var variance *expr
	plus := func(e *expr) {
		if variance == nil {
			variance = e
		} else {
			variance = do(add, variance, e)
		}
	}
	blocks := map[*block]bool{}
	for _, n := range order {
		if w := firstWrong(by[n]); w != nil {
			return nil, c.unset(w)
		}
		b, _ := c.sigma.of(n)
		blocks[b] = true
		if b.block {
			continue
		}
		term := do(mul, by[n], c.deviation(n))
		if len(order) == 1 {
			size, _ := c.magnitude(term)
			return size, nil
		}
		plus(do(pow, term, two))
	}
	for _, b := range c.sigma.blocks {
		if !blocks[b] || !b.block {
			continue
		}
		for i := range b.n {
			for j := range i + 1 {
				gi, gj := by[b.first+i], by[b.first+j]
				if gi == nil || gj == nil {
					continue
				}
				term := do(mul, do(mul, gi, gj), m.make(expr{op: sigma, n: b.first + i, value: float64(b.first + j)}))
				if i != j {
					term = do(mul, two, term)
				}
				plus(term)
			}
		}
	}
	return m.apply(call, "sqrt", at, variance), nil
}

// magnitude is the absolute value of a formula, without `abs` where no part of it is negative at the initial values.
// It reports whether a sign before its factors was left out.
func (c *control) magnitude(e *expr) (size *expr, minus bool) {
	size, minus = c.unsigned(e)
	if !c.positive(size, map[*expr]bool{}) {
		size = c.m.apply(call, "abs", e.at, size)
	}
	return size, minus
}

// unsigned is a product without the signs of its factors, and whether they make it negative.
func (c *control) unsigned(e *expr) (*expr, bool) {
	switch {
	case e.op == number && e.value < 0:
		return c.m.num(-e.value), true
	case e.op == neg:
		r, minus := c.unsigned(e.args[0])
		return r, !minus
	case e.op == mul || e.op == div:
		a, first := c.unsigned(e.args[0])
		b, second := c.unsigned(e.args[1])
		if first || second {
			return c.m.apply(e.op, "", e.at, a, b), first != second
		}
	}
	return e, false
}

// positive reports whether a formula is no less than 0, as far as its parts say. Amounts are taken for no less than 0,
// and a THETA has the sign of its initial value.
func (c *control) positive(e *expr, seen map[*expr]bool) (yes bool) {
	if have, ok := seen[e]; ok {
		return have
	}
	defer func() { seen[e] = yes }()
	has := func(a *expr) bool { return c.positive(a, seen) }
	all := func(list []*expr) bool { return !slices.ContainsFunc(list, func(a *expr) bool { return !has(a) }) }
	switch e.op {
	case number:
		return e.value >= 0
	case theta:
		return c.thetas[e.n-1].value >= 0
	case column:
		return !slices.ContainsFunc(c.data.column(e.name), func(x float64) bool { return x < 0 })
	case state, sigma, wrongOp, unset:
		return true
	case local:
		return has(e.def.body)
	case add, mul, div:
		return all(e.args)
	case choice:
		return all(e.args[1:])
	case pow:
		x := e.args[1]
		return x.op == number && math.Mod(x.value, 2) == 0 || has(e.args[0])
	case call:
		switch e.name {
		case "exp", "sqrt", "abs", "cosh", normal:
			return true
		case "max":
			return slices.ContainsFunc(e.args, has)
		case "min", "trunc", "tanh", "sinh", "atan":
			return all(e.args)
		}
	}
	return false
}

// deviation is the standard deviation of EPS(n): 1 where it is fixed so.
func (c *control) deviation(n int) *expr {
	b, k := c.sigma.of(n)
	if b.fixed[k] && b.cov[k][k] == 1 {
		return c.m.num(1)
	}
	return c.m.make(expr{op: sigma, n: n})
}

// peel is the formula of a variable.
func peel(e *expr) *expr {
	for e.op == local {
		e = e.def.body
	}
	return e
}

// censor reads Y = PHI((LLOQ - F)/W) of values below a limit.
func (c *control) censor(l *leaf, y *expr, at place) error {
	wrong := faultf(at, "of likelihoods (F_FLAG=1) only that of a value below a limit is read: Y=PHI((LLOQ-IPRED)/W)")
	e := peel(y)
	const tiny = 1e-15
	if e.op == add && peel(e.args[1]).op == number && math.Abs(peel(e.args[1]).value) <= tiny {
		e = peel(e.args[0])
	}
	turned := e.op == sub && e.args[0].is(1)
	if turned {
		e = peel(e.args[1])
	}
	if e.op != call || e.name != normal {
		return wrong
	}
	e = peel(e.args[0])
	if e.op == neg {
		turned, e = !turned, peel(e.args[0])
	}
	if e.op != div {
		return wrong
	}
	above := peel(e.args[0])
	size, minus := c.magnitude(e.args[1])
	if l.sd = size; minus {
		turned = !turned
	}
	if above.op != sub || l.sd.holds(eps) {
		return wrong
	}
	l.limit, l.value = above.args[0], above.args[1]
	if turned {
		l.limit, l.value = l.value, l.limit
	}
	limit := c.m.whole(l.limit)
	if limit.op != number && !onlyData(limit) || l.value.holds(eps, wrongOp, unset) {
		return wrong
	}
	l.limit, l.censored = limit, true
	return nil
}

// join puts kinds of measurements together that have the same formulas: also those above and below a limit, which
// `below` tells apart.
func (c *control) join(all []*leaf) ([]*leaf, error) {
	var list []*leaf
	equal := func(a, b *leaf) bool {
		return c.m.same(a.value, b.value) && c.m.same(a.sd, b.sd)
	}
	for _, l := range all {
		k := slices.IndexFunc(list, func(x *leaf) bool {
			return x.censored == l.censored && equal(x, l) && (x.limit == l.limit)
		})
		if k < 0 {
			list = append(list, l)
			continue
		}
		list[k].rows = append(list[k].rows, l.rows...)
	}
	dv := func(row int) float64 { return c.data.get("DV", row) }
	at := func(l *leaf, row int) float64 { x, _ := c.inRow(l.limit, row); return x }
	var out []*leaf
	for _, l := range list {
		if !l.censored {
			out = append(out, l)
			continue
		}
		below := !slices.ContainsFunc(l.rows, func(row int) bool { return dv(row) > at(l, row) })
		k := slices.IndexFunc(list, func(x *leaf) bool {
			return !x.censored && x.limit == nil && equal(x, l) &&
				!slices.ContainsFunc(x.rows, func(row int) bool { return dv(row) <= at(l, row) })
		})
		switch {
		case below && k >= 0:
			list[k].limit = l.limit
			list[k].rows = append(list[k].rows, l.rows...)
			slices.Sort(list[k].rows)
			continue
		case !below:
			// Their values say nothing: the limit stands in their place.
			l.column = c.extra("LIMIT", func(row int) (float64, bool) {
				if !slices.Contains(l.rows, row) {
					return 0, false
				}
				return at(l, row), true
			})
		}
		out = append(out, l)
	}
	for _, l := range out {
		slices.Sort(l.rows)
	}
	slices.SortStableFunc(out, func(a, b *leaf) int { return a.rows[0] - b.rows[0] })
	return out, nil
}

// extra adds a column to the table, where the table of the file lacks it.
func (c *control) extra(name string, of func(row int) (float64, bool)) string {
	t := c.data
	for k := 1; slices.Contains(t.columns, name); k++ {
		name = fmt.Sprintf("%s_%d", name, k)
	}
	t.columns = append(t.columns, name)
	t.heads = append(t.heads, -1)
	t.skipped = true // the file is not what the model reads
	for i := range t.rows {
		x, ok := of(i)
		t.rows[i] = append(t.rows[i], cell{x, !ok})
	}
	return name
}
