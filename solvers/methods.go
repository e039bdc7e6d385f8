package solvers

import (
	"cmp"
	"slices"
)

// registry holds every method that users can name. A method is added by a
// table of its own and a line here; the tests find it by itself.
var registry = []*Tableau{
	&euler,
	&heun, &midpoint, &ralston,
	&fehlberg2, &bs3, &ssprk3,
	&rk4, &rk38, rkc2,
	&rkf45, &ck45, &dopri5, &tsit5, &bs5,
	&rk6, &vern6, &vern7, &vern8, &rkf78, &dopri8, &dop853, &vern9,
}

// Methods returns the tables of all methods, sorted by name.
func Methods() []*Tableau {
	return slices.SortedFunc(slices.Values(registry), func(a, b *Tableau) int { return cmp.Compare(a.Name, b.Name) })
}

// Lookup returns the table of the method that users call name.
func Lookup(name string) (*Tableau, bool) {
	for _, t := range registry {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}
