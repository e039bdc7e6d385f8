package vm_test

import (
	"bytes"
	"fmt"
	"os"
	"runtime"
	"testing"
	"time"

	"odes.dev/odes/internal/base/elem"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// nativeBackends lists the backends with native code.
func nativeBackends(t *testing.T) (list []string) {
	for _, b := range backends() {
		if b == simd.Native || b == vm.Narrow {
			list = append(list, b)
		}
	}
	if list == nil {
		t.Skip("no native code here")
	}
	return list
}

// TestBlocks counts the blocks of programs of few elements: one where there is nothing else, and
// one before and one behind a function.
func TestBlocks(t *testing.T) {
	for name, c := range map[string]struct {
		text          string
		lanes, blocks int
	}{
		"rates":     {ratesOfOscillator, 1, 1},
		"transpose": {pullOfOscillator, 4, 1},
		"many":      {pullOfOscillator, 13, 1},
		"function": {"tape f\n in x lane\n in y\n %2 = mul x y : lane\n %3 = exp %2 : lane\n %4 = sub %3 x : lane\n" +
			" %5 = mul y y\n out a %4\n out b %5\n", 2, 2},
		"functions": {"tape g\n in x lane\n in y [3]\n %2 = exp x : lane\n %3 = sqr x : lane\n %4 = exp %3 : lane\n" +
			" %5 = slice y start=[1] : [1]\n %6 = reshape %5\n %7 = exp %6\n %8 = sqr %7\n %9 = exp %8\n" +
			" %10 = add %2 %4 : lane\n %11 = pow %10 %9 : lane\n %12 = pow x %8 : lane\n out a %11\n out b %12\n" +
			" out c %7\n out d %4\n", 3, 3},
		"vectors": {"tape v\n in x [3]\n in y [3] lane\n %2 = slice x start=[1] : [1]\n %3 = mul x y : [3] lane\n" +
			" %4 = add %3 %2 : [3] lane\n %5 = slice %4 start=[0] step=[2] : [2] lane\n %6 = sqr %5 : [2] lane\n" +
			" out a %6\n out b %4\n", 5, 1},
	} {
		for _, b := range nativeBackends(t) {
			tp := parse(t, c.text)
			p, err := vm.CompileOn(tp, vm.Options{Backend: b, Lanes: c.lanes})
			if err != nil {
				t.Fatal(err)
			}
			if s := p.Stats(); s.Native.Blocks != c.blocks || s.Native.Bytes == 0 || s.Steps != 1 {
				t.Errorf("%s, %s: %d blocks of %d bytes in %d steps, want %d in 1", name, b, s.Native.Blocks,
					s.Native.Bytes, s.Steps, c.blocks)
			}
			if err := vmtest.Agree(on(b), tp, c.lanes, vmtest.Inputs(tp, c.lanes, 1, true), true); err != nil {
				t.Errorf("%s, %s: %v", name, b, err)
			}
		}
	}
}

// TestForms runs every elementwise op on operands of all forms that native code reads. Some sizes
// and lanes fill whole vectors, and others do not.
func TestForms(t *testing.T) {
	b := tape.NewBuilderWith("forms", 0)
	shared, lanes := b.Input("s", tape.Shape{}, false), b.Input("l", tape.Shape{}, true)
	x, y := b.Input("x", tape.Shape{2, 3}, false), b.Input("y", tape.Shape{2, 3}, true)
	row, three := b.Slice(x, []int{1, 0}, tape.Shape{1, 3}, nil), b.Const(tape.Shape{1, 3}, 2, -0.5, 7)
	column := b.Slice(y, []int{0, 1}, tape.Shape{2, 1}, nil)
	operands := []tape.Value{shared, lanes, x, y, row, three, column, b.Scalar(1.5)}
	r := elem.NewRand(3)
	n := 0
	for _, op := range tape.Ops() {
		if !op.Row().Elementwise() || op == tape.Powi {
			continue
		}
		for range 6 {
			args := make([]tape.Value, op.Row().Arity)
			shape := tape.Shape{}
			for k := range args {
				args[k] = operands[r.Uint64()%uint64(len(operands))]
				if s := b.Shape(args[k]); len(s) > 0 {
					shape = tape.Shape{2, 3}
				}
			}
			if len(shape) > 0 { // all shapes stretch to this one together
				args[0] = []tape.Value{x, y}[n%2]
			}
			v := b.Emit(tape.Instr{Op: op, Args: args, Shape: shape})
			b.Output(fmt.Sprintf("o%d", n), v)
			w := b.Mul(v, operands[n%4])
			b.Output(fmt.Sprintf("p%d", n), b.Sub(w, v))
			n++
		}
	}
	tp := b.Tape()
	for _, name := range nativeBackends(t) {
		for lanes := 1; lanes <= 16; lanes++ {
			for special := range 2 {
				b := []func(string) vmtest.Backend{on, placedOn}[(lanes+special)%2](name)
				if err := vmtest.Agree(b, tp, lanes, vmtest.Inputs(tp, lanes, uint64(lanes), special == 1),
					lanes%4 > 1); err != nil {
					t.Errorf("%s, %d lanes: %v", name, lanes, err)
				}
			}
		}
	}
}

// TestLongBlocks runs a tape that is too long for one block.
func TestLongBlocks(t *testing.T) {
	b := tape.NewBuilderWith("long", 0)
	x := b.Input("x", tape.Shape{50}, true)
	r := elem.NewRand(5)
	var all []tape.Value
	for i := range 50 {
		all = append(all, b.Element(x, i))
	}
	for i := range 40000 {
		v, w := all[r.Uint64()%uint64(len(all))], all[uint64(len(all))-1-r.Uint64()%40]
		op := []func(a, b tape.Value) tape.Value{b.Add, b.Sub, b.Mul}[r.Uint64()%3]
		v = op(v, w)
		if i%7 == 0 {
			v = b.Op1(tape.Recip, v)
		}
		all = append(all, v)
		if i%100 == 0 {
			b.Output(fmt.Sprintf("o%d", i), v)
		}
	}
	tp := b.Tape()
	for _, name := range nativeBackends(t) {
		p, err := vm.CompileOn(tp, vm.Options{Backend: name, Lanes: 4})
		if err != nil {
			t.Fatal(err)
		}
		if s := p.Stats(); s.Native.Blocks < 2 || s.Steps < 2 {
			t.Errorf("%s: %d blocks in %d steps: too long to be left in time", name, s.Native.Blocks, s.Steps)
		}
		if err := vmtest.Agree(on(name), tp, 4, vmtest.Inputs(tp, 4, 1, false), true); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestCodeIsFreed checks that the code of programs that are no longer reachable is freed.
func TestCodeIsFreed(t *testing.T) {
	nativeBackends(t)
	if runtime.GOOS != "linux" {
		t.Skip("counts the mappings of Linux")
	}
	executable := func() (size int64) { // in bytes, because the system joins neighbouring mappings
		maps, err := os.ReadFile("/proc/self/maps")
		if err != nil {
			t.Skip(err)
		}
		for line := range bytes.Lines(maps) {
			// a mapping without a name
			if fields := bytes.Fields(line); len(fields) == 5 && bytes.Equal(fields[1], []byte("r-xp")) {
				var from, to int64
				if _, err := fmt.Sscanf(string(fields[0]), "%x-%x", &from, &to); err != nil {
					t.Fatal(err)
				}
				size += to - from
			}
		}
		return size
	}
	tp := parse(t, pullOfOscillator)
	var kept []*vm.Program
	for range 300 {
		kept = append(kept, compile(t, tp, 2))
	}
	most := executable()
	runtime.KeepAlive(kept)
	kept = nil
	for range 500 {
		runtime.GC()
		time.Sleep(time.Millisecond) // cleanups run on a goroutine of their own
		if executable() < most/4 {
			return
		}
	}
	t.Errorf("%d bytes of code, %d after programs are gone", most, executable())
}

// TestConditions runs a chain of conditions each of which uses the ones before it several times.
// Compiling them must not take time for each path through the chain: that would not end.
func TestConditions(t *testing.T) {
	b := tape.NewBuilderWith("conditions", 0)
	x, y := b.Input("x", tape.Shape{3}, true), b.Input("y", tape.Shape{3}, false)
	c, d := b.Op2(tape.Less, x, y), b.Op2(tape.LessEq, y, b.Scalar(0))
	for range 60 {
		e := b.Op2(tape.Or, c, d)
		c, d = b.Op2(tape.And, c, e), b.Op2(tape.And, e, d)
	}
	b.Output("a", b.Select(c, x, y))
	b.Output("b", d)
	tp := b.Tape()
	for _, name := range nativeBackends(t) {
		for _, lanes := range []int{1, 4} {
			if err := vmtest.Agree(on(name), tp, lanes, vmtest.Inputs(tp, lanes, 1, true), false); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
}
