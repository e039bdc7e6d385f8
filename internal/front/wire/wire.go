// Package wire is how results are told to programs: the parts that their heads share. docs/serve.md describes them.
package wire

import (
	"encoding/json"
	"math"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/lang/diag"
)

// Layout says what the rows and columns of a gradient are.
type Layout struct {
	Objectives []Objective `json:"objectives"`
	Variables  []Variable  `json:"variables"`
	Columns    int         `json:"columns"`
}

// Objective describes an objective.
type Objective struct {
	Name     string `json:"name"`
	Doc      string `json:"doc,omitempty"`
	Unit     string `json:"unit"`
	Relation string `json:"relation,omitempty"`
}

// Variable describes what derivatives are by.
type Variable struct {
	Name   string `json:"name"` // "k", "initial(x)"
	Unit   string `json:"unit"`
	Shape  []int  `json:"shape"`
	Offset int    `json:"offset"`
}

// Settings are those of a run.
type Settings struct {
	Method     string `json:"method"`
	RTol       Number `json:"rtol"`
	ATol       Number `json:"atol"`
	Sized      bool   `json:"atol_by_size,omitempty"`
	Mode       string `json:"mode"`
	Checkpoint string `json:"checkpoint"`
	Backend    string `json:"backend"`
	Lanes      int    `json:"lanes"`
	Threads    int    `json:"threads"`
	CheckedBy  string `json:"checked_by,omitempty"`
}

// Stats count the work of a run.
type Stats struct {
	Steps           int    `json:"steps"`
	Rejected        int    `json:"rejected"`
	F               int    `json:"f"`
	VJP             int    `json:"vjp"`
	RecomputedSteps int    `json:"recomputed_steps"`
	TrajectoryBytes int64  `json:"peak_trajectory_bytes"`
	Jacobians       int    `json:"jacobians,omitempty"`
	Factorisations  int    `json:"factorisations,omitempty"`
	Seconds         Number `json:"seconds"` // that the result took, without what made it ready
}

// SettingsOf tells the settings of a run.
func SettingsOf(s odes.RunSettings) Settings {
	return Settings{
		s.Method, Number(s.RTol), Number(s.ATol), s.Sized, s.Mode, s.Checkpoint, s.Backend, s.Lanes, s.Threads,
		s.CheckedBy,
	}
}

// StatsOf tells the work of a run.
func StatsOf(s odes.RunStats) Stats {
	return Stats{
		s.Steps, s.Rejected, s.F, s.VJP, s.RecomputedSteps, s.PeakTrajectoryBytes, s.Jacobians, s.Factorisations,
		Number(s.Seconds.Forward + s.Seconds.Adjoint + s.Seconds.Second + s.Seconds.Check),
	}
}

// Known returns a unit as users know it: "" for unknown and dimensionless ones.
func Known(unit string) string {
	if unit == "unknown" {
		return ""
	}
	return unit
}

// VariablesOf describes variables.
func VariablesOf(variables []odes.Variable) []Variable {
	list := []Variable{}
	for _, v := range variables {
		list = append(list, Variable{v.String(), Known(v.Unit), append([]int{}, v.Shape...), v.Offset})
	}
	return list
}

// ObjectivesOf describes the objectives that values are of.
func ObjectivesOf(values []odes.Value) []Objective {
	list := []Objective{}
	for _, v := range values {
		list = append(list, Objective{v.Name, v.Doc, Known(v.Unit), v.Relation})
	}
	return list
}

// Diagnostics are in the form that they have everywhere, with the text that the command shows.
func Diagnostics(list []diag.Diagnostic) []json.RawMessage {
	out := make([]json.RawMessage, len(list))
	for i := range list {
		var b strings.Builder
		_ = diag.Write(&b, list[i:i+1], diag.Plain)
		text, _ := json.Marshal(strings.TrimSuffix(b.String(), "\n"))
		object := list[i].JSON()
		out[i] = json.RawMessage(object[:len(object)-1] + `,"text":` + string(text) + "}")
	}
	return out
}

// Number is a number of a head. Those that JSON cannot write are strings, as in other JSON of odes.
type Number float64

func (n Number) MarshalJSON() ([]byte, error) {
	switch x := float64(n); {
	case math.IsNaN(x):
		return []byte(`"nan"`), nil
	case math.IsInf(x, 1):
		return []byte(`"inf"`), nil
	case math.IsInf(x, -1):
		return []byte(`"-inf"`), nil
	}
	return json.Marshal(float64(n))
}

// Column is a column of numbers: of a table, or a number of every member.
type Column struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
}
