package export_test

import (
	"errors"
	"flag"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/internal/exchange/export"
	"odes.dev/odes/lang/diag"
)

var update = flag.Bool("update", false, "rewrite the goldens")

// TestGolden compares models, in every format, with what testdata has. Each file holds a model and, behind it, what it
// becomes, with notes or errors in front.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 7 {
		t.Fatal(len(files), err)
	}
	for _, f := range files {
		t.Run(strings.TrimSuffix(filepath.Base(f), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(f)
			if err != nil {
				t.Fatal(err)
			}
			given := map[string]string{}
			want := map[string]string{}
			kept := archive.Files[:0:0]
			for _, part := range archive.Files {
				if name, is := strings.CutPrefix(part.Name, "as "); is {
					want[name] = string(part.Data)
					continue
				}
				given[part.Name] = string(part.Data)
				kept = append(kept, part)
			}
			for _, format := range export.Formats() {
				if format.Packed {
					continue // TestFMU
				}
				got := told(t, format.Name, given["model.ode"], strings.TrimSpace(given["experiment"]))
				if got != want[format.Name] && !*update {
					t.Errorf("%s is\n%s\nwant\n%s", format.Name, got, want[format.Name])
				}
				kept = append(kept, txtar.File{Name: "as " + format.Name, Data: []byte(got)})
			}
			if *update {
				archive.Files = kept
				if err := writeFile(f, txtar.Format(archive)); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// told is what a user sees of an export.
func told(t *testing.T, format, text, experiment string) string {
	t.Helper()
	written, list, err := exported(format, "model.ode", text, nil, experiment)
	var b strings.Builder
	if err != nil {
		var wrong *diag.ListError
		if !errors.As(err, &wrong) {
			t.Fatal(err)
		}
		list = wrong.Diagnostics
	}
	for _, d := range list {
		if d.Code == export.CodeCannot || d.Code == export.CodeLeft {
			b.WriteString(d.Level.String() + ": " + place(d) + ": " + d.Message + "\n")
		} else if d.Level == diag.Error {
			t.Fatal(d.Message)
		}
	}
	b.WriteString(written)
	return b.String()
}

func place(d diag.Diagnostic) string { return strings.TrimSpace(d.Span.Text()) }
