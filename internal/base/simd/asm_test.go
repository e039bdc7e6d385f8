package simd

import (
	"bytes"
	"os"
	"path"
	"regexp"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/internal/base/elem"
)

// TestAssembly checks what the runtime asks of code without a frame: profilers
// walk the stack through BP and SP, and NOSPLIT code must not call.
func TestAssembly(t *testing.T) {
	t.Run("kernels_amd64.s", func(t *testing.T) {
		checkAssembly(t, `\b(BP|SP|BPL|CALL|[XYZ](1[6-9]|2\d|3[01])|K[0-7]|Z\d+)\b`, 50)
	})
	t.Run("wide_amd64.s", func(t *testing.T) { checkAssembly(t, `\b(BP|SP|BPL|CALL)\b`, 2) })
}

func checkAssembly(t *testing.T, forbidden string, functions int) {
	text, err := os.ReadFile(path.Base(t.Name()))
	if err != nil {
		t.Fatal(err)
	}
	head := regexp.MustCompile(`^TEXT ·\w+\(SB\), NOSPLIT, \$0-\d+$`)
	wrong := regexp.MustCompile(forbidden)
	texts, returns, zeroed := 0, 0, false
	for i, line := range strings.Split(string(text), "\n") {
		switch {
		case strings.HasPrefix(line, "TEXT"):
			texts++
			if !head.MatchString(line) {
				t.Errorf("line %d: a frame, or may split: %s", i+1, line)
			}
		case strings.HasPrefix(line, "//"):
		case wrong.MatchString(line):
			t.Errorf("line %d: not allowed: %s", i+1, line)
		case strings.Contains(line, "VZEROUPPER"):
			zeroed = true
		case strings.Contains(line, "RET"):
			returns++
			if !zeroed {
				t.Errorf("line %d: returns without VZEROUPPER", i+1)
			}
			zeroed = false
		}
	}
	if texts < functions || returns < texts {
		t.Errorf("only %d functions and %d returns found", texts, returns)
	}
}

// TestProfiled runs kernels while the profiler interrupts them.
func TestProfiled(t *testing.T) {
	if use(t, AVX2); supported512 {
		use(t, avx512)
	}
	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Skip(err)
	}
	defer pprof.StopCPUProfile()
	r := elem.NewRand(21)
	const n, lanes, inner = 40, 8, 30
	a, z := tame(r, n*n), tame(r, n*inner*lanes)
	x, y := make([]float64, n*inner*lanes), make([]float64, n*n*lanes)
	lanePacked, panels := make([]float64, LanesSize(n, n)), make([]float64, PanelsSize(inner, n))
	u := &Update{Rows: n, Cols: n, Inner: inner, Lanes: lanes, LaneG: n * n, RowG: n, StepY: n * lanes, RowY: lanes}
	run := func() []float64 {
		var out []float64
		for op := Copy; op <= Sigmoid; op++ {
			Unary(op, x, z)
			out = append(out, Sum(x))
		}
		Binary(Pow, x, x, z)
		BinaryRows(Mul, SharedA, x, a, x, lanes)
		Combine(x[:1000], z, 0.1, a[:6], []int{0, 1, 2, 3, 4, 5}, z, 1000)
		PackLanes(lanePacked, a, n, n, n, true)
		LaneProduct(x, lanePacked, z, n, n, lanes, true)
		PackPanels(panels, z, inner, n, n, false)
		RankUpdate(u, y, z, panels, false)
		MatVec(x, a, z, n, n, n, false)
		MatVecT(x[n:], a, z, n, n, n, false)
		return append(append(out, x...), y...)
	}
	copy(x, z)
	want := run()
	for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
		compare(t, run(), want, "profiled")
	}
}
