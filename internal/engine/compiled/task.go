package compiled

import (
	"odes.dev/odes/internal/engine/edges"
	"odes.dev/odes/internal/engine/origin"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers"
	"odes.dev/odes/tapec"
)

// Task is a model at a point, with what is asked of it. The workers of a run share it.
type Task struct {
	Model *Model
	Point *Point
	Rows  []int // the wanted objectives among those of the model
	Peaks []int // elements of the functional vector that are looked for along the run: largest values
	// Integrals are the quadratures that error control looks at; nil: all.
	Integrals []int
	// StepStages is the number of stages of a step of the run's method; Stages includes those of its dense output.
	StepStages, Stages int
	// Free are the parts of the state vector whose initial values are variables.
	Free []vec.Place
	// Jacobian tells that programs are wanted for the Jacobian of the rates, too. It may be set before kits are made.
	Jacobian bool
	// Split tells that the Jacobian is that of the implicit part of the rates, and that programs are wanted for both.
	Split bool
	// Linear is that of matrices.Jacobian.
	Linear string
	// Done, once closed, has programs that are being made given up, with context.Canceled; nil for never.
	Done <-chan struct{}
	// CompileAfter may be changed before workers are made. Results do not depend on it.
	CompileAfter CompileAfter

	Edges  *edges.Extended // of the rates, where Model is an extension; nil where not
	Active []string
	Plan   *plan // of the active params
	// Notes are of the functionals of the last run.
	Notes origin.Notes
}

// NewTask returns the task of the objectives rows and peaks at pt, with no active params.
func NewTask(m *Model, pt *Point, rows, peaks []int) Task {
	return Task{
		Model: m, Point: pt, Rows: rows, Peaks: peaks, Plan: newPlan(m.Layout, nil), CompileAfter: compileAfter,
	}
}

// Differentiate makes params active, in this order: derivatives by them are laid out one after the other.
func (p *Task) Differentiate(active []string) {
	p.Active, p.Plan = active, newPlan(p.Model.Layout, active)
}

// Width returns the length of a row of derivatives by the active params.
func (p *Task) Width() int { return p.Plan.Width }

// Column returns where the derivatives by an active param stand in such a row.
func (p *Task) Column(param string) vec.Place { return p.Plan.column(param).Place() }

// ActiveValues returns the values of the active params, laid out like such a row.
func (p *Task) ActiveValues() []float64 { return activeOf(p, p.Point.P) }

// activeOf lays the active ones of all params out like a row of derivatives by them.
func activeOf[T float64 | complex128](p *Task, all []T) []T {
	out := make([]T, p.Plan.Width)
	for _, name := range p.Active {
		column, at := p.Column(name), p.Model.Param(name)
		copy(out[column.Offset:column.Offset+column.Len], all[at.Offset:])
	}
	return out
}

// Size returns the lengths of the system's vectors.
func (p *Task) Size() solvers.Size {
	l := p.Model.Layout
	return solvers.Size{N: l.NY, Q: l.NQ, P: p.Plan.Width, D: l.ND, M: l.NM}
}

// Variable is what one differentiates by: a param, or the initial value of a state. Its elements
// stand at Offset in a row of the gradient.
type Variable struct {
	Name    string
	Initial bool // of state Name; otherwise param Name
	vec.Place
}

// Fits reports whether a row of derivatives by the active params is the beginning of a row of the
// gradient by variables: then rows of the gradient can be written in place.
func (p *Task) Fits(variables []Variable) bool {
	n := 0
	for _, v := range variables {
		if v.Initial {
			continue
		}
		if v.Offset != p.Column(v.Name).Offset {
			return false
		}
		n += v.Len
	}
	return n == p.Plan.Width
}

// Gatherer writes rows of the gradient by variables. Goroutines may share it.
type Gatherer struct {
	variables []Variable
	from      []int // where each stands among the active params, or the states
}

// Gatherer returns what writes rows of the gradient by variables.
func (p *Task) Gatherer(variables []Variable) Gatherer {
	g := Gatherer{variables, make([]int, len(variables))}
	for i, v := range variables {
		if v.Initial {
			g.from[i] = p.Model.State(v.Name).Offset
		} else {
			g.from[i] = p.Column(v.Name).Offset
		}
	}
	return g
}

// Gather writes derivatives by the active params, and by the initial state, into a row of the gradient. Where one of
// them is nil, its part of the row stays as it is.
func (g *Gatherer) Gather(row, byParams, byInitial []float64) {
	for i := range g.variables {
		v, by := &g.variables[i], byParams
		if v.Initial {
			by = byInitial
		}
		if by != nil {
			copy(row[v.Offset:v.Offset+v.Len], by[g.from[i]:])
		}
	}
}

// Directions returns what turns a direction v, laid out like a row of the gradient, into the tangents of the active
// params and of the initial state. Params that follow others move with them. initial is nil if no variable is an
// initial value. totals are the tangents of the totals. Goroutines may share the function.
func (p *Task) Directions(variables []Variable) func(v, totals []float64) (active, initial []float64) {
	const tiny = 0x1p-100
	m := p.Model
	places := make([]vec.Place, len(variables)) // among the params, or the states
	for i, x := range variables {
		if x.Initial {
			places[i] = m.State(x.Name)
		} else {
			places[i] = m.Param(x.Name)
		}
	}
	sums := make([]vec.Place, len(m.Checked.Totals))
	for k, t := range m.Checked.Totals {
		sums[k] = m.Param(t.Name)
	}
	columns, from := make([]vec.Place, len(p.Active)), make([]vec.Place, len(p.Active))
	for i, name := range p.Active {
		columns[i], from[i] = p.Column(name), m.Param(name)
	}
	return func(v, totals []float64) (active, initial []float64) {
		moved := make([]float64, m.Layout.NP)
		for i, x := range variables {
			of := v[x.Offset : x.Offset+x.Len]
			if x.Initial {
				if initial == nil {
					initial = make([]float64, m.Layout.NY)
				}
				copy(initial[places[i].Offset:], of)
				continue
			}
			copy(moved[places[i].Offset:], of)
		}
		for k, at := range sums {
			moved[at.Offset] = totals[k]
		}
		at := make([]complex128, len(moved))
		for i, x := range p.Point.P {
			at[i] = complex(x, float64(tiny*moved[i]))
		}
		Follow(p.Point, at, func(i int, x complex128) {
			moved[i] += imag(x) / tiny
			at[i] = complex(p.Point.P[i], float64(tiny*moved[i]))
		})
		active = make([]float64, p.Plan.Width)
		for i, to := range columns {
			copy(active[to.Offset:to.Offset+to.Len], moved[from[i].Offset:])
		}
		return active, initial
	}
}

// Displaced returns the active params and the change of the initial state after a move by dz, laid out
// like a row of the gradient. Params that follow others are computed at the moved values, not
// extrapolated. totals are the values of the totals; nil leaves them.
func (p *Task) Displaced(variables []Variable, dz, totals []complex128) (active, initial []complex128) {
	m := p.Model
	at := make([]complex128, m.Layout.NP)
	for i, x := range p.Point.P {
		at[i] = complex(x, 0)
	}
	own := make([]complex128, len(at))
	initial = make([]complex128, m.Layout.NY)
	for _, x := range variables {
		to, from := own, m.Param
		if x.Initial {
			to, from = initial, m.State
		}
		first := from(x.Name).Offset
		for k := range x.Len {
			to[first+k] += dz[x.Offset+k]
		}
	}
	for i, d := range own {
		at[i] += d
	}
	Follow(p.Point, at, func(i int, x complex128) { at[i] = x + own[i] })
	for k, x := range totals {
		at[m.Param(m.Checked.Totals[k].Name).Offset] = x
	}
	return activeOf(p, at), initial
}

// Watches reports whether what a part of the rates makes is under error control: a state, or an integral that counts.
// readers are the outputs that depend on the part.
func (p *Task) Watches(readers []tapec.Name) bool {
	for _, n := range readers {
		if n.Role != tapec.Integrand || p.Integrals == nil {
			return true
		}
		at := p.Model.Layout.Part(n)
		for _, i := range p.Integrals {
			if k := p.Model.Layout.NY + i; k >= at.Offset && k < at.Offset+at.Len {
				return true
			}
		}
	}
	return false
}
