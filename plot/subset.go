package plot

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// subset is a part of a TrueType font: some of its glyphs, in the order in which they were asked for. The first is that
// of letters which are missing.
type subset struct {
	font    *sfnt.Font
	glyphs  []sfnt.GlyphIndex
	letters map[sfnt.GlyphIndex]rune // what glyphs stand for
	buffer  sfnt.Buffer
}

func newSubset(f *sfnt.Font) *subset {
	return &subset{font: f, glyphs: []sfnt.GlyphIndex{0}, letters: map[sfnt.GlyphIndex]rune{}}
}

// number returns the number of a glyph in the subset.
func (s *subset) number(g sfnt.GlyphIndex, r rune) int {
	if _, ok := s.letters[g]; !ok && g != 0 {
		s.letters[g] = r
	}
	return s.place(g)
}

func (s *subset) place(g sfnt.GlyphIndex) int {
	if k := slices.Index(s.glyphs, g); k >= 0 {
		return k
	}
	s.glyphs = append(s.glyphs, g)
	return len(s.glyphs) - 1
}

// advance returns how wide a glyph is, in units of the font.
func (s *subset) advance(g sfnt.GlyphIndex) int {
	a, err := s.font.GlyphAdvance(&s.buffer, g, fixed.Int26_6(s.font.UnitsPerEm()), 0)
	if err != nil {
		return 0
	}
	return int(a)
}

var errFont = errors.New("the font cannot be cut")

// file writes the subset as a TrueType font without hints, with the tables that a document needs.
func (s *subset) file() ([]byte, error) {
	var raw bytes.Buffer
	if _, err := s.font.WriteSourceTo(nil, &raw); err != nil {
		return nil, err
	}
	tables, err := tablesOf(raw.Bytes())
	if err != nil {
		return nil, err
	}
	u16 := binary.BigEndian.Uint16
	head, loca, glyf := slices.Clone(tables["head"]), tables["loca"], tables["glyf"]
	hhea, maxp, hmtx := slices.Clone(tables["hhea"]), slices.Clone(tables["maxp"]), tables["hmtx"]
	if len(head) < 54 || len(hhea) < 36 || len(maxp) < 32 {
		return nil, errFont
	}
	offset := func(k int) int {
		if u16(head[50:]) == 0 {
			return 2 * int(u16(loca[2*k:]))
		}
		return int(binary.BigEndian.Uint32(loca[4*k:]))
	}
	measured := int(u16(hhea[34:])) // glyphs with a width of their own; the rest have that of the last
	var shapes, places, widths []byte
	for k := 0; k < len(s.glyphs); k++ { // parts of composite glyphs join the list
		g := int(s.glyphs[k])
		places = binary.BigEndian.AppendUint32(places, uint32(len(shapes)))
		shape, err := s.plain(slices.Clone(glyf[offset(g):offset(g+1)]))
		if err != nil {
			return nil, err
		}
		shapes = append(shapes, shape...)
		for len(shapes)%4 != 0 {
			shapes = append(shapes, 0)
		}
		last := min(g, measured-1)
		widths = append(widths, hmtx[4*last:4*last+2]...)
		if g < measured {
			widths = append(widths, hmtx[4*g+2:4*g+4]...)
		} else {
			widths = append(widths, hmtx[4*measured+2*(g-measured):][:2]...)
		}
	}
	places = binary.BigEndian.AppendUint32(places, uint32(len(shapes)))
	count := uint16(len(s.glyphs))
	binary.BigEndian.PutUint32(head[8:], 0)
	binary.BigEndian.PutUint16(head[50:], 1) // long offsets
	binary.BigEndian.PutUint16(hhea[34:], count)
	binary.BigEndian.PutUint16(maxp[4:], count)
	file := assemble([]table{
		{"glyf", shapes},
		{"head", head},
		{"hhea", hhea},
		{"hmtx", widths},
		{"loca", places},
		{"maxp", maxp},
	})
	at := bytes.Index(file, head)
	binary.BigEndian.PutUint32(file[at+8:], 0xb1b0afba-checksum(file))
	return file, nil
}

// Flags of the parts of a composite glyph.
const (
	wordsFollow = 1 << 0
	hasScale    = 1 << 3
	morePart    = 1 << 5
	twoScales   = 1 << 6
	matrix      = 1 << 7
	hasHints    = 1 << 8
)

// plain drops the hints of a glyph, and gives its parts the numbers of the subset.
func (s *subset) plain(shape []byte) ([]byte, error) {
	if len(shape) == 0 {
		return nil, nil
	}
	u16 := binary.BigEndian.Uint16
	if contours := int(int16(u16(shape))); contours >= 0 {
		at := 10 + 2*contours
		if len(shape) < at+2 {
			return nil, errFont
		}
		hints := int(u16(shape[at:]))
		binary.BigEndian.PutUint16(shape[at:], 0)
		return append(shape[:at+2:at+2], shape[at+2+hints:]...), nil
	}
	for at := 10; ; {
		if len(shape) < at+4 {
			return nil, errFont
		}
		flags := u16(shape[at:])
		part := s.place(sfnt.GlyphIndex(u16(shape[at+2:])))
		binary.BigEndian.PutUint16(shape[at:], flags&^hasHints)
		binary.BigEndian.PutUint16(shape[at+2:], uint16(part))
		at += 6
		if flags&wordsFollow != 0 {
			at += 2
		}
		switch {
		case flags&hasScale != 0:
			at += 2
		case flags&twoScales != 0:
			at += 4
		case flags&matrix != 0:
			at += 8
		}
		if flags&morePart == 0 {
			return shape[:min(at, len(shape))], nil
		}
	}
}

// table is a table of a font file.
type table struct {
	name string
	data []byte
}

// tablesOf returns the tables of a font file.
func tablesOf(file []byte) (map[string][]byte, error) {
	if len(file) < 12 || binary.BigEndian.Uint32(file) != 0x00010000 {
		return nil, fmt.Errorf("%w: it is not TrueType", errFont)
	}
	tables := map[string][]byte{}
	for k := range int(binary.BigEndian.Uint16(file[4:])) {
		row := file[12+16*k:]
		from, size := binary.BigEndian.Uint32(row[8:]), binary.BigEndian.Uint32(row[12:])
		tables[string(row[:4])] = file[from : from+size]
	}
	return tables, nil
}

// assemble writes tables, in the order of their names, as a font file.
func assemble(tables []table) []byte {
	n := len(tables)
	log := 0
	for 2<<log <= n {
		log++
	}
	file := binary.BigEndian.AppendUint32(nil, 0x00010000)
	for _, x := range []int{n, 16 << log, log, 16*n - 16<<log} {
		file = binary.BigEndian.AppendUint16(file, uint16(x))
	}
	at := 12 + 16*n
	for _, t := range tables {
		file = append(file, t.name...)
		for _, x := range []uint32{checksum(t.data), uint32(at), uint32(len(t.data))} {
			file = binary.BigEndian.AppendUint32(file, x)
		}
		at += (len(t.data) + 3) / 4 * 4
	}
	for _, t := range tables {
		file = append(file, t.data...)
		for len(file)%4 != 0 {
			file = append(file, 0)
		}
	}
	return file
}

// checksum adds up a table as numbers of four bytes.
func checksum(data []byte) (sum uint32) {
	for k := 0; k < len(data); k += 4 {
		var word [4]byte
		copy(word[:], data[k:])
		sum += binary.BigEndian.Uint32(word[:])
	}
	return sum
}
