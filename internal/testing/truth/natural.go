package truth

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
)

// natural draws models as people write them: their rates, sizes and questions are those of textbooks. No closed form
// is known of them; runs with much tighter tolerances tell what is right.
type natural struct {
	*rand.Rand
	text        strings.Builder
	wrt         []string
	size, value map[string]float64 // of params
	like        float64            // how large the last one that is zero might be
}

func newNatural(seed uint64) *natural {
	return &natural{
		Rand: rand.New(rand.NewPCG(seed, 91)), size: map[string]float64{},
		value: map[string]float64{},
	}
}

// naturals are the kinds of natural models, and what draws one.
var naturals = []struct {
	name string
	draw func(d *natural)
}{
	{"lines", (*natural).line},
	{"narrow", (*natural).narrow},
	{"steady", (*natural).steady},
	{"seconds", (*natural).seconds},
}

func (d *natural) between(a, b float64) float64 { return round(a + (b-a)*d.Float64()) }

func (d *natural) log(a, b float64) float64 { return round(a * math.Pow(b/a, d.Float64())) }

// round leaves the digits that people write.
func round(x float64) float64 {
	if x == 0 {
		return 0
	}
	by := math.Pow(10, 2-math.Floor(math.Log10(math.Abs(x))))
	return math.Round(x*by) / by
}

func (d *natural) one(of ...string) string { return of[d.IntN(len(of))] }

func (d *natural) chance(p float64) bool { return d.Float64() < p }

func (d *natural) add(format string, args ...any) { fmt.Fprintf(&d.text, format+"\n", args...) }

func (d *natural) param(name string, value float64) {
	d.add("param %s = %v", name, value)
	d.wrt = append(d.wrt, name)
	d.value[name] = value
	if d.size[name] = math.Abs(value); value == 0 {
		d.size[name] = d.like
	}
}

// all ends a model: derivatives are by its params and by what more says.
func (d *natural) all(more ...string) string {
	d.add("sens { wrt = [%s] }", strings.Join(append(d.wrt, more...), ", "))
	return d.text.String()
}

// line draws a partial differential equation along a line of cells.
func (d *natural) line() {
	n := 10 + d.IntN(51)
	T := d.log(0.02, 20)
	d.add("const n = %d\nconst h = 1/n\ntime t from 0 to %v", n, T)
	first := d.one("exp(-20*(i*h - 0.5)^2)", "sin(pi*i*h)", "(if i*h < 0.3 then 1 else 0)", "i*h*(1 - i*h)",
		"1/(1 + exp(20*(i*h - 0.4)))", "0", "1")
	left, right := "u[wrap(i-1, n)]", "u[wrap(i+1, n)]" // a ring
	edge := d.IntN(4)
	value := d.between(0, 1)
	d.param("D", d.log(0.003, 1))
	switch edge {
	case 0: // no flux
		left, right = "u[clamp(i-1, 1, n)]", "u[clamp(i+1, 1, n)]"
	case 1: // fixed values
		d.param("ua", value)
		left, right = "(if i == 1 then ua else u[clamp(i-1, 1, n)])", "(if i == n then 0 else u[clamp(i+1, 1, n)])"
	case 2: // fixed on one side, insulated on the other
		d.param("ua", 1)
		left, right = "(if i == 1 then ua else u[clamp(i-1, 1, n)])", "u[clamp(i+1, 1, n)]"
	}
	second := ""
	diffusion := fmt.Sprintf("D*(%s - 2*u[i] + %s)/h^2", left, right)
	switch d.IntN(8) {
	case 0:
		d.add("state u[n] = [%s for i in 1:n]\nu[i]' = %s for i in 1:n", first, diffusion)
	case 1: // Fisher and Kolmogorov
		d.param("r", d.log(0.3, 20))
		d.add("state u[n] = [%s for i in 1:n]\nu[i]' = %s + r*u[i]*(1 - u[i]) for i in 1:n", first, diffusion)
	case 2: // carried along, upwind
		d.param("v", d.log(0.1, 3))
		d.add("state u[n] = [%s for i in 1:n]\nu[i]' = %s - v*(u[i] - %s)/h for i in 1:n", first, diffusion, left)
	case 3: // Burgers
		d.param("c", d.between(0.2, 1))
		d.add("state u[n] = [c*%s for i in 1:n]\nu[i]' = %s - (%s^2 - %s^2)/(4*h) for i in 1:n", first, diffusion,
			right, left)
	case 4: // decay and a source in the middle
		d.param("k", d.log(0.1, 10))
		d.param("s", d.log(0.1, 10))
		d.add("state u[n] = [%s for i in 1:n]", first)
		d.add("u[i]' = %s - k*u[i] + (if abs(i*h - 0.5) < 0.1 then s else 0) for i in 1:n", diffusion)
	case 5: // two species
		d.param("Dv", d.log(0.003, 0.3))
		d.param("a", d.between(0.5, 1.5))
		d.param("b", d.between(1, 3.5))
		second = "v"
		d.add("state u[n] = [1 + 0.3*%s for i in 1:n], v[n] = [b for i in 1:n]", first)
		d.add("u[i]' = a + u[i]^2*v[i] - (b + 1)*u[i] + %s for i in 1:n", diffusion)
		d.add("v[i]' = b*u[i] - u[i]^2*v[i] + Dv*(v[clamp(i-1, 1, n)] - 2*v[i] + v[clamp(i+1, 1, n)])/h^2 for i in 1:n")
	case 6: // excitable
		d.param("eps", d.log(0.01, 0.1))
		d.param("a", d.between(0.05, 0.3))
		second = "v"
		d.add("state u[n] = [%s for i in 1:n], v[n] = [0 for i in 1:n]", first)
		d.add("u[i]' = %s + u[i]*(1 - u[i])*(u[i] - a) - v[i] for i in 1:n", diffusion)
		d.add("v[i]' = eps*(u[i] - 2*v[i]) for i in 1:n")
	case 7: // a reaction between what comes from both ends
		d.param("k", d.log(0.1, 100))
		second = "v"
		d.add("state u[n] = [%s for i in 1:n], v[n] = [1 - i*h for i in 1:n]", first)
		d.add("u[i]' = %s - k*u[i]*v[i] for i in 1:n", diffusion)
		d.add("v[i]' = 0.1*(v[clamp(i-1, 1, n)] - 2*v[i] + v[clamp(i+1, 1, n)])/h^2 - k*u[i]*v[i] for i in 1:n")
	}
	d.add("objective mean_ = final(mean(u))\nobjective middle = final(u[%d])\nobjective last = final(u[n])", (n+1)/2)
	d.add("objective dose = integral(u[%d])\nobjective energy = integral(sum(u^2))*h", 1+d.IntN(n))
	if d.chance(0.5) {
		d.add("objective probe = sum_at([%v, %v], u[%d])", round(0.25*T), round(0.5*T), 1+d.IntN(n))
	}
	if second != "" {
		d.add("objective other = final(mean(v))")
	}
	if d.chance(0.5) {
		d.wrt = append(d.wrt, "initial(u)")
	}
}

// narrow draws a model with something that passes quickly.
func (d *natural) narrow() {
	T := d.one("10", "24", "100")
	d.add("time t from 0 to %s", T)
	width := d.log(1e-4, 0.1)
	passing := func(what string, level, size float64) string {
		d.param("c", round(level))
		d.param("w", round(width*size))
		d.param("A", d.log(0.5, 20))
		q := fmt.Sprintf("(%s - c)/w", what)
		return "A*" + d.one("exp(-("+q+")^2)", "exp(-0.5*("+q+")^2)", "1/cosh("+q+")^2", "1/(1 + ("+q+")^2)",
			"(tanh("+q+" + 1) - tanh("+q+" - 1))/2", "1/(1 + exp(-("+q+")))*1/(1 + exp("+q+"))")
	}
	end := 10.0
	fmt.Sscan(T, &end)
	switch d.IntN(6) {
	case 0: // growth through an optimal size
		d.param("r", d.between(5, 15)/end)
		d.add("state x = 0.01\nx' = r*x*(1 - x)\nstate y = 0\ny' = %s - 0.1*y",
			passing("x", d.between(0.1, 0.9), 1))
	case 1: // an oscillator that passes a resonance
		d.param("om", d.between(2, 12)/end)
		d.add("state x = 1, v = 0\nx' = om*v\nv' = -om*x\nstate y = 0\ny' = %s",
			passing("x", d.between(-0.95, 0.95), 1))
	case 2: // a temperature program and a reaction at some temperature
		d.param("b", d.between(50, 200)/end)
		d.add("state x = 300\nx' = b\nstate y = 1\ny' = -y*%s", passing("x", d.between(320, 340), 50))
	case 3: // two gates
		d.param("k", d.between(1, 4)/end)
		d.add("state x = 1\nx' = -k*x\nstate y = 0\ny' = %s - 0.05*y", passing("x", d.between(0.2, 0.9), 1))
	case 4: // predators and prey
		d.add("param a = 1.1\nparam b = 0.4")
		d.add("state x = 2, z = 1\nx' = (a*x - b*x*z)*%v\nz' = (0.1*x*z - 0.4*z)*%v\nstate y = 0\ny' = %s", 10/end,
			10/end, passing("x", d.between(1, 4), 3))
	case 5: // a pulse of time
		d.param("k", d.between(1, 4)/end)
		d.add("state x = 1\nx' = -k*x\nstate y = 0\ny' = %s - k*y", passing("t", d.between(0.1, 0.9)*end, end))
	}
	d.add("objective late = final(y)\nobjective area = integral(y)")
	if d.chance(0.5) {
		d.add("objective half_ = sum_at([%v], y)", round(end/2))
	}
}

// steady draws a network that comes to rest.
func (d *natural) steady() {
	d.add("time t from 0 to %s", d.one("1", "10", "100"))
	var read []string
	switch d.IntN(6) {
	case 0: // a random network of reactions with exchange
		n := 3 + d.IntN(8)
		for i := range n {
			d.add("state s%d = %v", i, d.log(0.1, 10))
			read = append(read, fmt.Sprintf("s%d", i))
		}
		for k := range n + d.IntN(2*n) {
			d.param(fmt.Sprintf("k%d", k), d.log(0.001, 100))
			i, j := d.IntN(n), d.IntN(n)
			for j == i {
				j = d.IntN(n)
			}
			switch d.IntN(3) {
			case 0:
				d.add("reaction r%d: s%d -> s%d rate k%d*s%d", k, i, j, k, i)
			case 1:
				l := d.IntN(n)
				d.add("reaction r%d: s%d + s%d -> s%d rate k%d*s%d*s%d", k, i, j, l, k, i, j)
			case 2:
				d.param(fmt.Sprintf("b%d", k), d.log(0.01, 10))
				d.add("reaction r%d: s%d <-> s%d rate k%d*s%d - b%d*s%d", k, i, j, k, i, k, j)
			}
		}
		for i := range n {
			d.param(fmt.Sprintf("d%d", i), d.log(0.01, 1))
			d.add("reaction o%d: s%d -> rate d%d*s%d", i, i, i, i)
		}
		d.param("v", d.log(0.1, 10))
		d.add("reaction in_: -> s0 rate v")
	case 1: // a cascade of phosphorylations
		n := 2 + d.IntN(3)
		before := "S"
		d.param("S", d.log(0.01, 3))
		for i := range n {
			d.param(fmt.Sprintf("V%d", i), d.log(0.1, 10))
			d.param(fmt.Sprintf("P%d", i), d.log(0.1, 10))
			d.param(fmt.Sprintf("K%d", i), d.log(0.01, 3))
			d.add("state x%d = 0\nx%d' = V%d*%s*(1 - x%d)/(K%d + 1 - x%d) - P%d*x%d/(K%d + x%d)", i, i, i, before, i, i,
				i, i, i, i, i)
			before = fmt.Sprintf("x%d", i)
			read = append(read, before)
		}
	case 2: // a switch of two genes
		d.param("a", d.between(1, 10))
		d.param("b", d.between(1, 10))
		d.param("m", d.one2(2, 3, 4))
		d.add("state x = %v, y = %v\nx' = a/(1 + y^m) - x\ny' = b/(1 + x^m) - y", d.between(0, 5), d.between(0, 5))
		read = []string{"x", "y"}
	case 3: // binding with conservation
		d.param("kon", d.log(0.01, 1000))
		d.param("koff", d.log(0.001, 10))
		d.param("R0", d.log(0.01, 10))
		d.param("L0", d.log(0.01, 10))
		d.add("state R = R0, L = L0, C = 0\nreaction bind: R + L <-> C rate kon*R*L - koff*C")
		if d.chance(0.5) {
			d.param("kc", d.log(0.01, 10))
			d.param("kd", d.log(0.01, 10))
			d.add("state E = 0\nreaction on_: C <-> E rate kc*C - kd*E")
		}
		read = []string{"C", "R"}
	case 4: // a chemostat
		d.param("mu", d.between(0.4, 1.2))
		d.param("K", d.log(0.01, 1))
		d.param("Dil", d.between(0.05, 0.5))
		d.param("Sf", d.between(1, 10))
		d.add("state X = 0.1, S = Sf\nX' = (mu*S/(K + S) - Dil)*X\nS' = Dil*(Sf - S) - 2*mu*S/(K + S)*X")
		read = []string{"X", "S"}
	case 5: // turnover with feedback
		d.param("kin", d.log(0.1, 10))
		d.param("kout", d.log(0.01, 1))
		d.param("IC", d.log(0.1, 10))
		d.param("g", d.one2(1, 2, 0.5))
		d.add("state R = 1, M = 1\nR' = kin/(1 + M/IC)^g - kout*R\nM' = kout*(R - M)")
		read = []string{"R", "M"}
	}
	for _, x := range read {
		d.add("objective of_%s = steady(%s)", x, x)
	}
	if d.chance(0.4) {
		d.add("objective both = steady(%s*%s)", read[0], read[len(read)-1])
	}
	if d.chance(0.3) {
		d.add("objective now = final(%s)", read[0])
	}
}

func (d *natural) one2(of ...float64) float64 { return of[d.IntN(len(of))] }

// zero returns a value or, often, 0.
func (d *natural) zero(x float64) float64 {
	if d.like = x; d.chance(0.5) {
		return 0
	}
	return x
}

// seconds draws a model whose second derivatives are asked for: some params are 0, and observations stand at times of
// events.
func (d *natural) seconds() {
	switch d.IntN(9) {
	case 0: // doses by mouth, and measurements at their times
		d.add("time t from 0 to 48")
		d.param("ka", d.between(0.3, 2))
		d.param("ke", d.between(0.05, 0.4))
		d.param("V", d.between(5, 40))
		d.param("base", d.zero(0.5))
		d.param("lag", d.zero(0.5))
		d.param("F", d.one2(1, 0.8))
		d.add("state g = 0, c = base*V\ng' = -ka*g\nc' = ka*g - ke*c")
		d.add("event dose at [0, 12, 24] + lag { g += 100*F }")
		d.add("data D { time = [1, 6, 12, 24, 36]  y = [2, 1.5, 1, 1.4, 0.7] }")
		d.param("sd", d.between(0.1, 1))
		d.add("observe cc = c/V ~ normal(sd) from D.y")
		d.add("objective fit_ = nll()\nobjective auc = integral(c/V)\nobjective trough = sum_at([24], c/V)")
	case 1: // an enzyme with an inhibitor
		d.add("time t from 0 to 10")
		d.param("Vm", d.between(0.5, 3))
		d.param("Km", d.log(0.05, 5))
		d.param("I", d.zero(0.5))
		d.param("Ki", d.log(0.1, 10))
		d.param("leak", d.zero(0.05))
		d.add("state S = %v, P = 0\nS' = -Vm*S/(Km*(1 + I/Ki) + S) - leak*S\nP' = Vm*S/(Km*(1 + I/Ki) + S)",
			d.between(1, 10))
		d.add("objective made = final(P)\nobjective left = final(S)\nobjective all_ = integral(P)")
	case 2: // an epidemic with measures
		d.add("time t from 0 to 60")
		d.param("beta", d.between(0.3, 0.8))
		d.param("gamma", d.between(0.1, 0.25))
		d.param("vac", d.zero(0.01))
		d.param("t1", d.between(10, 30))
		d.param("cut", d.zero(0.5))
		d.param("mu", d.zero(0.001))
		d.add("state S = 0.99, I = 0.01, C = 0\ndiscrete on = 0\nevent close_ at t1 { on = 1 }")
		d.add("S' = -beta*(1 - cut*on)*S*I - vac*S + mu*(1 - S)\nI' = beta*(1 - cut*on)*S*I - gamma*I - mu*I")
		d.add("C' = beta*(1 - cut*on)*S*I\nobjective total = final(C)\nobjective ill = integral(I)")
	case 3: // an oscillator of genes
		d.add("time t from 0 to %v", d.between(5, 40))
		d.param("a", d.between(1, 10))
		d.param("m", d.one2(4, 8, 10))
		d.param("k", d.between(0.2, 1))
		d.param("w", d.zero(0.1))
		d.add("state X = 0.1, Y = 0.2, Z = 2.5\nX' = a/(1 + Z^m) - k*X + w\nY' = X - k*Y\nZ' = Y - k*Z")
		d.add("objective end_ = final(X)\nobjective sum_ = integral(Z)")
	case 4: // a thermostat
		d.add("time t from 0 to 10")
		d.param("hi", 22)
		d.param("lo", 18)
		d.param("P", d.between(15, 40))
		d.param("out", d.zero(5))
		d.param("k", d.between(0.2, 0.6))
		d.add("state x = 15\ndiscrete on = 1\nx' = -k*(x - out) + P*on")
		d.add("event off_ when x >= hi { on = 0 }\nevent on_ when x <= lo { on = 1 }")
		d.add("objective mean_ = integral(x)/10\nobjective end_ = final(x)\nobjective first = event_time(off_, 1)")
	case 5: // a ball with drag
		d.add("time t from 0 to %v", d.between(1, 3))
		d.param("g", 9.81)
		d.param("e", d.between(0.5, 0.9))
		d.param("cd", d.zero(0.05))
		d.param("v0", d.zero(1))
		d.add("state x = %v, v = v0\nx' = v\nv' = -g - cd*v*abs(v)", d.between(1, 4))
		d.add("event hit when x <= 0 { v = -e*v }")
		d.add("objective height = final(x)\nobjective path = integral(x)")
	case 6: // a chain of reactions, some of whose rates are 0
		d.add("time t from 0 to %v", d.log(1, 100))
		n := 3 + d.IntN(3)
		for i := range n {
			d.param(fmt.Sprintf("k%d", i), d.zero(d.log(0.1, 3)))
			d.add("state s%d = %v", i, d.zero(1))
		}
		for i := range n {
			d.add("reaction r%d: s%d -> s%d rate k%d*s%d", i, i, (i+1)%n, i, i)
		}
		d.param("q", d.zero(0.1))
		d.add("reaction in_: -> s0 rate q\nreaction two: s0 + s1 -> s2 rate q*s0*s1")
		d.add("objective a = final(s0)\nobjective b = final(s%d)\nobjective c = integral(s1)", n-1)
	case 7: // infusions with a time between
		d.add("time t from 0 to 24")
		d.param("R", d.between(1, 20))
		d.param("dur", d.one2(1, 2, 4))
		d.param("CL", d.between(0.5, 5))
		d.param("V", d.between(5, 40))
		d.param("Q", d.zero(2))
		d.param("V2", d.between(10, 50))
		d.add("state c = 0, p = 0\nc' = (if mod(t, 8) < dur then R else 0) - CL/V*c - Q/V*c + Q/V2*p")
		d.add("p' = Q/V*c - Q/V2*p")
		d.add("objective late = final(c)\nobjective at_ = sum_at([8, 16], c)")
		d.add("objective part = integral(c, from = 0, to = %s)", d.one("dur", "8", "8 + dur", "10"))
	case 8: // counted every so often
		d.add("time t from 0 to 20")
		d.param("r", d.between(0.2, 1))
		d.param("K", d.between(5, 20))
		d.param("h", d.zero(0.3))
		d.param("x0", d.between(0.5, 3))
		d.param("tau", d.one2(2, 4, 5))
		d.add("state x = x0\nx' = r*x*(1 - x/K)\nevent catch_ every tau from tau { x *= 1 - h }")
		d.add("objective end_ = final(x)\nobjective caught = at_event(catch_, pre(x))*h\nobjective mean_ = integral(x)")
	}
}
