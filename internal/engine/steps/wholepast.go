package steps

import (
	"odes.dev/odes/internal/engine/work"
	"odes.dev/odes/solvers"
)

// Lags returns the room for what each row of K but the first reads of the past in a step that is made as a whole,
// [rows][lags]; nil if it is to be made stage by stage.
func (w *Steps) Lags(form *solvers.Arithmetic) []float64 {
	f := w.by(form)
	return f.steps.lags(w, form, false)
}

// PulledLags returns the room for what each row of K reads of the past in a step that is transposed as a whole; nil if
// it is to be transposed stage by stage.
func (w *Steps) PulledLags(form *solvers.Arithmetic) []float64 {
	if v := w.reading; v != nil && v.made > 0 && v.version == w.Version {
		return nil
	}
	return w.by(form).pulls.lags(w, form, true)
}

func (v *wholeSteps) lags(w *Steps, form *solvers.Arithmetic, back bool) []float64 {
	n := w.Kit.Layout.NLags
	if w.Keeping != nil || w.Task.Size().N >= largeStates {
		return nil
	}
	key := w.Kit.OfStep(form)
	if back {
		key = w.Kit.OfTranspose(form)
	}
	if v.Call == nil && !v.ready(w, key) {
		return nil
	}
	return v.in[v.past:][:form.Rows*n]
}

// MakeReading makes the step s, the first row of whose K is there, as a whole. What its rows read of the past is in
// what Lags returned. It returns the curve of the dense output, of the states that are read late, which is overwritten
// by the next step.
func (w *Steps) MakeReading(form *solvers.Arithmetic, s *solvers.Step) (curve []float64) {
	v := &w.whole.steps
	n, k := len(s.Y0), len(s.Y0)+len(s.DQ)
	v.in[0], v.in[1], v.in[2] = s.T, s.H, s.T1
	work.CopyFew(v.in[3:], s.Y0)
	work.CopyFew(v.in[3+n:], s.K[:k])
	v.RunBound(&w.In, &w.Out)
	end := (form.Rows - 1) * k
	copy(s.K[k:], v.out[:end])
	s.Dense = true
	work.CopyFew(s.Y1, v.out[end:end+n])
	work.CopyFew(s.DQ, v.out[end+n:end+k])
	rest := v.out[end+k:]
	if len(form.E.C) > 0 {
		if len(s.E) > 0 {
			s.Estimated = true
			work.CopyFew(s.E, rest[:k])
		}
		rest = rest[k:]
	}
	return rest
}

// PullReading transposes the step s as a whole, of which seeds have been read, in curves those of states that are read
// late. What its rows read of the past is in
// what PulledLags returned. It returns the cotangents of that and of the times of the rows, [rows][lags + 1]; those of
// times have not been added to that of T0.
func (w *Steps) PullReading(
	form *solvers.Arithmetic, s *solvers.Step, c *solvers.StepCotangent, seeds *solvers.Seeds,
) (bars []float64) {
	v := &w.whole.pulls
	copy(v.in[3+len(s.Y0):], s.K)
	at := len(c.Y1) + len(c.DQ) + len(c.T1)
	for i := range v.sums {
		at += len(v.sums[i].in)
	}
	work.CopyFew(v.bar[at:], seeds.T)
	at += len(seeds.T)
	work.CopyFew(v.bar[at:], seeds.Y0)
	at += len(seeds.Y0)
	at += copy(v.bar[at:], seeds.K)
	late := 0
	for _, p := range w.Kit.Layout.Late {
		late += p.Len
	}
	if c := v.bar[at:][:len(form.Curve.Of)*late*w.Width]; seeds.C != nil {
		copy(c, seeds.C)
	} else {
		clear(c)
	}
	w.pullBy(v, s, c)
	return v.out[len(v.out)-form.Rows*(w.Kit.Layout.NLags+1)*w.Width:]
}
