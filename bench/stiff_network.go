package main

import (
	"fmt"
	"math"
	"strings"
)

// stiffNetwork is a mass-action network whose rate constants span eight orders of magnitude. Reactions conserve the
// number of molecules: one becomes one, or two become two. Most of their species are neighbours.
type stiffNetwork struct {
	start, weights, k []float64
	reactions         []reaction
}

// newStiffNetwork draws a network of n species. README.md of the example, which has three reactions for each of them,
// states the rule.
func newStiffNetwork(n, reactions int, seed uint64) *stiffNetwork {
	s := lcg(seed)
	net := &stiffNetwork{}
	for range n {
		net.start = append(net.start, s.next())
	}
	for range n {
		net.weights = append(net.weights, s.next())
	}
	for r := range reactions {
		pick := func() int {
			if e, v := s.next(), s.next(); e < 0.01 {
				return int(v * float64(n))
			} else {
				return (r + int(v*16)) % n
			}
		}
		for {
			alone := s.next() < 0.4
			re := reaction{from: []int{r % n}}
			if !alone {
				re.from = append(re.from, pick())
			}
			for range re.from {
				re.to = append(re.to, pick())
			}
			if len(re.changes()) > 0 {
				net.reactions = append(net.reactions, re)
				break
			}
		}
		net.k = append(net.k, math.Pow(10, 8*s.next()-4))
	}
	return net
}

// change is what a reaction does to a species.
type change struct{ species, by int }

// changes are those of a reaction that are not zero, in the order in which it names its species.
func (re reaction) changes() (list []change) {
	add := func(species, by int) {
		for i := range list {
			if list[i].species == species {
				list[i].by += by
				return
			}
		}
		list = append(list, change{species, by})
	}
	for _, i := range re.from {
		add(i, -1)
	}
	for _, i := range re.to {
		add(i, 1)
	}
	kept := list[:0]
	for _, c := range list {
		if c.by != 0 {
			kept = append(kept, c)
		}
	}
	return kept
}

// text writes the network as a model, species by species and reaction by reaction.
func (net *stiffNetwork) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "model Network%d \"a mass-action network drawn at random, %d species, %d reactions\"\n\n"+
		"time t from 0 to 100\n\n", len(net.start), len(net.start), len(net.k))
	for r, k := range net.k {
		fmt.Fprintf(&b, "param k%d = %v\n", r, k)
	}
	b.WriteByte('\n')
	for i, x := range net.start {
		fmt.Fprintf(&b, "state s%d = %v\n", i, x)
	}
	b.WriteByte('\n')
	for r, re := range net.reactions {
		fmt.Fprintf(&b, "reaction r%d: %s -> %s rate mass_action(k%d)\n", r, side(re.from), side(re.to), r)
	}
	var terms []string
	for i, w := range net.weights {
		terms = append(terms, fmt.Sprintf("%v*final(s%d)", w, i))
	}
	fmt.Fprintf(&b, "\nobjective J =\n  %s\n\nsolver { rtol = 1e-8  atol = 1e-12 }\n", strings.Join(terms, "\n  + "))
	return b.String()
}
