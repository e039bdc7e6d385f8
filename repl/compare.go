package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/parser"
	"odes.dev/odes/plot"
)

// variant is one of the things that are compared: a model, with what is set in it.
type variant struct {
	name string
	path string // of the model's file
	state
}

func (s *Session) doCompare(ctx context.Context, w io.Writer, rest string) error {
	if _, err := s.model(); err != nil {
		return err
	}
	rest, l, err := s.cutLook(rest)
	if err != nil {
		return err
	}
	rest, by := clauses(rest, "of")
	list, methods, err := s.variants(ctx, rest)
	if err != nil {
		return err
	}
	for i := range list {
		if s.scope.experiment == "" {
			break
		}
		if list[i].model, err = s.ofScope(list[i]); err != nil {
			return fmt.Errorf("%s: %w", list[i].name, err)
		}
	}
	if by["of"] != "" {
		p, err := s.overlay(ctx, list, split(by["of"]), l.path != "")
		if err != nil {
			return err
		}
		return s.deliver(w, p, l)
	}
	if l != (look{}) {
		return errors.New("a picture of what? compare … of x -o fig.svg")
	}
	if methods {
		return s.methods(ctx, w, list)
	}
	var rows [2][]row
	for i, v := range list {
		if rows[i], err = s.summary(ctx, v.state); err != nil {
			return fmt.Errorf("%s: %w", v.name, err)
		}
	}
	s.differences(w, rows[0], rows[1], list[0].name, list[1].name)
	return nil
}

// ofScope returns the model of a variant in the scope of the entry.
func (s *Session) ofScope(v variant) (*odes.Model, error) {
	now, path := s.now, s.path
	defer func() { s.now, s.path = now, path }()
	s.now, s.path = v.state, v.path
	return s.parse(v.text)
}

// variants returns what is to be compared: two variants, or any number of methods.
func (s *Session) variants(ctx context.Context, what string) (list []variant, methods bool, err error) {
	now := variant{"now", s.path, s.now}
	if what == "" {
		if s.opened.model == nil {
			return nil, false, errors.New("there was no model at the start to compare with; compare file.ode, " +
				"compare k = 3, or compare dopri5, tsit5")
		}
		return []variant{{"opened", s.path, s.opened}, now}, false, nil
	}
	if path := strings.Trim(what, `"`); strings.HasSuffix(path, ".ode") {
		text, err := input.File(path, s.cfg.Seen)
		if err != nil {
			return nil, false, &odes.FileError{Path: path, Err: err}
		}
		files := input.Folder(filepath.Dir(path), s.cfg.Seen)
		other, err := odes.Parse(path, string(text), odes.ParseOptions{Files: files})
		if err != nil {
			return nil, false, err
		}
		now.name = "here"
		return []variant{now, {filepath.Base(path), path, state{model: other, text: string(text)}}}, false, nil
	}
	parts := split(what)
	if isAssignment(parser.TokensOf(parts[0])) < 0 {
		for _, n := range parts {
			if len(parser.TokensOf(n)) != 1 {
				return nil, false, fmt.Errorf("%q is neither a method nor an assignment; write compare k = 3, "+
					"compare dopri5, tsit5, or compare file.ode", n)
			}
			v := variant{n, s.path, s.now}
			v.settings = append(slices.Clone(v.settings), odes.Setting{Key: "solver.method", Value: n})
			list = append(list, v)
		}
		return list, true, nil
	}
	st := s.now
	for _, part := range parts {
		tokens := parser.TokensOf(part)
		sign := isAssignment(tokens)
		if sign < 0 || tokens[sign].Text != "=" {
			return nil, false, fmt.Errorf("%q is no assignment; write compare k = 3, e = 1", part)
		}
		target := strings.TrimSpace(part[:tokens[sign].Start])
		value := strings.TrimSpace(part[tokens[sign].End:])
		if key, ok := settingKey(target); ok {
			st.settings = append(slices.Clone(st.settings), odes.Setting{Key: key, Value: value})
			continue
		}
		symbol, err := s.target(s.now.model, target)
		if err != nil {
			return nil, false, err
		}
		values, err := s.constant(ctx, value, symbol)
		if err != nil {
			return nil, false, err
		}
		st.set = with(st.set, named(target), values)
	}
	return []variant{now, {what, s.path, st}}, false, nil
}

// settingKey reads solver.rtol and the like. It returns false for other texts.
func settingKey(target string) (string, bool) {
	key := strings.ReplaceAll(target, " ", "")
	return key, strings.HasPrefix(key, "solver.") || strings.HasPrefix(key, "sens.")
}

// overlay draws expressions over time for all variants, with a panel for each expression.
func (pl *plotter) overlay(ctx context.Context, list []variant, expressions []string, fine bool) (plot.Picture, error) {
	points := 2 * pl.width()
	if fine {
		points = PointsInFiles
	}
	stack := &plot.Stack{}
	for _, e := range expressions {
		if e == "" {
			return nil, errors.New("an expression is missing: compare … of x, v")
		}
		var l *plot.Lines
		for _, v := range list {
			c, err := pl.as(v, func() (*curves, error) { return pl.curve(ctx, e, points) })
			if err != nil {
				return nil, fmt.Errorf("%s: %w", v.name, err)
			}
			if c.size() != 1 {
				return nil, fmt.Errorf("%s is an array; choose an element: %s[1]", e, e)
			}
			if l == nil {
				i := v.model.Info()
				l = &plot.Lines{
					Title: pl.unchangedTitle(e, c), X: plot.Axis{Label: i.Time, Unit: i.TimeUnit},
					Y: plot.Axis{Label: e, Unit: c.Unit},
				}
			}
			if c.Unit != l.Y.Unit {
				return nil, fmt.Errorf("%s is in [%s] here and in [%s] in %s", e, l.Y.Unit, c.Unit, v.name)
			}
			if len(l.Curves) > 0 && slices.Equal(c.Measured, l.Curves[0].PY) {
				c.MT, c.Measured, c.Side = nil, nil, nil // all variants have the same data, which are drawn once
			}
			l.Curves = append(l.Curves, plot.Curve{
				Name: v.name, X: c.T, Y: c.Values, PX: c.MT, PY: c.Measured,
				Side: c.Side,
			})
		}
		stack.Panels = append(stack.Panels, l)
	}
	return stack, nil
}

// as calls f as if v were the model of the session.
func (pl *plotter) as(v variant, f func() (*curves, error)) (*curves, error) {
	now, path := pl.now, pl.path
	defer func() { pl.now, pl.path = now, path }()
	pl.now, pl.path = v.state, v.path
	return f()
}

// methods compares solver methods: results, steps, evaluations.
func (s *Session) methods(ctx context.Context, w io.Writer, list []variant) error {
	table := [][]string{{"method", "steps", "rejected", "evaluations"}}
	for _, v := range list {
		opts := odes.Options{Set: v.set, Settings: v.settings, Progress: s.progress}
		sol, err := v.model.Solve(ctx, unchecked(opts))
		if err != nil {
			return err
		}
		row := []string{v.name, fmt.Sprint(sol.Stats.Steps), fmt.Sprint(sol.Stats.Rejected), fmt.Sprint(sol.Stats.F)}
		for k, r := range rowsOf(sol) {
			if k == 4 {
				break
			}
			if len(table) == 1 {
				table[0] = append(table[0], withUnit(r.name, r.unit))
			}
			row = append(row, short(r.value, 12))
		}
		table = append(table, row)
	}
	columns(w, table, 0)
	return nil
}
