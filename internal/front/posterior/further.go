package posterior

import (
	"context"
	"math"

	"odes.dev/odes/internal/base/sample"
)

// Searches that end at modes found before tell that few are left to be found: by I. J. Good and A. Turing (Biometrika
// 40:237, 1953), the share of searches that would end at modes unseen is about that of the searches whose mode no other
// found. So searching goes on as long as that share is large, and the model is cheap enough.

// Numbers of that.
const (
	furtherSteps  = 7    // gradients of an iteration of the warm-up, by which work is counted
	furtherOnce   = 0.03 // the share of the warm-up for further searches in any case
	furtherDoubt  = 0.1  // and where modes may be left
	furtherEnough = 3    // times the first searches, if all is well
	furtherMost   = 10   // and in any case
	unseenLittle  = 0.05
	unseenTooMany = 0.2
)

// unseen is the share of searches that would end at modes which none has found.
type unseen struct {
	searches, once, modes int // modes of enough mass, and those of them that one search found
}

func (u *unseen) share() float64 {
	if u.modes < 2 {
		return 0
	}
	return float64(u.once) / float64(u.searches)
}

// unseenOf counts modes.
func unseenOf(modes []*Mode, searches int) unseen {
	u, most := unseen{searches: searches}, math.Inf(-1)
	for _, m := range modes {
		most = max(most, m.mass())
	}
	const least = 4.6 // a hundredth
	for _, m := range modes {
		if m.mass() < most-least {
			continue
		}
		u.modes++
		if m.Found == 1 {
			u.once++
		}
	}
	return u
}

// searchOn goes on with searches, whose first found modes by so many gradients, and lists all modes. It returns how
// many more gradients that took. How many searches there are does not depend on time.
func (p *problem) searchOn(ctx context.Context, r *Result, found []*Mode, spent int) (more int, err error) {
	s := &p.settings
	modes, n := joined(nil, found, 0), len(found)
	warmup := float64(furtherSteps * s.Chains * s.Warmup)
	for p.further && len(modes) > 0 && len(p.coords) <= sample.MaxSobol {
		u := unseenOf(modes, n)
		may, most := furtherOnce, furtherEnough*s.Starts
		if u.share() > unseenLittle {
			may, most = furtherDoubt, furtherMost*s.Starts
		}
		each := max((spent+more)/n, 1)
		count := min(s.Starts, (int(may*warmup)-more)/each, most-n)
		if count <= 0 {
			break
		}
		p.told.more(count)
		list, cost, err := (&round{From: n - len(found) + 1}).all(ctx, p, count)
		if err != nil {
			return 0, err
		}
		more += cost
		// Where a mode is known, what was found first stays.
		const higher = 0.01
		modes, n = joined(modes, list, higher), n+count
	}
	r.unseen = unseenOf(modes, n)
	p.list(r, modes)
	return more, nil
}

// concludeUnseen says that modes may be left.
func (r *Result) concludeUnseen() {
	u := &r.unseen
	share := u.share()
	if len(r.Modes) == 0 || share <= unseenLittle {
		return
	}
	say := r.notef
	if share > unseenTooMany {
		say = r.partial
	}
	say("of %d modes, %d were found by one search of %d each: a share of about %.2g of further searches would end at "+
		"modes that are missing here; search more: --sample.starts=%d", u.modes, u.once, u.searches, share,
		4*u.searches)
}
