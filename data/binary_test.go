package data

import (
	"strings"
	"testing"
)

// TestBinary: files that hold no text are told by what they are, and texts are none of them.
func TestBinary(t *testing.T) {
	for text, want := range map[string]string{
		"PK\x03\x04\x14\x00\x06": "spreadsheet", "\xd0\xcf\x11\xe0\xa1": "spreadsheet", "\x1f\x8b\x08": "unpack",
		"a,b\n\x00\x01\x02\x03,\x04\n": "binary", "%PDF-1.7\n": "PDF", "\x89HDF\r\n": "HDF5",
	} {
		if _, _, err := records("x.csv", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"a,b\n1,2\n", "P,K\n1,2\n", "\"a\tb\";c\r\n1;2\r\n", "größe,µ\n1,2\n"} {
		if rows, _, err := records("x.csv", []byte(text)); err != nil || len(rows) != 2 {
			t.Errorf("%q: %v, %v", text, rows, err)
		}
	}
}
