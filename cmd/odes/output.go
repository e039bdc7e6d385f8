package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// stream is standard output. It keeps the first error, since much of what is printed there is printed unchecked.
type stream struct {
	io.Writer
	failed error
}

func (s *stream) Write(p []byte) (int, error) {
	n, err := s.Writer.Write(p)
	if err != nil && s.failed == nil {
		s.failed = err
	}
	return n, err
}

// file returns the file behind a writer; nil when there is none.
func file(w io.Writer) *os.File {
	if s, ok := w.(*stream); ok {
		w = s.Writer
	}
	f, _ := w.(*os.File)
	return f
}

// sink is where a result goes: standard output, or a file that appears whole or not at all.
type sink struct {
	io.Writer
	file   *os.File
	target string // "" for standard output
}

// open prepares the output. It fails before the work is done rather than after.
func (c *call) open(path string) (*sink, error) {
	if path == "" {
		return &sink{Writer: c.out}, nil
	}
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	info, err := os.Stat(target)
	switch {
	case err == nil && info.IsDir():
		return nil, cannotWrite(path, errors.New("it is a directory"))
	case err == nil && !info.Mode().IsRegular(): // a device or a pipe cannot be replaced
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return nil, cannotWrite(path, err)
		}
		return &sink{Writer: f, file: f}, nil
	}
	for n := 0; ; n++ {
		temp := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d-%d", filepath.Base(target), os.Getpid(), n))
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if errors.Is(err, fs.ErrExist) && n < 100 {
			continue
		}
		if err != nil {
			return nil, cannotWrite(path, err)
		}
		return &sink{Writer: f, file: f, target: target}, nil
	}
}

// commit makes the output appear.
func (s *sink) commit() error {
	if s.file == nil {
		return nil
	}
	err := s.file.Close()
	if s.target == "" {
		return err
	}
	temp := s.file.Name()
	s.file = nil
	if err == nil {
		err = os.Rename(temp, s.target)
	}
	if err != nil {
		os.Remove(temp)
		return cannotWrite(s.target, err)
	}
	return nil
}

// discard removes what was not committed; after commit it does nothing.
func (s *sink) discard() {
	if s.file == nil {
		return
	}
	s.file.Close()
	if s.target != "" {
		os.Remove(s.file.Name())
	}
	s.file = nil
}

// write opens path, lets produce write, and commits.
func (c *call) write(path string, produce func(io.Writer) error) error {
	s, err := c.open(path)
	if err != nil {
		return err
	}
	defer s.discard()
	if err := produce(s); err != nil {
		return err
	}
	return s.commit()
}

// writeError says that an output could not be written.
type writeError struct {
	path string
	err  error
}

func (e *writeError) Error() string { return fmt.Sprintf("cannot write %s: %v", e.path, e.err) }

func (e *writeError) Unwrap() error { return e.err }

// cannotWrite wraps err, from writing to path, as a writeError unless it is one already. A nil error stays nil.
func cannotWrite(path string, err error) error {
	var done *writeError
	if err == nil || errors.As(err, &done) {
		return err
	}
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	if path == "" {
		path = "standard output"
	}
	return &writeError{path, err}
}
