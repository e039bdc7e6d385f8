package solvers

import "slices"

// Lagged is a System whose functions read states at earlier times, from a record of the run. Which piece of it is read
// is decided for a whole step, so that nothing depends on the side of a jump on which a rounded time lies.
type Lagged interface {
	System
	// Opens begins a record: of a run by m from state y at t. The error says why there can be none.
	Opens(m Method, t float64, y []float64) error
	// Over tells that what is evaluated next belongs to the step from t to t1, or if these are the same, behind t.
	Over(t, t1 float64)
	// Next returns how long a step from t may be to read nothing that it makes itself, and the first time behind t at
	// which what it reads is not smooth. An error: no step is as short, but least at least, or fixed unless that is 0.
	Next(t, fixed, least float64) (longest, stop float64, err error)
	// Cut returns whether the trial step tr, which is accurate enough, is made again: of length h, or as it is for 0.
	Cut(tr *Step) (h float64, again bool)
	// Made takes an accepted step with its end and all rows. It reports what may be other behind it.
	Made(s *Step, e End) (Broke, error)
	// Marked takes a mark behind the steps that were made.
	Marked(m *Mark) error
}

// Broke is what changes where a jump comes back of the past.
type Broke uint8

// The kinds of Broke; a condition changes with rates only.
const (
	BrokeNothing Broke = iota
	BrokeRates
	BrokeConditions // of an event or a mode
)

// Remembering is a Method whose steps a Lagged system can read later.
type Remembering interface {
	Method
	// Remembers reports whether a run by it can read its past: the order of the dense output does not spoil that of
	// steps, but makes that of implicit ones its own and one, and no stage reads beyond its step what no step has made
	// yet.
	Remembers() bool
	// StageTangents returns the tangents of the rows of K of the last Push, of s with d. They are overwritten later.
	StageTangents(f TangentField, s *Step, d *StepTangent) []float64
	// RecallPush is InterpolatePush of a step of which StageTangents returned kd, when others have been pushed
	// meanwhile.
	RecallPush(s *Step, d *StepTangent, theta float64, kd, td, yd []float64)
	// DenseSeeds returns what InterpolatePull keeps for the next Pull. Who takes it makes Sown false.
	DenseSeeds() *Seeds
}

// Remembers reports whether a run by s can read its past; see Remembering.
func (s *Spec) Remembers() bool {
	return !slices.ContainsFunc(Members(s.New(Size{N: 1}, 0)), func(m Method) bool {
		one, ok := m.(Remembering)
		return !ok || !one.Remembers()
	})
}

// MakerOf returns the method that made s: m, or one of its members.
func MakerOf(m Method, s *Step) Method {
	if c, ok := m.(*switching); ok {
		return c.members[s.Member]
	}
	return m
}

// Tangents returns the tangents of the rows of K of the last Push of m, of s with d. They are overwritten later.
func Tangents(m Method, f TangentField, s *Step, d *StepTangent) []float64 {
	return MakerOf(m, s).(Remembering).StageTangents(f, s, d)
}

// RecallPush is InterpolatePush of a step of m of which Tangents returned kd, when others have been pushed meanwhile.
func RecallPush(m Method, s *Step, d *StepTangent, theta float64, kd, td, yd []float64) {
	MakerOf(m, s).(Remembering).RecallPush(s, d, theta, kd, td, yd)
}

// SeedsOf returns what InterpolatePull of m keeps for the Pull of s. Who takes it makes Sown false.
func SeedsOf(m Method, s *Step) *Seeds { return MakerOf(m, s).(Remembering).DenseSeeds() }
