package typecheck

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/parser"
)

func (c *checker) checkSettings() {
	seen := map[string]*ast.Settings{}
	for _, s := range c.settings {
		kind := s.Block.Name
		b := model.Block{Kind: kind}
		if s.Name != nil {
			b.Name = s.Name.Name
		}
		key := kind + " " + b.Name
		if old := seen[key]; old != nil {
			c.errorf(CodeDuplicate, s.Block.Span, "there are two `%s` blocks; join them or name one: %s fast { … }",
				strings.TrimSpace(key), kind).Relate(old.Block.Span, "first block")
			continue
		}
		seen[key] = s
		given := map[string]*ast.Setting{}
		for _, k := range s.List {
			if k.Drawn != nil {
				if d, ok := c.draw(kind, k); ok {
					b.Draws = append(b.Draws, d)
				}
				continue
			}
			if k.Key.Name == "" {
				continue
			}
			row := keys.Find(kind, k.Key.Name)
			if row == nil {
				d := c.errorf(CodeSetting, k.Key.Span, "`%s` has no setting %q", kind, k.Key.Name)
				if other, ok := foreignSettings[strings.ToLower(k.Key.Name)]; ok &&
					keys.Find(kind, other.key) != nil {
					d.Message += "; " + other.hint
					d.Fix(k.Key.Span, other.key, "write "+other.key)
				} else if best := nearest(k.Key.Name, keys.Names(kind)); best != "" {
					d.Message += fmt.Sprintf("; did you mean %q?", best)
					d.Fix(k.Key.Span, best, "write "+best)
				} else if other := blockOf(k.Key.Name); other != "" {
					d.Message += fmt.Sprintf("; it belongs into the `%s` block", other)
				} else {
					d.Message += "; it has " + strings.Join(keys.Names(kind), ", ")
				}
				continue
			}
			if old := given[k.Key.Name]; old != nil {
				c.errorf(CodeDuplicate, k.Key.Span, "setting %q is given twice", k.Key.Name).
					Relate(old.Key.Span, "first here")
				continue
			}
			given[k.Key.Name] = k
			v, ok := c.setting(kind, k)
			if !ok {
				continue
			}
			c.settingNames(row, v)
			if kind == "ensemble" && k.Key.Name == "rows" {
				b.Rows = c.rows(v)
			}
			if k.Key.Name == "units" && !slices.Contains(row.Words, v.Word) {
				c.errorf(CodeSettingValue, v.Span, "units is %s", diag.Either(row.Words))
			}
			b.Keys = append(b.Keys, model.Setting{Key: k.Key.Name, Span: k.Key.Span, Value: v})
		}
		c.model.Settings.Blocks = append(c.model.Settings.Blocks, b)
	}
	if c.env.Settings != nil && c.variant == nil {
		c.env.Settings(c.model.Settings, c.list)
	}
	if c.unitMode == "strict" {
		c.strictUnits()
	}
}

// rows reads the file with the rows of an ensemble. It returns nil where it cannot be read.
func (c *checker) rows(v model.SettingValue) *model.Table {
	if v.Text == "" {
		c.errorf(CodeSettingValue, v.Span, "rows names a file: rows = \"sets.csv\"")
		return nil
	}
	file, err := c.csv(v.Text)
	if err != nil {
		c.errorf(CodeData, v.Span, "%v", err)
		return nil
	}
	t := &model.Table{Name: v.Text, Columns: file.Columns, Span: v.Span}
	for k := range file.Columns {
		numbers, err := file.Numbers(k)
		if err != nil {
			c.errorf(CodeData, v.Span, "%v", err)
			return nil
		}
		t.Data = append(t.Data, numbers)
	}
	return t
}

// foreignSettings maps the names that other programs give to settings to ours.
var foreignSettings = map[string]struct{ key, hint string }{
	"tol":       {"rtol", "tolerances are rtol (relative) and atol (absolute)"},
	"tolerance": {"rtol", "tolerances are rtol (relative) and atol (absolute)"},
	"reltol":    {"rtol", "the relative tolerance is rtol"}, "abstol": {"atol", "the absolute tolerance is atol"},
	"dt":      {"fixed_step", "a fixed step is fixed_step; adaptive steps are bounded by hmin and hmax"},
	"step":    {"fixed_step", "a fixed step is fixed_step; adaptive steps are bounded by hmin and hmax"},
	"maxstep": {"hmax", "the longest step is hmax"}, "max_step": {"hmax", "the longest step is hmax"},
	"minstep":    {"hmin", "the shortest step is hmin"},
	"maxsteps":   {"max_steps", "the number of steps is bounded by max_steps"},
	"mxstep":     {"max_steps", "the number of steps is bounded by max_steps"},
	"facmax":     {"max_growth", "the growth of steps is bounded by max_growth"},
	"max_factor": {"max_growth", "the growth of steps is bounded by max_growth"},
	"hessian":    {"order", "second derivatives are order = 2"}, "integrator": {"method", "the method is method"},
	"solver": {"method", "the method is method"}, "algorithm": {"method", "the method is method"},
}

func blockOf(key string) string {
	for _, b := range parser.Blocks() {
		if keys.Find(b, key) != nil {
			return b
		}
	}
	return ""
}

// setting reads the value of a key of a block. Only tolerances are given by name.
func (c *checker) setting(kind string, k *ast.Setting) (model.SettingValue, bool) {
	var v model.SettingValue
	var ok bool
	if _, call := strip(k.Value).(*ast.Call); call && kind == "sens" && k.Key.Name == "hvp" {
		v, ok = c.settingNumbers(strip(k.Value)) // ones(n); nothing that it takes looks like a call
	} else {
		v, ok = c.settingValue(k.Value)
	}
	if e := v.Named(); ok && e != nil && (kind != "solver" || k.Key.Name != "rtol" && k.Key.Name != "atol") {
		c.errorf(CodeSettingValue, e.Span, "a list for `%s` holds values without names, in the order of what "+
			"they are for", k.Key.Name)
		return v, false
	}
	return v, ok
}

// settingValue reads a value: a word, a text, a number, a list, or a call.
func (c *checker) settingValue(e ast.Expr) (model.SettingValue, bool) {
	e = strip(e)
	v := model.SettingValue{Span: e.Pos()}
	switch e := e.(type) {
	case *ast.BadExpr:
		return v, false
	case *ast.String:
		v.Text = e.Value
		return v, true
	case *ast.Array:
		if len(e.For) > 0 {
			break
		}
		v.Array = true
		for _, x := range e.Elems {
			entry, named := x.(*ast.Entry)
			if named {
				x = entry.Value
			}
			item, ok := c.settingValue(x)
			if !ok {
				return v, false
			}
			if named {
				v.Keys = append(v.Keys, model.Setting{Key: entry.Key.Name, Span: entry.Key.Span, Value: item})
			} else {
				v.List = append(v.List, item)
			}
		}
		return v, true
	case *ast.Name:
		if e.Name == "pi" { // a number, and the name of a controller
			pi := math.Pi
			v.Word, v.Number = e.Name, &pi
			return v, true
		}
		if g := c.globals[e.Name]; g == nil || g.kind != constName {
			if e.Name != "inf" {
				v.Word = e.Name
				return v, true
			}
		}
	case *ast.Index:
		// wrt = A[1,2] or dose[2]: a word with positions.
		if n, ok := strip(e.X).(*ast.Name); ok {
			v.Word = n.Name
			v.Array = true
			for _, s := range e.Subs {
				if s.All || s.Hi != nil {
					c.errorf(CodeSettingValue, s.Span, "a setting names one element or the whole array")
					return v, false
				}
				item, ok := c.settingValue(s.Lo)
				if !ok {
					return v, false
				}
				v.List = append(v.List, item)
			}
			return v, true
		}
	case *ast.Call:
		n, ok := strip(e.Fun).(*ast.Name)
		if !ok || len(e.For) > 0 {
			break
		}
		v.Word, v.Call = n.Name, true
		for i := range e.Args {
			a := &e.Args[i]
			item, ok := c.settingValue(a.Value)
			if !ok {
				return v, false
			}
			if a.Key != nil {
				v.Keys = append(v.Keys, model.Setting{Key: a.Key.Name, Span: a.Key.Span, Value: item})
			} else {
				v.List = append(v.List, item)
			}
		}
		return v, true
	}
	return c.settingNumbers(e)
}

// settingNumbers reads an expression of consts: a number, or an array as the list of its elements, row by row.
func (c *checker) settingNumbers(e ast.Expr) (model.SettingValue, bool) {
	v := model.SettingValue{Span: e.Pos()}
	x, node, ok := c.constants(context{place: placeConst}, e, "a setting")
	switch {
	case !ok:
		return v, false
	case len(node.Type().Shape) == 0:
		v.Number = &x[0]
		return v, true
	}
	v.Array = true
	for i := range x {
		v.List = append(v.List, model.SettingValue{Number: &x[i], Span: v.Span})
	}
	return v, true
}

// strictUnits rejects names whose unit is not known.
func (c *checker) strictUnits() {
	for _, e := range c.order {
		var t types.Type
		switch {
		case e.sym != nil:
			t = e.sym.Type
		default:
			continue
		}
		if !t.Unit.Known() {
			c.errorf(CodeUnit, e.span, "the unit of %q is not known; write %s : [unit], with [1] for a pure number",
				e.name, e.name)
		}
	}
}
