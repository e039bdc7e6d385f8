package tapec

import (
	"fmt"
	"iter"

	"odes.dev/odes/tape"
)

// Part is one of the functions that make up a model. Most models have one function
// of a part, some have none; of the parts from PartDefaults on they have a list.
type Part uint8

// The parts; Compiled tells what their tapes read and make.
const (
	PartAsserts Part = iota
	PartStart
	PartRunWork     // what the rates compute of params alone; empty until Split takes it out of them
	PartSegmentWork // what they compute of values that change at events only; likewise
	PartRates
	PartDelays   // of what is read of the past, where they move
	PartJacobian // of the rates, or of their implicit part; empty unless a method asks for it
	PartImplicit // the parts of the rates for methods that split them; likewise
	PartExplicit
	PartInstants
	PartChoose
	PartGuards
	PartClocks
	PartPriorities
	PartInitial
	PartFinal
	PartPeaks
	PartObjective
	PartOutputs
	PartInvariants

	PartDefaults // one for each of Compiled.Defaults
	PartAffects  // one for each event
	PartAtTimes  // one for each group of sites
	PartAtEvents // one for each event
	numParts

	firstList = PartDefaults
)

var partNames = [numParts]string{
	PartAsserts:     "asserts",
	PartStart:       "start",
	PartRunWork:     "run work",
	PartSegmentWork: "segment work",
	PartRates:       "rates",
	PartDelays:      "delays",
	PartJacobian:    "jacobian",
	PartImplicit:    "implicit",
	PartExplicit:    "explicit",
	PartInstants:    "instants",
	PartChoose:      "choose",
	PartGuards:      "guards",
	PartClocks:      "clocks",
	PartPriorities:  "priorities",
	PartInitial:     "initial",
	PartFinal:       "final",
	PartPeaks:       "peaks",
	PartObjective:   "objective",
	PartOutputs:     "outputs",
	PartInvariants:  "invariants",
	PartDefaults:    "defaults",
	PartAffects:     "affects",
	PartAtTimes:     "at times",
	PartAtEvents:    "at events",
}

func (p Part) String() string {
	if p >= numParts {
		return fmt.Sprintf("part %d", uint8(p))
	}
	return partNames[p]
}

// partOrder is the order in which Parts.All goes through all parts.
var partOrder = [numParts]Part{
	PartDefaults, PartAsserts, PartStart, PartRunWork, PartSegmentWork, PartRates, PartDelays, PartJacobian,
	PartImplicit, PartExplicit,
	PartInstants, PartChoose, PartGuards, PartClocks, PartPriorities, PartAffects,
	PartInitial, PartAtTimes, PartAtEvents, PartFinal, PartPeaks,
	PartObjective, PartOutputs, PartInvariants,
}

// Parts holds a T for every part of a model: its tape, say, or what was made of it.
// The zero Parts holds zero values and empty lists. A copy shares the lists.
type Parts[T any] struct {
	single [firstList]T
	lists  [numParts - firstList][]T
}

// PartIndex is a place in Parts: a part and, for one that is a list, an index; else 0.
type PartIndex struct {
	Part  Part
	Index int
}

// Get returns what p holds. It panics if p is a list.
func (s *Parts[T]) Get(p Part) T { return s.single[p] }

// Set changes what p holds. It panics if p is a list.
func (s *Parts[T]) Set(p Part, x T) { s.single[p] = x }

// List returns the list that p holds; its elements may be changed. It panics if p is none.
func (s *Parts[T]) List(p Part) []T { return s.lists[p-firstList] }

// SetList changes the list that p holds. It panics if p is none.
func (s *Parts[T]) SetList(p Part, list []T) { s.lists[p-firstList] = list }

// All returns an iterator over the given parts in the given order, or over all
// parts in a fixed order; zero values are among them.
func (s *Parts[T]) All(parts ...Part) iter.Seq2[PartIndex, T] {
	if len(parts) == 0 {
		parts = partOrder[:]
	}
	return func(yield func(PartIndex, T) bool) {
		for _, p := range parts {
			list := []T(nil)
			if p < firstList {
				list = s.single[p : p+1]
			} else {
				list = s.List(p)
			}
			for i, x := range list {
				if !yield(PartIndex{p, i}, x) {
					return
				}
			}
		}
	}
}

// Without returns a copy in which the given parts hold nothing.
func (s *Parts[T]) Without(parts ...Part) *Parts[T] {
	out := *s
	for _, p := range parts {
		if p < firstList {
			var zero T
			out.Set(p, zero)
		} else {
			out.SetList(p, nil)
		}
	}
	return &out
}

// Transform applies f to everything that s holds, zero values as well, in the order
// of All. It stops at the first error and returns it.
func Transform[A, B any](s *Parts[A], f func(PartIndex, A) (B, error)) (*Parts[B], error) {
	out := &Parts[B]{}
	for p := firstList; p < numParts; p++ {
		if list := s.List(p); len(list) > 0 {
			out.SetList(p, make([]B, len(list)))
		}
	}
	for at, a := range s.All() {
		b, err := f(at, a)
		if err != nil {
			return nil, err
		}
		if at.Part < firstList {
			out.Set(at.Part, b)
		} else {
			out.List(at.Part)[at.Index] = b
		}
	}
	return out, nil
}

// Parts returns the tapes of c, nil where it has none.
func (c *Compiled) Parts() *Parts[*tape.Tape] {
	defaults := make([]*tape.Tape, len(c.Defaults))
	for i, d := range c.Defaults {
		defaults[i] = d.Tape
	}
	return &Parts[*tape.Tape]{
		single: [firstList]*tape.Tape{
			PartAsserts:    c.Asserts,
			PartStart:      c.Start,
			PartRates:      c.Rates,
			PartDelays:     c.Delays,
			PartInstants:   c.Instants,
			PartChoose:     c.Choose,
			PartGuards:     c.Guards,
			PartClocks:     c.Clocks,
			PartPriorities: c.Priorities,
			PartInitial:    c.Initial,
			PartFinal:      c.Final,
			PartPeaks:      c.Peaks,
			PartObjective:  c.Objective,
			PartOutputs:    c.Outputs,
			PartInvariants: c.Invariants,
		},
		lists: [numParts - firstList][]*tape.Tape{
			PartDefaults - firstList: defaults,
			PartAffects - firstList:  c.Affects,
			PartAtTimes - firstList:  c.AtTimes,
			PartAtEvents - firstList: c.AtEvents,
		},
	}
}

// Tapes returns an iterator over all tapes of c, in a fixed order.
func (c *Compiled) Tapes() iter.Seq2[PartIndex, *tape.Tape] {
	return func(yield func(PartIndex, *tape.Tape) bool) {
		for at, t := range c.Parts().All() {
			if t != nil && !yield(at, t) {
				return
			}
		}
	}
}
