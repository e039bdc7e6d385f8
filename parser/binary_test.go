package parser

import (
	"strings"
	"testing"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// TestBinaryFile: a picture gets one message, and a text with a stray character those of its places.
func TestBinaryFile(t *testing.T) {
	errors := func(text string) (list []string) {
		var l diag.List
		Parse(source.NewFile("model.ode", text), &l)
		for _, d := range l.All() {
			list = append(list, d.Message)
		}
		return list
	}
	picture := "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x02\x80\x00\x00\x01\xe0\x08\x06\x00\x00\x00" +
		strings.Repeat("\x01a\x02\xff#\x03\"", 100)
	if list := errors(picture); len(list) != 1 || !strings.Contains(list[0], "binary file") {
		t.Errorf("a picture: %q", list)
	}
	for _, text := range []string{"param k = 1\x01\nparam l = 2\x02\n", "p\x00a\x00r\x00a\x00m\x00 \x00k\x00", ""} {
		for _, message := range errors(text) {
			if strings.Contains(message, "binary file") {
				t.Errorf("%q: %s", text, message)
			}
		}
	}
}
