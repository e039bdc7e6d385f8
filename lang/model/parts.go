package model

import (
	"fmt"
	"math"
	"slices"

	"odes.dev/odes/lang/measured"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
)

// OfDoses begins the names of events that are made of records of doses. Those after the end of the run are no news.
const OfDoses = "dose "

// Regimen is what records of doses in a table give in a run. Events do that; this is for people to read.
type Regimen struct {
	Table  string
	Given  []Given
	Resets int
}

// Given is a record of a dose, with those that follow it in the run.
type Given struct {
	Time, Last float64 // of the record, and of the last dose of ADDL
	Amount     float64 // of each dose
	Doses      int
	Into       []string
	Infusion   bool
	Steady     bool
}

// Timespan is the time of a model, and its bounds: scalar expressions of parameters.
type Timespan struct {
	Time     *Symbol
	From, To Expr
}

// Algebra is what makes a model one of algebraic equations.
type Algebra struct {
	// Masses are the singular mass matrices of states. The equations of these are combined so that each is in the form
	// of matrices.Mass.
	Masses []*Mass
	// Residuals are the algebraic equations `0 = …`, in file order. They have as many elements as the algs.
	Residuals []*Residual
	// Lags are what the model reads of its past. No equation gives them either: they come of the record of the run.
	Lags []*Lag
}

// Lag is a state or a discrete at earlier times, delay(State, tau). Value has its elements once for each delay, one
// after the other. Delay holds the delays: a hidden discrete, which starts at what was written and stays. Where the
// delay moves with time or the state, it is no discrete of the model, and its Value is what the delay is at each time.
type Lag struct {
	Value, State, Delay *Symbol
	Moves               bool
	Past                bool // the state has a past of its own: what is read before the start is not its initial value
	Span                source.Span
}

// MovingDelays returns the delays that move, each once.
func MovingDelays(lags []*Lag) (list []*Symbol) {
	for _, l := range lags {
		if l.Moves && !slices.Contains(list, l.Delay) {
			list = append(list, l.Delay)
		}
	}
	return list
}

// ReadLate returns those of the states that lags read, each once.
func ReadLate(states []*Symbol, lags []*Lag) (list []*Symbol) {
	for _, s := range states {
		if slices.ContainsFunc(lags, func(l *Lag) bool { return l.State == s }) {
			list = append(list, s)
		}
	}
	return list
}

// ByStates reports whether a delay that moves is read from the state.
func (l *Lag) ByStates() bool { return l.Moves && readsState(l.Delay.Value) }

func readsState(e Expr) (found bool) {
	Walk(func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			found = found || r.Sym.Kind == StateSymbol || r.Sym.Value != nil && readsState(r.Sym.Value)
		}
		return !found
	}, e)
	return found
}

// Residual is an algebraic equation `0 = Value`, one for each element of Value.
type Residual struct {
	Value Expr
	Span  source.Span
}

// Mass is the singular mass matrix of the elements of State, once the equations have been combined: rows of Unknowns
// are zero, all others have 1 on the diagonal and Values at Rows and Cols, the columns of unknowns. Elements count from
// 0.
type Mass struct {
	State      *Symbol
	Unknowns   []int // ascending
	Rows, Cols []int
	Values     []float64
	Span       source.Span
}

// Experiment is the model with the changes of one experiment.
type Experiment struct {
	Name  string
	Doc   string
	Span  source.Span
	Model *Model
}

// Rows are functionals, each a vector with one number for each row of Table: of the data that count, with those of the
// steady state, whose time is infinite.
type Rows struct {
	Table      *Table
	Ranges     []measured.Range // of quantification, as those of an Observation
	Prediction Expr             // what is observed
	Args       []Expr           // the numbers of the distribution, in the order of Noise.Args, without its centre
	Term       Expr             // the negative logarithm of the likelihood
}

// Terms are the parts of an objective that is a sum of likelihoods and of a prior, with positive weights.
type Terms struct {
	Likelihoods []Likelihood
	Prior       float64 // weight of the negative logarithm of the prior; 0 for none
}

// Likelihood is the part of an objective that nll() is, or nll(D).
type Likelihood struct {
	Table  string // "" for all tables
	Weight float64
}

// Differential returns the states that have rates, which come before the algebraic unknowns.
func (m *Model) Differential() []*Symbol { return m.States[:len(m.Rates)] }

// Arrays returns which state each element of the state vector belongs to.
func (m *Model) Arrays() (states []int32) {
	for k, s := range m.States {
		for range s.Type.Shape.Size() {
			states = append(states, int32(k))
		}
	}
	return states
}

// Algebraic reports whether the model has algebraic equations.
func (m *Model) Algebraic() bool { return len(m.Residuals) > 0 || len(m.Masses) > 0 }

// Instead returns what to say of a name that was to be set, or differentiated by, and is neither a param nor the
// initial value of a state; "" where the model has no such name, or none that it keeps.
func (m *Model) Instead(name string) string {
	if m.Time != nil && m.Time.Name == name {
		return "; it is the time"
	}
	for _, list := range [][]*Symbol{m.Params, m.States, m.Discretes} {
		for _, s := range list {
			if s.Name != name || s.Hidden {
				continue
			}
			switch s.Kind {
			case ParamSymbol:
				return "; it is a param: write " + name
			case StateSymbol:
				return "; it is a state: write initial(" + name + ")"
			case DiscreteSymbol:
				return fmt.Sprintf("; it is a discrete, which starts as it is declared: for another start declare "+
					"param %[1]s0 = …, discrete %[1]s = %[1]s0, and take %[1]s0", name)
			}
		}
	}
	for _, o := range m.Outputs {
		if o.Name == name {
			return "; it is an output, which follows from the rest"
		}
	}
	for _, o := range m.Objectives {
		if o.Name == name {
			return "; it is an objective, which follows from the run"
		}
	}
	for _, l := range m.Lets {
		if l.Name == name {
			return "; it follows from what it is made of: name the params of that"
		}
	}
	return ""
}

// Reads enters the names of the symbols that expressions of m read.
func (m *Model) Reads(used map[string]bool) {
	var roots []Expr
	roots = append(roots, m.From, m.To)
	roots = append(roots, m.Rates...)
	for _, r := range m.Residuals {
		roots = append(roots, r.Value)
	}
	for _, s := range slices.Concat(m.States, m.Discretes, m.Params, MovingDelays(m.Lags)) {
		roots = append(roots, s.Value, s.Least, s.Most)
	}
	for _, e := range m.Events {
		roots = append(roots, e.When, e.Crossing, e.Every, e.From, e.To, e.Count, e.Rank, e.Period)
		roots = append(roots, e.Times...)
		for _, a := range e.Body {
			roots = append(roots, a.Value)
			for _, s := range a.Subs {
				roots = append(roots, s.At)
			}
		}
	}
	for _, d := range m.Priors {
		for _, name := range d.Of { // the prior of another param follows from it
			used[name] = true
		}
	}
	for _, o := range m.Objectives {
		roots = append(roots, o.Value)
	}
	for _, o := range m.Outputs {
		roots = append(roots, o.Value)
	}
	for _, o := range m.Observations {
		roots = append(roots, o.Value)
		for _, e := range o.Args {
			roots = append(roots, e)
		}
	}
	for _, r := range m.Randoms {
		roots = append(roots, r.Scale)
	}
	Walk(func(e Expr) bool {
		if r, ok := e.(*Ref); ok {
			used[r.Sym.Name] = true
		}
		return true
	}, roots...)
}

// Numbered returns the table with one more column, the last: the numbers of the rows.
func (t *Table) Numbered() *Table {
	n := make([]float64, len(t.Data[0]))
	for i := range n {
		n[i] = float64(i + 1)
	}
	out := *t
	out.Columns = append(slices.Clone(t.Columns), "row")
	out.Data = append(slices.Clone(t.Data), n)
	return &out
}

// Values returns Lo, Lo+Step, ….
func (x *Index) Values() []float64 {
	v := make([]float64, x.Count)
	for i := range v {
		v[i] = float64(x.Lo + i*x.Step)
	}
	return v
}

// Whole recognises, by its form, a piece that defines every element of an array once: the whole, or u[i,j] for i and j
// over all values.
func (p *Piece) Whole(shape types.Shape) bool {
	if p.Subs == nil {
		return len(p.Indices) == 0
	}
	var met []*Index
	for k, s := range p.Subs {
		if s.At == nil {
			if s.Lo != 1 || s.Step != 1 || s.Count != shape[k] {
				return false
			}
			continue
		}
		v, ok := s.At.(*LoopVar)
		if !ok || v.Index.Lo != 1 || v.Index.Step != 1 || v.Index.Count != shape[k] || slices.Contains(met, v.Index) ||
			!slices.Contains(p.Indices, v.Index) {
			return false
		}
		met = append(met, v.Index)
	}
	return len(met) == len(p.Indices)
}

// Named returns the first named element of a list in v, or nil.
func (v SettingValue) Named() *Setting {
	if v.Array && len(v.Keys) > 0 {
		return &v.Keys[0]
	}
	for _, x := range v.List {
		if e := x.Named(); e != nil {
			return e
		}
	}
	for _, k := range v.Keys {
		if e := k.Value.Named(); e != nil {
			return e
		}
	}
	return nil
}

// Ranges returns the ranges of quantification of the rows between limits, of which each is nil where there is none. It
// returns nil for no limits, or if one is neither a number nor a column.
func (t *Table) Ranges(below, above Expr) []measured.Range {
	if below == nil && above == nil {
		return nil
	}
	list := slices.Repeat([]measured.Range{measured.Whole()}, len(t.Data[0]))
	for upper, limit := range []Expr{below, above} {
		for k := range list {
			to := &list[k].Lo
			if upper == 1 {
				to = &list[k].Hi
			}
			switch e := limit.(type) {
			case nil:
			case *Row:
				*to = t.Data[e.Column][k]
			case *Const:
				*to = e.Data[0]
			default:
				return nil
			}
		}
	}
	return list
}

// Present returns the chosen rows (nil for all) whose column k is not missing.
func (t *Table) Present(k int, chosen []bool) *Table {
	keep := make([]bool, len(t.Data[k]))
	for r, x := range t.Data[k] {
		keep[r] = !math.IsNaN(x) && (chosen == nil || chosen[r])
	}
	return t.Keep(keep)
}
