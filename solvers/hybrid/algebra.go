package hybrid

import (
	"errors"
	"math"
	"slices"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// algebra is the part of a Solver that keeps the algebraic equations of a system with a Mass.
type algebra struct {
	solves *matrices.Consistency // nil where there are none
	field  matrices.JacobianField
	before []float64 // [N] the state that a solution is sought from
	side   int       // of the branch of solutions that the run is on; see matrices.Consistency.Side
}

// ready prepares for a run of sys.
func (a *algebra) ready(sys solvers.System, z solvers.Size) error {
	if a.solves != nil {
		return nil
	}
	c, err := matrices.NewConsistency(sys, 0)
	if c == nil {
		return err
	}
	a.solves, a.field, a.before = c, sys.(matrices.JacobianField), make([]float64, z.N)
	return nil
}

// consistencyRounds is how often modes that read unknowns are chosen anew after these have been solved for; guards do
// the rest.
const consistencyRounds = 8

// change is why algebraic equations are solved anew.
type change uint8

// What changed.
const (
	begins change = iota // everything: the unknowns are guesses
	bodied               // states or discretes, by a body
	moded                // modes
)

// consist solves the algebraic equations at the present, after the start or a change of states, discretes or modes. The
// modes that read unknowns are chosen by the solution; held are those that are to stay. Behind a body the unknowns stay
// on their branch, and at the start, on that of their guesses. The solution is sought from the
// state before, with the modes that are chosen in the end, so that a Reader finds the same.
func (s *Solver) consist(held []bool, why change) error {
	a := &s.algebra
	if a.solves == nil {
		return nil
	}
	copy(a.before, s.y)
	own := true
	for round := 0; ; round++ {
		copy(s.y, a.before)
		solve := a.solves.Solve
		if why == begins {
			solve = func(f matrices.JacobianField, t float64, y []float64) (err error) {
				own, err = a.solves.Begin(f, t, y)
				return err
			}
		}
		if err := solve(a.field, s.t, s.y); err != nil {
			var e *matrices.ConsistencyError
			if errors.As(err, &e) {
				e.Place, e.After = s.place(nil), s.lastEvent()
				if s.lastTime != s.t {
					e.After = ""
				}
			}
			return err
		}
		if a.side = a.solves.Side(); why == bodied {
			keepBranch(s)
		}
		settled := round == consistencyRounds || len(s.m) == 0
		if !settled {
			s.sys.Choose(s.clock.now(), s.y, held, s.mp)
			settled = same(s.m, s.mp)
		}
		if settled {
			if !own {
				s.warn(solvers.Warning{Kind: solvers.Branch, T: s.t, Instant: -1})
			}
			return nil
		}
		copy(s.m, s.mp)
		s.sys.Enter(s.d, s.m)
	}
}

// keepBranch has the unknowns, for which consist solved, stay on the branch that they were on before a body.
func keepBranch(s *Solver) {
	a := &s.algebra
	between := make([]float64, len(s.d))
	same := a.solves.Stay(a.field, s.t, s.y, matrices.Jump{
		From: s.ym, To: a.before, Enter: func(part float64) {
			if matrices.Between(between, s.dm, s.d, part); part == 0 {
				s.sys.Enter(between, s.mm)
			} else {
				s.sys.Enter(between, s.m)
			}
		},
	})
	s.sys.Enter(s.d, s.m)
	if !same && slices.Equal(s.mm, s.m) {
		s.warn(solvers.Warning{Kind: solvers.Branch, T: s.t, Name: s.lastEvent(), Instant: -1})
	}
	if a.solves.Factor(a.field, s.t, s.y) == nil {
		a.side = a.solves.Side()
	}
}

// shorter is how much of a trial step is tried next where the determinant of a matrix has the wrong sign.
const shorter = 0.25

// grows is a method that knows when something grows faster than a step follows.
type grows interface{ Outgrown(s *solvers.Step) bool }

// outgrown reports whether the trial step damps what grows: a run that follows traces is to see what that comes to.
func outgrown(s *Solver, tr *solvers.Step) bool {
	if !s.opts.Traces || float64(shorter*tr.H) < s.least(s.t) {
		return false
	}
	g, ok := s.choice.members[s.member].(grows)
	return ok && g.Outgrown(tr)
}

// strays reports whether the trial step left the branch that the unknowns are on.
func strays(s *Solver) bool {
	if s.algebra.side == 0 {
		return false
	}
	c, ok := s.choice.members[s.member].(closes)
	if !ok {
		return false
	}
	_, side := c.Closed()
	return side*s.algebra.side < 0
}

// rejoin rejects a trial step that left the branch.
func rejoin(s *Solver, tr *solvers.Step) error {
	if h := float64(shorter * tr.H); s.opts.Fixed == 0 && h >= s.least(s.t) {
		return s.reject(h, false)
	}
	unknowns := make([]int, len(s.algebra.solves.Mass.Unknowns))
	for k, i := range s.algebra.solves.Mass.Unknowns {
		unknowns[k] = int(i)
	}
	return &matrices.ConsistencyError{
		Place: s.place(tr), Kind: matrices.ConsistencySingular, Rows: unknowns, Cols: unknowns,
	}
}

// initialStep returns the length of a first step. Where there are algebraic equations, the rates of the unknowns follow
// from those of the states.
func (s *Solver) initialStep(limit float64) float64 {
	a := &s.algebra
	if a.solves == nil {
		return InitialStep(s.sys, s.info, &s.tol.Tolerance, s.trial, limit, s.work)
	}
	f := a.slopes(s.size)
	st := solvers.Step{T: s.trial.T, Y0: s.trial.Y0, K: make([]float64, s.size.N+s.size.Q)}
	f.Eval(st.T, st.Y0, st.K)
	if !simd.Finite(st.K) {
		return s.least(s.t)
	}
	return InitialStep(f, s.info, &s.tol.Tolerance, &st, limit, s.work)
}

// slopes returns the field of the rates of all states.
func (a *algebra) slopes(z solvers.Size) *slopes {
	return &slopes{JacobianField: a.field, solves: a.solves, k: make([]float64, z.N+z.Q)}
}

// slopes is a field whose values are the rates of all states, unknowns included.
type slopes struct {
	matrices.JacobianField
	solves *matrices.Consistency
	k      []float64 // [N+Q]
}

// Eval implements Field.
func (f *slopes) Eval(t float64, y, k []float64) {
	f.JacobianField.Eval(t, y, f.k)
	copy(k, f.k)
	if f.solves.Slope(f.JacobianField, t, y, f.k, k[:len(y)]) != nil {
		elem.Spoil(k)
	}
}

// driftMost is how many tolerable errors an unknown may be off before a step is made consistent.
const driftMost = 100

// closes is a method that makes the ends of steps consistent, and tells how far it moved the last one and on which side
// that is, as matrices.Consistency.Side has it.
type closes interface {
	Closed() (moved []float64, side int)
}

// drift notes how far the algebraic unknowns at the end of the trial step were from what their equations say.
func (s *Solver) drift(tr *solvers.Step) {
	if s.algebra.solves == nil {
		return
	}
	c, ok := s.choice.members[s.member].(closes)
	if !ok {
		return
	}
	moved, _ := c.Closed()
	for i, moved := range moved {
		off := math.Abs(moved) / s.tol.Scale(i, tr.Y0[i], tr.Y1[i])
		if !(off > s.stats.Drift) {
			continue
		}
		s.stats.Drift, s.stats.Drifts = off, i
		if off > driftMost && s.opts.Fixed == 0 {
			s.warn(solvers.Warning{Kind: solvers.Drift, T: tr.T1, Name: s.sys.StateName(i), Instant: -1, Value: off})
		}
	}
}
