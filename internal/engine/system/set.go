package system

import "slices"

// A set has a bit for each of its members.
type set []uint64

func newSet(n int) set { return make(set, (n+63)/64) }

func (s set) add(i int) { s[i/64] |= 1 << (i % 64) }

func (s set) has(i int) bool { return s != nil && s[i/64]>>(i%64)&1 != 0 }

func (s set) empty() bool {
	return !slices.ContainsFunc(s, func(x uint64) bool { return x != 0 })
}

// join adds the members of o to s and reports whether there were new ones.
func (s set) join(o set) (grew bool) {
	for i, x := range o {
		grew = grew || x&^s[i] != 0
		s[i] |= x
	}
	return grew
}

// drop takes the members of o from s.
func (s set) drop(o set) {
	for i, x := range o {
		s[i] &^= x
	}
}

func newSets(n, size int) []set {
	list := make([]set, n)
	for i := range list {
		list[i] = newSet(size)
	}
	return list
}

func cloneSets(list []set) []set {
	to := make([]set, len(list))
	for i, s := range list {
		to[i] = slices.Clone(s)
	}
	return to
}
