package petab

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"maps"
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
	Begin     *Alternative // where a search begins; nil for the end of the models where it does
	// Problems are the files of the problems that models are of, in the order of the models.
	Problems []string
	// Unread tells that the selection names initial_model_files.
	Unread bool
	lines  []int // of the selection, that lead to the problems
	groups map[string][]string
}

// Alternative is a model: what parameters are held at, those that are estimated as "estimate".
type Alternative struct {
	Name    string
	Problem string // one of those of the selection
	Values  []Held
}

// Held is a parameter and its value.
type Held struct{ Name, Value string }

// Estimated tells that the parameter is not held.
func (h *Held) Estimated() bool { return h.Value == estimate }

// selectionFile is the file of a selection.
type selectionFile struct {
	Criterion string `yaml:"criterion"`
	Method    string `yaml:"method"`
	Spaces    paths  `yaml:"model_space_files"`
	Begin     paths  `yaml:"initial_model_files"`
	Arguments struct {
		Before paths `yaml:"predecessor_model"`
	} `yaml:"candidate_space_arguments"`
	Groups map[string][]string `yaml:"metaparameters"`
}

// beforeFile is the file of the model that a search begins at.
type beforeFile struct {
	Name       string             `yaml:"model_id"`
	Problem    string             `yaml:"model_subspace_petab_yaml"`
	Older      string             `yaml:"petab_yaml"`
	Parameters map[string]version `yaml:"parameters"`
}

// IsSelection reports whether a file is that of a selection.
func IsSelection(text string) bool {
	return strings.Contains(text, "model_space_files") && strings.Contains(text, "format_version")
}

// estimate is what stands for the value of a parameter that is not held.
const estimate = "estimate"

// maxModels is how many models a selection may have.
const maxModels = 1 << 16

// ReadSelection reads a selection. Files has those that it lists. It returns nil after reporting what is wrong.
func ReadSelection(file *source.File, files fs.FS, list *diag.List) *Selection {
	p := &problem{file: file, files: files, list: list}
	var f selectionFile
	if !p.yaml(file.Text(), &f, p.whole(), "this") {
		return nil
	}
	s := &Selection{Criterion: f.Criterion, Method: f.Method, Unread: len(f.Begin) > 0, groups: f.Groups}
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
			if !slices.Contains(s.Problems, of) {
				s.Problems, s.lines = append(s.Problems, of), append(s.lines, at.line)
			}
			s.add(p, t, r, t.columns[yamls], of)
		}
	}
	if len(s.Models) == 0 && !list.HasErrors() {
		p.wrong(p.whole(), "the selection has no models")
	}
	for _, at := range f.Arguments.Before {
		s.before(p, at)
	}
	if list.HasErrors() {
		return nil
	}
	return s
}

// yaml reads a text. It reports what is wrong with it.
func (p *problem) yaml(text string, into any, at source.Span, what string) bool {
	text = strings.TrimPrefix(text, "\ufeff")
	if len(text) > maxOverview || strings.Count(text, "[") > maxBrackets {
		p.wrong(at, "%s is longer than the file of a selection is", what)
		return false
	}
	if err := yaml.Unmarshal([]byte(text), into); err != nil {
		message := err.Error()
		var wrong yaml.Error
		if errors.As(err, &wrong) {
			message = wrong.GetMessage()
		}
		p.wrong(at, "%s is no YAML as PEtab Select has it: %s", what, message)
		return false
	}
	return true
}

// before reads the model that a search begins at.
func (s *Selection) before(p *problem, at path) {
	b, err := input.ReadAround(p.files, at.name, input.MaxText, ".yaml", ".yml")
	if err != nil {
		p.wrong(p.line(at.line), "%s cannot be read: %v", at.name, err)
		return
	}
	var f beforeFile
	if !p.yaml(string(b), &f, p.line(at.line), at.name) {
		return
	}
	a := Alternative{Name: cmp.Or(f.Name, at.name)}
	a.Problem = gopath.Join(gopath.Dir(at.name), cmp.Or(f.Problem, f.Older))
	if !slices.Contains(s.Problems, a.Problem) {
		p.wrong(p.line(at.line), "%s is of the problem %s, which no model of the selection is of", at.name, a.Problem)
		return
	}
	for _, name := range slices.Sorted(maps.Keys(f.Parameters)) {
		v := string(f.Parameters[name])
		if _, ok := isNumber(v); !ok && v != estimate {
			p.wrong(p.line(at.line), "%s: %q, the value of %s, is neither a number nor `estimate`", at.name, v, name)
			return
		}
		a.Values = append(a.Values, s.held(name, v)...)
	}
	s.Begin = &a
}

// held holds a parameter, or all that are called together by a name.
func (s *Selection) held(name, v string) (list []Held) {
	members, is := s.groups[name]
	if !is {
		members = []string{name}
	}
	for _, m := range members {
		list = append(list, Held{m, v})
	}
	return list
}

// add adds the models of a row: each combination of the values that its cells list.
func (s *Selection) add(p *problem, t *table, r row, yamls, of string) {
	all := []Alternative{{Name: r.get("model_subspace_id"), Problem: of}}
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
				if _, ok := isNumber(v); !ok && v != estimate {
					p.errorAt(r, name, "%q is neither a number nor `estimate`", v)
					return
				}
				mark := ""
				if len(values) > 1 {
					mark = fmt.Sprint(k)
				}
				b := Alternative{Name: a.Name + mark, Problem: of}
				b.Values = append(slices.Clone(a.Values), s.held(name, v)...)
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

// choose returns a problem that models of a selection are of, as a problem to translate; nil after reporting what is
// wrong. Without a path it is the first.
func (p *problem) choose(path string) *problem {
	s := ReadSelection(p.file, p.files, p.list)
	if s == nil {
		return nil
	}
	k := max(0, slices.Index(s.Problems, path))
	path = s.Problems[k]
	b, err := input.ReadAround(p.files, path, input.MaxText, ".yaml", ".yml")
	if err != nil {
		p.wrong(p.line(s.lines[k]), "%s cannot be read: %v", path, err)
		return nil
	}
	q := *p
	q.file, q.dir = source.NewFile(path, string(b)), gopath.Dir(path)
	q.of = chosen{p.file, s}
	return &q
}

// others reads the other problems of a selection: whoever keeps the files that a model reads is to have theirs, too,
// and whatever is wrong with them is to be told before anything is fitted.
func (p *problem) others() {
	for _, path := range p.of.from.Problems[1:] {
		TranslateOne(p.of.file, p.files, path, p.list)
	}
}

// TranslateOne is Translate for one of the problems of a selection.
func TranslateOne(file *source.File, files fs.FS, path string, list *diag.List) *source.File {
	p := newProblem(file, files, list).choose(path)
	if p == nil {
		return nil
	}
	return p.translate()
}
