package main

import (
	"io"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// TestHelpIsFilledIn looks for names of help texts that there are none of.
func TestHelpIsFilledIn(t *testing.T) {
	t.Parallel()
	p, err := newParser(allCommands(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	values := 0
	err = kong.Visit(p.Model, func(at kong.Visitable, next kong.Next) error {
		if v, ok := at.(*kong.Value); ok {
			if values++; v.Help == "" || strings.ContainsAny(v.Help, "{}") {
				t.Errorf("%s: help %q", v.Summary(), v.Help)
			}
		}
		return next(nil)
	})
	if err != nil || values < 50 {
		t.Errorf("%d flags and arguments, error %v", values, err)
	}
}
