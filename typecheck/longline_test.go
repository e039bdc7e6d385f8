package typecheck

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// TestLongLine checks a megabyte on one line, with something to report in every item. That must
// take as long as on many lines, a second or two. A quadratic algorithm would take many minutes.
func TestLongLine(t *testing.T) {
	var b strings.Builder
	b.WriteString("time t from 0 to 1; state x = 1; x' = -x; ")
	for i := range 40_000 {
		fmt.Fprintf(&b, "param k%d = %d; ", i, i)
	}
	for range 1000 {
		b.WriteString("event when x > 2 { x = 1 } ")
	}
	start := time.Now()
	var l diag.List
	m := Check(parser.Parse(source.NewFile("line.ode", b.String()), &l), Env{}, &l)
	if m == nil {
		t.Fatal(l.Err())
	}
	if n := l.Len(); n != maxPerCode+1 {
		t.Errorf("%d diagnostics, want %d and that there are more", n, maxPerCode)
	}
	var told strings.Builder
	if err := diag.Write(&told, l.All(), diag.Plain); err != nil {
		t.Fatal(err)
	}
	if d := time.Since(start); d > time.Minute {
		t.Errorf("took %v", d)
	}
	if told.Len() > 10_000 {
		t.Errorf("%d bytes are told", told.Len())
	}
}
