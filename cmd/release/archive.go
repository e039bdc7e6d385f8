package main

import (
	"archive/zip"
	"compress/flate"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// zipFolder writes an archive of a folder, beginning with the folder's name. Times and orders are always the same.
func zipFolder(folder, to string) (err error) {
	f, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := zip.NewWriter(f)
	w.RegisterCompressor(zip.Deflate, func(out io.Writer) (io.WriteCloser, error) {
		return flate.NewWriter(out, flate.BestCompression)
	})
	above := filepath.Dir(filepath.Clean(folder))
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error { // in the order of names
		if err != nil || d.IsDir() {
			return err
		}
		name, err := filepath.Rel(above, path)
		if err != nil {
			return err
		}
		h := &zip.FileHeader{
			Name: filepath.ToSlash(name), Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		}
		mode := fs.FileMode(0o644)
		if filepath.Ext(path) == ".exe" {
			mode = 0o755
		}
		h.SetMode(mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		_, err = part.Write(text)
		return err
	})
	if err != nil {
		return err
	}
	return w.Close()
}
