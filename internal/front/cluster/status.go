package cluster

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// JobStatus says what a server has of a job.
type JobStatus struct {
	Job   string
	Model string // its file; "" where the job itself is not there
	// Waiting chunks are in the queue, or with a worker; Done ones have a result there, and Aside ones were set aside.
	Waiting, Done, Aside int
}

// Status says what a server has.
func Status(ctx context.Context, nc *nats.Conn) ([]JobStatus, error) {
	q, err := open(ctx, nc, nil)
	if err != nil {
		return nil, err
	}
	jobs := map[string]*JobStatus{}
	of := func(job string) *JobStatus {
		if jobs[job] == nil {
			jobs[job] = &JobStatus{Job: job}
		}
		return jobs[job]
	}
	for _, s := range []jetstream.Stream{q.tasks, q.results} {
		info, err := s.Info(ctx, jetstream.WithSubjectFilter("odes.>"))
		if err != nil {
			return nil, err
		}
		for subject := range info.State.Subjects {
			job, _, ok := placeOf(subject)
			switch {
			case !ok:
			case strings.HasPrefix(subject, taskSubject):
				of(job).Waiting++
			case strings.HasPrefix(subject, resultSubject):
				of(job).Done++
			case strings.HasPrefix(subject, asideSubject):
				of(job).Aside++
			}
		}
	}
	stored, err := q.stored(ctx)
	if err != nil {
		return nil, err
	}
	for _, id := range stored {
		of(id)
	}
	var list []JobStatus
	for _, s := range jobs {
		if text, err := q.jobs.GetBytes(ctx, s.Job); err == nil {
			s.Model = modelOf(text)
		}
		list = append(list, *s)
	}
	slices.SortFunc(list, func(a, b JobStatus) int { return cmp.Compare(a.Job, b.Job) })
	return list, nil
}

// stored lists the jobs that a server has.
func (q *queue) stored(ctx context.Context) (ids []string, err error) {
	list, err := q.jobs.List(ctx)
	if errors.Is(err, jetstream.ErrNoObjectsFound) {
		return nil, nil
	}
	for _, o := range list {
		ids = append(ids, o.Name)
	}
	return ids, err
}

// Cancel takes a job out of a server, and stops workers that are at it. Results that are there go with it. A job that
// the server does not have is an error.
func Cancel(ctx context.Context, nc *nats.Conn, job string) error {
	list, err := Status(ctx, nc)
	if err != nil {
		return err
	}
	if !slices.ContainsFunc(list, func(s JobStatus) bool { return s.Job == job }) {
		return fmt.Errorf("the queue has no job %q; odes queue status lists those that it has", job)
	}
	return cancel(ctx, nc, job)
}

func cancel(ctx context.Context, nc *nats.Conn, job string) error {
	q, err := open(ctx, nc, nil)
	if err != nil {
		return err
	}
	q.forget(job, taskSubject, resultSubject, asideSubject, refusedSubject)
	return nc.Publish(cancelSubject+job, nil)
}

// Clean cancels all jobs, and returns how many there were.
func Clean(ctx context.Context, nc *nats.Conn) (int, error) {
	list, err := Status(ctx, nc)
	if err != nil {
		return 0, err
	}
	for _, s := range list {
		if err := cancel(ctx, nc, s.Job); err != nil {
			return 0, err
		}
	}
	return len(list), nil
}
