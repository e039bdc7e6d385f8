package hybrid_test

import (
	"flag"
	"fmt"
	"hash/fnv"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/solvers"
)

var update = flag.Bool("update", false, "rewrite testdata/work.txt and testdata/models")

// workFile says what the runs of tests cost, and has a hash of the bits of what they found. What makes a search longer,
// or a result different by a bit, changes a line:
//
//	go test ./solvers/hybrid -update
//	go test ./solvers/hybrid -short -update
//
// Some tests make fewer runs with -short, and have a line of both kinds.
const workFile = "testdata/work.txt"

// work is what the runs of a test cost.
type work struct {
	runs, steps, rejected, evals, guards, events, switches, located, sought, warnings, again int
	bits                                                                                     uint64
}

// works are those of the tests that are running, by name.
var works = map[string]*work{}

// workOf returns the work of a test, which is compared at its end.
func workOf(t *testing.T) *work {
	t.Helper()
	w := works[t.Name()]
	if w == nil {
		w = &work{}
		works[t.Name()] = w
		t.Cleanup(func() {
			delete(works, t.Name())
			// Elsewhere the closures of tests may be fused, and the file is of the usual models.
			if !t.Failed() && runtime.GOARCH == "amd64" && os.Getenv(seeds.Variable) == "" {
				w.compare(t)
			}
		})
	}
	return w
}

// spent adds a run to the work of a test, and what it found. asked counts evaluations of guards.
func spent(t *testing.T, st solvers.Stats, asked int, found ...any) {
	t.Helper()
	w := workOf(t)
	w.runs++
	w.steps += st.Steps
	w.rejected += st.Rejected
	w.evals += st.Evals
	w.guards += asked
	w.events += st.Events
	w.switches += st.Switches
	w.located += st.Located
	w.sought += st.Sought
	w.warnings += len(st.Warnings)
	h := fnv.New64a()
	fmt.Fprint(h, st.Changes, st.Made, st.Warnings, found)
	w.bits += h.Sum64() // in any order
}

// line is how the file has it.
func (w *work) line(name string) string {
	return fmt.Sprintf("%s, %d runs: %d steps, %d rejected, %d evaluations, %d of guards, %d events, %d switches, "+
		"%d located, %d sought, %d warnings, %d steps again, bits %016x", name, w.runs, w.steps, w.rejected, w.evals,
		w.guards, w.events, w.switches, w.located, w.sought, w.warnings, w.again, w.bits)
}

func (w *work) compare(t *testing.T) {
	t.Helper()
	text, err := os.ReadFile(workFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	line := w.line(t.Name())
	key, _, _ := strings.Cut(line, ":")
	at := slices.IndexFunc(lines, func(l string) bool { return strings.HasPrefix(l, key+":") })
	switch {
	case !*update && at < 0:
		t.Errorf("%s has no line of %s; go test ./solvers/hybrid -update writes it", workFile, key)
	case !*update && lines[at] != line:
		t.Errorf("%s has\n%s\nnot\n%s\ngo test ./solvers/hybrid -update rewrites it, and -short -update that of "+
			"fewer runs", workFile, lines[at], line)
	case *update:
		if at >= 0 {
			lines[at] = line
		} else {
			lines = append(lines, line)
		}
		slices.Sort(lines)
		if err := os.WriteFile(workFile, []byte(strings.TrimSpace(strings.Join(lines, "\n"))+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}
