package trust_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// metTwice is a model in which two conditions come true at t = 1. Sides by a and c differ, and it is quadratic in b.
// Both conditions move alike along (1, 1, 0) of a, c and b.
const metTwice = `
time t from 0 to 3
param a = 2
param c = 2
param b = 0.5
state y = 1
state z = 1
state x = 2
y' = 1
z' = 1
x' = (if y > c then 2 else 1)*(if z > a then 3 else 1) + b^2
objective J = final(x)
objective K = final(y)*b^3
sens { of = [J, K] wrt = [a, c, b] }
solver { rtol = 1e-10 atol = 1e-12 }
`

// TestSecondSides has second derivatives where causes coincide: those by what moves them apart are no numbers, and say
// where, and all others are.
func TestSecondSides(t *testing.T) {
	s := modeltest.Run(t, metTwice, "sens.order", "2")
	h := s.Second(0)
	for k := range 9 {
		a, b := k/3, k%3
		if apart := a < 2 && b < 2; apart != math.IsNaN(h[k]) {
			t.Errorf("element %d, %d of the Hessian is %v", a, b, h[k])
		}
	}
	if math.Abs(h[8]-6) > 1e-8 || s.HessianTrusts[8] != odes.Sound { // 3 (2 b)'
		t.Errorf("by b it is %v, %v", h[8], s.HessianTrusts[8])
	}
	if x := s.Second(1)[8]; math.Abs(x-4*6*0.5) > 1e-8 || s.HessianTrusts[17] != odes.Sound {
		t.Errorf("the other objective has %v, %v", x, s.HessianTrusts[17])
	}
	if n := len(s.OneSided.Seconds); n != 4 || len(s.OneSided.Coincidences) != 1 {
		t.Errorf("%d second derivatives have two sides at %v", n, s.OneSided.Coincidences)
	}
	var told []string
	for _, w := range s.Warnings {
		told = append(told, w.Message)
	}
	const want = "second derivatives of J that are nan have two sides: y > c and z > a come at the same time, t = 1, "
	if !strings.Contains(strings.Join(told, "\n"), want) || s.Status != "partial" {
		t.Errorf("%s is told: %q", s.Status, told)
	}
}

// TestSidesAlong has derivatives along a direction on both sides, and products with it.
func TestSidesAlong(t *testing.T) {
	for _, x := range []struct {
		v, product  []float64
		left, right float64
	}{
		{[]float64{1, 0, 0}, []float64{math.NaN(), math.NaN(), 0}, -2, -4},
		{[]float64{1, -1, 0}, []float64{math.NaN(), math.NaN(), 0}, 1, -3},
		{[]float64{1, 1, 0}, []float64{0, 0, 0}, -5, -5},
		{[]float64{0, 0, 2}, []float64{0, 0, 12}, 6, 6},
		{[]float64{0, 1, 1}, []float64{math.NaN(), math.NaN(), 6}, 2, 0},
	} {
		s := modeltest.Run(t, metTwice, "sens.hvp", strings.ReplaceAll(fmt.Sprint(x.v), " ", ", "))
		left, right := s.Slopes()
		if x.left == x.right {
			if left != nil {
				t.Errorf("along %v there is %v on the left", x.v, left)
			}
		} else if left == nil || math.Abs(left[0]-x.left)+math.Abs(right[0]-x.right) > 1e-8 || left[1] != right[1] {
			t.Errorf("along %v there are %v and %v", x.v, left, right)
		}
		for k, want := range x.product {
			got := s.Products[k]
			if !(math.Abs(got-want) < 1e-8) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("along %v the product has %v at %d", x.v, got, k)
			}
			if s.ProductTrusts != nil && (s.ProductTrusts[k] == odes.Sound) != (want == want) {
				t.Errorf("along %v the product has %v, %v, at %d", x.v, got, s.ProductTrusts[k], k)
			}
		}
		if x.left == x.right && slices.Contains(s.ProductTrusts, odes.Loose) {
			t.Errorf("along %v: %v", x.v, s.ProductTrusts)
		}
	}
}
