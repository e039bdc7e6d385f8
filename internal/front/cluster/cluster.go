// Package cluster computes ensembles, searches of fits and chains of draws on many machines. Between those who ask and
// those who compute stands a server of NATS JetStream, which keeps what there is to do and what is done:
//
//   - A job lies in an object store under the name of its content, and is sent once. Jobs come in kinds, see kinds.
//   - Every chunk is a message of a work queue. A worker takes one, tells that it is still at it, stores the result,
//     and only then acknowledges it. The queue gives the chunk of a worker that died to another one.
//   - A result is a message whose subject names job and chunk, of which the last is kept. Results of the same chunk
//     have the same bits, so that it does not matter how often one comes.
//   - A chunk that was given out too often is set aside, with what went wrong.
//
// Whoever asks names protocol, version and canary with every chunk: the bits of a small computation. A worker that
// would speak or compute otherwise leaves the chunk to others, and says so.
package cluster

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
)

// Protocol is the version of what is said between those who ask and those who compute.
const Protocol = "2"

// Names of streams, stores and consumers, and beginnings of subjects. A subject goes on with job and chunk.
const (
	taskStream   = "ODES_TASKS"
	resultStream = "ODES_RESULTS"
	jobStore     = "odes-jobs"
	bulkStore    = "odes-results" // results that are too large for a message
	consumer     = "odes-workers"

	taskSubject    = "odes.task."
	resultSubject  = "odes.result."
	asideSubject   = "odes.aside."
	refusedSubject = "odes.refused."
	cancelSubject  = "odes.cancel."
)

// Headers of messages.
const (
	headProtocol = "Odes-Protocol"
	headVersion  = "Odes-Version"
	headCanary   = "Odes-Canary"
	headObject   = "Odes-Object"
	headWorker   = "Odes-Worker"
)

// Times, and how often.
const (
	patience  = 30 * time.Second // for one request
	keepFor   = 14 * 24 * time.Hour
	attempts  = 5 // to compute a chunk
	retryTime = 500 * time.Millisecond
)

// mostGiven is how many times a chunk is given out before it is set aside. Tests in which workers die by chance allow
// more, since a chunk may be with each of those.
var mostGiven uint64 = attempts

// ackWait is how long a worker may be silent, before its chunk goes to another one. Tests make it shorter.
var ackWait = 20 * time.Second

// silence is how long whoever waits for a server says nothing of it, as a time.Duration. Tests make it shorter, while
// connections of tests before may still be closing.
var silence atomic.Int64

func init() { silence.Store(int64(5 * time.Second)) }

// waiting tells notice what is waited for, once it has taken long, until done is called. A nil notice is not told.
func waiting(notice func(string), what string) (done func()) {
	if notice == nil {
		return func() {}
	}
	t := time.AfterFunc(time.Duration(silence.Load()), func() { notice("waiting for " + what) })
	return func() { t.Stop() }
}

// Connect connects to a server. It goes on trying when the connection is lost later. Where either takes long, notice is
// told which server is waited for, and why; name is what it is called there.
func Connect(address, name string, notice func(string), opts ...nats.Option) (*nats.Conn, error) {
	defer waiting(notice, "the server "+name+" to answer")()
	if notice != nil {
		opts = append(slices.Clip(opts), watch(name, notice)...)
	}
	return nats.Connect(address, append([]nats.Option{
		nats.Name("odes " + odes.Version), nats.MaxReconnects(-1), nats.ReconnectWait(250 * time.Millisecond),
		nats.Timeout(10 * time.Second),
	}, opts...)...)
}

// watch says when a connection has been lost for long, and when it is there once more.
func watch(name string, notice func(string)) []nats.Option {
	var mu sync.Mutex
	lost, said := func() {}, false
	return []nats.Option{
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			why := ""
			if err != nil {
				why = ": " + err.Error()
			}
			mu.Lock()
			defer mu.Unlock()
			lost()
			lost = waiting(func(text string) {
				mu.Lock()
				said = true
				mu.Unlock()
				notice(text)
			}, "the server "+name+" to come back, since the connection was lost"+why)
		}),
		nats.ReconnectHandler(func(*nats.Conn) {
			mu.Lock()
			defer mu.Unlock()
			if lost(); said {
				notice("the server " + name + " is there, and work goes on")
			}
			lost, said = func() {}, false
		}),
		nats.ClosedHandler(func(*nats.Conn) {
			mu.Lock()
			defer mu.Unlock()
			lost()
		}),
	}
}

// queue is a server's side of it.
type queue struct {
	nc             *nats.Conn
	js             jetstream.JetStream
	tasks, results jetstream.Stream
	jobs, bulk     jetstream.ObjectStore
}

// open makes what the server lacks. What takes long is told to notice.
func open(ctx context.Context, nc *nats.Conn, notice func(string)) (q *queue, err error) {
	defer waiting(notice, "the server "+nc.ConnectedUrlRedacted()+" to open its queues (JetStream)")()
	q = &queue{nc: nc}
	if q.js, err = jetstream.New(nc); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := again(ctx, func() error { return q.equip(ctx) }); err != nil {
		return nil, fmt.Errorf("the server does not keep queues (is JetStream on?): %w", err)
	}
	return q, nil
}

// again calls f until it succeeds, a few times where the server refuses: of several who make the same at the same
// time it may refuse all but one.
func again(ctx context.Context, f func() error) error {
	for try := 1; ; try++ {
		var api *jetstream.APIError
		err := f()
		if err == nil || try == attempts || !errors.As(err, &api) {
			return err
		}
		pause(ctx)
	}
}

// equip looks up the streams and stores, and makes those that the server lacks. What is there stays as it is: to update
// it while others use it gains nothing, and the server has a race of its own there.
func (q *queue) equip(ctx context.Context) (err error) {
	q.tasks, err = q.stream(ctx, jetstream.StreamConfig{
		Name: taskStream, Subjects: []string{taskSubject + ">"}, Retention: jetstream.WorkQueuePolicy,
		Storage: jetstream.FileStorage, Discard: jetstream.DiscardNew, DiscardNewPerSubject: true, MaxMsgsPerSubject: 1,
	})
	if err == nil {
		q.results, err = q.stream(ctx, jetstream.StreamConfig{
			Name: resultStream, Subjects: []string{resultSubject + ">", asideSubject + ">", refusedSubject + ">"},
			Storage: jetstream.FileStorage, MaxMsgsPerSubject: 1, MaxAge: keepFor,
		})
	}
	if err == nil {
		q.jobs, err = q.store(ctx, jobStore)
	}
	if err == nil {
		q.bulk, err = q.store(ctx, bulkStore)
	}
	return err
}

// stream returns the stream of that name.
func (q *queue) stream(ctx context.Context, cfg jetstream.StreamConfig) (jetstream.Stream, error) {
	s, err := q.js.Stream(ctx, cfg.Name)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return q.js.CreateStream(ctx, cfg)
	}
	return s, err
}

// store returns the store of objects of that name.
func (q *queue) store(ctx context.Context, name string) (jetstream.ObjectStore, error) {
	s, err := q.js.ObjectStore(ctx, name)
	if errors.Is(err, jetstream.ErrBucketNotFound) {
		return q.js.CreateObjectStore(ctx, jetstream.ObjectStoreConfig{
			Bucket: name, TTL: keepFor, Storage: jetstream.FileStorage,
		})
	}
	return s, err
}

// place returns the end of the subject of a chunk.
func place(job string, chunk int) string { return job + "." + strconv.Itoa(chunk) }

// placeOf reads job and chunk of a subject.
func placeOf(subject string) (job string, chunk int, ok bool) {
	parts := strings.Split(subject, ".")
	if len(parts) != 4 {
		return "", 0, false
	}
	chunk, err := strconv.Atoi(parts[3])
	return parts[2], chunk, err == nil && chunk >= 0
}

// canaryModel has what bits could differ by: functions, powers, events, an integral, and a gradient through them.
const canaryModel = `
time t from 0 to 3
param a = 1.3
param b = 0.7
state x = 1.1
state y = 0.2
x' = y + 0.1*sin(a*t) - 0.05*exp(-x^2)
y' = -a*x + 0.1*tanh(b*y) + log(1 + x^2)/7
event back when x <= 0 { y = -b*y }
objective J = integral(x^2) + final(y)
solver { rtol = 1e-8 }
`

var canary = sync.OnceValues(func() (string, error) {
	p, err := ensemble.Open(&ensemble.Job{
		Model: ensemble.Source{Name: "canary.ode", Text: canaryModel}, Gradient: true,
		Design: ensemble.Design{Points: "lhs", N: 4, Seed: 5, Axes: []ensemble.Axis{
			ensemble.Span("a", "", 1, 2, false, 0), ensemble.Span("b", "", 0.5, 5, true, 0),
		}},
		Chunk: 4,
	})
	if err != nil {
		return "", err
	}
	c, err := p.Worker().Compute(context.Background(), 0)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(c.Encode())
	return hex.EncodeToString(sum[:8]), nil
})

// Canary returns the bits of a small computation, as a short text. It is the same on every machine; one where it
// differs must not take part.
func Canary() (string, error) { return canary() }

// said are the headers that messages of this program have.
func said() (nats.Header, error) {
	c, err := Canary()
	h := nats.Header{}
	h.Set(headProtocol, Protocol)
	h.Set(headVersion, odes.Version)
	h.Set(headCanary, c)
	return h, err
}

// differs says how the program at the other end of a message differs from this one; "" where it does not.
func differs(h nats.Header, own nats.Header) string {
	for _, of := range []struct{ head, name string }{
		{headProtocol, "protocol"}, {headVersion, "version"}, {headCanary, "canary"},
	} {
		if theirs, ours := h.Get(of.head), own.Get(of.head); theirs != ours {
			return fmt.Sprintf("the %s of the chunk is %s, and that of the worker %s", of.name, theirs, ours)
		}
	}
	return ""
}

// Queue lets workers compute. It is the Backend of ensembles, of fits and of posteriors.
type Queue struct {
	Conn *nats.Conn
	// Notice is told what users should know: workers that refuse, chunks that were set aside. It may be nil.
	Notice func(text string)
}

// perSubject is what a server says of a chunk that is in the queue already.
const perSubject = "maximum messages per subject"

// run lets workers compute chunks of a job. done has the result of a chunk, or why it was set aside. When ctx ends,
// what was not begun is taken out of the queue; what is done stays there, for another run of the same job to find.
func (b *Queue) run(
	ctx context.Context, t task, next ensemble.Next, done func(chunk int, result []byte, aside string) error,
) error {
	q, err := open(ctx, b.Conn, b.Notice)
	if err != nil {
		return err
	}
	head, err := said()
	if err != nil {
		return err
	}
	if err := q.putJob(ctx, t); err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	n, id := t.chunks(), t.id()
	r := &receiver{
		b: b, q: q, job: id, done: done, head: head,
		seen: make([]bool, n), given: make([]bool, n), refused: map[string]bool{},
	}
	q.forget(id, asideSubject, refusedSubject) // of an earlier run: it is tried again
	first, err := r.earlier(ctx)
	if err != nil {
		return err
	}
	results, err := q.js.OrderedConsumer(ctx, resultStream, jetstream.OrderedConsumerConfig{
		FilterSubjects: []string{
			resultSubject + id + ".*", asideSubject + id + ".*", refusedSubject + id + ".*",
		},
		DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: first,
	})
	if err != nil {
		return err
	}
	messages, err := results.Messages()
	if err != nil {
		return err
	}
	defer messages.Stop()
	defer context.AfterFunc(ctx, messages.Stop)()

	var wait sync.WaitGroup
	wait.Go(func() {
		for {
			chunk, ok := next(ctx)
			if !ok || ctx.Err() != nil {
				r.allGiven(messages)
				return
			}
			r.gives(chunk)
			if err := q.give(ctx, id, chunk, head); err != nil {
				stop(err)
				return
			}
		}
	})
	err = r.receive(ctx, messages)
	if err != nil {
		stop(err)
	}
	wait.Wait()
	if ctx.Err() != nil {
		q.forget(id, taskSubject)
		return context.Cause(ctx)
	}
	if err == nil {
		_ = b.Conn.Publish(cancelSubject+id, nil) // workers may be at a chunk of which the result has come
		q.forget(id, taskSubject, resultSubject, asideSubject, refusedSubject)
	}
	return err
}

// putJob stores a job, unless the server has it.
func (q *queue) putJob(ctx context.Context, t task) error {
	if _, err := q.jobs.GetInfo(ctx, t.id()); err == nil {
		return nil
	}
	_, err := q.jobs.PutBytes(ctx, t.id(), encode(t))
	return err
}

// give puts a chunk into the queue, unless it is there. It goes on trying while the server is away.
func (q *queue) give(ctx context.Context, job string, chunk int, head nats.Header) error {
	m := &nats.Msg{Subject: taskSubject + place(job, chunk), Header: head}
	for {
		once, cancel := context.WithTimeout(ctx, patience)
		_, err := q.js.PublishMsg(once, m)
		cancel()
		var api *jetstream.APIError
		switch {
		case err == nil, errors.As(err, &api) && strings.Contains(api.Description, perSubject):
			return nil
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case errors.As(err, &api) && api.Code < 500:
			return err
		}
		pause(ctx)
	}
}

// pause waits a little, for a server that is away.
func pause(ctx context.Context) {
	select {
	case <-time.After(retryTime):
	case <-ctx.Done():
	}
}

// forget removes messages of a job.
func (q *queue) forget(job string, subjects ...string) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	for _, s := range subjects {
		if s == taskSubject {
			q.takeBack(ctx, job)
			continue
		}
		// What stays does no harm, and ends with its age.
		_ = q.results.Purge(ctx, jetstream.WithPurgeSubject(s+job+".*"))
	}
	if slices.Contains(subjects, resultSubject) {
		_ = q.jobs.Delete(ctx, job)
		if list, err := q.bulk.List(ctx); err == nil {
			for _, o := range list {
				if strings.HasPrefix(o.Name, job+".") {
					_ = q.bulk.Delete(ctx, o.Name)
				}
			}
		}
	}
}

// takeBack removes the chunks of a job that are in the queue, one by one: of a server that purges a queue, chunks of
// other jobs which are to be given out once more are lost.
func (q *queue) takeBack(ctx context.Context, job string) {
	info, err := q.tasks.Info(ctx, jetstream.WithSubjectFilter(taskSubject+job+".*"))
	if err != nil {
		return
	}
	for subject := range info.State.Subjects {
		if m, err := q.tasks.GetLastMsgForSubject(ctx, subject); err == nil {
			_ = q.tasks.DeleteMsg(ctx, m.Sequence)
		}
	}
}

// receiver takes results.
type receiver struct {
	b    *Queue
	q    *queue
	job  string
	done func(chunk int, result []byte, aside string) error
	head nats.Header // of this program

	mu          sync.Mutex
	seen, given []bool // chunks of which there is a result, and that were given to the queue
	missing     int    // of those given
	all         bool   // no more are given
	refused     map[string]bool
}

// earlier takes the results that are there already, from an earlier run. It returns the number of the first message
// after these.
func (r *receiver) earlier(ctx context.Context) (first uint64, err error) {
	info, err := r.q.results.Info(ctx)
	if err != nil {
		return 0, err
	}
	first = info.State.LastSeq + 1
	c, err := r.q.results.CreateConsumer(ctx, jetstream.ConsumerConfig{
		FilterSubject: resultSubject + r.job + ".*", AckPolicy: jetstream.AckNonePolicy,
		InactiveThreshold: time.Minute,
	})
	if err != nil {
		return 0, err
	}
	for left := int(c.CachedInfo().NumPending); left > 0; {
		batch, err := c.FetchNoWait(min(left, 256))
		if err != nil {
			return 0, err
		}
		n := 0
		for m := range batch.Messages() {
			n++
			if err := r.take(ctx, m); err != nil {
				return 0, err
			}
		}
		if left -= n; n == 0 {
			break
		}
	}
	return first, r.q.results.DeleteConsumer(ctx, c.CachedInfo().Name)
}

// gives notes that a chunk goes to the queue.
func (r *receiver) gives(chunk int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.given[chunk] = true; !r.seen[chunk] {
		r.missing++
	}
}

// allGiven ends the iterator where no result is missing.
func (r *receiver) allGiven(m jetstream.MessagesContext) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all = true; r.missing == 0 {
		m.Stop()
	}
}

// receive takes results until none is missing.
func (r *receiver) receive(ctx context.Context, messages jetstream.MessagesContext) error {
	for {
		m, err := messages.Next()
		switch {
		case errors.Is(err, jetstream.ErrMsgIteratorClosed):
			return nil
		case err != nil && ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil: // the server is away
			pause(ctx)
			continue
		}
		if err := r.take(ctx, m); err != nil {
			return err
		}
		r.mu.Lock()
		finished := r.all && r.missing == 0
		r.mu.Unlock()
		if finished {
			return nil
		}
	}
}

// take takes a message.
func (r *receiver) take(ctx context.Context, m jetstream.Msg) error {
	_, chunk, ok := placeOf(m.Subject())
	if !ok || chunk >= len(r.seen) {
		return nil
	}
	if strings.HasPrefix(m.Subject(), refusedSubject) {
		if text := string(m.Data()); !r.refused[text] && r.b.Notice != nil {
			r.refused[text] = true
			r.b.Notice(text)
		}
		return nil
	}
	if differs(m.Headers(), r.head) != "" { // left by another version
		return nil
	}
	if r.seen[chunk] { // set by this goroutine alone
		return nil
	}
	text, aside, err := r.result(ctx, m)
	if err != nil {
		return err
	}
	if err := r.done(chunk, text, aside); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[chunk] = true; r.given[chunk] {
		r.missing--
	}
	return nil
}

// result reads a result, or why a chunk was set aside.
func (r *receiver) result(ctx context.Context, m jetstream.Msg) (text []byte, aside string, err error) {
	if strings.HasPrefix(m.Subject(), asideSubject) {
		return nil, string(m.Data()), nil
	}
	if name := m.Headers().Get(headObject); name != "" {
		text, err = r.q.bulk.GetBytes(ctx, name)
		return text, "", err
	}
	return m.Data(), "", nil
}
