package vm_test

import (
	"testing"

	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// backends lists the backends that run here.
func backends() []string { return vm.AllBackends() }

// on returns a backend as the suite wants it.
func on(name string) vmtest.Backend {
	return func(t *tape.Tape, lanes int) (vmtest.Machine, error) {
		p, err := vm.CompileOn(t, vm.Options{Lanes: lanes, Backend: name})
		if err != nil {
			return nil, err
		}
		return p.NewMachine(), nil
	}
}

func TestConform(t *testing.T) {
	for _, b := range backends() {
		t.Run("backend="+b, func(t *testing.T) { vmtest.Conform(t, on(b)) })
	}
}

// placed runs programs whose inputs lie in two vectors, some constant, and whose outputs lie in
// one. Outputs are added to what is there where the suite accumulates.
type placed struct {
	in, out  []vm.Place
	vectors  [3][]float64
	machines [2]*vm.Machine // storing, adding
	add      int
	dst      [][]float64
}

func placedOn(name string) vmtest.Backend {
	return func(t *tape.Tape, lanes int) (vmtest.Machine, error) {
		m := &placed{dst: make([][]float64, len(t.Outputs))}
		lane := tape.PerLane(t)
		var used [3]int
		room := func(vector int, v tape.Value) vm.Place {
			n := t.Shape(v).Size()
			if lane[v] {
				n *= lanes
			}
			at := used[vector] + 3
			used[vector] = at + n
			return vm.Place{Vector: vector, Offset: at}
		}
		for i := range t.Inputs {
			p := room(i%2, tape.Value(i))
			p.Constant = i%2 == 0
			m.in = append(m.in, p)
		}
		for _, o := range t.Outputs {
			m.out = append(m.out, room(2, o.Value))
		}
		for i, n := range used {
			m.vectors[i] = make([]float64, n+5)
		}
		for add := range m.machines {
			out := append([]vm.Place{}, m.out...)
			for i := range out {
				out[i].Add = add == 1
			}
			p, err := vm.CompileOn(t, vm.Options{
				Lanes: lanes, Backend: name, Inputs: append([]vm.Place{}, m.in...),
				Outputs: out,
			})
			if err != nil {
				return nil, err
			}
			m.machines[add] = p.NewMachine()
			for i := range p.Vectors() {
				m.machines[add].SetVector(i, m.vectors[i])
			}
		}
		return m, nil
	}
}

func (m *placed) SetInput(i int, x []float64) {
	copy(m.vectors[m.in[i].Vector][m.in[i].Offset:], x)
	m.machines[0].Refresh()
	m.machines[1].Refresh()
}

func (m *placed) SetOutput(i int, dst []float64, accumulate bool) {
	m.dst[i], m.add = dst, 0
	if accumulate {
		m.add = 1
	}
	copy(m.vectors[2][m.out[i].Offset:], dst)
}

func (m *placed) Run() {
	m.machines[m.add].Run()
	for i, dst := range m.dst {
		copy(dst, m.vectors[2][m.out[i].Offset:])
	}
}

func TestConformPlaced(t *testing.T) {
	for _, b := range backends() {
		t.Run("backend="+b, func(t *testing.T) { vmtest.Conform(t, placedOn(b)) })
	}
}
