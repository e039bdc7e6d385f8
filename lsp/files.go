package lsp

import (
	"bytes"
	"io"
	"io/fs"
	"net/url"
	"path"
	"runtime"
	"strings"
	"time"
)

// pathOf returns the path that a URI names, with slashes; "" when it names no file.
func pathOf(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	p := path.Clean(u.Path)
	if drive(p) {
		p = p[1:]
	}
	return p
}

// drive reports a path like /C:/… of Windows, whose files have it without the first slash.
func drive(p string) bool {
	return len(p) > 2 && p[0] == '/' && p[2] == ':' && (p[1]|0x20 >= 'a' && p[1]|0x20 <= 'z')
}

// uriOf names a path.
func uriOf(p string) string {
	if !strings.HasPrefix(p, "/") {
		p = "/" + p
	}
	return (&url.URL{Scheme: "file", Path: p}).String()
}

// overlay is a folder in which the texts of open documents hide those on disk. It records what is read.
type overlay struct {
	disk   fs.FS // nil: there is no folder
	folder string
	open   map[string]string // by path
	read   map[string]bool   // paths that were looked for
}

// key is a path in the form in which paths are compared: Windows ignores the case of letters.
func key(p string) string {
	if runtime.GOOS == "windows" {
		return strings.ToLower(p)
	}
	return p
}

// Open opens a file of the folder.
func (o *overlay) Open(name string) (fs.File, error) {
	if !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrInvalid}
	}
	p := key(path.Join(o.folder, name))
	o.read[p] = true
	if text, ok := o.open[p]; ok {
		return &openFile{Reader: bytes.NewReader([]byte(text)), name: path.Base(name)}, nil
	}
	if o.disk == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return o.disk.Open(name)
}

// openFile is the text of an open document, as a file.
type openFile struct {
	*bytes.Reader
	name string
}

var _ io.Reader = (*openFile)(nil)

func (f *openFile) Stat() (fs.FileInfo, error) { return f, nil }
func (f *openFile) Close() error               { return nil }
func (f *openFile) Name() string               { return f.name }
func (f *openFile) Mode() fs.FileMode          { return 0o444 }
func (f *openFile) ModTime() time.Time         { return time.Time{} }
func (f *openFile) IsDir() bool                { return false }
func (f *openFile) Sys() any                   { return nil }
