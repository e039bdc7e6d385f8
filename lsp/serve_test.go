package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"odes.dev/odes/internal/base/input"
)

// wire is a client at the other end of two pipes.
type wire struct {
	t    *testing.T
	in   *io.PipeWriter
	out  *Reader
	done chan error

	before int // goroutines
}

func dial(t *testing.T, ctx context.Context, pause time.Duration) *wire {
	return dialWith(t, ctx, pause, func(context.Context, string) fs.FS { return fstest.MapFS{} })
}

func dialWith(
	t *testing.T, ctx context.Context, pause time.Duration, files func(context.Context, string) fs.FS,
) *wire {
	before := runtime.NumGoroutine()
	inR, inW := io.Pipe()
	outR, outW := io.Pipe()
	w := &wire{t: t, in: inW, out: NewReader(outR), done: make(chan error, 1), before: before}
	s := New(Config{Files: files})
	go func() {
		err := Serve(ctx, s, inR, outW, pause)
		outW.Close()
		w.done <- err
	}()
	return w
}

func (w *wire) raw(text string) {
	w.t.Helper()
	if _, err := io.WriteString(w.in, text); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) send(id any, method string, params any) {
	w.t.Helper()
	m := Message{Version: "2.0", Method: method, Params: encode(params)}
	if id != nil {
		m.ID = encode(id)
	}
	if err := Write(w.in, m); err != nil {
		w.t.Fatal(err)
	}
}

func (w *wire) read() Message {
	w.t.Helper()
	m, err := w.out.Read()
	if err != nil {
		w.t.Fatal(err)
	}
	validMessage(w.t, m)
	return m
}

func (w *wire) end(want error) {
	w.t.Helper()
	for { // what was still being said
		if _, err := w.out.Read(); err != nil {
			break
		}
	}
	if err := <-w.done; !errors.Is(err, want) {
		w.t.Errorf("Serve = %v, want %v", err, want)
	}
	for range 1000 { // they end by themselves, and soon
		if runtime.NumGoroutine() <= w.before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	w.t.Errorf("%d goroutines are left of %d", runtime.NumGoroutine(), w.before)
}

const small = "time t from 0 to 1\nparam k = 1\nstate x = 1\nx' = -k*x\n"

func opened(text string) object {
	return object{"textDocument": object{"uri": "file:///home/m.ode", "languageId": "odes", "version": 1, "text": text}}
}

// TestServe: a session in order, over the wire.
func TestServe(t *testing.T) {
	w := dial(t, t.Context(), 0)
	w.send(1, "initialize", object{"capabilities": object{}})
	if m := w.read(); string(m.ID) != "1" || !bytes.Contains(m.Result, []byte(`"positionEncoding":"utf-16"`)) {
		t.Fatalf("%s", m.Result)
	}
	w.send(nil, "initialized", object{})
	w.send(nil, "textDocument/didOpen", opened(small))
	if m := w.read(); m.Method != "textDocument/publishDiagnostics" ||
		!strings.Contains(string(m.Params), `"diagnostics":[]`) {
		t.Fatalf("%s %s", m.Method, m.Params)
	}
	w.send("two", "shutdown", nil)
	if m := w.read(); string(m.ID) != `"two"` || string(m.Result) != "null" {
		t.Fatalf("%s %s", m.ID, m.Result)
	}
	w.send(nil, "exit", nil)
	w.end(nil)
}

// TestMalformed: what is no message is answered or passed over, and the next one is read.
func TestMalformed(t *testing.T) {
	w := dial(t, t.Context(), 0)
	for _, text := range []string{
		"Content-Length: 7\r\n\r\n{\"a\": 1", "Content-Length: x\r\n\r\n", "Content-Length: -1\r\n\r\n",
		"Content-Length: 99999999999999999999\r\n\r\n",
		"Content-Length: 0\r\n\r\n", "Content-Length: 5\r\nContent-Type: x\r\n\r\n\xff\xfe\xfd\xfc\xfb",
		"Content-Length: 2\r\n\r\n[]", "Content-Length: 1000000000\r\n\r\n",
	} {
		w.raw(text)
		if m := w.read(); m.Error == nil || m.Error.Code != codeParse || string(m.ID) != "null" {
			t.Errorf("%q: %+v", text, m)
		}
	}
	w.raw("no head at all\r\n\r\n\r\n" + strings.Repeat("x", 10000) + "\n\n") // nothing to answer
	for _, text := range []string{`{}`, `{"jsonrpc":"1.0","id":1,"method":"x"}`, `{"jsonrpc":"2.0","id":1}`} {
		w.raw(fmt.Sprintf("content-length: %d\n\n%s", len(text), text))
		if m := w.read(); m.Error == nil || m.Error.Code != codeInvalidRequest {
			t.Errorf("%s: %+v", text, m)
		}
	}
	w.send(7, "textDocument/hover", object{"position": "here"})
	if m := w.read(); m.Error == nil || m.Error.Code != codeNotInitialized {
		t.Errorf("%+v", m)
	}
	w.send(8, "initialize", object{})
	w.read()
	w.send(9, "textDocument/hover", object{"position": "here"})
	if m := w.read(); m.Error == nil || m.Error.Code != codeInvalidParams {
		t.Errorf("%+v", m)
	}
	w.send(10, "textDocument/hover", object{"textDocument": object{"uri": "file:///nowhere"}})
	if m := w.read(); m.Error == nil || m.Error.Code != codeInvalidParams {
		t.Errorf("%+v", m)
	}
	w.raw("Content-Length: 100\r\n\r\n{") // and the client dies
	w.in.Close()
	w.end(ErrExit)
}

// TestExitWithoutShutdown, and to be interrupted: Serve ends, and says how.
func TestEnds(t *testing.T) {
	w := dial(t, t.Context(), 0)
	w.send(nil, "exit", nil)
	w.end(ErrExit)
	ctx, cancel := context.WithCancel(t.Context())
	w = dial(t, ctx, time.Hour)
	w.send(1, "initialize", object{})
	w.read()
	w.send(nil, "textDocument/didOpen", opened(small))
	cancel()
	w.end(context.Canceled)
}

// TestInputEnds: whatever came before, Serve ends when its input does, at once while it checks a document, and after
// the grace of a request.
func TestInputEnds(t *testing.T) {
	for _, text := range []string{
		"", `{"jsonrpr":"2.0","method":"exit"}`, `{"jsonrpc":"2.0","method":"exit","id":1}`, `{"method":"exit"}`,
		`{"jsonrpc":"1.0","method":"exit"}`, `{"jsonrpc":"2.0","method":"exit","params":5}`, `[]`,
	} {
		w := dial(t, t.Context(), time.Hour)
		if text != "" {
			w.raw(fmt.Sprintf("Content-Length: %d\r\n\r\n%s", len(text), text))
		}
		w.in.Close()
		w.end(ErrExit)
	}
	w := dial(t, t.Context(), 0)
	w.send(1, "initialize", object{})
	w.read()
	w.send(nil, "textDocument/didOpen", opened(slow(20000)))
	time.Sleep(200 * time.Millisecond) // it has begun
	start := time.Now()
	w.in.Close()
	w.end(ErrExit)
	if took := time.Since(start); took > 5*time.Second {
		t.Errorf("it ended after %v", took)
	}
}

// slow is a text of n states, whose check takes long.
func slow(n int) string {
	var b strings.Builder
	b.WriteString("time t from 0 to 1\n")
	for i := range n {
		fmt.Fprintf(&b, "state x%d = 1\nx%[1]d' = -y%[1]d\n", i)
	}
	return b.String()
}

// TestSuperseded: of many changes in a row, the last text is checked and every answer is about what was there.
func TestSuperseded(t *testing.T) {
	w := dial(t, t.Context(), time.Millisecond)
	w.send(1, "initialize", object{})
	w.read()
	w.send(nil, "textDocument/didOpen", opened(small))
	const changes = 50
	for i := range changes {
		w.send(nil, "textDocument/didChange", object{
			"textDocument":   object{"uri": "file:///home/m.ode", "version": i + 2},
			"contentChanges": []object{{"text": fmt.Sprintf("%sparam q%d = 1\n", small, i)}},
		})
	}
	n := 0
	for {
		m := w.read()
		var p publishParams
		if err := json.Unmarshal(m.Params, &p); err != nil {
			t.Fatal(err)
		}
		if n++; *p.Version == changes+1 {
			if len(p.Diagnostics) != 1 || !strings.Contains(p.Diagnostics[0].Message, fmt.Sprintf("q%d", changes-1)) {
				t.Errorf("%s", m.Params)
			}
			break
		}
	}
	if n > changes+1 {
		t.Errorf("%d checks of %d texts", n, changes+1)
	}
	w.send(2, "shutdown", nil)
	w.read()
	w.send(nil, "exit", nil)
	w.end(nil)
}

// TestCancelled: a request that is cancelled before or while it is answered says
// so, and a check that is cancelled leaves the document due.
func TestCancelled(t *testing.T) {
	e := newEditor(t, emptyArchive)
	e.do("start")
	e.send(nil, "textDocument/didOpen", opened(small))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if list := e.s.Check(ctx); list != nil || e.s.Due() == "" {
		t.Errorf("%v, due: %q", list, e.s.Due())
	}
	list := e.s.Handle(ctx, Message{Version: "2.0", ID: encode(1), Method: "textDocument/hover", Params: encode(object{
		"textDocument": object{"uri": "file:///home/m.ode"}, "position": position{3, 6},
	})})
	if len(list) != 1 || list[0].Error == nil || list[0].Error.Code != codeCancelled {
		t.Errorf("%+v", list)
	}
	if list := e.s.Check(t.Context()); len(list) != 1 || e.s.Due() != "" {
		t.Errorf("%v", list)
	}
	// A check that a request asked for does not stand for the diagnostics that are to be sent.
	e.send(nil, "textDocument/didSave", object{"textDocument": object{"uri": "file:///home/m.ode"}})
	e.request("textDocument/hover", object{
		"textDocument": object{"uri": "file:///home/m.ode"},
		"position":     position{3, 6},
	})
	if list := e.s.Check(t.Context()); len(list) != 1 || e.s.Due() != "" {
		t.Errorf("%v", list)
	}

	box := &inbox{wake: make(chan struct{}, 1)}
	box.put(Message{ID: encode(5), Method: "textDocument/hover"}, nil)
	box.put(Message{Method: "$/cancelRequest", Params: encode(object{"id": 5})}, nil)
	if m, ok := box.take(); !ok || !m.cancelled {
		t.Error("the request that waits is not cancelled")
	}
	if _, ok := box.take(); ok {
		t.Error("the cancellation waits to be read")
	}
	work, end := box.begin(t.Context(), "", "file:///home/m.ode")
	box.put(Message{
		Method: "textDocument/didChange",
		Params: encode(object{"textDocument": object{"uri": "file:///home/other.ode"}}),
	}, nil)
	if work.Err() != nil {
		t.Error("another document ended the check")
	}
	box.put(Message{
		Method: "textDocument/didChange",
		Params: encode(object{"textDocument": object{"uri": "file:///home/m.ode"}}),
	}, nil)
	if work.Err() == nil {
		t.Error("a newer text did not end the check")
	}
	end()
	work, end = box.begin(t.Context(), "6", "")
	box.put(Message{Method: "$/cancelRequest", Params: encode(object{"id": 6})}, nil)
	if work.Err() == nil {
		t.Error("the request that is answered is not cancelled")
	}
	end()
}

// hung is a disk that does not answer until the channel is closed.
type hung chan struct{}

func (h hung) Open(string) (fs.File, error) {
	<-h
	return nil, fs.ErrNotExist
}

// TestHungDisk goes on where a disk does not answer: after a while, and as soon as a newer text does without the file.
func TestHungDisk(t *testing.T) {
	loads := opened("param p[2] = load(\"p.csv\")\n" + small)
	change := object{
		"textDocument":   object{"uri": "file:///home/m.ode", "version": 2},
		"contentChanges": []object{{"text": small}},
	}
	for _, c := range []struct {
		patience time.Duration
		changes  bool
		want     string
	}{
		{10 * time.Millisecond, false, "the disk did not answer within 10ms"},
		{time.Hour, true, `"diagnostics":[]`},
	} {
		disk := make(hung)
		asked := make(chan bool, 10)
		w := dialWith(t, t.Context(), 0, func(ctx context.Context, _ string) fs.FS {
			asked <- true
			return input.Within(ctx, disk, c.patience)
		})
		w.send(1, "initialize", object{"capabilities": object{}})
		w.read()
		w.send(nil, "textDocument/didOpen", loads)
		<-asked
		if c.changes {
			w.send(nil, "textDocument/didChange", change)
		}
		if m := w.read(); !strings.Contains(string(m.Params), c.want) {
			t.Errorf("patience of %v: %s", c.patience, m.Params)
		}
		close(disk)
		w.send(2, "shutdown", nil)
		w.send(nil, "exit", nil)
		w.end(nil)
	}
}

// TestLongText has a text of ten megabytes, about which a server says at once that it says nothing.
func TestLongText(t *testing.T) {
	s := New(Config{})
	ask := func(id, method string, params any) string {
		m := Message{Version: "2.0", Method: method, Params: encode(params)}
		if id != "" {
			m.ID = json.RawMessage(id)
		}
		text := ""
		for _, out := range s.Handle(t.Context(), m) {
			text += string(encode(out))
		}
		return text
	}
	ask("1", "initialize", object{"capabilities": object{}})
	start := time.Now()
	ask("", "textDocument/didOpen", opened(small+strings.Repeat("param p = 1 ## about p\n", 10<<20/23)))
	place := object{"textDocument": object{"uri": "file:///home/m.ode"}, "position": object{"line": 1, "character": 6}}
	for method := range requests {
		if !strings.HasPrefix(method, "textDocument/") {
			continue
		}
		if got := ask("2", method, place); !strings.Contains(got, `"result":null`) {
			t.Errorf("%s: %.200s", method, got)
		}
	}
	list := s.Check(t.Context())
	if len(list) != 1 || !strings.Contains(string(list[0].Params), "too long for an editor") {
		t.Errorf("%.500s", encode(list))
	}
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v", d)
	}
	ask("", "textDocument/didChange", object{
		"textDocument":   object{"uri": "file:///home/m.ode", "version": 2},
		"contentChanges": []object{{"text": small}},
	})
	if got := ask("3", "textDocument/hover", place); !strings.Contains(got, "param k") {
		t.Errorf("after it became short: %s", got)
	}
}

// TestEventsFirst offers events first where an event is wanted.
func TestEventsFirst(t *testing.T) {
	s := New(Config{})
	ask := func(id, method string, params any) []Message {
		m := Message{Version: "2.0", Method: method, Params: encode(params)}
		if id != "" {
			m.ID = json.RawMessage(id)
		}
		return s.Handle(t.Context(), m)
	}
	ask("1", "initialize", object{"capabilities": object{}})
	text := small + "event zap when x < 0.5 { x = 1 }\nobjective J = at_event("
	ask("", "textDocument/didOpen", opened(text))
	list := ask("2", "textDocument/completion", object{
		"textDocument": object{"uri": "file:///home/m.ode"}, "position": object{"line": 5, "character": 23},
	})
	var out struct {
		Items []struct{ Label, SortText string }
	}
	if err := json.Unmarshal(list[0].Result, &out); err != nil || len(out.Items) < 10 {
		t.Fatalf("%s, %v", list[0].Result, err)
	}
	for i, item := range out.Items {
		if first := item.Label == "zap"; first != (i == 0) || first != strings.HasPrefix(item.SortText, " ") {
			t.Errorf("item %d is %v", i, item)
		}
	}
}
