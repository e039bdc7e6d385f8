package elem

// Lot draws a number from a seed and a few others: always the same one. For each it is the finaliser of SplitMix64
// (G. L. Steele, D. Lea, C. H. Flood, OOPSLA 2014).
func Lot(seed uint64, of ...int) uint64 {
	x := seed
	for _, v := range of {
		x += uint64(v) + 0x9e3779b97f4a7c15
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x >> 31
	}
	return x
}
