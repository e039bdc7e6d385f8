package compiled

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"

	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tapec"
)

// CodeIndex is the code of models whose algebraic equations do not determine the unknowns.
const CodeIndex diag.Code = "index"

// newMass returns the mass matrix of a model; nil for one without algebraic unknowns.
func newMass(m *Model) *matrices.Mass {
	if !m.Checked.Algebraic() {
		return nil
	}
	var unknowns, rows, cols []int32
	var values []float64
	for _, x := range m.Checked.Masses {
		at := m.State(x.State.Name).Offset
		for _, i := range x.Unknowns {
			unknowns = append(unknowns, int32(at+i))
		}
		for e, v := range x.Values {
			rows, cols, values = append(rows, int32(at+x.Rows[e])), append(cols, int32(at+x.Cols[e])), append(values, v)
		}
	}
	for i := m.differential(); i < m.Layout.NY; i++ {
		unknowns = append(unknowns, int32(i))
	}
	slices.Sort(unknowns)
	return matrices.NewMass(m.Layout.NY, unknowns, rows, cols, values)
}

// differential returns the number of elements of the states that have rates. Those of the unknowns come after them.
func (m *Model) differential() int {
	n := 0
	for _, s := range m.Checked.Differential() {
		n += s.Type.Shape.Size()
	}
	return n
}

// Algebraic reports whether the model has algebraic unknowns.
func (m *Model) Algebraic() bool { return m.Mass != nil }

// Combined reports whether combinations of equations are algebraic, by a mass matrix, or rates of unknowns stand in
// others: then the unknowns are not functions of the other states.
func (m *Model) Combined() bool { return m.Mass != nil && len(m.Mass.Values) > 0 }

// EquationsOf returns the outputs of the rates that say how a state moves: its rate or, of an unknown, all algebraic
// equations.
func (m *Model) EquationsOf(state string) (list []tapec.Name) {
	for _, s := range m.Checked.Differential() {
		if s.Name == state {
			return []tapec.Name{tapec.Rate.Called(state)}
		}
	}
	for k := range m.Checked.Residuals {
		list = append(list, tapec.Residual.Number(k))
	}
	return list
}

// Equation returns the place of the equation in a row of the rates, and what to call it: that of a state, "x'", or an
// algebraic one, "0 = … in line 12". It returns "" for a row without a place.
func (m *Model) Equation(row int) (at source.Span, name string) {
	if n := m.differential(); row < n {
		for k, p := range m.Layout.States {
			if row < p.Offset+p.Len {
				return m.Checked.Rates[k].Span(), m.StateName(row) + "'"
			}
		}
	} else {
		row -= n
	}
	for _, r := range m.Checked.Residuals {
		shape := r.Value.Type().Shape
		if size := shape.Size(); row >= size {
			row -= size
			continue
		}
		name = "`0 = …` in line " + strconv.Itoa(r.Span.Begin().Line)
		if len(shape) > 0 {
			name += ", element " + ElementName("", shape, row)
		}
		return r.Span, name
	}
	return source.Span{}, ""
}

// determined reports to list where the places of the Jacobian's entries alone tell that the algebraic equations do not
// determine the unknowns, and returns false then.
//
// The equations and unknowns that it names are the over- and the underdetermined part of the decomposition of A. L.
// Dulmage and N. S. Mendelsohn (Canadian Journal of Mathematics 10 (1958) 517–534).
func (m *Model) determined(list *diag.List) bool {
	j, err := m.Programs.WithJacobian(false)
	if err != nil {
		list.Errorf(tapec.CodeUnavailable, m.Checked.Time.Span, "%v", err)
		return false
	}
	index := map[int32]int{}
	for k, i := range m.Mass.Unknowns {
		index[i] = k
	}
	coupled := map[int32][]int32{} // by state: the unknowns whose columns its row of M has entries in
	for e, i := range m.Mass.Rows {
		coupled[i] = append(coupled[i], m.Mass.Cols[e])
	}
	var rows, cols []int
	for e, row := range j.Made.Rows {
		r, ok := index[row]
		if !ok {
			continue
		}
		col := j.Made.Cols[e]
		for _, c := range append([]int32{col}, coupled[col]...) {
			if k, ok := index[c]; ok {
				rows, cols = append(rows, r), append(cols, k)
			}
		}
	}
	short := func(rows, cols []int) []int {
		p, _ := linalg.NewPattern(len(m.Mass.Unknowns), rows, cols)
		var singular *linalg.SingularError
		if _, err := linalg.Analyze(p, linalg.Options{}); errors.As(err, &singular) && singular.Structural {
			return singular.Cols
		}
		return nil
	}
	unknowns := short(rows, cols)
	if unknowns == nil {
		return true
	}
	equations := short(cols, rows)
	var names, lines []string
	for _, i := range unknowns {
		names = append(names, m.StateName(int(m.Mass.Unknowns[i])))
	}
	for _, i := range equations {
		_, name := m.Equation(int(m.Mass.Unknowns[i]))
		lines = append(lines, name)
	}
	at, _ := m.Equation(int(m.Mass.Unknowns[equations[0]]))
	d := list.Errorf(CodeIndex, at, "the algebraic equations do not determine %s: %s", diag.SomeAnd(names),
		m.shortage(unknowns, equations, rows, cols, lines))
	for _, s := range m.Checked.States {
		if slices.ContainsFunc(unknowns, func(i int) bool {
			p, at := m.State(s.Name), int(m.Mass.Unknowns[i])
			return at >= p.Offset && at < p.Offset+p.Len
		}) {
			d.Relate(s.Span, "%q is declared here", s.Name)
		}
	}
	return false
}

// shortage says why equations do not determine unknowns, which are numbers from 0 on, and what to do.
func (m *Model) shortage(unknowns, equations, rows, cols []int, lines []string) string {
	read := 0 // unknowns that these equations read
	seen := map[int]bool{}
	for e, r := range rows {
		if slices.Contains(equations, r) && !seen[cols[e]] {
			seen[cols[e]] = true
			read++
		}
	}
	few := "no unknown"
	if read > 0 {
		few = "only " + diag.Count(read, "unknown")
	}
	text := fmt.Sprintf("%s %s %s", diag.SomeAnd(lines), verb(len(lines), "reads", "read"), few)
	follow := "it follows"
	if len(unknowns) > 1 {
		follow = "these follow"
	}
	if n := m.differentiations(unknowns, equations); n > 0 {
		return text + fmt.Sprintf(", and %s only from derivatives of %s by time: the index of the model is "+
			"about %d, and odes solves those of index 1; differentiate %s by time, %s, and replace the rates of "+
			"states "+
			"that this brings in by their equations", follow, pronoun(len(lines)), n+1,
			pronoun(len(lines)), times(n))
	}
	return text + "; write as many equations with each group of unknowns as it has unknowns"
}

func verb(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

func pronoun(n int) string { return verb(n, "this equation", "these equations") }

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return strconv.Itoa(n) + " times"
}

// differentiations returns how often some of the equations must be differentiated by time, as far as the places of
// entries tell, until an unknown appears among those given; 0 if it never does.
func (m *Model) differentiations(unknowns, equations []int) int {
	j, _ := m.Programs.WithJacobian(false)
	n, unknown := m.Layout.NY, map[int]int{}
	for k, i := range m.Mass.Unknowns {
		unknown[int(i)] = k
	}
	reads := make([][]int, n)
	for e, row := range j.Made.Rows {
		if c := int(j.Made.Cols[e]); int(row) < n && c < n {
			reads[row] = append(reads[row], c)
		}
	}
	reached := map[int]bool{} // states
	var next []int
	for _, i := range equations {
		next = append(next, reads[m.Mass.Unknowns[i]]...)
	}
	for depth := 1; len(next) > 0; depth++ {
		var rates []int
		for _, s := range next {
			if _, is := unknown[s]; is || reached[s] {
				continue
			}
			reached[s] = true
			for _, c := range reads[s] {
				if k, is := unknown[c]; is && slices.Contains(unknowns, k) {
					return depth
				}
				rates = append(rates, c)
			}
		}
		next = rates
	}
	return 0
}
