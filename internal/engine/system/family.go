package system

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math"
	"sync"

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
	contents map[*tape.Tape]digest // of tapes that were made here, which live as long as the family
	made     map[madeKey]any
}

type digest [sha256.Size]byte

// madeKey says what was made of what: of one tape or two, with everything else that it depends on in words.
type madeKey struct {
	how  string
	from [2]digest
}

func newFamily() *family {
	return &family{
		files: map[*source.File]uint64{}, contents: map[*tape.Tape]digest{}, made: map[madeKey]any{},
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
func (f *family) digest(t *tape.Tape) digest {
	if t == nil {
		return digest{}
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

// writer writes to a hash.
type writer struct {
	hash.Hash
	b []byte
}

func (w *writer) num(x uint64) {
	if w.b = binary.LittleEndian.AppendUint64(w.b, x); len(w.b) >= 4096 {
		w.flush()
	}
}

func (w *writer) flush() {
	_, _ = w.Write(w.b) // a hash takes everything
	w.b = w.b[:0]
}

func (w *writer) text(s string) {
	w.num(uint64(len(s)))
	w.b = append(w.b, s...)
}

func (w *writer) flag(x bool) {
	if x {
		w.num(1)
	} else {
		w.num(0)
	}
}

func ints[T ~int | ~int32](w *writer, list []T) {
	w.num(uint64(len(list)))
	for _, x := range list {
		w.num(uint64(x))
	}
}

func digestOf(t *tape.Tape, file func(*source.File) uint64) (d digest) {
	w := &writer{Hash: sha256.New()}
	w.text(t.Name)
	w.num(uint64(len(t.Inputs)))
	for i := range t.Inputs {
		in := &t.Inputs[i]
		w.text(in.Name)
		ints(w, in.Shape)
		w.flag(in.PerLane)
	}
	w.num(uint64(len(t.Instrs)))
	for i := range t.Instrs {
		in := &t.Instrs[i]
		w.num(uint64(in.Op))
		ints(w, in.Args)
		ints(w, in.Shape)
		a := &in.Attr
		w.num(uint64(len(a.Data)))
		for _, x := range a.Data {
			w.num(math.Float64bits(x))
		}
		for _, list := range [][]int{a.Perm, a.Start, a.Step, a.Index, a.Axes} {
			w.flag(list == nil)
			ints(w, list)
		}
		w.num(uint64(a.Power))
		w.num(uint64(a.Axis))
		w.flag(a.TA || in.Seamless) // no op has both
		w.flag(a.TB)
		w.num(file(in.Span.File))
		w.num(uint64(in.Span.Start))
		w.num(uint64(in.Span.End))
	}
	w.num(uint64(len(t.Outputs)))
	for _, o := range t.Outputs {
		w.text(o.Name)
		w.num(uint64(o.Value))
	}
	w.flush()
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
	w := &writer{Hash: sha256.New()}
	w.num(uint64(lanes))
	for _, list := range lists {
		w.num(uint64(len(list)))
		for _, p := range list {
			w.num(uint64(p.Vector))
			w.num(uint64(p.Offset))
			w.flag(p.Constant)
			w.flag(p.Add)
		}
	}
	w.flush()
	return "program" + string(w.Sum(nil))
}
