package repl

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/lang/target"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/parser"
)

func (ws *workspace) doSave(_ context.Context, w io.Writer, rest string) error {
	path := strings.Trim(rest, `"`)
	if path == "" {
		path = ws.path
	}
	if path == "" {
		return errors.New("save where? save <file.ode>")
	}
	if strings.TrimSpace(ws.now.text) == "" {
		return errors.New("there is nothing to save")
	}
	if path == ws.path {
		if onDisk, err := input.File(path, ws.cfg.Seen); err == nil && string(onDisk) != ws.disk && !ws.replaces(path) {
			return fmt.Errorf("%s has changed since it was read; save under another name, or reload", path)
		}
	} else if info, err := os.Stat(path); err == nil && !ws.replaces(path) {
		if !info.Mode().IsRegular() {
			return fmt.Errorf("%s is no file; save under another name", path)
		}
		return fmt.Errorf("%s exists; remove it first, or save under another name", path)
	}
	text, done, left := ws.fixed()
	text, written, unwritten := ws.withSettings(text)
	done = append(done, written...)
	if err := output.Write(path, nil, func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}); err != nil {
		return err
	}
	st := ws.now
	st.text, st.set, st.settings = text, left, unwritten
	ws.path, ws.disk = path, text
	if m, err := ws.parse(text); err == nil {
		st.model = m
	}
	if info, err := os.Stat(path); err == nil {
		ws.stamp = info.ModTime()
	}
	if len(done) > 0 {
		ws.move(st, "save")
	}
	ws.now.text, ws.now.set, ws.now.settings, ws.now.model = st.text, st.set, st.settings, st.model
	ws.opened = ws.now
	said := "wrote " + path
	if len(done) > 0 {
		said += ", with " + strings.Join(done, ", ")
	}
	ws.Say(w, "%s", said)
	for _, a := range left {
		fmt.Fprintf(w, "not in the file: %s = %s (add --set '%s=%s')\n", a.Name, list(a.Values), a.Name, list(a.Values))
	}
	for _, k := range ws.now.settings {
		fmt.Fprintf(w, "not in the file: %s = %s (add --%s=%s)\n", k.Key, k.Value, k.Key, k.Value)
	}
	return nil
}

// replaces asks whether a file may be replaced. Without someone to ask, it may not.
func (ws *workspace) replaces(path string) bool {
	return ws.confirm != nil && ws.confirm(fmt.Sprintf("%s has another text. Replace it?", path))
}

// withSettings writes changed settings into the blocks of a text. It leaves those of several blocks of a kind, since
// a name says there which is used.
func (ws *workspace) withSettings(text string) (_ string, done []string, left []odes.Setting) {
	now := ws.now
	defer func() { ws.now = now }()
	ws.now.text = text
	for i, k := range now.settings {
		if slices.ContainsFunc(now.settings[i+1:], func(o odes.Setting) bool { return o.Key == k.Key }) {
			continue // the last one holds
		}
		word, key, _ := strings.Cut(k.Key, ".")
		old, err := parser.Outline(ws.name(), ws.now.text)
		var kinds []string
		for _, it := range old {
			if first, _, _ := strings.Cut(it.Kind, " "); first == word {
				kinds = append(kinds, it.Kind)
			}
		}
		if len(kinds) == 0 {
			kinds = []string{word}
		}
		entry := fmt.Sprintf("%s { %s = %s }", kinds[0], key, k.Value)
		items, e := parser.Outline(Entry, entry)
		if err != nil || e != nil || len(kinds) > 1 {
			left = append(left, k)
			continue
		}
		next, _, _, err := ws.merge(entry, items)
		if err == nil {
			_, err = ws.parse(next)
		}
		if err != nil {
			left = append(left, k)
			continue
		}
		ws.now.text = next
		done = append(done, k.Key+" = "+k.Value)
	}
	return ws.now.text, done, left
}

// fixed writes what was set into the declarations. It leaves what has no place there: elements,
// arrays, and names that the command line gave in backquotes.
func (ws *workspace) fixed() (text string, done []string, left []odes.Assignment) {
	text = ws.now.text
	last := map[string]odes.Assignment{}
	var order []string
	for _, a := range ws.now.set {
		if _, ok := last[a.Name]; !ok {
			order = append(order, a.Name)
		}
		last[a.Name] = a
	}
	for _, name := range order {
		a := last[name]
		next, ok := ws.withValue(text, a)
		if !ok {
			left = append(left, a)
			continue
		}
		text = next
		done = append(done, a.Name+" = "+list(a.Values))
	}
	return text, done, left
}

// withValue puts a number into the declaration of a param or an initial value.
func (ws *workspace) withValue(text string, a odes.Assignment) (string, bool) {
	t, _ := target.Parse(a.Name)
	plain := t.Subscripts == "" && t.String() == a.Name // neither an element nor in backquotes
	if !plain || ws.now.model == nil {
		return text, false
	}
	name, kind := t.Name, "param"
	if t.Initial {
		kind = "state"
	}
	symbols, err := ws.now.model.Symbols(nil)
	if err != nil {
		return text, false
	}
	value := ""
	for _, x := range symbols {
		if x.Kind != kind || x.Name != name {
			continue
		}
		if value = written(x.Shape, a.Values); x.Unit != "" {
			value += " [" + x.Unit + "]"
		}
	}
	items, _ := parser.Outline(ws.name(), text)
	for _, it := range items {
		for _, p := range it.Parts {
			if it.Kind != kind && (it.Kind != "control" || t.Initial) || p.Name != name || p.ValueEnd == 0 {
				continue
			}
			for _, v := range []string{keepUnit(text[p.ValueStart:p.ValueEnd], a.Values[0]), value} {
				if v == "" || v != value && len(a.Values) > 1 {
					continue
				}
				next := text[:p.ValueStart] + v + text[p.ValueEnd:]
				// A unit as it was written may be another one than that of the name, as in V : [L] = 500 [mL].
				if m, err := ws.parse(next); err == nil && (v == value || says(m, a)) {
					return next, true
				}
			}
		}
	}
	return text, false
}

// written writes an array of a shape, row-major; one value fills it.
func written(shape []int, values []float64) string {
	if len(shape) == 0 || len(values) == 1 {
		return strconv.FormatFloat(values[0], 'g', -1, 64)
	}
	inner := len(values) / shape[0]
	parts := make([]string, shape[0])
	for i := range parts {
		parts[i] = written(shape[1:], values[i*inner:(i+1)*inner])
	}
	return "[" + strings.Join(parts, ", ") + "]"
}

// says reports whether a model has the value of a by itself.
func says(m *odes.Model, a odes.Assignment) bool {
	_, values, err := m.ValuesOf(odes.Options{Wrt: []string{a.Name}})
	return err == nil && !slices.ContainsFunc(values, func(x float64) bool { return x != a.Values[0] })
}

// keepUnit replaces the number of a literal and keeps its unit as it was written. It returns "" if
// old is no literal.
func keepUnit(old string, x float64) string {
	tokens := parser.TokensOf(old)
	if len(tokens) > 1 && tokens[0].Text == "-" {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 || tokens[0].Kind != ast.NumberToken ||
		len(tokens) > 1 && (tokens[1].Text != "[" || closing(tokens, 1) != len(tokens)-1) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64) + old[tokens[0].End:]
}
