package analysis

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"maps"
	"math"
	"os"
	"slices"
	"strings"
	"sync"

	"odes.dev/odes"
	"odes.dev/odes/ensemble"
	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/output"
)

// keptStarts is the file of --resume. It holds one line for each search, and for what trainings came to, each with a
// checksum, behind one that says what they are of.
type keptStarts struct {
	mu   sync.Mutex
	file *os.File
	err  error
}

// resume reads the searches that the file of --resume holds, and lets those to come be added.
func resume(a *Ask, o *fit.Options) (*keptStarts, error) {
	path := a.Values["resume"]
	if path == "" {
		return nil, nil
	}
	h := hashOf(o.Source, a.Set, o.Settings, o.Solver, o.Fit)
	if a.Values["from"] != "" || a.Values.Number("onward") > 0 {
		fmt.Fprint(h, "\x00", o.Set)
	}
	file, rest, err := keptFile(path, "odes fit 2 "+hex.EncodeToString(h.Sum(nil)))
	if err != nil {
		return nil, err
	}
	var damaged *fit.DamagedError
	if o.Done, err = fit.ReadStarts(rest); err == nil {
		o.Trained, err = fit.ReadTrainings(rest)
	}
	if errors.As(err, &damaged) {
		file.Close()
		return nil, damagedLine(path, damaged.Line+1)
	}
	kept := &keptStarts{file: file}
	o.Found = func(s fit.Start) { kept.add(fit.WriteStart(s)) }
	o.Training = func(t fit.Training) { kept.add(fit.WriteTraining(t)) }
	return kept, nil
}

// hashOf begins the hash of what searches depend on: a model with its files, and what else is asked for.
func hashOf(of ensemble.Source, more ...any) hash.Hash {
	h := sha256.New()
	fmt.Fprint(h, of.Text, "\x00")
	fmt.Fprint(h, more...)
	for _, name := range slices.Sorted(maps.Keys(of.Files)) { // data, among others
		fmt.Fprintf(h, "\x00%s\x00%d\x00%s", name, len(of.Files[name]), of.Files[name])
	}
	return h
}

// damagedLine says that a line of a file is not what was written.
func damagedLine(path string, line int) error {
	return Wrongf("--resume %s: line %d is damaged: its checksum is not that of its text; remove the line, and that "+
		"search is made anew", path, line)
}

// keptFile opens the file of --resume to add to it, and returns what it holds behind its first line, which is key. The
// file is new if there was none.
func keptFile(path, key string) (file *os.File, rest string, err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // reading some devices does not end
		return nil, "", output.Wrap(path, errors.New("it is no file"))
	}
	old, err := os.ReadFile(path)
	if head := key + "\n"; len(old) < len(head) && strings.HasPrefix(head, string(old)) { // it was begun, and no more
		old = nil
	}
	switch {
	case err == nil && len(old) > 0:
		var first string
		if first, rest, _ = strings.Cut(string(old), "\n"); first != key {
			return nil, "", Wrongf("--resume %s: it holds searches of another model or version of odes, or with other "+
				"data, values or settings; name another file, or remove it", path)
		}
	case err != nil && !errors.Is(err, os.ErrNotExist):
		return nil, "", &odes.FileError{Path: path, Err: err}
	}
	file, err = os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, "", output.Wrap(path, err)
	}
	if err = file.Truncate(int64(bytes.LastIndexByte(old, '\n') + 1)); err == nil && len(old) == 0 {
		_, err = fmt.Fprintln(file, key)
	}
	if err != nil { // before anything is searched for
		file.Close()
		if len(old) == 0 {
			os.Remove(path)
		}
		return nil, "", output.Wrap(path, err)
	}
	return file, rest, nil
}

// keep opens the files in which a fit keeps what it does, those of --resume and --log; nil for neither.
func keep(a *Ask, o *fit.Options) (keepers, error) {
	var all keepers
	kept, err := resume(a, o)
	if err != nil {
		return nil, err
	}
	if kept != nil {
		all = append(all, kept)
	}
	path := a.Values["log"]
	if path == "" {
		return all, nil
	}
	file, err := os.Create(path)
	if err != nil {
		return nil, errors.Join(output.Wrap(path, err), all.close())
	}
	log := &iterationLog{file: file}
	o.Iterated = log.add
	return append(all, log), nil
}

// keepers are the files in which a fit keeps what it does.
type keepers []interface{ close() error }

func (all keepers) close() (err error) {
	for _, k := range all {
		if e := k.close(); err == nil {
			err = e
		}
	}
	return err
}

// iterationLog is the file of --log.
type iterationLog struct {
	file *os.File
	err  error
}

// add writes an iteration as a line of JSON, without the numbers that JSON lacks. It is called by one goroutine at a
// time.
func (l *iterationLog) add(at fit.Iteration) {
	line := map[string]any{
		"search": at.Search, "iteration": at.Iteration, "evaluations": at.Evaluations, "seconds": at.Seconds,
	}
	for name, v := range map[string]float64{
		"value": at.Value, "violation": at.Violation, "slope": at.Slope, "promised": at.Promised, "radius": at.Radius,
	} {
		if v-v == 0 {
			line[name] = v
		}
	}
	if at.Weight > 0 { // runs are in parts
		if line["gap"] = at.Gap; math.IsInf(at.Weight, 1) {
			line["weight"] = "joined"
		} else {
			line["weight"] = at.Weight
		}
		for _, name := range []string{"violation", "slope", "promised", "radius"} {
			if at.Radius == 0 { // it is no search that has them
				delete(line, name)
			}
		}
	}
	text, err := json.Marshal(line) // keys are sorted
	if err == nil {
		_, err = l.file.Write(append(text, '\n'))
	}
	if l.err == nil {
		l.err = err
	}
}

func (l *iterationLog) close() error {
	if err := l.file.Close(); l.err == nil {
		l.err = err
	}
	return output.Wrap(l.file.Name(), l.err)
}

func (k *keptStarts) add(line string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if _, err := k.file.WriteString(line); err != nil && k.err == nil {
		k.err = err
	}
}

func (k *keptStarts) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := k.file.Close(); k.err == nil {
		k.err = err
	}
	return output.Wrap(k.file.Name(), k.err)
}
