package antimony_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/exchange/antimony"
	"odes.dev/odes/internal/testing/mangle"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// vessels has most of what is read, and a solution in closed form.
const vessels = `// a comment; with a semicolon
function twice(x)  /* over
  two lines */
  2*x
end
model *drain(S, k)
  species S; S -> ; k*S
  k = 9; S = 7
end
model rig()
  compartment c = 2, d = 4; species A in c, $F in c; substanceOnly species M in c;
  A = 3 mM; F = 6/c; k1 = 0.5; M = 5
  J0: 2 A + $F => 1.5 B; c*k1   # amounts a unit of time
  B in c; B = 1
  One: drain(X, kx); Two: drain(Y, 0.25); Two.k = 0.75
  kx = 0.3; X = 4; species X in d;
  Out: M -> ; vm; vm = twice(0.5)*log(exp(2))/2
  Out.sboTerm = 176; A is "a substance"; A identity "http://a.b/c",
    "http://a.b/d"
  r' = time; r = 1; total := A + B - -2^2
  E: at 0.5 after (time >= 1), priority = 2, fromTrigger = false:
    q = q + r, B = B + 1
  at time > 1.75: B = 3*B
  q = piecewise(4, k1 > 1, 2)
end
model *chosen
  R: rig(); gone: drain(); delete gone.S; 2 Z -> ; 0.5*Z; Z = 1
  Z in R.d
end
chosen is "a rig"
`

func translate(text string) (*source.File, error) {
	var list diag.List
	out := antimony.Translate(source.NewFile("m.ant", text), "3", &list)
	return out, list.Err()
}

// run returns the outputs of a translation at times.
func run(t *testing.T, text string, end float64, times []float64) func(name string, k int) float64 {
	t.Helper()
	out, err := translate(text)
	if err != nil {
		t.Fatal(err)
	}
	model := strings.Replace(out.Text(), "from 0 to 3", "from 0 to "+jsonNumber(end), 1)
	m, err := odes.Parse("m.ode", model, odes.ParseOptions{})
	if err != nil {
		t.Fatalf("%v\n%s", err, model)
	}
	s, err := m.Solve(context.Background(), odes.Options{
		Threads: 1, Times: times,
		Settings: []odes.Setting{{Key: "solver.rtol", Value: "1e-10"}, {Key: "solver.atol", Value: "1e-13"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return func(name string, k int) float64 {
		row := -1
		for i, at := range s.T {
			if at <= times[k] {
				row = i // of rows at an event, the last
			}
		}
		for _, o := range s.Outputs {
			if o.Name == name {
				return o.Values[row]
			}
		}
		return math.NaN()
	}
}

func jsonNumber(x float64) string {
	b, _ := json.Marshal(x)
	return string(b)
}

// TestVessels: the text means what its reference says.
func TestVessels(t *testing.T) {
	if !antimony.Is("vessels", vessels) {
		t.Fatal("the text is not recognised")
	}
	at := run(t, vessels, 3, []float64{0, 1, 1.25, 2.5})
	for _, c := range []struct {
		name string
		k    int
		want float64
	}{
		{"R__A", 2, 3 - 2*0.5*1.25},
		{"R__B", 1, 1 + 0.75},
		{"R__B", 3, 3*(2+0.75*1.75) + 0.75*0.75},
		{"R__M", 1, 4},
		{"R__X", 1, 4 * math.Exp(-0.3/4)}, // its rate is of the amount, in the compartment d
		{"R__Y", 1, 7 * math.Exp(-0.75)},
		{"R__r", 3, 1 + 2.5*2.5/2},
		{"R__q", 1, 2},
		{"R__q", 3, 2 + 1 + 1.5*1.5/2},
		{"R__total", 1, 2 + 1.75 + 4},
		{"Z", 1, math.Exp(-0.25)},
	} {
		if got := at(c.name, c.k); !(math.Abs(got-c.want) < 1e-8) {
			t.Errorf("%s at %d: %v, want %v", c.name, c.k, got, c.want)
		}
	}
}

// TestIs tells Antimony from models of odes.
func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"S1 -> S2; k1*S1\nS1 = 10; k1 = 0.1\n":                                true,
		"model m()\n  a := 3;\n  x' = a\nend":                                 true,
		"model m\ntime t from 0 to 1\nstate x = 1\nx' = 1\n":                  false,
		"model m\ntime t from 0 to 1\nreaction r: A -> B rate k # -> ;\n":     false,
		"time t from 0 to 1\nevent e when x > 1 { x = 1; y = 2 } # a => b;\n": false,
		"": false,
	} {
		if antimony.Is("m.ode", text) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
	if !antimony.Is("M.ANT", "") {
		t.Error("the ending does not count")
	}
}

// TestRefused: what is wrong, or has no translation, is named where it stands.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"x' = y":                           `m.ant:1:6: "y" has no value`,
		"x' = f(1)":                        `"f" is no function that odes reads of Antimony`,
		"x' = normal(0, 1)":                "normal draws random numbers",
		"x' = 1; x = \"a":                  "the quotation mark is not closed",
		"x' = 1 /* x":                      "the comment is not closed",
		"import \"a.ant\"\nx' = 1":         "imports another file",
		"model a\nx'=1\nend\nmodel a\nend": `the model "a" is there twice`,
		"model a\nx'=1\nend\nb: a(), timeconv = 60": "conversion factors of modules",
		"model a(x)\nx'=1\nend\nb: a(c, d)":         "the model a has 1 arguments, and gets 2",
		"x'=1; at x > 2, often=true: x = 1":         `"often=true" is no option of events`,
		"x'=1; at x > 2, t0=maybe: x = 1":           "t0 is true or false",
		"x'=1; at x > 2: 3":                         `"3" is no assignment`,
		"x'=1; at x > 2":                            "an event has a condition and assignments",
		"maximize: x; x' = 1":                       "a problem of flux balance",
		"DNA c; x'=1":                               "strands of DNA are not read",
		"a*b -> c; 1":                               `"a*b" is no species`,
		"x' = 1; x = 1; what on earth":              "this statement is none that odes reads",
		"x' = delay(x); x = 1":                      "delay has 2",
		"S' = 0.5 S; S = 1":                         `m.ant:1:10: "S" is a name of the model and no unit: write 0.5*S`,
		"p = 0.7 S; S' = p; S = 1 mM":               `write 0.7*S for a product`,
		"p = 2 time; S' = p; S = 1":                 `write 2*time for a product`,
		"function f(x)\n 2x\nend\nz' = f(1)":        `write 2*x for a product`,
		"species S; S' = -S; S = 1; S -> ; 0.1*S":   "the species S has a rule, and the reaction _J0 changes it",
		"S -> P; 0.3*S; S := 2":                     "the species S has a rule, and the reaction _J0 changes it",
		"x := 2; x = 3; S' = x; S = 1":              "a rule gives x at all times",
		"time = 3; S' = 1; S = 1":                   "time is the time of the run",
		"// nothing":                                "the text has no model",
		"function f(x)\n x*y\nend\nz' = f(1)":       `"y" has no value`,
	} {
		if _, err := translate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestMangled: of texts with parts that are lost, doubled and exchanged, each becomes a model that parses, or an error.
func TestMangled(t *testing.T) {
	pieces := regexp.MustCompile(`\w+|[^\w]`).FindAllString(vessels, -1)
	first := seeds.Of(t, 0)
	for seed := range uint64(300) {
		sound(t, mangle.Mangle(rand.New(rand.NewPCG(first+seed, 1)), pieces, nil))
	}
}

// sound fails where a text becomes neither a model that parses, nor an error.
func sound(t *testing.T, text string) {
	model, wrong := "", ""
	out, err := translate(text)
	if out != nil {
		model = out.Text()
	}
	if err != nil {
		wrong = err.Error()
	}
	mangle.Sound(t, text, model, wrong)
}

// FuzzTranslate: whatever a text holds, it becomes a model that parses, or an error.
func FuzzTranslate(f *testing.F) {
	f.Add(vessels)
	f.Fuzz(func(t *testing.T, text string) { sound(t, text) })
}

// TestReference compares texts that lie beside this project, where they do, with runs of libroadrunner.
func TestReference(t *testing.T) {
	const at = "../../../../shared/reference/doors/"
	text, err := os.ReadFile(at + "antimony.json")
	if err != nil {
		t.Skip("the reference texts are not at hand")
	}
	var list struct {
		Cases []struct {
			ID, File string
			End      float64
			T        []float64
			Columns  map[string][]float64
		}
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	for _, c := range list.Cases {
		text, err := os.ReadFile(filepath.Join(at, c.File))
		if err != nil {
			t.Fatal(err)
		}
		got := run(t, string(text), c.End, c.T)
		for name, want := range c.Columns {
			size := 0.0
			for _, v := range want {
				size = max(size, math.Abs(v))
			}
			for k, v := range want {
				if !(math.Abs(got(strings.ReplaceAll(name, ".", "__"), k)-v) <= 1e-6*size) {
					t.Errorf("%s: %s at %v is %v, want %v", c.ID, name, c.T[k], got(name, k), v)
					break
				}
			}
		}
	}
}

// TestDeletedSpecies: a reaction goes on without a species that was deleted, and ends if its rate reads it, as
// libantimony has it.
func TestDeletedSpecies(t *testing.T) {
	const text = `model base()
  species A, B; A = 2; B = 1; k = 0.5
  r1: A + 2 B -> C; k*A*B
  C = 0
end
model *derived()
  m: base(); species D = 1; D -> ; D
  delete m.%s
end
`
	for name, want := range map[string]string{"C": "m__B' = -2*m__r1", "B": "D'"} {
		out, err := translate(strings.Replace(text, "%s", name, 1))
		if err != nil {
			t.Fatal(err)
		}
		got := out.Text()
		if !strings.Contains(got, want) || strings.Contains(got, "m__"+name) {
			t.Errorf("without %s:\n%s", name, got)
		}
		if reacts := strings.Contains(got, "m__A'"); reacts != (name == "C") {
			t.Errorf("without %s, A reacts: %v", name, reacts)
		}
	}
}

// TestEndInLine: the word end ends a function or a model in any line; in a name it is a part of that.
func TestEndInLine(t *testing.T) {
	const text = `function mm(v, K, S) v*S/(K + S) end
model m() species S; S = 1; S -> ; mm(1, K, S); K = 2; endless = 2; end model n() x' = 1; x = 3 end
model *both() a: m(); b: n(); a.endless = 3 end
`
	at := run(t, text, 3, []float64{0, 2})
	s := at("a__S", 1) // 2 log(S) + S = 1 - t
	if x := at("b__x", 1); math.Abs(x-5) > 1e-9 || math.Abs(2*math.Log(s)+s+1) > 1e-8 {
		t.Errorf("x is %v, want 5; S is %v", x, s)
	}
}

// TestGivenWhereVolumeMoves: what lies on the boundary of a compartment that changes begins with the concentration of
// its formula, and its amount remains.
func TestGivenWhereVolumeMoves(t *testing.T) {
	at := run(t, `model m()
  compartment c = 2; c' = 0.5
  species $S in c, $A in c, B in c; S = 2*p + 0.3; A = 3; B = p; p = 1
  B -> ; 0*B
end
`, 3, []float64{0, 2})
	for name, want := range map[string]float64{"S": 2.3, "A": 3, "B": 1} {
		if x, y := at(name, 0), at(name, 1); math.Abs(x-want) > 1e-9 || math.Abs(y-want*2/3) > 1e-9 {
			t.Errorf("%s goes from %v to %v, want %v to %v", name, x, y, want, want*2/3)
		}
	}
}

// TestReactionAgain: a reaction of an outer module replaces that of the same name in a module inside.
func TestReactionAgain(t *testing.T) {
	at := run(t, `model a(x)
  J: x -> ; k*x; k = 0.3; x = 1
end
model *b()
  I: a(y); I.J: y -> w; 0.5*y; w = 0
end
`, 3, []float64{2})
	if y, w := at("y", 0), at("w", 0); math.Abs(y-math.Exp(-1)) > 1e-8 || math.Abs(y+w-1) > 1e-8 {
		t.Errorf("y = %v, w = %v", y, w)
	}
}

// TestEventAgain: a later event of the same name replaces the first one, also that of a module inside.
func TestEventAgain(t *testing.T) {
	at := run(t, `model a()
  x = 1; x' = 0; y = log(2, 8); y' = 0
  E: at time > 1: x = 2; E: at time > 2: x = x + 3; at time > 0.5: y = y + 1
end
model *b
  I: a(); J: a(); J.E: at time > 0.2: J.x = 7
end
`, 3, []float64{1.5, 2.5})
	for name, want := range map[string][2]float64{"I__x": {1, 4}, "J__x": {7, 7}, "I__y": {4, 4}} {
		if x, y := at(name, 0), at(name, 1); math.Abs(x-want[0])+math.Abs(y-want[1]) > 1e-12 {
			t.Errorf("%s is %v, and %v later, want %v", name, x, y, want)
		}
	}
}
