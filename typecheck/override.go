package typecheck

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/lang/model"
)

// CodeUnknown is the code of names from outside, such as those of overrides, that a model does not have. The checker
// itself reports CodeUndefined.
const CodeUnknown diag.Code = "unknown-name"

// ReadSettings reads the settings blocks of a file that is no model: overrides from a command line.
// Names in values are kept as words. Errors go to l.
func ReadSettings(f *ast.File, l *diag.List) model.Settings {
	c := &checker{
		env: Env{MaxElements: maxElements}, list: l, file: f, model: &model.Model{}, globals: map[string]*entity{},
		units: map[string]*unitEntity{},
	}
	var out model.Settings
	for _, item := range f.Items {
		s, ok := item.(*ast.Settings)
		if !ok {
			continue
		}
		b := model.Block{Kind: s.Block.Name}
		for _, k := range s.List {
			if k.Drawn != nil {
				l.Errorf(CodeSetting, k.Span, "what is drawn stands in the model, or after the command")
				continue
			}
			if names := keys.Names(b.Kind); !slices.Contains(names, k.Key.Name) {
				l.Errorf(CodeSetting, k.Key.Span, "`%s` has no setting %q%s; it has %s", b.Kind, k.Key.Name,
					diag.DidYouMean(k.Key.Name, names), strings.Join(names, ", "))
				continue
			}
			if v, ok := c.setting(b.Kind, k); ok {
				b.Keys = append(b.Keys, model.Setting{Key: k.Key.Name, Span: k.Key.Span, Value: v})
			}
		}
		out.Blocks = append(out.Blocks, b)
	}
	return out
}
