package petab

import (
	"encoding/csv"
	"errors"
	"io"
	"io/fs"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes/internal/input"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// table is a file of values that tabs separate, with a heading.
type table struct {
	file    *source.File
	columns []string
	rows    []row
}

// row is a row of a table.
type row struct {
	of    *table
	line  int
	cells []string
}

// get returns the value in a column, "" where there is none.
func (r row) get(column string) string {
	for i, name := range r.of.columns {
		if name == column && i < len(r.cells) {
			return strings.TrimSpace(r.cells[i])
		}
	}
	return ""
}

// span is where the row stands.
func (r row) span() source.Span {
	start := r.of.file.LineStart(r.line)
	return source.Span{File: r.of.file, Start: start, End: start + len(strings.TrimRight(r.of.file.Line(r.line), "\r"))}
}

// read reads tables, which the problem has under a key, and joins them into one list of rows. A table without one of
// the columns is an error.
func (p *problem) read(key string, paths []string, needs ...string) []row {
	var rows []row
	if len(paths) == 0 {
		p.list.Errorf(parser.CodeForeignFile, source.Span{File: p.file}, "the problem has no %s", key)
	}
	for _, path := range paths {
		t := p.table(path)
		if t == nil {
			continue
		}
		for _, name := range needs {
			if !t.has(name) {
				p.list.Errorf(parser.CodeForeignFile, source.Span{File: t.file}, "%s has no column %q", path, name)
			}
		}
		rows = append(rows, t.rows...)
	}
	return rows
}

// once reports rows whose id another row has.
func (p *problem) once(rows []row, column string) {
	seen := map[string]row{}
	for _, r := range rows {
		id := r.get(column)
		if first, ok := seen[id]; ok {
			p.errorAt(r, "the %s %q is there twice", column, id).Relate(first.span(), "here, too")
		}
		seen[id] = r
	}
}

func (t *table) has(column string) bool {
	for _, name := range t.columns {
		if name == column {
			return true
		}
	}
	return false
}

// text reads a file that lies beside the problem.
func (p *problem) text(path string) (*source.File, bool) {
	b, err := input.Read(p.files, path, input.MaxText)
	if err != nil {
		var missing *fs.PathError
		if errors.As(err, &missing) {
			err = missing.Err
		}
		p.list.Errorf(parser.CodeForeignFile, source.Span{File: p.file}, "cannot read %s: %v", path, err)
		return nil, false
	}
	return source.NewFile(path, strings.TrimPrefix(string(b), "\ufeff")), true
}

func (p *problem) table(path string) *table {
	file, ok := p.text(path)
	if !ok {
		return nil
	}
	r := csv.NewReader(strings.NewReader(file.Text()))
	r.Comma, r.FieldsPerRecord, r.LazyQuotes = '\t', -1, true
	t := &table{file: file}
	for {
		cells, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t
		}
		if err != nil {
			p.list.Errorf(parser.CodeForeignFile, source.Span{File: file}, "cannot read %s: %v", path, err)
			return nil
		}
		if t.columns == nil {
			for _, name := range cells {
				t.columns = append(t.columns, strings.TrimSpace(name))
			}
			continue
		}
		line, _ := r.FieldPos(0)
		if strings.TrimSpace(strings.Join(cells, "")) != "" {
			t.rows = append(t.rows, row{t, line, cells})
		}
	}
}

// isNumber reports whether a cell is a number, and writes it in the language.
func isNumber(cell string) (text string, ok bool) {
	v, err := strconv.ParseFloat(cell, 64)
	switch {
	case err != nil || strings.ContainsAny(cell, "xX_"):
		return "", false
	case math.IsInf(v, 1):
		return "inf", true
	case math.IsInf(v, -1):
		return "-inf", true
	}
	return strings.ToLower(strings.TrimPrefix(cell, "+")), true
}

// missing reports whether a cell says that there is no value.
func missing(cell string) bool { return cell == "" || strings.EqualFold(cell, "nan") }

// errorAt reports an error about a row.
func (p *problem) errorAt(r row, format string, args ...any) *diag.Diagnostic {
	return p.list.Errorf(parser.CodeForeignFile, r.span(), format, args...)
}
