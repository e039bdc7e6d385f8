package repl

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
)

// Names that are added to a model for one question.
const (
	asked = "_asked" // an objective, an output or a param
)

func hasCode(err error, code diag.Code) bool {
	for _, d := range diag.Of(err) {
		if d.Code == code {
			return true
		}
	}
	return false
}

// literal writes a number as in the language.
func literal(x float64, unit string) string {
	text := strconv.FormatFloat(x, 'g', -1, 64)
	if known(unit) != "" {
		text += " [" + unit + "]"
	}
	return "(" + text + ")"
}

// known returns a unit, or "" if it says nothing.
func known(unit string) string {
	if unit == "1" || unit == "?" || unit == "unknown" {
		return ""
	}
	return unit
}

func between(lo, hi float64, n int) []float64 {
	list := make([]float64, n+1)
	for i := range list {
		f := float64(i) / float64(n)
		list[i] = min(hi, lo+f*(hi-lo))
	}
	return list
}

// show answers an expression: its value, or how it changes along the run.
func (s *Session) show(ctx context.Context, w io.Writer, entry string) error {
	q, err := s.pose(entry)
	if err != nil {
		return err
	}
	if base, index, ok := strings.Cut(entry, "["); slices.Contains(objectives(s.now.model), strings.TrimSpace(base)) &&
		(!ok || strings.HasSuffix(index, "]")) {
		return s.showObjective(ctx, w, strings.TrimSpace(base), strings.Join(strings.Fields(entry), ""))
	}
	m, err := s.ask(q, "objective "+asked+" = ", "")
	if err != nil {
		if !hasCode(err, codeTrajectory) {
			return s.hinted(entry, err)
		}
		s.doubts = doubts{}
		c, err := s.curve(ctx, entry, 200)
		if err != nil {
			return err
		}
		s.diagnose(w, s.doubts.list)
		c.Name = cmp.Or(s.asWritten, c.Name)
		return s.showCurve(w, c)
	}
	if done, err := s.showConstant(w, m, q); done {
		return err
	}
	opts := s.options()
	opts.Of = []string{asked}
	sol, err := m.Solve(ctx, opts)
	if err != nil {
		return err
	}
	s.showValues(w, sol, asked)
	return nil
}

// showObjective answers an objective, or one element of an array of objectives.
func (s *Session) showObjective(ctx context.Context, w io.Writer, name, element string) error {
	opts := s.options()
	opts.Of = []string{name}
	sol, err := s.now.model.Solve(ctx, opts)
	if err != nil {
		return err
	}
	if element != name {
		all := len(sol.Values)
		sol.Values = slices.DeleteFunc(sol.Values, func(v odes.Value) bool { return v.Name != element })
		if len(sol.Values) == 0 {
			return fmt.Errorf("there is no %s: %s has %d elements", element, name, all)
		}
		name = element
	}
	s.showValues(w, sol, name)
	return nil
}

// hinted adds to an error what the user may have meant.
func (s *Session) hinted(entry string, err error) error {
	var wrong *diag.ListError
	tokens := parser.TokensOf(entry)
	if !errors.As(err, &wrong) || len(wrong.Diagnostics) == 0 || len(tokens) == 0 {
		return err
	}
	first := tokens[0].Text
	var names []string
	for _, c := range commands() {
		names = append(names, c.name)
	}
	d := &wrong.Diagnostics[0]
	switch {
	case d.Code == "type-mismatch" && len(tokens) > 2 && tokens[1].Text == "==":
		d.Message += fmt.Sprintf("; to set %s write %[1]s = %s", first, strings.TrimSpace(entry[tokens[1].End:]))
	case tokens[0].Kind != ast.IdentToken || slices.Contains(s.declared(), first):
	case d.Code == codeUndefined && len(tokens) == 1 && !strings.Contains(d.Message, "did you mean"):
		hint := diag.DidYouMean(first, names)
		if hint == "" {
			hint = "; help lists the commands"
		}
		d.Message = fmt.Sprintf("%q is neither a name of the model nor a command%s", first, hint)
	case d.Code == "missing-operator" && tokens[1].Kind == ast.IdentToken && !slices.Contains(s.cfg.Words, first):
		return fmt.Errorf("there is no command %q%s; help lists them, and an expression alone shows its value", first,
			diag.DidYouMean(first, names))
	}
	return wrong
}

// showValues writes the values of objectives. It leaves out the name of a single one that is called
// name.
func (s *Session) showValues(w io.Writer, sol *odes.Solution, name string) {
	digits := digitsOf(sol.Settings.RTol)
	by := ""
	if how := sol.Settings.CheckedBy; how != "" {
		by = ", by " + how
	}
	for _, v := range sol.Values {
		name := strings.TrimPrefix(v.Name, name)
		if name != "" {
			name += " "
		}
		fmt.Fprintln(w, name+withUnit(short(v.Value, digits), v.Unit))
		if note := caution(v.Trust); note != "" && v.Value-v.Value == 0 {
			s.Say(w, "%s", note+by)
		}
		for _, text := range v.Warnings {
			s.Say(w, "%s", text)
		}
	}
}

// showConstant answers a question that does not depend on the run, without a run. The model m has
// it as its objective.
func (s *Session) showConstant(w io.Writer, m *odes.Model, q *question) (done bool, err error) {
	constant := false
	for _, d := range m.Warnings() {
		constant = constant || d.Code == codeNoEffect && strings.Contains(d.Message, asked)
	}
	if !constant {
		return false, nil
	}
	symbols, err := m.Symbols(s.now.set)
	if err != nil {
		return true, err
	}
	for _, x := range symbols {
		if x.Kind != "objective" || x.Name != asked {
			continue
		}
		values, err := s.fixedValue(q, x, "")
		if err != nil {
			return false, nil // it reads what a param may not read
		}
		for k, v := range values {
			name := strings.TrimPrefix(elementName(asked, x.Shape, k), asked)
			if name != "" {
				name += " "
			}
			fmt.Fprintln(w, name+withUnit(short(v, 15), x.Unit))
		}
		return true, nil
	}
	return false, nil
}

// showCurve describes the course of an expression in a few lines.
func (s *Session) showCurve(w io.Writer, c *curves) error {
	digits := digitsOf(c.RTol)
	info := c.model.Info()
	n := c.size()
	const most = 12
	width := 0
	for k := range min(n, most) {
		width = max(width, screen.Width(c.Element(k)))
	}
	for k := range n {
		if k == most {
			s.Say(w, "… %d more; choose with %s[…]", n-most, c.Name)
			break
		}
		values := make([]float64, len(c.T))
		lo, hi := 0, 0
		for i := range c.T {
			values[i] = c.Values[i*n+k]
			if values[i] < values[lo] {
				lo = i
			}
			if values[i] > values[hi] {
				hi = i
			}
		}
		if len(values) == 0 {
			continue
		}
		last := len(values) - 1
		name := c.Element(k)
		line := fmt.Sprintf("%s%s  %s  %s → %s", name, strings.Repeat(" ", width-screen.Width(name)),
			plot.Spark(values, min(24, max(8, s.width()-width-4))),
			short(values[0], digits), withUnit(short(values[last], digits), c.Unit))
		if lo != 0 && lo != last {
			line += fmt.Sprintf(", least %s at %s = %s", short(values[lo], min(digits, 5)), info.Time,
				short(c.T[lo], 5))
		}
		if hi != 0 && hi != last {
			line += fmt.Sprintf(", greatest %s at %s = %s", short(values[hi], min(digits, 5)), info.Time,
				short(c.T[hi], 5))
		}
		s.Say(w, "%s", line)
	}
	return nil
}

// elementName returns "x[2,3]" for the k-th element, "x" for a number.
func elementName(name string, shape []int, k int) string {
	if len(shape) == 0 {
		return name
	}
	subs := make([]string, len(shape))
	for d := len(shape) - 1; d >= 0; d-- {
		subs[d] = strconv.Itoa(k%shape[d] + 1)
		k /= shape[d]
	}
	return name + "[" + strings.Join(subs, ",") + "]"
}

// digitsOf returns how many digits a relative tolerance justifies.
func digitsOf(rtol float64) int {
	if !(rtol > 0) {
		return 10
	}
	return min(12, max(4, int(math.Round(-math.Log10(rtol)))))
}

// short writes x with at most n significant digits.
func short(x float64, n int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return strings.TrimPrefix(strings.ToLower(strconv.FormatFloat(x, 'g', -1, 64)), "+")
	}
	return strconv.FormatFloat(x, 'g', n, 64)
}

func withUnit(text, unit string) string {
	if known(unit) == "" {
		return text
	}
	return text + " [" + unit + "]"
}
