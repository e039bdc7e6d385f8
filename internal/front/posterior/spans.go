package posterior

import (
	"context"
	"sync"
	"time"
)

// A chain that others make goes from span to span: each is a job of one piece, and its result is all that the next one
// depends on. Draws do not depend on where spans end, so how long they are may follow from how long they take.

// Numbers of spans.
const (
	spanFirst = 10              // iterations
	spanTime  = 5 * time.Second // that one should take: what an end loses, and how often a model is compiled
	spanMore  = 10              // times as many iterations as the one before
)

// chainSpans are chains from one iteration to another.
var chainSpans = part[span, record]{name: "chains", ready: (*span).ready, make: (*span).make}

// span is what a chain depends on, and where it is to come to.
type span struct {
	Chain, Stage, Until int
	Modes               []place
	Paths               []path
	Centred             [][]float64 // see setEffects
	Begun               *record     // nil for a chain that has not begun
}

// ready sets what a problem knows behind its searches.
func (of *span) ready(p *problem) error {
	p.paths = of.Paths
	settleAnchor(p, known(&p.settings, of.Modes).Modes)
	if p.settings.Random != "draw" {
		return nil
	}
	_, err := p.setEffects(context.Background(), of.Centred)
	return err
}

// make follows the chain.
func (of *span) make(p *problem, ctx context.Context, e *evaluator, _ int) (record, error) {
	c := newCourse(p, known(&p.settings, of.Modes), of.Chain, &Chain{})
	if of.Begun != nil {
		c.take(of.Begun)
	}
	err := c.follow(ctx, e, of.Stage, of.Until)
	if err == nil {
		err = ctx.Err()
	}
	return *c.record(0), err
}

// elsewhere makes the iterations of all chains to the end of a stage by the backend.
func (list courses) elsewhere(ctx context.Context, stage, end int) error {
	within, stop := context.WithCancel(ctx)
	defer stop()
	var wait sync.WaitGroup
	errs := make([]error, len(list))
	for k, c := range list {
		wait.Go(func() {
			if errs[k] = c.followElsewhere(within, stage, end); errs[k] != nil {
				stop() // the others are of no use
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (c *course) followElsewhere(ctx context.Context, stage, end int) error {
	p := c.p
	for most := spanFirst; c.at < end; {
		until, began := min(end, c.at+most), time.Now()
		of := &span{
			Chain: c.number, Stage: stage, Until: until, Modes: placesOf(c.result.Modes), Paths: p.paths,
			Centred: p.random.centred(),
		}
		if c.begun() {
			of.Begun = c.record(c.kept.Draws())
		}
		before := c.gradients()
		list, err := chainSpans.elsewhere(ctx, p, of, 1, func(*record) {})
		if err != nil {
			return orInterrupted(ctx, err)
		}
		made := until - c.at
		c.take(&list[0])
		p.told.step(made, c.gradients()-before)
		if err := c.keep(); err != nil {
			return err
		}
		each := time.Since(began) / time.Duration(made)
		most = max(spanFirst, min(spanMore*made, int(spanTime/max(each, 1))))
	}
	return nil
}
