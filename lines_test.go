package odes_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// longest is the number of columns that a line of Go code may have; a tab takes four.
const longest = 120

var (
	generated = regexp.MustCompile(`(?m)^// Code generated .* DO NOT EDIT\.$`)

	// coefficients matches a row of a table of numbers, whose digits are copied from the literature.
	coefficients = regexp.MustCompile("^\\s*([A-Z]\\w*:\\s*)?`?[-+0-9./ ]+`?,?$")
)

// TestLines demands that no line of Go code is longer than 120 columns, but for generated files and
// rows of coefficients.
func TestLines(t *testing.T) {
	files := 0
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			if path != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata") {
				return filepath.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil || generated.Match(text) {
			return err
		}
		files++
		number := 0
		for line := range strings.Lines(string(text)) {
			number++
			line = strings.TrimRight(line, "\r\n")
			columns := utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
			if columns > longest && !coefficients.MatchString(line) {
				t.Errorf("%s:%d: %d columns, more than %d", path, number, columns, longest)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 300 {
		t.Fatalf("found only %d files: the test checks nothing", files)
	}
}
