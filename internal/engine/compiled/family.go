package compiled

import (
	"crypto/sha256"
	"fmt"
	"math"
	"sync"

	"odes.dev/odes/internal/base/hashing"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/tape"
	"odes.dev/odes/vm"
)

// A family is what a model and its experiments share. They are made from one text, and most of their tapes are the
// same: what differs between experiments are values of params, times and rows of data, and tapes read most of these.
// So each derivative and each program is made once for all tapes with the same contents. A nil family shares nothing.
type family struct {
	mu       sync.Mutex
	files    map[*source.File]uint64
	contents map[*tape.Tape]Digest // of tapes that were made here, which live as long as the family
	made     map[madeKey]any
}

// Digest is that of the contents of tapes.
type Digest [sha256.Size]byte

// madeKey says what was made of what: of one tape or two, with everything else that it depends on in words.
type madeKey struct {
	how  string
	from [2]Digest
}

func newFamily() *family {
	return &family{
		files: map[*source.File]uint64{}, contents: map[*tape.Tape]Digest{}, made: map[madeKey]any{},
	}
}

// shared returns what make makes of tapes, or what it made of others with the same contents.
func shared[R any](f *family, how string, make func() (R, error), from ...*tape.Tape) (R, error) {
	if f == nil {
		return make()
	}
	key := madeKey{how: how}
	for i, t := range from {
		key.from[i] = f.digest(t)
	}
	f.mu.Lock()
	old, ok := f.made[key]
	f.mu.Unlock()
	if ok {
		return old.(R), nil
	}
	r, err := make()
	if err != nil {
		return r, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if old, ok := f.made[key]; ok {
		return old.(R), nil
	}
	f.made[key] = r
	if t, ok := any(r).(*tape.Tape); ok && t != nil {
		f.contents[t] = digestOf(t, f.file)
	}
	return r, nil
}

// digest returns a digest of all that t holds, the places in the text included: messages name them.
func (f *family) digest(t *tape.Tape) Digest {
	if t == nil {
		return Digest{}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if d, ok := f.contents[t]; ok {
		return d
	}
	return digestOf(t, f.file)
}

// file numbers files.
func (f *family) file(s *source.File) uint64 {
	n, ok := f.files[s]
	if !ok {
		n = uint64(len(f.files))
		f.files[s] = n
	}
	return n
}

func digestOf(t *tape.Tape, file func(*source.File) uint64) (d Digest) {
	w := hashing.New()
	w.Text(t.Name)
	w.Num(uint64(len(t.Inputs)))
	for i := range t.Inputs {
		in := &t.Inputs[i]
		w.Text(in.Name)
		hashing.Ints(w, in.Shape)
		w.Flag(in.PerLane)
	}
	w.Num(uint64(len(t.Instrs)))
	for i := range t.Instrs {
		in := &t.Instrs[i]
		w.Num(uint64(in.Op))
		hashing.Ints(w, in.Args)
		hashing.Ints(w, in.Shape)
		a := &in.Attr
		w.Num(uint64(len(a.Data)))
		for _, x := range a.Data {
			w.Num(math.Float64bits(x))
		}
		for _, list := range [][]int{a.Perm, a.Start, a.Step, a.Index, a.Axes} {
			w.Flag(list == nil)
			hashing.Ints(w, list)
		}
		w.Num(uint64(a.Power))
		w.Num(uint64(a.Axis))
		w.Flag(a.TA || in.Seamless) // no op has both
		w.Flag(a.TB)
		w.Num(file(in.Span.File))
		w.Num(uint64(in.Span.Start))
		w.Num(uint64(in.Span.End))
	}
	w.Num(uint64(len(t.Outputs)))
	for _, o := range t.Outputs {
		w.Text(o.Name)
		w.Num(uint64(o.Value))
	}
	w.Flush()
	w.Sum(d[:0])
	return d
}

// how says in words what something is made with, where the family shares what is made.
func (f *family) how(what string, with ...any) string {
	if f == nil {
		return ""
	}
	return what + fmt.Sprintf("%+v", with)
}

// placed is how for programs, whose inputs and outputs lie at places.
func (f *family) placed(lanes int, lists ...[]vm.Place) string {
	if f == nil {
		return ""
	}
	w := hashing.New()
	w.Num(uint64(lanes))
	for _, list := range lists {
		w.Num(uint64(len(list)))
		for _, p := range list {
			w.Num(uint64(p.Vector))
			w.Num(uint64(p.Offset))
			w.Flag(p.Constant)
			w.Flag(p.Add)
		}
	}
	w.Flush()
	return "program" + string(w.Sum(nil))
}
