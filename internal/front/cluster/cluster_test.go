package cluster

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/posterior"
)

// model has events, failures (an assert) and members that take a few milliseconds.
const model = `
time t from 0 to 2
param g = 9.81
param e = 0.8
state x = 2
state v = 0
x' = v
v' = -g
event bounce when x <= 0 { v = -e*v }
assert g < 14
objective height = final(x)
objective path = integral(x)
solver { rtol = 1e-9 }
`

// problem is one whose members are not compared, which would make jobs of their own.
func problem(t *testing.T, text string, n int) *ensemble.Problem {
	return compared(t, text, n, ensemble.None)
}

func compared(t *testing.T, text string, n int, trust string) *ensemble.Problem {
	t.Helper()
	p, err := ensemble.Open(&ensemble.Job{
		Model: ensemble.Source{Name: "ball.ode", Text: text}, Gradient: true, Chunk: 5, Trust: trust,
		Design: ensemble.Design{Points: "sobol", N: n, Seed: 1, Axes: []ensemble.Axis{
			ensemble.Span("g", "", 5, 15, false, 0), ensemble.Span("e", "", 0.7, 0.9, false, 0),
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// gather runs a problem and returns its chunks, one after the other, as bytes.
func gather(ctx context.Context, p *ensemble.Problem, b ensemble.Backend) ([]byte, error) {
	var out bytes.Buffer
	_, err := ensemble.Run(ctx, p, ensemble.Config{Backend: b, Each: func(c *ensemble.Chunk) error {
		out.Write(c.Encode())
		return nil
	}})
	return out.Bytes(), err
}

func serve(t *testing.T) (address string) {
	t.Helper()
	address, closeServer, err := Serve(t.TempDir(), "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(closeServer)
	return address
}

func connect(t *testing.T, address string) *nats.Conn {
	t.Helper()
	nc, err := Connect(address, address, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// work runs a worker until stop is called, which loses what it is at, as a death does.
func work(t *testing.T, address string, w *Worker) (stop func()) {
	t.Helper()
	nc, err := Connect(address, address, nil)
	for end := time.Now().Add(10 * time.Second); err != nil && time.Now().Before(end); {
		time.Sleep(100 * time.Millisecond) // the server is being restarted
		nc, err = Connect(address, address, nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	w.Conn = nc
	var wait sync.WaitGroup
	wait.Go(func() {
		if err := w.Run(ctx); err != nil && !nc.IsClosed() {
			t.Error(err)
		}
	})
	return sync.OnceFunc(func() {
		nc.Close() // first, so that nothing is acknowledged any more
		cancel()
		wait.Wait()
	})
}

// Results are those of one process, bit for bit, while workers die and others take their place.
func TestWorkersDie(t *testing.T) {
	defer manyDeaths()()
	p := problem(t, model, 400)
	want, err := gather(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t)
	done := make(chan struct{})
	var wait sync.WaitGroup
	metrics := &Metrics{}
	for k := range 2 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(1, uint64(k)))
			for {
				stop := work(t, address, &Worker{Threads: 2, Metrics: metrics})
				select {
				case <-done:
					stop()
					return
				case <-time.After(time.Duration(10+r.IntN(60)) * time.Millisecond):
					stop()
				}
			}
		})
	}
	steady := work(t, address, &Worker{Threads: 1, Metrics: metrics})
	got, err := gather(context.Background(), p, &Queue{Conn: connect(t, address)})
	close(done)
	wait.Wait()
	steady()
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("the results are not those of one process")
	}
	list, err := Status(context.Background(), connect(t, address))
	if err != nil || len(list) != 0 {
		t.Errorf("after the run the server still has %v, %v", list, err)
	}
	var text strings.Builder
	metrics.Write(&text)
	out := text.String()
	if !strings.Contains(out, "odes_members_total ") || strings.Contains(out, "chunks_total 0\n") {
		t.Errorf("metrics:\n%s", out)
	}
}

var die = flag.Duration("die", 0, "how long TestDeaths lasts, in which workers die and the server is restarted")

// TestDeaths takes as long as asked for: go test ./internal/front/cluster -run TestDeaths -die 10m -timeout 20m.
// Of three workers two are killed at random, and the server is restarted now and then. Every result comes once, with
// the bits of one process.
func TestDeaths(t *testing.T) {
	if *die == 0 {
		t.Skip("without -die")
	}
	p := problem(t, model, 1_000_000)
	folder := t.TempDir()
	address, closeServer, err := Serve(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	var wait sync.WaitGroup
	for k := range 2 {
		wait.Go(func() {
			r := rand.New(rand.NewPCG(2, uint64(k)))
			for {
				stop := work(t, address, &Worker{Threads: 1})
				select {
				case <-done:
					stop()
					return
				case <-time.After(time.Duration(50+r.IntN(2000)) * time.Millisecond):
					stop()
				}
			}
		})
	}
	wait.Go(func() {
		for {
			select {
			case <-done:
				return
			case <-time.After(20 * time.Second):
				closeServer()
				if _, closeServer, err = ServeAt(strings.TrimPrefix(address, "nats://"), folder, ""); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	defer work(t, address, &Worker{Threads: 1})()
	ctx, cancel := context.WithTimeout(context.Background(), *die)
	defer cancel()
	local, chunks := p.Worker(), 0
	b := &Queue{Conn: connect(t, address)}
	_, err = ensemble.Run(ctx, p, ensemble.Config{Backend: b, Each: func(c *ensemble.Chunk) error {
		if c.Index != chunks {
			t.Errorf("chunk %d comes after %d others", c.Index, chunks)
		}
		chunks++
		want, err := local.Compute(context.Background(), c.Index)
		if err == nil && !bytes.Equal(c.Encode(), want.Encode()) {
			t.Errorf("chunk %d is not that of one process", c.Index)
		}
		return err
	}})
	close(done)
	wait.Wait()
	if !errors.Is(err, context.DeadlineExceeded) || chunks == 0 {
		t.Errorf("%d chunks: %v", chunks, err)
	}
	t.Logf("%d chunks", chunks)
	closeServer()
}

// Members are compared by workers as they are by one process.
func TestCompared(t *testing.T) {
	address := serve(t)
	defer work(t, address, &Worker{Threads: 2})()
	p := compared(t, "param tiny = 1e-13\nstate w = tiny\nw' = -w\nevent grow when w < 0.5e-13 once { w += tiny }\n"+
		"objective W = final(w)\n"+strings.Replace(model, "solver { ", "solver { atol = 1e-9 ", 1), 60, ensemble.Sample)
	run := func(b ensemble.Backend) *ensemble.Findings {
		f, err := ensemble.Run(t.Context(), p, ensemble.Config{Backend: b})
		if err != nil {
			t.Fatal(err)
		}
		return f
	}
	want := run(ensemble.Local{Threads: 1})
	if got := run(&Queue{Conn: connect(t, address)}); !reflect.DeepEqual(got, want) {
		t.Errorf("%+v by workers, %+v by one process", got, want)
	}
	if want.Compared < 16 || want.Unconfirmed < 16 {
		t.Errorf("%+v", want)
	}
}

// shortWaits makes the queue impatient.
func shortWaits() (back func()) {
	before := ackWait
	ackWait = 300 * time.Millisecond
	return func() { ackWait = before }
}

// manyDeaths is shortWaits for workers that die by chance: one chunk may be with any number of them.
func manyDeaths() (back func()) {
	waits := shortWaits()
	mostGiven = 1 << 20
	return func() {
		mostGiven = attempts
		waits()
	}
}

// A run that is stopped leaves its results with the server, and the same job goes on from there.
func TestGoesOn(t *testing.T) {
	p := problem(t, model, 200)
	want, err := gather(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t)
	metrics := &Metrics{}
	defer work(t, address, &Worker{Threads: 1, Metrics: metrics})()
	ctx, cancel := context.WithCancel(context.Background())
	n := 0
	b := &Queue{Conn: connect(t, address)}
	_, err = ensemble.Run(ctx, p, ensemble.Config{Backend: b, Each: func(*ensemble.Chunk) error {
		if n++; n == 10 {
			cancel()
		}
		return nil
	}})
	if !errors.Is(err, context.Canceled) {
		t.Fatal(err)
	}
	list, err := Status(context.Background(), connect(t, address))
	if err != nil || len(list) != 1 || list[0].Done < 10 || list[0].Waiting > 1 || list[0].Model != "ball.ode" {
		t.Errorf("the server has %+v, %v", list, err)
	}
	got, err := gather(context.Background(), p, &Queue{Conn: connect(t, address)})
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the results are not those of one process: %v", err)
	}
	if metrics.chunks > p.Chunks()+2 {
		t.Errorf("%d chunks were computed, of %d", metrics.chunks, p.Chunks())
	}
}

// The server may be restarted meanwhile: it keeps what it has, and all others wait for it.
func TestServerRestarts(t *testing.T) {
	defer shortWaits()()
	p := problem(t, model, 400)
	want, err := gather(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	address, closeServer, err := Serve(folder, "")
	if err != nil {
		t.Fatal(err)
	}
	defer work(t, address, &Worker{Threads: 1})()
	var out bytes.Buffer
	n := 0
	_, err = ensemble.Run(context.Background(), p, ensemble.Config{
		Backend: &Queue{Conn: connect(t, address)}, Each: func(c *ensemble.Chunk) error {
			if n++; n == 10 || n == 40 {
				closeServer()
				if _, closeServer, err = ServeAt(strings.TrimPrefix(address, "nats://"), folder, ""); err != nil {
					return err
				}
			}
			out.Write(c.Encode())
			return nil
		},
	})
	if err != nil || !bytes.Equal(out.Bytes(), want) {
		t.Errorf("the results are not those of one process: %v", err)
	}
	closeServer()
}

// A chunk that nobody comes to an end with is set aside, and the others come.
func TestPoison(t *testing.T) {
	address := serve(t)
	nc := connect(t, address)
	p := problem(t, model, 50)
	q, err := open(context.Background(), nc, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := q.putJob(context.Background(), members{p}); err != nil {
		t.Fatal(err)
	}
	head, err := said()
	if err != nil {
		t.Fatal(err)
	}
	if err := q.give(context.Background(), p.ID, 3, head); err != nil {
		t.Fatal(err)
	}
	killChunk(t, q, attempts)
	var wait sync.WaitGroup
	defer wait.Wait()
	wait.Go(func() { // once all chunks are in the queue
		for range 500 {
			if info, err := q.tasks.Info(context.Background()); err == nil && info.State.Msgs == uint64(p.Chunks()) {
				break
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Cleanup(work(t, address, &Worker{Threads: 1}))
	})
	var failures []ensemble.Failure
	b := &Queue{Conn: nc}
	_, err = ensemble.Run(context.Background(), p, ensemble.Config{Backend: b, Each: func(c *ensemble.Chunk) error {
		for _, f := range c.Failures {
			if f.Code == ensemble.CodeAside {
				failures = append(failures, f)
			}
		}
		return nil
	}})
	if err != nil || len(failures) != 5 || failures[0].Member != 15 ||
		!strings.Contains(failures[0].Message, "5 times") {
		t.Errorf("%v, %+v", err, failures)
	}
}

// A worker that computes or speaks otherwise leaves chunks to others, by name.
func TestRefusal(t *testing.T) {
	defer shortWaits()()
	address := serve(t)
	p := problem(t, model, 40)
	other := &Worker{Threads: 1, Name: "odd", change: func(h nats.Header) { h.Set(headCanary, "other") }}
	defer work(t, address, other)()
	var mu sync.Mutex
	var said []string
	refused := make(chan struct{})
	b := &Queue{Conn: connect(t, address), Notice: func(text string) {
		mu.Lock()
		defer mu.Unlock()
		if said = append(said, text); len(said) == 1 {
			close(refused)
		}
	}}
	var wait sync.WaitGroup
	wait.Go(func() {
		<-refused
		other.Conn.Close()
		stop := work(t, address, &Worker{Threads: 1})
		t.Cleanup(stop)
	})
	want, err := gather(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gather(context.Background(), p, b)
	wait.Wait()
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("the results are not those of one process: %v", err)
	}
	mu.Lock()
	defer mu.Unlock()
	if len(said) == 0 || !strings.Contains(said[0], "worker odd refuses: the canary") {
		t.Errorf("notices: %q", said)
	}
}

func TestCancelAndClean(t *testing.T) {
	address := serve(t)
	nc := connect(t, address)
	ctx, cancel := context.WithCancel(context.Background())
	p := problem(t, model, 40)
	var wait sync.WaitGroup
	wait.Go(func() { // once all chunks are in the queue
		defer cancel()
		for range 3000 {
			list, err := Status(context.Background(), nc)
			if err == nil && len(list) == 1 && list[0].Waiting == p.Chunks() {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
	})
	if _, err := gather(ctx, p, &Queue{Conn: nc}); err == nil {
		t.Fatal("it ended without workers")
	}
	wait.Wait()
	if err := Cancel(context.Background(), nc, p.ID); err != nil {
		t.Fatal(err)
	}
	if err := Cancel(context.Background(), nc, p.ID); err == nil || !strings.Contains(err.Error(), "has no job") {
		t.Errorf("a job that is gone: %v", err)
	}
	if n, err := Clean(context.Background(), nc); n != 0 || err != nil {
		t.Error(n, err)
	}
}

// Whoever asked has the last results before the worker is told that they are stored. They count all the same.
func TestMetricsCountLastChunks(t *testing.T) {
	const members = 400
	address := serve(t)
	p := problem(t, model, members)
	metrics := &Metrics{}
	stop := work(t, address, &Worker{Threads: 2, Metrics: metrics})
	defer stop()
	if _, err := gather(context.Background(), p, &Queue{Conn: connect(t, address)}); err != nil {
		t.Fatal(err)
	}
	count := func() int {
		metrics.mu.Lock()
		defer metrics.mu.Unlock()
		return metrics.members
	}
	for range 1000 {
		if count() == members {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d members of %d are counted", count(), members)
}

// Results that are too large for a message come through the store of objects.
func TestLargeResults(t *testing.T) {
	address := serve(t)
	p, err := ensemble.Open(&ensemble.Job{
		Model: ensemble.Source{Name: "b.ode", Text: model}, Times: times(60_000),
		Design: ensemble.Design{Points: "lhs", N: 10, Seed: 1, Axes: []ensemble.Axis{
			ensemble.Span("g", "", 5, 15, false, 0),
		}},
		Chunk: 10,
	})
	if err != nil {
		t.Fatal(err)
	}
	defer work(t, address, &Worker{Threads: 1})()
	want, err := gather(context.Background(), p, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := gather(context.Background(), p, &Queue{Conn: connect(t, address)})
	if err != nil || !bytes.Equal(got, want) || len(got) < maxPayload {
		t.Error(err, len(got), len(want))
	}
}

func times(n int) (list []ensemble.Real) {
	for i := range n {
		list = append(list, ensemble.Real(2*float64(i)/float64(n)))
	}
	return list
}

// killChunk takes the only chunk of the queue n times, as workers that die.
func killChunk(t *testing.T, q *queue, n int) {
	t.Helper()
	c, err := q.consume(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		m, err := c.Next()
		if err != nil {
			t.Fatal(fmt.Errorf("attempt %d: %w", i, err))
		}
		if err := m.Nak(); err != nil {
			t.Fatal(err)
		}
	}
}

// fitted has several minima, a search that may fail, and refits.
const fitted = `
time t from 0 to 2
param a = 1 in [0.1, 10]
param b = 1 in [0.1, 10]
state x = a
x' = -b*x + 0.1*sin(a*t)
data D { time = [0.3, 0.6, 0.9, 1.2, 1.5, 1.8]  y = [1.6, 1.25, 0.9, 0.75, 0.55, 0.5] }
observe y = x ~ normal(0.1) from D.y
objective loss = nll()
fit { over = [a, b]  log = [b]  starts = 30  intervals = bootstrap  bootstrap = 60  seed = 2 }
`

// Searches and refits of a fit are those of one process, bit for bit, while workers die and others take their place.
func TestFit(t *testing.T) {
	defer manyDeaths()()
	m, source, err := ensemble.ReadSource("fitted.ode", fitted, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := fit.Run(context.Background(), m, fit.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t)
	end := mortal(t, address)
	got, err := fit.Run(context.Background(), m, fit.Options{
		Backend: &Queue{Conn: connect(t, address)}, Source: source,
	})
	end()
	if err != nil {
		t.Fatal(err)
	}
	if len(got.Starts) != len(want.Starts) || !reflect.DeepEqual(got.Bootstrap, want.Bootstrap) {
		t.Fatalf("%d searches, %d refits; not %d, %d", len(got.Starts), len(got.Bootstrap), len(want.Starts),
			len(want.Bootstrap))
	}
	for i, s := range want.Starts {
		g := got.Starts[i]
		if g.Number != s.Number || g.Value != s.Value || g.Evaluations != s.Evaluations || !slices.Equal(g.To, s.To) {
			t.Errorf("search %d is %+v, not %+v", i, g, s)
		}
	}
}

// mortal starts workers, of which some die again and again, and others take their place.
func mortal(t *testing.T, address string) (end func()) {
	done := make(chan struct{})
	var wait sync.WaitGroup
	wait.Go(func() {
		r := rand.New(rand.NewPCG(3, 1))
		for {
			stop := work(t, address, &Worker{Threads: 2})
			select {
			case <-done:
				stop()
				return
			case <-time.After(time.Duration(10+r.IntN(60)) * time.Millisecond):
				stop()
			}
		}
	})
	steady := work(t, address, &Worker{Threads: 1})
	return func() {
		close(done)
		wait.Wait()
		steady()
	}
}

// sampled has a posterior whose chains bend their coordinates.
const sampled = `
time t from 0 to 2
param a = 1 in [0, inf] ~ lognormal(0, 1)
param b = 1 in [0, inf] ~ lognormal(0, 1)
state x = 1
x' = -a*b*x
data D { time = [0.3, 0.9, 1.5]  y = [0.8, 0.5, 0.25] }
observe y = x ~ normal(0.1) from D.y
sample { draws = 150  warmup = 120  seed = 2 }
`

// Draws of chains are those of one process, bit for bit, while workers die and others take their place.
func TestSample(t *testing.T) {
	defer manyDeaths()()
	m, source, err := ensemble.ReadSource("sampled.ode", sampled, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := posterior.Run(context.Background(), m, posterior.Options{})
	if err != nil {
		t.Fatal(err)
	}
	address := serve(t)
	end := mortal(t, address)
	got, err := posterior.Run(context.Background(), m, posterior.Options{
		Backend: &Queue{Conn: connect(t, address)}, Source: source,
	})
	end()
	if err != nil {
		t.Fatal(err)
	}
	for k := range want.Chains {
		if !reflect.DeepEqual(got.Chains[k].Values, want.Chains[k].Values) {
			t.Errorf("chain %d has other draws", k+1)
		}
	}
	if got.Gradients != want.Gradients || len(got.Chains) != 4 || got.Draws() != 600 {
		t.Errorf("%d gradients for %d draws, not %d", got.Gradients, got.Draws(), want.Gradients)
	}
}
