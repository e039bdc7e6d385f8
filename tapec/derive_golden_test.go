package tapec

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"odes.dev/odes/internal/testing/tapetest"
)

var updateDerive = flag.Bool("update-derive", false, "write the goldens of derivatives anew")

// Each archive holds a tape, and its VJP and JVP as they should be. The comment
// names the outputs and inputs in lines "of:" and "wrt:".
func TestDeriveGolden(t *testing.T) {
	files, _ := filepath.Glob("testdata/derive/*.txtar")
	if len(files) == 0 {
		t.Fatal("no archives")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tp := parseTape(t, string(archive.Files[0].Data))
			of, wrt := listed(t, archive.Comment, "of:"), listed(t, archive.Comment, "wrt:")
			v, err := VJP(tp, of, wrt)
			if err != nil {
				t.Fatal(err)
			}
			j, err := JVP(tp, of, wrt)
			if err != nil {
				t.Fatal(err)
			}
			inputs := tapetest.Fill(tp, 1)
			for name, x := range inputs { // roots are taken of some
				for i := range x {
					x[i] = float64(x[i]*x[i]) + 0.1
				}
				inputs[name] = x
			}
			if tp.Instrs[len(tp.Instrs)-1].Shape.Size() < 1000 {
				checkDerivatives(t, tp, inputs, 1e-13)
			}
			want := &txtar.Archive{Comment: archive.Comment, Files: []txtar.File{
				{Name: "tape", Data: []byte(tp.String())},
				{Name: "vjp", Data: []byte(v.String())},
				{Name: "jvp", Data: []byte(j.String())},
			}}
			if *updateDerive {
				if err := os.WriteFile(file, txtar.Format(want), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got := txtar.Format(archive); !bytes.Equal(got, txtar.Format(want)) {
				t.Errorf("%s holds\n%s\nbut it is now\n%s\n(-update-derive writes it)", file, got, txtar.Format(want))
			}
		})
	}
}

func listed(t *testing.T, comment []byte, key string) []string {
	for line := range strings.Lines(string(comment)) {
		if rest, ok := strings.CutPrefix(line, key); ok {
			return strings.Fields(rest)
		}
	}
	t.Fatalf("the comment has no line %q", key)
	return nil
}
