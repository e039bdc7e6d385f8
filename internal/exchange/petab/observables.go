package petab

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/lazy"
)

// placeholder is a name in a formula that each measurement gives a value.
var placeholder = lazy.Regexp(`\b(observable|noise)Parameter([0-9]+)_\w+`)

// observables makes the observations of all measurements.
func (p *problem) observables(list, measurements []row) {
	rows := map[string][]row{}
	for _, r := range measurements {
		rows[r.get("observableId")] = append(rows[r.get("observableId")], r)
	}
	for _, o := range list {
		id := o.get("observableId")
		if len(rows[id]) > 0 {
			p.observable(o, rows[id])
		}
		delete(rows, id)
	}
	for _, r := range measurements {
		if id := r.get("observableId"); rows[id] != nil {
			p.errorAt(r, "observableId", "there is no observable %q", id)
			return
		}
	}
}

// slot is a placeholder of an observable.
type slot struct {
	name     string   // as formulas have it
	column   string   // of the table of measurements
	values   []string // what each measurement has for it
	asColumn bool     // its numbers are a column of the data
}

// slots returns the placeholders of an observable. It reports measurements that have nothing for one, or more than
// there are.
func (p *problem) slots(o row, rows []row) (slots []*slot, ok bool) {
	if p.two {
		return p.slots2(o, rows)
	}
	id := o.get("observableId")
	for _, formula := range []string{"observableFormula", "noiseFormula"} {
		for _, part := range placeholder().FindAllStringSubmatch(o.get(formula), -1) {
			s := &slot{name: part[0], column: part[1] + "Parameters"}
			if !strings.HasSuffix(s.name, "_"+id) ||
				slices.ContainsFunc(slots, func(other *slot) bool { return other.name == s.name }) {
				continue
			}
			k, _ := strconv.Atoi(part[2])
			for _, r := range rows {
				given := strings.Split(r.get(s.column), ";")
				if k < 1 || k > len(given) || missing(strings.TrimSpace(given[k-1])) {
					p.errorAt(r, s.column, "the measurement has no value for %s", s.name)
					return nil, false
				}
				s.values = append(s.values, strings.TrimSpace(given[k-1]))
			}
			s.asColumn = part[1] == "noise" && s.areNumbers()
			slots = append(slots, s)
		}
	}
	return slots, p.asMany(slots, rows)
}

// asMany reports measurements that have more for placeholders than there are.
func (p *problem) asMany(slots []*slot, rows []row) bool {
	for _, column := range []string{"observableParameters", "noiseParameters"} {
		n := 0
		for _, s := range slots {
			if s.column == column {
				n++
			}
		}
		for _, r := range rows {
			if given := r.get(column); !missing(given) && strings.Count(given, ";")+1 > n {
				p.errorAt(r, column, "the measurement has more %s than the %d of the formula", column, n)
				return false
			}
		}
	}
	return true
}

// areNumbers reports whether all measurements have numbers for a placeholder, which are not all the same.
func (s *slot) areNumbers() bool {
	one := true
	for _, v := range s.values {
		if _, ok := isNumber(v); !ok {
			return false
		}
		one = one && v == s.values[0]
	}
	return !one
}

// observable makes an observation for each set of parameters that the measurements of an observable name. Where the
// noise of measurements has different numbers, these are columns of the data.
func (p *problem) observable(o row, rows []row) {
	slots, ok := p.slots(o, rows)
	if !ok {
		return
	}
	keys, names := variants(slots, len(rows))
	byKey := map[string]*observe{}
	for i, r := range rows {
		v := byKey[keys[i]]
		if v == nil {
			v = p.variant(o, r, i, slots, names[i])
			byKey[keys[i]] = v
			p.observes = append(p.observes, v)
		}
		number, ok := isNumber(r.get("measurement"))
		x, err := strconv.ParseFloat(number, 64)
		scale := o.get("observableTransformation")
		if strings.HasPrefix(o.get("noiseDistribution"), "log") {
			scale = "log"
		}
		switch {
		case !ok || err != nil || math.IsInf(x, 0):
			p.errorAt(r, "measurement", "the measurement %q is no finite number", r.get("measurement"))
			return
		case x <= 0 && strings.HasPrefix(scale, "log"):
			p.errorAt(r, "measurement", "the measurement %s has no logarithm, which the noise of %s is of", number,
				o.get("observableId"))
			return
		}
		cells := []string{number}
		for _, s := range slots {
			if s.asColumn {
				text, _ := isNumber(s.values[i])
				cells = append(cells, text)
			}
		}
		v.rows, v.cells = append(v.rows, r), append(v.cells, cells)
	}
}

// variants returns the parameters of each of n measurements, and what the name of its observation has behind that of
// the observable: as many of the parameters as tell it from all others.
func variants(slots []*slot, n int) (keys, names []string) {
	keys, names = make([]string, n), make([]string, n)
	count := 1
	for _, s := range slots {
		if s.asColumn {
			continue
		}
		different := map[string]bool{}
		for i := range keys {
			keys[i] += ";" + s.values[i]
			different[keys[i]] = true
		}
		if len(different) == count { // what came before determines it
			continue
		}
		count = len(different)
		for i := range names {
			names[i] += ";" + s.values[i]
		}
	}
	return keys, names
}

// variant begins an observation of an observable o, as measurement i asks for it, which is r.
func (p *problem) variant(o, r row, i int, slots []*slot, suffix string) *observe {
	id := o.get("observableId")
	v := &observe{of: o, name: p.model.Free(id + suffix)}
	v.columns = []string{v.name}
	stands := map[string]string{}
	for _, s := range slots {
		if s.asColumn {
			column := p.model.Free(v.name + "_" + strings.TrimSuffix(s.name, "_"+id))
			v.columns = append(v.columns, column)
			stands[s.name] = p.measured + "." + column
			continue
		}
		stands[s.name] = p.value(r, s.column, s.values[i])
		if strings.HasPrefix(stands[s.name], "-") {
			stands[s.name] = "(" + stands[s.name] + ")"
		}
	}
	of := func(name string) (string, bool) {
		if to, ok := stands[name]; ok {
			return to, true
		}
		return p.stands(name)
	}
	v.formula = p.formula(o, "observableFormula", of)
	v.noise = p.noise(o, p.formula(o, "noiseFormula", func(name string) (string, bool) {
		if name == id {
			return v.name, true
		}
		return of(name)
	}))
	return v
}

// noise is that of an observable with this spread.
func (p *problem) noise(o row, spread string) string {
	law, scale := o.get("noiseDistribution"), o.get("observableTransformation")
	switch law { // version 2 joins the two
	case "log-normal":
		law, scale = "normal", "log"
	case "log10-normal":
		law, scale = "normal", "log10"
	case "log-laplace":
		law, scale = "laplace", "log"
	case "":
		law = "normal"
	}
	if law != "normal" && law != "laplace" {
		p.errorAt(o, "noiseDistribution", "odes has nothing like the noise %q", law)
	}
	switch scale {
	case "", "lin":
	case "log":
		law = "log" + law
	case "log10":
		law = "log" + law
		if strings.ContainsAny(spread, "+-*/^ ") {
			spread = "(" + spread + ")"
		}
		spread = "log(10)*" + spread
	default:
		p.errorAt(o, "observableTransformation", "odes has nothing like the transformation %q", scale)
	}
	return law + "(" + spread + ")"
}
