package compile_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

var updateWrong = flag.Bool("update-wrong", false, "write testdata/wrong.golden")

// TestWrongPrograms checks every program of testdata/wrong. All messages are in one golden file, which
// is meant to be read as a whole.
func TestWrongPrograms(t *testing.T) {
	files, err := filepath.Glob("testdata/wrong/*.ode")
	if err != nil || len(files) < 30 {
		t.Fatalf("found %d programs: %v", len(files), err)
	}
	var out bytes.Buffer
	for _, path := range files {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := filepath.Base(path)
		_, _, err = odes.Check(name, string(text), odes.ParseOptions{Files: os.DirFS(filepath.Dir(path))})
		list := diag.Of(err)
		if len(list) == 0 {
			t.Errorf("%s: nothing is wrong with it: %v", name, err)
			continue
		}
		fmt.Fprintf(&out, "──── %s\n\n%s\n────\n\n", name, strings.TrimRight(string(text), "\n"))
		if err := diag.Write(&out, list, diag.Plain); err != nil {
			t.Fatal(err)
		}
		out.WriteString("\n")
	}
	const golden = "testdata/wrong.golden"
	if *updateWrong {
		if err := os.WriteFile(golden, out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(golden)
	if err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("the messages are not those of %s; see what changed with -update-wrong (%v)", golden, err)
	}
}
