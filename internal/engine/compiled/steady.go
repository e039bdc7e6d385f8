package compiled

import (
	"context"
	"math"
	"sync"

	"odes.dev/odes/internal/engine/laws"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/steady"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// Settles reports whether runs of the model find steady states.
func (m *Model) Settles() bool {
	for _, e := range m.Checked.Events {
		if e.Settles {
			return true
		}
	}
	return false
}

// Moment says when an event happens beside the run.
type Moment uint8

// The moments.
const (
	Within      Moment = iota // not beside it
	BeforeStart               // what it leaves is where the run begins
	AfterEnd                  // only some functionals see it
)

// Moment returns when event e happens beside the run.
func (m *Model) Moment(e int) Moment {
	switch ev := m.Checked.Events[e]; {
	case ev.After:
		return AfterEnd
	case ev.Settles || ev.Resumes:
		return BeforeStart
	}
	return Within
}

// Span returns the length of the run's time, for params at pt; 1 where it is not known.
func (m *Model) Span(pt *Point) float64 {
	t := m.Compiled.Instants
	e := tape.NewEvaluator[float64](t)
	if !m.Load(t, e, &vec.Values{vec.P: pt.P, vec.D: make([]float64, m.Layout.ND)}) {
		return 1
	}
	e.Run()
	times := e.Output(tapec.Times.Name().String())
	if span := times[1] - times[0]; span > 0 && !math.IsInf(span, 1) {
		return span
	}
	return 1
}

// Initial returns the initial state at pt; nil where it depends on what only a run knows.
func (m *Model) Initial(pt *Point) []float64 {
	known := vec.Values{vec.P: pt.P, vec.D: make([]float64, m.Layout.ND), vec.T: []float64{0}}
	at := tape.NewEvaluator[float64](m.Compiled.Instants)
	if !m.Load(m.Compiled.Instants, at, &known) {
		return nil
	}
	at.Run()
	known[vec.T][0] = at.Output(tapec.Times.Name().String())[0]
	t := m.Compiled.Start
	e := tape.NewEvaluator[float64](t)
	if !m.Load(t, e, &known) {
		return nil
	}
	e.Run()
	y := make([]float64, m.Layout.NY)
	for _, out := range t.Outputs {
		if to := m.Layout.Part(tapec.MustName(out.Name)); to.Vec == vec.Y {
			copy(y[to.Offset:], e.Output(out.Name))
		}
	}
	return y
}

// StateUnit returns the unit of element i of the state vector.
func (m *Model) StateUnit(i int) units.Unit {
	for k, p := range m.Layout.States {
		if i >= p.Offset && i < p.Offset+p.Len {
			return m.Checked.States[k].Type.Unit
		}
	}
	return units.Unit{}
}

// Conserved returns the conserved quantities of the model: combinations of the states with whole numbers as
// coefficients that stay what they are whatever the params are, between two events. The error is that of ctx.
func (m *Model) Conserved(ctx context.Context) ([]steady.Law, error) {
	m.laws.mu.Lock()
	defer m.laws.mu.Unlock()
	if m.laws.found {
		return m.laws.list, nil
	}
	list, err := m.laws.of.rates(func(tapec.Name) bool { return false }).Laws(ctx)
	if err != nil {
		return nil, err
	}
	if m.Mass != nil {
		for k := range list {
			list[k] = list[k].Of(m.Mass)
		}
	}
	m.laws.list, m.laws.found = list, true
	return list, nil
}

// conserved are the conserved quantities of a model, once they are found. Copies of the model share them.
type conserved struct {
	of    *Model
	mu    sync.Mutex
	found bool
	list  []steady.Law
}

// unknowns lists the elements of the state vector that have no rates.
func (m *Model) unknowns() []int32 {
	if m.Mass == nil {
		return nil
	}
	return m.Mass.Unknowns
}

// rates evaluates the rates at random residues, other ones for each sample but for inputs that stay.
func (m *Model) rates(stays func(tapec.Name) bool) *steady.Rates {
	r := &steady.Rates{N: m.Layout.NY, Unknowns: m.unknowns()}
	laws.Sample(r, m.Compiled.Rates, func(out tapec.Name) int { return m.Layout.Part(out).Offset }, stays)
	if r.N < laws.Many {
		return r
	}
	if j, err := m.Programs.WithJacobian(false); err == nil { // it may have too many entries
		laws.Derive(r, j.Made.Tape, j.Made.Rows, j.Made.Cols, stays)
	}
	return r
}

// Coefficients lists the params that are coefficients of conserved quantities, as volumes of compartments are.
// Conserved does not find such quantities. The error is that of ctx.
func (m *Model) Coefficients(ctx context.Context) (params []string, err error) {
	const large = 400 // states times params for which it takes no time
	if m.Layout.NY*len(m.Compiled.Rates.Inputs) > large*large {
		return nil, nil
	}
	laws, err := m.Conserved(ctx)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, in := range m.Compiled.Rates.Inputs {
		if x := tapec.MustName(in.Name); x.Role == tapec.Param {
			names = append(names, x.Of)
		}
	}
	return steady.Coefficients(len(laws), names, func(moves string) (int, error) {
		return m.rates(func(x tapec.Name) bool { return x.Role == tapec.Param && x.Of != moves }).Sums(ctx)
	})
}
