package vm

import (
	"maps"
	"slices"

	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/tape"
)

// Narrow names the backend of native code without AVX-512, in tests.
const Narrow = "native without AVX-512"

// AllBackends lists the backends of this machine, with Narrow if it differs from the others.
func AllBackends() []string {
	list := Backends()
	if list[len(list)-1] == simd.Native && simd.Wide() && machine.Supports512() {
		list = append(list, Narrow)
	}
	return list
}

// CompileOn is Compile for any backend of AllBackends.
func CompileOn(t *tape.Tape, opts Options) (*Program, error) {
	if opts.Backend == Narrow {
		opts.Backend, opts.narrow = simd.Native, true
	}
	return Compile(t, opts)
}

// WithoutKernel makes ops ones that no kernel computes, until restore is called.
func WithoutKernel(ops ...tape.Op) (restore func()) {
	saved := simdOps
	for _, op := range ops {
		simdOps[op] = simd.Copy
	}
	return func() { simdOps = saved }
}

// Misnamed lists the operations of package simd that serve no op: neither one of the same name nor an integer power.
func Misnamed() (list []simd.Op) {
	for op := simd.Copy + 1; op <= simd.FMA; op++ {
		power := slices.Contains(slices.Collect(maps.Values(powers)), op)
		if !slices.Contains(simdOps[:], op) && !power {
			list = append(list, op)
		}
	}
	return list
}

// SmallParts makes the parts that a team shares small, until restore is called.
func SmallParts() (restore func()) {
	nest, cut := nestWork, cutWork
	nestWork, cutWork = 1<<10, 1<<9
	return func() { nestWork, cutWork = nest, cut }
}

// Shares reports whether a team can share some of the program's steps.
func (p *Program) Shares() bool { return p.shares }

// InGo returns how many steps of the program only Go can run.
func (p *Program) InGo() (n int) {
	for _, s := range p.steps {
		t, ok := s.(*thread)
		if !ok {
			n++
			continue
		}
		for _, s := range t.steps {
			if s, ok := s.(plainSteps); ok {
				n += len(s)
			}
		}
	}
	return n
}

// HaltWork makes programs of n operations heed a Halt, until restore is called.
func HaltWork(n int) (restore func()) {
	saved := haltWork
	haltWork = n
	return func() { haltWork = saved }
}

// Watched puts a step before each step of the program that tells how many have run. It returns how many there are.
func (p *Program) Watched(tell func(n int)) int {
	var all []step
	for i, s := range p.steps {
		all = append(all, toldStep{tell, i}, s)
	}
	p.steps, p.only = all, nil
	return len(all) / 2
}

type toldStep struct {
	tell func(n int)
	n    int
}

func (s toldStep) run(*Machine) { s.tell(s.n) }
