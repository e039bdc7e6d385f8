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

// TestManyUnknownNames: what an unknown name may mean is looked for where it is shown. Thousands of names that are like
// thousands of others take as long as they take to read.
func TestManyUnknownNames(t *testing.T) {
	for _, form := range []string{
		"state x%d = 1; x%[1]d' = -y%[1]d\n", "param p%d = q%[1]d\n", "state a%d = 1; b%[1]d' = 1\n",
		"state y%d = 1; y%[1]d' = 0; event e%[1]d when x > 1 { z%[1]d = 1 }\n",
		"fn f%d(x) = x; let g%[1]d = h%[1]d(1)\n",
		"unit u%d = 1 [m]; param k%[1]d = 1 [v%[1]d]\n",
		"event e%d when x > 1 { x = 1 }; objective J%[1]d = event_time(f%[1]d, 1)\n",
	} {
		var b strings.Builder
		b.WriteString("time t from 0 to 1; state x = 1; x' = -x\n")
		for i := range 2000 {
			fmt.Fprintf(&b, form, i)
		}
		start := time.Now()
		var l diag.List
		Check(parser.Parse(source.NewFile("names.ode", b.String()), &l), Env{}, &l)
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%q: took %v", form, d)
		}
		all := l.All()
		if len(all) < maxErrors || !strings.Contains(all[3].Message, "did you mean") {
			t.Errorf("%q: %d diagnostics, such as %+v", form, len(all), all[0])
		}
	}
}

// TestTooManyElements: events of more elements than a run may have are refused before they take memory, unless the file
// allows for them.
func TestTooManyElements(t *testing.T) {
	const head = "time t from 0 to 1; state x = 1; x' = -x\n"
	for text, wrong := range map[string]bool{
		"event e at k for k in 1:10000000 { x += 1 }":                                         true,
		"event e at k + j for k in 1:10000, j in 1:10000 { x += 1 }":                          true,
		"event e at grid(0, 1, 10000000) { x += 1 }":                                          true,
		"event e when x < k for k in 1:10000000 { x = 1 }":                                    true,
		"event e at k/2e5 for k in 1:200000 { x += 1 }":                                       true,
		"event e at k/2e5 for k in 1:200000 { x += 1 }; solver { max_events = 1e6 }":          false,
		"event e at k/2e5 for k in 1:200000 { x += 1 }; solver { max_events = 2*100000 }":     false,
		"event e at k/1e4 for k in 1:1000 { x += 1 }; solver { max_events = 10 }":             false,
		"event e at 2*k for k in 1:200000 { x += 1 }; solver { max_events = 5  rtol = 1e-3 }": true,
	} {
		start := time.Now()
		var l diag.List
		m := Check(parser.Parse(source.NewFile("events.ode", head+text), &l), Env{}, &l)
		if (m == nil) != wrong || wrong && !strings.Contains(l.Err().Error(), "max_events") {
			t.Errorf("%s: %v", text, l.Err())
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%s: took %v", text, d)
		}
	}
}
