package data

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/lazy"
)

// npyMagic starts every file of NumPy's format:
// https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html.
const npyMagic = "\x93NUMPY"

var (
	npyDescr   = lazy.Regexp(`'descr'\s*:\s*'([^']*)'`)
	npyFortran = lazy.Regexp(`'fortran_order'\s*:\s*(True|False)`)
	npyShape   = lazy.Regexp(`'shape'\s*:\s*\(([^)]*)\)`)
)

// npy reads NumPy's format, versions 1 to 3: floats, integers and booleans of either byte order, row- or column-major,
// up to three dimensions.
func npy(name string, file []byte, limit int) (Array, error) {
	fail := func(format string, args ...any) (Array, error) {
		return Array{}, fmt.Errorf("%s: "+format, append([]any{name}, args...)...)
	}
	rest, ok := bytes.CutPrefix(file, []byte(npyMagic))
	if !ok || len(rest) < 4 {
		return fail("this is not a NumPy file")
	}
	version := rest[0]
	var n int
	switch version {
	case 1:
		n, rest = int(binary.LittleEndian.Uint16(rest[2:])), rest[4:]
	case 2, 3:
		if len(rest) < 6 {
			return fail("the header is cut off")
		}
		n, rest = int(binary.LittleEndian.Uint32(rest[2:])), rest[6:]
	default:
		return fail("version %d of the NumPy format is not known", version)
	}
	if n > len(rest) {
		return fail("the header is cut off")
	}
	header, body := string(rest[:n]), rest[n:]
	descr, fortran := npyDescr().FindStringSubmatch(header), npyFortran().FindStringSubmatch(header)
	shape := npyShape().FindStringSubmatch(header)
	if descr == nil || fortran == nil || shape == nil {
		return fail("the header %q is not understood", header)
	}
	a := Array{}
	for _, d := range strings.Split(shape[1], ",") {
		if d = strings.TrimSpace(d); d == "" {
			continue
		}
		k, err := strconv.Atoi(d)
		if err != nil || k < 1 {
			return fail("the shape (%s) is not understood; every length is at least 1", shape[1])
		}
		a.Shape = append(a.Shape, k)
	}
	if len(a.Shape) > 3 {
		return fail("the array has %d dimensions; at most 3 are read", len(a.Shape))
	}
	count, ok := product(a.Shape, limit)
	if !ok {
		return fail("the array of shape (%s) has more elements than the limit of %d", shape[1], limit)
	}
	read, size, ok := npyType(descr[1])
	if !ok {
		return fail("elements of type %q are not read; save floats or integers", descr[1])
	}
	if len(body) < count*size {
		return fail("%d bytes of data, but the shape needs %d", len(body), count*size)
	}
	a.Data = make([]float64, count)
	for i := range a.Data {
		a.Data[i] = read(body[i*size:])
	}
	if fortran[1] == "True" && len(a.Shape) > 1 {
		a.Data = rowMajor(a)
	}
	return a, nil
}

// rowMajor returns column-major data row-major.
func rowMajor(a Array) []float64 {
	out := make([]float64, len(a.Data))
	pos := make([]int, len(a.Shape))
	for i := range out {
		o, stride := 0, 1
		for k, d := range a.Shape {
			o += pos[k] * stride
			stride *= d
		}
		out[i] = a.Data[o]
		for k := len(pos) - 1; k >= 0; k-- {
			if pos[k]++; pos[k] < a.Shape[k] {
				break
			}
			pos[k] = 0
		}
	}
	return out
}

func npyType(descr string) (read func([]byte) float64, size int, ok bool) {
	if len(descr) < 3 {
		return nil, 0, false
	}
	var order binary.ByteOrder = binary.LittleEndian
	if descr[0] == '>' {
		order = binary.BigEndian
	}
	switch descr[1:] {
	case "f8":
		return func(b []byte) float64 { return math.Float64frombits(order.Uint64(b)) }, 8, true
	case "f4":
		return func(b []byte) float64 { return float64(math.Float32frombits(order.Uint32(b))) }, 4, true
	case "i8":
		return func(b []byte) float64 { return float64(int64(order.Uint64(b))) }, 8, true
	case "i4":
		return func(b []byte) float64 { return float64(int32(order.Uint32(b))) }, 4, true
	case "i2":
		return func(b []byte) float64 { return float64(int16(order.Uint16(b))) }, 2, true
	case "i1":
		return func(b []byte) float64 { return float64(int8(b[0])) }, 1, true
	case "u8":
		return func(b []byte) float64 { return float64(order.Uint64(b)) }, 8, true
	case "u4":
		return func(b []byte) float64 { return float64(order.Uint32(b)) }, 4, true
	case "u2":
		return func(b []byte) float64 { return float64(order.Uint16(b)) }, 2, true
	case "u1", "b1":
		return func(b []byte) float64 { return float64(b[0]) }, 1, true
	}
	return nil, 0, false
}

// WriteNPY writes an array of 64-bit floats in version 1.0 of NumPy's format. The parts are its numbers, row-major, cut
// anywhere; an error says that there are more or fewer of them than the shape has.
func WriteNPY(w io.Writer, shape []int, parts iter.Seq[[]float64]) error {
	dims, want := make([]string, len(shape)), 1
	for i, d := range shape {
		dims[i] = fmt.Sprintf("%d,", d)
		want *= d
	}
	head := fmt.Sprintf("{'descr': '<f8', 'fortran_order': False, 'shape': (%s), }", strings.Join(dims, " "))
	const prefix = len(npyMagic) + 4 // version and length of the header
	// Blanks fill the header so that the numbers start at a multiple of 64 bytes, as the format wants.
	pad := 64 - (prefix+len(head)+1)%64
	head += strings.Repeat(" ", pad%64) + "\n"
	if len(head) > math.MaxUint16 {
		return errors.New("an array of so many dimensions does not fit NumPy's format")
	}
	out := bufio.NewWriterSize(w, 1<<16) // keeps the first error
	out.WriteString(npyMagic + "\x01\x00")
	var word [8]byte
	out.Write(binary.LittleEndian.AppendUint16(word[:0], uint16(len(head))))
	out.WriteString(head)
	written := 0
	for part := range parts {
		for _, x := range part {
			binary.LittleEndian.PutUint64(word[:], math.Float64bits(x))
			out.Write(word[:])
		}
		written += len(part)
	}
	if written != want {
		return fmt.Errorf("%d numbers for an array of shape (%s)", written, strings.Join(dims, " "))
	}
	return out.Flush()
}
