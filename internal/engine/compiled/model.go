// Package compiled is the compiled model: its tapes, laid out in a few flat vectors (package vec), programs of these
// and of their derivatives for a number of lanes (kit.go, program.go), values of parameters (Point), and what a run is
// asked for (Task). Workers of package system put it to work.
//
// It knows nothing of settings, of texts of messages about runs, nor of how a run is made: these
// are the business of internal/engine/settings, internal/engine/explain and internal/engine/run.
package compiled

import (
	"cmp"
	"slices"
	"strconv"
	"sync"

	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/target"

	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Model is a compiled model: its tapes, where every name lies, and the programs made of them so far.
// Goroutines may share it; nothing that they see of it changes.
type Model struct {
	Checked  *model.Model
	Compiled *tapec.Compiled

	Layout   *vec.Layout
	Programs *programs
	family   *family // what the model shares with its experiments; nil for nothing

	reads      map[string]vec.Part // where the inputs of all tapes lie
	margins    []margin            // of guards
	functional []int               // per element of the functional vector: which functional it is of
	Rows       [][]float64         // per instant: the data row read there
	AtTimes    [][]int             // per group of instants: the functionals that are read there, in ascending order
	AtEvents   [][]int             // likewise per event
	Visits     []int               // per functional: at how many instants it is read
	Fixed      []bool              // per instant: its time depends on nothing
	Immovable  []bool              // per instant: its time depends on no discrete
	Mass       *matrices.Mass      // nil without algebraic unknowns
	SomeNth    bool                // some functional counts only one firing
	Atoms      atoms

	extended func() *extension

	laws  *conserved
	Asked func() asked
}

// New compiles a checked model. It returns nil when it adds errors to list.
func New(checked *model.Model, list *diag.List) *Model {
	if len(checked.Experiments) > 0 {
		return NewFamily(checked, list)
	}
	return newModel(checked, nil, list)
}

// NewFamily is New for a model that others will share with, as Experiment makes them.
func NewFamily(checked *model.Model, list *diag.List) *Model {
	return newModel(checked, newFamily(), list)
}

// Experiment compiles an experiment of m, which shares with it what they have in common; nil where New returns nil.
func (m *Model) Experiment(checked *model.Model, list *diag.List) *Model {
	return newModel(checked, m.family, list)
}

func newModel(checked *model.Model, f *family, list *diag.List) *Model {
	compiled := tapec.Compile(checked, list)
	if list.HasErrors() {
		return nil
	}
	m := &Model{Checked: checked, Compiled: compiled, Layout: vec.NewLayout(compiled), family: f}
	m.Mass = newMass(m)
	var err error
	if m.Programs, err = newPrograms(m, list); err != nil {
		list.Errorf(tapec.CodeUnavailable, checked.Time.Span, "%v", err)
		return nil
	}
	m.index()
	list.Look()
	if m.Mass != nil && !m.determined(list) {
		return nil
	}
	m.extended = sync.OnceValue(func() *extension { return extend(m) })
	m.laws = &conserved{of: m}
	m.Asked = sync.OnceValue(m.asks)
	return m
}

// index prepares the tables that runs read.
func (m *Model) index() {
	c := m.Compiled
	m.reads = readInputs(m)
	m.functional = make([]int, m.Layout.NF)
	for k := range c.Functionals {
		f := &c.Functionals[k]
		for j := range f.Shape.Size() {
			m.functional[f.Offset+j] = k
		}
		m.SomeNth = m.SomeNth || f.Nth > 0
	}
	m.Atoms = atomsOf(c)
	m.margins = marginsOf(c.Guards)
	m.Rows = make([][]float64, len(c.InstantList))
	m.Fixed = instantsWithout(c.Instants, len(c.InstantList), func(name string) bool {
		return !slices.ContainsFunc(m.Checked.Params, func(s *model.Symbol) bool {
			return s.Still && tapec.Param.Called(s.Name).String() == name
		})
	})
	m.Immovable = instantsWithout(c.Instants, len(c.InstantList), func(name string) bool {
		return tapec.MustName(name).Role == tapec.Discrete
	})
	for _, t := range c.AtTimes {
		m.AtTimes = append(m.AtTimes, m.readBy(t))
	}
	for _, t := range c.AtEvents {
		m.AtEvents = append(m.AtEvents, m.readBy(t))
	}
	m.Visits = make([]int, len(c.Functionals))
	tables := map[*model.Table][][]float64{} // observations of several columns read the same rows
	for i, in := range c.InstantList {
		for _, k := range m.ReadAt(&in) {
			m.Visits[k]++
			if t := c.Functionals[k].Table; t != nil && m.Rows[i] == nil {
				if tables[t] == nil {
					tables[t] = rowsOf(t)
				}
				m.Rows[i] = tables[t][in.Row]
			}
		}
	}
}

// readInputs tells where the inputs of all tapes lie.
func readInputs(m *Model) map[string]vec.Part {
	reads := map[string]vec.Part{}
	for _, t := range m.Compiled.Tapes() {
		for _, in := range t.Inputs {
			if at, ok := m.Layout.Find(tapec.MustName(in.Name)); ok {
				reads[in.Name] = at
			}
		}
	}
	return reads
}

// rowsOf returns the rows of a table.
func rowsOf(t *model.Table) [][]float64 {
	n := len(t.Data)
	all, rows := make([]float64, n*len(t.Data[0])), make([][]float64, len(t.Data[0]))
	for i := range rows {
		rows[i] = all[i*n : (i+1)*n : (i+1)*n]
		for k, column := range t.Data {
			rows[i][k] = column[i]
		}
	}
	return rows
}

// ReadAt lists the functionals that are read at an instant.
func (m *Model) ReadAt(in *tapec.Instant) []int {
	if in.Kind != tapec.Site {
		return nil
	}
	return m.AtTimes[in.Group]
}

// readBy lists the functionals that a tape reads, in ascending order; nil for no tape.
func (m *Model) readBy(t *tape.Tape) (list []int) {
	if t == nil {
		return nil
	}
	for _, out := range t.Outputs {
		list = append(list, m.FunctionalAt(m.Layout.Part(tapec.MustName(out.Name)).Offset))
	}
	slices.Sort(list)
	return list
}

// Unmoved reports whether no body moves the time of instant i: it depends on no discrete.
func (m *Model) Unmoved(i int) bool { return m.Immovable[i] }

// instantsWithout says of each instant whether its time depends on none of the inputs that on tells.
func instantsWithout(t *tape.Tape, n int, on func(input string) bool) []bool {
	fixed := make([]bool, n)
	times, ok := t.Output(tapec.Times.Name().String())
	if !ok {
		return fixed
	}
	moves := tape.DependsOnFunc(t, on)
	parts := []tape.Value{times}
	if in := t.Instr(times); in != nil && in.Op == tape.Concat {
		parts = in.Args
	}
	at := 0
	for _, v := range parts {
		for range t.Shape(v).Size() {
			fixed[at] = !moves[v]
			at++
		}
	}
	return fixed
}

// FunctionalAt returns which functional holds element offset of the functional vector.
func (m *Model) FunctionalAt(offset int) int { return m.functional[offset] }

// Param returns where a param, or a total of the experiments, lies among all of them.
func (m *Model) Param(name string) vec.Place { return m.Layout.Part(tapec.Param.Called(name)).Place() }

// State returns where a state lies in the state vector.
func (m *Model) State(name string) vec.Place { return m.Layout.Part(tapec.State.Called(name)).Place() }

// FunctionalSpan returns the place of the functional that holds element offset of the functional vector.
func (m *Model) FunctionalSpan(offset int) source.Span {
	return m.Compiled.Functionals[m.FunctionalAt(offset)].Span
}

// Reads reports whether something in the model reads a param.
func (m *Model) Reads(param string) bool {
	_, reads := m.reads[tapec.Param.Called(param).String()]
	return reads
}

// Outputs returns the number of outputs.
func (m *Model) Outputs() int { return len(m.Compiled.Outputs.Outputs) }

// Output returns where output i lies among the values of all outputs, and its shape.
func (m *Model) Output(i int) (vec.Place, tape.Shape) {
	outs := m.Compiled.Outputs
	o := outs.Outputs[i]
	return m.Layout.Part(tapec.MustName(o.Name)).Place(), outs.Shape(o.Value)
}

// States returns the number of elements of the state vector.
func (m *Model) States() int { return m.Layout.NY }

// Discretes returns the number of elements of the vector of discretes.
func (m *Model) Discretes() int { return m.Layout.ND }

// StateName names element i of the state vector.
func (m *Model) StateName(i int) string {
	for k, p := range m.Layout.States {
		if i < p.Offset+p.Len {
			s := m.Checked.States[k]
			return ElementName(cmp.Or(m.Checked.Written(s.Name), s.Name), s.Type.Shape, i-p.Offset)
		}
	}
	return "state " + strconv.Itoa(i+1)
}

// ModeName names the mode that holds element i of the mode vector.
func (m *Model) ModeName(i int) string {
	for _, mode := range m.Compiled.Modes {
		if n := mode.Shape.Size(); i >= mode.Offset && i < mode.Offset+n {
			return ElementName(mode.Name, mode.Shape, i-mode.Offset)
		}
	}
	return "mode " + strconv.Itoa(i+1)
}

// ElementName writes "u[2,5]" for element i, from 0 in row-major order, of an array, and name for a scalar.
func ElementName(name string, shape []int, i int) string { return target.Element(name, shape, i) }

// Load copies what t reads from the vectors to the inputs of its evaluator. It reports whether all
// inputs are there. What is missing at the end of an input is zero, so that a one-hot vector of
// firings need not be longer than its 1.
func (m *Model) Load(t *tape.Tape, e *tape.Evaluator[float64], from *vec.Values) bool {
	for i := range t.Inputs {
		if in := &t.Inputs[i]; !loadInput(m, in, e.Value(tape.Value(i)), from) {
			return false
		}
	}
	return true
}

// LoadInput is load for one input.
func (m *Model) LoadInput(in *tape.Input, to []float64, from *vec.Values) bool {
	return loadInput(m, in, to, from)
}

func loadInput[T float64 | complex128](m *Model, in *tape.Input, to []T, from *vec.Of[T]) bool {
	clear(to)
	at, ok := m.reads[in.Name]
	if !ok { // the tape is made of those of the model
		at, ok = m.Layout.Find(tapec.MustName(in.Name))
	}
	if !ok || at.Vec == vec.Row && from[vec.Row] == nil || at.Offset > len(from[at.Vec]) {
		return false
	}
	copy(to, from[at.Vec][at.Offset:])
	return true
}
