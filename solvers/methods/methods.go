// Package methods lists the families of methods that users choose from. It is the one place where they are registered:
// runs, settings, help, completion and tests read the families and name no method themselves.
package methods

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/explicit"
	"odes.dev/odes/solvers/implicit"
	"odes.dev/odes/solvers/rosenbrock"
)

// families holds every family of methods that users can choose from.
var families = []*solvers.Family{
	&explicit.Family, &explicit.Chebyshev, &rosenbrock.Family, &implicit.Family,
	&implicit.Additive,
}

// Families returns every family of methods.
func Families() []*solvers.Family { return slices.Clone(families) }

// All returns the methods of all families, sorted by name.
func All() []*solvers.Spec {
	var all []*solvers.Spec
	for _, f := range families {
		all = append(all, f.Methods...)
	}
	slices.SortFunc(all, func(a, b *solvers.Spec) int { return cmp.Compare(a.Name, b.Name) })
	return all
}

// Lookup returns the method that users call name, without settings of its own.
func Lookup(name string) (*solvers.Spec, bool) {
	_, m := find(name)
	return m, m != nil
}

func find(name string) (*solvers.Family, *solvers.Spec) {
	for _, f := range families {
		for _, m := range f.Methods {
			if m.Name == name {
				return f, m
			}
		}
	}
	return nil, nil
}

// Choose returns the method that users call name, with the values of settings of its family, and the same Spec for
// the same choice. An error says in one sentence which setting the method does not take or which value it refuses; it
// begins with the name of the setting.
func Choose(name string, values map[string]float64) (*solvers.Spec, error) {
	f, m := find(name)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		if f != nil && slices.ContainsFunc(f.Settings, func(s solvers.MethodSetting) bool { return s.Name == key }) {
			continue
		}
		for _, other := range families {
			for _, s := range other.Settings {
				if s.Name == key {
					return nil, fmt.Errorf("%s %s; %s %s", key, s.Doc, name, s.Not)
				}
			}
		}
		return nil, fmt.Errorf("%s is a setting of no method", key)
	}
	switch {
	case m == nil:
		return nil, fmt.Errorf("there is no method %s", name)
	case len(values) == 0:
		return m, nil
	}
	return f.With(m, values)
}
