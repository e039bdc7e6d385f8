package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// within is a file system that does not wait for ever.
type within struct {
	ctx   context.Context
	files fs.FS
	most  time.Duration
	until time.Time
}

// Within returns files of which each operation fails once ctx is done or the time d, from now, has passed: a disk on a
// network may not answer. What does not answer then goes on in a goroutine of its own.
func Within(ctx context.Context, files fs.FS, d time.Duration) fs.FS {
	return within{ctx, files, d, time.Now().Add(d)}
}

// errGivenUp says that a disk was not waited for any longer.
var errGivenUp = errors.New("the disk did not answer")

// do calls f and waits for it as long as it may.
func do[T any](w within, op, name string, f func() (T, error)) (T, error) {
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := f()
		done <- outcome{value, err}
	}()
	expired := time.NewTimer(time.Until(w.until))
	defer expired.Stop()
	var none T
	select {
	case o := <-done:
		return o.value, o.err
	case <-w.ctx.Done():
		return none, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%w: %w", errGivenUp, w.ctx.Err())}
	case <-expired.C:
		return none, &fs.PathError{Op: op, Path: name, Err: fmt.Errorf("%w within %v", errGivenUp, w.most)}
	}
}

// Open opens a file or a folder.
func (w within) Open(name string) (fs.File, error) {
	f, err := do(w, "open", name, func() (fs.File, error) { return w.files.Open(name) })
	if err != nil {
		return nil, err
	}
	return &patient{within: w, name: name, file: f}, nil
}

// ReadDir lists a folder.
func (w within) ReadDir(name string) ([]fs.DirEntry, error) {
	return do(w, "read", name, func() ([]fs.DirEntry, error) { return fs.ReadDir(w.files, name) })
}

// patient is an open file of such a file system.
type patient struct {
	within
	name string
	file fs.File
	late bool // a read was given up, and may still go on
}

func (p *patient) Stat() (fs.FileInfo, error) { return do(p.within, "stat", p.name, p.file.Stat) }

// Read reads into a buffer of its own, since a read that is given up may still write there.
func (p *patient) Read(b []byte) (int, error) {
	part := make([]byte, min(len(b), 1<<20))
	n, err := do(p.within, "read", p.name, func() (int, error) { return p.file.Read(part) })
	if p.late = p.late || errors.Is(err, errGivenUp); p.late {
		return 0, err
	}
	return copy(b, part[:n]), err
}

// Close closes the file. It does not wait for a read that was given up.
func (p *patient) Close() error {
	if p.late {
		go p.file.Close()
		return nil
	}
	return p.file.Close()
}
