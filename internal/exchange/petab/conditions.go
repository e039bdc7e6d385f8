package petab

import (
	"slices"
	"strings"

	"odes.dev/odes/internal/exchange/sbml"
)

// conditions makes an experiment of each condition that something was measured in.
func (p *problem) conditions(list, measurements []row) {
	byID := map[string]row{}
	for _, r := range list {
		byID[r.get("conditionId")] = r
	}
	for _, r := range measurements {
		if p.byConditions[conditionsOf(r)] != nil {
			continue
		}
		for _, column := range []string{"preequilibrationConditionId", "simulationConditionId"} {
			id := r.get(column)
			if _, ok := byID[id]; !ok && (id != "" || column == "simulationConditionId") {
				p.errorAt(r, column, "there is no condition %q", id)
				return
			}
		}
		e := &experiment{conditions: conditionsOf(r), of: byID[r.get("simulationConditionId")]}
		e.from = e.of.origin("condition %s", e.during)
		p.bench = append(p.bench, e)
		p.byConditions[e.conditions] = e
	}
	p.complete(byID)
	for _, e := range p.bench {
		e.name = e.during
		if slices.ContainsFunc(p.bench, func(o *experiment) bool { return o != e && o.during == e.during }) {
			e.name = e.before + "_" + e.during
		}
		e.name = p.model.Free(e.name)
		p.items(e, byID)
	}
}

// complete gives a value to what has none in the model, since each condition has one.
func (p *problem) complete(byID map[string]row) {
	for _, e := range p.bench {
		for _, id := range e.of.of.columns {
			_, isParam, ok := p.model.Name(id)
			if !ok || p.model.IsRule(id) || p.model.IsSet(id) {
				continue
			}
			if _, ok := p.model.Given(id); ok {
				continue
			}
			for _, o := range p.bench {
				for _, condition := range []string{o.before, o.during} {
					r, first := byID[condition], condition == o.before || o.before == ""
					if condition != "" && (isParam || first) && missing(r.get(id)) {
						p.errorAt(r, id, "the condition gives no value to %s, and the model does not either", id)
						return
					}
				}
			}
			p.model.Assume(id, "1")
		}
	}
}

// items writes what a condition changes.
func (p *problem) items(e *experiment, byID map[string]row) {
	var steady, jumps []string
	each := func(r row, do func(id, name string, isParam bool, value string)) {
		for _, id := range r.of.columns {
			cell := r.get(id)
			if id == "conditionId" || id == "conditionName" || id == "" || missing(cell) {
				continue
			}
			name, isParam, ok := p.model.Name(id)
			p.changed[id] = true
			switch {
			case !ok:
				p.errorAt(r, id, "the condition sets %q, which is not in the model", id)
				continue
			case p.model.IsRule(id):
				p.errorAt(r, id, "the condition sets %s, which a rule or a reaction gives", id)
				continue
			}
			do(id, name, isParam, p.value(r, id, cell))
		}
	}
	each(e.of, func(id, name string, isParam bool, value string) {
		switch {
		case isParam:
			e.items = append(e.items, name+" = "+value)
			if e.before != "" && missing(byID[e.before].get(id)) {
				steady = append(steady, name+" = "+p.base(byID[e.before], id))
			}
		case e.before == "":
			e.items = append(e.items, p.model.Start(id)+" = "+value)
		default:
			jumps = append(jumps, p.model.Jump(id, value))
		}
	})
	if e.before == "" {
		return
	}
	each(byID[e.before], func(id, name string, isParam bool, value string) {
		if isParam {
			steady = append(steady, name+" = "+value)
		} else {
			e.items = append(e.items, p.model.Start(id)+" = "+value)
		}
	})
	e.items = append(e.items, "equilibrate { "+strings.Join(steady, "  ")+" }")
	sets := func(r row, id string) bool { return slices.Contains(r.of.columns, id) && !missing(r.get(id)) }
	anew, err := sbml.Restart(p.model, func(id string) bool {
		_, isParam, ok := p.model.Name(id)
		return ok && isParam && sets(e.of, id)
	}, func(id string) bool { return sets(e.of, id) || sets(byID[e.before], id) })
	if err != nil {
		p.errorAt(e.of, "conditionId", "the condition changes what an initial assignment reads: %v", err)
		return
	}
	jumps = append(jumps, anew...)
	if len(jumps) > 0 {
		e.items = append(e.items, "at 0 { "+strings.Join(jumps, "  ")+" }")
	}
}

// base is the value of a symbol of the model where a condition does not set it.
func (p *problem) base(r row, id string) string {
	if value, ok := p.given[id]; ok {
		return value
	}
	value, ok := p.model.Given(id)
	if !ok || p.changed[id] && p.model.IsSet(id) {
		p.errorAt(r, id, "the condition needs a value for %s, since the simulation after it sets one, and that of the "+
			"model is estimated or missing", id)
	}
	return value
}
