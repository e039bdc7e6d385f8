package hdf5

import (
	"encoding/binary"
	"math"
)

// The kinds of elements.
const (
	other = iota // none that is read
	float
	signed
	unsigned
)

// dataset is what an object says of its array.
type dataset struct {
	sized   bool
	total   int
	shape   []int
	kind    int
	size    int // of an element, in bytes
	big     bool
	layout  *cursor
	filters []int // what was done to chunks
}

// space reads the shape.
func (d *dataset) space(c *cursor) {
	version, rank, _ := c.byte(), c.byte(), c.byte()
	if version > 2 {
		fail("version %d of shapes is not read", version)
	} else if version == 1 {
		c.bytes(5)
	} else if c.byte() == 2 { // nothing at all
		return
	}
	if d.sized {
		fail("a dataset has two shapes")
	}
	d.sized, d.total = true, 1
	for range rank {
		n := int(min(c.length(), MaxNumbers+1))
		d.shape = append(d.shape, n)
		if d.total *= n; d.total > MaxNumbers {
			fail("an array of more than %d numbers is not read", MaxNumbers)
		}
	}
}

// datatype reads what elements are.
func (d *dataset) datatype(c *cursor) {
	class := c.byte() & 15
	bits := c.number(3)
	d.size = int(c.number(4))
	switch {
	case class == 0 && (d.size == 1 || d.size == 2 || d.size == 4 || d.size == 8):
		if d.kind = unsigned; bits&8 != 0 {
			d.kind = signed
		}
	case class == 8 && d.size == 1: // of h5py's bool
		d.kind, bits = unsigned, 0
	case class == 1 && (d.size == 4 || d.size == 8):
		offset, precision := c.number(2), c.number(2)
		exponent, width := c.byte(), c.byte()
		c.byte()
		mantissa := c.byte()
		want := [3]int{23, 8, 23}
		if d.size == 8 {
			want = [3]int{52, 11, 52}
		}
		if offset == 0 && int(precision) == 8*d.size && [3]int{exponent, width, mantissa} == want && bits&0x40 == 0 {
			d.kind = float
		}
	}
	d.big = bits&1 != 0
}

// pipeline reads the filters.
func (d *dataset) pipeline(c *cursor) {
	version, n := c.byte(), c.byte()
	if version > 2 {
		fail("version %d of filters is not read", version)
	} else if version == 1 {
		c.bytes(6)
	}
	for range n {
		id, length := int(c.number(2)), uint64(0)
		if version == 1 || id >= 256 {
			length = c.number(2)
		}
		c.number(2)
		values := c.number(2)
		if version == 1 { // both fill words
			length, values = (length+7)/8*8, values+values%2
		}
		c.bytes(length + 4*values)
		d.filters = append(d.filters, id)
	}
}

// array reads the numbers.
func (r *reader) array(path string, d *dataset) Array {
	total := d.total
	if r.numbers += total; r.numbers > MaxNumbers {
		fail("the file has more than %d numbers", MaxNumbers)
	}
	a := Array{Shape: d.shape, Data: make([]float64, total)}
	if total == 0 {
		return a
	}
	c := d.layout
	version, class := c.byte(), c.byte()
	switch {
	case version < 3 || version > 5:
		fail("version %d of the layout of %s is not read", version, path)
	case class == 0:
		d.fill(a.Data, c.bytes(c.number(2)))
	case class == 1:
		address := c.address()
		if address == undefined {
			fail("the array %s was never written", path)
		}
		d.fill(a.Data, r.at(address).bytes(uint64(total*d.size)))
	case class == 2 && version == 3:
		r.chunked(path, d, c, a)
	default:
		fail("%s has chunks with an index of a new version of HDF5, which is not read; write the file with libver = "+
			"earliest", path)
	}
	return a
}

// chunked reads an array of chunks.
func (r *reader) chunked(path string, d *dataset, c *cursor, a Array) {
	rank := c.byte() - 1
	if rank != len(d.shape) {
		fail("the chunks of %s have another number of axes than it has", path)
	}
	address := c.address()
	chunk, size := make([]int, rank), 1
	for k := range chunk {
		n := c.number(4)
		if size *= int(min(n, MaxNumbers+1)); n == 0 || size > MaxNumbers {
			fail("the chunks of %s are none, or too large", path)
		}
		chunk[k] = int(n)
	}
	if int(c.number(4)) != d.size {
		fail("the elements of the chunks of %s have another size", path)
	}
	if address == undefined {
		fail("the array %s was never written", path)
	}
	left := len(a.Data) // numbers that no chunk has given; a chunk gives one at least
	r.chunks(path, d, address, chunk, size, a, &left, 0)
	if left > 0 {
		fail("the array %s was not written to its end", path)
	}
}

// chunks reads a tree of chunks.
func (r *reader) chunks(path string, d *dataset, address uint64, chunk []int, size int, a Array, left *int, depth int) {
	if depth > maxDepth {
		fail("the chunks of %s lie in each other without end", path)
	}
	c := r.at(address)
	c.expect("TREE")
	if c.byte() != 1 {
		fail("the tree of %s is none of chunks", path)
	}
	level := c.byte()
	n := c.number(2)
	c.bytes(uint64(2 * r.offsets))
	for range n {
		stored, mask := c.number(4), c.number(4)
		at := make([]int, len(chunk))
		for k := range at {
			v := c.number(8)
			if v >= uint64(d.shape[k]) && level == 0 || v%uint64(chunk[k]) != 0 {
				fail("a chunk of %s lies outside of it", path)
			}
			at[k] = int(v)
		}
		c.number(8)
		child := c.address()
		if level > 0 {
			r.chunks(path, d, child, chunk, size, a, left, depth+1)
			continue
		}
		if *left <= 0 {
			fail("the array %s has more chunks than it has place for", path)
		}
		*left -= d.place(a, chunk, at, d.unfiltered(r.at(child).bytes(stored), mask, size*d.size))
	}
}

// unfiltered undoes what filters did, the last first. Bits of mask say which were left out.
func (d *dataset) unfiltered(b []byte, mask uint64, size int) []byte {
	for k := len(d.filters) - 1; k >= 0; k-- {
		if mask>>k&1 != 0 {
			continue
		}
		switch id := d.filters[k]; id {
		case 1:
			b = inflated(b, size+4)
		case 2:
			n := len(b) / d.size
			out := make([]byte, len(b))
			copy(out[n*d.size:], b[n*d.size:])
			for i := range n {
				for j := range d.size {
					out[i*d.size+j] = b[j*n+i]
				}
			}
			b = out
		case 3: // a checksum behind it
			b = b[:max(0, len(b)-4)]
		default:
			fail("a chunk has the filter %d, which is not read: deflate, shuffle and fletcher32 are", id)
		}
	}
	if len(b) != size {
		fail("a chunk has %d bytes, not %d", len(b), size)
	}
	return b
}

// place copies a chunk that begins at some indices to its place, and returns how many of its numbers lie within.
func (d *dataset) place(a Array, chunk, at []int, b []byte) (within int) {
	values := make([]float64, len(b)/d.size)
	d.fill(values, b)
	index := make([]int, len(chunk))
	for _, v := range values {
		to, inside := 0, true
		for k, i := range index {
			inside = inside && at[k]+i < a.Shape[k]
			to = to*a.Shape[k] + at[k] + i
		}
		if inside {
			a.Data[to] = v
			within++
		}
		for k := len(index) - 1; k >= 0; k-- {
			if index[k]++; index[k] < chunk[k] {
				break
			}
			index[k] = 0
		}
	}
	return within
}

// fill reads numbers.
func (d *dataset) fill(to []float64, b []byte) {
	if len(b) < len(to)*d.size {
		fail("an array has %d bytes, and %d numbers", len(b), len(to))
	}
	var o binary.ByteOrder = binary.LittleEndian
	if d.big {
		o = binary.BigEndian
	}
	for i := range to {
		e := b[i*d.size : (i+1)*d.size]
		var bits uint64
		switch d.size {
		case 1:
			bits = uint64(e[0])
		case 2:
			bits = uint64(o.Uint16(e))
		case 4:
			bits = uint64(o.Uint32(e))
		case 8:
			bits = o.Uint64(e)
		}
		switch {
		case d.kind == float && d.size == 4:
			to[i] = float64(math.Float32frombits(uint32(bits)))
		case d.kind == float:
			to[i] = math.Float64frombits(bits)
		case d.kind == unsigned:
			to[i] = float64(bits)
		default:
			to[i] = float64(int64(bits<<(64-8*d.size)) >> (64 - 8*d.size))
		}
	}
}
