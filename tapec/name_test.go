package tapec

import (
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes/tape"
)

// Every name of every role and variation is what its text is read as.
func TestNames(t *testing.T) {
	seen := map[string]Name{}
	for role := noRole + 1; role < numRoles; role++ {
		var list []Name
		switch roles[role].form {
		case alone:
			list = []Name{role.Name()}
		case named:
			for _, of := range []string{"x", "k_1", "α", "a.b", "dot.p.A", "bar.p.A", "x'", "0"} {
				list = append(list, role.Called(of))
			}
		case numbered:
			list = []Name{role.Number(0), role.Number(7), role.Number(120)}
		}
		for _, n := range list {
			for v := Primal; v < NumVariations; v++ {
				n := n.As(v)
				text := n.String()
				if other, ok := seen[text]; ok {
					t.Errorf("%q is the text of %+v and of %+v", text, n, other)
				}
				seen[text] = n
				if got, err := ParseName(text); err != nil || got != n {
					t.Errorf("%q is read as %+v (%v), want %+v", text, got, err, n)
				}
			}
		}
	}
}

func TestNameTexts(t *testing.T) {
	for _, c := range []struct {
		name Name
		want string
	}{
		{Time.Name(), "t"},
		{State.Called("x"), "y.x"},
		{LeftState.Called("x").Bar(), "bar.ym.x"},
		{Param.Called("k").Dot(), "dot.p.k"},
		{Rate.Called("x").Bar().Dot(), "dot.bar.dy.x"},
		{Discrete.Called("g"), "d.g"},
		{LeftDiscrete.Called("g"), "dm.g"},
		{HeldMode.Number(0), "m.0"},
		{Integrand.Number(2).Bar(), "bar.dq.2"},
		{Functionals.Number(3), "F.3"},
		{Functionals.Number(3).Bar().Primal(), "F.3"},
		{Fired.Name(), "fired"},
		{DataRow.Name(), "row"},
		{RowSide.Called(Param.Called("A").Dot().String()), "row.dot.p.A"},
	} {
		if got := c.name.String(); got != c.want {
			t.Errorf("%+v is written %q, want %q", c.name, got, c.want)
		}
	}
	if got := Functionals.Number(3).Number(); got != 3 {
		t.Errorf("the number of F.3 is %d", got)
	}
}

// Text that names nothing is an error, and the message quotes it.
func TestWrongNames(t *testing.T) {
	for _, text := range []string{
		"", ".", "x", "y", "y.", "Y.x", "q.x", "t.x", "fired.0", "psi.", "m", "m.", "m.x", "m.-1", "m.+1", "m.01",
		"m. 1", "F.1.0", "bar.", "bar", "dot.", "bar.x", "bar.bar.p.k", "bar.dot.p.k", "dot.dot.p.k", "dot.bar.bar.p.k",
		"column", " p.k", "out",
	} {
		n, err := ParseName(text)
		if err == nil {
			t.Errorf("%q is read as %+v", text, n)
		} else if !strings.Contains(err.Error(), `"`+text+`"`) {
			t.Errorf("the error of %q is %q", text, err)
		}
	}
}

// Making a name that cannot exist panics.
func TestImpossibleNames(t *testing.T) {
	for what, make := range map[string]func(){
		"a time called x":           func() { Time.Called("x") },
		"a param without a name":    func() { Param.Name() },
		"a mode called x":           func() { HeldMode.Called("x") },
		"state 3":                   func() { State.Number(3) },
		"no role":                   func() { noRole.Name() },
		"a role too many":           func() { numRoles.Called("x") },
		"a cotangent's cotangent":   func() { Time.Name().Bar().Bar() },
		"a tangent's cotangent":     func() { Time.Name().Dot().Bar() },
		"a tangent's tangent":       func() { Time.Name().Dot().Dot() },
		"the number of a param":     func() { Param.Called("k").Number() },
		"a text that names nothing": func() { MustName("k") },
		"a pick of such a text":     func() { ByName(func(Name) bool { return true })("k") },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", what)
				}
			}()
			make()
		}()
	}
}

// All inputs and outputs of models' tapes, and of their derivatives, have Names.
func TestTapesHaveNames(t *testing.T) {
	files, err := filepath.Glob("testdata/lower/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no models: %v", err)
	}
	named := func(tp *tape.Tape) {
		t.Helper()
		for _, in := range tp.Inputs {
			if _, err := ParseName(in.Name); err != nil {
				t.Errorf("tape %s: input %v", tp.Name, err)
			}
		}
		for _, o := range tp.Outputs {
			if _, err := ParseName(o.Name); err != nil {
				t.Errorf("tape %s: output %v", tp.Name, err)
			}
		}
	}
	for _, file := range files {
		c := try(t, golden(t, strings.TrimSuffix(filepath.Base(file), ".txtar")))
		for _, x := range c.Tapes() {
			named(x)
			var of, wrt []string
			for _, in := range x.Inputs {
				wrt = append(wrt, in.Name)
			}
			for _, o := range x.Outputs {
				of = append(of, o.Name)
			}
			second, err := SecondVJP(x, of, wrt, false)
			if err != nil {
				t.Fatal(err)
			}
			named(second)
			push, err := JVP(x, of, wrt)
			if err != nil {
				t.Fatal(err)
			}
			named(push)
			early, rest := Split(x, RunWork, ByName(func(n Name) bool { return n.Role != Param }))
			named(early)
			named(rest)
		}
	}
}
