package record

import (
	"encoding/binary"
	"io"
	"math"
	"slices"
	"unsafe"
)

// Disk is a file that states are kept in.
type Disk interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
}

// WriteDisk writes the numbers of x to f, from byte at on. buf is work space, which grows as needed.
func WriteDisk(f Disk, at int64, buf *[]byte, x ...[]float64) error {
	b := need(buf, 8*numbers(x))
	to := b
	for _, part := range x {
		for _, v := range part {
			binary.LittleEndian.PutUint64(to, math.Float64bits(v))
			to = to[8:]
		}
	}
	if _, err := f.WriteAt(b, at); err != nil {
		return &DiskError{Op: "write", Err: err}
	}
	return nil
}

// ReadDisk reads what WriteDisk wrote. Several goroutines may do so at once, with a buffer each.
func ReadDisk(f Disk, at int64, buf *[]byte, x ...[]float64) error {
	b := need(buf, 8*numbers(x))
	if _, err := f.ReadAt(b, at); err != nil {
		return &DiskError{Op: "read", Err: err}
	}
	for _, part := range x {
		for i := range part {
			part[i] = math.Float64frombits(binary.LittleEndian.Uint64(b))
			b = b[8:]
		}
	}
	return nil
}

// numbers returns how many x has.
func numbers(x [][]float64) (n int) {
	for _, part := range x {
		n += len(part)
	}
	return n
}

// states are copies of the state of a run before some of its units. They are in memory and, where there are too many,
// the first of them are in a file, since the way back needs these last.
type states struct {
	n         int  // numbers of a state, or of what is kept with it
	whole     bool // the step before each state is kept with it: y1[N], y0[N], dq[Q], k[stages][N+Q]
	expected  int  // units, where their number is known; 0 where it is not
	next      int  // the next unit that a state is kept before, up to expected
	ram, disk int  // how many there may be
	list      []keptState
	scanned   int // of the list: place has looked at the states from here on; -1 for none
	most      int // the level that makes those before dispensable
	gaps      int // how many of the list are gone
	mem       arena
	free      []int // slots of mem
	inMemory  int
	tr        *Trajectory // makes the file
	file      Disk
	holes     []int // slots of the file
	onDisk    int
	used      int // slots of the file that were ever used
	buf       []byte
}

// keptState is the state before a unit, in a slot of memory or of the file.
type keptState struct {
	unit, level int
	slot        int
	away        bool // in the file
	gone        bool // dropped by place: the list is closed up now and then, see settle
}

// reset forgets all states, and the file; n is the length of one, whole that the step before each is kept with it.
func (s *states) reset(n int, whole bool, ram, disk int) {
	if s.file != nil {
		_ = s.file.Close() // what is in it is no longer wanted
		s.file = nil
	}
	if n != s.n {
		s.n, s.free = n, nil
	}
	s.whole = whole
	s.mem.reset(n)
	s.list, s.free, s.holes, s.gaps, s.scanned = s.list[:0], s.free[:0], s.holes[:0], 0, -1
	s.ram, s.disk, s.inMemory, s.onDisk, s.used = ram, disk, 0, 0, 0
	s.expected, s.next = 0, 0
}

// room returns how many states there may be.
func (s *states) room() int {
	if s.ram > math.MaxInt-s.disk {
		return math.MaxInt
	}
	return s.ram + s.disk
}

// left returns how many more states there may be up to unit u, if later ones make room.
func (s *states) left(u int) int {
	if s.room() == math.MaxInt {
		return math.MaxInt
	}
	return s.room() - s.find(u) - 1
}

// find returns the index of the last state at or before unit u, or -1.
func (s *states) find(u int) int {
	i, ok := slices.BinarySearchFunc(s.list, u, func(k keptState, u int) int { return k.unit - u })
	if ok {
		return i
	}
	return i - 1
}

// exact returns the index of the state before unit u, or -1.
func (s *states) exact(u int) int {
	if i := s.find(u); i >= 0 && s.list[i].unit == u {
		return i
	}
	return -1
}

// put keeps y as the state before unit u. Of states with steps, y are the parts of the step before it, in the order of
// step. There must be room.
func (s *states) put(u, level int, y ...[]float64) error {
	at := s.find(u)
	if at >= 0 && s.list[at].unit == u {
		return nil
	}
	k := keptState{unit: u, level: level, slot: -1}
	if s.inMemory >= s.ram {
		// The first one in memory moves to the file.
		i := slices.IndexFunc(s.list, func(k keptState) bool { return !k.away && !k.gone })
		if i < 0 || s.list[i].unit > u {
			k.away = true
		} else {
			old := &s.list[i]
			to, err := s.write(s.mem.at(old.slot))
			if err != nil {
				return err
			}
			s.release(old)
			old.slot, old.away = to, true
			s.onDisk++
		}
	}
	if k.away {
		to, err := s.write(y...)
		if err != nil {
			return err
		}
		k.slot = to
		s.onDisk++
	} else {
		if n := len(s.free); n > 0 {
			k.slot, s.free = s.free[n-1], s.free[:n-1]
		} else {
			s.mem.next()
			k.slot = s.mem.n - 1
		}
		to := s.mem.at(k.slot)
		for _, part := range y {
			to = to[copy(to, part):]
		}
		s.inMemory++
	}
	s.list = slices.Insert(s.list, at+1, k)
	return nil
}

// load copies state i to y, in one part or several. Several goroutines may do so at once, with a buffer each.
func (s *states) load(i int, buf *[]byte, y ...[]float64) error {
	k := &s.list[i]
	if !k.away {
		from := s.mem.at(k.slot)
		for _, part := range y {
			from = from[copy(part, from):]
		}
		return nil
	}
	return ReadDisk(s.file, int64(k.slot)*int64(8*s.n), buf, y...)
}

// write writes y to the file and returns its slot there.
func (s *states) write(y ...[]float64) (slot int, err error) {
	if s.file == nil {
		if s.file, err = s.tr.open(); err != nil {
			s.file = nil
			return 0, err
		}
	}
	slot = s.used
	if n := len(s.holes); n > 0 {
		slot = s.holes[n-1]
	}
	if err := WriteDisk(s.file, int64(slot)*int64(8*s.n), &s.buf, y...); err != nil {
		return 0, err
	}
	if slot == s.used {
		s.used++
	} else {
		s.holes = s.holes[:len(s.holes)-1]
	}
	return slot, nil
}

// settle closes up the list where place has dropped states. Whoever reads the list does that first.
func (s *states) settle() {
	if s.gaps > 0 {
		s.list, s.gaps = slices.DeleteFunc(s.list, func(k keptState) bool { return k.gone }), 0
	}
}

// drop forgets state i.
func (s *states) drop(i int) {
	s.scanned = -1
	s.release(&s.list[i])
	s.list = slices.Delete(s.list, i, i+1)
}

// clear drops all states; their memory stays.
func (s *states) clear() {
	s.settle()
	for i := range s.list {
		s.release(&s.list[i])
	}
	s.list, s.scanned = s.list[:0], -1
}

// release gives the slot of k back.
func (s *states) release(k *keptState) {
	if k.away {
		s.holes = append(s.holes, k.slot)
		s.onDisk--
		return
	}
	s.free = append(s.free, k.slot)
	s.inMemory--
}

// compact moves the states in memory to as little memory as they need.
func (s *states) compact() {
	s.settle()
	old := s.mem
	s.mem = arena{slot: -1}
	s.mem.reset(s.n)
	for i := range s.list {
		if k := &s.list[i]; !k.away {
			copy(s.mem.next(), old.at(k.slot))
			k.slot = s.mem.n - 1
		}
	}
	s.list, s.free = slices.Clip(s.list), nil
}

// listed is how many bytes of the list a state takes.
const listed = int(unsafe.Sizeof(keptState{}))

// bytes returns the memory that the states take.
func (s *states) bytes() int64 {
	return s.mem.bytes() + int64(cap(s.buf)) + int64(cap(s.list)*listed)
}

// grows returns how many bytes the next state would allocate.
func (s *states) grows() int64 {
	if len(s.free) > 0 || s.inMemory >= s.ram {
		return 0
	}
	return s.mem.grows()
}

// need returns b with n bytes, newly allocated if it is shorter.
func need(b *[]byte, n int) []byte {
	if cap(*b) < n {
		*b = make([]byte, n)
	}
	return (*b)[:n]
}
