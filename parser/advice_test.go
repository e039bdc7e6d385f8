package parser

import (
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// TestAdvice: of every piece of advice there is an example that it answers, and no other.
func TestAdvice(t *testing.T) {
	for name, table := range map[string][]advice{"mistakes": mistakes, "misfits": misfits, "noOperands": noOperands} {
		examples := map[string]bool{}
		for i := range table {
			want := &table[i]
			if want.message == "" == (want.tell == nil) {
				t.Errorf("%s[%d] has the message %q, and tells: %v", name, i, want.message, want.tell != nil)
			}
			if examples[want.example] {
				t.Errorf("two pieces of advice have the example %q", want.example)
			}
			examples[want.example] = true
			var l diag.List
			p := new(parse)
			parseFile(p, source.NewFile("f.ode", want.example), &l)
			if p.advice != want || l.Len() != 1 {
				t.Errorf("%s[%d] does not answer %q alone: %v", name, i, want.example, l.All())
			}
		}
	}
}
