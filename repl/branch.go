package repl

import (
	"context"
	"fmt"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/plot"
)

// steady follows the steady state along the param of a sweep.
func (v *sweep) steady(ctx context.Context, m *odes.Model, of string) (plot.Picture, string, error) {
	b, err := m.Continue(ctx, odes.Continuation{Param: v.name, From: v.lo, To: v.hi}, unchecked(v.s.options()))
	if err != nil {
		return nil, "", err
	}
	var names []string
	if of != "" {
		names = split(of)
	}
	p, err := analysis.Branch(b, names)
	if err != nil {
		return nil, "", err
	}
	var notes []string
	for _, x := range b.Places {
		if x.Kind != "" {
			notes = append(notes, fmt.Sprintf("%s at %s = %s", x.Kind, v.name, short(x.X, 8)))
		}
	}
	switch b.End {
	case "lost":
		notes = append(notes, "the branch could not be followed further")
	case "long":
		notes = append(notes, "the branch goes on: more places are not sought")
	case "unbounded":
		at := short(b.Places[len(b.Places)-1].X, 8)
		notes = append(notes, fmt.Sprintf("steady states grow without bound as %s nears %s", v.name, at))
	}
	return p, strings.Join(notes, "\n"), nil
}
