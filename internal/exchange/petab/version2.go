package petab

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/exchange/sbml/comp"
	"odes.dev/odes/lang/source"
)

// models are those of a problem of version 2.
type models []aModel

type aModel struct {
	id, language string
	at           path
}

// fields visits the members of a mapping.
func fields(node ast.Node, visit func(key string, line int, value ast.Node) error) error {
	var list []*ast.MappingValueNode
	switch n := node.(type) {
	case *ast.NullNode:
	case *ast.MappingNode:
		list = n.Values
	case *ast.MappingValueNode:
		list = []*ast.MappingValueNode{n}
	default:
		return &yaml.UnexpectedNodeTypeError{Actual: node.Type(), Expected: ast.MappingType, Token: node.GetToken()}
	}
	for _, v := range list {
		if err := visit(v.Key.GetToken().Value, v.Key.GetToken().Position.Line, v.Value); err != nil {
			return err
		}
	}
	return nil
}

// UnmarshalYAML reads models by their ids.
func (m *models) UnmarshalYAML(node ast.Node) error {
	return fields(node, func(id string, _ int, value ast.Node) error {
		one := aModel{id: id}
		err := fields(value, func(key string, line int, value ast.Node) (err error) {
			switch key {
			case "language":
				one.language, err = scalar(value)
			case "location":
				one.at.name, err = scalar(value)
				one.at.line = line
			}
			return err
		})
		*m = append(*m, one)
		return err
	})
}

// needs are extensions that a problem cannot be understood without.
type needs struct {
	others []path // that odes does not read
	sciml  *sciml
}

// UnmarshalYAML reads which extensions are needed: all but those that say that they are not.
func (n *needs) UnmarshalYAML(node ast.Node) error {
	return fields(node, func(name string, line int, value ast.Node) error {
		if name == "sciml" || name == "petab_sciml" {
			n.sciml = &sciml{}
			return n.sciml.read(value)
		}
		needed := true
		err := fields(value, func(key string, _ int, value ast.Node) error {
			if b, ok := value.(*ast.BoolNode); ok && key == "required" {
				needed = b.Value
			}
			return nil
		})
		if needed {
			n.others = append(n.others, path{name, line})
		}
		return err
	})
}

// check2 reports what a problem of version 2 lacks.
func (p *problem) check2(o *overview) {
	for _, x := range o.Extensions.others {
		p.wrong(p.line(x.line), "the problem needs the extension %q of PEtab, which odes does not read", x.name)
	}
	if x := o.Extensions.sciml; x != nil && len(x.nets) == 0 {
		p.wrong(p.whole(), "the extension sciml has no neural_networks")
	}
	switch {
	case len(o.Models) == 0:
		p.wrong(p.whole(), "the problem has no model_files")
	case len(o.Models) > 1:
		p.wrong(p.line(o.Models[1].at.line), "the problem has %d models: make a problem for each, with its "+
			"measurements", len(o.Models))
	case o.Models[0].language != "sbml":
		p.wrong(p.line(o.Models[0].at.line), "the model is in the language %q: odes reads sbml", o.Models[0].language)
	}
}

// period is one of an experiment: what conditions change when it begins.
type period struct {
	time  float64  // -inf for a steady state before the run
	ids   []string // of conditions
	sets  []row    // of the table of conditions
	jumps []string // what else changes then
	first row
}

// translate2 translates a problem of version 2.
func (p *problem) translate2(o *overview) *source.File {
	text, ok := p.text(o.Models[0].at)
	if !ok {
		return nil
	}
	p.byID = map[string]*experiment{}
	optional := func(key string, files paths, needs ...string) []row {
		if len(files) == 0 {
			return nil
		}
		return p.read(key, files, needs...)
	}
	parameters := p.read("parameter_files", o.Sheets, "parameterId", "estimate")
	conditions := optional("condition_files", o.Changes, "conditionId", "targetId", "targetValue")
	courses := optional("experiment_files", o.Courses, "experimentId", "time", "conditionId")
	observables := p.read("observable_files", o.Observed, "observableId", "observableFormula", "noiseFormula")
	measurements := p.read("measurement_files", o.Data, "observableId", "measurement", "time")
	mappings := optional("mapping_files", o.Mappings, "petabEntityId", "modelEntityId")
	measurements = slices.DeleteFunc(measurements, func(r row) bool { return missing(r.get("measurement")) })
	p.once(parameters, "parameterId")
	p.once(observables, "observableId")
	if len(measurements) == 0 && !p.list.HasErrors() {
		p.wrong(p.whole(), "the problem has no measurements")
	}
	if p.list.HasErrors() {
		return nil
	}
	if p.nets = o.Extensions.sciml; p.nets != nil {
		p.nets.p = p
		if p.nets.readNetworks(); p.list.HasErrors() {
			return nil
		}
	}
	p.courses(courses, conditions, measurements)
	if p.list.HasErrors() {
		return nil
	}
	open := comp.Beside(p.files, text, o.Models[0].at.name)
	if p.model = comp.Read(text, open, p.list, p.laterTargets()...); p.model == nil {
		return nil
	}
	p.measured, p.loss = p.model.Free("D"), p.model.Free("loss")
	for _, column := range []string{timeColumn, conditionColumn} {
		p.model.Free(column) // so that no observation is called so
	}
	end := p.spans(measurements)
	for _, r := range mappings {
		if p.nets != nil && p.nets.entity(r) {
			continue
		}
		if id := r.get("modelEntityId"); id != "" && id != r.get("petabEntityId") {
			name, _, ok := p.model.Name(id)
			if !ok {
				p.errorAt(r, "modelEntityId", "the model has nothing with the id %q", id)
			}
			p.names[r.get("petabEntityId")] = name
		}
	}
	p.parameters2(parameters)
	p.outputs2()
	if p.nets != nil && !p.list.HasErrors() {
		if p.nets.networks(parameters, informed(parameters)); p.list.HasErrors() {
			return nil
		}
	}
	for _, e := range p.bench {
		p.items2(e)
	}
	p.model.Fix(func(id string) bool { return p.changed[id] })
	p.observables(observables, measurements)
	if p.list.HasErrors() {
		return nil
	}
	return p.write(end)
}

// courses makes an experiment of each that something was measured in.
func (p *problem) courses(list, conditions, measurements []row) {
	changes, rows := map[string][]row{}, map[string][]row{}
	for _, r := range conditions {
		changes[r.get("conditionId")] = append(changes[r.get("conditionId")], r)
	}
	for _, r := range list {
		rows[r.get("experimentId")] = append(rows[r.get("experimentId")], r)
	}
	for _, r := range measurements {
		id := r.get("experimentId")
		if p.byID[id] != nil {
			continue
		}
		if id != "" && len(rows[id]) == 0 {
			p.errorAt(r, "experimentId", "there is no experiment %q", id)
			return
		}
		e := &experiment{from: r.origin("measurements"), conditions: conditions2(id)}
		if id != "" {
			e.from = rows[id][0].origin("experiment %s", id)
		}
		for _, x := range rows[id] {
			p.course(e, x, changes)
		}
		slices.SortStableFunc(e.periods, func(a, b *period) int {
			if a.time < b.time {
				return -1
			}
			return 1
		})
		p.byID[id] = e
		p.bench = append(p.bench, e)
		if len(e.periods) > 0 {
			e.start = e.periods[0].time
		}
		if e.settles = math.IsInf(e.start, -1); e.settles {
			e.start = 0
			if len(e.periods) > 1 {
				e.start = e.periods[1].time
			}
		}
	}
}

// conditions2 is what an experiment of version 2 is known by.
func conditions2(id string) conditions { return conditions{during: id} }

// course takes a row of the table of experiments.
func (p *problem) course(e *experiment, x row, changes map[string][]row) {
	t, err := strconv.ParseFloat(x.get("time"), 64)
	if err != nil || math.IsNaN(t) || math.IsInf(t, 1) {
		p.errorAt(x, "time", "the time %q is neither a number nor -inf", x.get("time"))
		return
	}
	i := slices.IndexFunc(e.periods, func(q *period) bool { return q.time == t })
	if i < 0 {
		i = len(e.periods)
		e.periods = append(e.periods, &period{time: t, first: x})
	}
	id := x.get("conditionId")
	if id == "" {
		return
	}
	e.periods[i].ids = append(e.periods[i].ids, id)
	if len(changes[id]) == 0 && !p.nets.tells(id) {
		p.errorAt(x, "conditionId", "there is no condition %q", id)
	}
	for _, c := range changes[id] {
		for _, other := range e.periods[i].sets {
			if other.get("targetId") == c.get("targetId") {
				p.errorAt(c, "targetId", "two conditions set %s at the time %s of the experiment %s", c.get("targetId"),
					x.get("time"), e.during).Relate(other.span("targetId"), "here, too")
			}
		}
		e.periods[i].sets = append(e.periods[i].sets, c)
	}
}

// laterTargets are what conditions change after the start of a run.
func (p *problem) laterTargets() []string {
	ids := map[string]bool{}
	for _, e := range p.bench {
		for _, q := range e.periods[min(1, len(e.periods)):] {
			for _, c := range q.sets {
				ids[c.get("targetId")] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// spans finds out when runs begin and end. Where they begin at different times, the time of the translation is that
// since the start of each.
func (p *problem) spans(measurements []row) (end float64) {
	from := p.bench[0].start
	same := !slices.ContainsFunc(p.bench, func(e *experiment) bool { return e.start != from })
	end = math.Inf(-1)
	last := map[*experiment]float64{}
	for _, r := range measurements {
		e := p.byID[r.get("experimentId")]
		t, err := strconv.ParseFloat(r.get("time"), 64)
		switch {
		case err != nil || math.IsNaN(t) || math.IsInf(t, -1):
			p.errorAt(r, "time", "the time %q is no number", r.get("time"))
			continue
		case t < e.start:
			p.errorAt(r, "time", "the time %s is before the start, which is %s", r.get("time"), decimal(e.start))
		}
		if before, ok := last[e]; !ok || t > before {
			last[e] = t
		}
	}
	for _, e := range p.bench {
		// What happens after the last measurement does not count.
		e.periods = slices.DeleteFunc(e.periods, func(q *period) bool { return q.time > last[e] })
		to := last[e]
		if math.IsInf(to, 1) { // the steady state after all that is changed, and measured
			to = e.start
			for _, r := range measurements {
				if t, err := strconv.ParseFloat(r.get("time"), 64); err == nil && p.byID[r.get("experimentId")] == e &&
					!math.IsInf(t, 0) {
					to = max(to, t)
				}
			}
			if n := len(e.periods); n > 0 {
				to = max(to, e.periods[n-1].time)
			}
		}
		if same {
			end = max(end, to)
		} else {
			end = max(end, to-e.start)
		}
	}
	if same {
		p.from = decimal(from)
		if end <= from {
			end = from + 1 // all is measured at the start, or at the steady state
		}
		return end
	}
	p.shift = p.model.Free("shift")
	sbml.Shift(p.model, p.shift)
	p.params = append(p.params, declaration{"const " + p.shift + " = 0", p.bench[0].periodRow(measurements)})
	if end <= 0 {
		end = 1
	}
	return end
}

// periodRow is a row that stands for an experiment.
func (e *experiment) periodRow(measurements []row) row {
	if len(e.periods) > 0 {
		return e.periods[0].first
	}
	return measurements[0]
}

// outputs2 declares what conditions set and neither the model nor the table of parameters has.
func (p *problem) outputs2() {
	later := p.laterTargets()
	seen := map[string]bool{}
	for _, e := range p.bench {
		for _, q := range e.periods {
			for _, c := range q.sets {
				id := c.get("targetId")
				if _, _, known := p.model.Name(id); known || seen[id] || p.names[id] != "" {
					continue
				}
				seen[id] = true
				for _, other := range p.bench {
					if len(other.periods) == 0 || !slices.ContainsFunc(other.periods[0].sets, func(r row) bool {
						return r.get("targetId") == id
					}) {
						p.errorAt(c, "targetId", "the condition sets %q, which the model does not have, and an "+
							"experiment begins without a value for it", id)
						return
					}
				}
				name := p.model.Free(id)
				p.made = append(p.made, made{id: id, name: name})
				p.names[id] = name
				if !slices.Contains(later, id) {
					p.params = append(p.params, declaration{"param " + name + " = 1", c})
					continue
				}
				start := p.model.Free(id + "_start")
				p.made[len(p.made)-1].start = start
				p.params = append(p.params, declaration{"param " + start + " = 1", c},
					declaration{"discrete " + name + " = " + start, c})
			}
		}
	}
}

// made is what conditions set and only they know.
type made struct {
	id, name string
	start    string // the name of its value at the start, if it changes during a run
}

// madeOf returns what only conditions know by an id, or nil.
func (p *problem) madeOf(id string) *made {
	i := slices.IndexFunc(p.made, func(m made) bool { return m.id == id })
	if i < 0 {
		return nil
	}
	return &p.made[i]
}

// beforeEvents is the priority of conditions: they act before all events of the same time, whatever its priority is,
// and before conditions of delayed events are looked at.
const beforeEvents = "1e308"

// items2 writes what an experiment changes.
func (p *problem) items2(e *experiment) {
	if e.during == "" {
		e.name = p.model.Free("as_is")
	} else {
		e.name = p.model.Free(e.during)
	}
	if p.shift != "" && e.start != 0 {
		e.items = append(e.items, p.shift+" = "+decimal(e.start))
	}
	for i, q := range e.periods {
		if i == 0 {
			for _, c := range q.sets {
				p.start2(e, c)
			}
			if e.settles {
				e.items = append(e.items, "equilibrate { }")
			}
			continue
		}
		if len(q.sets)+len(q.jumps) == 0 {
			continue
		}
		ids, jumps := []string(nil), q.jumps
		values := map[string]string{}
		for _, c := range q.sets {
			id := c.get("targetId")
			value := p.formula(c, "targetValue", p.stands)
			if m := p.madeOf(id); m != nil {
				jumps = append(jumps, m.name+" = "+value)
			} else if p.settable(c, id) {
				ids, values[id] = append(ids, id), value
			}
		}
		jumps = append(jumps, sbml.Jumps(p.model, ids, values)...)
		at := q.time
		if p.shift != "" {
			at -= e.start
		}
		e.items = append(e.items, "at "+decimal(at)+" priority "+beforeEvents+" { "+strings.Join(jumps, "  ")+" }")
	}
}

// settable reports a condition that sets what it cannot.
func (p *problem) settable(c row, id string) bool {
	_, _, ok := p.model.Name(id)
	switch {
	case !ok:
		p.errorAt(c, "targetId", "the condition sets %q, which is in the table of parameters, or is none of the "+
			"model's symbols", id)
	case p.model.IsRule(id):
		p.errorAt(c, "targetId", "the condition sets %s, which a rule or a reaction gives", id)
	case p.model.IsSet(id):
		p.errorAt(c, "targetId", "the condition sets %s, which is in the table of parameters, too", id)
	default:
		return true
	}
	return false
}

// start2 writes a change before the first period of an experiment.
func (p *problem) start2(e *experiment, c row) {
	id := c.get("targetId")
	value := p.formula(c, "targetValue", p.known2)
	switch m := p.madeOf(id); {
	case m != nil && m.start != "":
		e.items = append(e.items, m.start+" = "+value)
		return
	case m != nil:
		e.items = append(e.items, m.name+" = "+value)
		return
	}
	if !p.settable(c, id) {
		return
	}
	name, isParam, _ := p.model.Name(id)
	p.changed[id] = true
	if !isParam {
		name = p.model.Start(id)
	}
	e.items = append(e.items, name+" = "+value)
}

// known2 is what a name stands for before a run begins: parameters of the table, and no other symbols of the model.
func (p *problem) known2(id string) (string, bool) {
	if !p.listed[id] {
		return "", false
	}
	return p.stands(id)
}
