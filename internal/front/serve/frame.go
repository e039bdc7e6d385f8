package serve

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/lang/diag"
)

// Version is that of the protocol. It stands in every frame.
const Version = 1

// kind says what a frame is.
type kind uint8

// The kinds of frames, of a client and of the server.
const (
	kindRequest kind = 1 // begins something; its number is new
	kindCancel  kind = 2 // ends the request with the same number

	kindResult   kind = 16 // the answer
	kindError    kind = 17 // the answer where there is no result
	kindProgress kind = 18 // before the answer, if the request asks for it
)

// The most of a frame. A head holds the text of a model, escaped.
const (
	maxHead   = 128 << 20 // bytes
	maxValues = 512 << 20 // numbers: 4 GiB, as in a file of numbers
)

// headerSize is that of the header of a frame: "ODE", version, kind, three zeros, the number of the request (uint32),
// the length of the head in bytes (uint32) and the count of values (uint64), all little-endian.
const headerSize = 24

// magic begins every frame.
const magic = "ODE"

// frame is what both sides send: a head in JSON, and numbers.
type frame struct {
	kind   kind
	id     uint32
	head   []byte
	values []float64
}

// errProtocol marks a stream that cannot be read on, since nobody knows where its next frame begins.
var errProtocol = errors.New("this is not the protocol of odes serve")

func protocolf(format string, args ...any) error {
	return fmt.Errorf("%w: %s", errProtocol, fmt.Sprintf(format, args...))
}

// readFrame reads a frame of a client. The error is io.EOF where the stream ends between frames. What a frame says of
// its length is not believed: memory is taken as bytes arrive.
func readFrame(r io.Reader) (frame, error) {
	var h [headerSize]byte
	switch _, err := io.ReadFull(r, h[:]); {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return frame{}, protocolf("the stream ends within the header of a frame")
	case err != nil:
		return frame{}, err
	}
	if string(h[:len(magic)]) != magic {
		return frame{}, protocolf("a frame begins with %q, not with %q", h[:len(magic)], magic)
	}
	if h[3] != Version {
		return frame{}, protocolf("a frame has version %d; this server speaks version %d", h[3], Version)
	}
	f := frame{kind: kind(h[4]), id: binary.LittleEndian.Uint32(h[8:])}
	if f.kind != kindRequest && f.kind != kindCancel {
		return frame{}, protocolf("a frame of a client has kind %d", f.kind)
	}
	if h[5]|h[6]|h[7] != 0 {
		return frame{}, protocolf("bytes 5 to 7 of a header are not zero")
	}
	head, count := binary.LittleEndian.Uint32(h[12:]), binary.LittleEndian.Uint64(h[16:])
	if head > maxHead {
		return frame{}, protocolf("a head of %s is longer than %s", diag.Bytes(float64(head)), diag.Bytes(maxHead))
	}
	if count > maxValues {
		return frame{}, protocolf("%d values are more than %d", count, maxValues)
	}
	var err error
	if f.head, err = readBytes(r, int(head)); err == nil {
		f.values, err = readValues(r, int(count))
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		err = protocolf("the stream ends within a frame")
	}
	return f, err
}

// piece is how many bytes are read at once.
const piece = 64 << 10

func readBytes(r io.Reader, n int) ([]byte, error) {
	if n <= piece {
		b := make([]byte, n)
		_, err := io.ReadFull(r, b)
		return b, err
	}
	var b bytes.Buffer
	_, err := io.CopyN(&b, r, int64(n))
	return b.Bytes(), err
}

func readValues(r io.Reader, n int) ([]float64, error) {
	if n == 0 {
		return nil, nil
	}
	list := make([]float64, 0, min(n, piece/8))
	raw := make([]byte, min(8*n, piece))
	for len(list) < n {
		b := raw[:min(8*(n-len(list)), len(raw))]
		if _, err := io.ReadFull(r, b); err != nil {
			return nil, err
		}
		if len(list)+len(b)/8 > cap(list) {
			if err := memory.Ask(16 * float64(len(list))); err != nil {
				return nil, err
			}
		}
		list = appendValues(list, b)
	}
	return list, nil
}

func appendValues(list []float64, b []byte) []float64 {
	for ; len(b) > 0; b = b[8:] {
		list = append(list, floatOf(b))
	}
	return list
}

// array is a part of the values of an answer.
type array struct {
	name   string
	shape  []int
	values []float64
}

// write writes a frame of the server; buffer is work space, which it returns. A small frame is one write.
func writeFrame(w io.Writer, k kind, id uint32, head []byte, arrays []array, buffer []byte) ([]byte, error) {
	count := 0
	for _, a := range arrays {
		count += len(a.values)
	}
	b := append(buffer[:0], magic...)
	b = append(b, Version, byte(k), 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, id)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(head)))
	b = binary.LittleEndian.AppendUint64(b, uint64(count))
	b = append(b, head...)
	for _, a := range arrays {
		for list := a.values; len(list) > 0; {
			if len(b) >= piece {
				if _, err := w.Write(b); err != nil {
					return b, err
				}
				b = b[:0]
			}
			n := min(len(list), piece/8)
			for _, x := range list[:n] {
				b = appendFloat(b, x)
			}
			list = list[n:]
		}
	}
	_, err := w.Write(b)
	return b, err
}
