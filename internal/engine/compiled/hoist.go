package compiled

import (
	"fmt"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// derivatives makes the transposes and tangents of a model's tapes with respect to the inputs that move.
type derivatives struct {
	active map[string]bool // params that are differentiated
	clock  bool            // only the time and the states move
	bound  float64         // see tapec.BoundedVJP; 0 for none
	family *family
}

// moves reports whether derivatives by an input are wanted.
func (d *derivatives) moves(n tapec.Name) bool {
	switch {
	case d.clock:
		return n.Role == tapec.Time || n.Role == tapec.State
	case n.Role == tapec.Param:
		return d.active[n.Of]
	}
	return n.Role != tapec.Fired && n.Role != tapec.DataRow && n.Role != tapec.HeldMode
}

// wrt lists the inputs of t that move.
func (d *derivatives) wrt(t *tape.Tape) []string {
	var names []string
	for _, in := range t.Inputs {
		if d.moves(tapec.MustName(in.Name)) {
			names = append(names, in.Name)
		}
	}
	return names
}

// differentiable lists the outputs of t that have derivatives: all but truths.
func differentiable(t *tape.Tape) []string {
	var names []string
	for _, o := range t.Outputs {
		if tapec.MustName(o.Name).Role != tapec.Truths {
			names = append(names, o.Name)
		}
	}
	return names
}

// derive returns a derivative of t by what moves, which is called what; nil if there is none. with says how it is made.
func (d *derivatives) derive(t *tape.Tape, what string, with []any,
	make func(t *tape.Tape, outputs, wrt []string) (*tape.Tape, error),
) (*tape.Tape, error) {
	if t == nil || len(d.wrt(t)) == 0 || len(t.Outputs) == 0 {
		return nil, nil
	}
	wrt := d.wrt(t)
	v, err := shared(d.family, d.family.how(what, append([]any{wrt}, with...)...), func() (*tape.Tape, error) {
		return make(t, differentiable(t), wrt)
	}, t)
	if err != nil {
		return nil, fmt.Errorf("%s of tape %s: %w", what, t.Name, err)
	}
	if len(v.Outputs) == 0 {
		return nil, nil
	}
	return v, nil
}

func (d *derivatives) pull(t *tape.Tape, guarded bool) (*tape.Tape, error) {
	return d.derive(t, "transpose", []any{guarded, d.bound},
		func(t *tape.Tape, outputs, wrt []string) (*tape.Tape, error) {
			return tapec.BoundedVJP(t, outputs, wrt, guarded, d.bound)
		})
}

func (d *derivatives) push(t *tape.Tape) (*tape.Tape, error) {
	return d.derive(t, "tangent", nil, func(t *tape.Tape, outputs, wrt []string) (*tape.Tape, error) {
		return tapec.JVP(t, outputs, wrt)
	})
}

// second returns the transpose of t together with its tangent.
func (d *derivatives) second(t *tape.Tape, guarded bool) (*tape.Tape, error) {
	return d.derive(t, "derivative of the transpose", []any{guarded},
		func(t *tape.Tape, outputs, wrt []string) (*tape.Tape, error) {
			return tapec.SecondVJP(t, outputs, wrt, guarded)
		})
}
