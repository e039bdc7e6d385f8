package lsp

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"odes.dev/odes/internal/testing/seeds"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/parser"
)

var emptyArchive = &txtar.Archive{}

// models are texts of models: the examples and the standard modules.
func models(t testing.TB) []string {
	var texts []string
	for _, pattern := range []string{
		"../examples/*/*.ode", "../stdlib/std/*.ode",
		"../cmd/odes/testdata/snippets/*.ode",
	} {
		list, err := filepath.Glob(filepath.FromSlash(pattern))
		if err != nil || len(list) == 0 {
			t.Fatalf("%s: %v", pattern, err)
		}
		for _, path := range list {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			texts = append(texts, string(b))
		}
	}
	return texts
}

// TestEveryKindIsShown: whatever a file declares is a symbol with a number of the protocol.
func TestEveryKindIsShown(t *testing.T) {
	seen := map[string]bool{}
	for _, text := range models(t) {
		d := &document{text: newText(text)}
		for _, item := range d.syntax().tree.Items {
			for _, n := range ast.Declarations(item) {
				if seen[n.Kind] = true; symbolOf(n.Kind) == 0 {
					t.Fatalf("%q is no kind of symbol", n.Kind)
				}
			}
		}
	}
	if len(seen) < 14 {
		t.Errorf("the models declare only %v", seen)
	}
}

// TestEveryNameIsIndexed: every name that is written in a file is in its index,
// once, in the order of the text; and those of one binding are spelt alike.
func TestEveryNameIsIndexed(t *testing.T) {
	other := parser.WordsOf(parser.FreeWord)
	n := 0
	for _, text := range models(t) {
		d := &document{text: newText(text)}
		x := d.syntax().index
		for i := 1; i < len(x.all); i++ {
			if x.all[i].start < x.all[i-1].end {
				t.Errorf("%q overlaps %q", text[x.all[i].start:x.all[i].end], text[x.all[i-1].start:x.all[i-1].end])
			}
		}
		spelt := map[int]string{}
		for _, tok := range d.parsed.tree.Tokens {
			spelt[tok.Start] = tok.Text
		}
		for _, o := range x.all {
			if spelt[o.start] != o.b.name {
				t.Errorf("%q is taken for %q", spelt[o.start], o.b.name)
			}
		}
		unused := map[int]bool{} // the names of models and of settings blocks, which nothing in a file refers to
		for _, item := range d.parsed.tree.Items {
			switch it := item.(type) {
			case *ast.Model:
				unused[it.Name.Span.Start] = true
			case *ast.Settings:
				if it.Name != nil {
					unused[it.Name.Span.Start] = true
				}
			}
		}
		for i, tok := range d.parsed.tree.Tokens {
			if tok.Kind != ast.IdentToken || slices.Contains(other, tok.Text) || unused[tok.Start] {
				continue
			}
			n++
			named := i+1 < len(d.parsed.tree.Tokens) && d.parsed.tree.Tokens[i+1].Text == "=" // f(count = 3)
			o := x.at(tok.Start)
			if (o == nil || o.start > tok.Start) && !named && !slices.Contains([]string{"true", "false"}, tok.Text) {
				t.Errorf("%q in line %d is not in the index of\n%s", tok.Text,
					d.parsed.tree.Source.LineAt(tok.Start), text[:min(len(text), 80)])
			}
		}
	}
	if n < 2000 {
		t.Fatalf("found %d names only", n)
	}
}

// TestPlaces: offsets and positions are each other's inverse in both encodings, for all line endings.
func TestPlaces(t *testing.T) {
	f := newText("ab\r\nμ𝒳c\n\nend\rlast\n")
	if len(f.lines) != 6 {
		t.Fatalf("%d lines", len(f.lines))
	}
	for _, e := range []encoding{utf16, utf8s} {
		for off := range f.s {
			if f.s[off] == '\n' && off > 0 && f.s[off-1] == '\r' {
				continue // within a line ending
			}
			if back := f.offset(f.position(off, e), e); back != off {
				t.Errorf("%s: %d → %v → %d", e, off, f.position(off, e), back)
			}
		}
		for _, p := range []position{{-1, 5}, {0, -3}, {1 << 30, 0}, {1, 1 << 30}, {1, 2}} {
			if off := f.offset(p, e); off < 0 || off > len(f.s) {
				t.Errorf("%s: %v is at %d", e, p, off)
			}
		}
	}
	if off := f.offset(position{1, 2}, utf16); off != 6 {
		t.Errorf("inside of a character: %d", off)
	}
}

// TestPaths: URIs as editors write them.
func TestPaths(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///home/a%20b/m.ode": "/home/a b/m.ode", "file:///c%3A/models/m.ode": "c:/models/m.ode",
		"file:///C:/m.ode":    "C:/m.ode",
		"untitled:Untitled-1": "", "%": "", "file:///a/../b.ode": "/b.ode", "inmemory://model/1": "",
	} {
		if got := pathOf(uri); got != want {
			t.Errorf("pathOf(%q) = %q, want %q", uri, got, want)
		}
		if want != "" && pathOf(uriOf(want)) != want {
			t.Errorf("%q does not come back from %q", want, uriOf(want))
		}
	}
}

// TestRandomEdits: whatever is typed into a model, and whatever is asked about it, every answer is valid and none is an
// internal error; and the text is the client's.
func TestRandomEdits(t *testing.T) {
	texts := models(t)
	r := rand.New(rand.NewPCG(seeds.Of(t, 1), 2))
	rounds := 400
	if testing.Short() {
		rounds = 50
	}
	for _, enc := range []string{"utf-16", "utf-8", ""} {
		e := newEditor(t, emptyArchive)
		if enc == "" { // a client that can do nothing
			e.request("initialize", object{})
		} else {
			e.do("start " + enc)
		}
		for range rounds / 40 {
			was := texts[r.IntN(len(texts))]
			was = was[:min(len(was), 3000)]
			was = strings.ToValidUTF8(was, "")
			e.stored["m.ode"] = was
			e.do("open m.ode")
			for range 20 {
				e.randomEdit(r, texts)
				e.randomRequest(r)
			}
			e.do("close m.ode")
		}
	}
}

// randomEdit replaces a part of m.ode by a part of some text, or by signs.
func (e *editor) randomEdit(r *rand.Rand, texts []string) {
	f := e.texts["m.ode"]
	size := len(f.s)
	start := r.IntN(size + 1)
	end := min(size, start+r.IntN(12))
	from, to := f.position(start, e.s.enc), f.position(end, e.s.enc)
	signs := []string{
		"{", "}", "(", ")", "[", "]", "'", "\"", "\n", "\r", "=", "#", "##", ".", ",",
		" for i in 1:3", "é", "𝒳", "`", "fn f(a", "event", "~", "\x00", "import \"",
	}
	with := signs[r.IntN(len(signs))]
	if r.IntN(3) == 0 {
		other := texts[r.IntN(len(texts))]
		at := r.IntN(len(other))
		with = strings.ToValidUTF8(other[at:min(len(other), at+r.IntN(40))], "")
	}
	e.texts["m.ode"] = newText(f.s[:f.offset(from, e.s.enc)] + with + f.s[f.offset(to, e.s.enc):])
	e.send(nil, "textDocument/didChange", object{
		"textDocument":   object{"uri": uri("m.ode"), "version": 2},
		"contentChanges": []object{{"range": textRange{from, to}, "text": with}},
	})
	if got := e.s.docs[uri("m.ode")].text.s; got != e.texts["m.ode"].s {
		e.t.Fatalf("the server has another text:\n%q\n%q", got, e.texts["m.ode"].s)
	}
	if r.IntN(4) == 0 {
		for e.s.Due() != "" {
			for _, m := range e.s.Check(context.Background()) {
				validMessage(e.t, m)
				if m.Method != "textDocument/publishDiagnostics" {
					e.t.Fatalf("%s: %s\n%s", m.Method, m.Params, e.texts["m.ode"].s)
				}
			}
		}
	}
}

// randomRequest asks for something at a random place.
func (e *editor) randomRequest(r *rand.Rand) {
	var methods []string
	for m := range requests {
		if strings.HasPrefix(m, "textDocument/") {
			methods = append(methods, m)
		}
	}
	slices.Sort(methods)
	f := e.texts["m.ode"]
	at := f.position(r.IntN(len(f.s)+1), e.s.enc)
	for range 6 {
		e.request(methods[r.IntN(len(methods))], object{
			"textDocument": object{"uri": uri("m.ode")}, "position": at,
			"range": textRange{at, position{at.Line + 3, 0}}, "newName": "q", "context": object{},
		})
	}
}

// TestLarge: of a generated file with thousands of states, each text is parsed
// once and checked once, and requests that need no check do none.
func TestLarge(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	text := network(1000)
	e := newEditor(t, emptyArchive)
	e.do("start")
	e.stored["m.ode"] = text
	e.do("open m.ode")
	d := e.s.docs[uri("m.ode")]
	parsed, found := d.parsed, d.found
	for _, line := range []string{
		"hover m.ode 3 s0", "highlight m.ode 3 s0", "symbols m.ode", "tokens m.ode",
		"hints m.ode", "references m.ode 3 s0", "folding m.ode",
	} {
		e.do(line)
	}
	if d.parsed != parsed || d.found != found {
		t.Error("it was parsed or checked again")
	}
	e.out.Reset()
	e.send(nil, "textDocument/didChange", object{
		"textDocument":   object{"uri": uri("m.ode"), "version": 2},
		"contentChanges": []object{{"range": textRange{position{}, position{}}, "text": "\n"}},
	})
	e.texts["m.ode"] = newText("\n" + text)
	for _, line := range []string{"complete m.ode 5 s1", "tokens m.ode", "symbols m.ode"} {
		e.do(line)
	}
	if d.found != found {
		t.Error("a request that needs no check made one")
	}
	m := e.request("textDocument/completion",
		object{"textDocument": object{"uri": uri("m.ode")}, "position": position{4, 35}})
	if !strings.Contains(string(m.Result), `"isIncomplete":true`) ||
		strings.Count(string(m.Result), `"label"`) > mostItems {
		t.Errorf("a list of %d items", strings.Count(string(m.Result), `"label"`))
	}
}

// network is a model of n states in 3n items.
func network(n int) string {
	var b strings.Builder
	b.WriteString("time t : [s] from 0 to 1\n")
	for i := range n {
		fmt.Fprintf(&b, "param k%d = %d.5e-2 [1/s/mol^2] ## rate %d\nstate s%d = %d [mol]\n", i, i, i, i, i%3)
		fmt.Fprintf(&b, "reaction r%d: 2 s%d + s%d -> s%d rate k%d*s%d^2*s%d\n", i, i, (i+1)%n, (i+2)%n, i, i, (i+1)%n)
	}
	return b.String()
}

// BenchmarkChange is a letter typed into a model of 5,000 states: what is parsed, checked and published after it.
func BenchmarkChange(b *testing.B) {
	s := New(Config{})
	handle := func(id any, method string, params any) {
		m := Message{Version: "2.0", Method: method, Params: encode(params)}
		if id != nil {
			m.ID = encode(id)
		}
		s.Handle(b.Context(), m)
	}
	handle(1, "initialize", object{})
	handle(nil, "textDocument/didOpen", opened(network(5000)))
	for b.Loop() {
		handle(nil, "textDocument/didChange", object{
			"textDocument":   object{"uri": "file:///home/m.ode", "version": 2},
			"contentChanges": []object{{"range": textRange{position{}, position{}}, "text": "\n"}},
		})
		if s.Check(b.Context()) == nil {
			b.Fatal("no check")
		}
	}
}
