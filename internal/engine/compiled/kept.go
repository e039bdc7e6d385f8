package compiled

import (
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
)

// KeptStages are the programs of a kit for that.
type KeptStages struct {
	Keeping, Reading *Program
	Size             int // elements that they keep of a stage
}

// What a stage must be spared, in multiplications and additions: compiling takes time with each instruction.
const (
	leastSaved        = 1 << 14
	leastSavedAnInstr = 256
)

// keepStages makes the programs that keep values of a stage, if that pays. pull is the transpose of the rates.
func (k *Kit) keepStages(rates, pull *tape.Tape, places map[tapec.Name]vec.Part, find Finder) (err error) {
	instrs := len(rates.Instrs) + len(pull.Instrs)
	if Elements(rates, 1)+Elements(pull, 1) < 8*instrs {
		return nil // scalars, as in networks
	}
	for _, t := range []*tape.Tape{rates, pull} {
		for _, in := range t.Inputs {
			name := tapec.MustName(in.Name)
			switch name.Role {
			case tapec.Time, tapec.State, tapec.Param, tapec.Discrete, tapec.HeldMode, tapec.RunWork, tapec.SegmentWork:
			case tapec.Rate, tapec.Integrand:
			default:
				return nil // it may change between two calls that StageValues takes for the same
			}
		}
	}
	keeping, reading, saved := tapec.Keep(rates, pull, tapec.SharedWork)
	if saved < max(leastSaved, leastSavedAnInstr*instrs) {
		return nil
	}
	kept := &KeptStages{}
	for _, o := range keeping.Outputs {
		if name := tapec.MustName(o.Name); name.Role == tapec.SharedWork {
			n := keeping.Shape(o.Value).Size()
			places[name] = vec.Part{Vec: vec.W, Offset: kept.Size, Len: n}
			kept.Size += n
		}
	}
	if kept.Keeping, err = k.Family.Program(keeping, find, k.Lanes, nil); err != nil {
		return err
	}
	if kept.Reading, err = k.Family.Program(reading, find, k.Lanes, addsAtStage); err != nil {
		return err
	}
	k.Kept = kept
	return nil
}
