package repl

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// doubts are what an independent run says of the numbers of a picture.
type doubts struct {
	list []diag.Diagnostic
	lost bool
}

func (d *doubts) warn(message string) {
	d.list = append(d.list, diag.Diagnostic{Code: odes.CodeTrust, Level: diag.Warning, Message: message})
}

// Doubts returns the warnings of the last picture about what it shows, and reports whether some of it is not to be
// trusted.
func (iq *inquiry) Doubts() (list []diag.Diagnostic, lost bool) {
	return iq.doubts.list, iq.doubts.lost
}

// heed keeps what res says of its numbers, for a picture that shows them. as names the objective of a question.
func (iq *inquiry) heed(res *odes.Sensitivities, as string) {
	for _, d := range res.Warnings {
		if d.Code == odes.CodeTrust && d.Level == diag.Warning {
			d.Message = strings.ReplaceAll(d.Message, asked, as)
			iq.doubts.list = append(iq.doubts.list, d)
		}
	}
	for i, v := range res.Values {
		for _, x := range res.Variables {
			iq.doubts.lost = iq.doubts.lost || !math.IsNaN(v.Value) && res.Trust(i, x) == odes.Lost
		}
	}
}

// Parts of the largest value of a curve from which its errors are said, and from which it is not to be trusted.
const visible, wrong = 1e-2, 0.1

// heedCurve is heed for a curve of derivatives, element k of variable v: the errors of its points count beside the
// largest of them.
func (iq *inquiry) heedCurve(res *odes.Sensitivities, name string, v odes.Variable, k int) {
	if res.Errors == nil {
		return
	}
	top, off := 0.0, 0.0
	for i, value := range res.Values {
		if at := i*res.Columns + v.Offset + k; !math.IsNaN(value.Value) {
			top, off = math.Max(top, math.Abs(res.Gradient[at])), math.Max(off, res.Errors[at])
		}
	}
	if off <= visible*top {
		return
	}
	text := fmt.Sprintf("%s is off by up to %s, of at most %s", name, short(off, 2), short(top, 2))
	if !(off <= wrong*top) {
		iq.doubts.lost = true
		text += ": not to be trusted"
	}
	iq.doubts.warn(text + ", by " + res.Settings.CheckedBy)
}

// heedOutput keeps what was found of an output that a picture shows, from a run that was compared with another one.
func (iq *inquiry) heedOutput(sol *odes.Solution, o odes.Series) {
	note, by := caution(o.Trust), sol.Settings.CheckedBy
	if note != "" && o.Errors == nil { // there was no other run; a warning says why
		for _, d := range sol.Warnings {
			if same := func(x diag.Diagnostic) bool { return x.Message == d.Message }; d.Code == odes.CodeTrust &&
				!slices.ContainsFunc(iq.doubts.list, same) {
				iq.doubts.list = append(iq.doubts.list, d)
			}
		}
	}
	if note != "" && o.Errors != nil && by != "" {
		iq.doubts.lost = iq.doubts.lost || o.Trust == odes.Lost
		text := o.Name + ": " + note + ", by " + by
		told := func(x diag.Diagnostic) bool { return x.Message == text } // of another run of a sweep
		if !slices.ContainsFunc(iq.doubts.list, told) {
			iq.doubts.warn(text)
		}
	}
}

// caution says beside a number what its trust is; "" for a sound one.
func caution(t odes.Trust) string {
	return [...]string{odes.Sound: "", odes.Loose: "few digits are right", odes.Lost: "not to be trusted"}[t]
}
