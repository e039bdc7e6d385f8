package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
)

// settingNames checks the names of the model in a setting that takes some.
func (c *checker) settingNames(row *keys.Row, v model.SettingValue) {
	switch row.Kind {
	case keys.Objective:
		if v.Array && v.Word == "" || v.Word == "all" {
			c.errorf(CodeSettingValue, v.Span, "`%s` names one objective", row.Key)
			return
		}
		c.selected("of", row.Key, v)
	case keys.Objectives:
		c.selected("of", row.Key, v)
	case keys.Variables:
		c.selected("wrt", row.Key, v)
	}
}

// selected checks the names in a setting of key. It selects objectives if selects is `of`, and
// params and initial values if selects is `wrt`.
func (c *checker) selected(selects, key string, v model.SettingValue) {
	if v.Array && v.Word == "" {
		for _, item := range v.List {
			c.selected(selects, key, item)
		}
		return
	}
	switch {
	case v.Word == "all" && !v.Call:
	case selects == "of" && v.Word != "" && !v.Call:
		c.selectedName(v, v.Word, "an objective", objectiveName, constraintName)
	case selects == "wrt" && v.Call && v.Word == "initial" && len(v.List) == 1 && len(v.Keys) == 0 &&
		v.List[0].Word != "":
		v.Span = v.List[0].Span
		c.selectedName(v, v.List[0].Word, "a state", stateName, discreteName)
	case selects == "wrt" && v.Word != "" && !v.Call:
		c.selectedName(v, v.Word, "a param", paramName, controlName)
	case selects == "of":
		c.errorf(CodeSettingValue, v.Span, "`%s` names objectives: %[1]s = [J, K], or all", key)
	default:
		c.errorf(CodeSettingValue, v.Span, "`%s` names params and initial values: %[1]s = [k, initial(x)], or all", key)
	}
}

// selectedName reports a name that is not of the wanted kinds.
func (c *checker) selectedName(v model.SettingValue, name, want string, kinds ...entityKind) {
	g := c.globals[name]
	if g != nil && (slices.Contains(kinds, g.kind) || g.kind == laterName) {
		return
	}
	if g != nil && g.kind == algName && slices.Contains(kinds, stateName) {
		c.errorf(CodeSettingValue, v.Span, "%q is an alg: its value at the start follows from the algebraic "+
			"equations, "+
			"so its guess has no influence", name).Relate(g.span, "declared here")
		return
	}
	d := c.errorf(CodeSettingValue, v.Span, "%q is not %s", name, want)
	if g != nil {
		d.Message += fmt.Sprintf(", but %s", g.kind)
		if slices.Contains(kinds, paramName) && g.kind == stateName {
			d.Message += fmt.Sprintf("; write initial(%s) for its initial value", name)
			d.Fix(v.Span, "initial("+name+")", "write its initial value")
		}
		d.Relate(g.span, "declared here")
		return
	}
	d.Later(func(d *diag.Diagnostic) {
		var known []string // in the order of the file
		for _, g := range c.order {
			if slices.Contains(kinds, g.kind) {
				known = append(known, g.name)
			}
		}
		const shown = 8
		switch best := nearest(name, known); {
		case best != "":
			d.Message += fmt.Sprintf("; did you mean %q?", best)
			if v.Span.Text() == name {
				d.Fix(v.Span, best, "write "+best)
			}
		case len(known) > shown:
			d.Message += fmt.Sprintf("; there are %s and %d more", strings.Join(known[:shown], ", "), len(known)-shown)
		case len(known) > 1:
			d.Message += "; there are " + strings.Join(known, ", ")
		case len(known) == 1:
			d.Message += "; there is " + known[0]
		}
	})
}
