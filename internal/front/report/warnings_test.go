package report

import (
	"bytes"
	"encoding/json"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// TestWarningsOfCompilation: JSON has them before those of the run.
func TestWarningsOfCompilation(t *testing.T) {
	h := Heading{Time: "t", Warnings: []diag.Diagnostic{{Code: "bad-bounds", Level: diag.Warning, Message: "a"}}}
	ofRun := []diag.Diagnostic{{Code: "tie", Level: diag.Warning, Message: "b"}}
	for name, write := range map[string]func(b *bytes.Buffer) error{
		"sens": func(b *bytes.Buffer) error {
			return sensJSON(b, h, &odes.Sensitivities{Warnings: ofRun}, TableOptions{})
		},
		"run": func(b *bytes.Buffer) error { return runJSON(b, h, &odes.Solution{Warnings: ofRun}, TableOptions{}) },
	} {
		var b bytes.Buffer
		if err := write(&b); err != nil {
			t.Fatal(err)
		}
		var got struct{ Warnings []struct{ Code string } }
		if err := json.Unmarshal(b.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		if w := got.Warnings; len(w) != 2 || w[0].Code != "bad-bounds" || w[1].Code != "tie" {
			t.Errorf("%s: %v", name, w)
		}
	}
}
