package ensemble

import (
	"errors"
	"fmt"
	"slices"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/target"
)

// Problem is a job that is ready to be computed. Goroutines may share it.
type Problem struct {
	Job   *Job
	ID    string
	Model *odes.Model
	Table Table
	Chunk int // members in a chunk

	points *points
	opts   odes.Options
	warm   bool // see chain
	manner odes.Manner
	trust  string // which members are compared: Sample, All or None
}

// Table says what a row holds: the numbers of one member, group after group.
type Table struct {
	Members int
	// Params are what members set, Values the objectives, and Gradient their derivatives: those of the first value by
	// all columns, then of the second. Series are outputs at Times, all elements of one time after the other.
	Params, Values, Gradient, Series []Column
	Variables                        []odes.Variable
	Columns                          int // of a row of the gradient
	Times                            []float64
}

// Column is a number of a row.
type Column struct{ Name, Unit string }

// Width returns how many numbers a row has.
func (t *Table) Width() int {
	return len(t.Params) + len(t.Values) + len(t.Gradient) + len(t.Series)*len(t.Times)
}

// Group is a part of every row.
type Group struct {
	Name     string // "param", "value", "gradient" or "series"
	Columns  []Column
	At, Size int // where it begins in a row, and how many numbers it has
	Shape    []int
}

// Groups returns the parts of rows that there are, in order.
func (t *Table) Groups() []Group {
	var list []Group
	at := 0
	add := func(name string, columns []Column, shape ...int) {
		if n := size(shape); n > 0 {
			list = append(list, Group{name, columns, at, n, shape})
			at += n
		}
	}
	add("param", t.Params, len(t.Params))
	add("value", t.Values, len(t.Values))
	if len(t.Gradient) > 0 {
		add("gradient", t.Gradient, len(t.Values), t.Columns)
	}
	add("series", t.Series, len(t.Times), len(t.Series))
	return list
}

// Status is how a member ended.
type Status uint8

// What Status says.
const (
	OK      Status = iota
	Partial        // some objective has no value, or an independent run does not confirm the numbers
	Failed         // the run failed: the numbers of the row are not numbers, but for those of the params
)

func (s Status) String() string { return [...]string{"ok", "partial", "failed"}[s] }

// Failure says why a member failed.
type Failure struct {
	Member  int    `json:"member"`
	Code    string `json:"code"` // of the diagnostic
	Message string `json:"message"`
}

func (f Failure) text() string { return f.Code + ": " + f.Message }

// Chunk is what came of some members.
type Chunk struct {
	Index, First int
	Status       []Status
	Steps        []int32
	Rows         []float64 // [len(Status)][Table.Width()]
	Failures     []Failure
	Doubts       []Doubt // of members that were compared with independent runs
}

// Open compiles the model of a job and checks all that the job says.
func Open(job *Job) (*Problem, error) {
	m, err := job.Model.Parse()
	if err != nil {
		return nil, err
	}
	return OpenModel(job, m)
}

// OpenModel is Open for a model that is compiled already.
func OpenModel(job *Job, m *odes.Model) (*Problem, error) {
	p := &Problem{Job: job, ID: job.ID(), Model: m, Chunk: job.Chunk}
	var err error
	if p.points, err = job.Design.open(); err != nil {
		return nil, err
	}
	if p.Chunk <= 0 {
		p.Chunk = chunkOf(p.points.n)
	}
	p.opts = odes.Options{
		Solver: job.Solver, Sens: job.Sens, Settings: slices.Clone(job.Options), Of: job.Of, Wrt: job.Wrt,
		Threads: 1, Events: -1,
	}
	for _, a := range job.Set {
		p.opts.Set = append(p.opts.Set, a.Odes())
	}
	p.manner = m.Manner(p.opts)
	compared := "off"
	if p.trust = p.comparing(); p.trust == All {
		compared = "on"
	}
	p.opts.Settings = append(p.opts.Settings, odes.Setting{Key: "sens.trust", Value: compared})
	if len(job.Times) > 0 && job.Gradient {
		return nil, errors.New("members have derivatives of objectives or outputs at times, not both")
	}
	if p.warm = p.manner.Warm; p.warm {
		p.Chunk = (p.Chunk + chain - 1) / chain * chain
	}
	return p, p.describe()
}

// chain is how many members follow one another, with solver { steady_start = warm }: searches for steady states in the
// first one are ordinary, and those in each of the others begin at what was found for the one before. So results do not
// depend on which worker computes what.
const chain = 16

// begins reports whether member i begins a chain. The first one along the last axis of a grid does, and so does the
// first one of every chunk, since chunks hold whole chains.
func (p *Problem) begins(i int) bool {
	row := p.Job.Design.row()
	return p.warm && (i%chain == 0 || row > 0 && i%row == 0)
}

// Warnings returns what is to be told of all members: what the model says that they have no part in, how many are
// outside of bounds, and with warm starts that nothing confirms what they find.
func (p *Problem) Warnings() []diag.Diagnostic {
	list := append(p.Model.LeftOut(p.opts), p.Model.Outside(p.opts.Set, p.points.n, p.Assign)...)
	if !p.warm || p.trust == All || len(p.Table.Times) > 0 {
		return list
	}
	confirms := "only the members that are compared confirm"
	if p.trust == None {
		confirms = "nothing confirms"
	}
	return append(list, diag.Diagnostic{
		Code: odes.CodeSteady, Level: diag.Warning,
		Message: fmt.Sprintf("searches for steady states began at that of the member before (steady_start = warm), in "+
			"chains of %d, and %s what they found: each state is stable, but the run from its own initial values may "+
			"lead to another; take --trust, or steady_start = own", chain, confirms),
	})
}

// chunkOf returns how many members to compute at a time: few enough that all cores have work, and many enough that the
// rest does not count. Where members are run side by side, chunks fill the lanes. It depends on the number of members
// alone.
func chunkOf(n int) int {
	size := 1
	if n >= fewMembers {
		size = odes.LaneCount
	}
	for size < 1024 && size*256 < n {
		size *= 2
	}
	return size
}

// Chunks returns how many chunks there are.
func (p *Problem) Chunks() int { return (p.points.n + p.Chunk - 1) / p.Chunk }

// Members returns the range of members of a chunk.
func (p *Problem) Members(chunk int) (from, to int) {
	return chunk * p.Chunk, min((chunk+1)*p.Chunk, p.points.n)
}

// describe finds out what rows hold, and checks names.
func (p *Problem) describe() error {
	t := &p.Table
	t.Members, t.Times = p.points.n, Floats(p.Job.Times)
	symbols, err := p.Model.Symbols(slices.Concat(p.opts.Set, p.Assign(0)))
	if err != nil {
		return err
	}
	for k, name := range p.points.names {
		unit := p.points.units[k]
		for _, s := range symbols {
			if unit == "" && (s.Kind == "param" && base(name) == s.Name || name == "initial("+s.Name+")") {
				unit = s.Unit
			}
		}
		t.Params = append(t.Params, Column{name, unit})
	}
	values, variables, columns, err := p.Model.Wanted(p.opts)
	if err != nil {
		return err
	}
	for _, v := range values {
		t.Values = append(t.Values, Column{v.Name, known(v.Unit)})
	}
	if p.Job.Gradient {
		t.Variables, t.Columns = variables, columns
		for _, v := range values {
			for _, x := range variables {
				for e := range x.Size() {
					name := "d(" + v.Name + ")/d(" + x.Element(e) + ")"
					t.Gradient = append(t.Gradient, Column{name, p.Model.DerivativeUnit(v.Name, x)})
				}
			}
		}
	}
	if len(t.Times) > 0 {
		err = p.describeSeries(symbols)
	}
	if err == nil && len(t.Values) == 0 && len(t.Series) == 0 {
		err = errors.New("the model has no objective, so that there is nothing to compute; ask for outputs at times")
	}
	return err
}

// describeSeries finds out which outputs rows hold, or which states where the model names no output.
func (p *Problem) describeSeries(symbols []odes.Symbol) error {
	wanted, kind := p.Job.Outputs, "state"
	if slices.ContainsFunc(symbols, func(s odes.Symbol) bool { return s.Kind == "output" }) {
		kind = "output"
	}
	found := map[string]bool{}
	for _, s := range symbols {
		if s.Kind != kind || wanted != nil && !slices.Contains(wanted, s.Name) {
			continue
		}
		found[s.Name] = true
		for e := range size(s.Shape) {
			p.Table.Series = append(p.Table.Series, Column{s.Element(e), known(s.Unit)})
		}
	}
	for _, name := range wanted {
		if !found[name] {
			return fmt.Errorf("the model has no %s %q", kind, name)
		}
	}
	return nil
}

// base returns the name of the array of an element.
func base(name string) string {
	return target.Array(name)
}

// known returns a unit, or "" if it says nothing.
func known(unit string) string {
	if unit == "1" || unit == "?" || unit == "unknown" {
		return ""
	}
	return unit
}

func size(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}
