package optim

import "odes.dev/odes/internal/elem"

// LatinHypercube draws count points of the unit cube [0, 1)ⁿ: for every variable, each of count intervals of equal
// length holds one point, at a random place. The same seed gives the same points. See M. D. McKay, R. J. Beckman,
// W. J. Conover, Technometrics 21 (1979) 239–245, doi:10.2307/1268522.
func LatinHypercube(seed uint64, count, n int) [][]float64 {
	points := make([][]float64, count)
	for i := range points {
		points[i] = make([]float64, n)
	}
	r := elem.NewRand(seed)
	order := make([]int, count)
	for j := range n {
		for i := range order {
			k := int(r.Uint64() % uint64(i+1))
			order[i] = order[k]
			order[k] = i
		}
		for i, k := range order {
			points[i][j] = min((float64(k)+r.Float64())/float64(count), 1-0x1p-53)
		}
	}
	return points
}
