package analysis

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"odes.dev/odes/fit"
	"odes.dev/odes/internal/base/output"
	"odes.dev/odes/internal/front/selection"
)

// keptModels is the file of --resume of a selection. It holds one line for each search of each model: the hash of the
// model, a space, and the line that a fit keeps of the search.
type keptModels struct {
	mu    sync.Mutex
	file  *os.File // nil once it is closed, and where none is asked for
	err   error
	known map[string][]fit.Start
}

// resumeSelection reads the searches that the file of --resume holds, and lets those to come be added.
func resumeSelection(a *Ask, o *selection.Options) (*keptModels, error) {
	k := &keptModels{known: map[string][]fit.Start{}}
	path := a.Values["resume"]
	if path == "" {
		return k, nil
	}
	head := hashOf(o.Source, a.Set, o.Settings, o.Solver, o.Fit)
	file, rest, err := keptFile(path, "odes select 1 "+hex.EncodeToString(head.Sum(nil)))
	if err != nil {
		return nil, err
	}
	n := 1
	for line := range strings.Lines(rest) {
		n++
		id, search, _ := strings.Cut(line, " ")
		starts, err := fit.ReadStarts(search)
		if err != nil || len(id) != hex.EncodedLen(modelHash) && strings.HasSuffix(line, "\n") {
			file.Close()
			return nil, damagedLine(path, n)
		}
		k.known[id] = append(k.known[id], starts...)
	}
	k.file = file
	o.Kept = func(m *selection.Model) []fit.Start { return k.known[idOf(m)] }
	o.Keep = k.add
	return k, nil
}

// modelHash is how many bytes of its hash tell a model.
const modelHash = 8

// idOf tells a model by what it holds, in which problem.
func idOf(m *selection.Model) string {
	var more []any
	for _, h := range m.Held {
		more = append(more, fmt.Sprintf("%s %x\n", h.Name, h.Values))
	}
	h := hashOf(m.Of.Source, more...)
	return hex.EncodeToString(h.Sum(nil)[:modelHash])
}

func (k *keptModels) add(m *selection.Model, s fit.Start) {
	line := fit.WriteStart(s)
	if line == "" {
		return
	}
	id := idOf(m)
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return
	}
	if _, err := k.file.WriteString(id + " " + line); err != nil && k.err == nil {
		k.err = err
	}
}

// close closes the file. Searches that end later are not kept.
func (k *keptModels) close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.file == nil {
		return nil
	}
	err := errors.Join(k.err, k.file.Close())
	name := k.file.Name()
	k.file = nil
	return output.Wrap(name, err)
}
