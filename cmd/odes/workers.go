//go:build !js && !nocluster

package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/cluster"
	"odes.dev/odes/lang/diag"
)

// natsFlags say how to reach a server of NATS.
type natsFlags struct {
	NatsCreds string `name:"nats-creds" placeholder:"FILE" help:"Credentials for the NATS server: a .creds file."`
	NatsCA    string `name:"nats-ca" placeholder:"FILE" help:"Certificates of the authority (CA) of the NATS server."`
	NatsCert  string `name:"nats-cert" placeholder:"FILE" help:"Certificate of this client, for servers that want one."`
	NatsKey   string `name:"nats-key" placeholder:"FILE" help:"Key of that certificate."`
}

// tokenVariable holds the token of a server that this machine alone reaches. A command line is seen by everyone.
const tokenVariable = "ODES_NATS_TOKEN"

// connect connects to the server at an address. What it waits for long is said in the name of who.
func (f natsFlags) connect(c *call, who diag.Code, address string) (*nats.Conn, error) {
	var opts []nats.Option
	if f.NatsCreds != "" {
		opts = append(opts, nats.UserCredentials(f.NatsCreds))
	}
	if f.NatsCA != "" {
		opts = append(opts, nats.RootCAs(f.NatsCA))
	}
	if (f.NatsCert == "") != (f.NatsKey == "") {
		return nil, usagef("--nats-cert and --nats-key go together")
	}
	if f.NatsCert != "" {
		opts = append(opts, nats.ClientCert(f.NatsCert, f.NatsKey))
	}
	if token := os.Getenv(tokenVariable); token != "" {
		opts = append(opts, nats.Token(token))
	}
	nc, err := cluster.Connect(address, redacted(address), func(text string) { c.complain(who, text) }, opts...)
	if err != nil {
		return nil, fmt.Errorf("cannot connect to %s: %w", redacted(address), err)
	}
	return nc, nil
}

// redacted returns an address without what lets users in.
func redacted(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if _, host, secret := strings.Cut(rest, "@"); ok && secret {
		return scheme + "://" + host
	}
	return address
}

// elsewhere returns who computes at a place, and what ends it.
func (f natsFlags) elsewhere(c *call, where string) (b analysis.Backend, end func(), err error) {
	q, end, err := f.queue(c, where)
	if err != nil {
		return nil, nil, err
	}
	return q, end, nil
}

// queue connects to workers, and starts them where they are local.
func (f natsFlags) queue(c *call, where string) (q *cluster.Queue, end func(), err error) {
	notice := func(text string) { c.complain("workers", text) }
	number, isLocal := strings.CutPrefix(where, "local:")
	if !isLocal {
		nc, err := f.connect(c, "workers", where)
		if err != nil {
			return nil, nil, err
		}
		return &cluster.Queue{Conn: nc, Notice: notice}, nc.Close, nil
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return nil, nil, usagef("--workers local: takes a whole number from 1, not %q", number)
	}
	return localWorkers(c, n, notice)
}

// localWorkers starts a server within this process, and workers beside it.
func localWorkers(c *call, n int, notice func(string)) (q *cluster.Queue, end func(), err error) {
	folder, err := os.MkdirTemp("", "odes-queue-*")
	if err != nil {
		return nil, nil, err
	}
	secret := make([]byte, 16)
	_, _ = rand.Read(secret) // never fails
	token := hex.EncodeToString(secret)
	address, closeServer, err := cluster.Serve(folder, token)
	if err != nil {
		os.RemoveAll(folder)
		return nil, nil, err
	}
	nc, err := cluster.Connect(address, "of this process", notice, nats.Token(token))
	if err != nil {
		closeServer()
		os.RemoveAll(folder)
		return nil, nil, err
	}
	ctx, stop := context.WithCancel(context.Background())
	var wait sync.WaitGroup
	for range n {
		wait.Go(func() { keepWorker(ctx, address, token, notice) })
	}
	return &cluster.Queue{Conn: nc, Notice: notice}, func() {
		stop()
		wait.Wait()
		nc.Close()
		closeServer()
		os.RemoveAll(folder)
	}, nil
}

// keepWorker starts a worker, and another one when that dies.
func keepWorker(ctx context.Context, address, token string, notice func(string)) {
	program, err := os.Executable()
	if err != nil {
		notice(err.Error())
		return
	}
	const most = 100 // deaths
	for range most {
		cmd := exec.CommandContext(ctx, program, "worker", "--nats", address, "--threads", "1", "--with-parent", "-q")
		cmd.Env = append(os.Environ(), tokenVariable+"="+token)
		in, err := cmd.StdinPipe() // closes when this process ends, however it does
		if err == nil {
			cmd.Stderr, cmd.Cancel, cmd.WaitDelay = os.Stderr, in.Close, 3*time.Second
			err = cmd.Start()
		}
		if err != nil {
			notice("cannot start a worker: " + err.Error())
			return
		}
		err = cmd.Wait()
		if ctx.Err() != nil {
			return
		}
		notice(fmt.Sprintf("a worker died (%v); another one takes its place", err))
	}
}

// workerCmd is odes worker.
type workerCmd struct {
	global
	Nats string `placeholder:"URL" default:"nats://127.0.0.1:4222" help:"Address of the NATS server, with JetStream."`
	natsFlags
	Threads    int    `placeholder:"N" help:"Chunks at a time; 0 means one for each core."`
	Name       string `placeholder:"NAME" help:"Name of this worker in messages; without it, host and process."`
	Metrics    string `placeholder:"ADDRESS" help:"Serve counts for Prometheus at this address, such as :9100."`
	WithParent bool   `hidden:"" help:"End when standard input does."`
}

// Run computes chunks until it is told to end.
func (w *workerCmd) Run(c *call) error {
	c.configure(w.global, formatFlag{})
	nc, err := w.connect(c, "worker", w.Nats)
	if err != nil {
		return err
	}
	defer nc.Close()
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	if w.WithParent {
		signal.Ignore(os.Interrupt) // a terminal sends it to both, and the parent says what ends
		go func() {
			_, _ = io.Copy(io.Discard, c.in)
			stop()
		}()
	}
	worker := &cluster.Worker{Conn: nc, Name: w.Name, Threads: w.Threads, Metrics: &cluster.Metrics{}}
	if worker.Threads <= 0 {
		worker.Threads = runtime.GOMAXPROCS(0)
	}
	worker.Notice = func(text string) { c.complain("worker", text) }
	if w.Metrics != "" {
		s := &http.Server{Addr: w.Metrics, ReadHeaderTimeout: 5 * time.Second}
		s.Handler = http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			out.Header().Set("Content-Type", "text/plain; version=0.0.4")
			worker.Metrics.Write(out)
		})
		go func() {
			if err := s.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
				worker.Notice("metrics: " + err.Error())
			}
		}()
		defer s.Close()
	}
	if !c.quiet {
		c.complain("worker", fmt.Sprintf("waiting for work from %s, %d at a time", redacted(w.Nats), worker.Threads))
	}
	return worker.Run(ctx)
}

// queueCmd is odes queue.
type queueCmd struct {
	global
	What string `arg:"" enum:"status,cancel,clean,serve" help:"status, cancel (a job), clean (all jobs) or serve."`
	Job  string `arg:"" optional:"" help:"Job to cancel, as status names it."`
	Nats string `placeholder:"URL" default:"nats://127.0.0.1:4222" help:"Address of the NATS server, with JetStream."`
	natsFlags
	Listen string `placeholder:"ADDRESS" default:"127.0.0.1:4222" help:"Where serve listens."`
	Folder string `placeholder:"FOLDER" default:"odes-queue" help:"Where serve keeps the queue."`
}

// Run looks after a queue.
func (q *queueCmd) Run(c *call) error {
	c.configure(q.global, formatFlag{})
	if q.What == "serve" {
		return q.serve(c)
	}
	if q.What == "cancel" && q.Job == "" {
		return usagef("odes queue cancel JOB: odes queue status names jobs")
	}
	nc, err := q.connect(c, "queue", q.Nats)
	if err != nil {
		return err
	}
	defer nc.Close()
	return c.work(func() error {
		switch q.What {
		case "cancel":
			return errors.Join(cluster.Cancel(c.ctx, nc, q.Job), nc.Flush())
		case "clean":
			n, err := cluster.Clean(c.ctx, nc)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.out, "%d jobs removed\n", n)
			return nc.Flush()
		}
		list, err := cluster.Status(c.ctx, nc)
		if err != nil {
			return err
		}
		fmt.Fprintf(c.out, "%-32s  %8s  %8s  %8s  %s\n", "job", "waiting", "done", "aside", "model")
		for _, j := range list {
			fmt.Fprintf(c.out, "%-32s  %8d  %8d  %8d  %s\n", j.Job, j.Waiting, j.Done, j.Aside, j.Model)
		}
		return nil
	})
}

// serve keeps a queue for other machines, where no server of NATS is at hand.
func (q *queueCmd) serve(c *call) error {
	address, closeServer, err := cluster.ServeAt(q.Listen, q.Folder, os.Getenv(tokenVariable))
	if err != nil {
		return err
	}
	defer closeServer()
	if !c.quiet {
		c.complain("queue", "serving "+address+" from the folder "+q.Folder+"; Ctrl-C ends it")
	}
	<-c.ctx.Done()
	return nil
}
