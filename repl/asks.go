package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/parser"
)

// isRate reports whether tokens are an expression that reads a rate, x' or x[2]', and not an equation of it.
func isRate(tokens []ast.Token) bool {
	reads := false
	for _, t := range tokens {
		if strings.HasSuffix(t.Text, "=") && t.Text != "==" && t.Text != "<=" && t.Text != ">=" && t.Text != "!=" {
			return false
		}
		reads = reads || t.Kind == ast.SignToken && t.Text == "'"
	}
	return reads && tokens[0].Kind != ast.KeywordToken && !slices.Contains(parser.ItemWords(), tokens[0].Text)
}

// answer shows an expression. In one, x' is the right side of the equation of x, and d(J)/d(k) a derivative of an
// objective: both are put in their places before the model is asked.
func answer(ctx context.Context, s *Session, w io.Writer, entry string) error {
	s.asWritten = ""
	defer func() { s.asWritten = "" }()
	m, err := s.model()
	if err != nil {
		return s.show(ctx, w, entry) // which says why there is none
	}
	text := entry
	if tokens := parser.TokensOf(text); isRate(tokens) {
		if text, err = withRates(s, text, tokens); err != nil {
			return err
		}
	}
	if !s.moving(m)["d"] {
		if of, by, ok := derivative(text); ok && by == "" {
			return s.doSens(ctx, w, of)
		}
		d := derivatives{ctx, s, m, nil, ""}
		whole := false
		if text, whole, err = d.replace(text); err != nil {
			return err
		}
		if whole {
			return d.show(w)
		}
	}
	if text != entry {
		s.asWritten = strings.Join(strings.Fields(entry), " ")
	}
	return s.show(ctx, w, text)
}

// withRates puts the right sides of equations in the places of rates.
func withRates(s *Session, text string, tokens []ast.Token) (string, error) {
	items, err := parser.Outline(s.name(), s.now.text)
	if err != nil {
		return "", err
	}
	for i, t := range slices.Backward(tokens) {
		if t.Text != "'" || t.Kind != ast.SignToken {
			continue
		}
		if i == 0 || tokens[i-1].Kind != ast.IdentToken && tokens[i-1].Kind != ast.QuotedToken {
			return "", errors.New("a rate is that of a state: x'; element by element it is in what text shows")
		}
		name := tokens[i-1]
		right, err := rightSide(s, items, name.Text)
		if err != nil {
			return "", err
		}
		if i+1 < len(tokens) && tokens[i+1].Text == "(" { // at a time
			end := closing(tokens, i+1)
			if end < 0 {
				return "", fmt.Errorf("a bracket behind %s' is not closed", name.Text)
			}
			// What stands in the brackets, and behind them, was replaced already where it had to be.
			at := closingIn(text, tokens[i+1].Start)
			text = text[:name.Start] + "sum_at([" + text[tokens[i+1].End:at] + "], " + right + ")" + text[at+1:]
			continue
		}
		text = text[:name.Start] + "(" + right + ")" + text[t.End:]
	}
	return text, nil
}

// closingIn returns where the bracket that opens at a byte of a text is closed; the last byte if it is not.
func closingIn(text string, open int) int {
	depth := 0
	for i := open; i < len(text); i++ {
		switch text[i] {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return len(text) - 1
}

// rightSide is what the one equation of a state says its rate is.
func rightSide(s *Session, items []parser.Item, name string) (string, error) {
	right, parts := "", 0
	for _, it := range items {
		for _, p := range it.Parts {
			of, _, _ := strings.Cut(strings.TrimSuffix(strings.TrimSpace(p.Name), "'"), "[")
			rate := strings.HasSuffix(strings.TrimSpace(p.Name), "'")
			switch {
			case it.Kind == "reaction":
				parts += 2 // any of them may change the state
			case rate && unquoted(strings.TrimSpace(of)) == name:
				parts++
				if p.Add || strings.Contains(p.Name, "[") {
					parts++
				}
				if p.ValueEnd > p.ValueStart {
					right = strings.Join(strings.Fields(s.now.text[p.ValueStart:p.ValueEnd]), " ")
				}
			}
		}
	}
	switch {
	case parts == 1 && right != "" && !strings.Contains(right, "#"):
		return right, nil
	case parts == 0:
		return "", fmt.Errorf("%s has no equation of its own, and so no rate; units lists the states", name)
	}
	return "", fmt.Errorf("%s' is made of several items, or of elements: text shows them, and plot d(%[1]s) what it "+
		"depends on", name)
}

// derivatives are those that an expression names.
type derivatives struct {
	ctx    context.Context
	s      *Session
	model  *odes.Model
	values []number // of the last of them
	text   string   // the last of them as it is written
}

// number is an element of a derivative.
type number struct {
	value float64
	unit  string
	trust odes.Trust
}

// replace puts numbers in the places of derivatives. It reports whether a derivative is all that there is.
func (d *derivatives) replace(text string) (string, bool, error) {
	for {
		tokens := parser.TokensOf(text)
		from, to, of, by := findDerivative(text, tokens)
		if from < 0 {
			return text, false, nil
		}
		d.text = strings.Join(strings.Fields(text[tokens[from].Start:tokens[to].End]), "")
		if err := d.compute(of, by); err != nil {
			return "", false, err
		}
		if from == 0 && to == len(tokens)-1 {
			return text, true, nil
		}
		if len(d.values) != 1 {
			return "", false, fmt.Errorf("%s has %d elements; in an expression name one of them, as d(J)/d(k[2])",
				d.text, len(d.values))
		}
		n := d.values[0]
		if math.IsNaN(n.value) || math.IsInf(n.value, 0) {
			return "", false, fmt.Errorf("%s is %v", d.text, n.value)
		}
		if note := caution(n.trust); note != "" {
			return "", false, fmt.Errorf("%s: %s, and what is made of it would not say so; ask for it alone",
				d.text, note)
		}
		text = text[:tokens[from].Start] + literal(n.value, n.unit) + text[tokens[to].End:]
	}
}

// findDerivative finds the first d(of)/d(by) among tokens; from is -1 where there is none.
func findDerivative(text string, tokens []ast.Token) (from, to int, of, by string) {
	begins := func(i int) int { // the closing bracket of d(…)
		if i+1 >= len(tokens) || tokens[i].Text != "d" || tokens[i+1].Text != "(" {
			return -1
		}
		return closing(tokens, i+1)
	}
	for i := range tokens {
		end := begins(i)
		if end < 0 || end+1 >= len(tokens) || tokens[end+1].Text != "/" {
			continue
		}
		last := begins(end + 2)
		if last < 0 {
			continue
		}
		inside := func(open, end int) string { return strings.TrimSpace(text[tokens[open].End:tokens[end].Start]) }
		return i, last, inside(i+1, end), inside(end+3, last)
	}
	return -1, -1, "", ""
}

// compute finds the derivative of an objective, or of an expression that is a number.
func (d *derivatives) compute(of, by string) error {
	goals, names, err := d.s.goals(d.model, []string{of})
	switch {
	case hasCode(err, codeTrajectory):
		return fmt.Errorf("%s changes along the run, and so does its derivative: plot d(%[1]s)/d(%[2]s), or ask for "+
			"that of a number, as d(final(%[1]s))/d(%[2]s)", of, by)
	case err != nil:
		return err
	}
	opts := d.s.options()
	opts.Of, opts.Wrt = names, []string{by}
	res, err := fit.Sensitivities(d.ctx, goals, opts)
	if err != nil {
		return err
	}
	d.values = nil
	for i, v := range res.Values {
		for _, x := range res.Variables {
			for k, value := range res.Derivative(i, x) {
				n := number{value: value, unit: goals.DerivativeUnit(v.Name, x)}
				if res.Trusts != nil {
					n.trust = res.Trusts[i*res.Columns+x.Offset+k]
				}
				d.values = append(d.values, n)
			}
		}
	}
	return nil
}

// show writes a derivative.
func (d *derivatives) show(w io.Writer) error {
	const digits = 10
	for k, n := range d.values {
		text := withUnit(short(n.value, digits), n.unit)
		if len(d.values) > 1 {
			text = fmt.Sprintf("[%d] %s", k+1, text)
		}
		fmt.Fprintln(w, text)
		if note := caution(n.trust); note != "" {
			d.s.Say(w, "%s", note)
		}
	}
	return nil
}
