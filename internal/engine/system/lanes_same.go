package system

import (
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// Served is what Problem.Lanes makes steps for: a problem with its kits.
type Served struct {
	*Problem
	Values, Slopes *Kit
}

// Like reports whether what Lanes makes for p makes the steps of q as well: whether both have the programs of the same
// tapes, at the same places. Behind these, what else they have may differ, as numbers of doses.
func (p *Served) Like(q *Served) bool {
	if p.Size() != q.Size() || len(p.Peaks)+len(q.Peaks) > 0 {
		return false
	}
	for i, k := range [2]*Kit{p.Values, p.Slopes} {
		o := [2]*Kit{q.Values, q.Slopes}[i]
		if k.lanes != o.lanes || k.plan.width != o.plan.width || k.plan.record != o.plan.record || (k.shared == nil) != (o.shared == nil) {
			return false
		}
		for j, parts := range [3]*tapec.Parts[*program]{k.value, k.pull, k.push} {
			others := [3]*tapec.Parts[*program]{o.value, o.pull, o.push}[j]
			for _, part := range [2]tapec.Part{tapec.PartRates, tapec.PartJacobian} {
				if codeOf(parts, part) != codeOf(others, part) {
					return false
				}
			}
		}
	}
	return true
}

// codeOf returns the code of a part, of which a family makes one for the same tapes at the same places; nil for none.
func codeOf(parts *tapec.Parts[*program], part tapec.Part) *vm.Program {
	if parts == nil {
		return nil
	}
	p := parts.Get(part)
	if p == nil {
		return nil
	}
	return p.code
}
