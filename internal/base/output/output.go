// Package output writes the files that odes makes. It is the only place that does: a file appears whole or not at all,
// with the permissions that it had, on the disk and not only in its cache, and never in place of what was read.
package output

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/lazy"
)

// Error says that an output could not be written.
type Error struct {
	Path string // as the user wrote it
	Err  error
}

func (e *Error) Error() string { return fmt.Sprintf("cannot write %s: %v", e.Path, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Wrap returns err, from writing to path, as an Error that names path and no other file, unless it is an Error already.
// An error of nil stays nil.
func Wrap(path string, err error) error {
	var done *Error
	if err == nil || errors.As(err, &done) {
		return err
	}
	var at *fs.PathError
	var link *os.LinkError
	switch {
	case errors.As(err, &at):
		err = at.Err
	case errors.As(err, &link):
		err = link.Err
	}
	return &Error{path, err}
}

// File is an output that is being written. Until Commit it has a name of its own beside its target; a device or a pipe
// is written as it is.
type File struct {
	path, target string // as the user wrote it; where links lead
	temp         *os.File
	direct       bool // there is no temporary file
	seen         *input.Seen
	failed       error // the first
}

// Create begins an output at path. It fails before anything is computed rather than after. Files that were seen as
// inputs are refused; seen may be nil.
func Create(path string, seen *input.Seen) (*File, error) {
	f := &File{path: path, seen: seen}
	if err := f.create(); err != nil {
		return nil, Wrap(path, err)
	}
	return f, nil
}

func (f *File) create() (err error) {
	if f.path == "-" {
		return errIsStandardOutput
	}
	if f.target, err = follow(f.path); err != nil {
		return err
	}
	old, err := system.stat(f.target)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		old = nil
	case err != nil:
		return err
	case old.IsDir():
		return errors.New("it is a folder")
	case f.seen.Has(old):
		return errIsInput
	default:
		existing, err := system.open(f.target, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		if !old.Mode().IsRegular() { // it cannot be replaced
			f.temp, f.direct = existing, true
			return nil
		}
		existing.Close()
		if old.Mode().Perm()&0o222 == 0 {
			return errors.New("it is write-protected")
		}
	}
	folder := filepath.Dir(f.target)
	sweep(folder)
	if f.temp, err = temporary(folder); err != nil {
		return err
	}
	if old != nil {
		keepOwner(f.temp, old)
		if err = system.chmod(f.temp, old.Mode().Perm()); err != nil {
			f.Discard()
		}
	}
	return err
}

// Direct reports whether the output is a device or a pipe, which is written as it is.
func (f *File) Direct() bool { return f.direct }

var (
	errIsInput          = errors.New("what is written there was read from this file; choose another name")
	errIsStandardOutput = errors.New("it is short for standard output; a file of that name is ./-")
)

// follow returns where the links at path lead, if to nothing yet. What is no file keeps its name: that to which
// /dev/stdout and /dev/fd/63 lead does not exist if it is a pipe.
func follow(path string) (string, error) {
	if info, err := system.stat(path); err == nil && !info.Mode().IsRegular() {
		return path, nil
	}
	for range 40 {
		info, err := system.lstat(path)
		if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode()&fs.ModeSymlink == 0 {
			return path, nil
		}
		if err != nil {
			return "", err
		}
		to, err := system.readlink(path)
		if err != nil {
			return "", err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(path), to)
		}
		path = to
	}
	return "", errors.New("its links lead in a circle")
}

// temporary makes a file for an output that is not complete.
func temporary(folder string) (*os.File, error) {
	for n := 0; ; n++ {
		name := filepath.Join(folder, fmt.Sprintf(".odes-%d-%d.tmp", os.Getpid(), n))
		f, err := system.open(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue
		}
		if err == nil {
			lock(f)
		}
		return f, err
	}
}

var leftover = lazy.Regexp(`^\.odes-\d+-\d+\.tmp$`)

// sweep removes what processes left that were killed while they wrote.
func sweep(folder string) {
	dir, err := system.open(folder, os.O_RDONLY, 0)
	if err != nil {
		return
	}
	names, _ := dir.Readdirnames(-1)
	dir.Close()
	for _, name := range names {
		if !leftover().MatchString(name) {
			continue
		}
		path := filepath.Join(folder, name)
		if info, err := system.lstat(path); err == nil && info.Mode().IsRegular() && abandoned(path, info, time.Now()) {
			_ = system.remove(path)
		}
	}
}

// Write adds to the output.
func (f *File) Write(b []byte) (int, error) {
	n, err := system.write(f.temp, b)
	if err = Wrap(f.path, err); f.failed == nil {
		f.failed = err
	}
	return n, err
}

// Failure returns why nothing was written, where err is what a writer to f returned: the reason that f knows itself, or
// err.
func (f *File) Failure(err error) error {
	if f.failed != nil {
		return f.failed
	}
	return err
}

// Commit makes the output appear. Unless all of it could be written, nothing changes.
func (f *File) Commit() error {
	if f.temp == nil {
		return f.failed
	}
	defer f.Discard()
	if f.failed != nil {
		return f.failed
	}
	return Wrap(f.path, f.commit())
}

// commit keeps the order that a loss of power needs: the contents are on the disk before the name is.
func (f *File) commit() error {
	if f.direct {
		return system.close(f.temp)
	}
	temp := f.temp.Name()
	switch now, err := system.stat(f.target); {
	case err == nil && f.seen.Has(now): // read after the output was begun
		return errIsInput
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if err := system.sync(f.temp); err != nil {
		return err
	}
	if err := system.close(f.temp); err != nil {
		return err
	}
	if err := system.rename(temp, f.target); err != nil {
		return err
	}
	f.temp = nil
	syncFolder(filepath.Dir(f.target))
	return nil
}

// Discard removes what was not committed; after Commit it does nothing.
func (f *File) Discard() {
	if f.temp == nil {
		return
	}
	f.temp.Close()
	if !f.direct {
		_ = system.remove(f.temp.Name())
	}
	f.temp = nil
}

// Write makes the output at path of what produce writes.
func Write(path string, seen *input.Seen, produce func(io.Writer) error) error {
	f, err := Create(path, seen)
	if err != nil {
		return err
	}
	defer f.Discard()
	if err := produce(f); err != nil {
		return f.Failure(err)
	}
	return f.Commit()
}
