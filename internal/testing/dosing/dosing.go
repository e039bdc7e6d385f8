// Package dosing has records of doses of a linear model, gut' = -ka*gut, body' = ka*gut - CL/V*body, and what they lead
// to by superposition of closed forms: all doses that have not been ended are added up, as far back as they go. Numbers
// are complex, so that derivatives are imaginary parts.
package dosing

import (
	"math"
	"math/cmplx"
	"math/rand/v2"
)

// Row is a row of a table. It is a measurement where EVID is 0.
type Row struct {
	Time, Amount, Rate, Length float64
	Into                       int // CMT: 1 for the gut, 2 for the body
	Kind                       int // EVID
	Period                     float64
	More, Steady               int
	Data                       float64 // of a measurement
}

// Said is what the model says of the doses into a state; nil where it says nothing.
type Said struct{ Lag, F, Length, Rate *int }

// Subject is rows, and how the model reads them. Params are ka, CL, V and what Said counts.
type Subject struct {
	Rows   []Row
	Said   [3]Said // by CMT
	Params []float64
}

// given is a dose, or an infusion where its rate is not 0.
type given struct {
	at, amount   complex128
	rate, length complex128
	into         int
}

// amount returns what is in the body at time t.
func (g *given) body(t, ka, k complex128) complex128 {
	age := t - g.at
	if real(age) < 0 {
		return 0
	}
	bolus := func(a complex128) complex128 {
		if g.into == 2 {
			return cmplx.Exp(-k * a)
		}
		return ka / (ka - k) * (cmplx.Exp(-k*a) - cmplx.Exp(-ka*a))
	}
	if g.rate == 0 {
		return g.amount * bolus(age)
	}
	flow := func(a complex128) complex128 { // since an infusion of 1 began
		if g.into == 2 {
			return (1 - cmplx.Exp(-k*a)) / k
		}
		return ka / (ka - k) * ((1-cmplx.Exp(-k*a))/k - (1-cmplx.Exp(-ka*a))/ka)
	}
	left := g.rate * flow(age)
	if after := age - g.length; real(after) > 0 {
		left -= g.rate * flow(after)
	}
	return left
}

// forgotten is after how many time constants nothing is left of a dose.
const forgotten = 45

// Concentrations returns those of the measurements, in their order.
func (s *Subject) Concentrations(p []complex128) (list []complex128) {
	ka, k, v := p[0], p[1]/p[2], p[2]
	slowest := min(real(ka), real(k))
	var doses []given
	value := func(at *int, usual complex128) complex128 {
		if at == nil {
			return usual
		}
		return p[*at]
	}
	last := math.Inf(-1)
	for _, r := range s.Rows {
		if r.Time < last { // another occasion
			doses = nil
		}
		last = r.Time
		if r.Kind == 0 {
			var sum complex128
			for i := range doses {
				sum += doses[i].body(complex(r.Time, 0), ka, k)
			}
			list = append(list, sum/v)
			continue
		}
		if r.Kind >= 3 {
			doses = nil
		}
		if r.Kind != 1 && r.Kind != 4 {
			continue
		}
		said := s.Said[r.Into]
		d := given{into: r.Into, amount: value(said.F, 1) * complex(r.Amount, 0)}
		switch {
		case r.Rate > 0:
			d.rate = complex(r.Rate, 0)
			d.length = d.amount / d.rate
		case r.Rate == -1:
			d.rate = value(said.Rate, 0)
			d.length = d.amount / d.rate
		case r.Rate == -2:
			d.length = value(said.Length, 0)
			d.rate = d.amount / d.length
		case r.Length > 0:
			d.length = complex(r.Length, 0)
			d.rate = d.amount / d.length
		}
		if r.Steady == 1 {
			doses = nil
		}
		if r.Amount == 0 { // a constant infusion until the record
			d.length = complex(forgotten/slowest, 0)
			d.at = complex(r.Time, 0) - d.length
			doses = append(doses, d)
			continue
		}
		first := complex(r.Time, 0) + value(said.Lag, 0)
		if r.Steady > 0 {
			for n := 1.0; ; n++ {
				d.at = first - complex(n*r.Period, 0)
				if doses = append(doses, d); (r.Time-real(d.at)-real(d.length))*slowest > forgotten {
					break
				}
			}
		}
		for n := range r.More + 1 {
			d.at = first + complex(float64(n)*r.Period, 0)
			doses = append(doses, d)
		}
	}
	return list
}

// Misfit returns half the sum of squares of residuals, and its derivatives by the params.
func (s *Subject) Misfit() (value float64, slopes []float64) {
	const tiny = 1e-30
	p := make([]complex128, len(s.Params))
	for k := range p {
		for i, x := range s.Params {
			p[i] = complex(x, 0)
		}
		p[k] += complex(0, tiny)
		var sum complex128
		n := 0
		for _, r := range s.Rows {
			if r.Kind != 0 {
				continue
			}
			e := s.Concentrations(p)[n] - complex(r.Data, 0)
			sum += e * e / 2
			n++
		}
		value, slopes = real(sum), append(slopes, imag(sum)/tiny)
	}
	return value, slopes
}

// Draw returns a subject with random rows, whose times lie on a grid, so that records and measurements meet. Lags and
// durations do not.
func Draw(r *rand.Rand) *Subject {
	s := &Subject{Params: []float64{0.6 + r.Float64(), 1 + 3*r.Float64(), 10 + 20*r.Float64()}}
	param := func(x float64) *int {
		s.Params = append(s.Params, x)
		n := len(s.Params) - 1
		return &n
	}
	for into := 1; into <= 2; into++ {
		said := &s.Said[into]
		if r.IntN(2) == 0 {
			said.Lag = param(7.03 * r.Float64() * r.Float64())
		}
		if r.IntN(2) == 0 {
			said.F = param(0.3 + r.Float64())
		}
		if r.IntN(2) == 0 {
			said.Length = param(0.2 + 9*r.Float64()*r.Float64())
		}
		if r.IntN(2) == 0 {
			said.Rate = param(10 + 50*r.Float64())
		}
	}
	time := 0.0
	records, measured := 1+r.IntN(5), 0
	if r.IntN(4) == 0 {
		records++
	}
	for len(s.Rows) < 5*records || measured == 0 {
		if r.IntN(3) > 0 {
			time += float64(r.IntN(8)) / 2
		}
		if r.IntN(3) > 0 {
			s.Rows = append(s.Rows, Row{Time: time, Into: 2, Data: 5 * r.Float64()})
			measured++
			continue
		}
		row := Row{Time: time, Into: 1 + r.IntN(2), Kind: 1, Amount: float64(20 + r.IntN(100))}
		said := s.Said[row.Into]
		switch r.IntN(8) {
		case 0:
			row.Kind, row.Amount = 3, 0
			s.Rows = append(s.Rows, row)
			continue
		case 1:
			row.Kind = 4
			if r.IntN(3) == 0 {
				time = 0
				row.Time = 0
			}
		}
		switch n := r.IntN(5); {
		case n == 0:
			row.Rate = 7 + 40*r.Float64()
		case n == 1:
			row.Length = 0.21 + 6*r.Float64()
		case n == 2 && said.Rate != nil:
			row.Rate = -1
		case n == 3 && said.Length != nil:
			row.Rate = -2
		}
		switch r.IntN(4) {
		case 0:
			row.More, row.Period = 1+r.IntN(4), float64(1+r.IntN(12))/2
		case 1:
			row.Steady, row.Period = 1+r.IntN(2), []float64{3, 4, 6, 8, 12}[r.IntN(5)]
			row.More = r.IntN(3)
			if r.IntN(6) == 0 && row.Rate > 0 {
				row.Amount, row.Period, row.More = 0, 0, 0
			}
		}
		s.Rows = append(s.Rows, row)
	}
	return s
}
