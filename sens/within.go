package sens

import "odes.dev/odes/solvers"

// innerReading is something that is read within a step: at an observation's time, or at a peak.
type innerReading struct {
	t       float64
	theta   float64 // of the step
	instant int     // whose time it is; -1 where that does not move, or with the step
	held    bool    // it moves with the step, at the same theta
}

// innerReadingAt makes pt mark m, which lies within its step. It returns what is read there, and whether anything is.
func innerReadingAt(pt *Point, m *solvers.Mark, instants []solvers.Instant, obj Objectives) (
	r innerReading, read bool,
) {
	r = innerReading{t: m.T, theta: m.Theta, instant: -1}
	read = pt.at(m, instants, obj)
	if !instants[m.Instant].Fixed {
		r.instant = m.Instant
	}
	return r, read
}

// innerReading returns what is read at a peak within a step. By the envelope theorem it does not matter how its time
// moves.
func (r *reading) innerReading() innerReading {
	return innerReading{t: r.t, theta: r.theta, instant: -1, held: true}
}

// seek counts the readings of peaks for a sweep that begins after step after; all of them where that is the last
// step.
func (s *sweep) seek(after int) {
	s.peaks = len(s.res.readings)
	if after < s.run.Steps()-1 {
		for s.peaks > 0 && s.res.readings[s.peaks-1].step > after {
			s.peaks--
		}
	}
}

// next returns the last reading of peaks to come, nil for none.
func (s *sweep) next() *reading {
	if s.peaks == 0 {
		return nil
	}
	return &s.res.readings[s.peaks-1]
}

// pullPeaks transposes the reading of peaks at an end of a step, where the state is y at the discretes d, and reports
// whether there was one.
func (s *sweep) pullPeaks(at place, y, d []float64) bool {
	r := s.next()
	if r == nil || r.place != at {
		return false
	}
	s.peaks--
	s.pt = Point{Site: r.site, T: r.t, Ym: y, Dm: d, Yp: y, Dp: d}
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
		if s.pullPeaks(place{i, 1}, s.step.Y1, d) {
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
			s.peaks--
			if !s.stops(i, &r.site) {
				continue
			}
			if err := s.pullPeak(i, r); err != nil {
				return err
			}
			continue
		}
		if !site {
			return nil
		}
		*mk--
		if r, read := innerReadingAt(&s.pt, &s.mark, s.instants, s.obj); read && s.stops(i, &s.pt.Site) {
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

// pullPeak transposes the reading of peaks within step i.
func (s *sweep) pullPeak(i int, r *reading) error {
	method, err := s.interpolant(i)
	if err != nil {
		return err
	}
	if len(s.y) == 0 {
		s.y = make([]float64, s.run.Size().N)
	}
	method.Interpolate(s.sys, &s.dense, r.theta, s.y)
	d, _ := s.run.Held(i)
	s.pt = Point{Site: r.site, T: r.t, Ym: s.y, Dm: d, Yp: s.y, Dp: d}
	in := r.innerReading()
	return s.via.inside(i, &in)
}

// pushPeaks pushes the present tangents through the first of peaks, which are in order of time, if it is at an end of
// a step, here. It returns those to come.
func (w *walk) pushPeaks(peaks []reading, here place) ([]reading, error) {
	if len(peaks) == 0 || peaks[0].place != here {
		return peaks, nil
	}
	r := &peaks[0]
	y, d := w.mark.Yp, w.mark.Dp // of the end of the run
	if here.step < w.run.Steps() {
		if _, err := w.read.Load(here.step, &w.step); err != nil {
			return nil, err
		}
		d, _ = w.run.Held(here.step)
		if y = w.step.Y0; here.theta == 1 {
			y = w.step.Y1
		}
	}
	w.pt = Point{Site: r.site, T: r.t, Ym: y, Dm: d, Yp: y, Dp: d}
	w.obj.ObservePush(&w.pt, w.td, w.yd, w.dd, w.yd, w.dd, w.fd)
	return peaks[1:], nil
}

// pushPeak pushes the tangents of the last step, w.dense, through a peak within it.
func (w *walk) pushPeak(r *reading) error {
	method, err := interpolant(w.method)
	if err != nil {
		return err
	}
	if len(w.y) == 0 {
		w.y = make([]float64, w.run.Size().N)
	}
	method.Interpolate(w.field, &w.dense, r.theta, w.y)
	d, _ := w.run.Held(r.step)
	w.pt = Point{Site: r.site, T: r.t, Ym: w.y, Dm: d, Yp: w.y, Dp: d}
	in := r.innerReading()
	return w.inside(&in)
}
