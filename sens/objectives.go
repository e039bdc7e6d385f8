// Package sens differentiates objectives of solved initial value problems. Its sensitivity methods stand side by side
// behind one interface, so that each can be checked by the others: Adjoint and Tangent (discrete), Continuous and
// Forward (of the differential equation), ComplexStep and Differences (replays of the run), and Second for Hessians.
//
// It knows solvers and builds on its systems, methods and trajectories. It must not know of the language, of compiled
// models, or which step method made a run: what a method can do it asks for with solvers.As.
package sens

import "odes.dev/odes/solvers"

// SiteKind says where along a run functionals are read.
type SiteKind uint8

// The kinds of site.
const (
	SiteInitial SiteKind = iota // at t0, before explicit events there
	SiteFinal                   // at the end, after a terminal event's body
	SiteTime                    // at an instant of kind InstantSite
	SiteEvent                   // at a firing of an event
	SitePeak                    // where functionals that are peaks are largest
)

// Site names a place of a run where functionals are read.
type Site struct {
	Kind   SiteKind
	Index  int            // of a SiteTime: the instant's Site
	Firing solvers.Firing // of a SiteEvent
	// Peaks are the elements of the functionals that a SitePeak is read for, and how much this site counts for each.
	// All other functionals are left alone.
	Peaks []Share
}

// Share is a part of an element of the functionals.
type Share struct {
	Element int
	Weight  float64
}

// Point is the run at a site: its time, left limits and right limits. Where nothing jumps, the limits are the same
// slices. An observation that coincides with events has the left limits of before and the right limits of after all
// of them.
type Point struct {
	Site   Site
	T      float64
	Ym, Dm []float64 // left limits y[N], d[D]
	Yp, Dp []float64 // right limits
}

// Objectives are smooth functions ψ[m] = Φ(F, p) of functionals F of a run. The first Q functionals are the
// quadratures. The others start at zero and add up what Observe reads at the sites. The initial site comes first and
// the final site last, so that what did not happen is known when the final site is read.
type Objectives interface {
	// Counts returns the number of functionals (quadratures included) and of objectives.
	Counts() (functionals, objectives int)
	// Observes reports whether anything is read at sites of this kind (event: f.Event; -1 for the others).
	Observes(kind SiteKind, event int) bool
	// Observe adds what functionals read at pt to F.
	Observe(pt *Point, functionals []float64)
	// Values writes psi[m]. Functionals of what did not happen, such as a firing, are NaN in F.
	Values(functionals, psi []float64)
}

// CotangentObjectives pulls cotangents through Objectives, into the same
// parameter accumulators as the CotangentSystem it is part of.
type CotangentObjectives interface {
	Objectives
	// ValuesPull overwrites fb[F·L] with the gradients of objectives first … first+L-1 by the functionals, zero past
	// the last objective. It adds the gradients by the parameters to the accumulators.
	ValuesPull(functionals []float64, first int, fb []float64)
	// ObservePull adds the transpose of Observe applied to fb[F·L] to ymb, dmb, ypb, dpb and tb. Where the point's
	// left and right limits are the same slices, the cotangents may be, too.
	ObservePull(pt *Point, fb, ymb, dmb, ypb, dpb, tb []float64)
}

// Selective are CotangentObjectives that tell where objectives read nothing, so that many objectives of a run, each of
// which reads a few places, need not be pulled through all of them.
type Selective interface {
	CotangentObjectives
	// Pulls reports whether ObservePull may have anything to add at s, for the cotangents of the last ValuesPull.
	Pulls(s *Site) bool
}

// TangentObjectives pushes tangents through Objectives.
type TangentObjectives interface {
	Objectives
	// ObservePush adds to fd[F·L].
	ObservePush(pt *Point, td, ymd, dmd, ypd, dpd, fd []float64)
	// ValuesPush overwrites psid[m·L].
	ValuesPush(functionals, fd, psid []float64)
}

// ComplexObjectives evaluates Objectives in complex arithmetic.
type ComplexObjectives interface {
	Observe(s Site, t complex128, ym, dm, yp, dp, functionals []complex128)
	Values(functionals, psi []complex128)
}
