package truth

import (
	"math"
	"sort"
)

// term is c·s^n·exp(r·s), s being the time since its piece began.
type term struct {
	c, r num
	n    int
}

// piece is a sum of terms over a stretch of time.
type piece struct {
	from, to num
	jump     num // an amount that arrives at once at the start of the piece
	terms    []term
}

// signal is a function of time in contiguous pieces. Sums, products, and what a first-order process makes of a signal,
// are signals again, so a run of any length has a closed form.
type signal []piece

// at returns the value s after the start of the piece.
func (p piece) at(s num) num {
	var sum num
	for _, t := range p.terms {
		x := t.c.mul(t.r.mul(s).exp())
		for range t.n {
			x = x.mul(s)
		}
		sum = sum.add(x)
	}
	return sum
}

// end returns the value at the end of the piece.
func (p piece) end() num { return p.at(p.to.sub(p.from)) }

// last returns the value of a signal at its end.
func (u signal) last() num { return u[len(u)-1].end() }

// value returns the value at a time within the span.
func (u signal) value(t num) num {
	i := sort.Search(len(u), func(i int) bool { return u[i].from.re() > t.re() })
	p := u[max(0, i-1)]
	return p.at(t.sub(p.from))
}

// since returns the piece as one that begins at a later time.
func (p piece) since(from num) piece {
	d := from.sub(p.from)
	out := piece{from: from, to: p.to}
	for _, t := range p.terms {
		c := t.c.mul(t.r.mul(d).exp())
		// c (s + d)^n = c Σ binom(n, j) s^j d^(n-j)
		binomial := 1.0
		for j := t.n; j >= 0; j-- {
			out.terms = append(out.terms, term{c: c.times(binomial), r: t.r, n: j})
			c = c.mul(d)
			binomial = binomial * float64(j) / float64(t.n-j+1)
		}
	}
	return out
}

// cut returns u in pieces that also end at the times at.
func (u signal) cut(at []num) signal {
	var out signal
	for _, p := range u {
		first := len(out)
		out = append(out, p)
		for _, t := range at {
			if last := &out[len(out)-1]; t.re() > last.from.re() && t.re() < last.to.re() {
				next := last.since(t)
				last.to = t
				out = append(out, next)
			}
		}
		out[first].jump = p.jump
	}
	return out
}

func (u signal) starts() []num {
	var list []num
	for _, p := range u[1:] {
		list = append(list, p.from)
	}
	return list
}

// with joins two signals over the same span, piece by piece.
func (u signal) with(v signal, join func(a, b []term) []term) signal {
	u, v = u.cut(v.starts()), v.cut(u.starts())
	for i := range u {
		u[i].terms = join(u[i].terms, v[i].terms)
		u[i].jump = u[i].jump.add(v[i].jump)
	}
	return u
}

func (u signal) add(v signal) signal {
	return u.with(v, func(a, b []term) []term { return append(append([]term(nil), a...), b...) })
}

func (u signal) mul(v signal) signal {
	return u.with(v, func(a, b []term) []term {
		var out []term
		for _, x := range a {
			for _, y := range b {
				out = append(out, term{c: x.c.mul(y.c), r: x.r.add(y.r), n: x.n + y.n})
			}
		}
		return out
	})
}

func (u signal) times(f num) signal {
	out := append(signal(nil), u...)
	for i, p := range u {
		out[i].terms = nil
		for _, t := range p.terms {
			t.c = t.c.mul(f)
			out[i].terms = append(out[i].terms, t)
		}
		out[i].jump = p.jump.mul(f)
	}
	return out
}

// through returns the solution of y' = -k y + u, y = y0 at the start.
func (u signal) through(k, y0 num) signal {
	var out signal
	y := y0
	for _, p := range u {
		y = y.add(p.jump)
		q := piece{from: p.from, to: p.to}
		for _, t := range p.terms {
			gap := t.r.add(k)
			if gap.isZero() {
				q.terms = append(q.terms, term{c: t.c.times(1 / float64(t.n+1)), r: t.r, n: t.n + 1})
				continue
			}
			// exp(rs) Σ (-1)^j n!/(n-j)! s^(n-j) / gap^(j+1) solves it but for the value at 0.
			c := t.c.div(gap)
			for j := 0; j <= t.n; j++ {
				q.terms = append(q.terms, term{c: c, r: t.r, n: t.n - j})
				c = c.times(-float64(t.n - j)).div(gap)
			}
		}
		q.terms = append(q.terms, term{c: y.sub(q.at(num{})), r: k.neg()})
		out = append(out, q)
		y = q.end()
	}
	return out
}

// integral returns the integral over the span.
func (u signal) integral() num { return u.through(num{}, num{}).last() }

// between returns the part of u within [a, b].
func (u signal) between(a, b num) signal {
	var out signal
	for _, p := range u.cut([]num{a, b}) {
		if p.from.re() >= a.re() && p.to.re() <= b.re() {
			out = append(out, p)
		}
	}
	return out
}

// size returns about the integral of |u|, jumps included.
func (u signal) size() float64 {
	const samples = 16
	sum := 0.0
	for _, p := range u {
		h := (p.to.re() - p.from.re()) / samples
		for i := range samples {
			sum += h * math.Abs(p.at(lit((float64(i)+0.5)*h)).re())
		}
		sum += math.Abs(p.jump.re())
	}
	return sum
}

// constant is a signal of one value.
func constant(from, to, v num) signal { return signal{{from: from, to: to, terms: []term{{c: v}}}} }

// levels returns a signal that is level[0] first, and level[i+1] from the time at[i]. The times ascend; those outside
// of the span do not matter.
func levels(from, to num, at, level []num) signal {
	out := constant(from, to, level[0])
	for i, t := range at {
		p := piece{from: t, to: to, terms: []term{{c: level[i+1]}}}
		switch {
		case t.re() <= from.re():
			p.from = from
			out = signal{p}
		case t.re() < to.re():
			out[len(out)-1].to = t
			out = append(out, p)
		}
	}
	return out
}

// knots returns the signal that is linear between points, and constant outside of them.
func knots(from, to num, t, y []num) signal {
	n := len(t)
	whole := signal{{from: t[0].plus(-1).sub(to).add(from), to: t[0], terms: []term{{c: y[0]}}}}
	for i := range n - 1 {
		slope := y[i+1].sub(y[i]).div(t[i+1].sub(t[i]))
		whole = append(whole, piece{from: t[i], to: t[i+1], terms: []term{{c: y[i]}, {c: slope, n: 1}}})
	}
	whole = append(whole, piece{from: t[n-1], to: t[n-1].plus(1).add(to).sub(from), terms: []term{{c: y[n-1]}}})
	if first := &whole[0]; first.from.re() > from.re() {
		first.from = from
	}
	if last := &whole[len(whole)-1]; last.to.re() < to.re() {
		last.to = to
	}
	return whole.between(from, to)
}

// wave returns offset + amplitude·cos(om·t + phase).
func wave(from, to, offset, amplitude, om, phase num) signal {
	angle := om.mul(from).add(phase)
	half := amplitude.times(0.5)
	turn := om.scale(1i)
	return signal{{from: from, to: to, terms: []term{
		{c: offset},
		{c: half.mul(angle.scale(1i).exp()), r: turn},
		{c: half.mul(angle.scale(-1i).exp()), r: turn.neg()},
	}}}
}

// impulses returns a signal of amounts that arrive at times, which ascend.
func impulses(from, to num, at, amount []num) signal {
	out := constant(from, to, num{})
	for i, t := range at {
		switch {
		case t.re() < from.re() || t.re() > to.re():
		case t.re() == out[len(out)-1].from.re():
			last := &out[len(out)-1]
			last.jump = last.jump.add(amount[i])
		default:
			out[len(out)-1].to = t
			out = append(out, piece{from: t, to: to, jump: amount[i], terms: []term{{}}})
		}
	}
	return out
}
