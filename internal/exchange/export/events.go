package export

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/policy"
)

// written is what exports know of the options of an event: they write it, or say that they cannot. A file that left out
// another one would be of another model.
func written(p policy.Policy) policy.Policy {
	return policy.Policy{
		Priority: p.Priority, Once: p.Once, Start: p.Start, Tol: p.Tol, Transient: p.Transient, Late: p.Late,
		Most: p.Most,
	}
}

// flattenEvents writes events out into their elements.
func (x *exporter) flattenEvents() {
	for _, e := range x.source.Events {
		if e.After || e.Pending || e.Hidden && e.Execution == nil {
			continue // read by objectives only; written with its trigger; a lapse
		}
		each(e.Indices, nil, func(in loops) { x.events = append(x.events, x.oneEvent(e, in)) })
	}
}

func (x *exporter) oneEvent(on *model.Event, in loops) *event {
	e := &event{of: on, on: on, persistent: !on.Transient}
	if on.Execution != nil {
		e.of = on.Execution
		e.persistent = !e.of.Transient
	}
	scalar := func(v model.Expr) *node {
		if v == nil {
			return nil
		}
		return x.at(v, in, 0)
	}
	e.name = elementName(e.of, in)
	e.when, e.crossing = scalar(on.When), scalar(on.Crossing)
	for _, t := range on.Times {
		for o := range t.Type().Shape.Size() {
			e.times = append(e.times, x.at(t, in, o))
		}
	}
	e.every, e.from, e.to, e.count = scalar(on.Every), scalar(on.From), scalar(on.To), scalar(on.Count)
	e.rank = scalar(e.of.Rank)
	var kept map[*model.Symbol]bool
	if on.Execution != nil {
		e.delay = x.num(0)
		if sum, is := on.Body[0].Value.(*model.Call); is && sum.Fn.Name == "+" {
			e.delay = x.at(sum.Args[1], in, 0)
		}
		kept = map[*model.Symbol]bool{}
		for _, a := range on.Body[1:] {
			kept[a.Target] = true
			x.instead[a.Target] = a.Value
		}
	}
	for _, a := range e.of.Body {
		if a.Target.Hidden {
			continue
		}
		held := heldBy(a.Value, kept)
		each(a.Indices, in, func(inner loops) {
			for o, at := range x.offsets(a.Subs, a.Target.Type.Shape, inner) {
				e.body = append(e.body, assignment{x.elements[a.Target][at], x.at(a.Value, inner, o)})
			}
			for _, h := range held {
				for o := range h.Type().Shape.Size() {
					switch v := x.at(h, inner, o); {
					case v.uses&moving == 0:
						e.atExecution = e.atExecution || h != a.Value
					case h != a.Value:
						e.mixed = a
					default:
						e.atTrigger = true
					}
				}
			}
		})
	}
	return e
}

// heldBy returns what a value of an execution has of the trigger: itself, or parts of it.
func heldBy(value model.Expr, kept map[*model.Symbol]bool) (held []model.Expr) {
	model.Walk(func(e model.Expr) bool {
		if a, is := e.(*model.Access); is {
			if r, is := a.X.(*model.Ref); is && kept[r.Sym] {
				held = append(held, e)
			}
		}
		return true
	}, value)
	return held
}

func elementName(e *model.Event, in loops) string {
	if len(e.Indices) == 0 {
		return e.Name
	}
	name := e.Name
	for k, ix := range e.Indices {
		name += map[bool]string{true: "[", false: ","}[k == 0] + itoa(in[ix])
	}
	return name + "]"
}
