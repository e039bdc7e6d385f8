package output

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/internal/base/input"
)

// put writes a file of a test.
func put(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(name, mode); err != nil {
		t.Fatal(err)
	}
	return name
}

func get(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// alone fails if the folder has other files than these.
func alone(t *testing.T, folder string, names ...string) {
	t.Helper()
	list, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Name())
	}
	slices.Sort(names)
	if !slices.Equal(got, names) {
		t.Errorf("the folder has %q, want %q", got, names)
	}
}

func write(text string) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := io.WriteString(w, text)
		return err
	}
}

// TestReplace keeps the mode and the identity of what is replaced, as far as links go.
func TestReplace(t *testing.T) {
	dir := t.TempDir()
	for _, mode := range []os.FileMode{0o755, 0o600, 0o640, 0o666} {
		name := put(t, filepath.Join(dir, "a"), "old", mode)
		if err := Write(name, nil, write("new")); err != nil {
			t.Fatal(err)
		}
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if get(t, name) != "new" || info.Mode() != mode {
			t.Errorf("%q with the mode %v, want %v", get(t, name), info.Mode(), mode)
		}
	}
	alone(t, dir, "a")
}

// TestLinks writes where links lead, if to nothing yet.
func TestLinks(t *testing.T) {
	dir := t.TempDir()
	if err := os.Symlink("there", filepath.Join(dir, "link")); err != nil {
		t.Skip(err)
	}
	for _, text := range []string{"first", "second"} {
		if err := Write(filepath.Join(dir, "link"), nil, write(text)); err != nil {
			t.Fatal(err)
		}
		if get(t, filepath.Join(dir, "there")) != text {
			t.Errorf("the target of the link is not %q", text)
		}
	}
	if to, err := os.Readlink(filepath.Join(dir, "link")); err != nil || to != "there" {
		t.Errorf("the link leads to %q, %v", to, err)
	}
	if err := os.Symlink("circle", filepath.Join(dir, "circle")); err != nil {
		t.Fatal(err)
	}
	if err := Write(filepath.Join(dir, "circle"), nil, write("")); err == nil {
		t.Error("a link to itself is written")
	}
}

// TestPipes writes a pipe by the name that it has as an open file, whose link leads to no path.
func TestPipes(t *testing.T) {
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	name := fmt.Sprintf("/dev/fd/%d", w.Fd())
	if _, err := os.Stat(name); err != nil {
		t.Skip(err)
	}
	if err := Write(name, nil, write("text")); err != nil {
		t.Error(err)
	}
	w.Close()
	if got, err := io.ReadAll(r); err != nil || string(got) != "text" {
		t.Errorf("the pipe has %q, %v", got, err)
	}
}

// TestRefused refuses before anything is computed, and leaves what is there.
func TestRefused(t *testing.T) {
	dir := t.TempDir()
	var seen input.Seen
	read := put(t, filepath.Join(dir, "model"), "model", 0o644)
	if _, err := input.File(read, &seen); err != nil {
		t.Fatal(err)
	}
	if err := os.Link(read, filepath.Join(dir, "same")); err != nil {
		t.Skip(err)
	}
	protected := put(t, filepath.Join(dir, "protected"), "p", 0o444)
	for name, want := range map[string]string{
		read:                              "was read from this file",
		filepath.Join(dir, "same"):        "was read from this file",
		protected:                         "", // the system refuses, or we do
		dir:                               "it is a folder",
		filepath.Join(dir, "no", "where"): "",
	} {
		_, err := Create(name, &seen)
		var is *Error
		if !errors.As(err, &is) || is.Path != name || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// what is read only after the output was begun
	late := put(t, filepath.Join(dir, "late"), "late", 0o644)
	err := Write(late, &seen, func(io.Writer) error {
		_, err := input.File(late, &seen)
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "was read from this file") || get(t, late) != "late" {
		t.Errorf("an input is replaced: %v", err)
	}
	alone(t, dir, "late", "model", "protected", "same")
}

// TestFailures leaves what was there, and nothing else, whatever fails; and names the output.
func TestFailures(t *testing.T) {
	dir := t.TempDir()
	name := put(t, filepath.Join(dir, "a"), "old", 0o644)
	full := errors.New("no space left on device")
	whole := system
	defer func() { system = whole }()
	for what, fail := range map[string]func() error{
		"the result": func() error { return Write(name, nil, func(io.Writer) error { return full }) },
		"writing": func() error {
			return Write(name, nil, func(w io.Writer) error {
				w.(*File).temp.Close()
				_, err := io.WriteString(w, "new")
				return fmt.Errorf("pdf: %w", err)
			})
		},
		"syncing": func() error {
			system.sync = func(f *os.File) error { return &os.PathError{Op: "sync", Path: f.Name(), Err: full} }
			defer func() { system = whole }()
			return Write(name, nil, write("new"))
		},
		"renaming": func() error {
			return Write(name, nil, func(w io.Writer) error {
				if err := os.Remove(name); err != nil {
					return err
				}
				return os.Mkdir(name, 0o700)
			})
		},
	} {
		err := fail()
		if err == nil || strings.Contains(err.Error(), ".odes-") {
			t.Errorf("%s fails: %v", what, err)
		}
		if what != "the result" && !strings.HasPrefix(fmt.Sprint(err), "cannot write "+name+": ") {
			t.Errorf("%s fails: %v", what, err)
		}
		alone(t, dir, "a")
		if info, err := os.Stat(name); err == nil && info.IsDir() {
			os.Remove(name)
			put(t, name, "old", 0o644)
		} else if get(t, name) != "old" {
			t.Errorf("%s fails, and the file is %q", what, get(t, name))
		}
	}
}

// TestSweep removes what killed processes left, and neither what is being written nor what belongs to others.
func TestSweep(t *testing.T) {
	dir := t.TempDir()
	begun, err := Create(filepath.Join(dir, "begun"), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer begun.Discard()
	writing := filepath.Base(begun.temp.Name())
	left := put(t, filepath.Join(dir, ".odes-1-0.tmp"), "left", 0o644)
	put(t, filepath.Join(dir, ".odes-2-0.tmp"), "new", 0o644)
	other := put(t, filepath.Join(dir, ".odes-3.tmp"), "other", 0o644)
	const days = 48 * time.Hour
	age := func(names ...string) {
		for _, name := range names {
			if err := os.Chtimes(name, time.Time{}, time.Now().Add(-days)); err != nil {
				t.Fatal(err)
			}
		}
	}
	age(left, other)
	if runtime.GOOS != "windows" {
		age(begun.temp.Name())
	}
	if err := Write(filepath.Join(dir, "a"), nil, write("a")); err != nil {
		t.Fatal(err)
	}
	alone(t, dir, ".odes-2-0.tmp", ".odes-3.tmp", writing, "a")
}
