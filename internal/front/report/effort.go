package report

import (
	"fmt"

	"odes.dev/odes"
)

// ImplicitWork says in words what the implicit steps of a run took, as "3 Jacobians"; nothing where there were none.
func ImplicitWork(s odes.RunStats) []string {
	return told([]tally{
		{s.Jacobians, "Jacobian", "Jacobians"},
		{s.Factorisations, "factorisation", "factorisations"},
		{s.Solves, "solution", "solutions"},
	})
}

// Rejections says in words for what steps of a run were rejected besides errors above the tolerance.
func Rejections(s odes.RunStats) []string {
	return told([]tally{
		{s.NonFinite, "step rejected as not finite", "steps rejected as not finite"},
		{s.Singular, "step rejected as singular", "steps rejected as singular"},
		{s.Sought, "step rejected for an event", "steps rejected for events"},
	})
}

// tally is a number of things, and what one and several of them are called.
type tally struct {
	n         int
	one, many string
}

// told returns in words the tallies that are not zero.
func told(tallies []tally) (list []string) {
	for _, c := range tallies {
		switch {
		case c.n == 1:
			list = append(list, "1 "+c.one)
		case c.n > 1:
			list = append(list, fmt.Sprintf("%d %s", c.n, c.many))
		}
	}
	return list
}
