package posterior

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"slices"
	"sync"

	"odes.dev/odes/internal/base/nuts"
)

// recordEvery is after how many iterations a chain is written to the file that keeps chains.
const recordEvery = 100

// record is what a chain drew since the record before, and where it is: all that what follows depends on.
type record struct {
	Chain, At, Stage, Before, From int
	// Behind is behind which stage the coordinates were bent in which it moves.
	Behind int
	State  nuts.State
	Warp   *nuts.Warp
	// BentAt is the iteration at which it came to these.
	BentAt        int
	Failed, Early map[string]int
	Pool          [][]float64
	Mode, Warmed  int
	Values        [][]float64
	LogP          []float64
	Accept        []float64
	Step          []float64
	Energy        []float64
	Depth, Leaps  []int
	Divergent     []bool
}

// File keeps chains, so that they can go on where they are. It holds one record after the other, each with its length
// and a checksum, behind a line that says what they are of.
type File struct {
	mu      sync.Mutex
	file    *os.File
	records map[int][]*record // of chains, in their order, as the file had them
}

// ErrOther says that a file holds chains of something else.
var ErrOther = errors.New("it holds chains of another model or version of odes, or with other data, values or " +
	"settings than the number of draws; name another file, or remove it")

// OpenFile opens the file of chains at path, or makes it. The key says what the chains are of. What a sudden end left
// unfinished in it is cut off.
func OpenFile(path, key string) (*File, error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // reading some devices does not end
		return nil, errors.New("it is no file")
	}
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	k := &File{file: file, records: map[int][]*record{}}
	end, err := k.read(key + "\n")
	if err == nil {
		err = file.Truncate(end)
	}
	if err == nil {
		_, err = file.Seek(end, io.SeekStart)
	}
	if err == nil && end == 0 {
		_, err = io.WriteString(file, key+"\n")
	}
	if err != nil {
		file.Close()
		return nil, err
	}
	return k, nil
}

// read reads all records that are whole, and returns where they end.
func (k *File) read(head string) (end int64, err error) {
	info, err := k.file.Stat()
	if err != nil {
		return 0, err
	}
	first := make([]byte, min(int64(len(head)), info.Size()))
	if _, err := io.ReadFull(k.file, first); err != nil {
		return 0, err
	}
	switch {
	case len(first) < len(head) && string(first) == head[:len(first)]: // it was begun, and no more
		return 0, nil
	case string(first) != head:
		return 0, ErrOther
	}
	end = int64(len(head))
	for {
		var frame [8]byte
		if _, err := io.ReadFull(k.file, frame[:]); err != nil {
			return end, nil
		}
		size := int64(binary.LittleEndian.Uint32(frame[:]))
		if size > info.Size()-end {
			return end, nil
		}
		body := make([]byte, size)
		if _, err := io.ReadFull(k.file, body); err != nil ||
			crc32.ChecksumIEEE(body) != binary.LittleEndian.Uint32(frame[4:]) {
			return end, nil
		}
		var r record
		if err := gob.NewDecoder(bytes.NewReader(body)).Decode(&r); err != nil {
			return end, nil
		}
		k.records[r.Chain] = append(k.records[r.Chain], &r)
		end += int64(len(frame)) + size
	}
}

// Draws returns how many draws the file had of all chains.
func (k *File) Draws() (n int) {
	for _, list := range k.records {
		for _, r := range list {
			n += len(r.LogP)
		}
	}
	return n
}

func (k *File) add(r *record) error {
	var body bytes.Buffer
	body.Write(make([]byte, 8))
	if err := gob.NewEncoder(&body).Encode(r); err != nil {
		return err
	}
	frame := body.Bytes()
	binary.LittleEndian.PutUint32(frame, uint32(len(frame)-8))
	binary.LittleEndian.PutUint32(frame[4:], crc32.ChecksumIEEE(frame[8:]))
	k.mu.Lock()
	defer k.mu.Unlock()
	_, err := k.file.Write(frame)
	return err
}

// Close closes the file.
func (k *File) Close() error { return k.file.Close() }

// keep writes what the chain drew since it was last written.
func (c *course) keep() error {
	f := c.p.opts.Keep
	if f == nil || !c.begun() || c.savedAt == c.at {
		return nil
	}
	if err := f.add(c.record(c.saved)); err != nil {
		return fmt.Errorf("chains cannot be kept: %w", err)
	}
	c.saved, c.savedAt = c.kept.Draws(), c.at
	return nil
}

// record is the chain as it is, with the draws from one on.
func (c *course) record(from int) *record {
	k := c.kept
	return &record{
		Chain: c.number, At: c.at, Stage: c.stage, Before: c.before, From: c.from, Behind: c.behind, BentAt: c.bentAt,
		State: c.state(), Warp: c.warp, Failed: c.failed, Early: c.early, Pool: c.pool,
		Mode: k.Mode, Warmed: k.Warmed, Values: shared(k.Values, from),
		LogP: k.LogP[from:], Accept: k.Accept[from:], Step: k.Step[from:], Energy: k.Energy[from:],
		Depth: k.Depth[from:], Leaps: k.Leapfrogs[from:], Divergent: k.Divergent[from:],
	}
}

// take takes up a chain as a record has it, and the draws of that behind those that there are.
func (c *course) take(r *record) {
	k := c.kept
	if k.Values == nil {
		k.Values = make([][]float64, len(r.Values))
	}
	for i := range r.Values {
		k.Values[i] = append(k.Values[i], r.Values[i]...)
	}
	k.LogP, k.Accept, k.Step = append(k.LogP, r.LogP...), append(k.Accept, r.Accept...), append(k.Step, r.Step...)
	k.Energy, k.Depth = append(k.Energy, r.Energy...), append(k.Depth, r.Depth...)
	k.Leapfrogs, k.Divergent = append(k.Leapfrogs, r.Leaps...), append(k.Divergent, r.Divergent...)
	c.chain, c.recalled = nil, r
	c.at, c.stage, c.before, c.from, c.warp = r.At, r.Stage, r.Before, r.From, r.Warp
	c.behind, c.bentAt = r.Behind, r.BentAt
	c.failed, c.early, c.pool = r.Failed, r.Early, r.Pool
	k.Mode, k.Warmed = r.Mode, r.Warmed
}

// recall takes up what the file has of the chain.
func (c *course) recall() error {
	f := c.p.opts.Keep
	if f == nil || len(f.records[c.number]) == 0 {
		return nil
	}
	k, most := c.kept, c.p.settings.Draws
	for _, r := range f.records[c.number] {
		c.take(r)
	}
	f.records[c.number] = nil
	c.saved, c.savedAt = k.Draws(), c.at
	if n := k.Draws(); n > most {
		return fmt.Errorf("%w: %d draws of each chain, and %d were asked for", ErrMore, n, most)
	}
	return nil
}

// ErrNoChains says that a method has no chains that could be kept.
var ErrNoChains = errors.New("chains are kept, and go on")

// ErrMore says that a file of chains has more draws than were asked for.
var ErrMore = errors.New("the file of chains has more")

// resume makes the chain as it was.
func (c *course) resume(ctx context.Context) (err error) {
	c.options = c.firstOptions()
	if c.warp != nil {
		c.options = c.bentOptions(c.behind, c.bentAt)
	}
	state := c.recalled.State
	state.Q = slices.Clone(state.Q)
	c.chain, err = nuts.Resume(ctx, c.density(), state, c.options)
	return err
}
