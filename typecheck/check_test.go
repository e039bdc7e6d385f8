package typecheck

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

func checkText(t testing.TB, name, text string, env Env) (*Model, []diag.Diagnostic) {
	t.Helper()
	var l diag.List
	f := parser.Parse(source.NewFile(name, text), &l)
	if l.HasErrors() {
		t.Fatalf("%s does not parse: %v", name, l.Err())
	}
	m := Check(f, env, &l)
	return m, l.All()
}

func render(ds []diag.Diagnostic) string {
	var b strings.Builder
	for _, d := range ds {
		p := d.Span.Begin()
		fmt.Fprintf(&b, "%d:%d: %s: %s [%s]\n", p.Line, p.Column, d.Level, d.Message, d.Code)
	}
	return b.String()
}

func TestTmp(t *testing.T) {
	for _, n := range []string{"bounce", "glv", "vdp", "heat2d", "robertson", "enzyme", "control", "pk"} {
		b, err := os.ReadFile("/work/shared/models/" + n + ".ode")
		if err != nil {
			t.Fatal(err)
		}
		m, ds := checkText(t, n+".ode", string(b), Env{})
		fmt.Println("=====", n)
		fmt.Print(render(ds))
		if m != nil {
			Dump(os.Stdout, m)
		}
	}
}
