package tapec

import (
	"math"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/tapetest"
	"odes.dev/odes/tape"
	"pgregory.net/rapid"
)

func sameBits(x, y []float64) bool {
	return slices.EqualFunc(x, y, func(a, b float64) bool {
		return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
	})
}

// A Builder changes no bit as it rewrites a tape, the tape is well formed, and a second time finds nothing more to do:
// so what a Builder with all rewrites made needs no pass over it.
func TestRewrites(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Any)
		in := tapetest.Fill(tp, 2)
		want := runTape(rt, tp, in)
		for _, r := range []tape.Rewrites{0, tape.Fold, tape.Simplify, tape.Share, tape.All} {
			now := rebuilt(tp, r)
			if err := tape.Check(now); err != nil {
				rt.Fatalf("rewrites %b: %v\n%s", r, err, now)
			}
			got := runTape(rt, now, in)
			for _, o := range tp.Outputs {
				if !sameBits(got.Output(o.Name), want.Output(o.Name)) {
					rt.Fatalf("rewrites %b changed %s\n%s\n%s", r, o.Name, tp, now)
				}
			}
			if len(now.Instrs) > len(tp.Instrs)+2 {
				rt.Fatalf("rewrites %b made\n%s\nof\n%s", r, now, tp)
			}
			if again := rebuilt(now, r); again.String() != now.String() {
				rt.Fatalf("rewrites %b made\n%s\nand then\n%s", r, now, again)
			}
		}
	})
}

// rebuilt makes t anew with a Builder that does the given rewrites.
func rebuilt(t *tape.Tape, rewrite tape.Rewrites) *tape.Tape {
	b := tape.NewBuilderWith(t.Name, rewrite)
	v := copyInto(b, t)
	for _, o := range t.Outputs {
		b.Output(o.Name, v[o.Value])
	}
	return b.Tape()
}

// What early and rest compute together is what the tape computes, to the bit.
func TestSplitRandom(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tp := tapetest.Random(rt, tapetest.Any)
		in := tapetest.Fill(tp, 2)
		want := runTape(rt, tp, in)
		late := func(name string) bool { return name == "in.a" }
		early, rest := Split(tp, RunWork, late)
		e := runTape(rt, early, in)
		hoisted := map[string][]float64{}
		for _, o := range early.Outputs {
			hoisted[o.Name] = e.Output(o.Name)
			switch i := early.Instr(o.Value); {
			case i == nil:
				rt.Fatalf("an input was hoisted\n%s\n%s", tp, early)
			case i.Op == tape.Const || i.Op == tape.Slice || i.Op == tape.Reshape || i.Op == tape.Broadcast:
				rt.Fatalf("%v was hoisted\n%s\n%s", i.Op, tp, early)
			}
		}
		for _, i := range early.Inputs {
			if late(i.Name) {
				rt.Fatalf("early reads %s\n%s", i.Name, early)
			}
		}
		got := runTape(rt, rest, in, hoisted)
		for _, o := range tp.Outputs {
			if !sameBits(got.Output(o.Name), want.Output(o.Name)) {
				rt.Fatalf("%s changed\n%s\n%s\n%s", o.Name, tp, early, rest)
			}
		}
	})
}

func TestSplit(t *testing.T) {
	tp := parseTape(t, `tape dy
in t
in y [3]
in p [3]
in k
in d
%5 = exp p           : [3]
%6 = slice p start=[0] : [2]
%7 = neg k
%8 = broadcast %7    : [3]
%9 = mul %5 %8       : [3]
%10 = mul y %9       : [3]
%11 = slice y start=[0] : [2]
%12 = mul %11 %6     : [2]
%13 = mul %10 d      : [3]
%14 = sin d
%15 = add %13 %14    : [3]
%16 = cos k
out dy %15
out w %12
out c %16
`)
	early, rest := Split(tp, RunWork, func(n string) bool { return n == "t" || n == "y" || n == "d" })
	wantEarly := `tape dy.early

in p [3]
in k

%2 = exp p        : [3]
%3 = neg k
%4 = broadcast %3 : [3]
%5 = mul %2 %4    : [3]
%6 = cos k

out c.0 %5
out c.1 %6
`
	if got := early.String(); got != wantEarly {
		t.Errorf("early is\n%s", got)
	}
	if got := strings.Count(rest.String(), "c.0"); got != 2 {
		t.Errorf("rest is\n%s", rest)
	}
	if v, ok := rest.Output("c"); !ok || rest.Instr(v) != nil {
		t.Errorf("output c is not the hoisted input\n%s", rest)
	}
	// A second split finds other names.
	early2, rest2 := Split(rest, RunWork, func(n string) bool { return n == "t" || n == "y" })
	if len(early2.Outputs) != 1 || early2.Outputs[0].Name != "c.2" {
		t.Errorf("early of the second split is\n%s", early2)
	}
	if _, ok := rest2.Input("c.2"); !ok {
		t.Errorf("rest of the second split is\n%s", rest2)
	}
}
