package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/target"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/parser"
)

// assign executes `k1 = 3`, `A[1,2] *= 2`, `initial(x) = 1` or `solver.rtol = 1e-9`. The number
// sign is the index of the operator among the tokens.
func (s *Session) assign(ctx context.Context, w io.Writer, input string, tokens []ast.Token, sign int) error {
	m, err := s.model()
	if err != nil {
		return err
	}
	target := strings.TrimSpace(input[:tokens[sign].Start])
	value := strings.TrimSpace(input[tokens[sign].End:])
	if value == "" {
		return fmt.Errorf("a value is missing: %s = …", target)
	}
	if block, _, ok := strings.Cut(target, "."); ok && slices.Contains(parser.Blocks(), block) {
		return s.setting(ctx, w, odes.Setting{Key: target, Value: value})
	}
	if slices.ContainsFunc(tokens[:sign], func(t ast.Token) bool { return t.Text == "/" }) ||
		tokens[0].Text == "der" || tokens[0].Text == "dot" {
		return s.enter(w, input) // a derivative as other languages write it, on which the parser has advice
	}
	symbol, err := s.target(m, target)
	if err != nil {
		return err
	}
	if op := strings.TrimSuffix(tokens[sign].Text, "="); op != "" {
		value = target + " " + op + " (" + value + ")"
	}
	values, err := s.constant(ctx, value, symbol)
	if err != nil {
		return err
	}
	for _, v := range values {
		if v < symbol.Lo || v > symbol.Hi {
			s.Say(w, "note: %s lies outside of its bounds [%s, %s]", short(v, 8), short(symbol.Lo, 8),
				short(symbol.Hi, 8))
			break
		}
	}
	st := s.now
	st.set = with(st.set, named(target), values)
	if _, err := m.Symbols(st.set); err != nil {
		return err
	}
	return s.moved(ctx, w, st, target+" = "+list(values))
}

// with returns set with one more assignment, which replaces those that it overrides.
func with(set []odes.Assignment, name string, values []float64) []odes.Assignment {
	out := slices.DeleteFunc(slices.Clone(set), func(a odes.Assignment) bool {
		return a.Name == name || strings.HasPrefix(a.Name, name+"[")
	})
	return append(out, odes.Assignment{Name: name, Values: values})
}

// unquoted returns a name without the backquotes that names with blanks have in a text.
func unquoted(name string) string { return strings.ReplaceAll(name, "`", "") }

// named returns the name of what an entry sets, without the blanks and backquotes of the entry.
func named(target string) (name string) {
	for _, t := range parser.TokensOf(target) {
		name += t.Text
	}
	return name
}

func list(values []float64) string {
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = strconv.FormatFloat(v, 'g', -1, 64)
		if i == 8 && len(values) > 10 {
			parts = append(parts[:i], fmt.Sprintf("… (%d values)", len(values)))
			break
		}
	}
	if len(values) == 1 {
		return parts[0]
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// target finds what an assignment sets: a param, an element of one, or initial(state).
func (iq *inquiry) target(m *odes.Model, text string) (odes.Symbol, error) {
	if before, _, called := strings.Cut(text, "("); called && strings.TrimSpace(before) != "initial" &&
		slices.Contains(iq.declared(), strings.TrimSpace(before)) {
		return odes.Symbol{}, fmt.Errorf("a value along the run cannot be set; to set where %s starts write "+
			"initial(%[1]s) = …", strings.TrimSpace(before))
	}
	t, _ := target.Parse(text) // what is wrong with its form is said where it is set
	// Blanks are kept in the name, and so are backquotes behind them.
	name, kind := strings.Trim(strings.TrimSpace(t.Name), "`"), "param"
	if t.Initial {
		kind = "state"
	}
	symbols, err := m.Symbols(iq.now.set)
	if err != nil {
		return odes.Symbol{}, err
	}
	var names []string
	for _, x := range symbols {
		if x.Name == name && x.Kind == kind {
			if t.Subscripts != "" {
				x.Shape = nil
			}
			return x, nil
		}
		if x.Kind == kind {
			names = append(names, x.Name)
		}
	}
	for _, x := range symbols {
		if x.Name != name {
			continue
		}
		if x.Kind == "state" {
			return x, fmt.Errorf("%s is a state: set where it starts with initial(%s) = …", name, text)
		}
		if x.Kind == "param" {
			return x, fmt.Errorf("%s is a param: set it with %[1]s = …", name)
		}
		anew := x.Kind + " " + name + t.Subscripts + " = …"
		if x.Kind == "time" {
			anew = "time " + name + " from … to …"
		}
		return x, fmt.Errorf("%s is declared by %s, and only params and initial values are set; declare it anew: %s",
			name, x.Kind, anew)
	}
	if slices.Contains(iq.declared(), name) {
		return odes.Symbol{}, fmt.Errorf("%s is no param; declare it anew to change it, for example: let %s = …", name,
			name)
	}
	for _, block := range []string{"solver", "sens", "fit"} {
		if keys.Find(block, name) != nil && !t.Initial {
			return odes.Symbol{}, fmt.Errorf("%s is a setting of %s: write %[2]s.%[1]s = …", name, block)
		}
	}
	return odes.Symbol{}, fmt.Errorf("the model has no %s %q%s; to add a name, declare it: param %s = …, let %s = …",
		kind, name, diag.DidYouMean(name, names), text, text)
}

// constant evaluates the right side of an assignment to symbol: as a param with the symbol's unit,
// or as an objective where it depends on the run.
func (iq *inquiry) constant(ctx context.Context, entry string, symbol odes.Symbol) ([]float64, error) {
	if x, err := strconv.ParseFloat(entry, 64); err == nil && !math.IsNaN(x) {
		return []float64{x}, nil
	}
	q := &question{entry: entry}
	q.add(entry, 0, len(entry))
	fixed, err := iq.fixedValue(q, symbol, "")
	if err != nil && symbol.Unit != "" { // another unit of the same dimension
		if converted, e := iq.fixedValue(q, symbol, " as ["+symbol.Unit+"]"); e == nil {
			return converted, nil
		}
	}
	if err == nil {
		return fixed, nil
	}
	posed, err2 := iq.pose(entry)
	if err2 != nil {
		return nil, err2
	}
	goal, err2 := iq.ask(posed, "objective "+asked+" = ", "")
	if err2 != nil {
		return nil, err
	}
	opts := unchecked(iq.options())
	opts.Of = []string{asked}
	sol, err2 := goal.Solve(ctx, opts)
	if err2 != nil {
		return nil, err2
	}
	var values []float64
	for _, v := range sol.Values {
		if u := known(v.Unit); u != known(symbol.Unit) && u != "" {
			if known(symbol.Unit) == "" {
				return nil, fmt.Errorf("%s has no unit, and cannot be set in [%s]", symbol.Name, u)
			}
			return nil, fmt.Errorf("the value is in [%s] and %s in [%s]", u, symbol.Name, symbol.Unit)
		}
		values = append(values, v.Value)
	}
	return values, nil
}

// setting executes `solver.rtol = 1e-9`.
func (s *Session) setting(ctx context.Context, w io.Writer, k odes.Setting) error {
	st := s.now
	st.settings = slices.DeleteFunc(slices.Clone(st.settings), func(o odes.Setting) bool { return o.Key == k.Key })
	st.settings = append(st.settings, k)
	return s.moved(ctx, w, st, k.Key+" = "+k.Value)
}

// moved makes st the current state and shows how the results differ.
func (s *Session) moved(ctx context.Context, w io.Writer, st state, did string) error {
	before, errBefore := s.summary(ctx, s.now)
	after, err := s.summary(ctx, st)
	if odes.Interrupted(err) || odes.Interrupted(errBefore) {
		return errors.Join(err, errBefore)
	}
	var run *odes.RunError
	if err != nil && !errors.As(err, &run) {
		return err // the assignment itself is wrong
	}
	s.move(st, did)
	fmt.Fprintln(w, did)
	if err != nil {
		return err // the assignment stays, for undo or another value
	}
	if errBefore != nil {
		before = nil
	}
	s.differences(w, before, after, "before", "after")
	return nil
}

// row is a number that a run ends with.
type row struct {
	name, unit string
	value      float64
	digits     int
}

// summary runs a state and returns its objectives, or the final outputs where there are none.
func (iq *inquiry) summary(ctx context.Context, st state) ([]row, error) {
	if st.model == nil {
		return nil, errors.New("the model is not complete")
	}
	opts := odes.Options{Set: st.set, Settings: st.settings, Progress: iq.progress}
	sol, err := st.model.Solve(ctx, unchecked(opts))
	if err != nil {
		return nil, err
	}
	return rowsOf(sol), nil
}

func rowsOf(sol *odes.Solution) []row {
	digits := digitsOf(sol.Settings.RTol)
	var rows []row
	for _, v := range sol.Values {
		rows = append(rows, row{v.Name, known(v.Unit), v.Value, digits})
	}
	if len(rows) > 0 {
		return rows
	}
	for _, o := range sol.Outputs {
		n := len(o.Values) / max(1, len(sol.T))
		for k := range n {
			rows = append(rows, row{
				"final(" + o.Element(k) + ")", known(o.Unit),
				o.Values[len(o.Values)-n+k], digits,
			})
		}
	}
	return rows
}

const mostRows = 16

// differences shows two summaries next to each other.
func (s *Session) differences(w io.Writer, before, after []row, headBefore, headAfter string) {
	old := map[string]row{}
	for _, r := range before {
		old[r.name] = r
	}
	table := [][]string{{"", headBefore, headAfter, "change"}}
	var sizes []float64 // of the changes, by row of the table without its head
	same := 0
	for _, r := range after {
		b, ok := old[r.name]
		switch {
		case !ok:
			table = append(table, []string{withUnit(r.name, r.unit), "-", short(r.value, r.digits), ""})
			sizes = append(sizes, math.Inf(1))
		case b.value == r.value || math.IsNaN(b.value) && math.IsNaN(r.value):
			same++
		default:
			table = append(table, []string{
				withUnit(r.name, r.unit), short(b.value, b.digits), short(r.value, r.digits),
				change(b, r),
			})
			sizes = append(sizes, math.Abs(r.value-b.value)/math.Abs(b.value))
		}
	}
	if rest := len(sizes) - mostRows; rest > 0 { // the largest changes, in the order of the model
		least := slices.Sorted(slices.Values(sizes))[rest]
		kept := table[:1]
		for i, r := range table[1:] {
			if !(sizes[i] < least) && r[3] != unmoved && len(kept) <= mostRows {
				kept = append(kept, r)
			}
		}
		table = append(kept, []string{fmt.Sprintf("… %d more moved less", len(sizes)+1-len(kept)), "", "", ""})
	}
	if len(table) > 1 {
		columns(w, table, s.screenWidth())
	}
	switch {
	case len(table) == 1 && same > 0:
		fmt.Fprintln(w, "nothing moved")
	case same > 0:
		fmt.Fprintf(w, "%d did not move\n", same)
	}
}

// unmoved stands for a change that is smaller than the accuracy of either value.
const unmoved = "~0 %"

// change says by how much a value changed: in percent, where that is meaningful.
func change(before, after row) string {
	from, to := before.value, after.value
	d := to - from
	if math.Abs(d) < math.Pow(10, float64(-min(before.digits, after.digits)))*math.Abs(from) {
		return unmoved
	}
	sign := ""
	if d > 0 {
		sign = "+"
	}
	if from == 0 || math.IsNaN(d) || math.IsInf(d, 0) || math.Abs(d/from) > 100 {
		return sign + short(d, 3)
	}
	return sign + short(100*d/math.Abs(from), 3) + " %"
}

// columns writes a table, with the first column aligned to the left and the others to the right. On
// a screen that is too narrow it leaves out the second column, the values before.
func columns(w io.Writer, table [][]string, width int) {
	widths := make([]int, len(table[0]))
	whole := 0
	for i := range widths {
		for _, r := range table {
			widths[i] = max(widths[i], screen.Width(r[i]))
		}
		whole += widths[i] + 2
	}
	if width > 0 && whole > width && len(widths) > 2 {
		var rest [][]string
		for _, r := range table {
			rest = append(rest, append([]string{r[0]}, r[2:]...))
		}
		columns(w, rest, 0)
		return
	}
	for _, r := range table {
		var b strings.Builder
		for i, cell := range r {
			pad := strings.Repeat(" ", widths[i]-screen.Width(cell))
			if i == 0 {
				b.WriteString("  " + cell + pad)
			} else {
				b.WriteString("  " + pad + cell)
			}
		}
		fmt.Fprintln(w, strings.TrimRight(b.String(), " "))
	}
}
