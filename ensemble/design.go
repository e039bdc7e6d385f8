package ensemble

import (
	"fmt"
	"math"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/sample"
)

// Ways to choose the values of members, beside those of package sample: random, lhs and sobol.
const (
	Grid     = "grid"     // all combinations of values along the axes
	Rows     = "rows"     // rows of a table
	Saltelli = "saltelli" // two samples and their mixtures, for Sobol indices
	Morris   = "morris"   // paths along which one value changes at a time, for elementary effects
)

// MorrisLevels is how many values of each axis the paths of Morris visit.
const MorrisLevels = 4

// Design says which values the members have.
type Design struct {
	Points string `json:"points"`
	// N is the number of members; for saltelli that of points in each sample, for morris that of paths. Those of grids
	// and rows follow from the axes and the table.
	N    int    `json:"n,omitempty"`
	Seed uint64 `json:"seed,omitempty"`
	Axes []Axis `json:"axes,omitempty"`
	// Table has a row for each member, for the design rows; Names are those of its columns.
	Names []string `json:"names,omitempty"`
	Table [][]Real `json:"table,omitempty"`
}

// Axis is a number of the model that differs from member to member.
type Axis struct {
	Name string `json:"name"` // "k", "A[2]" or "initial(x)"
	Unit string `json:"unit,omitempty"`
	// Dist is a distribution of the language, or loguniform; Args are its arguments, and Lo and Hi cut it off.
	Dist   string `json:"dist"`
	Args   []Real `json:"args"`
	Lo, Hi Real
	Count  int `json:"count,omitempty"` // values along the axis of a grid
}

// Spacing says how values lie along a range: "evenly spaced" or "by equal ratios"; "" for another distribution.
func (a Axis) Spacing() string {
	switch a.Dist {
	case "uniform":
		return "evenly spaced"
	case "loguniform":
		return "by equal ratios"
	}
	return ""
}

// Span returns an axis from lo to hi, evenly spaced or, if log, by equal ratios.
func Span(name, unit string, lo, hi float64, log bool, count int) Axis {
	a := Axis{
		Name: name, Unit: unit, Dist: "uniform", Args: []Real{Real(lo), Real(hi)}, Lo: Real(math.Inf(-1)),
		Hi: Real(math.Inf(1)), Count: count,
	}
	if log {
		a.Dist = "loguniform"
	}
	return a
}

// points are the values of the members of a design.
type points struct {
	names, units []string
	n            int
	at           func(i int, x []float64)
}

// open checks a design.
func (d *Design) open() (*points, error) {
	if d.Points == Rows {
		p := &points{names: d.Names, units: make([]string, len(d.Names)), n: len(d.Table)}
		for i, row := range d.Table {
			if len(row) != len(d.Names) {
				return nil, fmt.Errorf("row %d of the table has %d numbers for %d names", i+1, len(row), len(d.Names))
			}
			for k, v := range row {
				if v != v {
					return nil, fmt.Errorf("%s cannot be nan, as in row %d of the table", d.Names[k], i+1)
				}
			}
		}
		p.at = func(i int, x []float64) {
			for k, v := range d.Table[i] {
				x[k] = float64(v)
			}
		}
		return p, nil
	}
	p := &points{n: d.N}
	var dists []*sample.Dist
	var counts []int
	for _, a := range d.Axes {
		dist, err := sample.NewDist(a.Dist, Floats(a.Args), float64(a.Lo), float64(a.Hi))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", a.Name, err)
		}
		p.names, p.units = append(p.names, a.Name), append(p.units, a.Unit)
		dists, counts = append(dists, dist), append(counts, a.Count)
	}
	dim := len(dists)
	var err error
	var unit func(i int, u []float64)
	switch d.Points {
	case Grid:
		if p.n, err = sample.GridSize(counts); err != nil {
			return nil, err
		}
		unit = sample.Grid(counts).At
	case Saltelli:
		unit, err = d.saltelli(dim)
		p.n = d.N * (dim + 2)
	case Morris:
		unit, p.n = d.morris(dim), d.N*(dim+1)
	default:
		kind, ok := sample.KindNamed(d.Points)
		if !ok {
			var names []string
			for _, k := range sample.Kinds() {
				names = append(names, k.Name)
			}
			return nil, fmt.Errorf("points are chosen by %s, not %q", strings.Join(names, ", "), d.Points)
		}
		var list sample.Points
		if list, err = kind.New(d.N, dim, d.Seed); err == nil {
			unit = list.At
		}
	}
	if err != nil {
		return nil, err
	}
	if p.n < 1 {
		return nil, fmt.Errorf("an ensemble has one member or more, not %d", p.n)
	}
	p.at = func(i int, x []float64) {
		unit(i, x)
		for k, dist := range dists {
			x[k] = dist.Quantile(x[k])
		}
	}
	return p, nil
}

// row returns how many members of a grid follow one another along its last axis; 0 for other designs.
func (d *Design) row() int {
	if d.Points != Grid || len(d.Axes) == 0 {
		return 0
	}
	return d.Axes[len(d.Axes)-1].Count
}

// saltelli returns points in groups of dim + 2: a point of the sample A, one of B, and for each axis that of A with
// this coordinate of B (A. Saltelli et al., Comput. Phys. Commun. 181:259, 2010, doi:10.1016/j.cpc.2009.09.018).
func (d *Design) saltelli(dim int) (func(i int, u []float64), error) {
	both, err := sample.Sobol(2*dim, d.Seed+1) // scrambled whatever the seed
	if err != nil {
		return nil, err
	}
	return func(i int, u []float64) {
		ab := make([]float64, 2*dim)
		both.At(i/(dim+2), ab)
		which := i % (dim + 2)
		copy(u, ab[:dim])
		switch {
		case which == 1:
			copy(u, ab[dim:])
		case which > 1:
			u[which-2] = ab[dim+which-2]
		}
	}, nil
}

// morris returns points in groups of dim + 1: a random corner of a grid, and after it the points of a path along which
// every axis is crossed once, in random order (M. D. Morris, Technometrics 33:161, 1991,
// doi:10.1080/00401706.1991.10484804). The levels of a range reach from one end to the other. Those of other
// distributions stand in the middle of equal parts, so that no quantile is infinite.
func (d *Design) morris(dim int) func(i int, u []float64) {
	return func(i int, u []float64) {
		path := uint64(i / (dim + 1))
		base := sample.Random(2*dim, d.Seed)
		r := make([]float64, 2*dim)
		base.At(int(path), r)
		for k := range u[:dim] {
			level := float64(int(r[k] * (MorrisLevels / 2))) // of the lower half
			place := int(sample.Permute(uint64(k), uint64(dim), d.Seed^path<<20+1))
			if up, crossed := r[dim+k] < 0.5, place < i%(dim+1); up == crossed {
				level += MorrisLevels / 2
			}
			if a := d.Axes[k].Dist; a == "uniform" || a == "loguniform" {
				u[k] = level / (MorrisLevels - 1)
			} else {
				u[k] = (0.5 + level) / MorrisLevels
			}
		}
	}
}

// Assign returns what member i of a problem sets.
func (p *Problem) Assign(i int) []odes.Assignment {
	x := make([]float64, len(p.points.names))
	p.points.at(i, x)
	list := make([]odes.Assignment, len(x))
	for k, v := range x {
		list[k] = odes.Assignment{Name: p.points.names[k], Values: []float64{v}}
	}
	return list
}
