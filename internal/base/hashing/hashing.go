// Package hashing writes numbers and texts to a hash.
package hashing

import (
	"crypto/sha256"
	"encoding/binary"
	"hash"
)

// New returns a Writer of SHA-256.
func New() *Writer { return &Writer{Hash: sha256.New()} }

// Writer writes to a hash.
type Writer struct {
	hash.Hash
	b []byte
}

// Num writes a number.
func (w *Writer) Num(x uint64) {
	if w.b = binary.LittleEndian.AppendUint64(w.b, x); len(w.b) >= 4096 {
		w.Flush()
	}
}

// Flush hands what was written to the hash.
func (w *Writer) Flush() {
	_, _ = w.Write(w.b) // a hash takes everything
	w.b = w.b[:0]
}

// Text writes a text with its length.
func (w *Writer) Text(s string) {
	w.Num(uint64(len(s)))
	w.b = append(w.b, s...)
}

// Flag writes a truth.
func (w *Writer) Flag(x bool) {
	if x {
		w.Num(1)
	} else {
		w.Num(0)
	}
}

// Ints writes a list with its length.
func Ints[T ~int | ~int32](w *Writer, list []T) {
	w.Num(uint64(len(list)))
	for _, x := range list {
		w.Num(uint64(x))
	}
}
