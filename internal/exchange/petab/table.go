package petab

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	gopath "path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// table is a file of values that tabs separate, with a heading.
type table struct {
	file    *source.File
	columns []string
	rows    []row
}

// row is a row of a table.
type row struct {
	of     *table
	cells  []string
	starts []int // of the cells, in bytes of the file
}

// get returns the value in a column, "" where there is none.
func (r row) get(column string) string {
	if i := slices.Index(r.of.columns, column); i >= 0 && i < len(r.cells) {
		return strings.TrimSpace(r.cells[i])
	}
	return ""
}

// span is where the row stands, or its cell in a column.
func (r row) span(column string) source.Span {
	first, last := 0, len(r.cells)-1
	if i := slices.Index(r.of.columns, column); i >= 0 && i <= last {
		first, last = i, i
	}
	return source.Span{File: r.of.file, Start: r.starts[first], End: r.starts[last] + len(r.cells[last])}
}

// origin is the row as what something was made from, in words.
func (r row) origin(format string, args ...any) source.Origin {
	return source.Origin{Span: r.span(""), What: fmt.Sprintf(format, args...)}
}

// read reads tables, which the problem has under a key, and joins them into one list of rows. A table without one of
// the columns is an error.
func (p *problem) read(key string, files paths, needs ...string) []row {
	var rows []row
	if len(files) == 0 {
		p.wrong(p.whole(), "the problem has no %s", key)
	}
	for _, at := range files {
		t := p.table(at)
		if t == nil {
			continue
		}
		for _, name := range needs {
			hint := ""
			if len(t.columns) < 2 {
				hint = ": tabs separate its columns"
			}
			if !slices.Contains(t.columns, name) {
				p.wrong(source.Span{File: t.file}, "%s has no column %q%s", at.name, name, hint)
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
			p.errorAt(r, column, "the %s %q is there twice", column, id).Relate(first.span(column), "here, too")
		}
		seen[id] = r
	}
}

// text reads a file that the problem names.
func (p *problem) text(at path) (*source.File, bool) {
	b, err := input.ReadAround(p.files, gopath.Join(p.dir, at.name), input.MaxText, ".xml", ".sbml", ".tsv",
		".yaml", ".yml")
	if err != nil {
		if errors.Is(err, fs.ErrNotExist) {
			err = fmt.Errorf("there is no file %q where the problem lies", at.name)
		}
		p.wrong(p.line(at.line), "%v", err)
		return nil, false
	}
	name := filepath.Join(filepath.Dir(p.file.Name()), at.name)
	return source.NewFile(name, strings.TrimPrefix(string(b), "\ufeff")), true
}

// table reads a table. It returns nil after reporting an error.
func (p *problem) table(at path) *table {
	file, ok := p.text(at)
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
			p.wrong(source.Span{File: file}, "cannot read %s: %v", at.name, err)
			return nil
		}
		one := row{t, cells, make([]int, len(cells))}
		for i := range cells {
			line, column := r.FieldPos(i)
			one.starts[i] = file.LineStart(line) + column - 1
		}
		if i := slices.IndexFunc(cells, func(c string) bool { return strings.Contains(c, "\n") }); i >= 0 {
			p.wrong(source.Span{File: file, Start: one.starts[i]}, "the quotation mark of this cell is not closed")
			return nil
		}
		switch {
		case t.columns == nil:
			p.heading(t, one)
		case strings.TrimSpace(strings.Join(cells, "")) == "":
		case len(cells) > len(t.columns) && strings.TrimSpace(strings.Join(cells[len(t.columns):], "")) != "":
			p.errorAt(one, "", "the row has %d cells, and the table %d columns", len(cells), len(t.columns))
		default:
			t.rows = append(t.rows, one)
		}
	}
}

// heading takes the names of the columns of a table.
func (p *problem) heading(t *table, r row) {
	for i, name := range r.cells {
		name = strings.TrimSpace(name)
		if name != "" && slices.Contains(t.columns, name) {
			at := source.Span{File: t.file, Start: r.starts[i], End: r.starts[i] + len(r.cells[i])}
			p.wrong(at, "the column %q is there twice", name)
		}
		t.columns = append(t.columns, name)
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

// short is a formula as messages repeat it.
func short(text string) string {
	if r := []rune(text); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return text
}

// errorAt reports an error about a row, or about its cell in a column.
func (p *problem) errorAt(r row, column, format string, args ...any) *diag.Diagnostic {
	return p.wrong(r.span(column), format, args...)
}
