package cluster

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/front/posterior"
)

// task is a job that is ready to be computed. Goroutines may share it.
type task interface {
	id() string
	kind() string
	encode() []byte // the job, as its kind reads it
	chunks() int
	computer() computer
}

// computer computes chunks of a task. It belongs to one goroutine.
type computer func(ctx context.Context, chunk int) (result, error)

// result is what came of a chunk: bytes that depend on nothing but job and chunk, and counts for those who watch.
type result struct {
	text                     []byte
	members, failures, steps int
}

// kinds are the kinds of jobs, by the name with which a stored job begins.
var kinds = map[string]func(job []byte) (task, error){
	"ensemble": func(job []byte) (task, error) {
		j, err := ensemble.Decode(job)
		if err != nil {
			return nil, err
		}
		p, err := ensemble.Open(j)
		return members{p}, err
	},
	"fit": func(job []byte) (task, error) {
		j, err := fit.DecodeJob(job)
		if err != nil {
			return nil, err
		}
		p, err := j.Open()
		return searches{j, p}, err
	},
	"sample": func(job []byte) (task, error) {
		j, err := posterior.DecodeJob(job)
		if err != nil {
			return nil, err
		}
		p, err := j.Open()
		return chains{j, p}, err
	},
}

// encode returns a job as it is stored.
func encode(t task) []byte { return append([]byte(t.kind()+"\n"), t.encode()...) }

// decode opens what encode returned.
func decode(text []byte) (task, error) {
	name, job, _ := bytes.Cut(text, []byte("\n"))
	open, ok := kinds[string(name)]
	if !ok {
		return nil, errors.New("the job is of no kind that this version of odes knows")
	}
	return open(job)
}

// modelOf returns the name of the model of a stored job; "" where it has none.
func modelOf(text []byte) string {
	_, job, _ := bytes.Cut(text, []byte("\n"))
	var j struct{ Model ensemble.Source }
	_ = json.Unmarshal(job, &j)
	return j.Model.Name
}

// members are those of an ensemble.
type members struct{ p *ensemble.Problem }

func (m members) id() string     { return m.p.ID }
func (m members) kind() string   { return "ensemble" }
func (m members) encode() []byte { return m.p.Job.Encode() }
func (m members) chunks() int    { return m.p.Chunks() }

func (m members) computer() computer {
	w := m.p.Worker()
	return func(ctx context.Context, chunk int) (result, error) {
		c, err := w.Compute(ctx, chunk)
		if err != nil {
			return result{}, err
		}
		r := result{text: c.Encode(), members: len(c.Status), failures: len(c.Failures)}
		for _, n := range c.Steps {
			r.steps += int(n)
		}
		return r, nil
	}
}

// Compute lets workers compute chunks of an ensemble.
func (b *Queue) Compute(
	ctx context.Context, p *ensemble.Problem, next ensemble.Next, done func(*ensemble.Chunk) error,
) error {
	return b.run(ctx, members{p}, next, func(chunk int, text []byte, aside string) error {
		if aside != "" {
			return done(p.Aside(chunk, aside))
		}
		c, err := ensemble.DecodeChunk(text)
		if err != nil {
			return err
		}
		return done(c)
	})
}

// searches are those of a fit, or its refits: each is a chunk.
type searches struct {
	job    *fit.Job
	pieces *fit.Pieces // nil for those who ask
}

func (s searches) id() string     { return s.job.ID() }
func (s searches) kind() string   { return "fit" }
func (s searches) encode() []byte { return s.job.Encode() }
func (s searches) chunks() int    { return s.job.Pieces }

func (s searches) computer() computer {
	return func(ctx context.Context, chunk int) (result, error) {
		one, err := s.pieces.Make(ctx, chunk)
		if err != nil {
			return result{}, err
		}
		r := result{text: []byte(fit.WriteStart(one)), members: 1}
		if one.To == nil {
			r.failures = 1
		}
		return r, nil
	}
}

// Make lets workers make searches of a fit, or refits.
func (b *Queue) Make(ctx context.Context, j *fit.Job, numbers []int, made func(fit.Start)) error {
	return b.run(ctx, searches{job: j}, inTurn(numbers), func(chunk int, text []byte, aside string) error {
		if aside != "" {
			made(fit.Lost(chunk, aside))
			return nil
		}
		list, err := fit.ReadStarts(string(text))
		if err != nil || len(list) != 1 || list[0].Number != chunk {
			return fmt.Errorf("the result of search %d is none", chunk)
		}
		made(list[0])
		return nil
	})
}

// inTurn gives chunks with these numbers.
func inTurn(numbers []int) ensemble.Next {
	return func(context.Context) (chunk int, ok bool) {
		if len(numbers) == 0 {
			return 0, false
		}
		chunk, numbers = numbers[0], numbers[1:]
		return chunk, true
	}
}

// chains are pieces of drawing from a posterior.
type chains struct {
	job    *posterior.Job
	pieces *posterior.Pieces // nil for those who ask
}

func (c chains) id() string     { return c.job.ID() }
func (c chains) kind() string   { return "sample" }
func (c chains) encode() []byte { return c.job.Encode() }
func (c chains) chunks() int    { return c.job.Pieces }

func (c chains) computer() computer {
	return func(ctx context.Context, chunk int) (result, error) {
		text, err := c.pieces.Make(ctx, chunk)
		return result{text: text, members: 1}, err
	}
}

// Draw lets workers make pieces of drawing.
func (b *Queue) Draw(
	ctx context.Context, j *posterior.Job, made func(number int, result []byte, lost string) error,
) error {
	numbers := make([]int, j.Pieces)
	for i := range numbers {
		numbers[i] = i
	}
	return b.run(ctx, chains{job: j}, inTurn(numbers), made)
}
