package terms

import (
	"fmt"
	"strings"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/units"
)

// mostKnots is up to how many knots that are params have an assertion each, which says where they do not ascend.
const mostKnots = 256

// Ascend asserts that knots that are params ascend. They belong to what of says.
func Ascend(c Checker, t model.Expr, of string) (list []*model.Assert) {
	n := t.Type().Shape[0]
	less := func(a, b model.Expr) model.Expr { return Less(c, t.Span(), a, b) }
	if n > mostKnots {
		b := &Table{C: c, At: t.Span()}
		if cond := less(b.Part(t, 1, n-1), b.Part(t, 2, n-1)); !IsBad(cond) {
			list = append(list, &model.Assert{
				Cond: cond, Span: t.Span(), Implied: true,
				Text: fmt.Sprintf("the knots of %s ascend, but not all of them do", of),
			})
		}
		return list
	}
	one := t.Type()
	one.Shape = nil
	knot := func(i int) (model.Expr, string) {
		name := fmt.Sprintf("knot %d", i)
		if s, ok := t.(*model.Stack); ok {
			return s.Elems[i-1], fmt.Sprintf("%s, %q,", name, s.Elems[i-1].Span().Text())
		}
		at := model.Sub{At: Number(float64(i), units.Unit{}, t.Span())}
		return model.Seal(&model.Access{Base: model.Base{T: one, S: t.Span()}, X: t, Subs: []model.Sub{at}}), name
	}
	for i := 1; i < n; i++ {
		a, first := knot(i)
		b, second := knot(i + 1)
		cond := less(a, b)
		if IsBad(cond) || model.Static(cond) {
			continue
		}
		list = append(list, &model.Assert{
			Cond: cond, Span: t.Span(), Implied: true,
			Text: fmt.Sprintf("the knots of %s ascend, but %s does not lie before %s", of, first,
				strings.TrimSuffix(second, ",")),
		})
	}
	return list
}
