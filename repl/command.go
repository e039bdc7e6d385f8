package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
)

// command is a word that starts an input, and what it does.
type command struct {
	name, form, help string
	run              func(s *Session, ctx context.Context, w io.Writer, rest string) error
}

// commands lists all commands in the order of help. It is a function because help reads the table
// that holds it.
func commands() []command {
	return slices.Concat([]command{
		{
			"run", "run [in high]", "solve the model, or one of its experiments: outputs over time, events, objectives",
			(*Session).doRun,
		},
		{"sens", "sens [J, K] [wrt a, b] [in high]", "objectives and their gradients", (*Session).doSens},
		{"plot", "plot x, v | x against v | d(J) | d(J)/d(k) | d(x)/d(k) | adjoint(J) | steps | time  [in low, high] " +
			"[--option …] [-o file.svg]", "draw a picture: any expressions over time, a phase plane, what an " +
			"objective depends on, a sensitivity or adjoint states over time, step sizes, where the time goes; of " +
			"all experiments, or of some (in model: of the run without their changes)", (*Session).doPlot},
		{
			"sweep", "sweep k [from a to b] [points n] [log] [of J, x] [band | steady] [in high] [--option …] " +
				"[-o file.svg]",
			"run for many values of a param: results over it, and curves for several values, or what they reach " +
				"(band); or follow the steady state along it, past folds (steady)",
			(*Session).doSweep,
		},
		{
			"tune", "tune k [from a to b] [of x, v]",
			"move a value by the arrow keys, and see pictures and objectives follow",
			tune,
		},
		{
			"compare",
			"compare [file.ode | k = 3, e = 1 | dopri5, tsit5] [of x, v] [in high] [--option …] [-o file.svg]",
			"set results side by side: with the model as it was opened, another model, other values, other methods; " +
				"or lay curves of each over one another", (*Session).doCompare,
		},
	}, described(), []command{
		{"verify", "verify", "is the gradient right? two other ways to compute it decide", (*Session).doVerify},
		{
			"units", "units [expression]", "names, values, units, what they mean; or the unit of an expression",
			(*Session).doUnits,
		},
		{"text", "text [name]", "the model's text, or the items that declare a name", (*Session).doText},
		{"set", "set", "what was set with name = value", (*Session).doSet},
		{"reset", "reset [k]", "take back what was set", (*Session).doReset},
		{"remove", "remove name", "delete a declaration", func(s *Session, _ context.Context, w io.Writer,
			rest string,
		) error {
			if rest == "" {
				return errors.New("remove what? remove <name>")
			}
			return s.remove(w, rest)
		}},
		{"load", "load file.ode", "open a model", (*Session).doLoad},
		{"reload", "reload", "read the file again, and drop what was entered", (*Session).doReload},
		{"edit", "edit", "change the text in your editor ($VISUAL or $EDITOR)", (*Session).doEdit},
		{"save", "save [file.ode]", "write the model, with what was set", (*Session).doSave},
		{"undo", "undo", "go one step back", (*Session).doUndo},
		{"redo", "redo", "go one step forward again", (*Session).doRedo},
		{"history", "history", "what was entered", (*Session).doHistory},
		{"time", "time", "how long compiling, solving and differentiating take", (*Session).doTime},
		{
			"emit", "emit [stage]", "what a stage of the compiler made: " + strings.Join(compile.Stages(), ", "),
			(*Session).doEmit,
		},
		{"doc", "doc [name]", "help on a word of the language, a function, a method", (*Session).doDoc},
		{"help", "help [command]", "this list", (*Session).doHelp},
		{"quit", "quit", "leave (also Ctrl-D)", func(*Session, context.Context, io.Writer,
			string,
		) error {
			return ErrQuit
		}},
	})
}

// takeNames lists the commands that take a name, of a file or of a word of the language (doc +), where others take
// expressions. They end with the line.
var takeNames = []string{"doc", "help", "load", "save"}

// commandOf returns the command that an input starts with, and what follows it. It returns nil when
// there is none.
func commandOf(input string, tokens []ast.Token) (*command, string) {
	word := tokens[0].Text
	if word == "?" {
		word = "help"
	}
	if word == "exit" || word == "bye" {
		word = "quit"
	}
	all := commands()
	at := slices.IndexFunc(all, func(c command) bool { return c.name == word })
	if at < 0 || tokens[0].Text != "?" && tokens[0].Kind != ast.IdentToken && tokens[0].Kind != ast.KeywordToken {
		return nil, ""
	}
	if len(tokens) > 1 {
		next := tokens[1]
		switch {
		case next.Kind == ast.SignToken && (slices.Contains(assignSigns, next.Text) || next.Text == "'" ||
			next.Text == "{" || next.Text == "." && next.Start == tokens[0].End || next.Text == "[" && word != "plot"):
			return nil, "" // run = 3, sens { … }
		case word == "time", parser.IsBlock(word) && len(tokens) > 2 && tokens[2].Text == "{":
			return nil, "" // an item
		}
	}
	return &all[at], strings.TrimSpace(input[tokens[0].End:])
}

func (s *Session) doRun(ctx context.Context, w io.Writer, rest string) error {
	m, err := s.model()
	if err != nil {
		return err
	}
	if rest != "" {
		return errors.New("run takes nothing but an experiment (run in high); to see expressions over time: plot x, v")
	}
	sol, err := m.Solve(ctx, s.options())
	if err != nil {
		return err
	}
	s.diagnose(w, sol.Warnings)
	return report.RunTable(w, s.heading(m), sol, s.table())
}

func (s *Session) doSens(ctx context.Context, w io.Writer, rest string) error {
	m, err := s.model()
	if err != nil {
		return err
	}
	opts := s.options()
	of, by := clauses(rest, "wrt", "of")
	if by["of"] != "" {
		of = by["of"]
	}
	report.Formats()[0].Want(&opts, s.table())
	goals := m
	if of != "" {
		if goals, opts.Of, err = s.goals(m, split(of)); err != nil {
			return err
		}
	}
	if by["wrt"] != "" {
		opts.Wrt = split(by["wrt"])
	}
	res, err := fit.Sensitivities(ctx, goals, opts)
	if err != nil {
		return err
	}
	rename(res.Values, of)
	for i := range res.Warnings {
		res.Warnings[i].Message = strings.ReplaceAll(res.Warnings[i].Message, asked, of)
	}
	s.diagnose(w, res.Warnings)
	return report.SensTable(w, s.heading(m), res, s.table())
}

func objectives(m *odes.Model) []string {
	symbols, _ := m.Symbols(nil)
	var names []string
	for _, x := range symbols {
		if x.Kind == "objective" {
			names = append(names, x.Name)
		}
	}
	return names
}

// rename gives the objective of a question the name that the user wrote.
func rename(values []odes.Value, as string) {
	for i := range values {
		if rest, ok := strings.CutPrefix(values[i].Name, asked); ok {
			values[i].Name = as + rest
		}
	}
}

func (s *Session) doVerify(ctx context.Context, w io.Writer, rest string) error {
	m, err := s.model()
	if err != nil {
		return err
	}
	if rest != "" {
		return errors.New("verify takes nothing; choose objectives and params in the sens block")
	}
	found, err := m.Verify(ctx, s.options(), odes.VerifyOptions{})
	if err != nil {
		return err
	}
	s.diagnose(w, found.Warnings)
	return report.VerifyTable(w, s.heading(m), found, s.table())
}

func (s *Session) doUnits(_ context.Context, w io.Writer, rest string) error {
	m, err := s.model()
	if err != nil {
		return err
	}
	if rest != "" {
		return s.unitOf(w, rest)
	}
	symbols, err := m.Symbols(s.now.set)
	if err != nil {
		return err
	}
	table := [][]string{{"", "", "", "", ""}}
	for _, x := range symbols {
		if x.Kind == "event" || x.Kind == "output" && slices.ContainsFunc(symbols, func(o odes.Symbol) bool {
			return o.Kind == "state" && o.Name == x.Name
		}) {
			continue // the outputs of a model that names none are its states
		}
		name := x.Name
		if len(x.Shape) > 0 {
			name += strings.ReplaceAll(fmt.Sprint(x.Shape), " ", ",")
		}
		value := ""
		if len(x.Values) > 0 && len(x.Values) <= 4 {
			value = "= " + list(x.Values)
		}
		unit := ""
		if x.Unit != "" {
			unit = "[" + x.Unit + "]"
		}
		table = append(table, []string{x.Kind, name, value, unit, x.Doc})
	}
	for _, o := range m.Observations() {
		table = append(table, []string{
			"observed", o.Name, "= " + o.Text, strings.TrimSpace(withUnit("", o.Unit)),
			o.Doc,
		})
	}
	left(w, table[1:], s.width())
	return nil
}

// left writes a table with all columns aligned to the left.
func left(w io.Writer, table [][]string, width int) {
	widths := make([]int, 8)
	for _, r := range table {
		for i, cell := range r {
			widths[i] = max(widths[i], screen.Width(cell))
		}
	}
	for _, r := range table {
		var b strings.Builder
		for i, cell := range r {
			if widths[i] > 0 {
				b.WriteString("  " + cell + strings.Repeat(" ", widths[i]-screen.Width(cell)))
			}
		}
		fmt.Fprintln(w, screen.Cut(strings.TrimRight(b.String(), " "), width))
	}
}

func (iq *inquiry) unitOf(w io.Writer, entry string) error {
	q := &question{entry: entry}
	q.add(entry, 0, len(entry))
	m, err := iq.ask(q, "output "+asked+" = ", "")
	kind := "output"
	if err != nil {
		posed, err2 := iq.pose(entry)
		if err2 != nil {
			return err2
		}
		if m, err2 = iq.ask(posed, "objective "+asked+" = ", ""); err2 != nil {
			return err
		}
		kind = "objective"
	}
	symbols, err := m.Symbols(iq.now.set)
	if err != nil {
		return err
	}
	for _, x := range symbols {
		if x.Kind == kind && x.Name == asked {
			unit := "no unit, or one that is not known"
			if x.Unit != "" {
				unit = "[" + x.Unit + "]"
			}
			if len(x.Shape) > 0 {
				unit += ", shape " + strings.ReplaceAll(fmt.Sprint(x.Shape), " ", ", ")
			}
			fmt.Fprintln(w, unit)
		}
	}
	return nil
}

func (s *Session) doReset(ctx context.Context, w io.Writer, rest string) error {
	if _, err := s.model(); err != nil {
		return err
	}
	st := s.now
	n := len(st.set) + len(st.settings)
	keep := func(name string) bool { return rest == "" || name == rest || strings.HasPrefix(name, rest+"[") }
	st.set = slices.DeleteFunc(slices.Clone(st.set), func(a odes.Assignment) bool { return keep(a.Name) })
	st.settings = slices.DeleteFunc(slices.Clone(st.settings), func(k odes.Setting) bool { return keep(k.Key) })
	if len(st.set)+len(st.settings) == n {
		return errors.New("nothing of that is set")
	}
	return s.moved(ctx, w, st, strings.TrimSpace("reset "+rest))
}

func (s *Session) doHistory(_ context.Context, w io.Writer, _ string) error {
	from := max(0, len(s.history)-100)
	for i, h := range s.history[from:] {
		fmt.Fprintf(w, "%4d  %s\n", from+i+1, strings.ReplaceAll(h, "\n", "\n      "))
	}
	return nil
}

func (s *Session) doTime(ctx context.Context, w io.Writer, _ string) error {
	m, err := s.model()
	if err != nil {
		return err
	}
	start := time.Now()
	if _, err := s.parse(s.now.text); err != nil {
		return err
	}
	fmt.Fprintf(w, "compile   %s\n", time.Since(start).Round(10*time.Microsecond))
	var solve, adjoint []float64
	var steps int
	begin := time.Now()
	for range 7 {
		if len(objectives(m)) == 0 {
			sol, err := m.Solve(ctx, unchecked(s.options()))
			if err != nil {
				return err
			}
			steps, solve = sol.Stats.Steps, append(solve, sol.Stats.Seconds.Forward)
		} else {
			res, err := m.Sensitivities(ctx, unchecked(s.options()))
			if err != nil {
				return err
			}
			steps, solve, adjoint = res.Stats.Steps, append(solve, res.Stats.Seconds.Forward),
				append(adjoint, res.Stats.Seconds.Adjoint)
		}
		if time.Since(begin) > 5*time.Second {
			break
		}
	}
	show := func(what string, list []float64) {
		if len(list) > 0 {
			slices.Sort(list)
			fmt.Fprintf(w, "%s %s (median of %d)\n", what, time.Duration(list[len(list)/2]*1e9).Round(time.Microsecond),
				len(list))
		}
	}
	show("solve    ", solve)
	show("gradient ", adjoint)
	fmt.Fprintf(w, "%d steps\n", steps)
	return nil
}

func (s *Session) doDoc(_ context.Context, w io.Writer, rest string) error {
	if s.now.model != nil {
		if symbols, err := s.now.model.Symbols(s.now.set); err == nil {
			for _, x := range symbols {
				if x.Name == rest {
					s.Say(w, "%s", strings.TrimRight(fmt.Sprintf("%s %s  %s", x.Kind, withUnit(x.Name, x.Unit), x.Doc),
						" "))
					return s.doText(context.Background(), w, rest)
				}
			}
		}
	}
	if s.now.model != nil {
		if _, ok := observation(s.now.model, rest); ok {
			return s.doText(context.Background(), w, rest)
		}
	}
	for _, c := range commands() {
		if c.name == rest && c.name != "time" && c.name != "sens" {
			s.Say(w, "%s\n  %s", c.form, c.help)
			return nil
		}
	}
	if s.cfg.Doc == nil || !s.cfg.Doc(w, rest) {
		near := diag.DidYouMean
		if s.cfg.Near != nil {
			near = s.cfg.Near
		}
		return fmt.Errorf("there is no help on %q%s", rest, near(rest, append(s.declared(), s.cfg.Words...)))
	}
	return nil
}

func (s *Session) doHelp(_ context.Context, w io.Writer, rest string) error {
	for _, c := range commands() {
		if c.name == rest {
			s.Say(w, "%s\n  %s", c.form, c.help)
			if draws(c.name) {
				s.listOptions(w)
			}
			return nil
		}
	}
	if rest != "" {
		var names []string
		for _, c := range commands() {
			if strings.HasPrefix(c.name, rest) {
				names = append(names, c.name)
			}
		}
		if len(names) == 1 {
			return s.doHelp(context.Background(), w, names[0])
		}
		return s.doDoc(context.Background(), w, rest)
	}
	s.Say(w, "Enter items of the language; one that is there already is replaced:")
	s.beside(w, "param k = 0.3 [1/h]", "x' = -k*x", "event dose at 4 { x += 1 }", "objective J = final(x)")
	s.Say(w, "Ask for values; k = 3 sets a param and shows what moved:")
	s.beside(w, "2*k", "final(x)", "max(x)", "x(3.5)", "integral(x^2)", "k = 3", "k *= 2", "solver.rtol = 1e-9")
	fmt.Fprintln(w, "Commands:")
	width := 0
	for _, c := range commands() {
		width = max(width, len(c.name))
	}
	for _, c := range commands() {
		head, indent := fmt.Sprintf("  %-*s  ", width, c.name), strings.Repeat(" ", width+4)
		if s.width() < 2*width+30 {
			head, indent = "  "+c.name+"\n    ", "    "
		}
		fmt.Fprintln(w, head+strings.ReplaceAll(screen.Fold(c.help, max(12, s.width()-len(indent)-1), ""), "\n",
			"\n"+indent))
	}
	fmt.Fprintln(w, "help <command> shows its form.")
	return nil
}
