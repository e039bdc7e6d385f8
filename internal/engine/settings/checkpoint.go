package settings

import (
	"math"

	"odes.dev/odes/lang/model"

	"odes.dev/odes/solvers/record"
)

// checkpointUsage explains what solver.checkpoint may be.
const checkpointUsage = "is all, states, states(k) for one in k, states(every = k, ram = n), binomial, binomial(n), " +
	"revolve(ram = n, disk = m), stages, stages(n) or stages(ram = n, disk = m), with whole numbers from 1 to " +
	"2147483647"

// checkpointForms are the forms that solver.checkpoint takes. The numbers of a call go to fields of
// the result.
var checkpointForms = []struct {
	word   string
	kind   record.CheckpointKind
	stages bool               // of CheckpointBinomial
	alone  bool               // the word stands for a value by itself
	number countOf            // where the number of word(n) goes; nil: there is none
	named  map[string]countOf // where the numbers of word(name = n, …) go
}{
	{word: "all", kind: record.CheckpointAll, alone: true},
	{
		word: "states", kind: record.CheckpointEvery, alone: true, number: every,
		named: map[string]countOf{"every": every, "ram": ram},
	},
	{word: "binomial", kind: record.CheckpointBinomial, alone: true, number: ram},
	{
		word: "revolve", kind: record.CheckpointBinomial, number: ram,
		named: map[string]countOf{"ram": ram, "disk": disk},
	},
	{
		word: "stages", kind: record.CheckpointBinomial, stages: true, alone: true, number: ram,
		named: map[string]countOf{"ram": ram, "disk": disk},
	},
}

// countOf is a field of a Checkpoint.
type countOf func(c *record.Checkpoint) *int

func every(c *record.Checkpoint) *int { return &c.Every }
func ram(c *record.Checkpoint) *int   { return &c.RAM }
func disk(c *record.Checkpoint) *int  { return &c.Disk }

// setCheckpoint reads which states of a run are kept.
func setCheckpoint(s *Settings, v model.SettingValue) string {
	c, ok := readCheckpoint(v)
	if !ok {
		return checkpointUsage
	}
	s.Checkpoint = c
	return ""
}

func readCheckpoint(v model.SettingValue) (c record.Checkpoint, ok bool) {
	if v.Array {
		return c, false
	}
	for _, f := range checkpointForms {
		if f.word != v.Word {
			continue
		}
		c.Kind, c.Stages = f.kind, f.stages
		if !v.Call {
			return c, f.alone
		}
		if len(v.List) > 1 || len(v.List)+len(v.Keys) == 0 {
			return c, false
		}
		for _, x := range v.List {
			if !setCount(f.number, &c, x) {
				return c, false
			}
		}
		for _, k := range v.Keys {
			if !setCount(f.named[k.Key], &c, k.Value) {
				return c, false
			}
		}
		return c, true
	}
	return c, false
}

// setCount writes v to a field that is not set yet. It reports whether v is a whole number that the
// field can hold.
func setCount(of countOf, c *record.Checkpoint, v model.SettingValue) bool {
	if of == nil || v.Number == nil {
		return false
	}
	x, field := *v.Number, of(c)
	if !(x >= 1) || x != math.Floor(x) || x > math.MaxInt32 || *field != 0 {
		return false
	}
	*field = int(x)
	return true
}
