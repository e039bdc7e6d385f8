package vm_test

import (
	"fmt"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/base/team"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// byTeam is a backend whose machines a team of so many shares. look sees their programs.
func byTeam(name string, size int, look func(*vm.Program)) vmtest.Backend {
	return func(t *tape.Tape, lanes int) (vmtest.Machine, error) {
		p, err := vm.CompileOn(t, vm.Options{Lanes: lanes, Backend: name})
		if err != nil {
			return nil, err
		}
		look(p)
		m := p.NewMachine()
		m.Share(team.New(size))
		return m, nil
	}
}

// TestShared runs random tapes on long arrays by teams. The bits are those of one goroutine.
//
//odes:goroutines
func TestShared(t *testing.T) {
	defer vm.SmallParts()()
	r := elem.NewRand(12)
	shared := map[string]int{}
	rounds := 60
	if testing.Short() {
		rounds = 20
	}
	for round := range rounds {
		tp := randomGrid(r, 4+round/2)
		lanes := []int{1, 2, 3, 4, 8}[round%5]
		in := vmtest.Inputs(tp, lanes, uint64(round), round%4 == 0)
		for _, name := range backends() {
			b := byTeam(name, 2+round%3, func(p *vm.Program) {
				if p.Shares() {
					shared[name]++
				}
			})
			if err := vmtest.Agree(b, tp, lanes, in, round%2 == 0); err != nil {
				t.Fatalf("%s, %d lanes, round %d: %v\n%s", name, lanes, round, err, tp)
			}
		}
	}
	for _, name := range backends()[1:] { // the one in Go shares nothing
		if shared[name] < 2*rounds/3 {
			t.Errorf("%s: only %d tapes were shared", name, shared[name])
		}
	}
}

// TestSharedProducts shares products of matrices with one vector, and outer products.
//
//odes:goroutines
func TestSharedProducts(t *testing.T) {
	defer vm.SmallParts()()
	tp := parse(t, `tape products
 in A [203 57]
 in B [57 203]
 in x [57]
 in z [203]
 in l [57] lane
 %5 = matmul A x : [203]
 %6 = matmul A z ta : [57]
 %7 = matmul x B : [203]
 %8 = matmul z B tb : [57]
 %9 = outer z x : [203 57]
 %10 = outer z l : [203 57] lane
 %11 = matmul A l : [203] lane
 out a %5
 out b %6
 out c %7
 out d %8
 out e %9
 out f %10
 out g %11
`)
	for _, name := range backends() {
		for _, constant := range []bool{false, true} {
			for _, lanes := range []int{1, 4, 8} {
				b := func(tp *tape.Tape, lanes int) (vmtest.Machine, error) {
					opts := vm.Options{Lanes: lanes, Backend: name}
					if !constant {
						p, err := vm.CompileOn(tp, opts)
						if err != nil {
							return nil, err
						}
						if name != "generic" && !p.Shares() {
							t.Errorf("%s shares nothing", name)
						}
						m := p.NewMachine()
						m.Share(team.New(3))
						return m, nil
					}
					m, err := placedOn(name)(tp, lanes)
					if err == nil {
						for _, one := range m.(*placed).machines {
							one.Share(team.New(3))
						}
					}
					return m, err
				}
				for seed := range uint64(5) {
					in := vmtest.Inputs(tp, lanes, seed, false)
					if err := vmtest.Agree(b, tp, lanes, in, seed%2 == 0); err != nil {
						t.Fatalf("%s, %d lanes: %v", name, lanes, err)
					}
				}
			}
		}
	}
}

// randomNetwork is the rates of a network of n states, each a number by itself: most reactions are of neighbours, a few
// of states far apart, and some rates read the sum of a few states that all others may read. Outputs are added to their
// place or not, and some are states as they are.
func randomNetwork(r *elem.Rand, n int) *tape.Tape {
	b := tape.NewBuilderWith("network", 0)
	pick := func(k int) int { return int(r.Uint64() % uint64(k)) }
	var y, k []tape.Value
	for i := range n {
		y = append(y, b.Input(fmt.Sprintf("y%d", i), nil, pick(3) == 0))
		k = append(k, b.Input(fmt.Sprintf("k%d", i), nil, false))
	}
	common := b.Add(y[0], b.Mul(y[n/2], y[n-1]))
	rates := make([]tape.Value, n)
	for i := range rates {
		rates[i] = b.Scalar(0.5)
	}
	for i := range 4 * n {
		from, with, to := i%n, (i+pick(4))%n, (i+pick(4))%n
		if pick(50) == 0 {
			with = pick(n)
		}
		v := b.Mul(k[from], b.Mul(y[from], y[with]))
		switch pick(12) {
		case 0:
			v = b.Op1(tape.Tanh, v)
		case 1:
			v = b.Div(v, b.Add(common, b.Scalar(2)))
		case 2:
			v = b.Select(b.Op2(tape.Less, y[from], y[with]), v, k[to])
		}
		rates[from], rates[to] = b.Sub(rates[from], v), b.Add(rates[to], v)
	}
	for i, v := range rates {
		b.Output(fmt.Sprintf("f%d", i), v)
	}
	b.Output("common", common)
	b.Output("state", y[3])
	return b.Tape()
}

// TestSharedPlaces: parts do not add to the same place, since the order decides what that makes.
func TestSharedPlaces(t *testing.T) {
	defer vm.SmallParts()()
	if !slices.Contains(backends(), simd.Native) {
		t.Skip("no native code, no parts")
	}
	tp := randomNetwork(elem.NewRand(5), 300)
	for _, apart := range []int{2, 1, 0} {
		var in, out []vm.Place
		for i := range tp.Inputs {
			in = append(in, vm.Place{Offset: 2 * i})
		}
		for i := range tp.Outputs {
			out = append(out, vm.Place{Vector: 1, Offset: apart * i, Add: true})
		}
		p, err := vm.Compile(tp, vm.Options{Lanes: 2, Inputs: in, Outputs: out})
		if err != nil {
			t.Fatal(err)
		}
		if p.Shares() != (apart == 2) {
			t.Errorf("outputs of two lanes that are %d apart: in parts: %t", apart, p.Shares())
		}
	}
}

// TestSharedParts runs the rates of networks, whose tapes are cut in parts, by one goroutine and by teams.
//
//odes:goroutines
func TestSharedParts(t *testing.T) {
	defer vm.SmallParts()()
	r := elem.NewRand(5)
	for round := range 12 {
		tp := randomNetwork(r, 300+20*round)
		lanes := []int{1, 2, 3, 8}[round%4]
		in := vmtest.Inputs(tp, lanes, uint64(round), round%4 == 0)
		for _, name := range backends() {
			b := byTeam(name, 1+round%4, func(p *vm.Program) {
				if cut := p.Shares(); cut != (name == simd.Native || name == vm.Narrow) {
					t.Errorf("%s, %d lanes, round %d: cut in parts: %t", name, lanes, round, cut)
				}
			})
			if err := vmtest.Agree(b, tp, lanes, in, round%2 == 0); err != nil {
				t.Fatalf("%s, %d lanes, round %d: %v", name, lanes, round, err)
			}
		}
	}
}
