// Package editors holds what editors need besides the language server. It has no
// code: its test writes the syntax files from the table of words (go generate), and
// fails when they are not what it would write.
package editors

import (
	"bytes"
	"encoding/json"
	"flag"
	"image"
	"image/png"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

//go:generate go test -run TestWords -update

var update = flag.Bool("update", false, "rewrite the generated files")

// words are the words that editors colour.
type words struct{ items, parts, operators, other, functions, constants []string }

func all() words {
	w := words{constants: []string{"true", "false"}}
	w.items, w.other = parser.ItemWords(), parser.WordsOf(parser.FreeWord)
	w.parts, w.operators = parser.WordsOf(parser.PartWord), parser.WordsOf(parser.OperatorWord)
	for _, f := range stdlib.Funcs() {
		w.functions = append(w.functions, f.Name)
	}
	slices.Sort(w.functions)
	w.functions = slices.Compact(w.functions)
	for _, k := range stdlib.Constants {
		w.constants = append(w.constants, k.Name)
	}
	return w
}

// TestWords: the lists are those of the language.
func TestWords(t *testing.T) {
	w := all()
	for name, text := range map[string][]byte{
		filepath.Join("vscode", "syntaxes", "odes.tmLanguage.json"): grammar(w),
		filepath.Join("vim", "syntax", "odes.vim"):                  vim(w),
	} {
		if *update {
			if err := os.WriteFile(name, text, 0o666); err != nil {
				t.Fatal(err)
			}
			continue
		}
		have, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(have, text) {
			t.Errorf("%s is not what go generate ./editors writes; run that", name)
		}
	}
	for _, word := range slices.Concat(w.items, w.parts, w.operators) {
		if !parser.Reserved(word) && !parser.LateBlock(word) {
			t.Errorf("%q is not reserved", word)
		}
	}
	if len(w.items) < 20 || len(w.parts) < 10 || len(w.other) < 8 || len(w.functions) < 50 {
		t.Errorf("few words: %+v", w)
	}
}

// TestManifest: the files that the extension names are there, it has the version
// of the tool, and files that are written by hand are JSON.
func TestManifest(t *testing.T) {
	read := func(name string, into any) {
		text, err := os.ReadFile(filepath.Join("vscode", name))
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(text, into); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	}
	var m struct {
		Main, Version string
		Contributes   struct {
			Languages []struct {
				Extensions    []string
				Configuration string
			}
			Grammars []struct{ Path, ScopeName string }
		}
	}
	read("package.json", &m)
	if m.Version != odes.Version || m.Contributes.Languages[0].Extensions[0] != ".ode" ||
		m.Contributes.Grammars[0].ScopeName != "source.odes" {
		t.Errorf("%+v", m)
	}
	for _, name := range []string{m.Main, m.Contributes.Languages[0].Configuration, m.Contributes.Grammars[0].Path} {
		if _, err := os.Stat(filepath.Join("vscode", name)); err != nil {
			t.Error(err)
		}
	}
	var any map[string]any
	read(m.Contributes.Languages[0].Configuration, &any)
}

// placeholder is a place of a snippet, with what stands there at first.
var placeholder = regexp.MustCompile(`\$\{(\d+)(?::((?:[^{}]|\$\{[^{}]*\})*)|\|([^,|]*)[^}]*)?\}`)

// expand writes a snippet as it is before anything is typed.
func expand(body string) string {
	first := map[string]string{}
	for placeholder.MatchString(body) {
		body = placeholder.ReplaceAllStringFunc(body, func(p string) string {
			m := placeholder.FindStringSubmatch(p)
			if m[2]+m[3] != "" {
				first[m[1]] = m[2] + m[3]
			}
			return first[m[1]]
		})
	}
	return body
}

// TestSnippetsParse: what a snippet inserts is odes as odes fmt writes it.
func TestSnippetsParse(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("vscode", "snippets.json"))
	if err != nil {
		t.Fatal(err)
	}
	var list map[string]struct {
		Prefix, Description string
		Body                []string
	}
	if err := json.Unmarshal(text, &list); err != nil {
		t.Fatal(err)
	}
	if len(list) < 6 {
		t.Errorf("%d snippets", len(list))
	}
	for name, s := range list {
		body := expand(strings.Join(s.Body, "\n") + "\n")
		is, err := parser.Format(name, body)
		if err != nil || is != body || s.Prefix == "" || s.Description == "" {
			t.Errorf("%s: %v\n%s\nbecomes\n%s", name, err, body, is)
		}
		if name != "model" {
			continue
		}
		if _, err := odes.Parse("snippet.ode", body, odes.ParseOptions{}); err != nil {
			t.Errorf("the model does not compile: %v", err)
		}
	}
}

// TestPackage: the files of a package are there, its commands are those that the code registers, its licence is that of
// odes, and the client library is the one that was tried.
func TestPackage(t *testing.T) {
	read := func(path ...string) string {
		text, err := os.ReadFile(filepath.Join(path...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	if read("vscode", "LICENSE") != read("..", "LICENSE") {
		t.Error("the licence is another")
	}
	var m struct {
		Icon         string
		Dependencies map[string]string
		Contributes  struct {
			Commands []struct{ Command, Title string }
			Snippets []struct{ Path string }
		}
	}
	if err := json.Unmarshal([]byte(read("vscode", "package.json")), &m); err != nil {
		t.Fatal(err)
	}
	code, help := read("vscode", "extension.js"), read("vscode", "README.md")
	for _, c := range m.Contributes.Commands {
		if !strings.Contains(code, "registerCommand('"+c.Command+"'") || !strings.Contains(help, "odes: "+c.Title) {
			t.Errorf("%s is not registered, or the README has no %q", c.Command, c.Title)
		}
	}
	if n := strings.Count(code, "registerCommand("); n != len(m.Contributes.Commands) || n != 2 {
		t.Errorf("%d commands are registered", n)
	}
	read("vscode", m.Contributes.Snippets[0].Path)
	for name, version := range m.Dependencies {
		if strings.ContainsAny(version, "^~*><") || !strings.Contains(read("vscode", "package-lock.json"), name) {
			t.Errorf("%s %s is not pinned", name, version)
		}
	}
	if strings.Contains(read("vscode", "package-lock.json"), "http") {
		t.Error("the lock file says where packages come from: npm install --omit-lockfile-registry-resolved")
	}
	icon, err := png.Decode(strings.NewReader(read("vscode", m.Icon)))
	if err != nil || icon.Bounds() != image.Rect(0, 0, 256, 256) {
		t.Errorf("icon: %v, %v", icon.Bounds(), err)
	}
}

// TestSnippets: what docs/editors.md tells people to copy starts the server for models, has its brackets in pairs, and
// names folders that are there.
func TestSnippets(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "docs", "editors.md"))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "\n```")
	if len(parts) < 11 {
		t.Fatalf("%d parts", len(parts))
	}
	for i := 1; i < len(parts); i += 2 {
		block := strings.NewReplacer("'", `"`, `[`, "(", `]`, ")", "{", "(", "}", ")").Replace(parts[i])
		if !strings.Contains(block, `"odes", "lsp"`) && !strings.Contains(block, `"odes" "lsp"`) &&
			!strings.Contains(block, "command = \"odes\"\nargs = (\"lsp\")") {
			t.Errorf("this does not start the server: %s", parts[i])
		}
		if strings.Count(block, "(") != strings.Count(block, ")") {
			t.Errorf("brackets do not match: %s", parts[i])
		}
	}
	for _, word := range strings.FieldsFunc(string(text),
		func(r rune) bool { return strings.ContainsRune(" `'\n,;()", r) }) {
		if _, path, ok := strings.Cut(word, "editors/"); ok && !strings.HasSuffix(word, ".md") {
			if _, err := os.Stat(filepath.FromSlash(path)); err != nil {
				t.Error(err)
			}
		}
	}
}

// grammar is the TextMate grammar.
func grammar(w words) []byte {
	type object = map[string]any
	name := `[\p{L}_][\p{L}\p{Nd}\p{M}_]*`
	number := `(?<![\p{L}_\d])(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?`
	list := func(words []string) string { return `\b(?:` + strings.Join(words, "|") + `)\b` }
	match := func(scope, pattern string) object { return object{"name": scope + ".odes", "match": pattern} }
	captured := func(pattern string, scopes ...string) object {
		captures := object{}
		for i, s := range scopes {
			captures[string('1'+rune(i))] = object{"name": s + ".odes"}
		}
		return object{"match": pattern, "captures": captures}
	}
	g := object{
		"name": "odes", "scopeName": "source.odes", "fileTypes": []string{"ode"},
		"patterns": []object{
			match("comment.line.documentation", `##(?!#).*$`),
			match("comment.line.number-sign", `#.*$`),
			{
				"name": "string.quoted.double.odes", "begin": `"`, "end": `"|$`,
				"patterns": []object{match("constant.character.escape", `\\.`)},
			},
			match("variable.other.quoted", "`[^`\\n]*`"),
			captured(`(`+number+`)[ \t]*(\[[^\]\n]*\])`, "constant.numeric", "support.type.unit"),
			captured(`(?::|\b(as)\b)[ \t]*(\[[^\]\n]*\])`, "keyword.operator.word", "support.type.unit"),
			captured(`(\])[ \t]+(\[[^\]\n]*\])`, "punctuation.bracket", "support.type.unit"), // of an array
			match("constant.numeric", number),
			captured(`\b(fn)[ \t]+(`+name+`)`, "storage.type", "entity.name.function"),
			captured(`^[ \t]*(`+name+`)(?:\[[^\]\n]*\])?(')`, "variable.other.state", "keyword.operator.derivative"),
			match("storage.type", list(w.items)),
			match("keyword.operator.word", list(w.operators)),
			match("keyword.control", list(w.parts)),
			match("keyword.other", list(w.other)+`(?=[ \t]+[^=\s]|[ \t]*$)`),
			match("support.function", list(w.functions)+`(?=\()`),
			match("constant.language", list(w.constants)),
			match("keyword.operator", `<->|->|<=|>=|==|!=|\+=|-=|\*=|/=|[-+*/@^=<>~']`),
		},
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	if err := e.Encode(g); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// vim is the syntax file of Vim and Neovim.
func vim(w words) []byte {
	var b bytes.Buffer
	b.WriteString("\" Vim syntax file of odes models; written by editors_test.go.\nif " +
		"exists(\"b:current_syntax\")\n  finish\nendif\n\nsyn case match\n")
	keywords := func(group string, words []string) {
		for list := range slices.Chunk(words, 12) {
			b.WriteString("syn keyword " + group + " " + strings.Join(list, " ") + "\n")
		}
	}
	keywords("odesItem", w.items)
	keywords("odesWord", w.parts)
	keywords("odesOperatorWord", w.operators)
	keywords("odesConstant", w.constants)
	b.WriteString(`syn match odesOther "\<\%(` + strings.Join(w.other, `\|`) + `\)\>\ze\s\+[^= \t]"` + "\n")
	for list := range slices.Chunk(w.functions, 20) {
		b.WriteString(`syn match odesFunction "\<\%(` + strings.Join(list, `\|`) + `\)\>\ze("` + "\n")
	}
	b.WriteString(`syn match odesNumber "\<\d\+\.\=\d*\%([eE][-+]\=\d\+\)\=" nextgroup=odesUnit skipwhite
syn match odesNumber "\.\d\+\%([eE][-+]\=\d\+\)\=" nextgroup=odesUnit skipwhite
syn match odesUnit "\[[^\]]*\]" contained
syn match odesUnit "\]\s\+\zs\[[^\]]*\]"
syn match odesColon ":\ze\s*\[" nextgroup=odesUnit skipwhite
syn match odesDerivative "'"
syn match odesQuoted "` + "`[^`]*`" + `"
syn region odesString start=+"+ skip=+\\.+ end=+"+ oneline
syn match odesComment "#.*$" contains=odesTodo
syn match odesDoc "##\%(#\)\@!.*$"
syn keyword odesTodo TODO FIXME contained

hi def link odesItem Statement
hi def link odesWord Keyword
hi def link odesOther Keyword
hi def link odesOperatorWord Operator
hi def link odesConstant Constant
hi def link odesFunction Function
hi def link odesNumber Number
hi def link odesUnit Type
hi def link odesDerivative Special
hi def link odesQuoted Identifier
hi def link odesString String
hi def link odesComment Comment
hi def link odesDoc SpecialComment
hi def link odesTodo Todo

let b:current_syntax = "odes"
`)
	return b.Bytes()
}
