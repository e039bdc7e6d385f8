package vm_test

import (
	"os"
	"os/exec"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
	"odes.dev/odes/internal/base/simd"
	"odes.dev/odes/internal/testing/vmtest"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// prSetMDWE and refuseExecGain are the prctl that forbids a process to make memory executable
// (Linux 6.3 and later).
const (
	prSetMDWE      = 65
	refuseExecGain = 1
)

// TestHardened checks that programs become threaded code where the system forbids making machine
// code.
func TestHardened(t *testing.T) {
	if simd.Backend() != simd.Native {
		t.Skip("no code would be made anyway")
	}
	if os.Getenv("ODES_TEST_HARDENED") == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestHardened$", "-test.v")
		cmd.Env = append(os.Environ(), "ODES_TEST_HARDENED=1")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		t.Logf("%s", out)
		return
	}
	if err := unix.Prctl(prSetMDWE, refuseExecGain, 0, 0, 0); err != nil {
		t.Skip(err)
	}
	p := compile(t, parse(t, ratesOfOscillator), 1)
	if p.Backend() != simd.AVX2 || vm.Backend() != simd.AVX2 || p.Stats().Native.Blocks > 0 {
		t.Errorf("backend %s of %s, %d blocks", p.Backend(), vm.Backend(), p.Stats().Native.Blocks)
	}
	if err := vmtest.Agree(on(""), parse(t, pullOfOscillator), 4,
		vmtest.Inputs(parse(t, pullOfOscillator), 4, 1, false), false); err != nil {
		t.Error(err)
	}
}

// TestReach reads the end of vectors that are longer than the displacement of an instruction can
// reach.
func TestReach(t *testing.T) {
	for _, n := range []int{1<<28 + 100, 1<<29 + 100} {
		mem, err := unix.Mmap(-1, 0, 8*n, unix.PROT_READ|unix.PROT_WRITE,
			unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
		if err != nil {
			t.Skip(err) // only its last page is ever touched
		}
		x := unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(mem))), n)
		x[n-5], x[n-6] = 3, 4
		b := tape.NewBuilderWith("reach", 0)
		v := b.Input("x", tape.Shape{n}, false)
		b.Output("o", b.Add(b.Op1(tape.Exp, b.Element(v, n-5)), b.Element(v, n-6)))
		tp := b.Tape()
		var want float64
		for _, name := range backends() {
			p, err := vm.CompileOn(tp, vm.Options{Backend: name})
			if err != nil {
				t.Fatal(err)
			}
			m, out := p.NewMachine(), make([]float64, 1)
			m.SetInput(0, x)
			m.SetOutput(0, out, false)
			m.Run()
			if want == 0 {
				want = out[0]
			}
			if out[0] != want || want < 24 {
				t.Errorf("%d elements, %s: %v, want %v", n, name, out[0], want)
			}
		}
		if err := unix.Munmap(mem); err != nil {
			t.Error(err)
		}
	}
}
