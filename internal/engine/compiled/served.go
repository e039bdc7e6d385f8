package compiled

import (
	"reflect"
	"slices"

	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// Same reports whether a worker of p serves one of q: whether the two differ in nothing but an identity.
func (p *Served) Same(q *Served) bool {
	m, o := p.Model, q.Model
	a, b := m.Compiled, o.Compiled
	return len(a.InstantList) == len(b.InstantList) && len(a.ClockList)+len(b.ClockList) == 0 &&
		len(a.GuardList)+len(b.GuardList) == 0 && p.Edges == nil && q.Edges == nil &&
		p.Like(q) && p.Values.same(q.Values) && p.Slopes.same(q.Slopes) &&
		slices.Equal(m.Fixed, o.Fixed) && slices.Equal(m.Immovable, o.Immovable) && slices.Equal(m.Visits, o.Visits) &&
		reflect.DeepEqual([]any{m.Layout, m.AtTimes, m.AtEvents}, []any{o.Layout, o.AtTimes, o.AtEvents}) &&
		reflect.DeepEqual(m.Mass, o.Mass) && reflect.DeepEqual(p.Plan, q.Plan) &&
		reflect.DeepEqual([]any{p.Rows, p.Free, p.Peaks}, []any{q.Rows, q.Free, q.Peaks}) &&
		reflect.DeepEqual(a.InstantList, b.InstantList) && reflect.DeepEqual(a.Modes, b.Modes) &&
		slices.EqualFunc(a.Functionals, b.Functionals, func(f, g tapec.Functional) bool {
			f.Table, g.Table = nil, nil
			return reflect.DeepEqual(f, g)
		})
}

// same reports whether two kits have the same programs but for those of the times.
func (k *Kit) same(o *Kit) bool {
	parts := [3][2]*tapec.Parts[*Program]{{k.Value, o.Value}, {k.Pull, o.Pull}, {k.Push, o.Push}}
	return !slices.ContainsFunc(parts[:], func(of [2]*tapec.Parts[*Program]) bool {
		return !slices.Equal(codesOf(of[0]), codesOf(of[1]))
	})
}

// codesOf returns the code of all programs but those of the times, of which it tells whether there are any.
func codesOf(parts *tapec.Parts[*Program]) (list []*vm.Program) {
	if parts == nil {
		return nil
	}
	for at, p := range parts.All() {
		switch {
		case p == nil:
			list = append(list, nil)
		case at.Part != tapec.PartInstants:
			list = append(list, p.Code)
		}
	}
	return list
}

// Served is what Lanes are made for: a task with its kits.
type Served struct {
	*Task
	Values, Slopes *Kit
}

// Like reports whether what Lanes makes for p makes the steps of q as well: whether both have the programs of the same
// tapes, at the same places. Behind these, what else they have may differ, as numbers of doses.
func (p *Served) Like(q *Served) bool {
	for k, o := range map[*Kit]*Kit{p.Values: q.Values, p.Slopes: q.Slopes} {
		if p.Size() != q.Size() || k.Lanes != o.Lanes || k.Plan.Width != o.Plan.Width ||
			k.Plan.Record != o.Plan.Record || (k.Shared == nil) != (o.Shared == nil) ||
			k.codes() != o.codes() {
			return false
		}
	}
	return true
}

// codes returns the code of what makes steps, of which a family makes one for the same tapes at the same places.
func (k *Kit) codes() (list [6]*vm.Program) {
	for i, parts := range [3]*tapec.Parts[*Program]{k.Value, k.Pull, k.Push} {
		for j, part := range [2]tapec.Part{tapec.PartRates, tapec.PartJacobian} {
			if parts != nil && parts.Get(part) != nil {
				list[2*i+j] = parts.Get(part).Code
			}
		}
	}
	return list
}
