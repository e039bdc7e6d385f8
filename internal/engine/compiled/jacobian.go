package compiled

import (
	"errors"
	"fmt"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/solvers/matrices"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// jacobian is the Jacobian of a model's rates: a tape beside the others, from which the same work is hoisted, and the
// places of its entries. It is made when a problem first asks for it. Where the rates are split, it is that of the
// implicit part, and both parts are among the tapes.
//
// A model that reads the past has columns for what it reads, behind that of time, and rows for the delays that move,
// behind those of quadratures. Package lag makes of them what the rates do along the run.
type jacobian struct {
	Hoisted
	places map[string]*matrices.Jacobian // by how its matrices are factored
	Made   *tapec.Jacobian
}

// NoImplicitPartError tells that a model has no terms for the implicit part of a method that splits its rates.
type NoImplicitPartError struct{}

func (*NoImplicitPartError) Error() string {
	return "no term of the rates is linear in the states, so there is nothing to solve equations with"
}

func newJacobian(m *Model, split bool) (*jacobian, error) {
	c, l := m.Compiled, m.Layout.Clone()
	from, what := c.Rates, "the rates"
	var explicit *tape.Tape
	if split {
		if from, explicit = tapec.LinearPart(c.Rates); from == nil {
			return nil, &NoImplicitPartError{}
		}
		what = "the implicit part of the rates"
	}
	if c.Delays != nil {
		from = tapec.Beside(from, c.Delays)
	}
	var of, wrt []tapec.Placed
	for _, o := range from.Outputs {
		p := l.Part(tapec.MustName(o.Name))
		at := p.Offset
		if p.Vec == vec.Delays {
			at += l.NY + l.NQ
		}
		of = append(of, tapec.Placed{Name: o.Name, At: at})
	}
	for _, in := range from.Inputs {
		switch n := tapec.MustName(in.Name); {
		case n.Role == tapec.State && l.Part(n).Offset < l.NY:
			wrt = append(wrt, tapec.Placed{Name: in.Name, At: l.Part(n).Offset})
		case n.Role == tapec.State: // what is read of the past, behind the time
			wrt = append(wrt, tapec.Placed{Name: in.Name, At: l.Part(n).Offset + 1})
		case n.Role == tapec.Time:
			wrt = append(wrt, tapec.Placed{Name: in.Name, At: l.NY})
		}
	}
	j, err := shared(m.family, m.family.how("jacobian", of, wrt), func() (*tapec.Jacobian, error) {
		return tapec.NewJacobian(from, of, wrt)
	}, from)
	if err != nil {
		return nil, fmt.Errorf("the Jacobian of %s: %w; explicit methods need none", what, err)
	}
	l.Outputs(j.Tape, vec.J)
	ask := func(bytes float64) (int64, bool) {
		var refused *memory.RefusedError
		if errors.As(memory.Ask(bytes), &refused) {
			return refused.Budget - refused.Used, false
		}
		return 0, true
	}
	places := map[string]*matrices.Jacobian{}
	for _, linear := range append(matrices.LinearMethods(), "") {
		places[linear] = &matrices.Jacobian{Rows: j.Rows, Cols: j.Cols, Mass: m.Mass, Linear: linear, Ask: ask}
	}
	h := hoistedFrom(m.family, c, l, j.Tape)
	if split {
		h.Tapes.Set(tapec.PartImplicit, from)
		h.Tapes.Set(tapec.PartExplicit, explicit)
	}
	return &jacobian{Hoisted: h, places: places, Made: j}, nil
}

// Splits returns nil if the rates have two parts, for methods that take them so, or what is against that.
func (m *Model) Splits() error {
	_, err := m.Programs.WithJacobian(true)
	return err
}

// JacobianTooLarge reports whether the Jacobian of the rates has too many entries to be made. It makes it, once.
func (m *Model) JacobianTooLarge() bool {
	_, err := m.Programs.WithJacobian(false)
	var many *tapec.TooManyEntriesError
	return errors.As(err, &many)
}

// Places returns the places of the Jacobian's entries. Programs that evaluate it exist, so it does.
func (p *Task) Places() *matrices.Jacobian {
	j, err := p.Model.Programs.WithJacobian(p.Split)
	if err != nil {
		panic("compiled: " + err.Error())
	}
	return j.places[p.Linear]
}
