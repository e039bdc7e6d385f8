package system

import (
	"math"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/steady"
	"odes.dev/odes/tapec"
)

// DependsOnWay reports whether a steady state depends on when events fired on the way to it, so that the equations
// there do not have its derivatives. Events changed discretes or what is conserved, or would for other values of
// params. The latter shows in tangents: before a body, those of all that moves are any numbers, and they must be the
// same after it.
func (p *Problem) DependsOnWay(s *steady.State) (bool, error) {
	const rounding = 0x1p-40
	if s.Fired || len(s.Jumps) == 0 {
		return s.Fired, nil
	}
	k, err := p.Kit(1, compiled.PushElements, false)
	if err != nil {
		return false, err
	}
	w, random := p.Worker(k), elem.NewRand(1)
	some := func(n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = 0.5 + random.Float64()
		}
		return list
	}
	w.SetTangent(some(p.Plan.Width))
	read, moves := p.discretes(w.Size().D)
	for i := range s.Jumps {
		j := &s.Jumps[i]
		y, d := some(len(j.Y)), some(len(j.D))
		for i, moving := range moves {
			if !moving {
				d[i] = 0
			}
		}
		yp, dp := make([]float64, len(y)), make([]float64, len(d))
		w.Enter(j.D, j.M)
		w.EnterPush(d)
		w.assignPush(j.Firing, j.T, j.Y, j.D, []float64{1}, y, d, yp, dp)
		for i, x := range dp {
			if read[i] && !(math.Abs(x-d[i]) <= float64(rounding*(math.Abs(x)+math.Abs(d[i])))) {
				return true, nil
			}
		}
		for _, law := range p.settling.plan.Laws {
			size := 0.0
			for i, state := range law.States {
				size = math.FMA(math.Abs(law.Coefs[i]), math.Abs(yp[state])+math.Abs(y[state]), size)
			}
			if !(math.Abs(law.Total(yp)-law.Total(y)) <= float64(rounding*size)) {
				return true, nil
			}
		}
	}
	return false, nil
}

// discretes tells which of n elements of discretes are read, and which may depend on params or states: others begin
// with a number, and events set them to numbers.
func (p *Problem) discretes(n int) (read, moves []bool) {
	read, moves = make([]bool, n), make([]bool, n)
	for _, s := range p.Model.Checked.Discretes {
		at := p.Model.Layout.Part(tapec.Discrete.Called(s.Name))
		is := len(compiled.InputsOf(p.Model.Compiled.Start, tapec.Discrete.Called(s.Name), -1)) > 0
		for _, e := range p.Model.Checked.Events {
			for _, a := range e.Body {
				is = is || a.Target == s && model.Depends(a.Value) != 0
			}
		}
		inert := p.Model.Compiled.Inert(s)
		for i := at.Offset; i < at.Offset+at.Len; i++ {
			read[i], moves[i] = !inert, is
		}
	}
	return read, moves
}
