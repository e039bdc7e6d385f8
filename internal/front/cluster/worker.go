package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Worker computes chunks of any job.
type Worker struct {
	Conn    *nats.Conn
	Name    string // in messages; "" for host and process
	Threads int
	Notice  func(text string) // may be nil
	Metrics *Metrics          // may be nil

	change func(nats.Header) // for tests
	head   nats.Header
	mu     sync.Mutex
	jobs   map[string]*jobEntry // that were used lately
	busy   map[string]map[int]context.CancelFunc
	next   int
}

// keptJobs is how many compiled jobs a worker keeps.
const keptJobs = 8

// jobEntry is a job that is compiled once for all threads.
type jobEntry struct {
	once sync.Once
	task task
	err  error
	used time.Time
}

// Run computes chunks until ctx ends.
func (w *Worker) Run(ctx context.Context) (err error) {
	if w.head, err = said(); err != nil {
		return err
	}
	if w.Name == "" {
		host, _ := os.Hostname()
		w.Name = fmt.Sprintf("%s:%d", host, os.Getpid())
	}
	w.head.Set(headWorker, w.Name)
	if w.change != nil {
		w.change(w.head)
	}
	w.jobs, w.busy = map[string]*jobEntry{}, map[string]map[int]context.CancelFunc{}
	q, err := open(ctx, w.Conn, w.Notice)
	if err != nil {
		return err
	}
	cons, err := q.consume(ctx)
	if err != nil {
		return err
	}
	cancelled, err := w.Conn.Subscribe(cancelSubject+"*", func(m *nats.Msg) {
		w.cancel(m.Subject[len(cancelSubject):])
	})
	if err != nil {
		return err
	}
	defer cancelled.Unsubscribe()
	var wait sync.WaitGroup
	for range max(1, w.Threads) {
		wait.Go(func() {
			own := map[string]computer{}
			for ctx.Err() == nil {
				m, err := cons.Next(jetstream.FetchContext(ctx))
				if err != nil {
					if !errors.Is(err, nats.ErrTimeout) { // the server is away
						pause(ctx)
					}
					continue
				}
				w.task(ctx, q, m, own)
			}
		})
	}
	wait.Wait()
	return nil
}

// consume returns what gives chunks to all workers.
func (q *queue) consume(ctx context.Context) (c jetstream.Consumer, err error) {
	return c, again(ctx, func() error {
		if c, err = q.tasks.Consumer(ctx, consumer); errors.Is(err, jetstream.ErrConsumerNotFound) {
			c, err = q.tasks.CreateConsumer(ctx, jetstream.ConsumerConfig{
				Durable: consumer, AckPolicy: jetstream.AckExplicitPolicy, AckWait: ackWait, MaxDeliver: -1,
				MaxAckPending: 100_000,
			})
		}
		return err
	})
}

func (w *Worker) notice(format string, args ...any) {
	if w.Notice != nil {
		w.Notice(fmt.Sprintf(format, args...))
	}
}

// cancel stops the chunks of a job.
func (w *Worker) cancel(job string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, stop := range w.busy[job] {
		stop()
	}
	delete(w.jobs, job)
}

// task does what a message asks.
func (w *Worker) task(ctx context.Context, q *queue, m jetstream.Msg, own map[string]computer) {
	job, chunk, ok := placeOf(m.Subject())
	if !ok {
		_ = m.Term()
		return
	}
	if why := differs(m.Headers(), w.head); why != "" {
		text := fmt.Sprintf("worker %s refuses: %s", w.Name, why)
		w.notice("%s", text)
		_ = q.publish(ctx, refusedSubject+place(job, chunk), []byte(text), w.head)
		_ = m.NakWithDelay(retryTime)
		return
	}
	if meta, err := m.Metadata(); err == nil && meta.NumDelivered > mostGiven {
		w.setAside(ctx, q, m, fmt.Sprintf("given out %d times, and no worker came to an end with it", mostGiven))
		return
	}
	at, stop := context.WithCancel(ctx) // until the job is over
	defer stop()
	w.mu.Lock()
	w.next++
	id := w.next
	if w.busy[job] == nil {
		w.busy[job] = map[int]context.CancelFunc{}
	}
	w.busy[job][id] = stop
	w.mu.Unlock()
	defer func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.busy[job], id); len(w.busy[job]) == 0 {
			delete(w.busy, job)
		}
	}()
	go beat(at, m, ackWait/4)
	start := time.Now()
	done, err := w.compute(at, q, job, chunk, own)
	switch {
	case at.Err() != nil: // cancelled, or this worker ends: another one may have it at once
		_ = m.Nak()
		return
	case errors.Is(err, errTransport):
		w.notice("%v", err)
		_ = m.NakWithDelay(retryTime)
		return
	case err != nil:
		w.setAside(ctx, q, m, err.Error())
		return
	}
	// Whoever asked may have the result, and say that the job is over, before the server's answer is here.
	if err := w.store(ctx, q, place(job, chunk), done.text); err != nil {
		if at.Err() == nil { // otherwise the run is over, or this worker ends
			w.notice("the result of chunk %d is not stored: %v", chunk, err)
		}
		_ = m.NakWithDelay(retryTime)
		return
	}
	_ = m.Ack() // otherwise it comes again, to the same result
	w.Metrics.add(done, time.Since(start))
}

// beat tells, again and again, that a chunk is being computed.
func beat(ctx context.Context, m jetstream.Msg, every time.Duration) {
	t := time.NewTicker(every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
			_ = m.InProgress()
		}
	}
}

// errTransport marks errors that another attempt may not have.
var errTransport = errors.New("cannot read from the queue")

// compute computes a chunk.
func (w *Worker) compute(
	ctx context.Context, q *queue, job string, chunk int, own map[string]computer,
) (result, error) {
	t, err := w.open(ctx, q, job)
	if err != nil {
		return result{}, err
	}
	if chunk >= t.chunks() {
		return result{}, fmt.Errorf("the job has no chunk %d", chunk)
	}
	if own[job] == nil {
		if len(own) >= keptJobs {
			clear(own)
		}
		own[job] = t.computer()
	}
	return own[job](ctx, chunk)
}

// open returns a compiled job.
func (w *Worker) open(ctx context.Context, q *queue, job string) (task, error) {
	w.mu.Lock()
	e := w.jobs[job]
	if e == nil {
		if len(w.jobs) >= keptJobs {
			oldest := ""
			for id, x := range w.jobs {
				if oldest == "" || x.used.Before(w.jobs[oldest].used) {
					oldest = id
				}
			}
			delete(w.jobs, oldest)
		}
		e = &jobEntry{}
		w.jobs[job] = e
	}
	e.used = time.Now()
	w.mu.Unlock()
	e.once.Do(func() {
		done := waiting(w.Notice, "the server "+q.nc.ConnectedUrlRedacted()+" to hand out job "+job)
		text, err := q.jobs.GetBytes(ctx, job)
		done()
		if err != nil {
			e.err = fmt.Errorf("%w: job %s: %w", errTransport, job, err)
			return
		}
		if e.task, e.err = decode(text); e.err == nil && e.task.id() != job {
			e.err = errors.New("the job is not what its name says")
		}
	})
	if errors.Is(e.err, errTransport) { // try again next time
		w.mu.Lock()
		delete(w.jobs, job)
		w.mu.Unlock()
	}
	return e.task, e.err
}

// publish stores a message of results.
func (q *queue) publish(ctx context.Context, subject string, data []byte, head nats.Header) error {
	once, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_, err := q.js.PublishMsg(once, &nats.Msg{Subject: subject, Data: data, Header: head})
	return err
}

// store stores a result. It returns when the server has it.
func (w *Worker) store(ctx context.Context, q *queue, name string, text []byte) error {
	head := nats.Header{}
	for k, v := range w.head {
		head[k] = v
	}
	const rest = 4096 // of a message, for its subject and headers
	if int64(len(text))+rest > w.Conn.MaxPayload() {
		if _, err := q.bulk.PutBytes(ctx, name, text); err != nil {
			return err
		}
		head.Set(headObject, name)
		text = nil
	}
	return q.publish(ctx, resultSubject+name, text, head)
}

// setAside takes a chunk out of the queue and says why.
func (w *Worker) setAside(ctx context.Context, q *queue, m jetstream.Msg, why string) {
	job, chunk, _ := placeOf(m.Subject())
	w.notice("chunk %d of job %s is set aside: %s", chunk, job, why)
	if err := q.publish(ctx, asideSubject+place(job, chunk), []byte(why), w.head); err != nil {
		_ = m.NakWithDelay(retryTime)
		return
	}
	_ = m.Term()
	w.Metrics.aside()
}
