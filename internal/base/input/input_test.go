package input

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"
	"time"
)

// put writes a file of a test.
func put(t *testing.T, name, text string) string {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestFolder reads what a model may name, and what it may not.
func TestFolder(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "model")
	for _, d := range []string{dir, filepath.Join(dir, "sub")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	put(t, filepath.Join(top, "secret.csv"), "secret")
	put(t, filepath.Join(dir, "a.csv"), "a")
	put(t, filepath.Join(dir, "sub", "b.csv"), "b")
	for link, to := range map[string]string{
		"in.csv":   "a.csv",
		"out.csv":  filepath.Join("..", "secret.csv"),
		"abs.csv":  filepath.Join(top, "secret.csv"),
		"way":      "..",
		"two.csv":  "out.csv",
		"gone.csv": "nothing.csv",
		"null.csv": os.DevNull,
	} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skip(err)
		}
	}
	const leads = "a link leads out of the model's folder"
	for name, want := range map[string]string{
		"a.csv":          "",
		"sub/b.csv":      "",
		`sub\b.csv`:      "",
		"sub/../a.csv":   "",
		"in.csv":         "",
		"out.csv":        leads,
		"abs.csv":        leads,
		"two.csv":        leads,
		"null.csv":       leads,
		"way/secret.csv": leads,
		"gone.csv":       `there is no file "gone.csv" in the model's folder`,
		"none.csv":       `there is no file "none.csv" in the model's folder`,
		"sub":            "it is a folder",
		"../secret.csv":  `"../secret.csv" is outside the model's folder`,
		"/etc/hosts":     `"/etc/hosts" is outside the model's folder`,
		"":               "outside the model's folder",
	} {
		text, err := Read(Folder(dir, nil), name, MaxData)
		switch {
		case want == "" && (err != nil || len(text) != 1):
			t.Errorf("%s: %q, %v", name, text, err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
}

// TestLimits reads to a limit, and not beyond.
func TestLimits(t *testing.T) {
	for n, fits := range map[int]bool{0: true, 2 << 20: true, 2<<20 + 1: false} {
		text, err := Stream(bytes.NewReader(make([]byte, n)), 2<<20)
		if (err == nil) != fits || fits && len(text) != n {
			t.Errorf("%d bytes: %d, %v", n, len(text), err)
		}
		name := put(t, filepath.Join(t.TempDir(), "a"), strings.Repeat("a", n))
		if _, err = Read(Folder(filepath.Dir(name), nil), "a", 2<<20); (err == nil) != fits {
			t.Errorf("a file of %d bytes: %v", n, err)
		}
		if !fits && (err == nil || !strings.HasSuffix(err.Error(), "it has more than 2 MiB, which is the limit")) {
			t.Errorf("a file of %d bytes: %v", n, err)
		}
	}
	big := filepath.Join(t.TempDir(), "big")
	put(t, big, "")
	if err := os.Truncate(big, MaxText+1); err != nil {
		t.Skip(err)
	}
	if _, err := File(big, nil); err == nil || !strings.Contains(err.Error(), "64 MiB") {
		t.Errorf("a text without end: %v", err)
	}
}

// TestSeen recognises files that were read by other names.
func TestSeen(t *testing.T) {
	dir := t.TempDir()
	a, b := put(t, filepath.Join(dir, "a"), "a"), put(t, filepath.Join(dir, "b"), "b")
	other := put(t, filepath.Join(dir, "c"), "c")
	if err := os.Link(a, filepath.Join(dir, "d")); err != nil {
		t.Skip(err)
	}
	var seen Seen
	if _, err := File(a, &seen); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(Folder(dir, &seen), "b", MaxText); err != nil {
		t.Fatal(err)
	}
	open, err := os.Open(put(t, filepath.Join(dir, "e"), "e"))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	seen.AddOpen(open)
	for name, want := range map[string]bool{
		a: true, b: true, other: false, filepath.Join(dir, "d"): true, open.Name(): true,
	} {
		info, err := os.Stat(name)
		if err != nil {
			t.Fatal(err)
		}
		if seen.Has(info) != want {
			t.Errorf("%s: seen is %v", name, !want)
		}
	}
	device, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer device.Close()
	seen.AddOpen(device)
	if info, err := device.Stat(); err != nil || seen.Has(info) {
		t.Errorf("what is read from a device may not be written there: %v", err)
	}
}

// slow is a file system that answers when it is told to.
type slow struct {
	fstest.MapFS
	answer chan struct{}
}

func (s slow) ReadDir(name string) ([]fs.DirEntry, error) {
	<-s.answer
	return s.MapFS.ReadDir(name)
}

func (s slow) Open(name string) (fs.File, error) {
	f, err := s.MapFS.Open(name)
	return slowFile{f, s.answer}, err
}

type slowFile struct {
	fs.File
	answer chan struct{}
}

func (f slowFile) Read(b []byte) (int, error) {
	<-f.answer
	return f.File.Read(b)
}

// TestWithin does not wait for a disk that does not answer.
func TestWithin(t *testing.T) {
	files := slow{fstest.MapFS{"a": {Data: bytes.Repeat([]byte("x"), 3<<20)}}, make(chan struct{})}
	const soon = 20 * time.Millisecond
	if _, err := Read(Within(context.Background(), files, soon), "a", MaxData); !errors.Is(err, errGivenUp) {
		t.Errorf("a disk that does not answer: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(soon, cancel)
	if _, err := Read(Within(ctx, files, time.Hour), "a", MaxData); !errors.Is(err, context.Canceled) {
		t.Errorf("a read that is cancelled: %v", err)
	}
	close(files.answer)
	all := Within(context.Background(), files, time.Hour)
	if text, err := Read(all, "a", MaxData); err != nil || len(text) != 3<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if list, err := fs.ReadDir(all, "."); err != nil || len(list) != 1 {
		t.Errorf("%v, %v", list, err)
	}
}

// TestReadAround: some files of other folders may be read, if the folder is one on disk.
func TestReadAround(t *testing.T) {
	top := t.TempDir()
	dir := filepath.Join(top, "a", "b")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(top, "m.xml"), "m")
	put(t, filepath.Join(top, "a", "m.xml"), "m")
	put(t, filepath.Join(top, "secret"), "s")
	put(t, filepath.Join(dir, "d"), "d")
	if err := os.Symlink(filepath.Join("..", "secret"), filepath.Join(top, "a", "link.xml")); err != nil {
		t.Skip(err)
	}
	const outside = "is outside the model's folder"
	for name, want := range map[string]string{
		"d": "", "../m.xml": "", "../../m.xml": "", `..\m.xml`: "", "c/../../m.xml": "", "../b/../m.xml": "",
		"../../secret": outside, "../..": outside, filepath.Join(top, "m.xml"): outside,
		"../none.xml": "there is no file", "../link.xml": "a link leads out",
	} {
		text, err := ReadAround(Folder(dir, nil), name, MaxText, ".xml")
		if want == "" && (err != nil || len(text) != 1) ||
			want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %q, %v; want %q", name, text, err, want)
		}
	}
	if _, err := ReadAround(fstest.MapFS{}, "../m.xml", MaxText, ".xml"); err == nil ||
		!strings.Contains(err.Error(), outside) {
		t.Errorf("a file system without more: %v", err)
	}
}
