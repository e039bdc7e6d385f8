package compose_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	odes "odes.dev/odes"
)

// TestNamesOfEvents: messages name the events of copies as they are written, however components nest.
func TestNamesOfEvents(t *testing.T) {
	files := fstest.MapFS{
		"cell.ode": {Data: []byte("time t from 0 to 2\nparam tk = 1\nstate x = 1\nx' = -x\n" +
			"event kick at tk { x = 0.5*x + 0.1 }\n")},
		"pair.ode": {Data: []byte("time t from 0 to 2\nimport model \"cell.ode\" as Cell\nuse Cell as a[2]\n")},
	}
	text := `time t from 0 to 2
import model "pair.ode" as Pair
import model "cell.ode" as Cell
use Pair as b[2]
use Cell as s[i,j] for i in 1:2, j in 1:2
state z = 0
z' = b[1].a[1].x*b[2].a[2].x + s[2,1].x
event plain at 1.0 for i in 2:3 { z = 2*z + i }
objective J = final(z)
`
	m, err := odes.Parse("main.ode", text, odes.ParseOptions{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	s, err := m.Sensitivities(context.Background(), odes.Options{})
	if err != nil {
		t.Fatal(err)
	}
	told := fmt.Sprint(s.Warnings)
	want := "b[1].a[1].kick, b[1].a[2].kick, b[2].a[1].kick, b[2].a[2].kick, s[1,1].kick, s[1,2].kick, s[2,1].kick, " +
		"s[2,2].kick, plain[2] and plain[3]"
	if !strings.Contains(told, want) {
		t.Errorf("got %s\nwant %s", told, want)
	}
}
