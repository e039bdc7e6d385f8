package solvers

// Arithmetic implements Arithmetical.
func (r *rungeKutta) Arithmetic() *Arithmetic { return &r.whole }

// describe fills in the arithmetic of the scheme's steps.
func (r *scheme) describe() {
	stages := r.info.Stages
	form := func(t terms) Terms { return Terms{t.row, t.c} }
	r.whole = Arithmetic{
		Stages: stages, FSAL: r.info.FSAL, Nodes: r.c, Live: r.live, B: form(r.b), Sum: form(r.sum),
		Rows: len(r.a), SeededSum: form(r.seededSum),
	}
	for i := range r.a {
		r.whole.A = append(r.whole.A, form(r.a[i]))
		r.whole.SeededAt = append(r.whole.SeededAt, form(r.seededAt[i]))
	}
	for i := range stages {
		r.whole.At = append(r.whole.At, form(r.at[i]))
	}
	if len(r.e3.c) == 0 {
		r.whole.E = form(r.e)
	} else {
		r.whole.Combined = [2]Terms{form(r.e), form(r.e3)}
	}
	for i := stages; i < len(r.read); i++ {
		if theta := r.read[i]; theta > 0 {
			r.whole.Points = append(r.whole.Points, Point{theta, form(r.node[i])})
		}
	}
	r.whole.sample(r.beta, r.dps, r.info.DenseOrder)
}

// Sampling implements Sampling.
func (r *rungeKutta) Sampling(f Field, s *Step) *Arithmetic {
	r.extend(f, s)
	return &r.whole
}

// readGuards implements guardReading.
func (r *rungeKutta) readGuards(f GuardReader, s *Step, rho []float64, truth []bool) bool {
	r.extend(f, s)
	return f.ReadGuards(&r.whole, s, rho, truth)
}
