package xpp_test

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
	"odes.dev/odes/internal/exchange/xpp"
	"odes.dev/odes/internal/testing/mangle"
	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// tank is a file with most of what is read, and a solution in closed form.
const tank = `# a tank
" a comment in quotes
Par A=2, B=0.5
par half, other=3
number two=2
!ab=a*B
init x=1 y=2
z[1..3](0)=[j]
x'=-ab*X + \
   ab*2
dy/dt=if(t<1)then(-y)else(twice(y)-2*y)
z[1..3]'=-[j]*z[j]
twice(q)=q*two
fix=heav(t-2)+max(1,2)
aux fix=fix+1
aux all=sum(1,3)of(shift(z1,i'-1))
aux P.E.=atan2(1,1)+mod(5,3)+sign(-2)+flr(1.5)
global 1 t-2 {x=x+1; b=0}
@ total=3, dt=.01, meth=stiff
done
this is no longer read
`

func translate(text string) (*source.File, error) {
	var list diag.List
	out := xpp.Translate(source.NewFile("tank.ode", text), &list)
	return out, list.Err()
}

// run returns the outputs of a text at times.
func run(t *testing.T, text string, times []float64) func(name string, k int) float64 {
	t.Helper()
	m, err := odes.Parse("tank.ode", text, odes.ParseOptions{})
	if err != nil {
		t.Fatal(err)
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
			if strings.EqualFold(o.Name, name) {
				return o.Values[row]
			}
		}
		t.Fatalf("there is no output %q", name)
		return 0
	}
}

// TestTank: the file means what its equations say.
func TestTank(t *testing.T) {
	if !xpp.Is(tank) {
		t.Fatal("the file is not recognised")
	}
	at := run(t, tank, []float64{0, 0.5, 1.5, 2.5})
	x := func(t float64) float64 { return 2 - math.Exp(-t) }
	for _, c := range []struct {
		name string
		k    int
		want float64
	}{
		{"x", 1, x(0.5)},
		{"x", 3, x(2) + 1}, // its rate is zero from the event on
		{"y", 1, 2 * math.Exp(-0.5)},
		{"y", 3, 2 * math.Exp(-1)},
		{"z3", 2, 3 * math.Exp(-4.5)},
		{"fix", 1, 2},
		{"fix", 3, 3},
		{"aux_fix", 3, 4},
		{"all", 1, math.Exp(-0.5) + 2*math.Exp(-1) + 3*math.Exp(-1.5)},
		{"p_e_", 0, math.Pi/4 + 2 - 1 + 1},
	} {
		if got := at(c.name, c.k); math.Abs(got-c.want) > 1e-8 {
			t.Errorf("%s at %d: %v, want %v", c.name, c.k, got, c.want)
		}
	}
}

// TestDelays: `x(0) = e` gives the past and the start, and `init` the start alone, with 0 before it.
func TestDelays(t *testing.T) {
	at := run(t, `par tau=0.5
x'=delay(x,tau)
init x=2
y'=delay(y,2*tau)
y(0)=1-t
z'=delay(z,1)
z(0)=t
init z=3
w0'=0
w1'=del_shft(w0,3-1,1)
w2'=0
w2(0)=4
@ total=2
`, []float64{0.25, 0.75, 1})
	for _, c := range []struct {
		name string
		k    int
		want float64
	}{
		{"x", 0, 2},
		{"x", 1, 2.5},
		{"y", 0, 1 + 2*0.25 - 0.25*0.25/2},
		{"y", 2, 2.5},
		{"z", 0, 3 + 0.25*0.25/2 - 0.25},
		{"z", 2, 2.5},
		{"w1", 2, 4},
	} {
		if got := at(c.name, c.k); math.Abs(got-c.want) > 1e-8 {
			t.Errorf("%s at %d: %v, want %v", c.name, c.k, got, c.want)
		}
	}
}

// TestIs tells files of XPPAUT from models of odes, whose names end alike.
func TestIs(t *testing.T) {
	for text, want := range map[string]bool{
		"x'=-x\ninit x=1\ndone\n": true,
		"dx/dt = -x\n":            true,
		"x'=-x\n@ total=5\n":      true,
		"x'=1\r\nx(0)=2\r\n":      true,
		"time t from 0 to 1\nparam k = 1, c = 2\nstate x = 1\nx' = 1": false,
		"model m\ntime t from 0 to 1\nstate done = 1\ndone' = -done":  false,
		"# done\nx' = 1\n": false,
		"":                 false,
	} {
		if xpp.Is(text) != want {
			t.Errorf("%q: not %v", text, want)
		}
	}
}

// TestRefused: what has no translation is named, where it stands.
func TestRefused(t *testing.T) {
	for text, want := range map[string]string{
		"wiener w\nx'=-x+w":            "tank.ode:1:1: the file has noise",
		"x'=-x+ran(1)":                 "tank.ode:1:7: ran draws random numbers",
		"x'=-x+delay(x)":               "delay has 2",
		"table f f.tab\nx'=f(x)":       "reads a table",
		"markov z 2\nx'=z":             "a Markov variable",
		"x(t+1)=2*x":                   "is a map",
		"x'=-y":                        `tank.ode:1:5: "y" is not defined`,
		"x'=2^3^2":                     "a power of a power",
		"x'=f(x)":                      `"f" is no function that odes reads of XPPAUT`,
		"x'=1\nx'=2":                   "x has two differential equations",
		"par a=1\na(0)=2\nx'=a":        "a gets a value at the start, and has no differential equation",
		"global 2 x {x=1}\nx'=1":       "global has a direction",
		"global 1 x-1 {arret=1}\nx'=1": "arret stops a run",
		"x'=sum(0,2)of(shift(x,i'))":   "no variable stands 1 places behind x",
		"aux y=1":                      "the file has no differential equation",
		"x'=1\nwhat is this":           "this line is none that odes reads",
		"x'=1\n@ total=long":           `total is "long"`,
		"x'=if(x>1)then(2)":            "else(…) is expected",
		"x'=i'":                        "i' is the index of a sum",
		"x'=volt\nvolterra x=int{x#x}": "an integral equation",
		"special k=conv(x,1)\nx'=k":    "a special network function",
	} {
		if _, err := translate(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestMangled: of files with parts that are lost, doubled and exchanged, each becomes a model that parses, or an error.
func TestMangled(t *testing.T) {
	pieces := regexp.MustCompile(`\w+|[^\w]`).FindAllString(tank, -1)
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
	f.Add(tank)
	f.Fuzz(func(t *testing.T, text string) { sound(t, text) })
}

// TestReference compares files that lie beside this project, where they do, with solutions of SciPy.
func TestReference(t *testing.T) {
	const at = "../../../../shared/reference/doors/"
	text, err := os.ReadFile(at + "xpp.json")
	if err != nil {
		t.Skip("the reference files are not at hand")
	}
	var list struct {
		Cases []struct {
			ID, File string
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
		if len(c.Columns) == 0 {
			if _, err := translate(string(text)); err == nil {
				t.Errorf("%s is translated", c.ID)
			}
			continue
		}
		got := run(t, string(text), c.T)
		for name, want := range c.Columns {
			size := 0.0
			for _, v := range want {
				size = max(size, math.Abs(v))
			}
			for k, v := range want {
				if math.Abs(got(name, k)-v) > 1e-6*size {
					t.Errorf("%s: %s at %v is %v, want %v", c.ID, name, c.T[k], got(name, k), v)
					break
				}
			}
		}
	}
}
