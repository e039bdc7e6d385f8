package ensemble

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"math"
)

// A chunk is written as a head of 24 bytes (magic, index, first member, members, numbers, bytes of remarks), one byte
// for the status of each member, four for its steps, eight for each number, remarks as JSON, and a checksum.
const (
	chunkMagic = "OCh2"
	chunkHead  = 24
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// remarks are failures and doubts as JSON.
type remarks struct {
	Failures []Failure `json:"failures,omitempty"`
	Doubts   []Doubt   `json:"doubts,omitempty"`
}

// Encode returns the chunk as bytes. The same chunk gives the same bytes.
func (c *Chunk) Encode() []byte {
	said := []byte{}
	if len(c.Failures)+len(c.Doubts) > 0 {
		var err error
		if said, err = json.Marshal(remarks{c.Failures, c.Doubts}); err != nil {
			panic("ensemble: failures and doubts are plain data: " + err.Error())
		}
	}
	le := binary.LittleEndian
	b := make([]byte, 0, chunkHead+5*len(c.Status)+8*len(c.Rows)+len(said)+4)
	b = append(b, chunkMagic...)
	for _, n := range []int{c.Index, c.First, len(c.Status), len(c.Rows), len(said)} {
		b = le.AppendUint32(b, uint32(n))
	}
	for _, s := range c.Status {
		b = append(b, byte(s))
	}
	for _, s := range c.Steps {
		b = le.AppendUint32(b, uint32(s))
	}
	for _, x := range c.Rows {
		b = le.AppendUint64(b, math.Float64bits(x))
	}
	b = append(b, said...)
	return le.AppendUint32(b, crc32.Checksum(b, castagnoli))
}

// errChunk says that bytes are no chunk, or not all of one.
var errChunk = errors.New("this is no chunk of results, or not all of one")

// chunkSize returns how many bytes a chunk has whose first bytes these are; 0 where they are no head.
func chunkSize(head []byte) int {
	if len(head) < chunkHead || string(head[:4]) != chunkMagic {
		return 0
	}
	le := binary.LittleEndian
	members, numbers, said := le.Uint32(head[12:]), le.Uint32(head[16:]), le.Uint32(head[20:])
	return chunkHead + 5*int(members) + 8*int(numbers) + int(said) + 4
}

// DecodeChunk reads what Encode wrote.
func DecodeChunk(b []byte) (*Chunk, error) {
	n := chunkSize(b)
	le := binary.LittleEndian
	if n == 0 || n != len(b) || crc32.Checksum(b[:n-4], castagnoli) != le.Uint32(b[n-4:]) {
		return nil, errChunk
	}
	members, numbers, said := int(le.Uint32(b[12:])), int(le.Uint32(b[16:])), int(le.Uint32(b[20:]))
	c := &Chunk{
		Index: int(le.Uint32(b[4:])), First: int(le.Uint32(b[8:])), Status: make([]Status, members),
		Steps: make([]int32, members), Rows: make([]float64, numbers),
	}
	b = b[chunkHead:]
	for i := range c.Status {
		if c.Status[i] = Status(b[i]); c.Status[i] > Failed {
			return nil, errChunk
		}
	}
	b = b[members:]
	for i := range c.Steps {
		c.Steps[i] = int32(le.Uint32(b[4*i:]))
	}
	b = b[4*members:]
	for i := range c.Rows {
		c.Rows[i] = math.Float64frombits(le.Uint64(b[8*i:]))
	}
	if said > 0 {
		var r remarks
		if err := json.Unmarshal(b[8*numbers:8*numbers+said], &r); err != nil {
			return nil, errChunk
		}
		c.Failures, c.Doubts = r.Failures, r.Doubts
	}
	return c, nil
}

// fits reports whether a chunk is one of the problem.
func (p *Problem) fits(c *Chunk) bool {
	if c.Index < 0 || c.Index >= p.Chunks() {
		return false
	}
	from, to := p.Members(c.Index)
	return c.First == from && len(c.Status) == to-from && len(c.Rows) == (to-from)*p.Table.Width()
}
