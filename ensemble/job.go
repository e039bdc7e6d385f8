package ensemble

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"odes.dev/odes"
)

// Job is what is to be computed. Everything that results depend on is in it.
type Job struct {
	Model   Source         `json:"model"`
	Set     []Assignment   `json:"set,omitempty"` // before the values of a member
	Solver  string         `json:"solver,omitempty"`
	Sens    string         `json:"sens,omitempty"`
	Options []odes.Setting `json:"options,omitempty"` // settings, as in odes.Options
	Of      []string       `json:"of"`                // objectives; nil for all, or those of the sens block
	Wrt     []string       `json:"wrt"`               // variables; nil likewise
	Design  Design         `json:"design"`
	// Gradient asks for derivatives, and Times for outputs at these times as well: all of them, or those named.
	Gradient bool     `json:"gradient,omitempty"`
	Times    []Real   `json:"times,omitempty"`
	Outputs  []string `json:"outputs,omitempty"`
	// Trust says which members are compared with independent runs: Sample, All or None.
	Trust string `json:"trust,omitempty"`
	// Chunk is how many members are computed at a time; 0 leaves it to the number of members.
	Chunk int `json:"chunk,omitempty"`
}

// Source is the text of a model, and the files that it reads.
type Source struct {
	Name  string            `json:"name"`
	Text  string            `json:"text"`
	Files map[string][]byte `json:"files,omitempty"`
	// Experiment, if not "", is the one that this is the model of alone.
	Experiment string `json:"experiment,omitempty"`
}

// Assignment is odes.Assignment as data.
type Assignment struct {
	Name   string `json:"name"`
	Values []Real `json:"values"`
	Unit   string `json:"unit,omitempty"`
}

// Assignments makes data of what a run sets.
func Assignments(list []odes.Assignment) []Assignment {
	var out []Assignment
	for _, a := range list {
		out = append(out, Assignment{a.Name, Reals(a.Values), a.Unit})
	}
	return out
}

// Odes returns what a run sets.
func (a Assignment) Odes() odes.Assignment {
	return odes.Assignment{Name: a.Name, Values: Floats(a.Values), Unit: a.Unit}
}

// Real is a number that is written so that it can be read back, infinities included.
type Real float64

// MarshalJSON writes a number, or a text where JSON has no number.
func (r Real) MarshalJSON() ([]byte, error) {
	if x := float64(r); math.IsInf(x, 0) || math.IsNaN(x) {
		return []byte(strconv.Quote(strconv.FormatFloat(x, 'g', -1, 64))), nil
	}
	return strconv.AppendFloat(nil, float64(r), 'g', -1, 64), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (r *Real) UnmarshalJSON(text []byte) error {
	x, err := strconv.ParseFloat(strings.Trim(string(text), `"`), 64)
	*r = Real(x)
	return err
}

// Reals converts numbers.
func Reals(list []float64) []Real {
	if list == nil {
		return nil
	}
	out := make([]Real, len(list))
	for i, x := range list {
		out[i] = Real(x)
	}
	return out
}

// Floats converts numbers back.
func Floats(list []Real) []float64 {
	if list == nil {
		return nil
	}
	out := make([]float64, len(list))
	for i, x := range list {
		out[i] = float64(x)
	}
	return out
}

// Encode returns the job as JSON. The same job gives the same bytes.
func (j *Job) Encode() []byte {
	text, err := json.Marshal(j)
	if err != nil {
		panic("ensemble: a job is plain data: " + err.Error())
	}
	return text
}

// Decode reads what Encode wrote.
func Decode(text []byte) (*Job, error) {
	j := new(Job)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields() // those of another version
	if err := d.Decode(j); err != nil {
		return nil, fmt.Errorf("this is no job of this version of odes: %w", err)
	}
	return j, nil
}

// ID returns a name for the content of the job: the same for the same job, and for no other.
func (j *Job) ID() string {
	sum := sha256.Sum256(j.Encode())
	return hex.EncodeToString(sum[:16])
}

// ReadSource compiles a model and notes which files it reads.
func ReadSource(name, text string, files fs.FS) (*odes.Model, Source, error) {
	return ParseSource(name, text, odes.ParseOptions{Files: files})
}

// ParseSource is ReadSource with options.
func ParseSource(name, text string, opts odes.ParseOptions) (*odes.Model, Source, error) {
	r := &recorder{inner: opts.Files, read: map[string][]byte{}}
	if opts.Files != nil {
		opts.Files = r
	}
	m, err := odes.Parse(name, text, opts)
	return m, Source{Name: name, Text: text, Files: r.read, Experiment: opts.Experiment}, err
}

// FS returns the files that the model reads.
func (s *Source) FS() fs.FS { return memory(s.Files) }

// Parse compiles the model.
func (s *Source) Parse() (*odes.Model, error) {
	return odes.Parse(s.Name, s.Text, odes.ParseOptions{Files: memory(s.Files), Experiment: s.Experiment})
}

// recorder keeps the content of the files that are read through it.
type recorder struct {
	inner fs.FS
	mu    sync.Mutex
	read  map[string][]byte
}

func (r *recorder) Open(name string) (fs.File, error) { return r.record(r.inner, "", name) }

// Above returns the folder at a path such as "../", where the problems of other programs may have files.
func (r *recorder) Above(path string) fs.FS {
	var files fs.FS = memory(nil)
	if around, ok := r.inner.(interface{ Above(path string) fs.FS }); ok {
		files = around.Above(path)
	}
	return opener(func(name string) (fs.File, error) { return r.record(files, path, name) })
}

// record opens a file of a folder at a path.
func (r *recorder) record(files fs.FS, path, name string) (fs.File, error) {
	f, err := files.Open(name)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return f, err
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.read[path+name] = text
	return memory(r.read).Open(path + name)
}

// opener is a file system that one function is.
type opener func(name string) (fs.File, error)

func (o opener) Open(name string) (fs.File, error) { return o(name) }

// memory holds files by their names.
type memory map[string][]byte

func (m memory) Open(name string) (fs.File, error) {
	text, ok := m[name]
	if !ok {
		names := slices.Sorted(maps.Keys(m))
		return nil, &fs.PathError{Op: "open", Path: name, Err: fmt.Errorf("%w; the job has %q", fs.ErrNotExist, names)}
	}
	return &memoryFile{name, int64(len(text)), bytes.NewReader(text)}, nil
}

func (m memory) Above(path string) fs.FS {
	return opener(func(name string) (fs.File, error) { return m.Open(path + name) })
}

// memoryFile is a file and what there is to say of it.
type memoryFile struct {
	name string
	size int64
	*bytes.Reader
}

func (f *memoryFile) Stat() (fs.FileInfo, error) { return memoryInfo{f}, nil }
func (f *memoryFile) Close() error               { return nil }

type memoryInfo struct{ f *memoryFile }

func (i memoryInfo) Name() string     { return i.f.name }
func (i memoryInfo) Size() int64      { return i.f.size }
func (memoryInfo) Mode() fs.FileMode  { return 0o444 }
func (memoryInfo) ModTime() time.Time { return time.Time{} }
func (memoryInfo) IsDir() bool        { return false }
func (memoryInfo) Sys() any           { return nil }
