package tape

// Slopes returns, for each element of an output, its slopes by the elements of all inputs where these are not 0, by
// their numbers in order. The inputs have the values that input returns.
func Slopes(t *Tape, output string, input func(name string) []float64) []map[int]float64 {
	const step = 0x1p-560 // so small that its square is gone
	e := NewEvaluator[complex128](t)
	for _, in := range t.Inputs {
		for j, x := range input(in.Name) {
			e.Input(in.Name)[j] = complex(x, 0)
		}
	}
	list := make([]map[int]float64, len(e.Output(output)))
	n := 0
	for _, in := range t.Inputs {
		to := e.Input(in.Name)
		for j := range to {
			to[j] += complex(0, step)
			e.Run()
			to[j] = complex(real(to[j]), 0)
			for k, x := range e.Output(output) {
				if s := imag(x) / step; s != 0 {
					if list[k] == nil {
						list[k] = map[int]float64{}
					}
					list[k][n] = s
				}
			}
			n++
		}
	}
	return list
}
