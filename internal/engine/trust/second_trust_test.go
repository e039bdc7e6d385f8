package trust_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// TestTrustOfSecondDerivatives has an integral over an oscillation that decays. One of its second derivatives has few
// digits, beside others that are right: each has its own grade.
func TestTrustOfSecondDerivatives(t *testing.T) {
	const k, m, w, T = 0.1, 0.9, 2 * math.Pi, 56.0
	s := modeltest.Run(t, "time t from 0 to 56\nparam k = 0.1, m = 0.9\nstate A = 100\nA' = -k*A\n"+
		"objective J = integral(A*(1 + m*cos(2*pi*t)))\nobjective K = k^2*m", "sens.order", "2")
	// J = A(0) ∫ e^(-kt) (1 + m cos wt) dt, where wT is a multiple of 2π. Its derivatives by k come from differences.
	f := func(k float64) float64 { return (1 - math.Exp(-k*T)) * k / (k*k + w*w) }
	g := func(k float64) float64 { return (1 - math.Exp(-k*T)) / k }
	const h = 1e-4
	of := func(i, j int) int { return i*s.Columns + j }
	for at, want := range map[int]float64{
		of(0, 1): 100 * (f(k+h) - f(k-h)) / (2 * h),
		of(0, 0): 100 * ((g(k+h) - 2*g(k) + g(k-h)) + m*(f(k+h)-2*f(k)+f(k-h))) / (h * h),
		of(0, 2): (g(k+h) - g(k-h) + m*(f(k+h)-f(k-h))) / (2 * h),
	} {
		got, grade := s.Second(0)[at], odes.Sound
		if s.HessianTrusts != nil {
			grade = s.HessianTrusts[at]
		}
		if wrong := math.Abs(got-want) > 2e-3*math.Abs(want); wrong != (grade == odes.Loose) || grade == odes.Lost {
			t.Errorf("element %d is %v, want %v, and %v", at, got, want, grade)
		}
	}
	if s.HessianTrusts == nil || s.HessianTrusts[of(0, 1)] != odes.Loose {
		t.Errorf("d²J/dk dm has no mark: %v", s.HessianTrusts)
	}
	for k, grade := range s.HessianTrusts[s.Columns*s.Columns:] {
		if grade != odes.Sound {
			t.Errorf("element %d of the Hessian of K is %v", k, grade)
		}
	}
}

// TestSecondDerivativesAtKinks has second derivatives that are zero and need not be so on the other side of a kink:
// they are marked. Those by what the value does not depend on are not.
func TestSecondDerivativesAtKinks(t *testing.T) {
	s := modeltest.Run(t, "time t from 0 to 1\nparam p = 0, q = 2\nstate x = p\nx' = 0\n"+
		"objective J = integral(x*abs(x)) + q^2\nobjective K = integral(max(x, 0)^2)\nobjective L = q^2", "sens.order",
		"2")
	c := s.Columns
	for i, want := range [][4]odes.Trust{
		{odes.Loose, odes.Sound, odes.Sound, odes.Sound}, {odes.Loose, odes.Sound, odes.Sound, odes.Sound}, {},
	} {
		for k, want := range want {
			at := i*c*c + k/2*c + k%2
			if got := s.HessianTrusts[at]; s.Hessian[at] == 0 && got != want {
				t.Errorf("second derivative %d of objective %d, %v, is %v, want %v", k, i, s.Hessian[at], got, want)
			}
		}
	}
}

// TestSecondDerivativesAtKinksOfParams has expressions of params alone whose first derivatives are the same on both
// sides of a kink, and whose second ones are not, or are infinite: these are marked. Where all is smooth, none is.
func TestSecondDerivativesAtKinksOfParams(t *testing.T) {
	for text, marked := range map[string]bool{
		"x' = max(p, 0)^2 - x":         true,
		"x' = p*abs(p) - x":            true,
		"x' = abs(p)^1.5 - x":          true,
		"x' = p^n/(1 + p^n) - x":       true,
		"x' = smoothstep(0, 1, p) - x": true,
		"x' = interp([0, 1, 2], [0, 1, 1.5], n + p, kind = monotone) - x": true,
		"x' = (if p > 0 then p^2 else 0) - x":                             true,
		"x' = -x\nevent at 1 { x += p*abs(p) }":                           true,
		"x' = max(p, 0)^3 + abs(p)^3 - n*x":                               false,
		"x' = (p^2)^1 + p^1 - x":                                          false,
		"x' = smoothstep(0, 2, n + p) - x":                                false,
		"x' = max(0, p - 1)^2 - x":                                        false,
	} {
		s := modeltest.Run(t, "time t from 0 to 1\nparam p = 0, n = 1\nstate x = 1\n"+text+
			"\nobjective J = final(x)\nsens { wrt = [p, n] }", "sens.order", "2")
		is := s.HessianTrusts != nil && slices.Max(s.HessianTrusts) > odes.Sound
		if is != marked || !marked && s.Trust(0, s.Variables[0]) != odes.Sound {
			t.Errorf("%s: %v, marked: %v", text, s.Second(0), is)
		}
	}
}

// TestSecondDerivativesWhereBodiesLead has a body that takes the run to a kink, which it leaves at once. First
// derivatives are right, since the other side lasts no time. Second ones by what takes the run off the kink jump.
func TestSecondDerivativesWhereBodiesLead(t *testing.T) {
	for text, want := range map[string]odes.Trust{"min(1, x*p)": odes.Loose, "min(9, x*p)": odes.Sound} {
		s := modeltest.Run(t, "time t from 0 to 2\nparam p = 1, q = 1\nstate x = 2\nx' = q\nevent at 1 { x = p }\n"+
			"objective J = integral("+text+")\nsens { wrt = [p, q] }\n", "sens.order", "2")
		for k, of := range []string{"p by p", "p by q", "q by p", "q by q"} {
			got, want := odes.Sound, want
			if s.HessianTrusts != nil {
				got = s.HessianTrusts[k]
			}
			if k > 0 {
				want = odes.Sound
			}
			if got != want || s.Trust(0, s.Variables[k%2]) != odes.Sound {
				t.Errorf("%s: %s is %v, want %v", text, of, got, want)
			}
		}
	}
}

// TestSecondDerivativesWhereTimesMeet has observations, events and ends that come together with kinks and with one
// another. Second derivatives are those of one side there, and marked, while first ones are those of both. What a value
// does not depend on has none, though a step ends there.
func TestSecondDerivativesWhereTimesMeet(t *testing.T) {
	const head = "time t from 0 to 3\nparam a = 1, T1 = 1\nstate x = a\n"
	for _, c := range []struct {
		what, model string
		marked      bool
	}{
		{"an observation of another value at a kink", "x' = max(0, t - 1)\nobjective J = final(x)\n" +
			"objective K = at(x, T1)", false},
		{"an observation at a kink", "x' = max(0, t - 1)\nobjective J = sum_at([T1], x)", true},
		{"two doses at one time", "x' = -x^2\nevent dose at [T1, 1] { x += 0*a }\nobjective J = final(x)\n", false},
		{"a kink at the start", "x' = -1\nobjective J = integral(min(x, T1))", true},
		{"a dose at a kink", "x' = max(0, t - 1)\nevent dose at T1 { x = 2*x }\nobjective J = final(x)", true},
		{"a dose beside a kink", "x' = max(0, t - 1.5)\nevent dose at T1 { x = 2*x }\nobjective J = final(x)", false},
	} {
		s := modeltest.Run(t, head+strings.ReplaceAll(c.model, "at(x, T1)", "sum_at([T1], x)"), "sens.order", "2")
		at := s.Columns + 1 // by T1 twice
		marked := s.HessianTrusts != nil && s.HessianTrusts[at] != odes.Sound
		if marked != c.marked || !marked && c.what[:2] == "an" && s.Hessian[at] != 0 {
			t.Errorf("%s: %v, marked: %v", c.what, s.Hessian[at], marked)
		}
	}
}

// TestSecondDerivativesOfTies has a dose at the end: by its time there is no derivative. Second ones are no numbers
// where the first that is differentiated jumps there, and not where it does not.
func TestSecondDerivativesOfTies(t *testing.T) {
	s := modeltest.Run(t, `
time t from 0 to 2
param a = 0.5, b = 1, tau = 1, D = 0.5
state x = 1, y = 1
x' = -a*x
y' = -b*y
event e every tau { x += D }
objective K = final(x) + final(y)
sens { wrt = [a, b, tau, D, initial(x)] }
`, "sens.order", "2")
	for k, of := range []string{"a", "b", "tau", "D", "initial(x)"} {
		got := odes.Sound
		if s.HessianTrusts != nil {
			got = s.HessianTrusts[2*s.Columns+k]
		}
		if want := map[string]odes.Trust{"a": odes.Lost, "tau": odes.Lost, "D": odes.Lost}[of]; got != want {
			t.Errorf("d²K/dtau d%s is %v, want %v", of, got, want)
		}
	}
}
