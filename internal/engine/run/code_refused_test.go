package run_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/machine"
	"odes.dev/odes/internal/testing/modeltest"
	"odes.dev/odes/vm"
)

// TestCodeRefused refuses memory for machine code, at one place after the other: of programs, of whole steps, of the
// elimination of sparse matrices. Programs then run without, and results have the same bits.
func TestCodeRefused(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts no goroutines that others do not start")
	}
	if vm.Backend() != "native" {
		t.Skip("no machine code here")
	}
	for _, c := range []struct {
		model string
		code  int // at least so many pieces
		each  int // one of so many is refused
	}{
		{"bounce/bounce", 20, 2},
		{"hires/hires", 30, 5},
		{"lotka_volterra/lotka_volterra", 10, 2},
		{"network/network20", 20, 5},
	} {
		path := modeltest.Path("examples/" + c.model + ".ode")
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		bits := func() string {
			m, err := odes.Parse(path, string(text), odes.ParseOptions{Files: os.DirFS(filepath.Dir(path))})
			if err != nil {
				t.Fatal(err)
			}
			s, err := m.Sensitivities(t.Context(), odes.Options{Threads: 1})
			if err != nil {
				t.Fatalf("%s: %v", path, err)
			}
			out := ""
			for _, v := range s.Values {
				out += fmt.Sprintf("%x ", math.Float64bits(v.Value))
			}
			for _, d := range s.Gradient {
				out += fmt.Sprintf("%x ", math.Float64bits(d))
			}
			return out
		}
		want := bits()
		n := 1
		for ; ; n += c.each {
			restore := machine.Refusal.At(n)
			got := bits()
			met := machine.Refusal.Met()
			restore()
			if got != want {
				t.Errorf("%s without code %d: %s; want %s", path, n, got, want)
			}
			if !met {
				break
			}
		}
		if n <= c.code {
			t.Errorf("%s: fewer than %d pieces of code, want %d at least", path, n, c.code)
		}
	}
}
