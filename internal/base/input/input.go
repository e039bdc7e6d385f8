// Package input reads what odes is handed: files that a user names, files that a model names, and streams. It is the
// only place that opens a file to read it, so that what holds for one input holds for all. Every input has a limit,
// devices are never read, and what a model names lies in the model's folder.
package input

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes/internal/base/memory"
)

// The most bytes of an input.
const (
	MaxText = 64 << 20 // a text: a model, what it imports, values to set, an entry of a session
	MaxData = 4 << 30  // a file of numbers
)

// Seen remembers which files were read, so that none of them is taken for an output. A nil *Seen remembers nothing.
type Seen struct {
	mu   sync.Mutex
	list map[string]fs.FileInfo // by absolute path
	open []fs.FileInfo          // without a name
	// Rewrite, if it is set before anything is read, changes what is read.
	Rewrite func([]byte) []byte
}

// Taken is what is read in the place of a text.
func (s *Seen) Taken(text []byte) []byte {
	if s == nil || s.Rewrite == nil {
		return text
	}
	return s.Rewrite(text)
}

func (s *Seen) add(name string, info fs.FileInfo) {
	full, err := filepath.Abs(name)
	if s == nil || err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.list == nil {
		s.list = map[string]fs.FileInfo{}
	}
	s.list[full] = info
}

// AddOpen adds a file that was opened by someone else, such as standard input, and stays open: nobody knows its name,
// but its number belongs to no other file. What is no file, such as a terminal, is not added: it may be written too.
func (s *Seen) AddOpen(f *os.File) {
	info, err := f.Stat()
	if s == nil || err != nil || !info.Mode().IsRegular() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, info)
}

// Has reports whether the file was read, by whatever name. A file that has since been replaced was not: its number may
// belong to another file now.
func (s *Seen) Has(info fs.FileInfo) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if slices.ContainsFunc(s.open, func(old fs.FileInfo) bool { return os.SameFile(old, info) }) {
		return true
	}
	for name, old := range s.list {
		if os.SameFile(old, info) {
			if now, err := os.Stat(name); err == nil && os.SameFile(old, now) {
				return true
			}
		}
	}
	return false
}

// File reads a text that a user names: a file, wherever links lead, or a pipe such as shells make of <(command).
func File(name string, seen *Seen) ([]byte, error) {
	info, err := os.Stat(name) // before it is opened: opening some devices does something
	if err != nil {
		return nil, err
	}
	if kind := kindOf(info.Mode()); kind != "" && info.Mode()&fs.ModeNamedPipe == 0 {
		return nil, &fs.PathError{Op: "read", Path: name, Err: errors.New("it is " + kind)}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	seen.add(name, info)
	text, err := Stream(f, MaxText)
	if err != nil {
		return nil, &fs.PathError{Op: "read", Path: name, Err: cause(err)}
	}
	return seen.Taken(text), nil
}

// Stream reads r to its end. It is an error if that is farther than limit bytes.
func Stream(r io.Reader, limit int64) ([]byte, error) {
	return stream(r, 0, limit)
}

// stream is Stream for a reader that probably has about that many bytes.
func stream(r io.Reader, about, limit int64) ([]byte, error) {
	text := bytes.NewBuffer(make([]byte, 0, min(about, limit)+bytes.MinRead))
	n, err := text.ReadFrom(io.LimitReader(r, limit+1))
	if err == nil && n > limit {
		err = fmt.Errorf("it has more than %s, which is the limit", size(limit))
	}
	return text.Bytes(), err
}

// Read reads a file of at most limit bytes that a model names. Slashes or backslashes separate the parts of the name,
// which is relative to the root of files. Files may be nil. An error names the file; it is fs.ErrNotExist if there is
// no such file.
func Read(files fs.FS, name string, limit int64) ([]byte, error) {
	clean := path.Clean(strings.ReplaceAll(name, "\\", "/"))
	if !fs.ValidPath(clean) || clean == "." {
		return nil, fmt.Errorf("%q is outside the model's folder; files are named relative to it, and lie in it "+
			"or below", name)
	}
	if files == nil {
		return nil, fmt.Errorf("cannot read %q: the model does not come from a folder", name)
	}
	text, err := read(files, clean, limit)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("there is no file %q in the model's folder: %w", name, fs.ErrNotExist)
	case err != nil:
		return nil, fmt.Errorf("cannot read %q: %w", name, cause(err))
	}
	if d, ok := files.(folder); ok {
		text = d.seen.Taken(text)
	}
	return text, nil
}

// ReadAround is Read for problems that name files of other folders, as some formats do: `..` may lead out of the
// folder, if it is one on disk, to files whose names end in one of endings.
func ReadAround(files fs.FS, name string, limit int64, endings ...string) ([]byte, error) {
	clean := path.Clean(strings.ReplaceAll(name, "\\", "/"))
	around, ok := files.(Around)
	if !ok || !strings.HasPrefix(clean, "../") ||
		!slices.ContainsFunc(endings, func(end string) bool { return strings.HasSuffix(clean, end) }) {
		return Read(files, name, limit)
	}
	var above string
	for strings.HasPrefix(clean, "../") {
		above, clean = above+"../", clean[len("../"):]
	}
	return Read(around.Above(above), clean, limit)
}

// Around is a file system that is a folder on disk, and can tell what lies around it.
type Around interface {
	Above(path string) fs.FS // the folder at a path such as "../../"
}

func read(files fs.FS, name string, limit int64) ([]byte, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if kind := kindOf(info.Mode()); kind != "" {
		return nil, errors.New("it is " + kind)
	}
	if err := memory.Ask(float64(info.Size())); err != nil && info.Size() <= limit {
		return nil, err
	}
	return stream(f, info.Size(), limit)
}

// folder is a folder as a file system.
type folder struct {
	path string
	seen *Seen
}

// Folder returns the folder at a path. Nothing outside of it can be read, not through links either, and nothing in it
// but files and folders.
func Folder(path string, seen *Seen) fs.FS { return folder{path, seen} }

// Above returns the folder at a path such as "../../".
func (d folder) Above(path string) fs.FS { return folder{filepath.Join(d.path, path), d.seen} }

// Open opens a file or a folder to read it.
func (d folder) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	root, err := os.OpenRoot(d.path)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if info, err := root.Stat(name); err != nil {
		return nil, inside(err)
	} else if !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("it is " + kindOf(info.Mode()))}
	}
	// A pipe that took the file's place in between does not block.
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		return nil, inside(err)
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "open", Path: name, Err: errors.New("it is " + kindOf(info.Mode()))}
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	d.seen.add(filepath.Join(d.path, filepath.FromSlash(name)), info)
	return f, nil
}

// inside words the error of a root about a link that leaves it; package os does not export that error.
func inside(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) && strings.Contains(at.Err.Error(), "escapes from parent") {
		return &fs.PathError{Op: at.Op, Path: at.Path, Err: errors.New("a link leads out of the model's folder")}
	}
	return err
}

// kindOf says what a file is that is not read; "" for a regular file.
func kindOf(mode fs.FileMode) string {
	switch {
	case mode.IsRegular():
		return ""
	case mode.IsDir():
		return "a folder"
	case mode&fs.ModeNamedPipe != 0:
		return "a pipe"
	case mode&fs.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// cause returns what an error says beside the operation and the path.
func cause(err error) error {
	var at *fs.PathError
	if errors.As(err, &at) {
		return at.Err
	}
	return err
}

// size words a number of bytes.
func size(n int64) string {
	if n >= 1<<30 {
		return fmt.Sprintf("%d GiB", n>>30)
	}
	return fmt.Sprintf("%d MiB", n>>20)
}
