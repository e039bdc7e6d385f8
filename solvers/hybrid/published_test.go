package hybrid_test

import (
	"math"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/testing/modeltest"
)

// delayed are models of the shapes of cases 01525, 01575, 01677, 01703 and 01717 of the SBML semantic suite: a state or
// a rate is inside a window for less than a step, and what the window triggers happens after a delay.
var delayed = []clockCase{
	{"a window of a rate", `
time t from 0 to 12
param lo = 1.4, w = 0.6, d = 2.3, a = 3
state p = 0, y = 0
discrete q = 0, T = 1e9
let speed = t
p' = speed
y' = q
event e when speed > lo and speed < lo + w { T = t + d }
event f at T { q = a }
objective J = final(y)
`, map[string]float64{"J": 3 * (12 - 1.4 - 2.3), "J/lo": -3, "J/d": -3, "J/w": 0, "J/a": 12 - 1.4 - 2.3}},
	{"a window that returns", `
time t from 0 to 11
param lo = 3.4, w = 0.4, d = 1.3, r = 0.9
state k = 1
discrete T = 1e9
let same = k
k' = 1
event e when same > lo and same < lo + w { T = t + d }
event f at T { k = r }
objective J = final(k)
`, map[string]float64{"J": 2*0.9 + 12 - 2*(3.4+1.3), "J/lo": -2, "J/d": -2, "J/r": 2, "J/w": 0}},
	{"a narrow window of a slow state", `
time t from 0 to 10
param v = 0.01, lo = 3.06, w = 0.023, d = 0.9
state A = 2, B = 3
discrete T = 1e9
A' = -5*v
B' = 4*v
event e when B >= lo and B <= lo + w { T = t + d }
event f at T { A = 6; B = 4 }
objective J = final(A)
objective K = final(B)
`, map[string]float64{
		"J": 6 - 0.05*(10-1.5-0.9), "J/lo": 0.05 / 0.04, "J/d": 0.05, "J/w": 0,
		"K": 4 + 0.04*(10-1.5-0.9), "K/lo": -1, "K/d": -0.04,
	}},
	{"a window that is entered from above", `
time t from 0 to 10
param hi = 4.2, w = 1.3, d = 1.7, r = 9
state S = 10
discrete T = 1e9
S' = -1
event e when S <= hi and S >= hi - w { T = t + d }
event f at T { S = r }
objective J = final(S)
`, map[string]float64{"J": 9 - (10 - (10 - 4.2) - 1.7), "J/hi": -1, "J/d": 1, "J/r": 1, "J/w": 0}},
	{"a window of a stoichiometry", `
time t from 0 to 10
param v = 0.1, lo = 2.3, w = 1, d = 1.9, a = 3
state S = 0, n = 1, y = 0
discrete P = 0, T = 1e9
S' = v*n
n' = 1
y' = P
event e when n >= lo and n <= lo + w { T = t + d }
event f at T { P = a }
objective J = final(S)
objective K = final(y)
`, map[string]float64{"J": 6, "J/v": 60, "J/lo": 0, "K": 3 * (10 - 1.3 - 1.9), "K/lo": -3, "K/d": -3, "K/w": 0}},
}

// TestDelayedWindows compares values and derivatives with closed forms.
func TestDelayedWindows(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	for _, c := range delayed {
		for _, mode := range []string{"adjoint", "tangent", "complex"} {
			checkClock(t, c, mode)
			for _, method := range []string{"auto", "vern9", "rodas5p"} {
				checkClock(t, c, mode, odes.Setting{Key: "solver.method", Value: method})
			}
		}
	}
}

// likelihoods are small models of the shapes of problems of the PEtab collection. Explicit methods without control lose
// their derivatives: fast modes rest, or stability holds steps at its limit.
var likelihoods = []struct{ name, text string }{
	{"binding, as in Schwen et al. (2014)", `
time t from 0 to 60
const dose = 0
param ka = 0.004, kd = 9, kin = 0.4, kout = 0.05, kfrag = 0.01, kon = 20, koff = 10
param R0 = 60, off = 0.05, sat = 1e8, sd = 0.25
state I = dose, R = R0, C = 0, Cin = 0, F = 0, U = 0
reaction bind: I + R <-> C rate mass_action(ka, kd)
reaction inwards: C <-> Cin rate mass_action(kin, kout)
reaction cut: Cin -> R + F rate kfrag*Cin
reaction sticks: I <-> U rate mass_action(kon, koff)
data D {
  time = [1, 10, 60, 1, 10, 60, 1, 10, 60, 60]
  y = [0.4, 1.0, 3, 40, 30, 15, 3500, 3200, 2500, 0.06]
  arm = [10, 10, 10, 100, 100, 100, 10000, 10000, 10000, 0]
}
let seen = I + F
observe y = off + seen/(1 + seen/sat) ~ lognormal(sd) from D.y
experiment none { use D where D.arm == 0 }
experiment low  { dose = 10 use D where D.arm == 10 }
experiment mid  { dose = 100 use D where D.arm == 100 }
experiment high { dose = 10000 use D where D.arm == 10000 }
objective J = nll()
`},
	{"pools in balance that a dose disturbs, as in Weber et al. (2015)", `
time t from -300 to 60
param make = 9e4, lose = 0.2, loseA = 30, on = 5e-9, on0 = 0.006, off = 0.003, boost = 35
param makeC = 4e6, loseC = 0.15, back = 2e4, half = 4e7, go = 17, scale = 0.004, sd = 0.3
state K = 5e5, A = 100, C = 1e5, G = 4e7
let dose = if t < 24 then 0 else 1
let active = K*(on0*(1 + boost*dose) + on*G) - off*A
let returns = back*G*A/(A + half)
K' = make - lose*K - active
A' = active - loseA*A
C' = returns - go*C
G' = makeC + go*C - returns - loseC*G
data D { time = [0, 6, 20, 25, 30, 40, 60]  y = [1.5, 1.7, 1.6, 11, 13, 12, 12] }
observe y = scale*A ~ normal(sd) from D.y
objective J = nll()
`},
	{"a chain that leaves a balance, as in Zheng et al. (2012)", `
time t from -1000 to 25
const n = 6
param flow = 0.03, up[5] = [900, 2, 1e-5, 12, 0.04], down[5] = [450, 0.07, 1e-5, 0.11, 400], sd = 0.01
state x[n] = 1/6
let q = if t < 0 then flow else 0
let f[1] = 0
let f[i] = up[i-1]*x[i-1] - down[i-1]*x[i] for i in 2:n
x[1]' = q*(1 - x[1]) - f[2]
x[i]' = f[i] - f[i+1] - q*x[i] for i in 2:n-1
x[n]' = f[n] - q*x[n]
data D { time = [0, 5, 10, 25]  a = [0.06, 0.05, 0.05, 0.05]  b = [0.93, 0.92, 0.94, 0.93] }
observe a = x[2]/sum(x) ~ normal(sd) from D.a
observe b = x[3]/sum(x) ~ normal(sd) from D.b
objective J = nll()
`},
	{"a response close to a pole, as in Crauste et al. (2017)", `
time t from 0 to 28
param growth = 0.1245, kill = 3.7e-5, recruit = 0.012, expand = 0.5
param crowdE = 4e-5, crowdL = 8e-6, turn = 0.5, keep = 0.02, loss = 0.75
state N = 8000, E = 0, L = 0, P = 1
N' = -loss*N - recruit*N*P
E' = recruit*N*P + expand*E*P - crowdE*E^2 - turn*E
L' = turn*E - crowdL*L^2 - keep*L
P' = growth*P^2 - kill*L*P
data D {
  time = [4, 6, 8, 11, 15, 22, 28]
  e = [300, 2000, 450000, 40000, 2500, 60, 3]
  l = [nan, 1000, 150000, 150000, 30000, 12000, 7000]
}
observe e = E ~ normal(0.3*D.e) from D.e
observe l = L ~ normal(0.3*D.l) from D.l
objective J = nll()
`},
}

// TestLikelihoods compares gradients of the negative log likelihood with those of the complex step, by another method
// and to a tighter tolerance: what is not marked is right.
//
//odes:goroutines
func TestLikelihoods(t *testing.T) {
	for _, c := range likelihoods {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			truth := modeltest.RunTimes(t, c.text, "solver.method", "rodas4p", "solver.rtol", "1e-7", "solver.atol",
				"1e-10",
				"sens.mode", "complex", "sens.control", "on", "sens.trust", "off")
			for _, settings := range [][]string{
				nil,
				{"solver.method", "auto"},
				{"solver.method", "rodas5p"},
				{"solver.rtol", "1e-4"},
			} {
				s := modeltest.RunTimes(t, c.text, settings...)
				for _, v := range truth.Variables {
					got, trust := modeltest.By(t, s, 0, v.String())
					forgotten := 0.0 // of initial values: those that the run forgets have no effect, and no digits
					if v.Initial {
						forgotten = 1e-8
					}
					for k, want := range truth.Derivative(0, v) {
						if trust == odes.Sound && !(math.Abs(got[k]-want) <= 3e-3*math.Abs(want)+forgotten) {
							t.Errorf("%v: by %s[%d]: %g, want %g, and not marked", settings, v, k+1, got[k], want)
						}
					}
				}
			}
		})
	}
}
