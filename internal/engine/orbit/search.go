package orbit

import (
	"fmt"
	"math"
	"math/cmplx"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"odes.dev/odes/internal/base/sizes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/steady"
)

// Runner makes runs over one period.
type Runner interface {
	// Run runs over period n of a run, counted from 0, and returns the border at its end.
	Run(n int, from *Border) (*Border, error)
	// Slopes returns how the border at the end of the last run moves with that at its start, row by row.
	Slopes() ([]float64, error)
	// Name names element i of the state that repeats at a border.
	Name(b *Border, i int) string
	// Queue names the event of a queue.
	Queue(k int) string
}

// Options say how a state is sought.
type Options struct {
	RTol   float64
	ATol   []float64 // of states; the last one holds for the others; negative: by size
	Period float64
	// Late is how many periods pass before all that repeats comes.
	Late int
	// Near tells that the search begins near a state that repeats: where that does not lead to one at once, it fails.
	Near bool
}

// Orbit is a state that repeats.
type Orbit struct {
	Border  *Border
	Periods int        // that it took to find it
	Largest complex128 // multiplier: an eigenvalue of the map's derivative; NaN where it was not found
	// Kept are sums of discretes that the map leaves what they are, whatever they are, such as the rate of an infusion
	// that is switched on and off. The run up to now decides them: it came to what they stay after Past periods from
	// Start.
	Kept  []Sum
	Past  int
	Start *Border
}

const (
	ahead  = 3   // periods before Newton's method
	atOnce = 10  // of a search that begins near a state
	more   = 20  // periods after a step that led nowhere
	most   = 400 // periods
	wait   = 1e4 // periods before all that repeats comes
	drift  = 1e-9
)

// search is the state of a search.
type search struct {
	Options
	r       Runner
	at, end *Border
	n       int       // periods since the start of the run
	past    []*Border // their borders, while no step of Newton's method was made
	count   int       // periods in all
	plain   int       // periods to come without Newton's method
	// periods in a row that ended with another structure than they began with, or with other kept values
	odd   int
	last  float64 // the size of the last step of Newton's method
	moved bool    // such a step was made

	ends, free     []*Border // of successive periods since it was tried, and of the last time when there were many
	change, before []float64
}

// Find finds the state that repeats to which a run from start leads, by shooting: Newton's method on the map over one
// period.
func Find(r Runner, start *Border, o Options) (*Orbit, error) {
	s := &search{Options: o, r: r, at: start, plain: ahead, last: math.Inf(1), past: []*Border{start}}
	if o.Late > wait {
		return nil, Unrepeated("an event that repeats comes for the first time %d periods of %s after the start; the "+
			"state before it is followed for at most %d periods: let it begin earlier", o.Late, diag.Number(o.Period),
			int(wait))
	}
	limit := most + o.Late
	if o.Near {
		s.plain, s.n, limit = 0, o.Late, atOnce
	}
	for s.count < limit {
		end, err := r.Run(s.n, s.at)
		if err != nil {
			return nil, err
		}
		s.end = end
		s.count++
		s.n++
		if !end.Alike(s.at) {
			if err := s.other(); err != nil {
				return nil, err
			}
			s.goOn()
			continue
		}
		rest := s.measure()
		if s.n <= o.Late || s.plain > 0 && rest > 1 {
			s.plain = max(s.plain-1, 0)
			s.last = math.Inf(1)
			s.goOn()
			if s.ends = append(s.ends, end); len(s.ends) == more {
				s.free = s.ends
			}
			continue
		}
		if found, err := s.newton(); found != nil || err != nil {
			return found, err
		}
	}
	if err := s.runFree(); err != nil {
		return nil, err
	}
	return nil, s.none()
}

// runFree makes periods from where the run itself had come, and returns the error that the state keeps moving there. It
// shows in them, and not where steps of Newton's method led.
func (s *search) runFree() error {
	was := *s
	s.at, s.free = s.past[len(s.past)-1], nil
	for len(s.free) < more {
		end, err := s.r.Run(s.n, s.at)
		if err != nil || !end.Alike(s.at) {
			break
		}
		s.end = end
		s.measure()
		s.at, s.n = end, s.n+1
		s.free = append(s.free, end)
	}
	if repeats, apart := s.apart(); apart {
		return &steady.Error{Fault: steady.Apart, States: s.moving(), Period: s.Period, Repeats: repeats}
	}
	*s = was
	return nil
}

// moving names what moved most in the last period.
func (s *search) moving() []string {
	return s.names(func(i int) float64 { return math.Abs(s.change[i]) / s.tolerance(i) })
}

// goOn lets the next period begin where the last one ended.
func (s *search) goOn() {
	s.at = s.end
	if !s.moved {
		s.past = append(s.past, s.at)
	}
}

// other counts a period that ended with another structure. Many in a row are an error.
func (s *search) other() error {
	s.change, s.before, s.ends = nil, nil, nil
	if s.n <= s.Late {
		return nil
	}
	if s.odd++; s.odd <= more {
		return nil
	}
	for k, n := range s.end.Waiting {
		if was := s.at.Waiting[k]; was != n {
			return Unrepeated("%s has %d executions waiting at the end of a period of %s, and %d at the end of "+
				"the next "+
				"one; equilibrate over as many periods as it takes until what waits is the same, or over one event",
				s.r.Queue(k), was, diag.Number(s.Period), n)
		}
	}
	return Unrepeated("events of one period of %s change other discretes, or hold other times, than those of the next "+
		"one; equilibrate over as many periods as it takes until they are the same", diag.Number(s.Period))
}

// tolerance returns that of element i.
func (s *search) tolerance(i int) float64 {
	x := s.at.At(i)
	if i < len(s.at.Y) {
		abs := s.ATol[min(i, len(s.ATol)-1)]
		if abs < 0 {
			abs = max(float64(float64(sizes.Part*s.RTol)*math.Max(math.Abs(x), math.Abs(s.end.At(i)))), sizes.Least)
			if i < len(s.end.Abs) {
				abs = max(abs, s.end.Abs[i])
			}
		}
		return math.FMA(s.RTol, math.Abs(x), abs)
	}
	at := s.at.Active[i-len(s.at.Y)]
	size := math.Abs(x)
	if s.at.Timed[at] {
		size = s.Period
	} else if s.end.Sizes != nil {
		size = max(size, s.end.Sizes[at])
	}
	return math.FMA(s.RTol, size, math.SmallestNonzeroFloat64)
}

// measure notes how the state changed over the last period, and returns by how many tolerances.
func (s *search) measure() (rest float64) {
	n := s.at.Len()
	s.before, s.change = s.change, make([]float64, n)
	for i := range n {
		s.change[i] = s.end.At(i) - s.at.At(i)
		if s.change[i] != 0 {
			rest = max(rest, math.Abs(s.change[i])/s.tolerance(i))
		}
	}
	return rest
}

// names returns the name of the element of the largest size.
func (s *search) names(size func(i int) float64) []string {
	worst := 0
	for i := range s.at.Len() {
		if size(i) > size(worst) {
			worst = i
		}
	}
	return []string{s.r.Name(s.at, worst)}
}

// newton tries a step of Newton's method.
func (s *search) newton() (*Orbit, error) {
	n := s.at.Len()
	byStart, err := s.r.Slopes()
	if err != nil {
		return nil, &steady.Error{Fault: steady.Broken, Cause: err}
	}
	kept := sums(len(s.at.Y), n, byStart)
	for _, k := range kept {
		if !s.stays(&k, s.at, s.end) {
			return nil, s.drifts(k.Pivot)
		}
	}
	lu, err := Closing(n, byStart, kept)
	if err != nil {
		most := s.names(func(i int) float64 { return math.Abs(s.at.At(i)) })
		return nil, &steady.Error{Fault: steady.Marginal, States: most}
	}
	delta := slices.Clone(s.change)
	for _, k := range kept {
		delta[k.Pivot] = 0
	}
	lu.Solve(delta, 1)
	size, sound := 0.0, true
	for i, x := range delta {
		if x != 0 {
			size = max(size, math.Abs(x)/s.tolerance(i))
		}
		sound = sound && x-x == 0
		if i < len(s.at.Y) {
			y := s.at.Y[i]
			sound = sound && !(y >= 0 && s.end.Y[i] >= 0 && y+x < -s.tolerance(i))
		}
	}
	if !sound || size > s.last && size > 100 {
		s.plain, s.ends = more, nil
		s.goOn()
		return nil, nil
	}
	if size <= 1e-3 || size <= 1 && size > s.last/4 {
		return s.found(byStart, kept)
	}
	s.at = s.at.Moved(delta)
	s.moved = true
	s.last = size
	return nil, nil
}

// drifts goes on where element i, which the map only adds to, has changed. After many periods that is an error.
func (s *search) drifts(i int) error {
	if s.odd++; s.odd > more {
		return Unrepeated("%s changes by %s in each period of %s, and something reads it; let it come back within the "+
			"period. What ends in a later period than it began in, such as an infusion, repeats if its end is an "+
			"event "+
			"of its own: every %[3]s from its first time", s.r.Name(s.at, i), diag.Number(s.change[i]),
			diag.Number(s.Period))
	}
	s.plain = 1
	s.goOn()
	return nil
}

// stays reports whether a sum is the same at two borders.
func (s *search) stays(k *Sum, a, b *Border) bool {
	size := 0.0
	for i, c := range k.Coefs {
		if c != 0 {
			size = max(size, math.Abs(float64(c*s.tolerance(i))))
		}
	}
	return math.Abs(k.of(a)-k.of(b)) <= size*(drift/s.RTol)
}

// found returns the state that was found, unless it is not stable.
func (s *search) found(byStart []float64, kept []Sum) (*Orbit, error) {
	o := &Orbit{Border: s.at, Periods: s.count, Kept: kept}
	var err error
	if o.Largest, err = s.multipliers(byStart, kept); err != nil || len(kept) == 0 {
		return o, err
	}
	stays := func(b *Border) bool {
		return b.Alike(s.at) && !slices.ContainsFunc(kept, func(k Sum) bool { return !s.stays(&k, b, s.at) })
	}
	h := len(s.past)
	for h > 0 && stays(s.past[h-1]) {
		h--
	}
	if h == len(s.past) {
		return nil, &steady.Error{Fault: steady.Marginal, States: []string{s.r.Name(s.at, kept[0].Pivot)}}
	}
	o.Past, o.Start = max(h, 1), s.past[0]
	return o, nil
}

// multipliers returns the largest multiplier, an eigenvalue of the derivatives where sums that are kept do not move;
// NaN where it was not found. It refuses a state that is not stable: some multiplier is not within the unit circle.
func (s *search) multipliers(byStart []float64, kept []Sum) (largest complex128, err error) {
	n := s.at.Len()
	var free []int
	for i := range n {
		if !slices.ContainsFunc(kept, func(k Sum) bool { return k.Pivot == i }) {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return 0, nil
	}
	a := mat.NewDense(len(free), len(free), nil)
	for r, i := range free {
		for c, j := range free {
			x := byStart[i*n+j]
			for _, k := range kept {
				x -= float64(byStart[i*n+k.Pivot] * k.Coefs[j])
			}
			a.Set(r, c, x)
		}
	}
	var eigen mat.Eigen
	if !eigen.Factorize(a, mat.EigenRight) {
		return cmplx.NaN(), nil
	}
	var vectors mat.CDense
	eigen.VectorsTo(&vectors)
	for k, v := range eigen.Values(nil) {
		if cmplx.Abs(v) > cmplx.Abs(largest) {
			largest = v
		}
		size := func(i int) float64 {
			if at := slices.Index(free, i); at >= 0 {
				return cmplx.Abs(vectors.At(at, k))
			}
			return 0
		}
		switch r := cmplx.Abs(v); {
		case r > 1+1e-9:
			return v, &steady.Error{Fault: steady.Unstable, Rate: math.Log(r), States: s.names(size)}
		case r > 1-1e-9:
			return v, &steady.Error{Fault: steady.Marginal, States: s.names(size)}
		}
	}
	return largest, nil
}

// none says why there is no state that repeats.
func (s *search) none() error {
	if s.change != nil && s.before == nil {
		s.before = make([]float64, len(s.change))
	}
	if n := len(s.free); n > 0 && s.change != nil { // between them no step of Newton's method moved the state
		for i := range s.change {
			s.before[i] = (s.free[n-1].At(i) - s.free[0].At(i)) / float64(n-1)
			s.change[i] = s.free[n-1].At(i) - s.free[n-2].At(i)
		}
	}
	if s.change == nil {
		return &steady.Error{Fault: steady.Slow, T: float64(float64(s.count) * s.Period)}
	}
	grows, worst := s.before != nil, 0
	for i, x := range s.change {
		grows = grows && math.Abs(x-s.before[i]) <= float64(0.05*math.Abs(x))+s.tolerance(i)
		if math.Abs(x) > math.Abs(s.change[worst]) {
			worst = i
		}
	}
	if grows {
		return &steady.Error{Fault: steady.Growing, States: s.moving(), Linear: true, Rate: s.change[worst] / s.Period}
	}
	if repeats, apart := s.apart(); apart {
		return &steady.Error{Fault: steady.Apart, States: s.moving(), Period: s.Period, Repeats: repeats}
	}
	return &steady.Error{Fault: steady.Slow, States: s.moving(), T: float64(float64(s.count) * s.Period)}
}

// apart reports whether the states at the ends of successive periods move on without coming to rest, and after how many
// periods they repeat, 0 for none.
func (s *search) apart() (repeats int, moves bool) {
	n := len(s.free)
	if n < 10 {
		return 0, false
	}
	distance := func(a, b int) float64 {
		most := 0.0
		for i := range s.free[a].Len() {
			if d := math.Abs(s.free[a].At(i) - s.free[b].At(i)); d != 0 {
				most = max(most, d/s.tolerance(i))
			}
		}
		return most
	}
	early, late := 0.0, 0.0
	for k := 1; k <= n/2; k++ {
		early, late = max(early, distance(k, k-1)), max(late, distance(n-k, n-k-1))
	}
	if late < 0.9*early {
		return 0, false
	}
	for k := 2; k <= n/2; k++ {
		if distance(n-1, n-1-k) <= 1e-3*late {
			return k, true
		}
	}
	return 0, true
}

// Unrepeated is the error of what does not repeat from one period to the next.
func Unrepeated(format string, args ...any) error {
	return &steady.Error{Fault: steady.Unrepeated, Cause: fmt.Errorf(format, args...)}
}

// Certify compares the border at the end of a period that was made otherwise with the one that was found. Sizes are the
// largest values of states in the period. The two may differ by as much as errors of runs may grow over a period.
func Certify(r Runner, found, end *Border, sizes []float64, o Options) error {
	const grown = 200 // tolerances
	if !end.Alike(found) {
		return Unrepeated("the state that was found at the start of one period does not have the structure of that at "+
			"the start of the next one: %s", difference(r, found, end))
	}
	s := &search{Options: o, r: r, at: found, end: end}
	s.measure()
	worst, most := 0, 0.0
	for i, x := range s.change {
		limit := s.tolerance(i)
		if i < len(sizes) {
			limit += float64(o.RTol * sizes[i])
		}
		if off := math.Abs(x) / limit; x != 0 && !(off <= most) {
			worst, most = i, off
		}
	}
	if most > grown {
		return Unrepeated("the state that was found does not repeat in the next period of %s: %s is %s there, "+
			"and was %s; "+
			"what depends on time must repeat with the period, as by mod(t, %[1]s)", diag.Number(o.Period),
			r.Name(found, worst), diag.Number(end.At(worst)), diag.Number(found.At(worst)))
	}
	return nil
}

// difference says in words how the structures of two borders differ.
func difference(r Runner, a, b *Border) string {
	var list []string
	for k, n := range a.Waiting {
		if b.Waiting[k] != n {
			list = append(list, fmt.Sprintf("%d and %d executions of %s wait", n, b.Waiting[k], r.Queue(k)))
		}
	}
	if list == nil {
		return "other discretes hold times, or wait to be read"
	}
	return strings.Join(list, ", ")
}
