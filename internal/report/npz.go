package report

import (
	"archive/zip"
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"

	"odes.dev/odes"
)

// SensNPZ writes a NumPy archive: value[m], and for every variable d_<name>
// or d_initial_<name> of shape [m, …shape], and error_d_<name> where errors were estimated. The member objectives.txt names
// the rows, one a line. Hessians are hessian[m, c, c] over all elements of the variables, which columns.txt names; products with
// a direction are hvp[m, c], and that is direction[c].
func SensNPZ(w io.Writer, s *odes.Sensitivities) error {
	z := zip.NewWriter(w)
	names := make([]string, len(s.Values))
	value := make([]float64, len(s.Values))
	for i, v := range s.Values {
		names[i], value[i] = v.Name, v.Value
	}
	if err := textMember(z, "objectives.txt", names); err != nil {
		return err
	}
	if err := npyMember(z, "value", []int{len(value)}, func(i int) []float64 { return value[i : i+1] }); err != nil {
		return err
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
		if s.Errors == nil {
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

func secondMembers(z *zip.Writer, s *odes.Sensitivities) error {
	if s.Hessian == nil && s.Products == nil {
		return nil
	}
	m, c := len(s.Values), s.Columns
	if err := textMember(z, "columns.txt", elements(s.Variables)); err != nil {
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
	if s.Products == nil {
		return nil
	}
	if err := npyMember(z, "hvp", []int{m, c}, rows(s.Products, c)); err != nil {
		return err
	}
	return npyMember(z, "direction", []int{c}, func(i int) []float64 { return s.Direction[i : i+1] })
}

// RunNPZ writes a NumPy archive: t[k], every output [k, …shape], the times of
// events event_t[e], and events.txt, which names them.
func RunNPZ(w io.Writer, h Heading, s *odes.Solution) error {
	z := zip.NewWriter(w)
	if err := npyMember(z, h.Time, []int{len(s.T)}, func(i int) []float64 { return s.T[i : i+1] }); err != nil {
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
	if err := npyMember(z, "event_"+h.Time, []int{len(times)}, func(i int) []float64 { return times[i : i+1] }); err != nil {
		return err
	}
	if err := textMember(z, "events.txt", names); err != nil {
		return err
	}
	return z.Close()
}

func textMember(z *zip.Writer, name string, lines []string) error {
	f, err := z.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	for _, line := range lines {
		if _, err := io.WriteString(f, line+"\n"); err != nil {
			return err
		}
	}
	return nil
}

// npyMember adds an array of 64-bit floats in NumPy's format 1.0; row(i) gives
// what stands at position i of its first axis.
func npyMember(z *zip.Writer, name string, shape []int, row func(i int) []float64) error {
	// Stored, not deflated: mantissas of gradients do not compress, and readers can map the file.
	f, err := z.CreateHeader(&zip.FileHeader{Name: name + ".npy", Method: zip.Store})
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(f, 1<<16)
	dims := make([]string, len(shape))
	for i, d := range shape {
		dims[i] = fmt.Sprintf("%d,", d)
	}
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", strings.Join(dims, " "))
	const prefix = 10 // magic, version, length
	pad := 64 - (prefix+len(head)+1)%64
	head += strings.Repeat(" ", pad%64) + "\n"
	out.WriteString("\x93NUMPY\x01\x00")
	binary.Write(out, binary.LittleEndian, uint16(len(head)))
	out.WriteString(head)
	var word [8]byte
	for i := range shape[0] {
		for _, x := range row(i) {
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(x))
			out.Write(word[:])
		}
	}
	return out.Flush()
}

func nan(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = math.NaN()
	}
	return x
}
