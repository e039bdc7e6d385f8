package report

import (
	"io"
	"math"

	"odes.dev/odes"
	"odes.dev/odes/data"
)

// sensNPZ writes a NumPy archive. Its arrays are value[m] and, for every variable, d_<name> or d_initial_<name> of
// shape [m, …shape]; error_d_<name> has the estimated errors, if they were asked for. Where something is not sound,
// trust_value and trust_d_<name> have 1 for what is loose, 2 for what is lost. The member objectives.txt names the m
// objectives, one on each line. Hessians are hessian[m, c, c] over all elements of the variables, which columns.txt
// names. Their products with a direction are hvp[m, c], and the direction is direction[c].
func sensNPZ(w io.Writer, _ Heading, s *odes.Sensitivities, _ TableOptions) error {
	z := data.NewArchive(w)
	names := make([]string, len(s.Values))
	value := make([]float64, len(s.Values))
	for i, v := range s.Values {
		names[i], value[i] = v.Name, v.Value
	}
	if err := z.Lines("objectives.txt", names); err != nil {
		return err
	}
	if err := z.List("value", value); err != nil {
		return err
	}
	if s.Trusts != nil {
		for i, v := range s.Values {
			value[i] = float64(v.Trust)
		}
		if err := z.List("trust_value", value); err != nil {
			return err
		}
	}
	for _, v := range s.Variables {
		name := "d_" + v.Name
		if v.Initial {
			name = "d_initial_" + v.Name
		}
		shape := append([]int{len(s.Values)}, v.Shape...)
		err := npyMember(z, name, shape, func(i int) []float64 {
			if !hasValue(s.Values[i]) {
				return nan(v.Size())
			}
			return s.Derivative(i, v)
		})
		if err != nil {
			return err
		}
		if err := trustMember(z, s, "trust_"+name, shape, v); err != nil {
			return err
		}
		if s.Errors == nil || !s.Settings.Errors {
			continue
		}
		err = npyMember(z, "error_"+name, shape, func(i int) []float64 {
			if !hasValue(s.Values[i]) {
				return nan(v.Size())
			}
			at := i*s.Columns + v.Offset
			return s.Errors[at : at+v.Size()]
		})
		if err != nil {
			return err
		}
	}
	if err := secondMembers(z, s); err != nil {
		return err
	}
	return z.Close()
}

// trustMember adds the grades of the derivatives by v, unless everything is sound.
func trustMember(z *data.Archive, s *odes.Sensitivities, name string, shape []int, v odes.Variable) error {
	if s.Trusts == nil {
		return nil
	}
	row := make([]float64, v.Size())
	return npyMember(z, name, shape, func(i int) []float64 {
		for k := range row {
			row[k] = float64(s.Trusts[i*s.Columns+v.Offset+k])
		}
		return row
	})
}

func secondMembers(z *data.Archive, s *odes.Sensitivities) error {
	if s.Hessian == nil && s.Products == nil {
		return nil
	}
	m, c := len(s.Values), s.Columns
	if err := z.Lines("columns.txt", elements(s.Variables)); err != nil {
		return err
	}
	// rows gives those of an array [m, …], n numbers each.
	rows := func(x []float64, n int) func(i int) []float64 {
		return func(i int) []float64 {
			if !hasValue(s.Values[i]) {
				return nan(n)
			}
			return x[i*n : (i+1)*n]
		}
	}
	if s.Hessian != nil {
		if err := npyMember(z, "hessian", []int{m, c, c}, rows(s.Hessian, c*c)); err != nil {
			return err
		}
	}
	numbers := func(list []odes.Trust) []float64 {
		x := make([]float64, len(list))
		for k, t := range list {
			x[k] = float64(t)
		}
		return x
	}
	if e := s.HessianErrors; e != nil && s.Settings.Errors {
		if err := npyMember(z, "error_hessian", []int{m, c, c}, rows(e, c*c)); err != nil {
			return err
		}
	}
	if e := s.ProductErrors; e != nil && s.Settings.Errors {
		if err := npyMember(z, "error_hvp", []int{m, c}, rows(e, c)); err != nil {
			return err
		}
	}
	if t := numbers(s.HessianTrusts); len(t) > 0 {
		if err := npyMember(z, "trust_hessian", []int{m, c, c}, rows(t, c*c)); err != nil {
			return err
		}
	}
	if t := numbers(s.ProductTrusts); len(t) > 0 {
		if err := npyMember(z, "trust_hvp", []int{m, c}, rows(t, c)); err != nil {
			return err
		}
	}
	if s.Products == nil {
		return nil
	}
	if err := npyMember(z, "hvp", []int{m, c}, rows(s.Products, c)); err != nil {
		return err
	}
	return z.List("direction", s.Direction)
}

// runNPZ writes a NumPy archive: the times t[k], every output [k, …shape], the times of events event_t[e], and
// events.txt, which names the events. The name of the model's time stands for t.
func runNPZ(w io.Writer, h Heading, s *odes.Solution, _ TableOptions) error {
	z := data.NewArchive(w)
	if err := z.List(h.Time, s.T); err != nil {
		return err
	}
	for _, o := range s.Outputs {
		n := size(o.Shape)
		shape := append([]int{len(s.T)}, o.Shape...)
		if err := npyMember(z, o.Name, shape, func(i int) []float64 { return o.Values[i*n : (i+1)*n] }); err != nil {
			return err
		}
	}
	names := make([]string, len(s.Events))
	times := make([]float64, len(s.Events))
	for i, e := range s.Events {
		names[i], times[i] = eventElement(e), e.T
	}
	if err := z.List("event_"+h.Time, times); err != nil {
		return err
	}
	if err := z.Lines("events.txt", names); err != nil {
		return err
	}
	return z.Close()
}

// npyMember adds an array; row(i) gives what stands at position i of its first axis.
func npyMember(z *data.Archive, name string, shape []int, row func(i int) []float64) error {
	return z.Array(name, shape, func(yield func([]float64) bool) {
		for i := range shape[0] {
			if !yield(row(i)) {
				return
			}
		}
	})
}

func nan(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}
