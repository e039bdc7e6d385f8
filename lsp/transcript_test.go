package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestTranscripts plays an editor. The comment of an archive in testdata is what
// the editor does, a command a line; its files are the disk, in /home; what the
// server answers is the file `answers`.
//
//	start [utf-8]                 initialize, with the encoding of positions
//	open|save|close file          and the diagnostics that follow
//	change file line:from-to text replace a part of a line; \n is a new line
//	replace file other            the whole text by that of another file of the archive
//	become file other             the same, and what is wrong with it is not shown
//	touch file                    the file changed on disk
//	hover file line text          a request at the first character of text, which stands in that line
//	explain file line text        a hover of which only the beginning is shown
//	complete file line text       the same, behind the text
//	rename file line text name
//	actions file line text        code actions that touch text, each with what it makes of its line
//	symbols|folding|format|tokens|hints file
func TestTranscripts(t *testing.T) {
	list, err := filepath.Glob(filepath.Join("testdata", "*.txtar"))
	if err != nil || len(list) < 8 {
		t.Fatalf("%d transcripts: %v", len(list), err)
	}
	for _, file := range list {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			e := newEditor(t, archive)
			for line := range strings.Lines(string(archive.Comment)) {
				if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
					continue
				}
				fmt.Fprintf(&e.out, "> %s\n", line)
				e.do(line)
				e.out.WriteString("\n")
			}
			i := slices.IndexFunc(archive.Files, func(f txtar.File) bool { return f.Name == "answers" })
			if *update {
				if i < 0 {
					i = len(archive.Files)
					archive.Files = append(archive.Files, txtar.File{Name: "answers"})
				}
				archive.Files[i].Data = e.out.Bytes()
				if err := os.WriteFile(file, txtar.Format(archive), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			if i < 0 || !bytes.Equal(archive.Files[i].Data, e.out.Bytes()) {
				t.Errorf("got\n%s", &e.out)
			}
		})
	}
}

const folder = "/home"

// editor is a client for tests.
type editor struct {
	t      *testing.T
	s      *Server
	disk   fstest.MapFS
	texts  map[string]*text // of open files
	asked  int
	out    bytes.Buffer
	stored map[string]string
}

func newEditor(t *testing.T, archive *txtar.Archive) *editor {
	e := &editor{t: t, disk: fstest.MapFS{}, texts: map[string]*text{}, stored: map[string]string{}}
	for _, f := range archive.Files {
		if f.Name != "answers" {
			e.disk[f.Name] = &fstest.MapFile{Data: f.Data}
			e.stored[f.Name] = string(f.Data)
		}
	}
	e.s = New(Config{Files: func(_ context.Context, at string) fs.FS {
		if at == folder {
			return e.disk
		}
		sub, err := fs.Sub(e.disk, strings.TrimPrefix(at, folder+"/"))
		if err != nil {
			t.Fatal(err)
		}
		return sub
	}})
	return e
}

func uri(file string) string { return uriOf(path.Join(folder, file)) }

// send sends a message and returns the answers; everything that is sent is valid.
func (e *editor) send(id any, method string, params any) []Message {
	m := Message{Version: "2.0", Method: method, Params: encode(params)}
	if id != nil {
		m.ID = encode(id)
	}
	list := e.s.Handle(context.Background(), m)
	for _, m := range list {
		validMessage(e.t, m)
	}
	return list
}

// validMessage holds what a server may send: a request, a notification or an answer with a result or an error.
func validMessage(t *testing.T, m Message) {
	t.Helper()
	b, err := json.Marshal(m)
	if err != nil || !json.Valid(b) || m.Version != "2.0" {
		t.Fatalf("not valid: %s %v", b, err)
	}
	if answer := m.Method == ""; answer && (m.ID == nil || (m.Result == nil) == (m.Error == nil)) || !answer &&
		(m.Result != nil || m.Error != nil) {
		t.Fatalf("neither a request nor an answer: %s", b)
	}
	if m.Error != nil && m.Error.Code == codeInternal {
		t.Fatal(m.Error.Message)
	}
}

func (e *editor) request(method string, params any) Message {
	e.asked++
	list := e.send(e.asked, method, params)
	if len(list) != 1 || string(list[0].ID) != strconv.Itoa(e.asked) {
		e.t.Fatalf("%s: %d answers", method, len(list))
	}
	return list[0]
}

func (e *editor) notify(method string, params any) {
	e.print(e.send(nil, method, params))
	for e.s.Due() != "" {
		list := e.s.Check(context.Background())
		for _, m := range list {
			validMessage(e.t, m)
		}
		e.print(list)
	}
}

// diagnostic writes what is wrong by its code and places: messages are held elsewhere.
func (e *editor) diagnostic(d diagnostic) {
	at, _ := brief(decoded(d.Range))
	fmt.Fprintf(&e.out, "  %s %s %s", []string{"", "error", "warning", "note"}[d.Severity], d.Code, at)
	for _, r := range d.Related {
		at, _ := brief(decoded(r.Location))
		fmt.Fprintf(&e.out, ", see %s", at)
	}
	for range d.Tags {
		e.out.WriteString(", unnecessary")
	}
	if d.Message == "" || d.Source != "odes" {
		e.t.Errorf("%s says nothing", d.Code)
	}
	e.out.WriteString("\n")
}

func decoded(v any) (out any) {
	if err := json.Unmarshal(encode(v), &out); err != nil {
		panic(err)
	}
	return out
}

type object = map[string]any

func (e *editor) print(list []Message) {
	for _, m := range list {
		if m.Method == "textDocument/publishDiagnostics" {
			var p publishParams
			if err := json.Unmarshal(m.Params, &p); err != nil {
				e.t.Fatal(err)
			}
			fmt.Fprintf(&e.out, "diagnostics of %s: %d\n", strings.TrimPrefix(p.URI, uri("")+"/"), len(p.Diagnostics))
			for _, d := range p.Diagnostics {
				e.diagnostic(d)
			}
			continue
		}
		fmt.Fprintf(&e.out, "%s\n", m.Method)
		e.show("  ", m.Params)
	}
}

func (e *editor) do(line string) {
	words := strings.Fields(line)
	doc := func() object { return object{"uri": uri(words[1])} }
	place := func(behind bool) object {
		at, text := e.find(words[1], words[2], words[3])
		if behind {
			at += len(text)
		}
		return object{"textDocument": doc(), "position": e.texts[words[1]].position(at, e.s.enc)}
	}
	ask := func(method string, params any) {
		m := e.request(method, params)
		if m.Error != nil {
			fmt.Fprintf(&e.out, "error %d: %s\n", m.Error.Code, m.Error.Message)
			return
		}
		e.show("", m.Result)
	}
	switch words[0] {
	case "start":
		encodings := words[1:]
		e.request("initialize", object{"rootUri": uriOf(folder), "capabilities": object{
			"general": object{"positionEncodings": encodings},
			"textDocument": object{
				"hover":          object{"contentFormat": []string{"markdown", "plaintext"}},
				"codeAction":     object{"codeActionLiteralSupport": object{}},
				"documentSymbol": object{"hierarchicalDocumentSymbolSupport": true},
				"completion":     object{"completionItem": object{"snippetSupport": true}},
			},
		}})
		e.notify("initialized", object{})
	case "open":
		e.texts[words[1]] = newText(e.stored[words[1]])
		e.notify("textDocument/didOpen", object{"textDocument": object{
			"uri": uri(words[1]), "version": 1,
			"languageId": "odes", "text": e.stored[words[1]],
		}})
	case "save":
		e.notify("textDocument/didSave", object{"textDocument": doc()})
	case "close":
		e.notify("textDocument/didClose", object{"textDocument": doc()})
	case "touch":
		e.notify("workspace/didChangeWatchedFiles", object{"changes": []object{{"uri": uri(words[1]), "type": 2}}})
	case "change":
		var n, from, to int
		if _, err := fmt.Sscanf(words[2], "%d:%d-%d", &n, &from, &to); err != nil {
			e.t.Fatalf("%s: %v", line, err)
		}
		with := ""
		if len(words) > 3 {
			with = strings.ReplaceAll(strings.Join(words[3:], " "), `\n`, "\n")
		}
		at := textRange{position{n - 1, from}, position{n - 1, to}}
		was := e.texts[words[1]]
		e.texts[words[1]] = newText(was.s[:was.offset(at.Start, e.s.enc)] + with + was.s[was.offset(at.End, e.s.enc):])
		e.notify("textDocument/didChange", object{
			"textDocument":   doc(),
			"contentChanges": []object{{"range": at, "text": with}},
		})
		if e.s.docs[uri(words[1])].text.s != e.texts[words[1]].s {
			e.t.Error("the server has another text")
		}
	case "replace", "become": // become shows no diagnostics
		written := e.out.Len()
		e.texts[words[1]] = newText(e.stored[words[2]])
		e.notify("textDocument/didChange", object{
			"textDocument":   doc(),
			"contentChanges": []object{{"text": e.stored[words[2]]}},
		})
		if words[0] == "become" {
			e.out.Truncate(written)
		}
	case "disk":
		e.disk[words[1]] = &fstest.MapFile{Data: []byte(e.stored[words[2]])}
	case "explain":
		m := e.request("textDocument/hover", place(false))
		var h hover
		if err := json.Unmarshal(m.Result, &h); err != nil {
			e.t.Fatal(err)
		}
		fmt.Fprintf(&e.out, "%s\n", head(h.Contents.Value))
	case "hover", "definition":
		ask("textDocument/"+words[0], place(false))
	case "highlight":
		ask("textDocument/documentHighlight", place(false))
	case "prepare":
		ask("textDocument/prepareRename", place(false))
	case "references":
		p := place(false)
		p["context"] = object{"includeDeclaration": true}
		ask("textDocument/references", p)
	case "rename":
		p := place(false)
		p["newName"] = strings.Join(words[4:], " ")
		ask("textDocument/rename", p)
	case "signature":
		ask("textDocument/signatureHelp", place(true))
	case "complete":
		m := e.request("textDocument/completion", place(true))
		var list completionList
		if err := json.Unmarshal(m.Result, &list); err != nil {
			e.t.Fatal(err)
		}
		written := words[len(words)-1]
		written = written[len(written)-trailing(written):]
		language := 0
		for _, item := range list.Items {
			if !strings.HasPrefix(item.Label, written) {
				continue
			}
			if item.Data != nil { // a name of the language, which has too many to list, and details of its own
				if language++; language > 2 {
					continue
				}
				item.Detail = ""
			}
			fmt.Fprintf(&e.out, "%s", item.Label)
			if item.Edit.NewText != item.Label {
				fmt.Fprintf(&e.out, " → %s", item.Edit.NewText)
			}
			if item.Detail != "" {
				fmt.Fprintf(&e.out, "  (%s)", item.Detail)
			}
			if item.Documentation != nil {
				fmt.Fprintf(&e.out, "  %q", item.Documentation.Value)
			}
			e.out.WriteString("\n")
		}
		if language > 2 {
			e.out.WriteString("…\n")
		}
	case "resolve":
		m := e.request("textDocument/completion", place(true))
		var list completionList
		if err := json.Unmarshal(m.Result, &list); err != nil {
			e.t.Fatal(err)
		}
		for _, item := range list.Items {
			if item.Label == words[4] {
				m := e.request("completionItem/resolve", item)
				if err := json.Unmarshal(m.Result, &item); err != nil {
					e.t.Fatal(err)
				}
				fmt.Fprintf(&e.out, "%s\n", head(item.Documentation.Value))
			}
		}
	case "actions":
		at, text := e.find(words[1], words[2], words[3])
		file := e.texts[words[1]]
		m := e.request("textDocument/codeAction",
			object{"textDocument": doc(), "range": file.span(at, at+len(text), e.s.enc), "context": object{}})
		var list []codeAction
		if err := json.Unmarshal(m.Result, &list); err != nil {
			e.t.Fatal(err)
		}
		for _, a := range list {
			fmt.Fprintf(&e.out, "%s\n", a.Title)
			for _, edit := range a.Edit.Changes[uri(words[1])] {
				fmt.Fprintf(&e.out, "  %s\n", lineOf(apply(file, []textEdit{edit}, e.s.enc), edit.Range.Start.Line))
			}
		}
	case "symbols":
		ask("textDocument/documentSymbol", object{"textDocument": doc()})
	case "folding":
		ask("textDocument/foldingRange", object{"textDocument": doc()})
	case "hints":
		ask("textDocument/inlayHint", object{
			"textDocument": doc(),
			"range":        textRange{position{}, position{1 << 30, 0}},
		})
	case "workspace":
		ask("workspace/symbol", object{"query": strings.Join(words[1:], " ")})
	case "format", "select": // select formats the lines that it names
		method, p := "textDocument/formatting", object{"textDocument": doc(), "options": object{}}
		if words[0] == "select" {
			var from, to int
			if _, err := fmt.Sscanf(words[2], "%d-%d", &from, &to); err != nil {
				e.t.Fatalf("%s: %v", line, err)
			}
			method, p["range"] = "textDocument/rangeFormatting", textRange{position{from - 1, 0}, position{to - 1, 999}}
		}
		m := e.request(method, p)
		if m.Error != nil {
			fmt.Fprintf(&e.out, "error %d: %s\n", m.Error.Code, m.Error.Message)
			break
		}
		var edits []textEdit
		if err := json.Unmarshal(m.Result, &edits); err != nil {
			e.t.Fatal(err)
		}
		e.show("", m.Result)
		e.out.WriteString(apply(e.texts[words[1]], edits, e.s.enc))
	case "tokens":
		m := e.request("textDocument/semanticTokens/full", object{"textDocument": doc()})
		e.tokens(words[1], m.Result)
	default:
		ask(words[0], object{})
	}
}

// head is the first block of a page of help, whose wording is held elsewhere, and how it goes on.
func head(page string) string {
	first, rest, _ := strings.Cut(strings.TrimSpace(page), "\n\n")
	if rest == "" {
		return first
	}
	return first + "\n…"
}

// trailing is the length of the name that s ends in.
func trailing(s string) int {
	n := 0
	for n < len(s) && isNameRune(rune(s[len(s)-1-n])) {
		n++
	}
	return n
}

// find returns where text stands in a line; _ in it is a blank.
func (e *editor) find(file, line, text string) (int, string) {
	e.t.Helper()
	n, err := strconv.Atoi(line)
	f := e.texts[file]
	if err != nil || f == nil || n > len(f.lines) {
		e.t.Fatalf("%s has no line %s", file, line)
	}
	text = strings.ReplaceAll(text, "␣", " ")
	at := strings.Index(f.s[f.lines[n-1]:], text)
	if at < 0 {
		e.t.Fatalf("%s:%s: %q is not there", file, line, text)
	}
	return f.lines[n-1] + at, text
}

func lineOf(s string, n int) string { return strings.Split(s, "\n")[n] }

// apply makes edits, which do not overlap.
func apply(f *text, edits []textEdit, enc encoding) string {
	edits = slices.Clone(edits)
	slices.SortFunc(edits, func(a, b textEdit) int {
		return f.offset(b.Range.Start,
			enc) - f.offset(a.Range.Start, enc)
	})
	s := f.s
	for _, x := range edits {
		s = s[:f.offset(x.Range.Start, enc)] + x.NewText + s[f.offset(x.Range.End, enc):]
	}
	return s
}

// show writes an answer for readers: places as line:character, both from 1, nothing that is empty.
func (e *editor) show(indent string, raw json.RawMessage) {
	var v any
	if err := json.Unmarshal(raw, &v); err != nil {
		e.t.Fatal(err)
	}
	e.value(indent, v)
}

func (e *editor) value(indent string, v any) {
	switch v := v.(type) {
	case []any:
		if len(v) == 0 {
			fmt.Fprintf(&e.out, "%snothing\n", indent)
		}
		for _, x := range v {
			if s, ok := brief(x); ok {
				fmt.Fprintf(&e.out, "%s- %s\n", indent, s)
				continue
			}
			fmt.Fprintf(&e.out, "%s-\n", indent)
			e.value(indent+"  ", x)
		}
	case map[string]any:
		keys := make([]string, 0, len(v))
		for k := range v {
			keys = append(keys, k)
		}
		slices.Sort(keys)
		for _, k := range keys {
			name := strings.TrimPrefix(k, uri("")+"/")
			if s, ok := brief(v[k]); ok {
				if strings.Contains(s, "\n") {
					s = "\n" + indent + "  | " +
						strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n"+indent+"  | ")
				}
				fmt.Fprintf(&e.out, "%s%s: %s\n", indent, name, s)
				continue
			}
			fmt.Fprintf(&e.out, "%s%s:\n", indent, name)
			e.value(indent+"  ", v[k])
		}
	default:
		s, _ := brief(v)
		fmt.Fprintf(&e.out, "%s%s\n", indent, s)
	}
}

// brief writes what fits one line.
func brief(v any) (string, bool) {
	switch v := v.(type) {
	case nil:
		return "null", true
	case string:
		return strings.TrimPrefix(v, uri("")+"/"), true
	case map[string]any:
		start, isRange := v["start"].(map[string]any)
		end, _ := v["end"].(map[string]any)
		if isRange && len(v) == 2 {
			a, _ := brief(start)
			b, _ := brief(end)
			return a + "–" + b, true
		}
		if l, ok := v["line"].(float64); ok && len(v) == 2 {
			return fmt.Sprintf("%v:%v", l+1, v["character"].(float64)+1), true
		}
		if at, ok := v["uri"].(string); ok && len(v) == 2 {
			r, _ := brief(v["range"])
			return strings.TrimPrefix(at, uri("")+"/") + " " + r, true
		}
		return "", false
	case []any:
		return "", false
	}
	return fmt.Sprint(v), true
}

// tokens writes semantic tokens line by line.
func (e *editor) tokens(file string, raw json.RawMessage) {
	var list semanticTokens
	if err := json.Unmarshal(raw, &list); err != nil {
		e.t.Fatal(err)
	}
	f := e.texts[file]
	line, character := 0, 0
	for i := 0; i+4 < len(list.Data); i += 5 {
		if list.Data[i] > 0 {
			character = 0
			if i > 0 {
				e.out.WriteString("\n")
			}
		}
		line, character = line+list.Data[i], character+list.Data[i+1]
		start, end := f.offset(position{line, character}, e.s.enc),
			f.offset(position{line, character + list.Data[i+2]}, e.s.enc)
		fmt.Fprintf(&e.out, "%s:%s", f.s[start:end], tokenTypes[list.Data[i+3]])
		for k, m := range tokenModifiers {
			if list.Data[i+4]>>k&1 == 1 {
				fmt.Fprintf(&e.out, ".%s", m)
			}
		}
		e.out.WriteString("  ")
	}
	e.out.WriteString("\n")
}
