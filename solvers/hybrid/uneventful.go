package hybrid

import (
	"math"

	"odes.dev/odes/solvers/lanes"
	"odes.dev/odes/solvers/roots"
)

// Most steps are uneventful: no guard fires, and none can hide a root. What shows that soonest is asked first: calm
// asks the ranges of the guards that lanes have, uneventful their values at the nodes, survey the ranges of samples.
// Each does then what watch does, or leaves it to watch, to the same bits.

// readNodes reads the guards at the nodes of the trial step all at once. It reports whether the system can.
func (s *watcher) readNodes() bool {
	if s.known() {
		return true
	}
	s.lane.load()
	if s.reading.sys == nil || len(s.boxes.States) > 0 {
		return false
	}
	tr := s.trial
	made := tr.Dense
	ok := s.reading.by.ReadGuards(s.reading.sys, tr, s.NodeRho, s.NodeTruth)
	if tr.Dense && !made {
		s.stats.Evals += s.info.DenseStages
	}
	return ok
}

// calm reports whether the lane of the run shows that survey would find the trial step still, or that plain guards are
// uneventful, and does then what watch does. It takes no samples, of which the end of a step may want to know.
func (s *watcher) calm() bool {
	a, n := s.lane, len(s.guards)
	if a == nil || a.apart || a.guards == nil || s.anyRest || len(s.boxes.Guards) > 0 || !s.inside() {
		return false
	}
	end := (len(s.Nodes) - 2) * n
	ranges := a.guards[2*(end+n)*lanes.Count:]
	at := func(row, i int) float64 { return ranges[(row*n+i)*lanes.Count] }
	near := false // some guards are not far from zero
	for i, start := range s.rho {
		truth := 0.0
		if s.truth[i] {
			truth = 1
		}
		if at(2, i) != truth || at(3, i) != truth {
			return false
		}
		low, high := at(0, i), at(1, i)
		s.Low[i], s.High[i] = min(low, start), max(high, start)
		if still, unmoved := s.still(i); !still {
			if !s.plain || !unmoved {
				return false
			}
			if !near {
				near = true
				copy(s.granted, s.Credit)
			}
			s.Values[0] = start
			for j := range s.N {
				s.Values[j+1] = a.guards[(j*n+i)*lanes.Count]
			}
			if !s.unhidden(i, s.Low[i], s.High[i]) {
				return false
			}
		}
		s.reach[i] = max(s.reach[i], high, -low)
	}
	if near {
		copy(s.Credit, s.granted)
	}
	lanes.Gather(s.rho, a.guards[end*lanes.Count:])
	s.retaken = 0
	return true
}

// known has the guards at the nodes of the trial step from the lane of the run, if that knows them.
func (s *watcher) known() bool {
	n := (len(s.Nodes) - 1) * len(s.guards)
	return s.lane.readGuards(s.NodeRho[:n], s.NodeTruth[:n])
}

// uneventful reports whether the guards at the nodes of the trial step, which are known, show that nothing fires in it
// and that nothing is hidden between them: the usual case, where all guards are plain, without the samples that watch
// takes. It does then what watch does.
func (s *watcher) uneventful() bool {
	if !s.plain || len(s.boxes.Guards) > 0 {
		return false
	}
	for i := range s.guards {
		if !s.waits(i) {
			return false
		}
	}
	end := (len(s.Nodes) - 2) * len(s.guards)
	for i := range s.guards {
		s.reach[i] = max(s.reach[i], s.High[i], -s.Low[i])
	}
	if s.warns() {
		s.misses.look(s)
	}
	copy(s.arms, s.live)
	copy(s.Credit, s.granted)
	copy(s.rho, s.NodeRho[end:])
	copy(s.truth, s.NodeTruth[end:])
	if s.anyRest {
		s.anyRest = false
		for i := range s.resting {
			s.resting[i] = s.resting[i] && s.dead[i]
		}
	}
	s.retaken = 0
	return true
}

// waits reports whether guard i, a plain one, waits throughout the trial step. It writes what becomes of it to s.live,
// s.granted, and s.Low and s.High, the range of its values at the nodes. The rules are those of play, leave and
// inspect.
func (s *watcher) waits(i int) bool {
	a, values := &s.live[i], s.Values
	*a = s.arms[i]
	a.from = -1
	rho := s.rho[i]
	values[0] = rho
	low, high, held := math.Inf(1), math.Inf(-1), false
	n, guards, nodeRho, nodeTruth := s.N, len(s.guards), s.NodeRho, s.NodeTruth
	for j, at := 0, i; j < n; j, at = j+1, at+guards {
		v := nodeRho[at]
		if v != v {
			return false
		}
		values[j+1], low, high = v, min(low, v), max(high, v)
		held = held || nodeTruth[at]
	}
	s.Low[i], s.High[i], s.granted[i] = low, high, s.Credit[i]
	if s.dead[i] {
		return true
	}
	crossing := s.guards[i].Crossing
	stays := a.on && (crossing && !a.spent && roots.Sign(low) == a.side && roots.Sign(high) == a.side ||
		!crossing && !held) // the usual case
	if !stays && !s.follows(i, a) || s.resting[i] && (crossing || !a.on) {
		return false
	}
	return s.unhidden(i, min(low, rho), max(high, rho))
}

// follows takes guard i, a plain one in state a, through the values at the nodes, and reports whether it does not fire.
func (s *watcher) follows(i int, a *arming) bool {
	before := s.truth[i]
	for j, at := 0, i; j < s.N; j, at = j+1, at+len(s.guards) {
		v, truth := s.NodeRho[at], s.NodeTruth[at]
		if s.fires(i, a, v, truth) && (s.passes(i, truth) || before) {
			return false
		}
		s.settle(i, a, v, truth, j)
		before = truth
	}
	return true
}

// unhidden reports whether guard i, a plain one whose values between low and high are known, hides nothing between the
// nodes. It writes its credit to s.granted.
func (s *watcher) unhidden(i int, low, high float64) bool {
	reach, largest, values := high-low, max(high, -low), s.Values
	if roots.Far(low, high) || !(reach > float64(0x1p-44*largest) && reach < math.MaxFloat64) {
		return true
	}
	last := 0.0
	for j, v := range values {
		last += float64(s.Last[j] * v)
	}
	noise := float64(0x1p-50 * s.Amplify * largest)
	if last = math.Abs(last); last > float64(4*noise) || last > float64(roots.Peaked*reach) || largest > 0x1p900 {
		return false
	}
	s.granted[i] = min(s.Credit[i]+roots.CreditStep, roots.FullCredit)
	s.Off = noise
	return s.Shown(s.Coefficients(1))
}

// sampled takes the values at the nodes of the trial step, which are known, for its samples.
func (s *watcher) sampled() {
	for _, theta := range s.Nodes[1:] {
		p := s.Spare()
		p.Theta, p.H = theta, float64(theta*s.trial.H)
		s.List = append(s.List, p)
	}
}

// survey notes the ranges of the guards over the samples, which are those of the nodes or that of the end. It reports
// whether they show that nothing fires or is armed, and that nothing can be hidden between them: the usual case,
// without the rest of watch.
func (s *watcher) survey() (still bool, err error) {
	still = !s.anyRest && len(s.boxes.Guards) == 0
	n, nodeRho, nodeTruth, reach := len(s.guards), s.NodeRho, s.NodeTruth, s.reach
	end := n * len(s.List)
	for i, start := range s.rho {
		low := nodeRho[i]
		high, held := low, nodeTruth[i] == s.truth[i]
		for j := i + n; j < end; j += n {
			switch v := nodeRho[j]; {
			case v < low:
				low = v
			case v > high:
				high = v
			case v != v:
				low, high = v, v
			}
			held = held && nodeTruth[j] == s.truth[i]
		}
		if low != low {
			return false, brokenStep(i)
		}
		if high > reach[i] {
			reach[i] = high
		}
		if -low > reach[i] {
			reach[i] = -low
		}
		s.Low[i], s.High[i] = min(low, start), max(high, start)
		stays, _ := s.still(i)
		still = still && held && stays
	}
	return still, nil
}

// still reports whether guard i, whose truth is the same at the start and at all nodes, stays as it is in the trial
// step, and whether it does at the nodes: see stays and inspect.
func (s *watcher) still(i int) (still, unmoved bool) {
	a, g := &s.arms[i], &s.guards[i]
	switch {
	case s.dead[i]:
		return true, true
	case g.Watch:
	case !a.on || a.spent || g.Kink:
		return false, false
	case g.Crossing:
		if roots.Sign(s.Low[i]) != a.side || roots.Sign(s.High[i]) != a.side {
			return false, false
		}
	case s.truth[i]:
		return false, false
	}
	return g.Clock && !g.Watch || g.Affine && roots.Far(s.Low[i], s.High[i]), true
}
