package sbml_test

import (
	"context"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/sbml"
	"odes.dev/odes/internal/testing/seeds"
)

var fastModels = flag.Int("fastmodels", 3, "the number of random models of each kind of fast reactions")

func ap(op string, args ...string) string {
	return "<apply><" + op + "/>" + strings.Join(args, "") + "</apply>"
}

func product(ids ...string) string {
	if len(ids) == 1 {
		return "<ci>" + ids[0] + "</ci>"
	}
	return ap("times", "<ci>"+strings.Join(ids, "</ci><ci>")+"</ci>")
}

// reaction writes one; species stand apart by spaces.
func reaction(id, from, to, law string, fast bool) string {
	side := func(list, species string) string {
		if species == "" {
			return ""
		}
		text := "<" + list + ">"
		for _, s := range strings.Fields(species) {
			n, id, many := strings.Cut(s, "*")
			if !many {
				n, id = "1", s
			}
			text += fmt.Sprintf(`<speciesReference species=%q stoichiometry=%q constant="true"/>`, id, n)
		}
		return text + "</" + list + ">"
	}
	return fmt.Sprintf(`<reaction id=%q fast="%t">%s%s<kineticLaw>%s</kineticLaw></reaction>`, id, fast,
		side("listOfReactants", from), side("listOfProducts", to), maths(law))
}

// fastKinds are networks of fast reactions. What they do is that of their rate laws times a large number.
var fastKinds = []struct{ name, reactions, events string }{
	{"used up", reaction("f", "S0 S1", "S2", product("big", "k1", "S0", "S1"), true), ""},
	{"backward", reaction("f", "S0", "S1", ap("minus", product("big", "k1", "S1")), true), ""},
	{"either way", reaction("f", "S0", "S1 S2", product("big", "either", "S0", "S2"), true), ""},
	{"reversible", reaction("f", "S0 S1", "S2", ap("times", "<ci>big</ci>",
		ap("minus", product("k1", "S0", "S1"), product("k2", "S2"))), true), ""},
	{"twice", reaction("f", "2*S0", "S1", ap("times", "<ci>big</ci>",
		ap("minus", ap("times", "<ci>k1</ci>", ap("power", "<ci>S0</ci>", "<cn>2</cn>")),
			product("k2", "S1"))), true), ""},
	{"saturated", reaction("f", "S0", "S1", ap("divide", ap("times", "<ci>big</ci>",
		ap("minus", product("k1", "S0"), product("k2", "S1"))),
		ap("plus", "<cn>1</cn>", ap("divide", "<ci>S0</ci>", "<ci>k3</ci>"), product("S1"))), true), ""},
	{"chain", reaction("f", "S0", "S1", ap("times", "<ci>big</ci>",
		ap("minus", product("k1", "S0"), product("k2", "S1"))), true) +
		reaction("g", "S1", "S2", product("big", "k3", "S1"), true), ""},
	{"circle", reaction("f", "S0", "S1", product("big", "k1", "S0"), true) +
		reaction("g", "S1", "S2", product("big", "k2", "S1"), true) +
		reaction("h", "S2", "S0", product("big", "k3", "S2"), true), ""},
	{"network", reaction("f", "S0 S1", "S2", ap("times", "<ci>big</ci>",
		ap("minus", product("k1", "S0", "S1"), product("k2", "S2"))), true) +
		reaction("g", "S2", "S3 S4", ap("times", "<ci>big</ci>",
			ap("minus", product("k3", "S2"), product("k2", "S3", "S4"))), true), ""},
	{
		"switched", reaction("f", "S0", "S1", product("big", "on", "k1", "S0"), true),
		`<listOfEvents>` + switched("e1", "0.7", "1") + switched("e2", "1.6", "0") + `</listOfEvents>`,
	},
}

func switched(id, at, to string) string {
	time := `<csymbol encoding="text" definitionURL="http://www.sbml.org/sbml/symbols/time">t</csymbol>`
	return fmt.Sprintf(`<event id=%q useValuesFromTriggerTime="true"><trigger initialValue="true" persistent="true">%s`+
		`</trigger><listOfEventAssignments><eventAssignment variable="on">%s</eventAssignment>`+
		`</listOfEventAssignments></event>`, id, maths(ap("geq", time, "<cn>"+at+"</cn>")), maths("<cn>"+to+"</cn>"))
}

// TestFastReactions compares equilibria with rate laws of ten million times the size.
func TestFastReactions(t *testing.T) {
	seed := seeds.Of(t, 61)
	for _, kind := range fastKinds {
		for k := range *fastModels {
			r := rand.New(rand.NewPCG(seed, uint64(k)))
			text := `<listOfCompartments><compartment id="c" size="` + fmt.Sprint(0.5+r.Float64()) +
				`" constant="true"/></listOfCompartments><listOfSpecies>`
			for i := range 5 {
				text += fmt.Sprintf(`<species id="S%d" compartment="c" initialAmount="%v" hasOnlySubstanceUnits="%t"/>`,
					i, 0.5+2*r.Float64(), r.IntN(2) == 0)
			}
			either := 1.0
			if k%2 == 1 {
				either = -1
			}
			text += fmt.Sprintf(`</listOfSpecies><listOfParameters><parameter id="big" value="BIG" constant="true"/>`+
				`<parameter id="on" value="0" constant="false"/>`+
				`<parameter id="either" value="%v" constant="true"/>`, either)
			for i := range 6 {
				text += fmt.Sprintf(`<parameter id="k%d" value="%v" constant="true"/>`, i, 0.5+r.Float64())
			}
			text += `</listOfParameters><listOfReactions>` + kind.reactions +
				reaction("in", "", "S0", product("k4"), false) +
				reaction("out", "S1", "", ap("times", "<cn>0.3</cn>", product("k5", "S1")), false) +
				reaction("turn", "S2", "S1", ap("times", "<cn>0.2</cn>", product("S2")), false) +
				`</listOfReactions>` + kind.events
			text = wrap(text)
			got, of := fastRun(t, kind.name, strings.Replace(text, "BIG", "1", 1), false)
			want, _ := fastRun(t, kind.name, strings.Replace(text, "BIG", "1e7", 1), true)
			for name, w := range want {
				if len(w) != len(fastTimes) || len(got[name]) != len(w) {
					t.Fatalf("%s: %d and %d values of %s\n%s", kind.name, len(w), len(got[name]), name, of)
				}
				for i, g := range got[name] {
					if !(math.Abs(g-w[i]) <= 2e-4*(1+math.Abs(w[i]))) {
						t.Errorf("%s, model %d: %s at %v is %v, and %v by rate laws\n%s", kind.name, k, name,
							fastTimes[i], g, w[i], of)
					}
				}
			}
		}
	}
}

var fastTimes = []float64{0.3, 1, 1.5, 2.2, 3}

func fastRun(t *testing.T, name, text string, ignore bool) (values map[string][]float64, of string) {
	t.Helper()
	out, wrong := translate(name, text, sbml.Options{To: "3", IgnoreFast: ignore})
	if wrong != "" {
		t.Fatalf("%s: %s", name, wrong)
	}
	m, err := odes.Parse(name, out, odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	sol, err := m.Solve(context.Background(), odes.Options{
		Times: fastTimes, Threads: 1,
		Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-8"}, {Key: "solver.atol", Value: "1e-10"}},
	})
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, out)
	}
	values = map[string][]float64{}
	for _, o := range sol.Outputs {
		if !strings.HasPrefix(o.Name, "S") {
			continue
		}
		for i, at := range sol.T {
			for _, want := range fastTimes {
				if at == want {
					values[o.Name] = append(values[o.Name], o.Values[i])
				}
			}
		}
	}
	return values, out
}

// TestFastRefused: equilibria that may not be the only ones, or that something else moves, are refused.
func TestFastRefused(t *testing.T) {
	before := `<listOfCompartments><compartment id="c" size="1" constant="true"/></listOfCompartments><listOfSpecies>`
	for _, s := range []string{"A", "B", "E"} {
		before += fmt.Sprintf(`<species id=%q compartment="c" initialAmount="1" hasOnlySubstanceUnits="true"/>`, s)
	}
	before += `</listOfSpecies><listOfParameters><parameter id="k" value="1" constant="true"/>` +
		`<parameter id="p" value="1" constant="false"/></listOfParameters>`
	one := func(law string) string {
		return `<listOfReactions>` + reaction("f", "A", "B", law, true) + `</listOfReactions>`
	}
	sets := func(id string) string {
		return `<listOfEvents>` + strings.Replace(switched("e", "1", "2"), `"on"`, `"`+id+`"`, 1) + `</listOfEvents>`
	}
	difference := ap("minus", product("k", "A"), product("p", "B"))
	for _, c := range [][2]string{
		{one(product("k", "E")), "no species that it changes is in its law"},
		{one(ap("plus", product("k", "A"), product("k", "B"))), "its law may grow along it, with B"},
		{one(ap("minus", product("k", "A", "B"), product("k", "B"))), "its law may grow along it, with B"},
		{one(ap("sin", product("A"))), "no difference of products"},
		{one(ap("times", ap("minus", "<cn>1</cn>"), product("A"))), "its law has no rest"},
		{one(product("k", "A")) + sets("A"), "an event sets A"},
		{one(difference) + sets("p"), "the signs of factors of its law are not known"},
		{
			`<listOfInitialAssignments><initialAssignment symbol="p">` + maths("<ci>A</ci>") + `</initialAssignment>` +
				`</listOfInitialAssignments>` + one(product("k", "A")),
			"the initial assignment of p reads what it determines",
		},
		{
			`<listOfReactions>` + reaction("f", "A", "B", product("k", "A", "B"), true) +
				reaction("g", "B", "E", product("k", "B"), true) + `</listOfReactions>`,
			"its law may grow along it, with B",
		},
		{
			`<listOfReactions>` + reaction("f", "A B", "E", product("k", "A", "B"), true) +
				reaction("g", "E", "B", product("k", "E"), true) + `</listOfReactions>`,
			"not all of them are reversible, independent and of mass action",
		},
	} {
		got, message := translate("m", wrap(before+c[0]), sbml.Options{})
		if !strings.Contains(message, c[1]) || !strings.Contains(message, "--ignore-fast takes its rate law") {
			t.Errorf("%q, not %q\n%s", message, c[1], got)
		}
	}
	// With none of what a law needs and makes, nothing happens by the law.
	text := wrap(before + one(product("k", "A", "B")))
	for amount, want := range map[string]string{"0": "its law needs B, which it makes", "0.1": ""} {
		none := strings.Replace(text, `id="B" compartment="c" initialAmount="1"`,
			`id="B" compartment="c" initialAmount="`+amount+`"`, 1)
		if _, message := translate("m", none, sbml.Options{}); !strings.Contains(message, want) ||
			want == "" && message != "" {
			t.Errorf("with %s of B: %q", amount, message)
		}
	}
	started := strings.Replace(text, "<listOfReactions>", `<listOfInitialAssignments><initialAssignment symbol="B">`+
		maths("<ci>k</ci>")+`</initialAssignment></listOfInitialAssignments><listOfReactions>`, 1)
	if got, message := translate("m", started, sbml.Options{}); !strings.Contains(got, "assert k > 0") {
		t.Errorf("%q\n%s", message, got)
	}
}

// TestSlow changes the mark of fast reactions, and no other byte.
func TestSlow(t *testing.T) {
	head := `<?xml version="1.0"?><sbml level="3"><model><reaction id="a>b" `
	for from, to := range map[string]string{
		`fast="true">`: `fast="0"   >`, `fast = '1' reversible="true"/>`: `fast = "0" reversible="true"/>`,
		`fast="false">`: `fast="false">`, `name=' fast="true"'>`: `name=' fast="true"'>`,
		"\n\tx:fast=\"true\">": "\n\tx:fast=\"true\">",
	} {
		if got := string(sbml.Slow([]byte(head + from))); got != head+to {
			t.Errorf("%s becomes %s", head+from, got)
		}
	}
	for _, text := range []string{"", "model m", `<html><reaction fast="true"/></html>`} {
		if got := string(sbml.Slow([]byte(text))); got != text {
			t.Errorf("%s becomes %s", text, got)
		}
	}
}
