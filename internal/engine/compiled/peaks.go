package compiled

import (
	"slices"
	"sync"

	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// PeaksOf returns the elements of the functional vector that are largest values (max_over) and that objectives read.
// Looking for those that nobody asked for would cost time.
func (m *Model) PeaksOf(objectives []*model.Objective) []int {
	return m.functionals(model.MaxOver, objectives)
}

// IntegralsOf returns the quadratures that objectives read. They have the same places in the functional vector.
func (m *Model) IntegralsOf(objectives []*model.Objective) []int {
	return m.functionals(model.Integral, objectives)
}

// functionals returns the elements of the functional vector that are of a kind and that objectives read; never nil.
func (m *Model) functionals(kind model.FunctionalKind, objectives []*model.Objective) []int {
	read := map[source.Span]bool{}
	for i, o := range objectives {
		if i > 0 && o == objectives[i-1] {
			continue
		}
		model.Walk(func(e model.Expr) bool {
			if f, ok := e.(*model.Functional); ok && f.Kind == kind {
				read[f.Span()] = true
			}
			return true
		}, o.Value)
	}
	list := []int{}
	for k := range m.Compiled.Functionals {
		f := &m.Compiled.Functionals[k]
		if f.Kind != kind || !read[f.Span] {
			continue
		}
		for j := range f.Shape.Size() {
			list = append(list, f.Offset+j)
		}
	}
	return list
}

// ManyPeaks is how many functionals are read together where one of them is wanted: programs of few take hardly less
// time, and each has to be compiled.
const ManyPeaks = 16

// peakGroup reads some functionals among the peaks.
type peakGroup struct {
	Heights, Slopes *Program // Slopes is nil for none
}

// peakGroups are the groups of a kit, by their numbers. They are compiled when they are first wanted.
type peakGroups struct {
	mu   sync.Mutex
	list map[int]peakGroup
}

// PeakGroup returns the group of a functional.
func (k *Kit) PeakGroup(m *Model, group int) (peakGroup, error) {
	k.peaks.mu.Lock()
	defer k.peaks.mu.Unlock()
	if g, ok := k.peaks.list[group]; ok {
		return g, nil
	}
	var made [2]*Program
	for i, t := range [2]*tape.Tape{k.Value.Get(tapec.PartPeaks).Tape, k.SlopesTape()} {
		if t == nil {
			continue
		}
		part := tapec.Only(t, func(output string) bool {
			return m.FunctionalAt(k.Layout.Part(tapec.MustName(output)).Offset)/ManyPeaks == group
		})
		if len(part.Outputs) == 0 {
			continue
		}
		var err error
		if made[i], err = k.Family.Program(part, k.Layout.Find, 1, nil); err != nil {
			return peakGroup{}, err
		}
	}
	if k.peaks.list == nil {
		k.peaks.list = map[int]peakGroup{}
	}
	k.peaks.list[group] = peakGroup{made[0], made[1]}
	return k.peaks.list[group], nil
}

// PeaksAt returns where the values of the peaks and their slopes are among the readings at a sample; -1 for slopes that
// are 0.
func (k *Kit) PeaksAt(peaks []int) (at [2][]int) {
	first := 0
	for i, t := range [2]*tape.Tape{k.Value.Get(tapec.PartPeaks).Tape, k.SlopesTape()} {
		at[i] = slices.Repeat([]int{-1}, len(peaks))
		if t == nil {
			continue
		}
		for _, o := range t.Outputs {
			p := k.Layout.Part(tapec.MustName(o.Name))
			for j, element := range peaks {
				if element >= p.Offset && element < p.Offset+p.Len {
					at[i][j] = first + element - p.Offset
				}
			}
			first += t.Shape(o.Value).Size()
		}
	}
	return at
}
