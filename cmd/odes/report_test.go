package main

import (
	"bytes"
	"compress/flate"
	"encoding/base64"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"odes.dev/odes"
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

var (
	inReport = regexp.MustCompile(`(?i)<(?:link|iframe|script [^>]*src|img)\b|url\([^#]|@import|(?:src|href)="//`)
	altText  = regexp.MustCompile(`<svg [^>]*role="img" aria-label="[^"]{12,}"`)
	toPlay   = regexp.MustCompile(`href="([^"#]*)#m=([-_A-Za-z0-9]+)"`)
)

// TestReportOfFit: a page of a fit has its date and version, profiles, residuals, correlations and pairs, words for
// every figure, the text in folds, a link that holds model, data and estimates; and nothing comes from elsewhere.
func TestReportOfFit(t *testing.T) {
	t.Setenv("SOURCE_DATE_EPOCH", "1795900000")
	var out, errs bytes.Buffer
	args := []string{
		"report", "../../docs/tutorial/fit.ode", "--fit", "--fit.intervals=wald",
		"--playground", "http://localhost:1/p.html",
	}
	if status := run(t.Context(), args, strings.NewReader(""), &out, &errs); status != exitDone {
		t.Fatalf("exit status %d\n%s", status, &errs)
	}
	page := out.String()
	for _, want := range []string{
		"fit.ode, by odes " + odes.Version, "November 2026", "UTC", "correlation of estimates", "pairs of estimates",
		"residual", "<thead>", "<details", `class="curve"`, "light-dark(",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %q", want)
		}
	}
	if found := inReport.FindString(page); found != "" {
		t.Errorf("the page reads something: %s", found)
	}
	figures := strings.Count(page, "<svg ")
	if n := len(altText.FindAllString(page, -1)); n != figures || n < 6 {
		t.Errorf("%d of %d figures have words", n, figures)
	}
	m := toPlay.FindStringSubmatch(page)
	if m == nil || m[1] != "http://localhost:1/p.html" {
		t.Fatalf("no link to the playground: %q", m)
	}
	raw, err := base64.RawURLEncoding.DecodeString(m[2])
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(flate.NewReader(bytes.NewReader(raw)))
	if err != nil {
		t.Fatal(err)
	}
	var value struct {
		Text  string
		Files map[string]string
		Set   map[string]float64
	}
	if err := json.Unmarshal(text, &value); err != nil || !strings.HasPrefix(value.Text, "## ") && !strings.Contains(
		value.Text, "model Fit") || len(value.Files) != 1 || value.Set["V"] == 0 {
		t.Errorf("%v: %.300s %v", err, text, value.Set)
	}
	args[len(args)-1] = "none"
	out.Reset()
	if run(t.Context(), args, strings.NewReader(""), &out, &errs) != exitDone || toPlay.Match(out.Bytes()) {
		t.Error("there is a link, or no page, with --playground none")
	}
}
