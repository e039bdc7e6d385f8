package report

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"odes.dev/odes"
)

// wellFormed reads a page as XML, which is stricter than browsers are, and returns what it shows.
func wellFormed(t *testing.T, page string) string {
	t.Helper()
	var shown strings.Builder
	for d := xml.NewDecoder(strings.NewReader(page)); ; {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return shown.String()
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, page)
		}
		if text, ok := token.(xml.CharData); ok {
			shown.Write(text)
		}
	}
}

// TestPage writes what has marks of HTML in it, numbers with marks of trust, and columns that are empty.
func TestPage(t *testing.T) {
	var b strings.Builder
	p := NewPage(&b, "A <b> & \"c\"")
	p.Section("Params <1>")
	p.Symbols([]odes.Symbol{
		{Name: "k", Values: []float64{1.5}, Unit: "1/s"},
		{Name: "A", Values: []float64{1, 2}, Shape: []int{2}, Doc: "a < b"},
	})
	p.Source("m.ode", "let x = if a < b && c then 1 else 2")
	p.Picture([]byte("<svg></svg>\n"))
	s := &odes.Sensitivities{
		Values:    []odes.Value{{Name: "J", Value: 2, Trust: odes.Loose}},
		Variables: []odes.Variable{{Name: "k"}},
		Gradient:  []float64{3},
		Trusts:    []odes.Trust{odes.Lost},
		Columns:   1,
	}
	h := Heading{Model: "M", File: "m.ode", Time: "t"}
	if err := On(p, SensTable, h, s, TableOptions{Width: 10}); err != nil {
		t.Fatal(err)
	}
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{
		`<h1>A &lt;b&gt; &amp; &#34;c&#34;</h1>`,
		`<tr><td class="l">A[1]</td><td>1</td><td class="l">a &lt; b</td></tr>`,
		`<th>value</th>`,
		"<figure>\n<svg></svg>\n</figure>",
		`<td class="loose">2.0000000?</td>`, `<td class="lost">3.000000!</td>`,
		"? few digits are right, ! not to be trusted",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %s:\n%s", want, page)
		}
	}
	if shown := wellFormed(t, page); !strings.Contains(shown, "if a < b && c then") {
		t.Errorf("the page shows:\n%s", shown)
	}
}
