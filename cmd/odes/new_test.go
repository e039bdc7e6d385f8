package main

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/parser"
)

// TestTemplates parses, formats, solves, differentiates and, where there is something to be found, fits every template,
// without a warning.
func TestTemplates(t *testing.T) {
	names := templateNames()
	for _, want := range strings.Fields("pk pk-oral epidemic reaction mechanics pde control") {
		if !slices.Contains(names, want) {
			t.Errorf("there is no template %s", want)
		}
	}
	fits := 0
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			var out, errs bytes.Buffer
			if code := run(t.Context(), []string{"new", "--template", name, "-"}, nil, &out, &errs); code != exitDone {
				t.Fatalf("status %d: %s", code, &errs)
			}
			text := out.String()
			m, err := odes.Parse(name+".ode", text, odes.ParseOptions{})
			if err != nil {
				t.Fatal(diag.Of(err))
			}
			if len(m.Warnings()) > 0 {
				t.Errorf("warnings: %v", m.Warnings())
			}
			if m.Info().Title == "" {
				t.Error("it has no title")
			}
			formatted, err := parser.Format(name+".ode", text)
			if err != nil {
				t.Fatal(err)
			}
			if formatted != text {
				t.Errorf("it is not in standard form, which is\n%s", formatted)
			}
			res, err := m.Sensitivities(context.Background(), odes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if res.Status != "ok" || len(res.Warnings) > 0 {
				t.Errorf("status %s, warnings %v", res.Status, res.Warnings)
			}
			for i, v := range res.Values {
				row := res.Gradient[i*res.Columns : (i+1)*res.Columns]
				if !slices.ContainsFunc(row, func(x float64) bool { return x != 0 }) {
					t.Errorf("objective %s depends on nothing", v.Name)
				}
			}
			if !strings.Contains(text, "\nfit ") {
				return
			}
			fits++
			errs.Reset()
			code := run(t.Context(), []string{"fit", "-"}, strings.NewReader(text), &out, &errs)
			if code != exitDone || errs.Len() > 0 || strings.Contains(out.String(), "bound)") {
				t.Errorf("odes fit: status %d\n%s\n%s", code, &errs, &out)
			}
		})
	}
	if fits != 3 {
		t.Errorf("%d templates were fitted", fits)
	}
}
