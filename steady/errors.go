package steady

import (
	"fmt"
	"strings"
)

// Fault says why there is no steady state to return.
type Fault uint8

// The faults.
const (
	Growing     Fault = iota // states grow without end: Rate is that of the exponential, or the slope
	Exploding                // states grow beyond all bounds before a finite time, T
	Oscillating              // states oscillate with Period
	Slow                     // states still move after all steps
	Apart                    // states move on with a period that is not the given one: Repeats of it, or another one
	Unstable                 // the steady state is unstable: Rate is the real part of the eigenvalue
	Marginal                 // the steady state is not isolated, or does not attract exponentially
	Timed                    // the rates depend on time
	Diverged                 // Newton's method did not converge
	Negative                 // Newton's method led to negative values
	Unrepeated               // something does not repeat from one period to the next: Cause says what
	Broken                   // the rates are not finite, or the run failed
)

// Error tells why there is no steady state to return.
type Error struct {
	Fault  Fault
	States []string // those that move, most first; at most five
	T      float64  // time since the start of the search
	Rate   float64
	Linear bool // of Growing: in proportion to time
	Period float64
	// Repeats, of Apart, is after how many of the given periods the states repeat; 0 where they do not.
	Repeats int
	Cause   error // of Broken and Unrepeated
}

// SingularError tells that the equations of a steady state have no single solution: the states can move along it.
type SingularError struct{ States []int }

func (e *SingularError) Error() string {
	return fmt.Sprintf("the equations of the steady state do not determine states %v", e.States)
}

func (e *Error) Unwrap() error { return e.Cause }

func (e *Error) Error() string {
	const none = "there is no steady state: "
	names := strings.Join(e.States, ", ")
	if names == "" {
		names = "the state"
	}
	switch e.Fault {
	case Growing:
		if e.Linear {
			return fmt.Sprintf(none+"%s grows without end, by %.4g per unit of time", names, e.Rate)
		}
		return fmt.Sprintf(none+"%s grows without end, at a rate of %.4g per unit of time, "+
			"by a factor e in %.4g", names, e.Rate, 1/e.Rate)
	case Exploding:
		return fmt.Sprintf(none+"%s grows beyond all bounds within a time of about %.6g", names, e.T)
	case Oscillating:
		return fmt.Sprintf(none+"%s oscillates with a period of about %.3g (a limit cycle); measure "+
			"it in a run, or take the average over a period", names, e.Period)
	case Slow:
		return fmt.Sprintf("no steady state was reached within a time of %.4g: these still move: %s; let them decay "+
			"faster, or read the state after a long run with final(…)", e.T, names)
	case Apart:
		if e.Repeats > 0 {
			return fmt.Sprintf("no state repeats after the period of %.4g, but after %d of them: %s; write a period "+
				"that is %[2]d times as long", e.Period, e.Repeats, names)
		}
		return fmt.Sprintf("no state repeats after the period of %.4g: %s keeps moving, likely in a limit cycle with "+
			"a period of its own, which follows no other; read the state after a long run with final(…)", e.Period,
			names)
	case Unstable:
		if e.Rate != e.Rate {
			return fmt.Sprintf("the steady state is unstable: a run that begins beside it does not return (%s); start "+
				"elsewhere, or take steady = auto", names)
		}
		if e.Period > 0 {
			return fmt.Sprintf("the steady state is unstable: what is near it leaves it, oscillating with a period of "+
				"%.4g and growing at a rate of %.4g; start elsewhere", e.Period, e.Rate)
		}
		return fmt.Sprintf("the steady state is unstable: what is near it leaves it at a rate of %.4g, most of all "+
			"in %s; start elsewhere", e.Rate, names)
	case Marginal:
		return fmt.Sprintf("the steady state is marginal: nothing holds %s there, so it depends on the way that led "+
			"to it, and has no derivative of its own; read the state after a long run with final(…), or add what "+
			"makes it return; of what is smaller than solver.atol nothing can be told: write atol = auto", names)
	case Timed:
		return fmt.Sprintf(none+"the rate of %s depends on time; for a periodic one write "+
			"equilibrate { … } every T", names)
	case Unrepeated:
		return fmt.Sprintf("no periodic state was found: %v", e.Cause)
	case Diverged:
		return fmt.Sprintf("Newton's method found no steady state from here (still moving: %s); take steady = auto",
			names)
	case Negative:
		return fmt.Sprintf("Newton's method led to a steady state with negative %s, from values that are not; take "+
			"steady = auto", names)
	}
	return fmt.Sprintf("no steady state was found: %v", e.Cause)
}
