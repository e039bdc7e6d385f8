package data

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/memory"
)

// Table is a table of texts with named columns.
type Table struct {
	Name    string
	Columns []string
	Cells   [][]string // per column
	Lines   []int      // line of each row in the file

	comma rune // what separates columns
}

// ReadTable reads a CSV or TSV file with a header line. The separator is a tab
// in .tsv files, else the one of comma, semicolon and tab that the header has
// most of. Lines that start with # are comments.
func ReadTable(files fs.FS, name string) (*Table, error) {
	text, err := input.Read(files, name, input.MaxData)
	if err != nil {
		return nil, err
	}
	rows, lines, err := records(name, text)
	if err != nil {
		return nil, err
	}
	if len(rows) == 0 {
		return nil, fmt.Errorf("%s: the file is empty; its first line names the columns", name)
	}
	t := &Table{
		Name: name, Columns: rows[0], Cells: make([][]string, len(rows[0])), Lines: lines[1:],
		comma: separator(name, text),
	}
	seen := map[string]bool{}
	for k, c := range t.Columns {
		t.Columns[k] = strings.TrimSpace(c)
		if seen[t.Columns[k]] {
			return nil, fmt.Errorf("%s:%d: two columns are called %q", name, lines[0], t.Columns[k])
		}
		seen[t.Columns[k]] = true
	}
	for i, row := range rows[1:] {
		if len(row) != len(t.Columns) {
			return nil, fmt.Errorf("%s:%d: %s, but the header names %s%s", name, lines[i+1], counted(len(row), "cell"),
				counted(len(t.Columns), "column"), t.decimals(row))
		}
		for k, cell := range row {
			t.Cells[k] = append(t.Cells[k], strings.TrimSpace(cell))
		}
	}
	return t, nil
}

// decimals is what may have made too many cells of a row.
func (t *Table) decimals(row []string) string {
	if len(row) > len(t.Columns) && t.comma == ',' {
		return "; decimals are written with a point, and a text with a comma stands in double quotes"
	}
	return ""
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return strconv.Itoa(n) + " " + what
}

// Numbers returns column k as numbers; an empty cell, "nan" and "na" are missing values (NaN).
func (t *Table) Numbers(k int) ([]float64, error) {
	out := make([]float64, len(t.Cells[k]))
	for i, cell := range t.Cells[k] {
		x, err := parse(cell)
		if err != nil {
			hint := ""
			if _, err := parse(strings.Replace(cell, ",", ".", 1)); err == nil {
				hint = "; decimals are written with a point: replace the commas in the file, or save the sheet with " +
					"English numbers"
			} else if limited(cell) {
				hint = "; a value below a limit of quantification is written as the limit, and the limit said in " +
					"the noise: normal(sd, below = limit)"
			}
			return nil, fmt.Errorf("%s:%d: %q in column %q %w%s", t.Name, t.Lines[i], cell, t.Columns[k], err, hint)
		}
		out[i] = x
	}
	return out, nil
}

// limited reports what stands for a value below a limit of quantification.
func limited(cell string) bool {
	switch strings.ToLower(cell) {
	case "blq", "bloq", "bql", "lloq", "bdl":
		return true
	}
	return strings.HasPrefix(cell, "<")
}

// What a cell may be instead of a number.
var (
	errNoNumber = errors.New("is not a number")
	errTooLarge = errors.New("is too large for double precision (1.8e308); infinity is inf")
)

// parse reads a number. Its errors follow the text in a message.
func parse(cell string) (float64, error) {
	switch strings.ToLower(cell) {
	case "", "nan", "na", ".":
		return math.NaN(), nil
	case "inf", "+inf", "infinity":
		return math.Inf(1), nil
	case "-inf", "-infinity":
		return math.Inf(-1), nil
	}
	if strings.ContainsAny(cell, "xXpP_") {
		return 0, errNoNumber
	}
	x, err := strconv.ParseFloat(cell, 64)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, errTooLarge
	case err != nil:
		return 0, errNoNumber
	}
	return x, nil
}

// bytesPerCell is what a cell of a text takes while it is read, beside its bytes.
const bytesPerCell = 40

// cells returns how many cells a text has at most.
func cells(text []byte) (n int) {
	for _, c := range ",;\t\n" {
		n += bytes.Count(text, []byte(string(c)))
	}
	return n
}

// binaries are what files begin with that people take for tables.
var binaries = []struct{ begins, kind string }{
	{"PK\x03\x04", "a spreadsheet or another compressed file; save the sheet as CSV (UTF-8)"},
	{"\xd0\xcf\x11\xe0", "a spreadsheet of an older kind; save the sheet as CSV (UTF-8)"},
	{"\x1f\x8b", "a compressed file; unpack it"},
	{"\x89HDF", "a file in HDF5; write the table as CSV"},
	{"PAR1", "a file in Parquet; write the table as CSV"},
	{"%PDF", "a document in PDF; copy the table into a CSV file"},
	{"\x89PNG", "a picture"},
	{"\xff\xd8\xff", "a picture"},
	{"GIF8", "a picture"},
	{"\x7fELF", "a program"},
	{"MZ\x90", "a program"},
	{"SQLite format 3", "a database; write the table as CSV"},
	{"\x93NUMPY", "an array of NumPy; load reads it from a file that ends in .npy"},
}

// noText says what a file is that holds no text; "" for a text.
func noText(text []byte) string {
	for _, b := range binaries {
		if bytes.HasPrefix(text, []byte(b.begins)) {
			return b.kind
		}
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return "" // UTF-16, which is told as such
	}
	head := text[:min(len(text), 4096)]
	switch begin := bytes.TrimSpace(head); {
	case bytes.HasPrefix(begin, []byte("{")), bytes.HasPrefix(begin, []byte("[{")),
		bytes.HasPrefix(begin, []byte("[[")):
		return "JSON; write the table as CSV"
	case bytes.HasPrefix(begin, []byte("<")) && bytes.ContainsRune(begin, '>'):
		return "a page in HTML or XML; write the table as CSV"
	}
	controls := 0
	for _, c := range head {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' {
			controls++
		}
	}
	if controls > 2 && controls*50 > len(head) {
		return "a binary file"
	}
	return ""
}

// records splits a file into cells.
func records(name string, text []byte) (rows [][]string, lines []int, err error) {
	text = bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))
	if kind := noText(text); kind != "" {
		return nil, nil, fmt.Errorf("%s: this is no table in CSV, but %s", name, kind)
	}
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return nil, nil, fmt.Errorf("%s: the text is encoded as UTF-16; save it as UTF-8", name)
	}
	if err := memory.Ask(bytesPerCell * float64(cells(text))); err != nil {
		return nil, nil, fmt.Errorf("cannot read %q: %w", name, err)
	}
	if !bytes.Contains(text, []byte{'\n'}) {
		text = bytes.ReplaceAll(text, []byte{'\r'}, []byte{'\n'}) // as spreadsheets of old Macs end lines
	}
	valid := utf8.Valid(text) // comments need not be
	r := csv.NewReader(bytes.NewReader(text))
	r.Comma = separator(name, text)
	r.Comment = '#'
	r.FieldsPerRecord = -1
	r.TrimLeadingSpace = r.Comma != '\t'
	for {
		row, err := r.Read()
		if err != nil {
			var parse *csv.ParseError
			if errors.As(err, &parse) {
				if parse.StartLine < parse.Line { // it ran on to where another quote, or the file, ends
					return nil, nil, fmt.Errorf("%s:%d: a text in double quotes begins in this line, and does not end "+
						"in it; a quote within a text is written twice", name, parse.StartLine)
				}
				return nil, nil, fmt.Errorf("%s:%d:%d: %w", name, parse.Line, parse.Column, parse.Err)
			}
			return rows, lines, nil // io.EOF
		}
		if len(row) == 1 && strings.TrimSpace(row[0]) == "" && blank(text, r.InputOffset()) {
			continue // like an empty line, which the reader skips
		}
		line, _ := r.FieldPos(0)
		if i := slices.IndexFunc(row, invalid); !valid && i >= 0 {
			return nil, nil, fmt.Errorf("%s:%d: the text is not encoded as UTF-8, but perhaps as Latin-1, which %q is "+
				"in; save the file as UTF-8", name, line, latin1(row[i]))
		}
		rows = append(rows, row)
		lines = append(lines, line)
	}
}

func invalid(text string) bool { return !utf8.ValidString(text) }

// latin1 returns a text that is encoded as Latin-1.
func latin1(text string) string {
	runes := make([]rune, len(text))
	for i := range runes {
		runes[i] = rune(text[i])
	}
	return string(runes)
}

// blank reports whether the line that ends at an offset has blanks only: not the quotes of an empty cell.
func blank(text []byte, end int64) bool {
	line := bytes.TrimRight(text[:end], "\r\n")
	return len(bytes.TrimSpace(line[bytes.LastIndexByte(line, '\n')+1:])) == 0
}

func separator(name string, text []byte) rune {
	if strings.EqualFold(path.Ext(name), ".tsv") {
		return '\t'
	}
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		best, n := ',', bytes.Count(line, []byte{','})
		for _, c := range ";\t" {
			if k := bytes.Count(line, []byte(string(c))); k > n {
				best, n = c, k
			}
		}
		return best
	}
	return ','
}

// matrix reads a CSV file of numbers: a vector when it has one column or one
// row, else a matrix. A first line without any number is a header.
func matrix(name string, text []byte, limit int) (Array, error) {
	rows, lines, err := records(name, text)
	if err != nil {
		return Array{}, err
	}
	if len(rows) > 0 {
		header := true
		for _, cell := range rows[0] {
			if _, err := parse(strings.TrimSpace(cell)); !errors.Is(err, errNoNumber) {
				header = false
			}
		}
		if header {
			rows, lines = rows[1:], lines[1:]
		}
	}
	if len(rows) == 0 {
		return Array{}, fmt.Errorf("%s: the file holds no numbers", name)
	}
	cols := len(rows[0])
	n, ok := product([]int{len(rows), cols}, limit)
	if !ok {
		return Array{}, fmt.Errorf("%s: %d × %d numbers are more than the limit of %d", name, len(rows), cols, limit)
	}
	a := Array{Shape: []int{len(rows), cols}, Data: make([]float64, 0, n)}
	for i, row := range rows {
		if len(row) != cols {
			return Array{}, fmt.Errorf("%s:%d: %d numbers, but the first line has %d", name, lines[i], len(row), cols)
		}
		for k, cell := range row {
			x, err := parse(strings.TrimSpace(cell))
			if err != nil {
				return Array{}, fmt.Errorf("%s:%d: %q (cell %d) %w", name, lines[i], cell, k+1, err)
			}
			a.Data = append(a.Data, x)
		}
	}
	if cols == 1 {
		a.Shape = []int{len(rows)}
	} else if len(rows) == 1 {
		a.Shape = []int{cols}
	}
	return a, nil
}
