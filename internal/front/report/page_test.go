package report

import (
	"encoding/xml"
	"errors"
	"io"
	"math"
	"reflect"
	"regexp"
	"strconv"
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
	p := NewPage(&b, Head{
		Title: "A <b> & \"c\"", Made: "m.ode, by odes", Links: []Link{{"Try <it>", "https://a.b/c?d&e"}},
		Style: "svg { color: red }", Script: "if (1 < 2 && 3) f()",
	})
	p.Section("Params <1>")
	p.Symbols([]odes.Symbol{
		{Name: "k", Values: []float64{1.5}, Unit: "1/s"},
		{Name: "A", Values: []float64{1, 2}, Shape: []int{2}, Doc: "a < b"},
	})
	p.Source("m.ode", "let x = if a < b && c then 1 else 2")
	p.Source("e.ode", "event e {\n  when t > 1\n  x = 2\n}")
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
		`<th>value</th>`, `<p class="made">m.ode, by odes</p>`,
		`<a href="https://a.b/c?d&amp;e">Try &lt;it&gt;</a>`, "<thead>", "svg { color: red }", "if (1 < 2 && 3) f()",
		`<details open=""><summary><code>event e {</code></summary>`,
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

// TestFolds: blocks of several lines are folded, nothing else is, and no line is lost.
func TestFolds(t *testing.T) {
	text := "model M\nevent e {\n  when t > 1\n  x = 2\n}\nparam k = 1\nfit { over = [k] }\nsolver {\n}\nf {\n  a\n  b"
	var got []int
	var lines []string
	for k, part := range folds(text + "\n") {
		if folded(part) != (k == 1) {
			t.Errorf("%q: folded is %v", part, folded(part))
		}
		got, lines = append(got, len(part)), append(lines, part...)
	}
	if want := []int{1, 4, 7}; !reflect.DeepEqual(got, want) || strings.Join(lines, "\n") != text {
		t.Errorf("%d, not %d, of %q", got, want, lines)
	}
}

var variable = regexp.MustCompile(`--([a-z]+): #([0-9a-f]{6})`)

// TestPageContrast: text of pages stands out from what it stands on by 4.5 to 1, in light and dark; a border by 3.
func TestPageContrast(t *testing.T) {
	light := func(hex string) (sum float64) {
		for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
			n, err := strconv.ParseUint(hex[2*i:2*i+2], 16, 8)
			if err != nil {
				t.Fatal(err)
			}
			x := float64(n) / 255
			if x <= 0.04045 {
				x /= 12.92
			} else {
				x = math.Pow((x+0.055)/1.055, 2.4)
			}
			sum += weight * x
		}
		return sum
	}
	themes := strings.Split(pageStyle, "--paper")[1:]
	if len(themes) < 3 {
		t.Fatalf("%d kinds of colours", len(themes))
	}
	checked := 0
	for _, theme := range themes {
		colours := map[string]string{}
		for _, m := range variable.FindAllStringSubmatch("--paper"+theme, -1) {
			colours[m[1]] = m[2]
		}
		if len(colours) < 2 { // only uses them
			continue
		}
		for _, c := range []struct {
			ink, on string
			least   float64
		}{
			{"ink", "paper", 4.5},
			{"ink", "block", 4.5},
			{"ink", "loose", 4.5},
			{"ink", "lost", 4.5},
			{"soft", "paper", 4.5},
			{"link", "paper", 4.5},
			{"warn", "paper", 3},
			{"soft", "block", 3},
		} {
			a, b := light(colours[c.ink]), light(colours[c.on])
			if got := (max(a, b) + 0.05) / (min(a, b) + 0.05); got < c.least {
				t.Errorf("%s on %s is %.2f to 1: %v", c.ink, c.on, got, colours)
			}
			checked++
		}
	}
	if checked != 24 {
		t.Errorf("%d pairs were checked", checked)
	}
}
