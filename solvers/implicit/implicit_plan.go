package implicit

import (
	"math"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/solvers"
	"odes.dev/odes/solvers/matrices"
)

// blockPlan is what follows from the places of a Jacobian and the number of rows of a block: the pattern of
// M ⊗ I - h A ⊗ ∂f/∂y, with unknowns [row][state], and where entries go.
type blockPlan struct {
	size     int
	first    *linalg.Analysis
	order    *linalg.Order // with which every factorisation begins
	nonZeros int
	diagonal []int32                 // places of the ones of M
	beside   [][]int32               // [size] and of its other entries
	mass     *matrices.Mass          // nil for the identity
	states   [][]matrices.EntryPlace // [size·size] entries of ∂f/∂y for row i and column j of A
}

// blockOf returns the plan for blocks of size rows. All goroutines get the same one.
func blockOf(j *matrices.Jacobian, z solvers.Size, size int) (*blockPlan, error) {
	single, err := j.Plan(z)
	if err != nil {
		return nil, err
	}
	if p, ok := j.Blocks.Load(size); ok {
		return p.(*blockPlan), nil
	}
	p := &blockPlan{size: size, mass: single.Mass}
	if size == 1 {
		p.first, p.diagonal, p.states = single.First, single.Diagonal, [][]matrices.EntryPlace{single.States}
		p.nonZeros, p.beside = single.Pattern.NonZeros(), [][]int32{single.Beside}
	} else {
		var rows, cols []int
		n := z.N
		for i := range size {
			for k := range size {
				for _, s := range single.States {
					at := single.All[s.E]
					rows, cols = append(rows, i*n+int(at.Row)), append(cols, k*n+int(at.Col))
				}
			}
		}
		ones := 0
		for i := range size * n {
			if p.mass == nil || !p.mass.Unknown(i%n) {
				rows, cols = append(rows, i), append(cols, i)
				ones++
			}
		}
		if p.mass != nil {
			for i := range size {
				for e, row := range p.mass.Rows {
					rows, cols = append(rows, i*n+int(row)), append(cols, i*n+int(p.mass.Cols[e]))
				}
			}
		}
		pattern, places := linalg.NewPattern(size*n, rows, cols)
		for range size * size {
			list := make([]matrices.EntryPlace, len(single.States))
			for e, s := range single.States {
				list[e] = matrices.EntryPlace{E: s.E, Place: places[e]}
			}
			p.states, places = append(p.states, list), places[len(list):]
		}
		p.diagonal, p.nonZeros, places = places[:ones], pattern.NonZeros(), places[ones:]
		for range size {
			k := len(places) / (size - len(p.beside))
			p.beside, places = append(p.beside, places[:k]), places[k:]
		}
		if p.first, err = linalg.Analyze(pattern, linalg.Options{}); err != nil {
			return nil, matrices.ErrorOf(err)
		}
	}
	p.order = p.first.Order()
	kept, _ := j.Blocks.LoadOrStore(size, p)
	return kept.(*blockPlan), nil
}

// assemble writes M ⊗ I - h A ⊗ ∂f/∂y for a[size·size]. Row i has the entries js[i·step:].
func (p *blockPlan) assemble(to []float64, h float64, a, js []float64, step int) {
	clear(to)
	for _, at := range p.diagonal {
		to[at] = 1
	}
	for _, places := range p.beside {
		for e, at := range places {
			to[at] += p.mass.Values[e]
		}
	}
	for i := range p.size {
		j := js[i*step:]
		for k := range p.size {
			v := float64(h * a[i*p.size+k])
			if v == 0 {
				continue
			}
			for _, s := range p.states[i*p.size+k] {
				to[s.Place] = math.FMA(-v, j[s.E], to[s.Place])
			}
		}
	}
}
