package steady

import (
	"cmp"
	"context"
	"math"
	"slices"

	"odes.dev/odes/internal/base/linalg"
	"odes.dev/odes/internal/base/residue"

	"odes.dev/odes/solvers/matrices"
)

// Law is a conserved quantity Σ Coefs[k]·y[States[k]] with whole numbers as coefficients: whatever the state and the
// parameters are, the same sum of the rates is zero. States ascend.
type Law struct {
	States []int
	Coefs  []float64
	// Pivot is the state whose rate follows from the others by the law. No two laws have the same, and no law reads the
	// pivot of another.
	Pivot int
}

// Total returns the conserved quantity at y.
func (l *Law) Total(y []float64) float64 {
	sum := 0.0
	for k, i := range l.States {
		sum = math.FMA(l.Coefs[k], y[i], sum)
	}
	return sum
}

// Of returns the law of a system with a mass matrix: what is conserved is the sum of M y, not of y.
func (l Law) Of(m *matrices.Mass) Law {
	at := map[int]float64{}
	for k, i := range l.States {
		at[i] = l.Coefs[k]
	}
	out := Law{States: slices.Clone(l.States), Coefs: slices.Clone(l.Coefs), Pivot: l.Pivot}
	more := map[int]float64{}
	for e, row := range m.Rows {
		if c := at[int(row)]; c != 0 {
			more[int(m.Cols[e])] += float64(c * m.Values[e])
		}
	}
	for _, i := range m.Unknowns { // they are no part of a law but by M
		if c := more[int(i)]; c != 0 {
			k, _ := slices.BinarySearch(out.States, int(i))
			out.States, out.Coefs = slices.Insert(out.States, k, int(i)), slices.Insert(out.Coefs, k, c)
		}
	}
	return out
}

// Rates are the rates of a system, at random states and parameters: what laws are found by.
type Rates struct {
	N int // states
	// Unknowns ascend. In place of the rate of an unknown stands what its algebraic equation says to be zero.
	Unknowns []int32
	// Sample writes the rates at random states and parameters, other ones for each k.
	Sample func(k int, rates []residue.Number)
	// Entries, if not nil, does the same with the entries of the derivatives of the rates by the states, whose places
	// are Rows and Cols. Entries at the same place add up; those in rows and columns from N on are not looked at.
	Entries    func(k int, entries []residue.Number)
	Rows, Cols []int32

	worked *int // elements of rows that elimination subtracted, for tests; may be nil
}

// Laws finds all conserved quantities, but for those whose coefficients depend on parameters. There is no rounding: a
// combination of rates that vanishes at all samples vanishes everywhere, but for a chance of about 2⁻⁵⁰.
//
// A sum of rates that is so many times what algebraic equations say to be zero is zero as well: a law has no part of
// its own in unknowns, and none has one as its pivot. The pivots are the last states that can be: which they are does
// not depend on how the laws were found.
//
// The error is that of ctx.
func (r Rates) Laws(ctx context.Context) ([]Law, error) {
	found, err := r.combinations(ctx)
	if err != nil {
		return nil, err
	}
	var laws []Law
	for _, row := range found {
		cols, coefs := []int{int(row.pivot)}, []residue.Number{1}
		for i, j := range row.cols {
			if !r.unknown(j) {
				cols, coefs = append(cols, int(j)), append(coefs, row.values[i])
			}
		}
		if l, ok := lawOf(cols, coefs); ok {
			laws = append(laws, l)
		}
	}
	return laws, nil
}

// Sums returns how many conserved quantities there are of which the coefficients are any numbers.
func (r Rates) Sums(ctx context.Context) (int, error) {
	found, err := r.combinations(ctx)
	return len(found), err
}

func (r Rates) unknown(j int32) bool {
	_, found := slices.BinarySearch(r.Unknowns, j)
	return found
}

// combinations returns the combinations of rates that vanish, each with a 1 at its pivot where all others have 0.
// Pivots ascend. Those of which the pivot could only be an unknown are left out.
func (r Rates) combinations(ctx context.Context) ([]combination, error) {
	equations, err := r.equations(ctx)
	if err != nil {
		return nil, err
	}
	unknown := make([]bool, r.N)
	for _, u := range r.Unknowns {
		unknown[u] = true
	}
	last := newEchelon(r.N, func(a, b int32) bool {
		if unknown[a] != unknown[b] {
			return unknown[b]
		}
		return a > b
	})
	if err := equations.solutions(ctx, last); err != nil {
		return nil, err
	}
	if err := last.finish(ctx); err != nil {
		return nil, err
	}
	if r.worked != nil {
		*r.worked = equations.worked + last.worked
	}
	list := slices.DeleteFunc(last.rows, func(c combination) bool { return unknown[c.pivot] })
	slices.SortFunc(list, func(a, b combination) int { return cmp.Compare(a.pivot, b.pivot) })
	return list, nil
}

// equations returns rows that span the rates of all samples.
//
// A combination of rates that vanishes everywhere has no derivative by any state. Each state gives one equation for the
// coefficients, in which only the rates that read the state are: in large systems, few. Those by all states and samples
// come first, until a sample says little that is new; there are few left for rates at samples, of which each is an
// equation for all coefficients. They end when three in a row say nothing new.
func (r Rates) equations(ctx context.Context) (*echelon, error) {
	const enough, little = 3, 16
	rank := make([]int32, r.N)
	for i := range rank {
		rank[i] = int32(i)
	}
	var columns [][]int32 // of each state: places of entries
	var order []int32     // of states and rates, such that elimination fills little
	if r.Entries != nil {
		columns = make([][]int32, r.N)
		for e, j := range r.Cols {
			if int(j) < r.N && int(r.Rows[e]) < r.N {
				columns[j] = append(columns[j], int32(e))
			}
		}
		order = linalg.MinimumDegree(r.N, r.Rows, r.Cols)
		for k, i := range order {
			rank[i] = int32(k)
		}
	}
	e := newEchelon(r.N, func(a, b int32) bool { return rank[a] < rank[b] })
	values := make([]residue.Number, len(r.Rows))
	for k, more := 0, r.N; r.Entries != nil && more >= little && len(e.rows) < r.N; k++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r.Entries(k, values)
		more = -len(e.rows)
		for _, j := range order {
			for _, at := range columns[j] {
				e.add(r.Rows[at], values[at])
			}
			if _, err := e.insert(ctx); err != nil {
				return nil, err
			}
		}
		more += len(e.rows)
	}
	rates := make([]residue.Number, r.N)
	for k, idle := 0, 0; idle < enough && len(e.rows) < r.N; k++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		clear(rates)
		r.Sample(k, rates)
		for i, x := range rates {
			e.add(int32(i), x)
		}
		switch independent, err := e.insert(ctx); {
		case err != nil:
			return nil, err
		case independent:
			idle = 0
		default:
			idle++
		}
	}
	return e, nil
}

// lawOf returns the law with these coefficients, that of the pivot first, made whole numbers without a common factor.
// It reports false where they are no fractions of small numbers.
func lawOf(states []int, coefs []residue.Number) (Law, bool) {
	l := Law{Pivot: states[0]}
	order := make([]int, len(states))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(states[a], states[b]) })
	var nums, dens []int64
	common := int64(1)
	for _, i := range order {
		num, den, ok := residue.Fraction(coefs[i])
		if !ok {
			return l, false
		}
		l.States, nums, dens = append(l.States, states[i]), append(nums, num), append(dens, den)
		if common = common / divisor(common, den) * den; common > 1<<30 {
			return l, false
		}
	}
	factor := int64(0)
	for k := range nums {
		nums[k] *= common / dens[k]
		factor = divisor(factor, nums[k])
	}
	for _, x := range nums {
		l.Coefs = append(l.Coefs, float64(x/factor))
	}
	return l, true
}

// divisor returns the greatest common divisor.
func divisor(a, b int64) int64 {
	for b != 0 {
		a, b = b, a%b
	}
	return max(a, -a)
}

// Readable returns the same laws in a form that is easier to read: without negative coefficients where adding another
// law some times leaves none, as S + ES + P in place of S + P - E. A law may read the pivots of others then.
func Readable(laws []Law) []Law {
	out := slices.Clone(laws)
	for i := range out {
		if !slices.ContainsFunc(out[i].Coefs, negative) {
			continue
		}
		for j := range out { // as they are by now, so that no two become the same
			if l, ok := out[i].with(&out[j]); i != j && ok {
				out[i] = l
				break
			}
		}
	}
	return out
}

func negative(x float64) bool { return x < 0 }

// with returns l plus as many times o as leaves no negative coefficient, if there is such a number.
func (l *Law) with(o *Law) (Law, bool) {
	coefs := map[int]float64{}
	times := 0.0
	for k, i := range l.States {
		coefs[i] = l.Coefs[k]
		if at := slices.Index(o.States, i); negative(l.Coefs[k]) && at >= 0 && o.Coefs[at] > 0 {
			times = max(times, math.Ceil(-l.Coefs[k]/o.Coefs[at]))
		}
	}
	for k, i := range o.States {
		coefs[i] = math.FMA(times, o.Coefs[k], coefs[i])
	}
	out := Law{Pivot: l.Pivot}
	for i, c := range coefs {
		if c != 0 {
			out.States = append(out.States, i)
		}
	}
	slices.Sort(out.States)
	for _, i := range out.States {
		out.Coefs = append(out.Coefs, coefs[i])
	}
	return out, !slices.ContainsFunc(out.Coefs, negative)
}

// Coefficients lists the params that are coefficients of conserved sums: those without which there are fewer. Sums
// counts them where all params stay, or all but one; known is how many there are whatever the params.
func Coefficients(known int, params []string, sums func(moves string) (int, error)) (list []string, err error) {
	all, err := sums("")
	if err != nil || all == known {
		return nil, err
	}
	for _, name := range params {
		some, err := sums(name)
		if err != nil {
			return nil, err
		}
		if some < all {
			list = append(list, name)
		}
	}
	return list, nil
}
