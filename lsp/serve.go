package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// ErrExit says that the client went away, or ended the session without shutting it down first.
var ErrExit = errors.New("the client ended the session without shutdown")

// Serve answers a client until it ends the session or ctx is done. It checks a document when there is nothing else to
// do and the document has not changed for pause. A newer change ends the check of an older text. Serve returns nil
// after shutdown and exit. Where the input ends first, it answers what has come, for grace at most, and ends.
func Serve(ctx context.Context, s *Server, in io.Reader, out io.Writer, pause time.Duration) error {
	box := &inbox{wake: make(chan struct{}, 1)}
	work, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		box.fill(NewReader(in))
		time.AfterFunc(grace, cancel)
	}()
	send := func(list []Message) error {
		for _, m := range list {
			if err := Write(out, m); err != nil {
				return fmt.Errorf("cannot answer the client: %w", err)
			}
		}
		return nil
	}
	for {
		m, ok := box.take()
		if !ok {
			var idle <-chan time.Time
			due := s.Due()
			if due != "" {
				idle = time.After(pause)
			}
			select {
			case <-ctx.Done():
				if c, ok := in.(io.Closer); ok {
					c.Close() // ends fill
				}
				return ctx.Err()
			case <-box.wake:
			case <-idle:
				work, end := box.begin(work, "", due)
				list := s.Check(work)
				end()
				if err := send(list); err != nil {
					return err
				}
			}
			continue
		}
		var list []Message
		switch {
		case errors.Is(m.err, errMalformed):
			list = []Message{failure(nil, errorf(codeParse, "%v", m.err))}
		case m.err != nil:
			return ErrExit
		default:
			work, end := box.begin(work, string(m.ID), "")
			if m.cancelled {
				end()
			}
			list = s.Handle(work, m.Message)
			end()
		}
		if err := send(list); err != nil {
			return err
		}
		if done, orderly := s.Exit(); orderly {
			return nil
		} else if done {
			return ErrExit
		}
	}
}

// grace is how long a server goes on with what a client has asked for whose messages have ended. Nobody may be there to
// read the answers.
var grace = 2 * time.Second

// inbox holds unread messages of a client, and the work that later messages may end.
type inbox struct {
	mu    sync.Mutex
	queue []incoming
	wake  chan struct{}

	id, uri string // of the request that is answered, or of the document that is checked
	cancel  context.CancelFunc
}

type incoming struct {
	Message
	err       error
	cancelled bool
}

// fill reads messages until the stream or the session ends.
func (b *inbox) fill(r *Reader) {
	for {
		m, err := r.Read()
		b.put(m, err)
		if err != nil && !errors.Is(err, errMalformed) || err == nil && m.ends() {
			return
		}
	}
}

func (b *inbox) put(m Message, err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch m.Method {
	case "$/cancelRequest":
		var p cancelParams
		if json.Unmarshal(m.Params, &p) != nil || p.ID == nil {
			return
		}
		if b.cancel != nil && b.id == string(p.ID) {
			b.cancel()
		}
		for i := range b.queue {
			if q := &b.queue[i]; q.Method != "" && string(q.ID) == string(p.ID) {
				q.cancelled = true
			}
		}
		return
	case "textDocument/didChange", "textDocument/didClose":
		var p documentParams
		if b.cancel != nil && b.uri != "" && json.Unmarshal(m.Params, &p) == nil && p.TextDocument.URI == b.uri {
			b.cancel()
		}
	}
	if ended := err != nil && !errors.Is(err, errMalformed); ended && b.cancel != nil && b.uri != "" {
		b.cancel() // nobody reads what a check finds
	}
	b.queue = append(b.queue, incoming{Message: m, err: err})
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

func (b *inbox) take() (incoming, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.queue) == 0 {
		return incoming{}, false
	}
	m := b.queue[0]
	b.queue = b.queue[1:]
	return m, true
}

// begin notes what is being done; end must be called.
func (b *inbox) begin(ctx context.Context, id, uri string) (work context.Context, end func()) {
	work, cancel := context.WithCancel(ctx)
	b.mu.Lock()
	b.id, b.uri, b.cancel = id, uri, cancel
	if uri != "" {
		for _, q := range b.queue { // came while it was decided
			var p documentParams
			if q.Method == "textDocument/didChange" && json.Unmarshal(q.Params, &p) == nil &&
				p.TextDocument.URI == uri {
				cancel()
			}
		}
	}
	b.mu.Unlock()
	return work, func() {
		b.mu.Lock()
		b.cancel = nil
		b.mu.Unlock()
		cancel()
	}
}
