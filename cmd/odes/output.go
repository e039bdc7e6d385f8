package main

import (
	"io"
	"os"

	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/internal/base/screen"
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
	f, _ := screen.Unguarded(w).(*os.File)
	return f
}

// shown is what writes to w, so that a terminal shows no control characters but those of this program.
func shown(w io.Writer) io.Writer {
	if isTerminal(w) {
		return screen.Guard(w)
	}
	return w
}

// sink is where a result goes: standard output, or a file.
type sink struct {
	io.Writer
	file *output.File // nil for standard output
}

// open prepares the output. It fails before the work is done rather than after.
func (c *call) open(path string) (*sink, error) {
	if path == "" {
		return &sink{Writer: c.out}, nil
	}
	f, err := output.Create(path, &c.seen)
	return &sink{f, f}, err
}

// direct reports whether the output is a device or a pipe.
func (s *sink) direct() bool { return s.file != nil && s.file.Direct() }

// commit makes the output appear.
func (s *sink) commit() error {
	if s.file == nil {
		return nil
	}
	return s.file.Commit()
}

// failure says that a result could not be written.
func (s *sink) failure(err error) error {
	if s.file == nil {
		return cannotPrint(err)
	}
	return s.file.Failure(err)
}

// discard removes what was not committed; after commit it does nothing.
func (s *sink) discard() {
	if s.file != nil {
		s.file.Discard()
	}
}

// write lets produce write to path, or to standard output where path is empty.
func (c *call) write(path string, produce func(io.Writer) error) error {
	if path == "" {
		return produce(c.out)
	}
	return output.Write(path, &c.seen, produce)
}

// cannotPrint says that standard output could not be written. An error of nil stays nil.
func cannotPrint(err error) error { return output.Wrap("standard output", err) }
