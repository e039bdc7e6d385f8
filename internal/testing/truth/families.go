// Package truth draws random models whose answers are known in closed form, and judges what is printed of them: a
// number must be right, or marked as not to be trusted.
//
// A family is a row of a table. A model is drawn from a row of choices, so a seed makes the same model everywhere,
// and a model that fails is made simpler by simpler choices.
package truth

// Family is a kind of models.
type Family struct {
	Name string
	// Right is the share of models, at least, of which every number must be right and none marked: to mark everything
	// is no way out. It is less than one where answers are small differences, where there is none (a stop, a tie), or
	// where more kinks are crossed than steps end at.
	Right float64
	draw  func(d *draw)
}

// Families are all kinds of models.
var Families = []Family{
	{"window", 0.97, driven((*draw).windowed)},
	{"windows", 0.97, driven((*draw).windowSum)},
	{"nested windows", 0.97, driven((*draw).nested)},
	{"periodic", 0.97, driven((*draw).periodic)},
	{"staircase", 0.97, driven((*draw).staircase)},
	{"infusions", 0.97, driven((*draw).infusions)},
	{"table", 0.97, driven((*draw).table)},
	{"repeated table", 0.97, driven((*draw).repeatedTable)},
	{"kinks", 0.95, driven((*draw).kinked)},
	{"oscillation", 0.9, driven((*draw).oscillating)},
	{"composition", 0.8, driven((*draw).composed)},
	{"doses", 0.97, spanned(func(d *draw) {
		x, u := d.doses()
		d.readState(x, u)
	})},
	{"window events", 0.97, spanned(func(d *draw) {
		w := d.window(0.02, 0.98)
		d.counted(w.condition, d.after(w.a))
	})},
	{"wave events", 0.97, spanned((*draw).waveEvents)},
	{"states switch", 0.9, driven((*draw).byState)},
	{"kinks of states", 0.9, driven((*draw).ofMotion)},
	{"many kinks", 0.45, driven((*draw).manyKinks)},
	{"state events", 0.95, spanned(func(d *draw) {
		c := d.ofState(d.moving())
		d.counted(c.text, d.risings(c))
	})},
	{"armed again", 0.97, spanned((*draw).sawtooth)},
	{"delays", 0.95, spanned((*draw).delays)},
	{"started windows", 0.97, driven((*draw).started)},
	{"changed periods", 0.97, driven((*draw).changed)},
	{"whole periods", 0, (*draw).wholePeriods},
	{"conditions that meet", 0.4, (*draw).meetings},
	{"conditions at rest", 0.3, (*draw).resting},
	{"conditions in bodies", 0.35, (*draw).inBodies},
	{"observed kinks", 0.3, (*draw).observedKinks},
	{"largest at kinks", 0.25, (*draw).largestAtKinks},
	{"equal branches", 0.4, (*draw).equalBranches},
	{"halted", 0.3, (*draw).halted},
	{"steady at thresholds", 0.3, (*draw).steadyAtThresholds},
	{"bounces", 0.97, spanned((*draw).bounces)},
	{"nonlinear", 0.85, spanned((*draw).nonlinear)},
	{"samples", 0.9, spanned((*draw).sampled)},
	{"rest", 0.93, spanned((*draw).chain)},
	{"stiff", 0.97, spanned((*draw).stiff)},
	{"stop", 0.5, spanned((*draw).stopped)},
	{"units", 0.97, spanned((*draw).inUnits)},
	{"likelihood", 0.97, spanned((*draw).likely)},
	{"experiments", 0.97, spanned((*draw).experiments)},
	{"arrays", 0.85, spanned((*draw).arrays)},
	{"peaks", 0.6, spanned((*draw).peaks)},
	{"mixed rates", 0.4, stiffly((*draw).mixed)},
	{"followers", 0.95, stiffly((*draw).follower)},
	{"fast doses", 0.75, stiffly((*draw).fastDoses)},
	{"fast switches", 0.75, stiffly((*draw).fastSwitch)},
	{"turned stiff", 0.75, stiffly((*draw).turnedStiff)},
	{"exchange", 0.9, stiffly((*draw).exchange)},
	{"diffusion", 0.8, stiffly((*draw).diffusion)},
	{"fast chains", 0.8, stiffly((*draw).fastChain)},
	{"traces", 0.3, (*draw).traces},
	{"powers at zero", 0.5, powersAtZero},
	{"unknowns", 0.75, (*draw).unknowns},
	{"conditions of unknowns", 0.9, (*draw).conditions},
	{"equilibria", 0.95, (*draw).equilibria},
	{"periods", 0.85, (*draw).periods},
}

// spanned draws the span of time and settings, and then the model.
func spanned(model func(d *draw)) func(d *draw) {
	return func(d *draw) {
		d.span()
		d.solver()
		model(d)
	}
}

// driven draws models that are driven by a signal.
func driven(signal func(d *draw) known) func(d *draw) {
	return spanned(func(d *draw) { d.read(signal(d)) })
}
