package steady

import (
	"math"
	"slices"

	"odes.dev/odes/internal/base/residue"
	"odes.dev/odes/solvers"
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
func (l Law) Of(m *solvers.Mass) Law {
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

// Laws finds all conserved quantities of n states, but for those whose coefficients depend on parameters. The function
// sample writes the rates at random states and parameters, other ones for each k. There is no rounding: a combination
// of rates that vanishes at all samples vanishes everywhere, but for a chance of about 2⁻⁵⁰.
//
// In place of the rate of an unknown, one of those that ascend in unknowns, stands what its algebraic equation says to
// be zero. A sum of rates that is so many times these is zero as well: a law has no part of its own there, and none has
// an unknown as its pivot, since these are eliminated first.
//
// Rates at a sample are an equation for the coefficients. Equations are eliminated as they come, until three in a row
// say nothing new.
func Laws(n int, unknowns []int32, sample func(k int, rates []residue.Number)) []Law {
	rows, pivots := eliminate(n, unknowns, sample)
	var laws []Law
	for j := range n {
		if slices.Contains(pivots, j) || slices.Contains(unknowns, int32(j)) {
			continue
		}
		coefs := make([]residue.Number, n)
		coefs[j] = 1
		for r, row := range slices.Backward(rows) {
			sum := residue.Number(0)
			for i, x := range row {
				if x != 0 && coefs[i] != 0 {
					sum = residue.Add(sum, residue.Mul(x, coefs[i]))
				}
			}
			coefs[pivots[r]] = residue.Neg(sum)
		}
		for _, u := range unknowns {
			coefs[u] = 0
		}
		if l, ok := lawOf(coefs, j); ok {
			laws = append(laws, l)
		}
	}
	return laws
}

// Sums returns how many conserved quantities there are of which the coefficients are any numbers.
func Sums(n int, unknowns []int32, sample func(k int, rates []residue.Number)) int {
	_, pivots := eliminate(n, unknowns, sample)
	left := 0
	for j := range n {
		if !slices.Contains(pivots, j) && !slices.Contains(unknowns, int32(j)) {
			left++
		}
	}
	return left
}

// eliminate returns rows that span the rates of all samples: 1 in column pivots[r] of row r, 0 in those of the rows
// before.
func eliminate(
	n int, unknowns []int32, sample func(k int, rates []residue.Number),
) (rows [][]residue.Number, pivots []int) {
	const enough = 3
	for k, idle := 0, 0; idle < enough && len(rows) < n; k++ {
		f := make([]residue.Number, n)
		sample(k, f)
		for r, row := range rows {
			if x := f[pivots[r]]; x != 0 {
				subtract(f, x, row)
			}
		}
		p := slices.IndexFunc(f, func(x residue.Number) bool { return x != 0 })
		for _, u := range unknowns {
			if f[u] != 0 {
				p = int(u)
				break
			}
		}
		if p < 0 {
			idle++
			continue
		}
		idle = 0
		inverse := residue.Inverse(f[p])
		for i, x := range f {
			f[i] = residue.Mul(x, inverse)
		}
		rows, pivots = append(rows, f), append(pivots, p)
	}
	return rows, pivots
}

// subtract subtracts x times row from f.
func subtract(f []residue.Number, x residue.Number, row []residue.Number) {
	for i, v := range row {
		if v != 0 {
			f[i] = residue.Sub(f[i], residue.Mul(x, v))
		}
	}
}

// lawOf returns the law with these coefficients, made whole numbers without a common factor. It reports false where
// they are no fractions of small numbers.
func lawOf(coefs []residue.Number, pivot int) (Law, bool) {
	l := Law{Pivot: pivot}
	var nums, dens []int64
	common := int64(1)
	for i, c := range coefs {
		if c == 0 {
			continue
		}
		num, den, ok := residue.Fraction(c)
		if !ok {
			return l, false
		}
		l.States, nums, dens = append(l.States, i), append(nums, num), append(dens, den)
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
