package plot

import (
	"image"
	"image/color"
	"image/png"
	"io"
	"math"

	"golang.org/x/image/draw"
	"golang.org/x/image/vector"
)

// dpi of a png: sharp on screens of today.
const dpi = 192

// writePNG paints a sheet.
func writePNG(w io.Writer, s *sheet) error {
	scale := s.dots / 72
	wide, tall := int(math.Round(s.width*scale)), int(math.Round(s.height*scale))
	img := image.NewRGBA(image.Rect(0, 0, max(1, wide), max(1, tall)))
	p := &painter{img: img, at: affine{scale, 0, 0, -scale, 0, s.height * scale}, scale: scale}
	for _, it := range s.items {
		switch {
		case it.image != nil:
			lo, hi := p.map2(it.lo), p.map2(it.hi)
			r := image.Rect(int(math.Round(lo.x)), int(math.Round(lo.y)), int(math.Round(hi.x)), int(math.Round(hi.y)))
			draw.NearestNeighbor.Scale(img, r, it.image, it.image.Bounds(), draw.Over, nil)
		case it.text != nil:
			p.fill(p.polygons(it.text.shapes()), it.colour)
		case it.width > 0:
			p.stroke(it)
		default:
			p.fill(p.polygons(it.path), it.colour)
		}
	}
	return png.Encode(w, img)
}

// painter paints polygons.
type painter struct {
	img   *image.RGBA
	at    affine
	scale float64
	r     vector.Rasterizer
}

func (p *painter) map2(q point) point {
	return point{p.at.a*q.x + p.at.c*q.y + p.at.e, p.at.b*q.x + p.at.d*q.y + p.at.f}
}

// polygons maps a path to pixels and makes its curves polygons. Each has its first point at its end again where the
// path is closed.
func (p *painter) polygons(path []segment) [][]point {
	var list [][]point
	var now []point
	for _, s := range path {
		to := p.map2(s.to)
		switch s.kind {
		case moves:
			if len(now) > 1 {
				list = append(list, now)
			}
			now = []point{to}
		case draws:
			now = append(now, to)
		case bends:
			from, a, b := now[len(now)-1], p.map2(s.a), p.map2(s.b)
			length := apart(from, a) + apart(a, b) + apart(b, to)
			n := int(min(64, 2+math.Sqrt(length)*2))
			for k := 1; k <= n; k++ {
				t := float64(k) / float64(n)
				u := 1 - t
				now = append(now, point{
					u*u*u*from.x + 3*u*u*t*a.x + 3*u*t*t*b.x + t*t*t*to.x,
					u*u*u*from.y + 3*u*u*t*a.y + 3*u*t*t*b.y + t*t*t*to.y,
				})
			}
		case closes:
			if len(now) > 0 {
				now = append(now, now[0])
			}
		}
	}
	if len(now) > 1 {
		list = append(list, now)
	}
	return list
}

func apart(a, b point) float64 { return math.Hypot(b.x-a.x, b.y-a.y) }

// fill paints what lies within polygons.
func (p *painter) fill(polygons [][]point, c color.NRGBA) {
	lo, hi := point{math.Inf(1), math.Inf(1)}, point{math.Inf(-1), math.Inf(-1)}
	for _, list := range polygons {
		for _, q := range list {
			lo, hi = point{min(lo.x, q.x), min(lo.y, q.y)}, point{max(hi.x, q.x), max(hi.y, q.y)}
		}
	}
	box := p.img.Bounds()
	clamp := func(x float64) int { return int(max(-1, min(x, 1e5))) }
	box = box.Intersect(image.Rect(clamp(math.Floor(lo.x)), clamp(math.Floor(lo.y)), clamp(math.Ceil(hi.x))+1,
		clamp(math.Ceil(hi.y))+1))
	if box.Empty() {
		return
	}
	p.r.Reset(box.Dx(), box.Dy())
	for _, list := range polygons {
		for k, q := range list {
			x, y := float32(q.x-float64(box.Min.X)), float32(q.y-float64(box.Min.Y))
			if k == 0 {
				p.r.MoveTo(x, y)
			} else {
				p.r.LineTo(x, y)
			}
		}
		p.r.ClosePath()
	}
	p.r.Draw(p.img, box, image.NewUniform(c), image.Point{})
}

// stroke paints a line: a rectangle for each of its parts, and a disc where two of them meet. All of them turn the same
// way, so that they add up to one area.
func (p *painter) stroke(it item) {
	half := max(it.width*p.scale, 0.7) / 2
	var area [][]point
	for _, list := range dashed(p.polygons(it.path), it.dashes, p.scale) {
		for k := 1; k < len(list); k++ {
			a, b := list[k-1], list[k]
			d := apart(a, b)
			if d == 0 {
				continue
			}
			x, y := half*(b.x-a.x)/d, half*(b.y-a.y)/d
			area = append(area, []point{
				{a.x - y, a.y + x},
				{a.x + y, a.y - x},
				{b.x + y, b.y - x},
				{b.x - y, b.y + x},
			})
			if closed := list[0] == list[len(list)-1]; k+1 < len(list) || closed {
				area = append(area, disc(b, half))
			}
		}
	}
	p.fill(area, it.colour)
}

// disc is a polygon around a point that turns as the rectangles of stroke do.
func disc(at point, r float64) []point {
	n := int(min(32, 6+2*r))
	list := make([]point, n)
	for k := range list {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(n))
		list[k] = point{at.x + r*cos, at.y + r*sin}
	}
	return list
}

// dashed cuts lines into dashes, whose lengths are given in points.
func dashed(lines [][]point, pattern []float64, scale float64) [][]point {
	whole := 0.0
	for _, d := range pattern {
		whole += d
	}
	if !(whole > 0) {
		return lines
	}
	var out [][]point
	for _, list := range lines {
		k, left, on := 0, pattern[0]*scale, true
		now := []point{list[0]}
		for i := 1; i < len(list); i++ {
			a, b := list[i-1], list[i]
			for {
				d := apart(a, b)
				if d <= left {
					left -= d
					break
				}
				a = point{a.x + (b.x-a.x)*left/d, a.y + (b.y-a.y)*left/d}
				if on {
					out = append(out, append(now, a))
				}
				on, k = !on, (k+1)%len(pattern)
				now, left = []point{a}, pattern[k]*scale
			}
			if on {
				now = append(now, b)
			}
		}
		if on && len(now) > 1 {
			out = append(out, now)
		}
	}
	return out
}
