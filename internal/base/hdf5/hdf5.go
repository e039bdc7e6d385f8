// Package hdf5 reads arrays of numbers from files in HDF5, as programs write them that keep the weights of networks:
// compact, contiguous and chunked arrays, with shuffled and deflated chunks (HDF5 File Format Specification 3.0). It
// refuses by name what such files do not have.
package hdf5

import (
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
)

// Array is an array of numbers, row by row. A scalar has no shape.
type Array struct {
	Shape []int
	Data  []float64
}

const (
	// MaxNumbers is how many numbers all arrays of a file may have.
	MaxNumbers = 1 << 24
	maxDepth   = 40             // of groups and trees in each other
	undefined  = math.MaxUint64 // the address of what a file does not have
)

// Read returns the arrays of numbers in a file by their paths, as "parameters/net1/layer1/weight". Others are left out.
func Read(file []byte) (arrays map[string]Array, err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case stop:
			arrays, err = nil, r.error
		default:
			panic(r)
		}
	}()
	const signature = "\x89HDF\r\n\x1a\n"
	for base := 0; base < len(file); base = max(512, 2*base) {
		if strings.HasPrefix(string(file[base:min(len(file), base+8)]), signature) {
			r := &reader{file: file[base:], arrays: map[string]Array{}, open: map[uint64]bool{}}
			r.superblock()
			return r.arrays, nil
		}
	}
	return nil, errors.New("this is no file in HDF5")
}

// stop ends the reading.
type stop struct{ error }

func fail(format string, args ...any) { panic(stop{fmt.Errorf(format, args...)}) }

// reader reads a file.
type reader struct {
	file            []byte
	offsets, lens   int // sizes of addresses and of lengths
	arrays          map[string]Array
	open            map[uint64]bool // objects that are being read
	numbers, visits int
}

// cursor reads what stands one behind the other.
type cursor struct {
	r    *reader
	rest []byte
}

// at returns what stands at an address.
func (r *reader) at(address uint64) *cursor {
	if address >= uint64(len(r.file)) {
		fail("the file ends before the address %#x that it names", address)
	}
	if r.visits++; r.visits > 1<<20 {
		fail("the file leads to more places than such files have")
	}
	return &cursor{r, r.file[address:]}
}

func (c *cursor) bytes(n uint64) []byte {
	if n > uint64(len(c.rest)) {
		fail("the file ends within an item")
	}
	b := c.rest[:n]
	c.rest = c.rest[n:]
	return b
}

// number reads a whole number of n bytes; all bits set are undefined.
func (c *cursor) number(n int) uint64 {
	var v uint64
	all := true
	for i, b := range c.bytes(uint64(n)) {
		v |= uint64(b) << (8 * i)
		all = all && b == 0xff
	}
	if all && n == c.r.offsets && n > 1 {
		return undefined
	}
	return v
}

func (c *cursor) address() uint64 { return c.number(c.r.offsets) }
func (c *cursor) length() uint64  { return c.number(c.r.lens) }
func (c *cursor) byte() int       { return int(c.bytes(1)[0]) }

func (c *cursor) expect(signature string) {
	if string(c.bytes(uint64(len(signature)))) != signature {
		fail("the file has no %s where one should be", signature)
	}
}

// superblock reads the beginning of the file, and all groups from the root.
func (r *reader) superblock() {
	c := r.at(8)
	version := c.byte()
	if version > 3 {
		fail("version %d of the superblock is not read", version)
	} else if version < 2 {
		c.bytes(4)
	}
	r.offsets, r.lens = c.byte(), c.byte()
	if n, k := r.offsets, r.lens; n != 2 && n != 4 && n != 8 || k != 2 && k != 4 && k != 8 {
		fail("addresses of %d and lengths of %d bytes are not read", n, k)
	}
	skip, before := 1, 3 // addresses: the base, an extension, the end
	if version < 2 {
		skip, before = 9+4*version, 5 // the base, free space, the end, the driver, the name of the root
	}
	c.bytes(uint64(skip + before*r.offsets))
	r.object("", c.address(), 0)
}

// message is one of an object.
type message struct {
	kind, flags int
	body        []byte
}

// messages are what an object says of itself, in version 1 or 2.
func (r *reader) messages(address uint64) (list []message) {
	c := r.at(address)
	two := bytes.HasPrefix(c.rest, []byte("OHDR"))
	head, most := 4, uint64(1<<16)
	var size uint64
	if two {
		c.expect("OHDR\x02")
		flags := c.byte()
		if c.bytes(uint64(flags >> 5 & 1 << 4)); flags&0x10 != 0 {
			c.bytes(4)
		}
		if size = c.number(1 << (flags & 3)); flags&4 != 0 {
			head = 6
		}
	} else {
		c.expect("\x01")
		c.bytes(1)
		most = c.number(2)
		c.bytes(4)
		size, head = c.number(4), 8
		c.bytes(4)
	}
	blocks := []*cursor{{r, c.bytes(size)}}
	for len(blocks) > 0 {
		b := blocks[0]
		blocks = blocks[1:]
		for len(b.rest) >= head && uint64(len(list)) < most {
			var m message
			width, pad := 2, 3
			if two {
				width, pad = 1, head-4
			}
			m.kind = int(b.number(width))
			size := b.number(2)
			m.flags = b.byte()
			b.bytes(uint64(pad))
			m.body = b.bytes(size)
			list = append(list, m)
			if m.kind != 0x10 {
				continue
			}
			in := &cursor{r, m.body}
			next, size := r.at(in.address()), in.length()
			if two && size >= 8 { // with a signature and a checksum
				next.expect("OCHK")
				size -= 8
			}
			blocks = append(blocks, &cursor{r, next.bytes(size)})
		}
	}
	return list
}

// object reads a group with what is in it, or an array.
func (r *reader) object(path string, address uint64, depth int) {
	if depth > maxDepth || r.open[address] {
		fail("groups lie in each other without end")
	}
	r.open[address] = true
	defer delete(r.open, address)
	var d dataset
	for _, m := range r.messages(address) {
		c := &cursor{r, m.body}
		if m.flags&2 != 0 && m.kind != 0xc {
			if m.kind == 3 || m.kind == 1 {
				fail("%s has a type of its own, which is not read", path)
			}
			continue
		}
		switch m.kind {
		case 0x11:
			tree, heap := c.address(), c.address()
			r.symbols(path, tree, r.heap(heap), depth+1)
		case 0x2:
			if c.number(2)>>8&1 != 0 {
				c.bytes(8)
			}
			if c.address() != undefined {
				fail("the group %q has so many members that they are kept in a heap, which is not read; write the "+
					"file with libver = earliest", path)
			}
		case 0x6:
			r.link(path, c, depth+1)
		case 0x1:
			d.space(c)
		case 0x3:
			d.datatype(c)
		case 0x8:
			d.layout = c
		case 0xb:
			d.pipeline(c)
		}
	}
	if d.layout != nil && d.sized && d.kind != other {
		r.arrays[strings.TrimPrefix(path, "/")] = r.array(path, &d)
	}
}

// heap returns the names of a group.
func (r *reader) heap(address uint64) []byte {
	c := r.at(address)
	c.expect("HEAP")
	c.bytes(4)
	size := c.length()
	c.length()
	return r.at(c.address()).bytes(size)
}

// symbols reads the members of a group.
func (r *reader) symbols(path string, address uint64, names []byte, depth int) {
	if depth > maxDepth {
		fail("groups lie in each other without end")
	}
	c := r.at(address)
	if bytes.HasPrefix(c.rest, []byte("TREE")) {
		c.bytes(4)
		if c.byte() != 0 {
			fail("the tree of the group %q is none of groups", path)
		}
		c.bytes(1)
		n := c.number(2)
		c.bytes(uint64(2 * r.offsets))
		for range n {
			c.length()
			r.symbols(path, c.address(), names, depth+1)
		}
		return
	}
	c.expect("SNOD")
	c.bytes(2)
	for range c.number(2) {
		at := c.address()
		if at >= uint64(len(names)) {
			fail("a name of the group %q lies outside of its names", path)
		}
		name, _, _ := strings.Cut(string(names[at:]), "\x00")
		object := c.address()
		kind := c.number(4)
		c.bytes(4 + 16)
		if kind != 2 { // a link that names its place
			r.object(path+"/"+name, object, depth+1)
		}
	}
}

// link reads what a message of a group leads to.
func (r *reader) link(path string, c *cursor, depth int) {
	flags, kind := int(c.number(2)>>8), 0
	if flags&8 != 0 {
		kind = c.byte()
	}
	if flags&4 != 0 {
		c.bytes(8)
	}
	if flags&0x10 != 0 {
		c.bytes(1)
	}
	name := string(c.bytes(c.number(1 << (flags & 3))))
	if kind == 0 {
		r.object(path+"/"+name, c.address(), depth+1)
	}
}

// inflated undoes deflation.
func inflated(b []byte, most int) []byte {
	z, err := zlib.NewReader(bytes.NewReader(b))
	if err != nil {
		fail("a chunk is not deflated as it says: %v", err)
	}
	out, err := io.ReadAll(io.LimitReader(z, int64(most)+1))
	if err != nil || len(out) > most {
		fail("a chunk is not deflated as it says")
	}
	return out
}
