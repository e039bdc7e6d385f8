package result

import (
	"slices"

	"odes.dev/odes/lang/measured"
)

// Compared is one observation in one experiment: the rows of its table that count.
type Compared struct {
	Experiment  string // "" for a model without experiments
	Observation string
	Doc, Unit   string
	// Noise is the name of the distribution, and Parameters name its numbers besides the centre: normal has "sd".
	Noise      string
	Parameters []string
	Weight     float64   // of the negative log likelihood in the objective
	T, Data    []float64 // a time is +Inf where the data are of the steady state
	// Side marks values of which only that is known that they are at most (-1), or at least (1), at a limit, which is
	// their Data. Where Unclear, limits depend on params, and any value may be one of these.
	Side    []int
	Unclear bool
	// Table is the data as they are declared, Column that of the observation, and Row which row of it, from 0, each
	// datum is. Ranges are those of quantification; nil for none, or where Unclear.
	Table  *DataTable
	Column int
	Row    []int
	Ranges []measured.Range
	Wanted WantedTerms

	// The following are overwritten by the next run.

	Prediction Rows   // the centre of the distribution
	Args       []Rows // its Parameters
	Term       Rows   // negative log likelihoods; empty unless Terms asks for them
}

// DataTable is a table of data as a model declares it, with all its rows.
type DataTable struct {
	Name    string
	Columns []DataColumn
}

// DataColumn is a column of numbers, or of texts. Times are in the unit in which they are written.
type DataColumn struct {
	Name, Unit string
	Values     []float64 // NaN where one is missing
	Texts      []string  // nil for numbers
}

// Rows are numbers, one for each row of a table, and their derivatives.
type Rows struct {
	Values []float64
	Slopes []float64 // [rows][Columns]
}

// WantedTerms says which likelihoods of rows are asked for.
type WantedTerms uint8

// What is asked for.
const (
	NeededTerms WantedTerms = iota // those that are more than the distance of data and prediction
	NoTerms                        // none: the data do not count
	AllTerms
)

// Terms reports whether likelihoods are asked for.
func (g *Compared) Terms() bool {
	if g.Wanted != NeededTerms {
		return g.Wanted == AllTerms
	}
	beyond := func(side int) bool { return side != 0 }
	return g.Unclear || slices.ContainsFunc(g.Side, beyond) || g.Noise != "normal" && g.Noise != "lognormal"
}

// Measured reports whether the datum of row k is known as a number.
func (g *Compared) Measured(k int) bool { return g.Side[k] == 0 && !g.Unclear }

// Tell returns what is told of a value y in row k: the value and 0, or the limit beyond which it lies and on which
// side.
func (g *Compared) Tell(k int, y float64) (told float64, side int) {
	if g.Ranges == nil {
		return y, 0
	}
	return g.Ranges[k].Tell(y)
}
