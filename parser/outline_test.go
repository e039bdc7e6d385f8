package parser

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
)

const outlined = `model M "a model"
time t : [s] from 0 to 1
## rate
param k = 2 [1/s] in [0, 5], b[2] : [m] = [1 [m], k * 1 [m*s]]
state x = 1, y[2] = 0
x' = -k*x
y[1]' = x; y[2]' += 2*x for i in 1:1
solver fast { rtol = 1e-9 }
event when x < 0.5 { x = 1 }
`

func TestOutline(t *testing.T) {
	items, err := Outline("m.ode", outlined+"param = 3\n")
	if list := diag.Of(err); len(list) != 1 {
		t.Errorf("diagnostics: %v", list)
	}
	var b strings.Builder
	for _, it := range items {
		fmt.Fprint(&b, it.Kind)
		for _, p := range it.Parts {
			text := outlined[p.Start:p.End]
			if it.Start > p.Start || it.End < p.End || p.ValueStart != 0 &&
				!strings.Contains(text, outlined[p.ValueStart:p.ValueEnd]) {
				t.Errorf("%s %s: places do not nest", it.Kind, p.Name)
			}
			fmt.Fprintf(&b, " %s=%q", p.Name, outlined[p.ValueStart:p.ValueEnd])
		}
		fmt.Fprintln(&b)
	}
	const want = `model M=""
time t=""
param k="2 [1/s]" b="[1 [m], k * 1 [m*s]]"
state x="1" y="0"
equation x'="-k*x"
equation y[1]'="x"
equation y[2]'="2*x"
solver fast rtol="1e-9"
event
bad
`
	if b.String() != want {
		t.Errorf("got\n%s", b.String())
	}
}

func TestTokens(t *testing.T) {
	var got []string
	for _, k := range TokensOf("x(3.5) + `a b`*k # remark") {
		got = append(got, k.Kind.String()+":"+k.Text)
	}
	if g := strings.Join(got, " "); g != "name:x sign:( number:3.5 sign:) sign:+ quoted name:a b sign:* name:k" {
		t.Error(g)
	}
}
