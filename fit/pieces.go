package fit

import (
	"context"
	"errors"
	"sync"
)

// A fit has pieces of work that depend on nothing but the problem and their numbers: searches from one start each, and
// refits to rows drawn again. Goroutines of this process make them, or a Backend does, with the same bits.

// pieces are all that there are of a kind.
type pieces struct {
	p *problem
	n int
	// from is where all refits begin, as coordinates; nil for searches, each of which begins at its own point.
	from   []float64
	points [][]float64
}

// searches returns the pieces that are searches.
func (p *problem) searches() (pieces, error) {
	points, err := p.points()
	return pieces{p: p, n: len(points), points: points}, err
}

// refits returns the pieces that are refits from x.
func (p *problem) refits(x []float64) pieces {
	return pieces{p: p, n: p.settings.Bootstrap, from: x}
}

// piece makes one of them.
func (of pieces) piece(ctx context.Context, e *evaluator, number int) Start {
	if of.from != nil {
		return of.p.refit(ctx, e, of.from, number)
	}
	if by := (coach{of.p}); by.trains() {
		return by.trainedFrom(ctx, e, number, of.points[number])
	}
	if of.p.settings.Algorithm == saem {
		return stochastic{of.p}.approached(ctx, e, number, of.points[number])
	}
	return of.p.from(ctx, e, number, of.points[number])
}

// make makes those with some numbers, as many at a time as there are workers, and hands each to made, one at a time.
func (of pieces) make(ctx context.Context, numbers []int, made func(Start)) error {
	if len(numbers) == 0 {
		return nil
	}
	if of.p.opts.Backend != nil {
		return of.elsewhere(ctx, numbers, made)
	}
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	var failed error
	for range min(of.p.opts.workers(), len(numbers)) {
		wait.Go(func() {
			e, err := of.p.borrow()
			if err != nil {
				mu.Lock()
				failed = err
				mu.Unlock()
				for range next { //nolint:revive // the others are let go
				}
				return
			}
			defer of.p.giveBack(e)
			for i := range next {
				s := of.piece(ctx, e, i)
				mu.Lock()
				made(s)
				mu.Unlock()
			}
		})
	}
	for _, i := range numbers {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	wait.Wait()
	return failed
}

// elsewhere lets the backend make them. When ctx ends, those that came until then are what there is.
func (of pieces) elsewhere(ctx context.Context, numbers []int, made func(Start)) error {
	missing := map[int]bool{}
	for _, i := range numbers {
		missing[i] = true
	}
	err := of.p.opts.Backend.Make(ctx, of.job(), numbers, func(s Start) {
		if !missing[s.Number] { // it comes twice, or was made before
			return
		}
		delete(missing, s.Number)
		if s.From == nil && of.points != nil { // nobody came to an end with it
			s.From = of.p.values(of.points[s.Number])
		}
		made(s)
	})
	switch {
	case ctx.Err() != nil:
		return nil
	case err == nil && len(missing) > 0:
		return errors.New("some searches were never made")
	}
	return err
}
