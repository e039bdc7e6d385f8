package run

import (
	"slices"

	"odes.dev/odes/internal/engine/onesided"
	"odes.dev/odes/internal/engine/trust"
	"odes.dev/odes/solvers"
)

// meetingsOf returns the meetings of a run that variables move apart.
func (r *Runner) meetingsOf(stats *solvers.Stats) (found []trust.Meeting) {
	list := stats.Meetings
	for i := range list {
		for _, f := range r.worker.Folds(list[i:i+1], stats.Fired, r.places, r.columns) {
			found = append(found, trust.Meeting{Meeting: list[i], Fold: f, Of: r.model.Explain})
		}
	}
	return found
}

// foldsOfMeetings returns what meetings of the last run fold, and what they fold with kinks at least so that second
// derivatives may jump: where things come at two times in place of one.
func (r *Runner) foldsOfMeetings(stats *solvers.Stats) (list []onesided.Fold) {
	for i := range r.met {
		list = append(list, r.met[i].Fold)
	}
	if !r.wantsSecond() {
		return list
	}
	n := len(list)
	list = append(list, list...)
	list = append(list, r.worker.Folds(stats.Bends, stats.Fired, r.places, r.columns)...)
	for i := n; i < len(list); i++ {
		list[i].Meets = true
	}
	return list
}

// allMet returns the meetings of the last run and of its experiments.
func (r *Runner) allMet() []trust.Meeting {
	list := slices.Clone(r.met)
	for i, part := range r.parts {
		for _, x := range part.allMet() {
			x.Experiment = r.model.Experiments[i].Name
			list = append(list, x)
		}
	}
	return list
}
