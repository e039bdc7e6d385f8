package solvers

// Family is a set of step methods that share their code. It is the one place where its methods are registered: runs,
// settings, help, completion and the tests of this package read the families and name no method themselves.
type Family struct {
	Name string // "explicit Runge–Kutta"
	Doc  string // one sentence
	// Methods are the methods as they are without settings of their own.
	Methods []*Spec
	// Settings are those that the family takes besides the settings of every run.
	Settings []MethodSetting
	// With returns m with values of the family's settings. It returns the same Spec for the same values. An error names
	// the setting first: "stages = 60: rkc2 has 2 to 50 stages". It is nil for a family without settings.
	With func(m *Spec, values map[string]float64) (*Spec, error)
}

// MethodSetting is a setting that only some methods take.
type MethodSetting struct {
	Name string // "stages"
	Doc  string // what it does: "chooses the stages of method = rkc2"
	Not  string // why another method does not take it: "has its own"
	Any  bool   // it takes any number, and not only whole ones from 1
}

// Spec is a method whose choices are all made: what it is, what it can do, and how it is made for a system. A Spec is
// identified by its address, never changes, and may be used by many goroutines.
type Spec struct {
	Name   string // as users write it: "dopri5"
	Title  string // "Dormand–Prince 5(4)"
	Prose  string // what it is good for, and where its error estimate comes from
	Source string // citation

	Order    int // of the solution
	Embedded int // of the error estimate's other solution; 0 without an estimate

	Can Capability
	// Members are the methods among which a run chooses for each step; nil for a method that is one.
	Members []*Spec
	// New returns the method for systems of the given size, with tangents and cotangents in the given number of lanes.
	// With no lanes, nothing that has lanes may be called.
	New func(size Size, lanes int) Method
}

// Info describes the methods that s makes. The first call may do the work of deriving coefficients.
func (s *Spec) Info() Info { return s.New(Size{}, 0).Info() }
