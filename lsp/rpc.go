package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Message is a message of JSON-RPC 2.0: a request (ID and Method), a
// notification (Method alone) or a response (ID, and Result or Error).
type Message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id,omitempty"`
	Method  string          `json:"method,omitempty"`
	Params  json.RawMessage `json:"params,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Error   *ResponseError  `json:"error,omitempty"`
}

// ends reports whether a message ends the session, whatever its params are. Who reads messages and who acts on them
// must agree on that: after the last one nothing is read.
func (m *Message) ends() bool { return m.Version == "2.0" && m.Method == "exit" && m.ID == nil }

// ResponseError says why a request failed.
type ResponseError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (e *ResponseError) Error() string { return e.Message }

// Codes of errors, of JSON-RPC and of the protocol.
const (
	codeParse          = -32700
	codeInvalidRequest = -32600
	codeNotFound       = -32601
	codeInvalidParams  = -32602
	codeInternal       = -32603
	codeNotInitialized = -32002
	codeFailed         = -32803 // the request is fine and cannot be met
	codeCancelled      = -32800
)

func errorf(code int, format string, args ...any) *ResponseError {
	return &ResponseError{code, fmt.Sprintf(format, args...)}
}

// null is the ID of an answer to what could not be read, and an empty result.
var null = json.RawMessage("null")

// encode turns values of this package into JSON, which always succeeds.
func encode(v any) json.RawMessage {
	b, err := json.Marshal(v)
	if err != nil {
		panic("lsp: " + err.Error())
	}
	return b
}

func notification(method string, params any) Message {
	return Message{Version: "2.0", Method: method, Params: encode(params)}
}

func failure(id json.RawMessage, err *ResponseError) Message {
	if id == nil {
		id = null
	}
	return Message{Version: "2.0", ID: id, Error: err}
}

// The most bytes of a message and of a line of its head. Anything longer is not a message.
const (
	maxBody = 256 << 20
	maxHead = 4096
)

// errMalformed says that a message could not be read, and that the next one may.
var errMalformed = errors.New("malformed message")

// Reader reads messages, each behind a head with its length.
type Reader struct{ r *bufio.Reader }

// NewReader reads messages from r.
func NewReader(r io.Reader) *Reader { return &Reader{bufio.NewReader(r)} }

// Read returns the next message. An error that is errMalformed concerns this
// message alone; others end the stream.
func (r *Reader) Read() (Message, error) {
	length := -1
	for {
		line, err := r.line()
		if err != nil {
			return Message{}, err
		}
		if line == "" {
			if length >= 0 {
				break
			}
			continue // what stood here was no head: look for the next
		}
		if key, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(strings.TrimSpace(key), "Content-Length") {
			n, err := strconv.Atoi(strings.TrimSpace(value))
			if err != nil || n < 0 || n > maxBody {
				return Message{}, fmt.Errorf("%w: Content-Length is %q", errMalformed, strings.TrimSpace(value))
			}
			length = n
		}
	}
	body := make([]byte, 0, min(length, 1<<20))
	for len(body) < length { // grows with what comes, not with what is promised
		n := len(body)
		body = append(body, make([]byte, min(length-n, max(1<<20, n)))...)
		if _, err := io.ReadFull(r.r, body[n:]); err != nil {
			return Message{}, io.ErrUnexpectedEOF
		}
	}
	var m Message
	if err := json.Unmarshal(body, &m); err != nil {
		return Message{}, fmt.Errorf("%w: %w", errMalformed, err)
	}
	return m, nil
}

// line reads a line of a head without its ending. Of a line that is too long it returns the start.
func (r *Reader) line() (string, error) {
	var b strings.Builder
	for {
		c, err := r.r.ReadByte()
		if err != nil {
			return "", err
		}
		if c == '\n' {
			return strings.TrimSuffix(b.String(), "\r"), nil
		}
		if b.Len() < maxHead {
			b.WriteByte(c)
		}
	}
}

// Write writes a message with its head.
func Write(w io.Writer, m Message) error {
	body := encode(m)
	_, err := w.Write(append(fmt.Appendf(nil, "Content-Length: %d\r\n\r\n", len(body)), body...))
	return err
}
