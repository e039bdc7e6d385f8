package output

import (
	"io/fs"
	"os"
)

// calls are what an output asks of the operating system.
type calls struct {
	stat, lstat func(name string) (fs.FileInfo, error)
	readlink    func(name string) (string, error)
	open        func(name string, flag int, mode fs.FileMode) (*os.File, error)
	chmod       func(f *os.File, mode fs.FileMode) error
	write       func(f *os.File, b []byte) (int, error)
	sync, close func(f *os.File) error
	rename      func(from, to string) error
	remove      func(name string) error
}

// system makes these calls; tests refuse one after the other.
var system = calls{
	stat: os.Stat, lstat: os.Lstat, readlink: os.Readlink, open: os.OpenFile, chmod: (*os.File).Chmod,
	write: (*os.File).Write, sync: (*os.File).Sync, close: (*os.File).Close, rename: os.Rename, remove: os.Remove,
}
