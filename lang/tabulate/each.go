package tabulate

import "odes.dev/odes/lang/model"

// Each returns the numbers of each of size elements.
func Each(args []model.Expr, size int, value func(name string) []float64) [][]float64 {
	v := Evaluator{Params: value}
	list := make([][]float64, size)
	for k, a := range args {
		data := v.Eval(a).Over(nil)
		for i := range list {
			if k == 0 {
				list[i] = make([]float64, len(args))
			}
			if len(data) == 1 {
				list[i][k] = data[0]
			} else {
				list[i][k] = data[i]
			}
		}
	}
	return list
}
