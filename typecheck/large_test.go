package typecheck

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// largeNetwork is a model of n species with units, in 3n items. The unit of every tenth parameter
// is left to inference.
func largeNetwork(n int) string {
	var b strings.Builder
	b.WriteString("time t : [s] from 0 to 1\n")
	for i := range n {
		unit := " [1/s/mol^2]"
		if i%10 == 0 {
			unit = ""
		}
		fmt.Fprintf(&b, "param k%d = %d.5e-2%s in [1e-3, 1e3] ## rate %d\n", i, i, unit, i)
		fmt.Fprintf(&b, "state s%d = %d [mol]\n", i, i%3)
		fmt.Fprintf(&b, "reaction r%d: 2 s%d + s%d -> s%d rate k%d*s%d^2*s%d/(1 + s%d/1 [mol])\n", i, i, (i+1)%n,
			(i+2)%n, i, i, (i+1)%n, i)
	}
	b.WriteString("objective J = final(s0)\n")
	return b.String()
}

// TestLarge parses and checks 5,000 states in 15,000 items. It bounds the memory that this takes.
// The time, two seconds on an idle machine, is measured by BenchmarkLarge.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	text := largeNetwork(5000)
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	var l diag.List
	m := Check(parser.Parse(source.NewFile("network.ode", text), &l), Env{}, &l)
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if m == nil {
		t.Fatal(l.Err())
	}
	if len(m.States) != 5000 || !m.Params[0].Type.Unit.Known() {
		t.Errorf("%d states; the unit of k0 is %s", len(m.States), m.Params[0].Type.Unit)
	}
	used := float64(after.TotalAlloc-before.TotalAlloc) / 1e6
	t.Logf("%d bytes: %v, %.0f MB allocated in all", len(text), took, used)
	if used > 500 {
		t.Errorf("took %.0f MB; want 500 at most", used)
	}
}

// BenchmarkLarge measures the time of TestLarge.
func BenchmarkLarge(b *testing.B) {
	f := source.NewFile("network.ode", largeNetwork(5000))
	b.ReportAllocs()
	for b.Loop() {
		var l diag.List
		if Check(parser.Parse(f, &l), Env{}, &l) == nil {
			b.Fatal(l.Err())
		}
	}
}
