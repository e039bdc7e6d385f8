package parser

import (
	"fmt"
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// network writes a model of n species in a chain of reactions: n parameters,
// states and reactions.
func network(n int) string {
	var b strings.Builder
	b.WriteString("model Network\ntime t from 0 to 1\n")
	for i := range n {
		fmt.Fprintf(&b, "param k%d = %d.5e-2 [1/s] in [1e-3, 1e3] ## rate %d\n", i, i, i)
		fmt.Fprintf(&b, "state s%d = %d\n", i, i%3)
		fmt.Fprintf(&b, "reaction r%d: 2 s%d + s%d -> s%d rate k%d*s%d*s%d/(1 + s%d)\n", i, i, (i+1)%n, (i+2)%n,
			i, i, (i+1)%n, i)
	}
	return b.String()
}

func BenchmarkParse(b *testing.B) {
	f := source.NewFile("network.ode", network(5000))
	b.SetBytes(int64(len(f.Text())))
	b.ReportAllocs()
	for b.Loop() {
		var l diag.List
		if Parse(f, &l); l.Len() > 0 {
			b.Fatal(l.Err())
		}
	}
}

func BenchmarkScan(b *testing.B) {
	f := source.NewFile("network.ode", network(5000))
	b.SetBytes(int64(len(f.Text())))
	for b.Loop() {
		scan(f, &diag.List{})
	}
}
