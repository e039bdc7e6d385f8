package run

import (
	"fmt"

	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/population"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
)

// What is wrong with the numbers that a random effect is distributed by is said in one place.

// undistributed says why values of e.Scale make no distribution, and what to do; "" where they make one.
func undistributed(e *model.Random, values []float64) string {
	name := e.Sym.Name
	const instead = "; to do without the effect, write let %s = 0 in place of random"
	if !e.Matrix {
		for i, sd := range values {
			if sd > 0 {
				continue
			}
			if len(values) > 1 {
				name = compiled.ElementName(name, e.Sym.Type.Shape, i)
			}
			return fmt.Sprintf("random effects have no density: the standard deviation of %s is %s, and is to be "+
				"positive"+instead, name, diag.Number(sd), e.Sym.Name)
		}
		return ""
	}
	n := e.Scale.Type().Shape[0]
	why := population.Wrong(values, n)
	if why == "" {
		return ""
	}
	matrix := "the matrix of covariances of " + name
	if ref, is := e.Scale.(*model.Ref); is {
		matrix = ref.Sym.Name
	}
	return fmt.Sprintf("random effects have no density: %s is no matrix of covariances of %s: %s; set it to one that "+
		"is symmetric and positive definite", matrix, name, why)
}

// checkDistributions refuses params by which random effects would have no density: all of one experiment alone, and
// matrices that are not symmetric, which an integral could not tell.
func checkDistributions(m *model.Model, param func(name string) []float64, l *diag.List) {
	for _, e := range append(m.Individual, m.Randoms...) {
		ref, is := e.Scale.(*model.Ref)
		if !is || ref.Sym.Kind != model.ParamSymbol {
			continue
		}
		values := param(ref.Sym.Name)
		if len(m.Individual) == 0 && !(e.Matrix && asymmetric(values, e.Scale.Type().Shape[0])) {
			continue
		}
		if why := undistributed(e, values); why != "" {
			l.Errorf(settings.CodeSetting, e.Span, "%s", why)
		}
	}
}

func asymmetric(w []float64, n int) bool {
	for i := range n {
		for j := range i {
			if w[i*n+j] != w[j*n+i] {
				return true
			}
		}
	}
	return false
}
