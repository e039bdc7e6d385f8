package compiled

import "odes.dev/odes/tapec"

// The cost of a stage, in nanoseconds. The numbers are fitted to the examples, each with several
// choices of objectives and variables, on one machine (docs/methods-derivatives.md). Only their proportions matter.
const (
	backStage = 50.0  // a stage of a sweep backwards, of a small model
	backLarge = 110.0 // in addition, where vectors are bound anew for each call
	backInstr = 2.9
	backFlop  = 0.029
	backSum   = 0.1 // an operation of the method's own sums
	deferred  = 0.015

	forthStage = 72.0 // a stage of a sweep forwards
	forthLane  = 8.8
	forthInstr = 3.1
	forthFlop  = 0.018
	forthSum   = 0.14
)

// AdjointCost estimates the nanoseconds that sweeps with the transposes of k take for one stage of a
// step. It counts in programs and reads no clock, so that it is the same on every machine.
func (p *Task) AdjointCost(k *Kit, sweeps int) float64 {
	l := p.Model.Layout
	at := backStage
	if n := l.NY + l.NQ; n > SmallEval || n*k.Lanes > SmallPull {
		at += backLarge
	}
	at += cost(k.Pull.Get(tapec.PartRates), backInstr, backFlop) + float64(backSum*p.sums(k.Lanes)) +
		float64(deferred*k.Plan.cost(k.Lanes)) + p.onceAStep(cost(k.Pull.Get(tapec.PartJacobian), backInstr, backFlop))
	return float64(float64(sweeps)*at) + cost(k.Shared, backInstr, backFlop)
}

// Prices returns what the rates and their Jacobian take, by counting; see hybrid.Priced.
func (k *Kit) Prices() (rates, jacobian float64) {
	const call = 20
	rates = call + cost(k.Value.Get(tapec.PartRates), forthInstr, forthFlop)
	if j := k.Value.Get(tapec.PartJacobian); j != nil {
		jacobian = call + cost(j, forthInstr, forthFlop)
	}
	return rates, jacobian
}

// TangentCost estimates the nanoseconds that sweeps with the tangents of k take for one stage of a
// step, by counting.
func (p *Task) TangentCost(k *Kit, sweeps int) float64 {
	at := forthStage + float64(forthLane*float64(k.Lanes)) + cost(k.Push.Get(tapec.PartRates), forthInstr, forthFlop) +
		float64(forthSum*p.sums(k.Lanes)) + p.onceAStep(cost(k.Push.Get(tapec.PartJacobian), forthInstr, forthFlop))
	return float64(float64(sweeps) * at)
}

// onceAStep returns a stage's part of what is done once a step.
func (p *Task) onceAStep(cost float64) float64 { return cost / float64(max(p.StepStages, 1)) }

// sums estimates the operations of the method's own sums at a stage: on average they run over half of
// the stages.
func (p *Task) sums(lanes int) float64 {
	return float64(2 * (p.StepStages + 2) * p.Model.Layout.NY * lanes)
}

// cost estimates what a program takes.
func cost(p *Program, instr, flop float64) float64 {
	if p == nil {
		return 0
	}
	s := p.Code.Stats()
	return float64(instr*float64(s.Instructions)) + float64(flop*float64(s.Flops))
}

// cost counts the operations of the products that are done for many stages at once, per stage.
func (p *plan) cost(lanes int) float64 {
	n := 0.0
	for _, d := range p.deferred {
		n += float64(2 * d.rows * d.cols * lanes)
	}
	return n
}

// Binding the vectors of a small model costs more than running its calls: they are copied to memory that stays bound.
// These are the largest vectors for which that pays.
const (
	SmallEval = 16
	SmallPull = 32
)
