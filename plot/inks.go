package plot

import (
	"fmt"
	"image/color"

	"gonum.org/v1/plot/vg"
)

// inks are the colours of a picture in a file, and how letters are drawn.
type inks struct {
	paper, ink, grid, mark color.NRGBA
	// curves are the colours of Okabe and Ito, which people who do not see red or green can tell
	// apart; on white paper, those that are too light for lines are darker. Dashes repeat the
	// difference for prints without colour.
	curves []color.NRGBA
	// ramp runs evenly in lightness, together with the hue, so that order is visible in grey as
	// well. All of it stands out from the paper; shades, of areas, run on to the lightest.
	ramp, shades []color.NRGBA
	// negative and positive fill bars; cold is the end of a heat map below zero.
	negative, positive, cold color.NRGBA
	band                     color.NRGBA
	format                   format  // the zero format measures text with the one font
	lost                     *[]rune // letters that boxes stand for
}

var dashes = [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}}

func rgb(x uint32) color.NRGBA { return color.NRGBA{uint8(x >> 16), uint8(x >> 8), uint8(x), 0xff} }

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02x%02x%02x", c.R, c.G, c.B) }

func palette(list ...uint32) []color.NRGBA {
	var out []color.NRGBA
	for _, x := range list {
		out = append(out, rgb(x))
	}
	return out
}

// inksOf returns the inks for a page.
func inksOf(p Page) *inks {
	if p.Dark {
		return &inks{
			paper: rgb(0x1a1c20), ink: rgb(0xd6d6d6), grid: rgb(0x34373d), mark: rgb(0x7d8087),
			curves:   palette(0x56b4e9, 0xe69f00, 0x2fbf94, 0xdf93bd, 0xf0743e, 0xf0e442, 0xd6d6d6),
			ramp:     palette(0x6a5fc0, 0x5a80d0, 0x3f9ccb, 0x35b3b0, 0x4cc68a, 0x86d562, 0xc3de48, 0xf5e663),
			shades:   palette(0x6a5fc0, 0x5a80d0, 0x3f9ccb, 0x35b3b0, 0x4cc68a, 0x86d562, 0xc3de48, 0xf5e663),
			negative: rgb(0xe69f00), positive: rgb(0x56b4e9), cold: rgb(0xf0963e),
			band: color.NRGBA{0x56, 0xb4, 0xe9, 0x38},
		}
	}
	return &inks{
		paper: rgb(0xffffff), ink: rgb(0x333333), grid: rgb(0xe4e4e4), mark: rgb(0x808080),
		curves:   palette(0x0072b2, 0xb87a00, 0x009970, 0xc470a0, 0xd55e00, 0x3d8fd1, 0x333333),
		ramp:     palette(0x440154, 0x481d6f, 0x453581, 0x3d4d8a, 0x34618d, 0x2b748e, 0x24878e, 0x1f998a),
		shades:   palette(0x440154, 0x472d7b, 0x3b528b, 0x2c728e, 0x21918c, 0x28ae80, 0x5ec962, 0xaddc30),
		negative: rgb(0xb87a00), positive: rgb(0x0072b2), cold: rgb(0xc65f00),
		band: color.NRGBA{0x00, 0x72, 0xb2, 0x30},
	}
}
