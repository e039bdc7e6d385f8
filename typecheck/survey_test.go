package typecheck

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/parser"
)

// TestSurvey checks that names are known with their types, also in a file with errors.
func TestSurvey(t *testing.T) {
	const text = `time t : [s] from 0 to 10
import "lib.ode" as lib
import twice from "lib.ode"
unit dozen = 12
const n = 2*3 ## how many
param k = 0.3 ## rate
state x[n] : [m] = 1
let speed = -k*x
x' = speed
output far = x as [km]
data D { time = [1, 2] [s]  y = [1, 2] [m] }
objective J[i] = final(x[i])^2 for i in 1:n
objective K = nonsense
fn f(a) = a^2
`
	files := fstest.MapFS{"lib.ode": {Data: []byte("## Doubles.\nfn twice(a) = 2*a\nconst g = 9.81 [m/s^2]\n")}}
	var l diag.List
	var s Survey
	if Check(parser.Parse(source.NewFile("m.ode", text), &l), Env{Files: files, Survey: &s}, &l) != nil {
		t.Fatal("there is an error in the file")
	}
	var b strings.Builder
	var show func(indent string, list []Name)
	show = func(indent string, list []Name) {
		for _, n := range list {
			fmt.Fprintf(&b, "%s%s %s", indent, n.Kind, n.Name)
			if n.Type.Kind != types.Invalid {
				fmt.Fprintf(&b, " %s %v %s", n.Type.Kind, n.Type.Shape, bracketed(n.Type.Unit))
			}
			if !n.Inferred.IsZero() {
				fmt.Fprintf(&b, " by %d", n.Inferred.Begin().Line)
			}
			if n.Values != nil {
				fmt.Fprintf(&b, " = %v", n.Values)
			}
			if n.Doc != "" {
				fmt.Fprintf(&b, " (%s)", n.Doc)
			}
			b.WriteByte('\n')
			show(indent+"  ", n.Members)
		}
	}
	show("", s.Names)
	show("", s.Units)
	const want = `time t number a scalar [s]
const n whole number a scalar [1] = [6] (how many)
param k number a scalar [1/s] by 8 (rate)
state x number [6] [m]
let speed number [6] [m/s]
output far number [6] [km]
data table D
  column time number [2] [s]
  column y number [2] [m]
objective J number [6] [m^2]
objective K
function f
module lib
  const g number a scalar [m/s^2] = [9.81]
  function twice (Doubles.)
function twice (Doubles.)
unit dozen number a scalar [dozen]
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	if n := Find(s.Names, "J"); n == nil || n.Decl == nil ||
		Find(s.Names, "twice").Decl == nil || Find(s.Names, "twice").Span.File.Name() != "lib.ode" {
		t.Error("a declaration is missing")
	}
}

// TestDone checks that a cancelled check ends.
func TestDone(t *testing.T) {
	done := make(chan struct{})
	close(done)
	text := "time t from 0 to 1\nstate x = 1\nx' = x\n" + strings.Repeat("assert 1 < 2\n", 100_000)
	var l diag.List
	f := parser.Parse(source.NewFile("m.ode", text), &l)
	l.While(done)
	c := newChecker(f, Env{MaxElements: maxElements})
	c.list.While(done)
	for _, do := range []func(){func() { Check(f, Env{}, &l) }, c.run} {
		func() {
			defer func() {
				if p := recover(); p != (diag.Abandoned{}) {
					t.Errorf("checking ends by %v", p)
				}
			}()
			do()
		}()
	}
	if c.nodes > 1 {
		t.Errorf("%d expressions were checked", c.nodes)
	}
}
