package report

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/parquet-go/parquet-go"
	"odes.dev/odes/data"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// results are the samples of all kinds of results that a format has, by name, and what writes them.
func results(f *Format, opts TableOptions) map[string]func(io.Writer) error {
	all := map[string]func(io.Writer) error{}
	add(all, f.Sensitivities, opts, "sens", sample())
	add(all, f.Sensitivities, opts, "errors", estimated())
	add(all, f.Sensitivities, opts, "second", twice())
	add(all, f.Solution, opts, "run", solution())
	add(all, f.Verification, opts, "verify", verified())
	add(all, f.Bench, opts, "bench", measured())
	add(all, f.Bench, opts, "whole", whole())
	if f.FailedSensitivities != nil {
		all["failed"] = func(w io.Writer) error { return f.FailedSensitivities(w, head, 0, 0) }
	}
	if f.FailedSolution != nil {
		all["failed_run"] = func(w io.Writer) error { return f.FailedSolution(w, head, 0, 0.5) }
	}
	return all
}

func add[R any](to map[string]func(io.Writer) error, write Writer[R], opts TableOptions, name string, result R) {
	if write != nil {
		to[name] = func(w io.Writer) error { return write(w, head, result, opts) }
	}
}

// TestGolden holds every kind of result in every format against a file of its own; -update writes them.
func TestGolden(t *testing.T) {
	kept := map[string]bool{}
	check := func(name string, write func(io.Writer) error, show func([]byte) string) {
		kept[name] = true
		t.Run(name, func(t *testing.T) {
			var b bytes.Buffer
			if err := write(&b); err != nil {
				t.Fatal(err)
			}
			got := show(b.Bytes())
			path := filepath.Join("testdata", name)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("got\n%s\nwant\n%s", got, want)
			}
			if strings.HasSuffix(name, ".json") && !json.Valid(b.Bytes()) {
				t.Error("this is not JSON")
			}
		})
	}
	text := func(b []byte) string { return string(b) }
	for _, f := range Formats() {
		ending, show := f.Name, text
		if f.Ending != "" {
			ending = f.Ending
		}
		if f.Binary {
			ending += ".txt"
			switch f.Name {
			case "npz":
				show = func(b []byte) string { return archive(t, b) }
			case "parquet":
				show = func(b []byte) string { return parquetRows(t, b) }
			}
		}
		for result, write := range results(f, TableOptions{}) {
			check(result+"."+ending, write, show)
		}
	}
	check("narrow.txt", func(w io.Writer) error {
		return SensTable(w, head, sample(), TableOptions{Width: 40, All: true})
	}, text)
	check("stats.json", func(w io.Writer) error { return Stats(w, sample()) }, text)

	files, err := os.ReadDir("testdata")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		if !kept[file.Name()] {
			t.Errorf("testdata/%s belongs to no format", file.Name())
		}
	}
}

// archive shows the members of a NumPy archive as text, with shapes and numbers of arrays.
func archive(t *testing.T, file []byte) string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, member := range z.File {
		r, err := member.Open()
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		method := map[uint16]string{zip.Store: "stored", zip.Deflate: "deflated"}[member.Method]
		fmt.Fprintf(&b, "%s, %s, %d bytes\n", member.Name, method, len(content))
		if !strings.HasSuffix(member.Name, ".npy") {
			b.Write(content)
			continue
		}
		header, _, _ := bytes.Cut(content[10:], []byte("\n"))
		fmt.Fprintf(&b, "%s\n", bytes.TrimRight(header, " "))
		a, err := data.Load(fstest.MapFS{"a.npy": {Data: content}}, "a.npy", 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range a.Data {
			b.WriteString(plainNumber(x) + "\n")
		}
	}
	return b.String()
}

// parquetRows shows a Parquet file, as another program reads it.
func parquetRows(t *testing.T, file []byte) string {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, c := range f.Schema().Columns() {
		b.WriteString(strings.Join(c, ".") + ";")
	}
	for _, group := range f.RowGroups() {
		rows, row := group.Rows(), make([]parquet.Row, 1)
		for {
			n, err := rows.ReadRows(row)
			if n == 1 {
				b.WriteString("\n")
				for _, v := range row[0] {
					b.WriteString(v.String() + ";")
				}
			}
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
		}
		rows.Close()
	}
	return b.String() + "\n"
}

// TestFormats: names and endings tell formats apart, and the first format has everything.
func TestFormats(t *testing.T) {
	var seen []string
	for _, f := range Formats() {
		for _, ending := range []string{f.Name, f.Ending} {
			if ending == "" {
				continue
			}
			if slices.Contains(seen, ending) {
				t.Errorf("two formats are named %q", ending)
			}
			seen = append(seen, ending)
			if got := FormatOf("Some.Folder/a." + strings.ToUpper(ending)); got == nil || got.Name != f.Name {
				t.Errorf("a file .%s holds %v, not %s", ending, got, f.Name)
			}
		}
		if f.Doc == "" {
			t.Errorf("%s has no doc", f.Name)
		}
		if FormatNamed(f.Name) == nil {
			t.Errorf("there is no format %s", f.Name)
		}
	}
	first := Formats()[0]
	if !HasSensitivities(first) || !HasSolution(first) || !HasVerification(first) || !HasBench(first) || first.Binary {
		t.Errorf("%s, the format of those who do not choose, lacks results", first.Name)
	}
	for _, file := range []string{"", "a", "some.folder/a", `some.folder\a`} {
		if got := FormatOf(file); got == nil || got.Name != first.Name {
			t.Errorf("%q holds %v, not %s", file, got, first.Name)
		}
	}
	if FormatOf("a.xlsx") != nil || FormatNamed("xlsx") != nil || FormatNamed("txt") != nil {
		t.Error("a format that does not exist was found")
	}
}
