package petab

import (
	"errors"
	"fmt"
	"io/fs"
	gopath "path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// Selection is a problem of PEtab Select: models that differ in which parameters are estimated, and in the values of
// the others (D. Pathirana et al., PEtab Select, https://petab-select.readthedocs.io).
type Selection struct {
	Criterion string // AIC, AICc or BIC
	Method    string // brute_force, forward or backward
	Models    []Alternative
	problem   string // the file of the problem that all are models of
	line      int    // of the selection that leads to it
}

// Alternative is a model: what parameters are held at, those that are estimated as "estimate".
type Alternative struct {
	Name   string
	Values []Held
}

// Held is a parameter and its value.
type Held struct{ Name, Value string }

// Estimated tells that the parameter is not held.
func (h *Held) Estimated() bool { return h.Value == "estimate" }

// selectionFile is the file of a selection.
type selectionFile struct {
	Criterion string `yaml:"criterion"`
	Method    string `yaml:"method"`
	Spaces    paths  `yaml:"model_space_files"`
	Begin     paths  `yaml:"initial_model_files"`
}

// IsSelection reports whether a file is that of a selection.
func IsSelection(text string) bool {
	return strings.Contains(text, "model_space_files") && strings.Contains(text, "format_version")
}

// maxModels is how many models a selection may have.
const maxModels = 1 << 16

// ReadSelection reads a selection. Files has those that it lists. It returns nil after reporting what is wrong.
func ReadSelection(file *source.File, files fs.FS, list *diag.List) *Selection {
	p := &problem{file: file, files: files, list: list}
	var f selectionFile
	text := strings.TrimPrefix(file.Text(), "\ufeff")
	if len(text) > maxOverview || strings.Count(text, "[") > maxBrackets {
		p.wrong(p.whole(), "this is longer than the file of a selection is")
		return nil
	}
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		message := err.Error()
		var wrong yaml.Error
		if errors.As(err, &wrong) {
			message = wrong.GetMessage()
		}
		p.wrong(p.whole(), "this is no YAML as PEtab Select has it: %s", message)
		return nil
	}
	s := &Selection{Criterion: f.Criterion, Method: f.Method}
	if len(f.Spaces) == 0 {
		p.wrong(p.whole(), "the selection names no model_space_files")
	}
	for _, at := range f.Spaces {
		t := p.table(at)
		if t == nil {
			continue
		}
		yamls := slices.IndexFunc(t.columns, func(name string) bool {
			return name == "model_subspace_petab_yaml" || name == "petab_yaml"
		})
		if yamls < 0 || !slices.Contains(t.columns, "model_subspace_id") {
			p.wrong(source.Span{File: t.file}, "%s has no columns model_subspace_id and "+
				"model_subspace_petab_yaml", at.name)
			continue
		}
		for _, r := range t.rows {
			of := gopath.Join(gopath.Dir(at.name), r.get(t.columns[yamls]))
			if s.problem == "" {
				s.problem, s.line = of, at.line
			} else if s.problem != of {
				p.errorAt(r, t.columns[yamls], "the models are of several problems, %s and %s: their likelihoods are "+
					"compared where the data are the same; make a selection for each", s.problem, of)
			}
			s.add(p, t, r, t.columns[yamls])
		}
	}
	if len(s.Models) == 0 && !list.HasErrors() {
		p.wrong(p.whole(), "the selection has no models")
	}
	if list.HasErrors() {
		return nil
	}
	return s
}

// add adds the models of a row: each combination of the values that its cells list.
func (s *Selection) add(p *problem, t *table, r row, yamls string) {
	all := []Alternative{{Name: r.get("model_subspace_id")}}
	for _, name := range t.columns {
		if name == "model_subspace_id" || name == yamls {
			continue
		}
		values := strings.Split(r.get(name), ";")
		if len(all)*len(values)+len(s.Models) > maxModels {
			p.errorAt(r, name, "the selection has more than %d models", maxModels)
			return
		}
		var next []Alternative
		for _, a := range all {
			for k, v := range values {
				v = strings.TrimSpace(v)
				if _, ok := isNumber(v); !ok && v != "estimate" {
					p.errorAt(r, name, "%q is neither a number nor `estimate`", v)
					return
				}
				mark := ""
				if len(values) > 1 {
					mark = fmt.Sprint(k)
				}
				b := Alternative{Name: a.Name + mark}
				b.Values = append(slices.Clone(a.Values), Held{name, v})
				if mark != "" && !strings.Contains(a.Name, "-") {
					b.Name = a.Name + "-" + mark
				}
				next = append(next, b)
			}
		}
		all = next
	}
	s.Models = append(s.Models, all...)
}

// chosen returns the problem that the models of a selection are of, as a problem to translate; nil after reporting
// what is wrong.
func (p *problem) chosen() *problem {
	s := ReadSelection(p.file, p.files, p.list)
	if s == nil {
		return nil
	}
	b, err := input.ReadAround(p.files, s.problem, input.MaxText, ".yaml", ".yml")
	if err != nil {
		p.wrong(p.line(s.line), "%s cannot be read: %v", s.problem, err)
		return nil
	}
	q := *p
	q.file, q.dir = source.NewFile(s.problem, string(b)), gopath.Dir(s.problem)
	return &q
}
