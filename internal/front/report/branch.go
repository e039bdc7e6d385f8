package report

import (
	"bufio"
	"io"
	"math/cmplx"

	"odes.dev/odes"
)

// A branch is written as its places, in their order: the param, the states, how many eigenvalues grow, the one that is
// nearest to growing, and what is special of the place.

// BranchTable writes what is special of a branch, and its ends, as text.
func BranchTable(w io.Writer, h Heading, b *odes.Branch, opts TableOptions) error {
	p := &printer{w: bufio.NewWriter(w), opts: opts}
	name := h.Model
	if name == "" {
		name = h.File
	}
	p.prose("%s: steady states along %s, %d of them", name, withUnit(b.Param, b.Unit), len(b.Places))
	p.line("")
	var places []odes.Place
	for i, x := range b.Places {
		if i == 0 || i == len(b.Places)-1 || x.Kind != "" {
			places = append(places, x)
		}
	}
	lead, kind := column{head: withUnit(b.Param, b.Unit)}, column{left: true}
	stable := column{head: "eigenvalue", left: true}
	for k, x := range places {
		lead.cells = append(lead.cells, rounded(x.X))
		text := x.Kind
		switch {
		case text == "hopf":
			text = "Hopf point"
		case k == 0:
			text = "start"
		case k == len(places)-1:
			text = map[string]string{
				"bound": "end", "closed": "closed", "long": "stopped", "lost": "lost",
				"unbounded": "end",
			}[b.End]
		}
		kind.cells = append(kind.cells, text)
		stable.cells = append(stable.cells, eigenvalue(x))
	}
	cols := []column{kind, lead}
	for _, i := range p.picks(len(b.States)) {
		if i < 0 {
			cols = append(cols, column{head: "…", cells: make([]string, len(places))})
			continue
		}
		c := column{head: withUnit(b.States[i], b.Units[i])}
		for _, x := range places {
			c.cells = append(c.cells, rounded(x.Y[i]))
		}
		cols = append(cols, c)
	}
	p.columns(append(cols, stable))
	why := ""
	switch b.End {
	case "lost":
		why = "The branch could not be followed further: no step was short enough."
	case "long":
		why = "The branch goes on: more places are not sought."
	case "unbounded":
		why = "Steady states grow without bound as " + b.Param + " nears " + rounded(places[len(places)-1].X) + "."
	}
	if why != "" {
		p.line("")
		p.prose("%s", why)
	}
	return p.w.Flush()
}

// eigenvalue says how stable a place is.
func eigenvalue(x odes.Place) string {
	v := x.Eigenvalue
	text := rounded(real(v))
	if imag(v) != 0 {
		text += " ± " + rounded(max(imag(v), -imag(v))) + "i"
	}
	switch {
	case cmplx.IsNaN(v):
		return "not known"
	case x.Kind != "":
		return text
	case x.Growing == 0:
		return text + ", stable"
	case x.Growing > 0:
		return text + ", unstable"
	}
	return text
}

// BranchCSV and BranchParquet write a row for each place.
var (
	BranchCSV     = inCSV(branchSheet)
	BranchParquet = inParquet(branchSheet)
)

// branchForm is a branch of steady states.
type branchForm struct {
	modelForm
	Param  string      `json:"param" at:"2"`
	Unit   string      `json:"unit"`
	States []string    `json:"states"`
	Units  []string    `json:"units"`
	End    string      `json:"end"`
	Places []placeForm `json:"places" at:"2" each:"4"`
}

type placeForm struct {
	At         float64    `json:"at"`
	States     []float64  `json:"states"`
	Growing    int        `json:"growing"`
	Eigenvalue [2]float64 `json:"eigenvalue"`
	Kind       string     `json:"kind,omitempty"`
}

// BranchJSON writes a branch as JSON.
func BranchJSON(w io.Writer, h Heading, b *odes.Branch, _ TableOptions) error {
	f := branchForm{
		modelForm: modelForm{1, "ok", h.Model, h.File}, Param: b.Param, Unit: b.Unit, States: b.States, Units: b.Units,
		End: b.End,
	}
	for _, x := range b.Places {
		digits := [2]float64{sixDigits(real(x.Eigenvalue)), sixDigits(imag(x.Eigenvalue))}
		f.Places = append(f.Places, placeForm{x.X, x.Y, x.Growing, digits, x.Kind})
	}
	return writeJSON(w, f)
}
