package steps

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/vec"
	"odes.dev/odes/tapec"
)

// A transpose of the rates computes values of its stage again that the stage had: all functions, for one. Where these
// take most of the time, the rates put them out when a stage is made, and its transpose reads them. Where they are not
// known, as in a part of the run that did not fit, the transpose computes them as ever: the bits are the same.

// StageValues are values of the last stages of a run. One goroutine at a time writes or reads them.
type StageValues struct {
	*compiled.KeptStages
	kit     *compiled.Kit
	version int         // of the point
	width   int         // elements of a record
	room    int         // records at most
	records [][]float64 // each the time, states, discretes and modes of a stage, and then what is kept
	made    int         // stages so far; of those that are gone the records are used again
	next    int         // the stage after the one that was read last
	read    int         // how often one was read
}

const (
	stageBytes = 32 << 20 // that records take at most; those of more stages would be too far from the processor
	looksBack  = 64       // stages among which one is looked for: steps that were rejected have some, too
)

// NewStageValues returns room for values of stages that transposes of k read, of so many bytes at most; nil if there
// are none worth keeping.
func NewStageValues(k *compiled.Kit, limit int64) *StageValues {
	if k.Kept == nil {
		return nil
	}
	v := &StageValues{KeptStages: k.Kept, kit: k}
	v.width = v.key() + v.Size
	v.room = max(int(min(stageBytes, limit))/8/v.width, 1)
	return v
}

// Read returns how often transposes have read values of a stage.
func (v *StageValues) Read() int { return v.read }

// Room returns how many stages v has room for.
func (v *StageValues) Room() int { return v.room }

// key returns how many elements say which stage a record is of.
func (v *StageValues) key() int { return 1 + v.kit.Layout.NY + v.kit.Layout.ND + v.kit.Layout.NM }

// begin forgets all stages.
func (v *StageValues) begin() { v.made, v.next = 0, 0 }

// stage returns what says which stage it is.
func (w *Steps) stage(t float64, y []float64) [4][]float64 {
	w.T[0] = t
	return [...][]float64{w.T[:], y, w.In[tapec.Primal][vec.D], w.In[tapec.Primal][vec.M]}
}

// add returns the room for what is kept of a stage.
func (v *StageValues) add(stage [4][]float64) []float64 {
	i := v.made % v.room
	if i == len(v.records) {
		v.records = append(v.records, make([]float64, v.width))
	}
	v.made++
	v.next = v.made
	r := v.records[i]
	n := 0
	for _, s := range stage {
		n += copy(r[n:], s)
	}
	return r[n:]
}

// find returns what was kept of a stage; nil if that is not known.
func (v *StageValues) find(stage [4][]float64) []float64 {
	for i := v.next - 1; i >= max(v.next-looksBack, v.made-v.room, 0); i-- {
		r, n, same := v.records[i%v.room], 0, true
		for _, s := range stage {
			if same = same && vec.SameBits(s, r[n:n+len(s)]); !same {
				break
			}
			n += len(s)
		}
		if same {
			v.next = i + 1
			v.read++
			return r[n:]
		}
	}
	return nil
}

// stageCalls is a worker's use of StageValues, to keep values or to read them.
type stageCalls struct {
	*StageValues
	call *compiled.Call
}

// KeepStages lets the worker keep values of its stages in v from now on; nil for none. They must be of its problem.
// Steps are not made by one program then.
func (w *Steps) KeepStages(v *StageValues) {
	if v == nil {
		w.Keeping = nil
		return
	}
	if w.keeper == nil || w.keeper.StageValues != v {
		w.keeper = w.stageCalls(v, v.Keeping)
	}
	w.Keeping = w.keeper
}

// ReadStages lets the worker's transposes read values of stages from v; nil for none. Where there are any, transposes
// of steps are not done by one program.
func (w *Steps) ReadStages(v *StageValues) {
	if v != nil {
		w.reading = w.stageCalls(v, v.Reading)
	}
}

func (w *Steps) stageCalls(v *StageValues, p *compiled.Program) *stageCalls {
	c := &stageCalls{v, p.Call()}
	c.call.Machine.Share(w.Team())
	w.Keep(c.call)
	return c
}

// EvalKept is Eval that keeps values.
func (w *Steps) EvalKept(t float64, y, k []float64) {
	v := w.Keeping
	if v.version != w.Version {
		v.begin()
		v.version = w.Version
	}
	w.Out[tapec.Primal][vec.W] = v.add(w.stage(t, y))
	w.In[tapec.Primal][vec.Y], w.Out[tapec.Primal][vec.K] = y, k
	v.call.RunMoved(&w.In, &w.Out)
}

// KeptStage returns the call of a transpose that reads what was kept of a stage; nil if that is not known.
func (w *Steps) KeptStage(t float64, y []float64) *compiled.Call {
	v := w.reading
	if v == nil || v.version != w.Version {
		return nil
	}
	got := v.find(w.stage(t, y))
	if got == nil {
		return nil
	}
	w.In[tapec.Primal][vec.W] = got
	return v.call
}
