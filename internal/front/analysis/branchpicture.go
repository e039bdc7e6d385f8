package analysis

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/plot"
)

// Branch draws steady states along a param: each state over it, what is stable as a line and what is not as dots, with
// signs where the branch turns back and where cycles begin. Without names it draws the first states.
func Branch(b *odes.Branch, names []string) (plot.Picture, error) {
	x := plot.Axis{Label: b.Param, Unit: b.Unit}
	stack := &plot.Stack{}
	for _, name := range names {
		if !slices.Contains(b.States, name) {
			return nil, fmt.Errorf("there is no state %q; there are %s", name, strings.Join(b.States, ", "))
		}
	}
	for i, name := range b.States {
		if len(names) > 0 && !slices.Contains(names, name) || len(stack.Panels) == mostPanels {
			continue
		}
		stable := plot.Curve{Name: "stable", Loop: true, Gaps: true}
		unstable := plot.Curve{Name: "unstable", Dots: true}
		special := map[string]*plot.Curve{
			"fold": {Name: "fold"}, "hopf": {Name: "Hopf point"}, "crossing": {Name: "crossing"},
		}
		for _, p := range b.Places {
			y := math.NaN()
			if p.Growing <= 0 || p.Kind != "" {
				y = p.Y[i]
			} else {
				unstable.X, unstable.Y = append(unstable.X, p.X), append(unstable.Y, p.Y[i])
			}
			stable.X, stable.Y = append(stable.X, p.X), append(stable.Y, y)
			if c := special[p.Kind]; c != nil {
				c.PX, c.PY = append(c.PX, p.X), append(c.PY, p.Y[i])
			}
		}
		l := &plot.Lines{X: x, Y: plot.Axis{Label: name, Unit: b.Units[i]}}
		for _, c := range []*plot.Curve{&stable, &unstable, special["fold"], special["hopf"], special["crossing"]} {
			if len(c.X)+len(c.PX) > 0 {
				l.Curves = append(l.Curves, *c)
			}
		}
		stack.Panels = append(stack.Panels, l)
	}
	return stack, nil
}
