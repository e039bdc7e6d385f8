package output

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// refusing returns the calls of s, of which those that refuse names fail. What is written arrives by half, and what is
// closed is closed, as on a disk that is full.
func (s calls) refusing(refuse func(call string) error) calls {
	named := func(call string, do func(string) (fs.FileInfo, error)) func(string) (fs.FileInfo, error) {
		return func(name string) (fs.FileInfo, error) {
			if err := refuse(call); err != nil {
				return nil, &fs.PathError{Op: call, Path: name, Err: err}
			}
			return do(name)
		}
	}
	return calls{
		stat: named("stat", s.stat), lstat: named("lstat", s.lstat),
		readlink: func(name string) (string, error) {
			if err := refuse("readlink"); err != nil {
				return "", &fs.PathError{Op: "readlink", Path: name, Err: err}
			}
			return s.readlink(name)
		},
		open: func(name string, flag int, mode fs.FileMode) (*os.File, error) {
			if err := refuse("open"); err != nil {
				return nil, &fs.PathError{Op: "open", Path: name, Err: err}
			}
			return s.open(name, flag, mode)
		},
		chmod: func(f *os.File, mode fs.FileMode) error { return errors.Join(refuse("chmod"), s.chmod(f, mode)) },
		write: func(f *os.File, b []byte) (int, error) {
			if err := refuse("write"); err != nil {
				n, _ := s.write(f, b[:len(b)/2])
				return n, &fs.PathError{Op: "write", Path: f.Name(), Err: err}
			}
			return s.write(f, b)
		},
		sync: func(f *os.File) error {
			if err := refuse("sync"); err != nil {
				return &fs.PathError{Op: "sync", Path: f.Name(), Err: err}
			}
			return s.sync(f)
		},
		close: func(f *os.File) error {
			err := s.close(f)
			if no := refuse("close"); no != nil {
				return &fs.PathError{Op: "close", Path: f.Name(), Err: no}
			}
			return err
		},
		rename: func(from, to string) error {
			if err := refuse("rename"); err != nil {
				return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
			}
			return s.rename(from, to)
		},
		remove: func(name string) error {
			if err := refuse("remove"); err != nil {
				return &fs.PathError{Op: "remove", Path: name, Err: err}
			}
			return s.remove(name)
		},
	}
}

// TestEachCallRefused refuses one call of the system after the other. The file then has the old text and the error
// names it, or it has the new one: where the call was not needed.
func TestEachCallRefused(t *testing.T) {
	whole := system
	defer func() { system = whole }()
	produce := func(w io.Writer) error {
		for _, text := range []string{"new ", "text"} {
			if _, err := io.WriteString(w, text); err != nil {
				return err
			}
		}
		return nil
	}
	count := map[string]int{}
	needed := map[string]bool{}
	for _, to := range []string{"a file", "nothing", "a link"} {
		for n := 1; ; n++ {
			dir := t.TempDir()
			name, old := filepath.Join(dir, "a"), "old"
			list := []string{"a"}
			switch to {
			case "a file":
				put(t, name, old, 0o640)
			case "nothing":
				old = ""
			case "a link":
				put(t, filepath.Join(dir, "there"), old, 0o600)
				if err := os.Symlink("there", name); err != nil {
					t.Skip(err)
				}
				list = append(list, "there")
			}
			left, refused := n, ""
			system = whole.refusing(func(call string) error {
				if left--; left != 0 {
					return nil
				}
				refused = call
				return syscall.ENOSPC
			})
			err := Write(name, nil, produce)
			system = whole
			text := ""
			if b, err := os.ReadFile(name); err == nil {
				text = string(b)
			}
			if err == nil && text != "new text" {
				t.Errorf("%s, call %d (%s): no error, and the file is %q", to, n, refused, text)
			}
			if err != nil && (text != old || !errors.Is(err, syscall.ENOSPC) ||
				strings.Contains(err.Error(), ".odes-") || !strings.HasPrefix(err.Error(), "cannot write "+name+": ")) {
				t.Errorf("%s, call %d (%s): %v, and the file is %q", to, n, refused, err, text)
			}
			if err != nil && to == "nothing" {
				list = nil
			}
			alone(t, dir, list...)
			if refused == "" {
				break
			}
			count[refused]++
			needed[refused] = needed[refused] || err != nil
		}
	}
	for _, call := range strings.Fields("stat lstat readlink open chmod write sync close rename") {
		if count[call] == 0 || !needed[call] {
			t.Errorf("%s was refused %d times, and nothing failed: %v", call, count[call], !needed[call])
		}
	}
}
