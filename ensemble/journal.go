package ensemble

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"odes.dev/odes"
)

// Journal is a file with the chunks of a problem that are done, in the order in which they came. A chunk that was being
// written when the process ended is dropped when the file is opened again. Goroutines may share a Journal.
type Journal struct {
	mu   sync.Mutex
	f    *os.File
	at   map[int]place // where each chunk is
	end  int64
	path string
}

type place struct {
	offset int64
	size   int
}

// journalHead is the first line of the file.
type journalHead struct {
	Odes    string `json:"odes"`    // "ensemble 2"
	Version string `json:"version"` // of odes: another one may give other bits
	Job     string `json:"job"`
}

const journalKind = "ensemble 2"

// ErrOtherJob says that a journal belongs to another job.
var ErrOtherJob = errors.New("it holds results of something else")

// OpenJournal opens the journal at path, and begins one where there is none.
func OpenJournal(path string, p *Problem) (*Journal, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, err
	}
	j := &Journal{f: f, at: map[int]place{}, path: path}
	if err := j.open(p); err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return j, nil
}

func (j *Journal) open(p *Problem) error {
	if err := lock(j.f); err != nil {
		return errors.New("another process is writing it")
	}
	info, err := j.f.Stat()
	if err != nil {
		return err
	}
	r := bufio.NewReaderSize(j.f, 1<<20)
	line, err := r.ReadBytes('\n')
	if err == io.EOF { // new, or cut off within the first line
		head, _ := json.Marshal(journalHead{journalKind, odes.Version, p.ID})
		head = append(head, '\n')
		if info.Size() > int64(len(head)) {
			return ErrOtherJob
		}
		if err := j.f.Truncate(0); err != nil {
			return err
		}
		_, err := j.f.WriteAt(head, 0)
		j.end = int64(len(head))
		return err
	}
	if err != nil {
		return err
	}
	var head journalHead
	if json.Unmarshal(line, &head) != nil || head != (journalHead{journalKind, odes.Version, p.ID}) {
		return ErrOtherJob
	}
	j.end = int64(len(line))
	first := make([]byte, chunkHead)
	var body []byte
	for {
		if _, err := io.ReadFull(r, first); err != nil {
			break
		}
		n := chunkSize(first)
		if n == 0 || j.end+int64(n) > info.Size() {
			break
		}
		if cap(body) < n {
			body = make([]byte, n)
		}
		body = append(body[:0], first...)
		if _, err := io.ReadFull(r, body[chunkHead:n]); err != nil {
			break
		}
		c, err := DecodeChunk(body[:n])
		if err != nil || !p.fits(c) {
			break
		}
		j.at[c.Index] = place{j.end, n}
		j.end += int64(n)
	}
	return j.f.Truncate(j.end)
}

// Len returns how many chunks the journal holds.
func (j *Journal) Len() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.at)
}

// Has tells whether a chunk is done.
func (j *Journal) Has(chunk int) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	_, ok := j.at[chunk]
	return ok
}

// Add writes a chunk, unless it is there already.
func (j *Journal) Add(c *Chunk) error {
	text := c.Encode()
	j.mu.Lock()
	defer j.mu.Unlock()
	if _, ok := j.at[c.Index]; ok {
		return nil
	}
	if _, err := j.f.WriteAt(text, j.end); err != nil {
		return err
	}
	j.at[c.Index] = place{j.end, len(text)}
	j.end += int64(len(text))
	return nil
}

// Read returns a chunk that is done.
func (j *Journal) Read(chunk int) (*Chunk, error) {
	j.mu.Lock()
	at, ok := j.at[chunk]
	j.mu.Unlock()
	if !ok {
		return nil, fmt.Errorf("%s: chunk %d is not there", j.path, chunk)
	}
	text := make([]byte, at.size)
	if _, err := j.f.ReadAt(text, at.offset); err != nil {
		return nil, err
	}
	c, err := DecodeChunk(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", j.path, err)
	}
	return c, nil
}

// Close closes the file, which stays.
func (j *Journal) Close() error { return j.f.Close() }

// Remove closes the file and removes it.
func (j *Journal) Remove() error {
	return errors.Join(j.f.Close(), os.Remove(j.path))
}
