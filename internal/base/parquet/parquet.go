// Package parquet writes tables as Parquet files, in the plain encoding of version 1 of the format, which every reader
// knows (https://parquet.apache.org/docs/file-format). A library that writes all of the format would weigh ten times
// what packages that use this one do.
package parquet

import (
	"encoding/binary"
	"io"
	"math"
)

// Kind is the type of a column, as the format numbers it.
type Kind int

// Types of columns.
const (
	Int32  Kind = 1
	Int64  Kind = 2
	Double Kind = 5
	Bytes  Kind = 6
)

// Column gathers one column of a row group: plain values and, where it is optional, for each row whether it has one.
type Column struct {
	Name     string
	Kind     Kind
	Optional bool
	data     []byte
	there    []bool
}

// Int adds a whole number.
func (c *Column) Int(n int64) {
	if c.Kind == Int32 {
		c.data = binary.LittleEndian.AppendUint32(c.data, uint32(n))
		return
	}
	c.data = binary.LittleEndian.AppendUint64(c.data, uint64(n))
}

// Number adds a number; of an optional column, NaN is none.
func (c *Column) Number(x float64) {
	if c.Optional {
		c.there = append(c.there, x == x)
		if x != x {
			return
		}
	}
	c.data = binary.LittleEndian.AppendUint64(c.data, math.Float64bits(x))
}

// Text adds a text.
func (c *Column) Text(s string) {
	if c.Optional {
		c.there = append(c.there, true)
	}
	c.data = binary.LittleEndian.AppendUint32(c.data, uint32(len(s)))
	c.data = append(c.data, s...)
}

// None adds that an optional column has no value.
func (c *Column) None() { c.there = append(c.there, false) }

// chunk says where a column of a row group lies in the file.
type chunk struct{ offset, size, rows int64 }

// File writes row groups, and at the end what the file holds.
type File struct {
	name    string // of a row, for readers
	w       io.Writer
	err     error
	at      int64
	columns []*Column
	rows    int64 // of the group that is being gathered
	groups  [][]chunk
}

// New begins a file. Rows are called name in it.
func New(w io.Writer, name string, columns []*Column) *File {
	f := &File{name: name, w: w, columns: columns}
	f.write([]byte("PAR1"))
	return f
}

// Rows says that all columns got n more rows. From most rows on, these are written as a group: so much is kept in
// memory.
func (f *File) Rows(n int, most int64) {
	if f.rows += int64(n); f.rows >= most {
		f.group()
	}
}

// Close writes what is left, and ends the file.
func (f *File) Close() error {
	if f.rows > 0 {
		f.group()
	}
	f.footer()
	return f.err
}

func (f *File) write(b []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(b)
	}
	f.at += int64(len(b))
}

// levels returns which rows have a value, as runs.
func (c *Column) levels() []byte {
	var runs []byte
	for i := 0; i < len(c.there); {
		n := i
		for n < len(c.there) && c.there[n] == c.there[i] {
			n++
		}
		runs = binary.AppendUvarint(runs, uint64(n-i)<<1)
		level := byte(0)
		if c.there[i] {
			level = 1
		}
		runs, i = append(runs, level), n
	}
	return append(binary.LittleEndian.AppendUint32(nil, uint32(len(runs))), runs...)
}

// group writes what was gathered as one row group: a page for each column.
func (f *File) group() {
	var list []chunk
	for _, c := range f.columns {
		var levels []byte
		if c.Optional {
			levels = c.levels()
		}
		size := int64(len(levels) + len(c.data))
		var head thrift
		head.int(1, 0) // a data page
		head.int(2, size)
		head.int(3, size)
		head.begin(5)
		head.int(1, f.rows)
		head.int(2, 0) // plain
		head.int(3, 3) // levels are runs
		head.int(4, 3)
		head.end()
		head.end()
		offset := f.at
		f.write(head.b)
		f.write(levels)
		f.write(c.data)
		list = append(list, chunk{offset, f.at - offset, f.rows})
		c.data, c.there = c.data[:0], c.there[:0]
	}
	f.groups, f.rows = append(f.groups, list), 0
}

// footer writes what the file holds.
func (f *File) footer() {
	var t thrift
	t.int(1, 1) // version
	t.list(2, thriftStruct, len(f.columns)+1)
	t.text(4, f.name)
	t.int(5, int64(len(f.columns)))
	t.end()
	for _, c := range f.columns {
		t.open()
		t.int(1, int64(c.Kind))
		repetition := int64(0)
		if c.Optional {
			repetition = 1
		}
		t.int(3, repetition)
		t.text(4, c.Name)
		if c.Kind == Bytes {
			t.int(6, 0) // UTF-8
		}
		t.end()
	}
	total := int64(0)
	for _, g := range f.groups {
		total += g[0].rows
	}
	t.long(3, total)
	t.list(4, thriftStruct, len(f.groups))
	for i, g := range f.groups {
		if i > 0 {
			t.open()
		}
		size := int64(0)
		t.list(1, thriftStruct, len(g))
		for k, c := range g {
			if k > 0 {
				t.open()
			}
			size += c.size
			t.long(2, c.offset)
			t.begin(3)
			t.int(1, int64(f.columns[k].Kind))
			t.list(2, thriftInt32, 2)
			t.b = append(t.b, 0, 6) // plain, runs
			t.close()
			t.list(3, thriftBinary, 1)
			t.close()
			t.string(f.columns[k].Name)
			t.int(4, 0) // not compressed
			t.long(5, c.rows)
			t.long(6, c.size)
			t.long(7, c.size)
			t.long(9, c.offset)
			t.end()
			t.end()
		}
		t.long(2, size)
		t.long(3, g[0].rows)
		t.end()
	}
	t.text(6, "odes")
	t.end()
	f.write(t.b)
	f.write(binary.LittleEndian.AppendUint32(nil, uint32(len(t.b))))
	f.write([]byte("PAR1"))
}

// thrift writes structs in the compact protocol of Apache Thrift.
type thrift struct {
	b    []byte
	last []int // field that was written last, of every struct that is open but the first
	id   int   // and of the innermost one
}

// Types of fields.
const (
	thriftInt32  = 5
	thriftInt64  = 6
	thriftBinary = 8
	thriftList   = 9
	thriftStruct = 12
)

func (t *thrift) field(id, kind int) {
	t.b = append(t.b, byte(id-t.id)<<4|byte(kind)) // fields are less than 16 apart
	t.id = id
}

func (t *thrift) zigzag(x int64) { t.b = binary.AppendUvarint(t.b, uint64(x<<1^x>>63)) }

func (t *thrift) int(id int, x int64) {
	t.field(id, thriftInt32)
	t.zigzag(x)
}

func (t *thrift) long(id int, x int64) {
	t.field(id, thriftInt64)
	t.zigzag(x)
}

func (t *thrift) string(s string) {
	t.b = binary.AppendUvarint(t.b, uint64(len(s)))
	t.b = append(t.b, s...)
}

func (t *thrift) text(id int, s string) {
	t.field(id, thriftBinary)
	t.string(s)
}

// open begins a struct that is an element of a list, close leaves one that was opened without writing its end.
func (t *thrift) open()  { t.last, t.id = append(t.last, t.id), 0 }
func (t *thrift) close() { t.id, t.last = t.last[len(t.last)-1], t.last[:len(t.last)-1] }

// begin begins a struct that is a field, and end ends the innermost struct.
func (t *thrift) begin(id int) {
	t.field(id, thriftStruct)
	t.open()
}

func (t *thrift) end() {
	if t.b = append(t.b, 0); len(t.last) > 0 {
		t.close()
	}
}

// list begins a list, and its first element.
func (t *thrift) list(id, kind, n int) {
	t.field(id, thriftList)
	if n < 15 {
		t.b = append(t.b, byte(n)<<4|byte(kind))
	} else {
		t.b = binary.AppendUvarint(append(t.b, 0xf0|byte(kind)), uint64(n))
	}
	t.open()
}
