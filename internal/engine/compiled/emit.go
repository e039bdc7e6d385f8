package compiled

import (
	"fmt"
	"io"

	"odes.dev/odes/tape"
	"odes.dev/odes/tapec"
	"odes.dev/odes/vm"
)

// Stats returns the statistics of the program of the rates and of that of their transpose; nil where
// there is none.
func (k *Kit) Stats() (rates, transpose *vm.Stats) {
	rates = Stats(k.Value.Get(tapec.PartRates))
	if k.Pull != nil {
		transpose = Stats(k.Pull.Get(tapec.PartRates))
	}
	return rates, transpose
}

// StepPrograms counts programs of whole steps.
type StepPrograms struct {
	Steps, Transposes int
	Noting            int // of the transposes: those that record factors of products
	Tangents, Seconds int // tangents of steps, and of transposes
	Peaks             int // readings of what is to be largest
}

// StepPrograms counts the programs of whole steps that the model's workers have compiled.
func (m *Model) StepPrograms() (n StepPrograms) {
	m.Programs.mu.Lock()
	defer m.Programs.mu.Unlock()
	seen := map[*Program]bool{}
	for _, k := range m.Programs.kits {
		of := k.Value.Get(tapec.PartRates)
		if seen[of] {
			continue
		}
		seen[of] = true
		of.wholes.mu.Lock()
		for key, p := range of.wholes.programs {
			switch {
			case p == nil, key.Guards:
			case key.Peaks:
				n.Peaks++
			case key.tangent && key.Back:
				n.Seconds++
			case key.tangent:
				n.Tangents++
			case !key.Back:
				n.Steps++
			default:
				n.Transposes++
				if len(p.Notes) > 0 {
					n.Noting++
				}
			}
		}
		of.wholes.mu.Unlock()
	}
	return n
}

// Stats returns the statistics of a program; nil for none.
func Stats(p *Program) *vm.Stats {
	if p == nil {
		return nil
	}
	s := p.Code.Stats()
	return &s
}

// EmitTapes writes the model's tapes.
func (m *Model) EmitTapes(w io.Writer) error {
	return m.emit(w, func(_ derivatives, t *tape.Tape) (*tape.Tape, error) { return t, nil })
}

// EmitTransposes writes the transposes of the model's tapes, by all params.
func (m *Model) EmitTransposes(w io.Writer) error {
	return m.emit(w, func(d derivatives, t *tape.Tape) (*tape.Tape, error) { return d.pull(t, false) })
}

// EmitTangents writes the tangents of the model's tapes, by all params.
func (m *Model) EmitTangents(w io.Writer) error {
	return m.emit(w, func(d derivatives, t *tape.Tape) (*tape.Tape, error) { return d.push(t) })
}

// emit writes what of makes of each tape of the model; nil is nothing.
func (m *Model) emit(w io.Writer, of func(derivatives, *tape.Tape) (*tape.Tape, error)) error {
	d := derivatives{active: map[string]bool{}}
	for _, name := range Names(m.Checked.Params) {
		d.active[name] = true
	}
	printer := tape.Printer{MaxData: 16}
	for _, t := range m.Programs.Tapes.All(runOrder...) {
		if t == nil {
			continue
		}
		t, err := of(d, t)
		if err != nil {
			return err
		}
		if t == nil {
			continue
		}
		if err := printer.Print(w, t); err != nil {
			return err
		}
		if _, err = io.WriteString(w, "\n"); err != nil {
			return err
		}
	}
	return nil
}

// EmitPrograms writes a line for each of the machine's programs of values and transposes.
func (m *Model) EmitPrograms(w io.Writer) error {
	k, err := m.Programs.kit(kitWith{lanes: 1, active: Names(m.Checked.Params), dir: Pull})
	if err != nil {
		return err
	}
	for _, s := range []*tapec.Parts[*Program]{k.Value, k.Pull} {
		for _, p := range s.All(runOrder...) {
			if p == nil {
				continue
			}
			n := p.Code.Stats()
			_, err := fmt.Fprintf(w, "%s\t%d lanes\t%d instructions\t%d steps\t%d bytes\t%d flops\t%d blocks of "+
				"%d machine instructions in %d bytes\n",
				p.Tape.Name, p.lanes, n.Instructions, n.Steps, n.Bytes, n.Flops, n.Native.Blocks,
				n.Native.Instructions, n.Native.Bytes)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// runOrder is the order in which a run meets the parts of a model.
var runOrder = []tapec.Part{
	tapec.PartRunWork, tapec.PartSegmentWork, tapec.PartStart, tapec.PartInstants, tapec.PartChoose, tapec.PartRates,
	tapec.PartGuards, tapec.PartClocks, tapec.PartPriorities,
	tapec.PartAffects, tapec.PartInitial, tapec.PartAtTimes, tapec.PartAtEvents, tapec.PartFinal, tapec.PartPeaks,
	tapec.PartObjective,
	tapec.PartOutputs, tapec.PartInvariants,
}
