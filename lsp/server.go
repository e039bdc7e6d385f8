// Package lsp is a language server for models: it answers what an editor asks about a file, by the Language Server
// Protocol. A Server takes messages and returns messages. It starts nothing, waits for nothing and has no clock, so
// that transcripts can test it. Serve connects a Server to a client. The package checks models as odes check does,
// describes the language by package help, and solves nothing.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/data"
	"odes.dev/odes/lang/source"
)

// Config is the environment of a server. The zero value is ready to use.
type Config struct {
	// Files returns the folder at a path; nil means that there is no disk. Reading should end when ctx
	// is done, which says that nobody waits for the answer any more.
	Files func(ctx context.Context, folder string) fs.FS
}

// Server is a language server. It serves one client, from one goroutine.
type Server struct {
	cfg    Config
	phase  phase
	client initializeParams
	enc    encoding
	docs   map[string]*document // by URI
	order  []*document          // as they were opened
	asked  int                  // requests sent to the client
}

type phase uint8

const (
	created phase = iota
	running
	shutDown
	exited
)

// New starts a server that has not been initialized.
func New(c Config) *Server { return &Server{cfg: c, enc: utf16, docs: map[string]*document{}} }

// handler does what a request or notification asks. A nil result is null.
type handler func(s *Server, ctx context.Context, params json.RawMessage) (any, error)

// on makes a handler of a method with parameters.
func on[P any](f func(*Server, context.Context, *P) (any, error)) handler {
	return func(s *Server, ctx context.Context, raw json.RawMessage) (any, error) {
		var p P
		if len(raw) > 0 {
			if err := json.Unmarshal(raw, &p); err != nil {
				return nil, errorf(codeInvalidParams, "%v", err)
			}
		}
		return f(s, ctx, &p)
	}
}

// inDocument makes a handler of a request about an open document.
func inDocument[P any](of func(*P) documentID, f func(*Server, context.Context, *document, *P) (any, error)) handler {
	return on(func(s *Server, ctx context.Context, p *P) (any, error) {
		d := s.docs[of(p).URI]
		if d == nil {
			return nil, errorf(codeInvalidParams, "the document %q is not open", of(p).URI)
		}
		if d.tooLong() {
			return nil, nil
		}
		return f(s, ctx, d, p)
	})
}

func atDocument(f func(*Server, context.Context, *document, *documentParams) (any, error)) handler {
	return inDocument(func(p *documentParams) documentID { return p.TextDocument }, f)
}

// atPlace makes a handler of a request about a place, given as a byte offset.
func atPlace(f func(*Server, context.Context, *document, int) (any, error)) handler {
	return inDocument(func(p *placeParams) documentID { return p.TextDocument },
		func(s *Server, ctx context.Context, d *document, p *placeParams) (any, error) {
			return f(s, ctx, d, d.text.offset(p.Position, s.enc))
		})
}

func atRange(f func(*Server, context.Context, *document, *rangeParams) (any, error)) handler {
	return inDocument(func(p *rangeParams) documentID { return p.TextDocument }, f)
}

var requests = map[string]handler{
	"initialize":                     on((*Server).initialize),
	"shutdown":                       on((*Server).shutdown),
	"textDocument/hover":             atPlace((*Server).hover),
	"textDocument/definition":        atPlace((*Server).definition),
	"textDocument/documentHighlight": atPlace((*Server).highlight),
	"textDocument/prepareRename":     atPlace((*Server).prepareRename),
	"textDocument/completion":        atPlace((*Server).completion),
	"textDocument/signatureHelp":     atPlace((*Server).signatureHelp),
	"completionItem/resolve":         on((*Server).resolveCompletion),
	"textDocument/references": inDocument(func(p *referenceParams) documentID { return p.TextDocument },
		(*Server).references),
	"textDocument/rename": inDocument(func(p *renameParams) documentID { return p.TextDocument },
		(*Server).rename),
	"textDocument/codeAction": inDocument(func(p *actionParams) documentID { return p.TextDocument },
		(*Server).codeAction),
	"textDocument/documentSymbol":      atDocument((*Server).documentSymbol),
	"textDocument/foldingRange":        atDocument((*Server).foldingRange),
	"textDocument/formatting":          atDocument((*Server).formatting),
	"textDocument/rangeFormatting":     atRange((*Server).rangeFormatting),
	"workspace/symbol":                 on((*Server).workspaceSymbol),
	"textDocument/semanticTokens/full": atDocument((*Server).semanticTokens),
	"textDocument/inlayHint":           atRange((*Server).inlayHint),
}

var notifications = map[string]handler{
	"initialized":                     on((*Server).initialized),
	"textDocument/didOpen":            on((*Server).didOpen),
	"textDocument/didChange":          on((*Server).didChange),
	"textDocument/didSave":            on((*Server).didSave),
	"textDocument/didClose":           on((*Server).didClose),
	"workspace/didChangeWatchedFiles": on((*Server).filesChanged),
}

// Handle does what a message asks and returns the messages to send. It checks a document only if the answer depends on
// it. Once ctx is done, the request is answered as cancelled.
func (s *Server) Handle(ctx context.Context, m Message) []Message {
	switch {
	case m.ends():
		s.exit()
		return nil
	case m.Version != "2.0":
		return []Message{failure(m.ID, errorf(codeInvalidRequest, "this is no message of JSON-RPC 2.0"))}
	case m.Method == "" && m.ID != nil && (m.Result != nil || m.Error != nil):
		return nil // the answer to a request of ours; none has one that matters
	case m.Method == "":
		return []Message{failure(m.ID, errorf(codeInvalidRequest, "the message has no method"))}
	case m.ID == nil:
		h := notifications[m.Method]
		if h == nil || s.phase == created || s.phase == shutDown {
			return nil // what a server does not know, or what comes too early, it leaves alone
		}
		out, _ := s.guard(h, ctx, m.Params)
		messages, _ := out.([]Message)
		return messages
	}
	h := requests[m.Method]
	var result any
	var err error
	switch {
	case s.phase == shutDown:
		err = errorf(codeInvalidRequest, "the server is shut down")
	case h == nil:
		err = errorf(codeNotFound, "there is no method %q", m.Method)
	case s.phase == created && m.Method != "initialize":
		err = errorf(codeNotInitialized, "the first request is initialize")
	default:
		result, err = s.guard(h, ctx, m.Params)
	}
	if ctx.Err() != nil {
		err = errorf(codeCancelled, "the request was cancelled")
	}
	var known *ResponseError
	switch {
	case errors.As(err, &known):
		return []Message{failure(m.ID, known)}
	case err != nil:
		return []Message{failure(m.ID, errorf(codeFailed, "%v", err))}
	}
	return []Message{{Version: "2.0", ID: m.ID, Result: encode(result)}}
}

// guard calls h. A panic in h spoils one answer and not the session.
func (s *Server) guard(h handler, ctx context.Context, params json.RawMessage) (result any, err error) {
	defer func() {
		if r := recover(); r != nil {
			result, err = nil, errorf(codeInternal, "internal error: %v; please report it, with the model\n%s", r,
				debug.Stack())
		}
	}()
	return h(s, ctx, params)
}

// Exit reports whether the client has ended the session, and whether it did so in order: shutdown, then exit.
func (s *Server) Exit() (done, orderly bool) {
	return s.phase >= exited, s.phase == exited
}

func (s *Server) initialize(_ context.Context, p *initializeParams) (any, error) {
	if s.phase != created {
		return nil, errorf(codeInvalidRequest, "the server is initialized already")
	}
	s.phase, s.client = running, *p
	if slices.Contains(p.Capabilities.General.PositionEncodings, string(utf8s)) {
		s.enc = utf8s
	}
	type object = map[string]any
	return object{
		"serverInfo": object{"name": "odes", "version": odes.Version},
		"capabilities": object{
			"positionEncoding":          s.enc,
			"textDocumentSync":          object{"openClose": true, "change": 2, "save": true},
			"hoverProvider":             true,
			"definitionProvider":        true,
			"referencesProvider":        true,
			"documentHighlightProvider": true,
			"documentSymbolProvider":    true,
			"foldingRangeProvider":      true,
			"renameProvider":            object{"prepareProvider": true},
			"completionProvider": object{
				"triggerCharacters": []string{".", "[", "\"", "/"},
				"resolveProvider":   true,
			},
			"signatureHelpProvider":           object{"triggerCharacters": []string{"(", ","}},
			"documentFormattingProvider":      true,
			"documentRangeFormattingProvider": true,
			"workspaceSymbolProvider":         true,
			"codeActionProvider":              object{"codeActionKinds": []string{"quickfix"}},
			"inlayHintProvider":               true,
			"semanticTokensProvider": object{
				"legend": object{"tokenTypes": tokenTypes, "tokenModifiers": tokenModifiers}, "full": true,
			},
		},
	}, nil
}

// initialized asks the client to report files that change on disk, since models read other models and data.
func (s *Server) initialized(context.Context, *struct{}) (any, error) {
	if !s.client.Capabilities.Workspace.DidChangeWatchedFiles.DynamicRegistration {
		return nil, nil
	}
	type object = map[string]any
	var watchers []object
	for _, ending := range append([]string{".ode"}, data.Endings()...) {
		watchers = append(watchers, object{"globPattern": "**/*" + ending})
	}
	s.asked++
	return []Message{{
		Version: "2.0", ID: encode(fmt.Sprintf("odes/%d", s.asked)), Method: "client/registerCapability",
		Params: encode(object{"registrations": []object{{
			"id": "files", "method": "workspace/didChangeWatchedFiles", "registerOptions": object{"watchers": watchers},
		}}}),
	}}, nil
}

func (s *Server) shutdown(context.Context, *struct{}) (any, error) {
	s.phase, s.docs, s.order = shutDown, map[string]*document{}, nil
	return nil, nil
}

func (s *Server) exit() {
	if s.phase == shutDown {
		s.phase = exited
	} else {
		s.phase = exited + 1
	}
}

func (s *Server) didOpen(_ context.Context, p *openParams) (any, error) {
	old := s.docs[p.TextDocument.URI]
	if old != nil { // a client that opens twice means the newer text
		s.order = slices.DeleteFunc(s.order, func(d *document) bool { return d == old })
	}
	d := &document{
		uri: p.TextDocument.URI, path: pathOf(p.TextDocument.URI), version: p.TextDocument.Version,
		text: newText(p.TextDocument.Text),
	}
	s.docs[d.uri] = d
	s.order = append(s.order, d)
	s.changed(d)
	return nil, nil
}

func (s *Server) didChange(_ context.Context, p *changeParams) (any, error) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	for _, c := range p.ContentChanges {
		if c.Range == nil {
			d.text = newText(c.Text)
			continue
		}
		start := d.text.offset(c.Range.Start, s.enc)
		end := max(start, d.text.offset(c.Range.End, s.enc))
		d.text = newText(d.text.s[:start] + c.Text + d.text.s[end:])
	}
	d.version = p.TextDocument.Version
	d.parsed = nil
	s.changed(d)
	return nil, nil
}

func (s *Server) didSave(_ context.Context, p *documentParams) (any, error) {
	if d := s.docs[p.TextDocument.URI]; d != nil {
		s.changed(d)
	}
	return nil, nil
}

func (s *Server) didClose(_ context.Context, p *documentParams) (any, error) {
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	delete(s.docs, d.uri)
	s.order = slices.DeleteFunc(s.order, func(o *document) bool { return o == d })
	s.changed(d)
	return []Message{notification("textDocument/publishDiagnostics",
		publishParams{URI: d.uri, Diagnostics: []diagnostic{}})}, nil
}

func (s *Server) filesChanged(_ context.Context, p *struct {
	Changes []struct {
		URI string `json:"uri"`
	} `json:"changes"`
},
) (any, error) {
	for _, c := range p.Changes {
		for _, d := range s.order {
			if d.reads[key(pathOf(c.URI))] {
				d.stale, d.due = true, true
			}
		}
	}
	return nil, nil
}

// changed marks d, and the documents that read it, for a check.
func (s *Server) changed(d *document) {
	d.stale, d.due = true, true
	for _, o := range s.order {
		if d.path != "" && o.reads[key(d.path)] {
			o.stale, o.due = true, true
		}
	}
}

// Due returns the document to check next; "" when there is none.
func (s *Server) Due() (uri string) {
	for _, d := range s.order {
		if d.due {
			return d.uri
		}
	}
	return ""
}

// Check checks the document that is due and returns its diagnostics. If ctx is done first, the document stays due.
func (s *Server) Check(ctx context.Context) []Message {
	d := s.docs[s.Due()]
	if d == nil {
		return nil
	}
	var out []Message
	_, err := s.guard(func(s *Server, ctx context.Context, _ json.RawMessage) (any, error) {
		if !s.check(ctx, d) {
			return nil, nil
		}
		d.due = false
		version := d.version
		out = append(out, notification("textDocument/publishDiagnostics",
			publishParams{URI: d.uri, Version: &version, Diagnostics: s.diagnostics(d)}))
		return nil, nil
	}, ctx, nil)
	if err != nil { // say so, and do not try the same text a second time
		d.due, d.stale = false, false
		out = []Message{notification("window/logMessage", map[string]any{"type": 1, "message": err.Error()})}
	}
	return out
}

// locate returns where a place is, which lies in d or in a file that it imports.
// What is built in has no location.
func (s *Server) locate(d *document, at source.Span) (location, bool) {
	switch {
	case at.IsZero():
		return location{}, false
	case d.parsed != nil && at.File == d.parsed.tree.Source || d.of != nil && at.File == d.of.tree.Source:
		return location{d.uri, d.text.span(at.Start, at.End, s.enc)}, true
	case d.path == "" || strings.HasPrefix(at.File.Name(), "std/"):
		return location{}, false
	}
	p := path.Join(path.Dir(d.path), at.File.Name())
	uri := uriOf(p)
	for _, o := range s.order {
		if key(o.path) == key(p) {
			uri = o.uri // as the client writes it
		}
	}
	return location{uri, newText(at.File.Text()).span(at.Start, at.End, s.enc)}, true
}
