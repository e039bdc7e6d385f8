package petab

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/hdf5"
)

// arrayInput is an input of networks whose numbers a file of arrays holds: those of all conditions, or of each.
type arrayInput struct {
	name string // in the translation
	n    int
}

const inputGroup = "inputs/"

// forAll is what arrays for all conditions are called.
const forAll = "0"

// tells reports whether a file of arrays has an input for a condition.
func (x *sciml) tells(condition string) bool {
	if x == nil {
		return false
	}
	for path := range x.numbers {
		if _, of, is := datum(path); is && slices.Contains(of, condition) {
			return true
		}
	}
	return false
}

// datum takes the path of the numbers of an input apart: its id, and the conditions that they are for.
func datum(path string) (id string, conditions []string, is bool) {
	rest, is := strings.CutPrefix(path, inputGroup)
	if !is {
		return "", nil, false
	}
	id, list, is := strings.Cut(rest, "/")
	return id, strings.Split(list, ";"), is
}

// arrayInput declares an input as a whole. It returns nil after reporting an error.
func (x *sciml) arrayInput(id string, in port, hybrids []row) *arrayInput {
	p := x.p
	if a := x.arrayed[id]; a != nil {
		return a
	}
	for _, r := range hybrids {
		if r.get("targetId") == id && r.get("targetValue") != "array" {
			p.errorAt(r, "targetValue", "%s is a whole input: %q says that a file of arrays has it; for a formula, "+
				"name its elements, as %s.inputs[%d][0]", id, "array", in.net.id, in.which)
			return nil
		}
	}
	data := map[string]hdf5.Array{}
	var first hdf5.Array
	for _, path := range slices.Sorted(maps.Keys(x.numbers)) {
		of, conditions, is := datum(path)
		if !is || of != id {
			continue
		}
		a := x.numbers[path]
		if len(a.Shape) != 1 || len(data) > 0 && len(a.Data) != len(first.Data) || len(a.Data) == 0 {
			p.errorAt(in.from, "petabEntityId", "%s in the array_files has the shape %v: odes reads inputs that are "+
				"vectors, of one length", path, a.Shape)
			return nil
		}
		first = a
		for _, c := range conditions {
			data[c] = a
		}
	}
	if len(data) == 0 {
		p.errorAt(in.from, "petabEntityId", "the array_files have no %s%s", inputGroup, id)
		return nil
	}
	a := &arrayInput{name: p.model.Free(id), n: len(first.Data)}
	x.arrayed[id] = a
	if all, is := data[forAll]; is {
		p.params = append(p.params, declaration{"const " + a.name + vectorText(all), in.from})
		return a
	}
	if !x.ofConditions(id, in, a, data) {
		return nil
	}
	return a
}

// vectorText is how a vector and its value are declared.
func vectorText(a hdf5.Array) string { return fmt.Sprintf("[%d] = %s", len(a.Data), arrayText(a)) }

// ofConditions declares an input whose numbers depend on conditions: a param for those at the start, and a discrete
// where later conditions change them. It tells whether nothing is wrong.
func (x *sciml) ofConditions(id string, in port, a *arrayInput, data map[string]hdf5.Array) bool {
	p := x.p
	var starts []hdf5.Array
	moves := false
	for _, e := range p.bench {
		if len(e.periods) == 0 {
			p.errorAt(in.from, "petabEntityId", "measurements without an experiment have no numbers for the input %s",
				id)
			return false
		}
		for i, q := range e.periods {
			var of []string
			for _, c := range q.ids {
				if _, is := data[c]; is {
					of = append(of, c)
				}
			}
			switch {
			case len(of) > 1:
				p.errorAt(q.first, "conditionId", "the conditions %s have numbers for the input %s, at one time",
					strings.Join(of, " and "), id)
				return false
			case i == 0 && len(of) == 0:
				p.errorAt(q.first, "conditionId", "the experiment %s begins without numbers for the input %s", e.during,
					id)
				return false
			case i == 0:
				starts = append(starts, data[of[0]])
			case len(of) > 0 && !in.net.before: // a network before the run has seen the first ones
				q.jumps = append(q.jumps, a.name+" = "+arrayText(data[of[0]]))
				moves = true
			}
		}
	}
	start := a.name
	if moves {
		start = p.model.Free(id + "_start")
	}
	p.params = append(p.params, declaration{"param " + start + vectorText(starts[0]), in.from})
	if moves {
		p.params = append(p.params, declaration{fmt.Sprintf("discrete %s[%d] = %s", a.name, a.n, start), in.from})
	}
	for i, e := range p.bench {
		e.items = append(e.items, start+" = "+arrayText(starts[i]))
	}
	return true
}
