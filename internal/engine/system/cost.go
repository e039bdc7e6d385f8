package system

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
	l := p.Model.layout
	at := backStage
	if n := l.NY + l.NQ; n > smallEval || n*k.lanes > smallPull {
		at += backLarge
	}
	at += cost(k.pull.Get(tapec.PartRates), backInstr, backFlop) + float64(backSum*p.sums(k.lanes)) +
		float64(deferred*k.plan.cost(k.lanes)) + p.onceAStep(cost(k.pull.Get(tapec.PartJacobian), backInstr, backFlop))
	return float64(float64(sweeps)*at) + cost(k.shared, backInstr, backFlop)
}

// Prices returns what the rates and their Jacobian take, by counting; see solvers.Priced.
func (k *Kit) Prices() (rates, jacobian float64) {
	const call = 20
	rates = call + cost(k.value.Get(tapec.PartRates), forthInstr, forthFlop)
	if j := k.value.Get(tapec.PartJacobian); j != nil {
		jacobian = call + cost(j, forthInstr, forthFlop)
	}
	return rates, jacobian
}

// TangentCost estimates the nanoseconds that sweeps with the tangents of k take for one stage of a
// step, by counting.
func (p *Task) TangentCost(k *Kit, sweeps int) float64 {
	at := forthStage + float64(forthLane*float64(k.lanes)) + cost(k.push.Get(tapec.PartRates), forthInstr, forthFlop) +
		float64(forthSum*p.sums(k.lanes)) + p.onceAStep(cost(k.push.Get(tapec.PartJacobian), forthInstr, forthFlop))
	return float64(float64(sweeps) * at)
}

// onceAStep returns a stage's part of what is done once a step.
func (p *Task) onceAStep(cost float64) float64 { return cost / float64(max(p.StepStages, 1)) }

// sums estimates the operations of the method's own sums at a stage: on average they run over half of
// the stages.
func (p *Task) sums(lanes int) float64 {
	return float64(2 * (p.StepStages + 2) * p.Model.layout.NY * lanes)
}

// cost estimates what a program takes.
func cost(p *program, instr, flop float64) float64 {
	if p == nil {
		return 0
	}
	s := p.code.Stats()
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
