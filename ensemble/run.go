package ensemble

import (
	"context"
	"errors"
	"runtime"
	"sync"
)

// Backend computes chunks somewhere.
type Backend interface {
	// Compute computes the chunks that next gives, in any order and as many at a time as it likes, until next gives no
	// more. It hands each to done, once or more often, from any goroutine. next may wait until other chunks are done.
	// Compute ends early with an error of done, or with that of ctx.
	Compute(ctx context.Context, p *Problem, next Next, done func(*Chunk) error) error
}

// Next gives the next chunk to compute; ok is false where there is none.
type Next func(ctx context.Context) (chunk int, ok bool)

// Local is the Backend that computes on so many goroutines of this process; 0 means one for each core.
type Local struct {
	Threads int

	kept *kept // workers of problems before that differ in their members alone; nil for none
}

// kept are workers that wait for another problem, with the programs that they have made.
type kept struct {
	mu   sync.Mutex
	list []*Worker
}

// take returns a worker for p.
func (k *kept) take(p *Problem) *Worker {
	if k == nil {
		return p.Worker()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	n := len(k.list)
	if n == 0 {
		return p.Worker()
	}
	w := k.list[n-1]
	k.list, w.p = k.list[:n-1], p
	return w
}

// give keeps a worker.
func (k *kept) give(w *Worker) {
	if k != nil {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.list = append(k.list, w)
	}
}

// Compute computes chunks.
func (l Local) Compute(
	ctx context.Context, p *Problem, next Next, done func(*Chunk) error,
) error {
	threads := l.Threads
	if threads <= 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	threads = max(1, min(threads, p.Chunks()))
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	var wait sync.WaitGroup
	for range threads {
		wait.Go(func() {
			w := l.kept.take(p)
			defer l.kept.give(w)
			for {
				chunk, ok := next(ctx)
				if !ok || ctx.Err() != nil {
					return
				}
				c, err := w.Compute(ctx, chunk)
				if err == nil {
					err = done(c)
				}
				if err != nil {
					stop(err)
					return
				}
			}
		})
	}
	wait.Wait()
	return context.Cause(ctx)
}

// Config says how a problem is run. The zero value computes on all cores and keeps nothing.
type Config struct {
	Backend Backend // nil for Local{}
	Journal *Journal
	// Each is called for every chunk, in the order of the members, by one goroutine at a time. The chunk is its own.
	Each func(*Chunk) error
	// Progress is called now and then with the number of members that are done, in any order.
	Progress func(members int)
}

// ahead bounds how many chunks after the first that is not done are begun.
const ahead = 256

// Run computes all members, and compares them, or a sample of them, with independent runs. Where it ends early, Each
// has been called for the first chunks, without gaps; the journal has these and whatever else was done.
func Run(ctx context.Context, p *Problem, c Config) (*Findings, error) {
	if c.Backend == nil {
		c.Backend = Local{}
	}
	each := func(chunk *Chunk) error {
		if c.Each == nil {
			return nil
		}
		return c.Each(chunk)
	}
	all := c
	if p.trust != Sample {
		f := &Findings{}
		all.Each = func(chunk *Chunk) error {
			f.add(p, chunk)
			return each(chunk)
		}
		if err := compute(ctx, p, all); err != nil {
			return nil, err
		}
		f.conclude()
		return f, nil
	}
	k := newComparer(p, c.Backend)
	of, control, err := k.draw(ctx)
	if err != nil {
		return nil, err
	}
	all.Each = func(chunk *Chunk) error {
		k.see(chunk)
		return each(chunk)
	}
	if err := compute(ctx, of, all); err != nil {
		return nil, err
	}
	return k.found, k.conclude(ctx, control)
}

// compute computes all members.
func compute(ctx context.Context, p *Problem, c Config) error {
	r := &running{p: p, c: c, waiting: map[int]*Chunk{}, begun: 0}
	r.room = sync.NewCond(&r.mu)
	if err := r.advance(); err != nil {
		return err
	}
	if r.delivered == p.Chunks() {
		return nil
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	defer context.AfterFunc(ctx, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.room.Broadcast()
	})()
	err := c.Backend.Compute(ctx, p, r.next, func(c *Chunk) error {
		err := r.done(c)
		if err != nil {
			stop(err)
		}
		return err
	})
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case context.Cause(ctx) != nil:
		return context.Cause(ctx)
	case err == nil && r.delivered < p.Chunks():
		return errors.New("some members were never computed")
	}
	return err
}

// running is a run under way.
type running struct {
	p *Problem
	c Config

	mu        sync.Mutex
	room      *sync.Cond
	begun     int            // chunks before this one were given out, or were done before
	delivered int            // chunks before this one were handed to Each
	waiting   map[int]*Chunk // done, and not delivered yet; nil for those of the journal
	members   int
}

// next returns the next chunk to compute.
func (r *running) next(ctx context.Context) (int, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for {
		r.begun = max(r.begun, r.delivered)
		for r.begun < r.p.Chunks() && r.has(r.begun) {
			r.begun++
		}
		switch {
		case ctx.Err() != nil || r.begun >= r.p.Chunks():
			return 0, false
		case r.begun < r.delivered+ahead:
			r.begun++
			return r.begun - 1, true
		}
		r.room.Wait()
	}
}

// has tells whether a chunk is done.
func (r *running) has(chunk int) bool {
	_, ok := r.waiting[chunk]
	return ok || r.c.Journal != nil && r.c.Journal.Has(chunk)
}

// done takes a chunk.
func (r *running) done(c *Chunk) error {
	if !r.p.fits(c) {
		return errChunk
	}
	if r.c.Journal != nil {
		if err := r.c.Journal.Add(c); err != nil {
			return err
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, twice := r.waiting[c.Index]; twice || c.Index < r.delivered {
		return nil
	}
	if r.waiting[c.Index] = c; r.c.Journal != nil {
		r.waiting[c.Index] = nil // it is read again in its turn
		if c.Index == r.delivered {
			r.waiting[c.Index] = c
		}
	}
	if r.members += len(c.Status); r.c.Progress != nil {
		r.c.Progress(r.members)
	}
	return r.advance()
}

// advance hands over the chunks whose turn it is.
func (r *running) advance() error {
	for {
		c, ok := r.waiting[r.delivered]
		switch {
		case ok && c != nil:
		case r.c.Journal != nil && r.c.Journal.Has(r.delivered):
			var err error
			if c, err = r.c.Journal.Read(r.delivered); err != nil {
				return err
			}
			if !ok {
				r.members += len(c.Status)
			}
		default:
			r.room.Broadcast()
			return nil
		}
		delete(r.waiting, r.delivered)
		r.delivered++
		if r.c.Each != nil {
			if err := r.c.Each(c); err != nil {
				return err
			}
		}
	}
}
