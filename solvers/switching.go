package solvers

import "math"

// switching is a Method of several members, one of which makes each step: the one that Step.Member names. So a run may
// change its method from step to step, and everything that differentiates, repeats or reads a step goes to the member
// that made it, without knowing that there are others. A Step stays a function of its arguments alone, since the
// member is one of them. Who makes steps sets it (Solver), who records steps notes it (Trajectory), and who makes them
// once more sets it again (Reader, package sens for complex steps).
//
// What Info says is the widest of the members, so that what is sized by it holds a step of each. What a step of one
// member is, its nodes, the row of its last slope and the like, is in the Info of that member.
//
// The members of a program of whole steps are told apart by the addresses of their Arithmetic, as those of runs by one
// method are.
type switching struct {
	info    Info
	members []Method
	turns   int // see TakingTurns
}

// Members returns the methods of which one makes each step of m, in the order of Step.Member: m alone unless m
// switches.
func Members(m Method) []Method {
	if s, ok := m.(*switching); ok {
		return s.members
	}
	return []Method{m}
}

// Switching returns a method called name whose steps are made by any of the members, of which the first makes the
// first step. It can do what all of them can. The title and the other words are those of the first.
//
// Which of them makes a step is for the Solver to choose, by what their stability costs; see choice.
func Switching(name string, members ...*Spec) *Spec { return TakingTurns(name, 0, members...) }

// TakingTurns returns a method like that of Switching, but its members take turns, each for so many steps. It serves
// the tests of whatever differentiates, repeats or reads runs.
func TakingTurns(name string, steps int, of ...*Spec) *Spec {
	var members []*Spec
	for _, m := range of {
		if m.Members == nil {
			members = append(members, m)
		}
		members = append(members, m.Members...)
	}
	s := *members[0]
	s.Name, s.Members = name, members
	for _, m := range members[1:] {
		s.Can &= m.Can
		s.Order, s.Embedded = min(s.Order, m.Order), min(s.Embedded, m.Embedded)
	}
	for _, m := range members {
		s.Can |= m.Can & NeedsJacobian
	}
	s.Can &^= StiffnessTest | WholeSteps // of each member by itself
	s.New = func(size Size, lanes int) Method {
		c := &switching{turns: steps}
		for _, m := range members {
			c.members = append(c.members, m.New(size, lanes))
		}
		c.info = widest(name, c.members)
		return c
	}
	return &s
}

// widest describes steps that any of the members may have made.
func widest(name string, members []Method) Info {
	all := Info{Name: name, Order: math.MaxInt, Embedded: math.MaxInt, End: -1}
	rows := 0
	for _, m := range members {
		i := m.Info()
		all.Order, all.Embedded = min(all.Order, i.Order), min(all.Embedded, i.Embedded)
		all.Stages, all.Evals = max(all.Stages, i.Stages), max(all.Evals, i.Evals)
		rows = max(rows, i.Stages+i.DenseStages)
		all.DenseOrder, all.DenseDegree = max(all.DenseOrder, i.DenseOrder), max(all.DenseDegree, i.DenseDegree)
	}
	all.DenseStages = rows - all.Stages
	return all
}

// Turns returns for how many steps each member makes them in its turn; 0: they do not take turns.
func (c *switching) Turns() int { return c.turns }

func (c *switching) Info() Info { return c.info }

func (c *switching) Step(f Field, s *Step, reuse bool) { c.members[s.Member].Step(f, s, reuse) }

func (c *switching) Error(s *Step, e []float64) { c.members[s.Member].Error(s, e) }

func (c *switching) Interpolate(f Field, s *Step, theta float64, y []float64) {
	c.members[s.Member].Interpolate(f, s, theta, y)
}

func (c *switching) Push(f TangentField, s *Step, d *StepTangent) { c.members[s.Member].Push(f, s, d) }

func (c *switching) Pull(f CotangentField, s *Step, d *StepCotangent) {
	c.members[s.Member].Pull(f, s, d)
}

// The rest is of members that all have it, which Switching says and As asks.

// InterpolateSlope implements Interpolant.
func (c *switching) InterpolateSlope(f Field, s *Step, theta float64, y, yd []float64) {
	c.members[s.Member].(Interpolant).InterpolateSlope(f, s, theta, y, yd)
}

// Sampling implements Sampling.
func (c *switching) Sampling(f Field, s *Step) *Arithmetic {
	if m, ok := c.members[s.Member].(Sampling); ok {
		return m.Sampling(f, s)
	}
	return nil
}

// InterpolatePush implements Interpolant.
func (c *switching) InterpolatePush(f TangentField, s *Step, d *StepTangent, theta float64, td, yd []float64) {
	c.members[s.Member].(Interpolant).InterpolatePush(f, s, d, theta, td, yd)
}

// InterpolatePull implements Interpolant.
func (c *switching) InterpolatePull(f CotangentField, s *Step, theta float64, w, tb []float64) {
	c.members[s.Member].(Interpolant).InterpolatePull(f, s, theta, w, tb)
}

// PullPush implements SecondMethod.
func (c *switching) PullPush(f SecondField, s *Step, d *StepTangent, b *StepSecond) {
	c.members[s.Member].(SecondMethod).PullPush(f, s, d, b)
}

// InterpolatePullPush implements SecondMethod.
func (c *switching) InterpolatePullPush(
	f SecondField, s *Step, d *StepTangent, theta float64, td []float64, w, tb Dual,
) {
	c.members[s.Member].(SecondMethod).InterpolatePullPush(f, s, d, theta, td, w, tb)
}

// StepComplex implements ComplexMethod.
func (c *switching) StepComplex(f ComplexField, s *ComplexStep) {
	c.members[s.Member].(ComplexMethod).StepComplex(f, s)
}

// InterpolateComplex implements ComplexMethod.
func (c *switching) InterpolateComplex(f ComplexField, s *ComplexStep, theta complex128, y []complex128) {
	c.members[s.Member].(ComplexMethod).InterpolateComplex(f, s, theta, y)
}

// PushError implements TangentEstimator.
func (c *switching) PushError(f TangentField, s *Step, d *StepTangent, e []float64) {
	c.members[s.Member].(TangentEstimator).PushError(f, s, d, e)
}

// EachStage implements Staged.
func (c *switching) EachStage(s *Step, f func(t, weight float64, y []float64)) {
	c.members[s.Member].(Staged).EachStage(s, f)
}
