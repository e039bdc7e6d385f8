package repl

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
)

// scope says which runs an entry is about. The zero value is the model as it stands: pictures show
// all its experiments, and numbers are those of the run without the changes of any.
type scope struct {
	experiment string   // the model is that of this experiment alone
	only       []string // pictures show only these experiments
	unchanged  bool     // pictures show the run without changes
}

// scoped lists the commands that accept `in high` and give the results of one run. The commands
// plot and sweep handle `in` themselves.
var scoped = []string{"run", "sens", "verify", "compare"}

// title returns what follows the name of the model in titles.
func (c scope) title() string {
	if c.experiment == "" {
		return ""
	}
	return ", experiment " + c.experiment
}

// unchanged is the name that `in` has for the run without the changes of any experiment. No
// experiment has this name.
const unchanged = "model"

// cutScope removes `in low, high` from the end of an entry, in front of `-o file` and options. The result names
// is nil where there is none.
func cutScope(entry string) (rest string, names []string) {
	body, tail := splitLook(entry)
	tokens := parser.TokensOf(body)
	at, depth := -1, 0
	for i, t := range tokens {
		switch {
		case t.Kind == ast.KeywordToken && t.Text == "in" && depth == 0:
			at = i
		case t.Kind != ast.SignToken:
		case strings.Contains("([{", t.Text):
			depth++
		case strings.Contains(")]}", t.Text):
			depth--
		}
	}
	if at < 0 || depth != 0 {
		return entry, nil
	}
	names = []string{}
	for _, name := range split(body[tokens[at].End:]) {
		names = append(names, strings.Trim(name, "`"))
	}
	return strings.TrimSpace(body[:tokens[at].Start]) + tail, names
}

// within calls f with the part of an entry before `in`, in the scope that the part behind it names.
func (ws *workspace) within(entry string, f func(entry string) error) error {
	rest, names := cutScope(entry)
	if names == nil {
		return f(entry)
	}
	m, err := ws.model()
	if err != nil {
		return err
	}
	known := m.Experiments()
	if len(names) == 0 {
		return errors.New("in which experiment? plot x in low")
	}
	for _, n := range names {
		switch {
		case n == unchanged || slices.Contains(known, n):
		case len(known) == 0:
			return fmt.Errorf("the model has no experiments, so there is none called %q", n)
		default:
			hint := diag.DidYouMean(n, known)
			if hint == "" {
				hint = fmt.Sprintf("; it has %s, and `in %s` is the run without their changes",
					strings.Join(known, ", "), unchanged)
			}
			return fmt.Errorf("the model has no experiment %q%s", n, hint)
		}
	}
	if len(names) > 1 {
		if slices.Contains(names, unchanged) {
			return fmt.Errorf("`in %s` stands alone", unchanged)
		}
		return ws.narrowed(scope{only: names}, func() error { return f(rest) })
	}
	return ws.inside(names[0], func() error { return f(rest) })
}

// inside calls f in one experiment, or, for "model", in the run without the changes of any.
func (ws *workspace) inside(name string, f func() error) error {
	if name == unchanged {
		return ws.narrowed(scope{unchanged: true}, f)
	}
	return ws.narrowed(scope{experiment: name}, f)
}

// narrowed calls f in a scope. Changes that f makes to the session's state are discarded.
func (ws *workspace) narrowed(c scope, f func() error) error {
	now, before := ws.now, ws.scope
	defer func() { ws.now, ws.scope = now, before }()
	ws.scope = c
	if c.experiment != "" {
		m, err := ws.parse(ws.now.text)
		if err != nil {
			return err
		}
		ws.now.model = m
	}
	return f()
}

// one refuses several experiments where the results are those of one run.
func (ws *workspace) one() error {
	if len(ws.scope.only) > 0 {
		return errors.New("this is of one run: choose one experiment; plot x in low, high lays curves over one another")
	}
	return nil
}

// runs returns those that a picture shows: every experiment under its name, or the model itself
// under "".
func (ws *workspace) runs(m *odes.Model) (names []string, models []*odes.Model) {
	names = m.Experiments()
	if ws.scope.only != nil {
		names = ws.scope.only
	}
	if len(names) == 0 || ws.scope.unchanged {
		return []string{""}, []*odes.Model{m}
	}
	for _, n := range names {
		models = append(models, m.Experiment(n))
	}
	return names, models
}

// everywhere draws an expression in all runs that a picture shows. For an observation these are the
// runs in which it is compared with data.
func (iq *inquiry) everywhere(ctx context.Context, entry string, points int) (runs []string, lists [][]*curves,
	err error,
) {
	m, err := iq.asOutput(entry)
	if err != nil {
		return nil, nil, err
	}
	names, models := iq.runs(m)
	widths := widths{}
	for k, x := range models {
		if _, is := observation(m, entry); is && len(models) > 1 {
			if _, here := observation(x, entry); !here {
				continue
			}
		}
		c, err := iq.trace(ctx, x, entry, points)
		if err == nil {
			err = iq.surround(ctx, c, asked, names[k], widths)
		}
		if err != nil {
			return nil, nil, inExperiment(names[k], err)
		}
		runs, lists = append(runs, names[k]), append(lists, []*curves{c})
	}
	return runs, lists, nil
}

// inExperiment adds the name of the experiment to an error.
func inExperiment(name string, err error) error {
	if name == "" || odes.Interrupted(err) {
		return err
	}
	list := slices.Clone(diag.Of(err))
	if list == nil {
		return fmt.Errorf("experiment %s: %w", name, err)
	}
	for i := range list {
		if list[i].Level == diag.Error {
			list[i].Message = "experiment " + name + ": " + list[i].Message
		}
	}
	return &diag.ListError{Diagnostics: list}
}
