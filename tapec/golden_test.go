package tapec

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/tape"
)

var update = flag.Bool("update", false, "write what the compiler makes into the golden files")

// The models of testdata/lower are compared with the oracle, and their tapes
// and instruction counts with the archive.
func TestLoweringGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/lower/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			in := archive.Files[0]
			c := try(t, check(t, in.Name, string(in.Data)))
			got := append([]txtar.File{in}, sections(c)...)
			if *update {
				archive.Files = got
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if len(got) != len(archive.Files) {
				t.Fatalf("%d sections, want %d; run with -update", len(got), len(archive.Files))
			}
			for i, f := range got {
				if want := archive.Files[i]; f.Name != want.Name || !bytes.Equal(f.Data, want.Data) {
					t.Errorf("section %s differs; got\n%s\nwant\n%s", f.Name, f.Data, want.Data)
				}
			}
		})
	}
}

// sections prints a compiled model: numbers of instructions, lists and tapes.
func sections(c *Compiled) []txtar.File {
	var counts, lists bytes.Buffer
	for _, x := range c.Tapes() {
		fmt.Fprintf(&counts, "%s %d\n", x.Name, len(x.Instrs))
	}
	kinds := [...]string{"start", "end", "fire", "every", "site", "remode", "value"}
	for i, in := range c.InstantList {
		fmt.Fprintf(&lists, "instant %d %s event=%d[%d] site=%d[%d] period=%d to=%d count=%d\n",
			i, kinds[in.Kind], in.Event, in.Elem, in.Group, in.Row, in.Period, in.To, in.Count)
	}
	for i := 0; i < len(c.GuardList); { // a line for each run of elements
		g := c.GuardList[i]
		n := 1
		for i+n < len(c.GuardList) {
			next := g
			switch {
			case g.Event >= 0:
				next.Elem += n
			case g.Mode >= 0:
				next.Mode += n
			}
			if c.GuardList[i+n] != next {
				break
			}
			n++
		}
		fmt.Fprintf(&lists, "guards %d:%d event=%d[%d] mode=%d crossing=%v watch=%v kink=%v clock=%v affine=%v %q\n",
			i, i+n, g.Event, g.Elem, g.Mode, g.Crossing, g.Watch, g.Kink, g.Clock, g.Affine, g.Span.Text())
		i += n
	}
	for i, x := range c.ClockList {
		fmt.Fprintf(&lists, "clock %d affine=%v %q\n", i, x.Affine, x.Span.Text())
	}
	for i, m := range c.Modes {
		fmt.Fprintf(&lists, "mode %d %s at %d, %v, rooted=%v\n", i, m.Name, m.Offset, m.Shape, m.Rooted)
	}
	for i, f := range c.Functionals {
		fmt.Fprintf(&lists, "functional %d at %d, %v, event=%d elem=%d%v nth=%d group=%d %q\n",
			i, f.Offset, f.Shape, f.Event, f.Elem, f.Elems, f.Nth, f.Group, f.Span.Text())
	}
	out := []txtar.File{{Name: "instructions", Data: counts.Bytes()}, {Name: "lists", Data: lists.Bytes()}}
	for at, x := range c.Tapes() {
		if at.Part != PartDefaults {
			out = append(out, txtar.File{Name: x.Name, Data: []byte(x.String())})
		}
	}
	return out
}

// golden checks the model of an archive.
func golden(t testing.TB, name string) *model.Model {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/lower/" + name + ".txtar")
	if err != nil {
		t.Fatal(err)
	}
	return check(t, name+".ode", string(archive.Files[0].Data))
}

// heat is the heat equation on an n × n grid, as in the examples.
func heat(n int) string {
	text, err := os.ReadFile("testdata/lower/heat2d.txtar")
	if err != nil {
		panic(err)
	}
	model := string(txtar.Parse(text).Files[0].Data)
	return strings.Replace(model, "const nx = 32, ny = 24", fmt.Sprintf("const nx = %d, ny = %d", n, n), 1)
}

// Tapes do not grow with arrays.
func TestCountsDoNotGrow(t *testing.T) {
	var counts [2]int
	for i, n := range []int{128, 512} { // constants of small arrays are folded
		var l diag.List
		c := Compile(check(t, "heat.ode", heat(n)), &l)
		if c == nil {
			t.Fatal(l.Err())
		}
		counts[i] = len(c.Rates.Instrs)
	}
	if counts[0] != counts[1] || counts[0] >= 100 {
		t.Errorf("%d instructions at 128 × 128, %d at 512 × 512; want as many, below 100", counts[0], counts[1])
	}
}

// Every instruction of a right-hand side names its place in the source.
func TestSpans(t *testing.T) {
	var l diag.List
	c := Compile(check(t, "heat.ode", heat(32)), &l)
	for i, in := range c.Rates.Instrs {
		if in.Span.IsZero() && in.Op != tape.Const {
			t.Errorf("instruction %d (%v) has no place", i, in.Op)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	for _, n := range []int{32, 512} {
		m := check(b, "heat.ode", heat(n))
		b.Run(fmt.Sprintf("model=heat%d", n), func(b *testing.B) {
			for b.Loop() {
				var l diag.List
				if Compile(m, &l) == nil {
					b.Fatal(l.Err())
				}
			}
		})
	}
}
