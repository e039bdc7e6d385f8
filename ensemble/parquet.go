package ensemble

import (
	"encoding/binary"
	"io"
	"math"
)

// rowsPerGroup is how many members a row group of a Parquet file has. So much is kept in memory. A test makes it less.
var rowsPerGroup int64 = 1 << 15

// Types of Parquet columns, as the format numbers them.
const (
	parquetInt32  = 1
	parquetInt64  = 2
	parquetDouble = 5
	parquetBytes  = 6
)

// parquetColumn gathers one column of a row group: plain values, and for each row whether it has one.
type parquetColumn struct {
	name     string
	kind     int
	optional bool
	data     []byte
	there    []bool
}

// parquetChunk says where a column of a row group lies in the file.
type parquetChunk struct{ offset, size, rows int64 }

// writeParquet writes a table with the columns of the CSV file. Numbers that are missing are null. The file has the
// plain encoding of version 1 of the format (https://parquet.apache.org/docs/file-format), which every reader knows; a
// library that writes all of the format would weigh ten times what the rest of this package does.
func writeParquet(w io.Writer, p *Problem, chunks Chunks) error {
	columns := []*parquetColumn{
		{name: "member", kind: parquetInt64}, {name: "status", kind: parquetBytes}, {name: "steps", kind: parquetInt32},
	}
	for _, name := range p.Table.Names() {
		columns = append(columns, &parquetColumn{name: name, kind: parquetDouble, optional: true})
	}
	last := &parquetColumn{name: "error", kind: parquetBytes, optional: true}
	columns = append(columns, last)
	f := &parquetFile{w: w, columns: columns}
	f.write([]byte("PAR1"))
	le, width := binary.LittleEndian, p.Table.Width()
	for c, err := range chunks {
		if err != nil {
			return err
		}
		why := c.remarks()
		for i, status := range c.Status {
			columns[0].data = le.AppendUint64(columns[0].data, uint64(c.First+i+1))
			columns[1].text(status.String())
			columns[2].data = le.AppendUint32(columns[2].data, uint32(c.Steps[i]))
			for k, x := range c.Rows[i*width : (i+1)*width] {
				col := columns[3+k]
				if col.there = append(col.there, x == x); x == x {
					col.data = le.AppendUint64(col.data, math.Float64bits(x))
				}
			}
			failed := len(why) > 0 && why[0].Member == c.First+i
			if last.there = append(last.there, failed); failed {
				last.text(why[0].text())
				why = why[1:]
			}
		}
		if f.rows += int64(len(c.Status)); f.rows >= rowsPerGroup {
			f.group()
		}
	}
	if f.rows > 0 {
		f.group()
	}
	f.footer()
	return f.err
}

func (c *parquetColumn) text(s string) {
	c.data = binary.LittleEndian.AppendUint32(c.data, uint32(len(s)))
	c.data = append(c.data, s...)
}

// parquetFile writes row groups, and at the end what the file holds.
type parquetFile struct {
	w       io.Writer
	err     error
	at      int64
	columns []*parquetColumn
	rows    int64 // of the group that is being gathered
	groups  [][]parquetChunk
}

func (f *parquetFile) write(b []byte) {
	if f.err == nil {
		_, f.err = f.w.Write(b)
	}
	f.at += int64(len(b))
}

// levels returns which rows have a value, as runs.
func (c *parquetColumn) levels() []byte {
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
func (f *parquetFile) group() {
	var list []parquetChunk
	for _, c := range f.columns {
		var levels []byte
		if c.optional {
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
		list = append(list, parquetChunk{offset, f.at - offset, f.rows})
		c.data, c.there = c.data[:0], c.there[:0]
	}
	f.groups, f.rows = append(f.groups, list), 0
}

// footer writes what the file holds.
func (f *parquetFile) footer() {
	var t thrift
	t.int(1, 1) // version
	t.list(2, thriftStruct, len(f.columns)+1)
	t.text(4, "members")
	t.int(5, int64(len(f.columns)))
	t.end()
	for _, c := range f.columns {
		t.open()
		t.int(1, int64(c.kind))
		repetition := int64(0)
		if c.optional {
			repetition = 1
		}
		t.int(3, repetition)
		t.text(4, c.name)
		if c.kind == parquetBytes {
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
		for k, chunk := range g {
			if k > 0 {
				t.open()
			}
			size += chunk.size
			t.long(2, chunk.offset)
			t.begin(3)
			t.int(1, int64(f.columns[k].kind))
			t.list(2, thriftInt32, 2)
			t.b = append(t.b, 0, 6) // plain, runs
			t.close()
			t.list(3, thriftBinary, 1)
			t.close()
			t.string(f.columns[k].name)
			t.int(4, 0) // not compressed
			t.long(5, chunk.rows)
			t.long(6, chunk.size)
			t.long(7, chunk.size)
			t.long(9, chunk.offset)
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
