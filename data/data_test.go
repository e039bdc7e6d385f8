package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"pgregory.net/rapid"
)

func npyFile(version byte, descr, order, shape string, body []byte) string {
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': %s, 'shape': (%s), }\n", descr, order, shape)
	b := []byte("\x93NUMPY")
	b = append(b, version, 0)
	if version == 1 {
		b = binary.LittleEndian.AppendUint16(b, uint16(len(header)))
	} else {
		b = binary.LittleEndian.AppendUint32(b, uint32(len(header)))
	}
	return string(append(append(b, header...), body...))
}

func TestLoad(t *testing.T) {
	f8 := binary.LittleEndian.AppendUint64(nil, math.Float64bits(1.5))
	f8 = binary.LittleEndian.AppendUint64(f8, math.Float64bits(-2))
	for _, c := range []struct{ name, text, want string }{
		{"a.csv", "1,2\n3,4\n", "[2 2] [1 2 3 4]"},
		{"a.csv", "x;y\n1;2.5\n", "[2] [1 2.5]"},
		{"a.tsv", "# comment\n1\n2\nnan\n", "[3] [1 2 NaN]"},
		{"a.csv", "\xef\xbb\xbf1,2\r\n3,4\r\n", "[2 2] [1 2 3 4]"},
		{"a.csv", "1,2\n3\n", `a.csv:2: 1 numbers, but the first line has 2`},
		{"a.csv", "1,2\n3,b\n", `a.csv:2: "b" (cell 2) is not a number`},
		{
			"a.csv", "1e400,2\n",
			`a.csv:1: "1e400" (cell 1) is too large for double precision (1.8e308); infinity is inf`,
		},
		{"a.csv", "inf,1e-400\n", "[2] [+Inf 0]"},
		{
			"a.mtx", "%%MatrixMarket matrix array real general\n1 1\n-1e400\n",
			`a.mtx:3: "-1e400" is too large for double precision (1.8e308); infinity is inf`,
		},
		{"a.csv", "", `a.csv: the file holds no numbers`},
		{"a.npy", npyFile(1, "<f8", "False", "2,", f8), "[2] [1.5 -2]"},
		{
			"a.npy", npyFile(2, ">i2", "True", "2, 3", []byte{0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 255, 255}),
			"[2 3] [1 3 5 2 4 -1]",
		},
		{"a.npy", npyFile(3, "|u1", "False", "", []byte{7}), "[] [7]"},
		{"a.npy", npyFile(1, "<f8", "False", "3,", f8), "a.npy: 16 bytes of data, but the shape needs 24"},
		{
			"a.npy", npyFile(1, "<c16", "False", "1,", f8),
			`a.npy: elements of type "<c16" are not read; save floats or integers`,
		},
		{
			"a.npy", npyFile(1, "<f8", "False", "99999, 99999", f8),
			"a.npy: the array of shape (99999, 99999) has more elements than the limit of 1000",
		},
		{"a.npy", "hello", "a.npy: this is not a NumPy file"},
		{"a.mtx", "%%MatrixMarket matrix coordinate real general\n% c\n2 3 2\n1 1 5\n2 3 -1\n", "[2 3] [5 0 0 0 0 -1]"},
		{"a.mtx", "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n", "[2 2] [0 1 1 0]"},
		{"a.mtx", "%%MatrixMarket matrix array real general\n2 2\n1\n2\n3\n4\n", "[2 2] [1 3 2 4]"},
		{"a.mtx", "%%MatrixMarket matrix array real symmetric\n2 2\n1\n2\n3\n", "[2 2] [1 2 2 3]"},
		{"a.mtx", "%%MatrixMarket matrix array real skew-symmetric\n3 3\n1\n2\n3\n", "[3 3] [0 -1 -2 1 0 -3 2 3 0]"},
		{
			"a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 1\n3 1 5\n",
			"a.mtx:3: (3, 1) is outside the matrix of 2 × 2",
		},
		{
			"a.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 5\n",
			"a.mtx:3: 1 entries, but 2 were announced",
		},
		{"a.mtx", "", "a.mtx:0: the file ends before the sizes"},
		{"a.xls", "", "a.xls: the format is told by the extension; use .csv, .tsv, .txt, .npy or .mtx"},
		{
			"../a.csv", "",
			`"../a.csv" is outside the model's folder; files are named relative to it, and lie in it or below`,
		},
		{
			"/etc/a.csv", "",
			`"/etc/a.csv" is outside the model's folder; files are named relative to it, and lie in it or below`,
		},
	} {
		files := fstest.MapFS{strings.TrimLeft(c.name, "./"): {Data: []byte(c.text)}}
		a, err := Load(files, c.name, 1000)
		got := fmt.Sprint(a.Shape, a.Data)
		if err != nil {
			got = strings.Split(err.Error(), ": file does not exist")[0]
		}
		if got != c.want {
			t.Errorf("%s %q:\n got %s\nwant %s", c.name, c.text, got, c.want)
		}
	}
}

// TestEntries: coordinates are kept, in order and each place once, and written out unless that takes much memory.
func TestEntries(t *testing.T) {
	const head = "%%MatrixMarket matrix coordinate real "
	for _, c := range []struct{ text, want string }{
		{head + "general\n2 3 4\n2 3 -1\n1 1 5\n2 1 1\n1 1 2\n", "[0 1 1] [0 0 2] [7 1 -1] true"},
		{head + "symmetric\n3 3 2\n3 1 4\n2 2 1\n", "[0 1 2] [2 1 0] [4 1 4] true"},
		{head + "skew-symmetric\n2 2 1\n2 1 3\n", "[0 1] [1 0] [-3 3] true"},
		{head + "general\n100000 100000 1\n100000 7 2\n", "[99999] [6] [2] false"},
	} {
		a, err := Load(fstest.MapFS{"a.mtx": {Data: []byte(c.text)}}, "a.mtx", 100_000_000)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := fmt.Sprint(a.Entries.Row, a.Entries.Col, a.Entries.Value, a.Data != nil); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.text, got, c.want)
		}
	}
	a, err := Load(fstest.MapFS{"a.mtx": {Data: []byte(head + "general\n2 3 2\n2 3 -1\n1 2 5\n")}}, "a.mtx", 100)
	if err != nil {
		t.Fatal(err)
	}
	if b := a.Entries.Transpose(); fmt.Sprint(b.Row, b.Col, b.Value) != "[1 2] [0 1] [5 -1]" {
		t.Error(b)
	}
}

func TestReadTable(t *testing.T) {
	files := fstest.MapFS{
		"d.tsv": {Data: []byte("t [h]\tconc [mg/L]\tarm\n0\t1\ta\n2\t\tb\n")},
		"e.csv": {Data: []byte("t,y\n0,1\n1\n")},
		"f.csv": {Data: []byte("t,y\n0,1\n1,zwei\n")},
		"g.csv": {Data: []byte("t,y\n0,1e999\n")},
	}
	d, err := ReadTable(files, "d.tsv")
	if err != nil {
		t.Fatal(err)
	}
	y, err := d.Numbers(1)
	if err != nil || fmt.Sprint(d.Columns, y) != "[t [h] conc [mg/L] arm] [1 NaN]" {
		t.Error(d.Columns, y, err)
	}
	if _, err := ReadTable(files, "e.csv"); err == nil ||
		err.Error() != "e.csv:3: 1 cell, but the header names 2 columns" {
		t.Error(err)
	}
	f, err := ReadTable(files, "f.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Numbers(1); err == nil || err.Error() != `f.csv:3: "zwei" in column "y" is not a number` {
		t.Error(err)
	}
	g, err := ReadTable(files, "g.csv")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := g.Numbers(1); err == nil ||
		err.Error() != `g.csv:2: "1e999" in column "y" is too large for double precision (1.8e308); infinity is inf` {
		t.Error(err)
	}
}

// TestReadTableOfSpreadsheets reads what spreadsheets write, or says how to write it.
func TestReadTableOfSpreadsheets(t *testing.T) {
	for text, want := range map[string]string{
		"\xef\xbb\xbft;y\r\n0;1.5\r\n":       "[1.5]",
		"t,y\r0,1.5\r1,2\r":                  "[1.5 2]",
		"  \nt,y\n\n0,1.5\n \t\r\n\n1,2\n  ": "[1.5 2]",
		"t,y\n0,1.5\n\"\"\n":                 "a.csv:3: 1 cell, but the header names 2 columns",
		"\xff\xfet\x00,\x00y\x00\n\x00":      "a.csv: the text is encoded as UTF-16; save it as UTF-8",
		"t,y,c [\xb5g/L]\n0,1,2\n": "a.csv:1: the text is not encoded as UTF-8, but perhaps as Latin-1, which " +
			`"c [µg/L]" is in; save the file as UTF-8`,
		"# caf\xe9\nt,y,who\n\n0,1,Ren\xe9\n": "a.csv:4: the text is not encoded as UTF-8, but perhaps as Latin-1, " +
			`which "René" is in; save the file as UTF-8`,
		"# caf\xe9\nt,y\n0,1\n": "[1]",
		"t,y\n0,1\n1,\"2\n2,3\n": "a.csv:3: a text in double quotes begins in this line, and does not end in it; a " +
			"quote within a text is written twice",
		"t,y\n0,1,5\n": "a.csv:2: 3 cells, but the header names 2 columns; decimals are written with a point, and a " +
			"text with a comma stands in double quotes",
		"t;y\n0;1,5\n": `a.csv:2: "1,5" in column "y" is not a number; decimals are written with a point: replace ` +
			"the commas in the file, or save the sheet with English numbers",
		"t,y\n0,<0.1\n": `a.csv:2: "<0.1" in column "y" is not a number; a value below a limit of quantification is ` +
			"written as the limit, and the limit said in the noise: normal(sd, below = limit)",
		"t,y\n0,BLQ\n": `a.csv:2: "BLQ" in column "y" is not a number; a value below a limit of quantification is ` +
			"written as the limit, and the limit said in the noise: normal(sd, below = limit)",
	} {
		got := ""
		table, err := ReadTable(fstest.MapFS{"a.csv": {Data: []byte(text)}}, "a.csv")
		if err == nil {
			var y []float64
			y, err = table.Numbers(1)
			got = fmt.Sprint(y)
		}
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q:\n got %s\nwant %s", text, got, want)
		}
	}
}

func FuzzLoad(f *testing.F) {
	f.Add("a.csv", "1,2\n3,4\n")
	f.Add("a.npy", npyFile(1, "<f8", "False", "1,", make([]byte, 8)))
	f.Add("a.mtx", "%%MatrixMarket matrix array real general\n1 1\n1\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		for _, read := range []func(string, []byte, int) (Array, error){matrix, npy, marketMatrix} {
			if a, err := read(name, []byte(text), 1000); err == nil {
				if n, ok := product(a.Shape, 1000); (!ok || n != len(a.Data)) && (a.Data != nil || a.Entries == nil) {
					t.Fatalf("shape %v with %d numbers", a.Shape, len(a.Data))
				}
				for k := range a.Entries.len() {
					if i, j := a.Entries.Row[k], a.Entries.Col[k]; i < 0 || j < 0 || i >= a.Shape[0] ||
						j >= a.Shape[1] {
						t.Fatalf("entry (%d, %d) of %v", i, j, a.Shape)
					}
				}
			}
		}
	})
}

// TestNPYRoundTrip: arrays of all shapes that are read come back as they were written, to the bit.
func TestNPYRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shape := rapid.SliceOfN(rapid.IntRange(1, 7), 0, 3).Draw(t, "shape")
		n, _ := product(shape, math.MaxInt)
		numbers := make([]float64, n)
		for i := range numbers {
			numbers[i] = math.Float64frombits(rapid.Uint64().Draw(t, "bits")) // NaNs with a payload as well
		}
		part := rapid.IntRange(1, 10).Draw(t, "numbers in a part")
		var file bytes.Buffer
		if err := WriteNPY(&file, shape, slices.Chunk(numbers, part)); err != nil {
			t.Fatal(err)
		}
		got, err := npy("a.npy", file.Bytes(), n)
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Shape, shape) || len(got.Data) != n {
			t.Fatalf("shape %v with %d numbers came back as %v with %d", shape, n, got.Shape, len(got.Data))
		}
		for i, x := range got.Data {
			if math.Float64bits(x) != math.Float64bits(numbers[i]) {
				t.Fatalf("number %d is %v, not %v", i, x, numbers[i])
			}
		}
		if start := file.Len() - 8*n; start%64 != 0 {
			t.Fatalf("the numbers start at byte %d", start)
		}
	})
}

// TestWriteNPY holds the bytes that NumPy itself writes for numpy.array([[1.5, -2]]) but for the last comma of the
// shape, which Python takes on any tuple.
func TestWriteNPY(t *testing.T) {
	var b bytes.Buffer
	if err := WriteNPY(&b, []int{1, 2}, slices.Values([][]float64{{1.5}, {-2}})); err != nil {
		t.Fatal(err)
	}
	want := "\x93NUMPY\x01\x00\x76\x00" +
		"{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2,), }" + strings.Repeat(" ", 57) + "\n" +
		"\x00\x00\x00\x00\x00\x00\xf8\x3f\x00\x00\x00\x00\x00\x00\x00\xc0"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
	if err := WriteNPY(io.Discard, []int{0, 3}, slices.Values([][]float64{})); err != nil {
		t.Errorf("an empty array: %v", err)
	}
	for _, parts := range [][][]float64{nil, {{1}}, {{1, 2}, {3}}} {
		if err := WriteNPY(io.Discard, []int{2}, slices.Values(parts)); err == nil {
			t.Errorf("%v was written as an array of two numbers", parts)
		}
	}
}

func (e *Entries) len() int {
	if e == nil {
		return 0
	}
	return len(e.Value)
}
