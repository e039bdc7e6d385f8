package sbml_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/testing/seeds"
)

var (
	vessels    = flag.Int("vessels", 12, "random models that TestEventsInCompartments draws")
	vesselSeed = flag.Uint64("vessel-seed", 1, "seed of these models")
)

// vessel is a model whose solution is known between any two instants: a compartment c that changes, A -> B in it by
// mass action, a species Q whose concentration has a rate rule, one R that only events change, and events with
// delays.
type vessel struct {
	volume string // how the compartment changes: linear, exponential, jumps or rule
	events []delayedEvent
}

// delayedEvent assigns scale·(what) + shift to each of its targets.
type delayedEvent struct {
	when, delay, slope float64 // the delay is delay + slope·k
	atTrigger          bool
	targets            []string
	what               []string
	scale, shift       []float64
}

const vesselEnd = 5.0

// draw makes a random one whose instants are distinct.
func drawVessel(random *rand.Rand) vessel {
	v := vessel{volume: []string{"linear", "exponential", "jumps", "rule"}[random.IntN(4)]}
	names := []string{"A", "B", "Q", "R", "c"}
	for i := range 1 + random.IntN(3) {
		e := delayedEvent{
			when: 0.4 + 0.9*float64(i) + 0.3*random.Float64(), delay: 0.2 + 0.9*random.Float64(),
			atTrigger: random.IntN(4) > 0,
		}
		if random.IntN(2) == 0 {
			e.slope = 0.5
		}
		kinds := names[:4]
		if v.volume != "rule" && random.IntN(3) == 0 {
			kinds = names[4:] // not along with a species in it
		}
		for _, name := range kinds {
			if len(kinds) > 1 && random.IntN(2) == 0 {
				continue
			}
			e.targets = append(e.targets, name)
			e.what = append(e.what, names[random.IntN(5)])
			e.scale = append(e.scale, []float64{0, 0.5 + random.Float64()}[min(1, random.IntN(4))])
			e.shift = append(e.shift, 0.2+random.Float64())
		}
		v.events = append(v.events, e)
	}
	return v
}

// solve returns the concentrations of A, B, Q and R, and c, at the end, for a rate constant and an initial
// concentration of A.
func (v vessel) solve(k, a0 float64) map[string]float64 {
	const c0, q = 1.25, 0.3
	x := map[string]float64{"c": c0, "A": a0, "B": 0.4, "Q": 0.9, "R": 1.1}
	amount := func(name string) float64 { return x[name] * x["c"] }
	value := func(e delayedEvent, i int) float64 { return e.scale[i]*x[e.what[i]] + e.shift[i] }
	t := 0.0
	walk := func(to float64) {
		dt := to - t
		na, nb, nr, c := amount("A"), amount("B"), amount("R"), x["c"]
		switch v.volume {
		case "linear":
			c += 0.2 * dt
		case "exponential":
			c *= math.Exp(0.15 * dt)
		case "rule":
			c = c0 * (1 + 0.3*to)
		}
		gone := na * -math.Expm1(-k*dt)
		x["c"], x["A"], x["B"], x["R"] = c, (na-gone)/c, (nb+gone)/c, nr/c
		x["Q"] *= math.Exp(-q * dt)
		t = to
	}
	type instant struct {
		at      float64
		event   int
		trigger bool
	}
	var list []instant
	for i, e := range v.events {
		list = append(list, instant{e.when, i, true}, instant{e.when + e.delay + e.slope*k, i, false})
	}
	slices.SortFunc(list, func(a, b instant) int {
		if a.at < b.at {
			return -1
		}
		return 1
	})
	kept := map[int][]float64{}
	for _, s := range list {
		if s.at > vesselEnd {
			break
		}
		walk(s.at)
		e := v.events[s.event]
		if s.trigger == e.atTrigger { // at the trigger, or at the execution
			for i := range e.targets {
				kept[s.event] = append(kept[s.event], value(e, i))
			}
		}
		if s.trigger {
			continue
		}
		for i, name := range e.targets {
			if name == "c" { // all species in it have concentrations: their amounts stay
				for _, other := range []string{"A", "B", "Q", "R"} {
					x[other] *= x["c"] / kept[s.event][i]
				}
			}
			x[name] = kept[s.event][i]
		}
	}
	walk(vesselEnd)
	return x
}

// apart reports whether no two instants are close, also for a k that is a little different.
func (v vessel) apart(k float64) bool {
	list := []float64{vesselEnd}
	for _, e := range v.events {
		list = append(list, e.when, e.when+e.delay+e.slope*k)
	}
	slices.Sort(list)
	for i := 1; i < len(list); i++ {
		if list[i]-list[i-1] < 0.01 {
			return false
		}
	}
	return true
}

// text writes the model in SBML.
func (v vessel) text(k, a0 float64) string {
	var b strings.Builder
	const math = `<math xmlns="http://www.w3.org/1998/Math/MathML">`
	const time = `<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time"> t </csymbol>`
	say := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	of := func(op string, args ...string) string {
		return "<apply><" + op + "/>" + strings.Join(args, "") + "</apply>"
	}
	ci := func(name string) string { return "<ci> " + name + " </ci>" }
	cn := func(x float64) string { return fmt.Sprintf("<cn> %.17g </cn>", x) }
	say(`<sbml xmlns="http://www.sbml.org/sbml/level3/version2/core" level="3" version="2"><model id="vessel">`)
	say(`<listOfCompartments><compartment id="c" spatialDimensions="3" size="1.25" constant="false"/>` +
		`</listOfCompartments>`)
	say(`<listOfSpecies>`)
	for _, s := range []string{"A", "B", "Q", "R"} {
		say(`<species id="%s" compartment="c" initialConcentration="%.17g" hasOnlySubstanceUnits="false" `+
			`boundaryCondition="false" constant="false"/>`, s,
			map[string]float64{"A": a0, "B": 0.4, "Q": 0.9, "R": 1.1}[s])
	}
	say(`</listOfSpecies><listOfParameters><parameter id="k" value="%.17g" constant="true"/>`+
		`<parameter id="a0" value="%.17g" constant="true"/></listOfParameters><listOfInitialAssignments>`+
		`<initialAssignment symbol="A">%s<ci> a0 </ci></math></initialAssignment></listOfInitialAssignments>`,
		k, a0, math)
	say(`<listOfRules><rateRule variable="Q">%s%s</math></rateRule>`, math, of("times", cn(-0.3), ci("Q")))
	switch v.volume {
	case "linear":
		say(`<rateRule variable="c">%s%s</math></rateRule>`, math, cn(0.2))
	case "exponential":
		say(`<rateRule variable="c">%s%s</math></rateRule>`, math, of("times", cn(0.15), ci("c")))
	case "rule":
		say(`<assignmentRule variable="c">%s%s</math></assignmentRule>`, math,
			of("times", cn(1.25), of("plus", cn(1), of("times", cn(0.3), time))))
	}
	say(`</listOfRules><listOfReactions><reaction id="r" reversible="false"><listOfReactants>` +
		`<speciesReference species="A" stoichiometry="1" constant="true"/></listOfReactants><listOfProducts>` +
		`<speciesReference species="B" stoichiometry="1" constant="true"/></listOfProducts>`)
	say(`<kineticLaw>%s%s</math></kineticLaw></reaction></listOfReactions><listOfEvents>`, math,
		of("times", ci("c"), ci("k"), ci("A")))
	for i, e := range v.events {
		say(`<event id="e%d" useValuesFromTriggerTime="%t"><trigger initialValue="true" persistent="true">%s%s</math>`+
			`</trigger>`, i, e.atTrigger, math, of("gt", time, cn(e.when)))
		say(`<delay>%s%s</math></delay><listOfEventAssignments>`, math,
			of("plus", cn(e.delay), of("times", cn(e.slope), ci("k"))))
		for j, name := range e.targets {
			value := cn(e.shift[j])
			if e.scale[j] != 0 {
				value = of("plus", of("times", cn(e.scale[j]), ci(e.what[j])), value)
			}
			say(`<eventAssignment variable="%s">%s%s</math></eventAssignment>`, name, math, value)
		}
		say(`</listOfEventAssignments></event>`)
	}
	say(`</listOfEvents></model></sbml>`)
	return b.String()
}

// TestEventsInCompartments: delayed events assign concentrations in compartments that change, and change compartments
// with species in them. A value of the trigger is of the trigger, and what becomes an amount does so at the execution.
func TestEventsInCompartments(t *testing.T) {
	seed := seeds.Of(t, *vesselSeed)
	t.Logf("-vessel-seed %d", seed)
	random := rand.New(rand.NewPCG(seed, 0))
	drawn, kept := 0, 0
	for drawn < *vessels {
		v := drawVessel(random)
		k, a0 := 0.3+random.Float64(), 0.5+random.Float64()
		if !v.apart(k) {
			continue
		}
		drawn++
		text := v.text(k, a0)
		translated, wrong := translate("vessel.xml", text, sbml.Options{To: "5"})
		m, err := odes.Parse("vessel.ode", translated, odes.ParseOptions{})
		if err != nil {
			t.Fatalf("model %d: %s%v\n%s", drawn, wrong, err, text)
		}
		s, err := m.Sensitivities(context.Background(), odes.Options{
			Settings: []odes.Setting{
				{Key: "solver.rtol", Value: "1e-9"},
				{Key: "solver.atol", Value: "1e-12"},
				{Key: "sens.trust", Value: "off"},
			},
			Threads: 1,
		})
		if err != nil {
			t.Fatalf("model %d: %v\n%s", drawn, err, text)
		}
		const h = 1e-5
		want := v.solve(k, a0)
		up, down := v.solve(k+h, a0), v.solve(k-h, a0)
		more, less := v.solve(k, a0+h), v.solve(k, a0-h)
		for i, x := range s.Values {
			name := strings.TrimSuffix(x.Name, "_end")
			row := s.Gradient[i*s.Columns:]
			byK, byA := math.NaN(), math.NaN()
			for _, variable := range s.Variables {
				switch variable.Name {
				case "k":
					byK = row[variable.Offset]
				case "a0":
					byA = row[variable.Offset]
				}
			}
			for _, pair := range [][2]float64{
				{x.Value, want[name]},
				{byK, (up[name] - down[name]) / (2 * h)},
				{byA, (more[name] - less[name]) / (2 * h)},
			} {
				if !(math.Abs(pair[0]-pair[1]) <= 1e-6*math.Abs(pair[1])+1e-7) {
					t.Fatalf("model %d (%+v), %s: %.10g, want %.10g\n%s", drawn, v, name, pair[0], pair[1], translated)
				}
			}
			kept++
		}
	}
	if kept < 2*drawn {
		t.Errorf("%d numbers of %d models were compared", kept, drawn)
	}
}

// TestRateByAnnotation: programs that write levels of SBML without rateOf define a function that is not a number, and
// say by an annotation that it is a derivative.
func TestRateByAnnotation(t *testing.T) {
	const text = `<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"><model id="m">
<listOfFunctionDefinitions><functionDefinition id="slope"><annotation>
<symbols xmlns="http://sbml.org/annotations/symbols" definition="http://en.wikipedia.org/wiki/DEFINITION"/></annotation>
<math xmlns="http://www.w3.org/1998/Math/MathML"><lambda><bvar><ci> a </ci></bvar><notanumber/></lambda></math>
</functionDefinition></listOfFunctionDefinitions>
<listOfParameters><parameter id="x" value="2" constant="false"/><parameter id="k" value="0.5"/>
<parameter id="y" constant="false"/></listOfParameters>
<listOfRules><rateRule variable="x"><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/><cn> -1 </cn>
<ci> k </ci><ci> x </ci></apply></math></rateRule>
<assignmentRule variable="y"><math xmlns="http://www.w3.org/1998/Math/MathML"><apply><ci> slope </ci><ci> x </ci>
</apply></math></assignmentRule></listOfRules></model></sbml>`
	out, wrong := translate("m.xml", strings.Replace(text, "DEFINITION", "Derivative", 1), sbml.Options{To: "2"})
	for _, want := range []string{"let x_rate = -1*k*x", "let y      = x_rate", "objective x_end = final(x)"} {
		if !strings.Contains(out, want) {
			t.Errorf("%s%s\nhas no %q", wrong, out, want)
		}
	}
	_, wrong = translate("m.xml", strings.Replace(text, "DEFINITION", "Normal_distribution", 1), sbml.Options{})
	if !strings.Contains(wrong, "Normal_distribution") {
		t.Errorf("%q does not say what is missing", wrong)
	}
}

// TestObjectivesOfWhatMoves: a model always has something to differentiate where anything changes.
func TestObjectivesOfWhatMoves(t *testing.T) {
	const head = `<sbml xmlns="http://www.sbml.org/sbml/level2/version4" level="2" version="4"><model id="m">
<listOfParameters><parameter id="x" value="2" constant="false"/><parameter id="k" value="0.5"/></listOfParameters>
<listOfRules>`
	const tail = `<math xmlns="http://www.w3.org/1998/Math/MathML"><apply><times/><ci> k </ci><csymbol
definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol></apply></math>`
	for _, rule := range []string{"rateRule", "assignmentRule"} {
		out, wrong := translate("m.xml", head+"<"+rule+` variable="x">`+tail+"</"+rule+"></listOfRules></model></sbml>",
			sbml.Options{})
		if !strings.Contains(out, "objective x_end = final(x)") {
			t.Errorf("%s%s", wrong, out)
		}
	}
}
