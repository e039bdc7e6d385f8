package odes

import (
	"context"
	"fmt"
	"math"

	"odes.dev/odes/internal/settings"
	"odes.dev/odes/lang/diag"
)

// CodeChecked is the code of what `check = fd(…)` found.
const CodeChecked diag.Code = "gradient-check"

// checkGradient verifies the gradient in s as the sens block asks for it, and
// adds what it found to its warnings: a note that it is right, or warnings.
func (m *Model) checkGradient(ctx context.Context, opts Options, how *settings.GradientCheck, s *Sensitivities) error {
	opts.Gradient, opts.EventTimes, opts.Progress = nil, false, nil
	v, err := m.Verify(ctx, opts, VerifyOptions{Directions: how.Directions, Tolerance: how.Tolerance})
	if err != nil {
		return err
	}
	var found diag.List
	worst, curvature, right := 0.0, 0.0, 0
	for _, o := range v.Objectives {
		off := math.Max(o.Complex, o.Second)
		switch {
		case o.Outcome == "wrong" && o.Curvature > off:
			found.Warnf(CodeChecked, how.Span, "the second derivatives of %s are not confirmed: they are off by %.2g; see odes verify", o.Name, o.Curvature)
		case o.Outcome == "wrong":
			found.Warnf(CodeChecked, how.Span, "the gradient of %s is not confirmed: it is off by %.2g; see odes verify", o.Name, off)
		case o.Outcome == "ok":
			right++
			worst, curvature = math.Max(worst, off), math.Max(curvature, o.Curvature)
		}
	}
	if right > 0 {
		second := ""
		if !v.Large {
			second = fmt.Sprintf(", and with mode = %s", v.Second)
		}
		twice := ""
		if v.Curvature {
			twice = fmt.Sprintf("; second derivatives with differences of these, to %.1g", curvature)
		}
		found.Notef(CodeChecked, how.Span, "checked: %s with complex steps along %s%s, to %.1g%s", agree(right), diag.Count(v.Directions, "random direction"), second, worst, twice)
	}
	s.Warnings = append(s.Warnings[:len(s.Warnings):len(s.Warnings)], found.All()...)
	return nil
}

func agree(n int) string {
	if n == 1 {
		return "the gradient of 1 objective agrees"
	}
	return fmt.Sprintf("the gradients of %d objectives agree", n)
}
