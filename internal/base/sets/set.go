// Package sets has sets of small numbers, a bit each.
package sets

import "slices"

// A Set has a bit for each of its members.
type Set []uint64

// New returns an empty set of numbers below n.
func New(n int) Set { return make(Set, (n+63)/64) }

// Add adds a member.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Has reports whether i is a member; a nil set has none.
func (s Set) Has(i int) bool { return i/64 < len(s) && s[i/64]>>(i%64)&1 != 0 }

// Empty reports whether there is no member.
func (s Set) Empty() bool {
	return !slices.ContainsFunc(s, func(x uint64) bool { return x != 0 })
}

// Join adds the members of o to s and reports whether there were new ones.
func (s Set) Join(o Set) (grew bool) {
	for i, x := range o {
		grew = grew || x&^s[i] != 0
		s[i] |= x
	}
	return grew
}

// Drop takes the members of o from s.
func (s Set) Drop(o Set) {
	for i, x := range o {
		s[i] &^= x
	}
}

// Several returns n empty sets of numbers below size.
func Several(n, size int) []Set {
	list := make([]Set, n)
	for i := range list {
		list[i] = New(size)
	}
	return list
}

// Clone returns copies of sets.
func Clone(list []Set) []Set {
	to := make([]Set, len(list))
	for i, s := range list {
		to[i] = slices.Clone(s)
	}
	return to
}
