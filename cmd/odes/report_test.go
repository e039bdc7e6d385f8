package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
)

// TestReportsAreWellFormed reads reports on examples as XML, which is stricter than browsers are.
func TestReportsAreWellFormed(t *testing.T) {
	for _, name := range []string{"bounce", "theophylline", "subjects", "robertson"} {
		var out, errs bytes.Buffer
		args := []string{"report", "../../examples/" + name + "/" + name + ".ode"}
		if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitDone {
			t.Errorf("%s: exit status %d\n%s", name, status, &errs)
			continue
		}
		pictures := bytes.Count(out.Bytes(), []byte("<svg "))
		if pictures < 2 {
			t.Errorf("%s: %d pictures", name, pictures)
		}
		for d := xml.NewDecoder(&out); ; {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Errorf("%s: %v", name, err)
				break
			}
		}
	}
}
