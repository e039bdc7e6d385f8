package playground

import (
	"io"
	"io/fs"
	"strings"
	"time"
)

// memory are files in memory, by their paths. There are no folders to list.
type memory map[string]string

func (f memory) Open(name string) (fs.File, error) {
	text, ok := f[name]
	if !ok || !fs.ValidPath(name) {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	return &opened{strings.NewReader(text), name, int64(len(text))}, nil
}

// opened is a file that is being read, and its own description.
type opened struct {
	io.ReadSeeker
	name string
	size int64
}

func (o *opened) Stat() (fs.FileInfo, error) { return o, nil }
func (o *opened) Close() error               { return nil }
func (o *opened) Name() string               { return o.name[strings.LastIndexByte(o.name, '/')+1:] }
func (o *opened) Size() int64                { return o.size }
func (o *opened) Mode() fs.FileMode          { return 0o444 }
func (o *opened) ModTime() time.Time         { return time.Time{} }
func (o *opened) IsDir() bool                { return false }
func (o *opened) Sys() any                   { return nil }
