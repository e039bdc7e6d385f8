package steady

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"odes.dev/odes/internal/base/residue"
	"odes.dev/odes/internal/testing/seeds"
)

func lawsOf(t *testing.T, r Rates) []Law {
	t.Helper()
	laws, err := r.Laws(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return laws
}

// reaction takes and makes species, how many of each. Its rate is a constant times the species that it takes.
type reaction struct {
	takes, makes map[int]int
	catalyst     int // -1 for none
}

// network is what residues of the rates of reactions and of their derivatives follow from.
type network struct {
	n         int
	reactions []reaction
}

func (w *network) rates() Rates {
	r := Rates{N: w.n}
	x := func(k, i int) residue.Number { return residue.Hash(residue.Number(k), residue.Number(i)) }
	var of []func(k int) residue.Number // of entries
	for at, reaction := range w.reactions {
		powers := map[int]int{}
		for i, p := range reaction.takes {
			powers[i] += p
		}
		if reaction.catalyst >= 0 {
			powers[reaction.catalyst]++
		}
		net := map[int]int{}
		for i, p := range reaction.makes {
			net[i] += p
		}
		for i, p := range reaction.takes {
			net[i] -= p
		}
		times := func(c int, v residue.Number) residue.Number {
			if c < 0 {
				return residue.Neg(residue.Mul(residue.Number(-c), v))
			}
			return residue.Mul(residue.Number(c), v)
		}
		rate := func(k, by int) residue.Number { // of the reaction, or its derivative by a species
			v := x(k, w.n+at)
			for i, p := range powers {
				if i == by {
					v = residue.Mul(v, residue.Number(p))
					p--
				}
				v = residue.Mul(v, residue.Power(x(k, i), p))
			}
			return v
		}
		before := r.Sample
		r.Sample = func(k int, f []residue.Number) {
			if before != nil {
				before(k, f)
			}
			v := rate(k, -1)
			for i, c := range net {
				f[i] = residue.Add(f[i], times(c, v))
			}
		}
		for i, c := range net {
			for j := range powers {
				r.Rows, r.Cols = append(r.Rows, int32(i)), append(r.Cols, int32(j))
				of = append(of, func(k int) residue.Number { return times(c, rate(k, j)) })
			}
		}
	}
	r.Entries = func(k int, entries []residue.Number) {
		for e, f := range of {
			entries[e] = f(k)
		}
	}
	return r
}

// laws is what Laws says, by elimination of full rows: the last states are pivots.
func (w *network) laws() (list []Law) {
	r := w.rates()
	var rows [][]residue.Number
	var pivots []int
	for k := range 2*w.n + 5 {
		f := make([]residue.Number, w.n)
		r.Sample(k, f)
		for at, row := range rows {
			x := f[pivots[at]]
			for i := range f {
				f[i] = residue.Sub(f[i], residue.Mul(x, row[i]))
			}
		}
		p := slices.IndexFunc(f, func(x residue.Number) bool { return x != 0 })
		if p < 0 {
			continue
		}
		inverse := residue.Inverse(f[p])
		for i := range f {
			f[i] = residue.Mul(f[i], inverse)
		}
		rows, pivots = append(rows, f), append(pivots, p)
	}
	for j := range w.n {
		if slices.Contains(pivots, j) {
			continue
		}
		coefs := make([]residue.Number, w.n)
		coefs[j] = 1
		for at, row := range slices.Backward(rows) {
			for i := range row {
				if i != pivots[at] {
					coefs[pivots[at]] = residue.Sub(coefs[pivots[at]], residue.Mul(row[i], coefs[i]))
				}
			}
		}
		states, values := []int{j}, []residue.Number{1}
		for i, c := range coefs {
			if i != j && c != 0 {
				states, values = append(states, i), append(values, c)
			}
		}
		if l, ok := lawOf(states, values); ok {
			list = append(list, l)
		}
	}
	return list
}

var lawNetworks = flag.Int("laws.networks", 150, "random networks of TestLawsOfNetworks")

// TestLawsOfNetworks compares laws that are found by derivatives with those of full elimination, and with those of
// rates alone, on random networks: closed ones, open ones, some in pieces, with a hub, with catalysts.
func TestLawsOfNetworks(t *testing.T) {
	random := rand.New(rand.NewPCG(seeds.Of(t, 1), 3))
	with, most := 0, 0
	for trial := range *lawNetworks {
		w := draw(random)
		r := w.rates()
		want := w.laws()
		rates := r
		rates.Entries = nil
		for how, got := range map[string][]Law{"by derivatives": lawsOf(t, r), "by rates": lawsOf(t, rates)} {
			if !reflect.DeepEqual(got, want) {
				t.Fatalf("network %d, %s: %v, want %v\n%v", trial, how, got, want, w)
			}
		}
		for _, l := range want { // no reaction changes its sum
			for _, reaction := range w.reactions {
				sum := 0.0
				for k, i := range l.States {
					sum += l.Coefs[k] * float64(reaction.makes[i]-reaction.takes[i])
				}
				if sum != 0 {
					t.Fatalf("network %d: %v is no law", trial, l)
				}
			}
		}
		if len(want) > 0 {
			with++
		}
		most = max(most, len(want))
		if n, err := r.Sums(t.Context()); err != nil || n < len(want) {
			t.Fatalf("network %d has %d sums, %v, and %d laws", trial, n, err, len(want))
		}
	}
	if *lawNetworks >= 20 && (with < *lawNetworks/4 || most < 3) {
		t.Errorf("%d of %d networks have laws, %d at most", with, *lawNetworks, most)
	}
}

// draw returns a random network.
func draw(random *rand.Rand) *network {
	w := &network{n: 2 + random.IntN(40)}
	pieces := 1 + random.IntN(3)
	hub := random.IntN(4) == 0
	open := random.IntN(3) == 0
	for range w.n/2 + random.IntN(w.n) {
		piece := random.IntN(pieces)
		species := func() int {
			i := random.IntN(w.n)
			if i = i - i%pieces + piece; i >= w.n || hub && random.IntN(3) == 0 {
				i = piece % w.n
			}
			return i
		}
		x := reaction{map[int]int{}, map[int]int{}, -1}
		for range 1 + random.IntN(2) {
			x.takes[species()] = 1 + random.IntN(2)
		}
		for range 1 + random.IntN(2) {
			x.makes[species()] = 1 + random.IntN(3)
		}
		if random.IntN(4) == 0 {
			x.catalyst = species()
		}
		if open && random.IntN(6) == 0 {
			x.makes = nil
		}
		w.reactions = append(w.reactions, x)
	}
	return w
}

// TestLawsOfLargeSystems counts the work of elimination: it grows as systems do, or, on a square, little faster.
func TestLawsOfLargeSystems(t *testing.T) {
	turn := func(a, b int) reaction { return reaction{map[int]int{a: 1}, map[int]int{b: 1}, -1} }
	for _, c := range []struct {
		name   string
		n      int
		laws   int
		most   int // elements per state
		linked func(i, n int) []reaction
	}{
		{"chain", 2000, 0, 60, func(i, n int) []reaction {
			if i+1 == n {
				return []reaction{{map[int]int{i: 1}, nil, -1}}
			}
			return []reaction{turn(i, i+1)}
		}},
		{"ring", 2000, 1, 60, func(i, n int) []reaction { return []reaction{turn(i, (i+1)%n)} }},
		{"star", 2000, 1, 60, func(i, _ int) []reaction {
			if i == 0 {
				return nil
			}
			return []reaction{turn(0, i), turn(i, 0)}
		}},
		{"pairs", 2000, 1000, 60, func(i, _ int) []reaction { return []reaction{turn(i, i^1)} }},
		{"two chains", 2000, 2, 60, func(i, n int) []reaction {
			if i+2 >= n {
				return nil
			}
			return []reaction{turn(i, i+2)}
		}},
		{"grid", 1600, 1, 6000, func(i, n int) (list []reaction) {
			if i%40 < 39 {
				list = append(list, turn(i, i+1), turn(i+1, i))
			}
			if i+40 < n {
				list = append(list, turn(i, i+40), turn(i+40, i))
			}
			return list
		}},
	} {
		w := &network{n: c.n}
		for i := range c.n {
			w.reactions = append(w.reactions, c.linked(i, c.n)...)
		}
		work := 0
		r := w.rates()
		r.worked = &work
		if laws := lawsOf(t, r); len(laws) != c.laws {
			t.Errorf("%s: %d laws, want %d", c.name, len(laws), c.laws)
		}
		if t.Logf("%s: %d elements per state", c.name, work/c.n); work > c.most*c.n {
			t.Errorf("%s: %d elements per state, at most %d wanted", c.name, work/c.n, c.most)
		}
	}
}

// TestLawsCancelled ends a search that is under way.
func TestLawsCancelled(t *testing.T) {
	const n = 300
	ctx, cancel := context.WithCancel(t.Context())
	samples := 0
	r := Rates{N: n, Sample: func(k int, f []residue.Number) {
		samples++
		if k == 200 {
			cancel()
		}
		for i := range f {
			f[i] = residue.Hash(residue.Number(k), residue.Number(i))
		}
	}}
	if laws, err := r.Laws(ctx); !errors.Is(err, context.Canceled) || samples > 250 {
		t.Errorf("after %d samples: %d laws, %v", samples, len(laws), err)
	}
}

func (w *network) String() (s string) {
	for _, r := range w.reactions {
		s += fmt.Sprintf("%v -> %v by %d\n", r.takes, r.makes, r.catalyst)
	}
	return s
}
