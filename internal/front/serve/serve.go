// Package serve answers the requests of programs that keep models ready: it compiles texts, computes what is asked of
// them, many requests at once, and sends numbers as they are. docs/serve.md describes the protocol.
package serve

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/internal/front/wire"
	"odes.dev/odes/lang/diag"
)

// maxRequests is how many requests may be under way, those that wait included.
const maxRequests = 1024

// patience is how long a computation that was cancelled keeps its slot. Almost all look at their context by then.
const patience = 500 * time.Millisecond

// slots returns how many requests are computed at once. Others wait: each takes the memory of a run.
func slots() int { return max(8, 2*runtime.GOMAXPROCS(0)) }

// errMemory ends requests that took more memory than there is.
var errMemory = errors.New("not enough memory")

// server answers one client.
type server struct {
	store  store
	slots  chan struct{}
	strays chan struct{} // computations that were cancelled, and have given their slots back before they came to an end

	sending sync.Mutex
	out     io.Writer
	buffer  []byte
	broken  error // why nothing can be sent any more

	mu      sync.Mutex
	running map[uint32]context.CancelCauseFunc
}

// Serve answers the requests that it reads from in until that ends, or ctx does. The end of in ends whatever is under
// way, since nobody waits for it. The error says that the client does not keep to the protocol, or cannot be answered.
func Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	if c, ok := in.(io.Closer); ok {
		stop := context.AfterFunc(ctx, func() { c.Close() }) // ends a read
		defer stop()
	}
	s := &server{
		out: out, slots: make(chan struct{}, slots()), strays: make(chan struct{}, 4*slots()),
		running: map[uint32]context.CancelCauseFunc{},
	}
	go s.watchMemory(ctx)
	r := bufio.NewReaderSize(in, piece)
	for {
		f, err := readFrame(r)
		switch {
		case err == nil:
			err = s.accept(ctx, f)
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, io.EOF):
			return nil
		}
		if err != nil {
			if errors.Is(err, errProtocol) {
				s.send(kindError, 0, answer{head: &errorHead{
					Kind: "protocol", Message: err.Error(), Diagnostics: []json.RawMessage{},
				}})
			}
			return err
		}
	}
}

// accept begins or ends a request.
func (s *server) accept(ctx context.Context, f frame) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return fmt.Errorf("cannot answer the client: %w", s.broken)
	}
	cancel, known := s.running[f.id]
	switch {
	case f.kind == kindCancel:
		if known {
			cancel(context.Canceled)
		}
		return nil
	case known || f.id == 0:
		return protocolf("a request has the number %d, which is taken", f.id)
	case len(s.running) >= maxRequests:
		text := fmt.Sprintf("%d requests are under way", maxRequests)
		go s.send(kindError, f.id, failure(&requestError{"busy", text}))
		return nil
	}
	ctx, cancel = context.WithCancelCause(ctx)
	s.running[f.id] = cancel
	go s.answer(ctx, f)
	return nil
}

// answer answers a request, once.
func (s *server) answer(ctx context.Context, f frame) {
	r, what, err := parse(f.head)
	var out answer
	if err == nil {
		out, err = s.compute(ctx, f.id, r, what, f.values)
	}
	// Once the client has its answer, it may use the number again.
	s.mu.Lock()
	s.running[f.id](nil)
	delete(s.running, f.id)
	s.mu.Unlock()
	if err != nil {
		out = failure(err)
		s.send(kindError, f.id, out)
		return
	}
	s.send(kindResult, f.id, out)
	if out.done != nil {
		out.done()
	}
}

// outcome is what a computation came to.
type outcome struct {
	answer answer
	err    error
}

// compute does what a request asks for, and returns soon after ctx ends even where that does not look at ctx.
func (s *server) compute(
	ctx context.Context, id uint32, r *request, what *op, values []float64,
) (answer, error) {
	select {
	case s.slots <- struct{}{}:
	case <-ctx.Done():
		return answer{}, reason(ctx)
	}
	done := make(chan outcome, 1)
	free := sync.OnceFunc(func() { <-s.slots })
	go func() {
		defer free()
		defer func() {
			if p := recover(); p != nil {
				text := fmt.Sprintf("internal error: %v; please report it, with the model", p)
				done <- outcome{err: &requestError{"internal", text}}
			}
		}()
		tell := func(odes.Progress) {}
		if r.Progress {
			tell = func(p odes.Progress) { s.progress(ctx, id, p) }
		}
		out, err := what.do(s, ctx, r, values, tell)
		done <- outcome{out, err}
	}()
	select {
	case o := <-done:
		return o.answer, because(ctx, o.err)
	case <-ctx.Done():
	}
	select {
	case o := <-done: // a run says where it was
		if o.err == nil {
			return o.answer, nil
		}
		return answer{}, because(ctx, o.err)
	case <-time.After(patience):
	}
	select { // what does not look at ctx goes on, and others need not wait for it
	case s.strays <- struct{}{}:
		free()
		go func() {
			<-done
			<-s.strays
		}()
	default:
	}
	return answer{}, reason(ctx)
}

// reason says why ctx ended.
func reason(ctx context.Context) error {
	if errors.Is(context.Cause(ctx), errMemory) {
		return &requestError{"memory", fmt.Sprintf("this takes more than the %s of memory that odes may use",
			diag.Bytes(float64(memory.Budget())))}
	}
	return &requestError{"interrupted", "interrupted"}
}

// because returns the error of a computation; where its context ended for lack of memory, that is why.
func because(ctx context.Context, err error) error {
	if err != nil && errors.Is(context.Cause(ctx), errMemory) {
		return reason(ctx)
	}
	return err
}

// progressHead tells how far a run is.
type progressHead struct {
	Phase string      `json:"phase"`
	T     wire.Number `json:"t"`
	Steps int         `json:"steps"`
	Done  wire.Number `json:"done"` // fraction
}

// progress tells the client how far a request is.
func (s *server) progress(ctx context.Context, id uint32, p odes.Progress) {
	if ctx.Err() == nil {
		s.send(kindProgress, id, answer{head: progressHead{p.Phase, wire.Number(p.T), p.Steps, wire.Number(p.Done)}})
	}
}

// send writes a frame. Where that fails, the server ends with the next frame that it reads.
func (s *server) send(k kind, id uint32, a answer) {
	if l, ok := a.head.(lister); ok {
		l.list(a.arrays)
	}
	head, err := json.Marshal(a.head)
	if err != nil {
		k, a.arrays = kindError, nil
		head, _ = json.Marshal(&errorHead{Kind: "internal", Message: err.Error()})
	}
	s.sending.Lock()
	s.buffer, err = writeFrame(s.out, k, id, head, a.arrays, s.buffer)
	s.sending.Unlock()
	if err != nil {
		s.mu.Lock()
		s.broken = err
		s.mu.Unlock()
	}
}

// watchMemory ends what takes more memory than there is: what is kept first, then what is under way.
func (s *server) watchMemory(ctx context.Context) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if !memory.Exhausted() {
			continue
		}
		if s.store.clear(); !memory.Exhausted() {
			continue
		}
		s.mu.Lock()
		for _, cancel := range s.running {
			cancel(errMemory)
		}
		s.mu.Unlock()
	}
}
