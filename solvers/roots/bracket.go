package roots

import "math"

// Firing says what guards do at values that a sample has.
type Firing interface {
	// Fires reports whether guard i fires at p.
	Fires(i int, p *Sample) bool
	// Falls reports whether guard i fires where it becomes negative.
	Falls(i int) bool
}

// Bracket encloses the first root of some guards: nothing fires at Lo, and something does at Hi.
type Bracket struct {
	Lo, Hi *Sample
	Mid    *Sample // what was read last, between them
	Of     Firing
	Guards int
}

// NewBracket returns a bracket for so many guards.
func NewBracket(guards int, of Firing) Bracket {
	return Bracket{Lo: NewSample(guards), Hi: NewSample(guards), Mid: NewSample(guards), Of: of, Guards: guards}
}

// Any reports whether a guard fires at p.
func (b *Bracket) Any(p *Sample) bool {
	for i := range b.Guards {
		if b.Of.Fires(i, p) {
			return true
		}
	}
	return false
}

// Raise makes Mid the end where something fires.
func (b *Bracket) Raise() { b.Hi, b.Mid = b.Mid, b.Hi }

// Lower makes Mid the end where nothing fires.
func (b *Bracket) Lower() { b.Lo, b.Mid = b.Mid, b.Lo }

// Steepness returns the largest magnitude of the slopes that guards have over the bracket, of those that fire at its
// end.
func (b *Bracket) Steepness() (largest float64) {
	for i := range b.Guards {
		if b.Of.Fires(i, b.Hi) {
			largest = max(largest, math.Abs(b.Hi.Rho[i]-b.Lo.Rho[i])/(b.Hi.H-b.Lo.H))
		}
	}
	return largest
}

// Secant returns the least estimate of a root among the guards that fire at Hi, by the lines through the values at the
// ends times these weights.
func (b *Bracket) Secant(wlo, whi float64) float64 {
	lo, hi := b.Lo, b.Hi
	gap := hi.H - lo.H
	best := math.Inf(1)
	for i := range b.Guards {
		if !b.Of.Fires(i, hi) {
			continue
		}
		flo, fhi := float64(wlo*lo.Rho[i]), float64(whi*hi.Rho[i])
		if b.Of.Falls(i) {
			flo, fhi = -flo, -fhi
		}
		c := lo.H + float64(0.5*gap)
		if flo <= 0 && fhi >= 0 && flo < fhi {
			c = math.FMA(gap, -flo/(fhi-flo), lo.H)
		}
		best = min(best, c)
	}
	return best
}

// Shrink narrows the bracket to a width by the secant through its ends, with the Illinois rule (M. Dowell, P. Jarratt,
// BIT 11 (1971) 168–174), and halving where that is slow. read reads the guards at a length into Mid; Shrink returns
// false where it does. raised is called when what was read becomes the end where something fires; nil for nothing.
func (b *Bracket) Shrink(width float64, read func(h float64) bool, raised func()) bool {
	weight, side, slow := 1.0, 0, 0 // weight of the end opposite to side
	for {
		gap := b.Hi.H - b.Lo.H
		if gap <= width {
			return true
		}
		wlo, whi := 1.0, 1.0
		if side > 0 {
			wlo = weight
		} else if side < 0 {
			whi = weight
		}
		c := b.Secant(wlo, whi)
		if slow > 2 {
			c, slow = b.Lo.H+float64(0.5*gap), 0
		}
		keep := min(width, float64(0.5*gap))
		c = max(min(c, b.Hi.H-keep), b.Lo.H+keep)
		if !(c > b.Lo.H && c < b.Hi.H) {
			return true
		}
		if !read(c) {
			return false
		}
		now := -1
		if b.Any(b.Mid) {
			now = 1
		}
		if now == side {
			weight *= 0.5
		} else {
			weight, side = 1, now
		}
		if now > 0 {
			if b.Raise(); raised != nil {
				raised()
			}
		} else {
			b.Lower()
		}
		if b.Hi.H-b.Lo.H > float64(0.5*gap) {
			slow++
		} else {
			slow = 0
		}
	}
}
