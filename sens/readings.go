package sens

import (
	"cmp"

	"odes.dev/odes/internal/base/elem"
)

// place is a point of the recorded run: at theta of the length of a step, both ends included. The right limits at the
// end of the run are at theta 0 of the step after the last.
type place struct {
	step  int
	theta float64
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.step, q.step), cmp.Compare(p.theta, q.theta))
}

// inside reports whether p is within its step.
func (p place) inside() bool { return p.theta > 0 && p.theta < 1 }

// reading is where functionals are read that an observer has found, as the peaks at a place.
type reading struct {
	place
	t    float64
	site Site
}

// ahead is the readings to come, on a way forwards.
type ahead []reading

// at takes the next reading if it is at place p, and returns it; else nil.
func (a *ahead) at(p place) *reading {
	if len(*a) == 0 || (*a)[0].place != p {
		return nil
	}
	return a.take()
}

// within reports whether the next reading is within step i.
func (a *ahead) within(i int) bool { return len(*a) > 0 && (*a)[0].step == i && (*a)[0].inside() }

// take takes the next reading.
func (a *ahead) take() *reading {
	r := &(*a)[0]
	*a = (*a)[1:]
	return r
}

// skip leaves out the readings up to the end of step i.
func (a *ahead) skip(i int) {
	for len(*a) > 0 && (*a)[0].step <= i {
		*a = (*a)[1:]
	}
}

// innerReading is something that is read within a step: at an observation's time, or a reading.
type innerReading struct {
	t       float64
	theta   float64 // of the step
	instant int     // whose time it is; -1 where that does not move, or with the step
	held    bool    // it moves with the step, at the same theta
}

// innerReading returns what is read within a step. It does not matter how the time of the reading moves: where its
// expression is largest, by the envelope theorem.
func (r *reading) innerReading() innerReading {
	return innerReading{t: r.t, theta: r.theta, instant: -1, held: true}
}

// seek counts the readings for a sweep that begins after step after; all of them where that is the last
// step.
func (s *sweep) seek(after int) {
	s.readings = len(s.res.readings)
	if after < s.run.Steps()-1 {
		for s.readings > 0 && s.res.readings[s.readings-1].step > after {
			s.readings--
		}
	}
}

// next returns the last reading to come, nil for none.
func (s *sweep) next() *reading {
	if s.readings == 0 {
		return nil
	}
	return &s.res.readings[s.readings-1]
}

// pullReading transposes the reading at an end of a step, where the state is y at the discretes d, and reports
// whether there was one.
func (s *sweep) pullReading(at place, y, d []float64) bool {
	r := s.next()
	if r == nil || r.place != at {
		return false
	}
	s.readings--
	s.atReading(r, y, d)
	s.observe(s.yb, s.db, s.yb, s.db)
	return true
}

// pullWithin transposes what is read at the end of step i, before what happens there, and then within it. mk is the
// last mark that was not met yet.
func (s *sweep) pullWithin(i int, mk *int) error {
	if r := s.next(); r != nil && r.step == i {
		if _, err := s.read.Load(i, &s.step); err != nil {
			return err
		}
		d, _ := s.run.Held(i)
		if s.pullReading(place{i, 1}, s.step.Y1, d) {
			s.via.jumped()
		}
	}
	for {
		site := *mk >= 0 && s.run.After(*mk) == i
		if site {
			if _, _, err := s.read.LoadMark(*mk, &s.mark); err != nil {
				return err
			}
		}
		if r := s.next(); r != nil && r.step == i && r.inside() && !(site && s.mark.Theta > r.theta) {
			s.readings--
			if !s.stops(i, &r.site) {
				continue
			}
			if err := s.pullInside(i, r); err != nil {
				return err
			}
			continue
		}
		if !site {
			return nil
		}
		*mk--
		if r, read := s.atInside(&s.mark, s.obj); read && s.stops(i, &s.pt.Site) {
			if err := s.via.inside(i, &r); err != nil {
				return err
			}
		}
	}
}

// stops reports whether the way back through step i has to stop at site, within it. The first reading there decides how
// the step is transposed, whoever reads, so that no result depends on which objectives are swept together. A
// differential equation stops wherever anything is read, since its steps depend on where it does.
func (s *sweep) stops(i int, site *Site) bool {
	return s.via != transport(s) || s.loaded != i || s.pulls(site)
}

// pullInside transposes the reading within step i.
func (s *sweep) pullInside(i int, r *reading) error {
	method, err := s.interpolant(i)
	if err != nil {
		return err
	}
	s.atReadingInside(r, method, s.sys)
	in := r.innerReading()
	return s.via.inside(i, &in)
}

// pushReading pushes the present tangents through the next reading if it is at an end of a step, here.
func (w *walk) pushReading(coming *ahead, here place) error {
	r := coming.at(here)
	if r == nil {
		return nil
	}
	y, d := w.mark.Yp, w.mark.Dp // of the end of the run
	if here.step < w.run.Steps() {
		if _, err := w.read.Load(here.step, &w.step); err != nil {
			return err
		}
		d, _ = w.run.Held(here.step)
		if y = w.step.Y0; here.theta == 1 {
			y = w.step.Y1
		}
	}
	w.atReading(r, y, d)
	w.obj.ObservePush(&w.pt, w.td, w.yd, w.dd, w.yd, w.dd, w.fd)
	return nil
}

// pushReadings pushes the tangents of the last step, step i, which is w.dense, through the readings within it.
func (w *walk) pushReadings(coming *ahead, i int) error {
	for coming.within(i) {
		r := coming.take()
		method, err := interpolant(w.method)
		if err != nil {
			return err
		}
		w.atReadingInside(r, method, w.field)
		in := r.innerReading()
		if err := w.inside(&in); err != nil {
			return err
		}
	}
	return nil
}

// observeReading lets the objectives observe the present point if the next reading is here.
func (r *replay) observeReading(coming *ahead, here place, t complex128) {
	if x := coming.at(here); x != nil {
		r.Objectives.Observe(x.site, t, r.y, r.d, r.y, r.d, r.f)
	}
}

// observeReadings lets them observe the readings within step i, which was made last.
func (r *replay) observeReadings(coming *ahead, i int) {
	for coming.within(i) {
		x := coming.take()
		theta := complex(x.theta, 0)
		r.within(x.site, elem.CFMA(theta, r.again.H, r.again.T), theta)
	}
}
