package petab

import (
	"errors"
	"fmt"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// overview is the file that lists the others.
type overview struct {
	Version    any   `yaml:"format_version"`
	Parameters paths `yaml:"parameter_file"`
	Problems   []struct {
		Models       paths `yaml:"sbml_files"`
		Conditions   paths `yaml:"condition_files"`
		Measurements paths `yaml:"measurement_files"`
		Observables  paths `yaml:"observable_files"`
	} `yaml:"problems"`
}

// paths are the files under one key: one, or a list.
type paths []path

// path is the path of a file, and the line that names it.
type path struct {
	name string
	line int
}

// UnmarshalYAML reads one path, or a list of them.
func (p *paths) UnmarshalYAML(node ast.Node) error {
	nodes := []ast.Node{node}
	if list, ok := node.(*ast.SequenceNode); ok {
		nodes = list.Values
	}
	for _, n := range nodes {
		var name string
		if err := yaml.NodeToValue(n, &name); err != nil {
			return err
		}
		*p = append(*p, path{name, n.GetToken().Position.Line})
	}
	return nil
}

// overview reads the file that lists the others. It returns nil after reporting what is wrong with it.
func (p *problem) overview() *overview {
	o := &overview{}
	if err := yaml.Unmarshal([]byte(p.file.Text()), o); err != nil {
		at, text := p.whole(), err.Error()
		var wrong yaml.Error
		if errors.As(err, &wrong) {
			text = wrong.GetMessage()
			if t := wrong.GetToken(); t != nil && t.Position != nil {
				at = p.line(t.Position.Line)
			}
		}
		text, _, _ = strings.Cut(text, "\n")
		p.wrong(at, "this is no YAML as PEtab has it: %s", text)
		return nil
	}
	switch {
	case o.Version == nil:
		p.wrong(p.whole(), "the problem has no format_version: odes reads version 1")
	case !strings.HasPrefix(fmt.Sprint(o.Version), "1"):
		p.wrong(p.whole(), "this is PEtab of version %v: odes reads version 1", o.Version)
	case len(o.Problems) != 1:
		p.wrong(p.whole(), "the file has %d problems: make a file for each", len(o.Problems))
	case len(o.Problems[0].Models) != 1:
		p.wrong(p.whole(), "the problem has %d models in SBML, not one", len(o.Problems[0].Models))
	}
	if p.list.HasErrors() {
		return nil
	}
	return o
}

// whole is the start of the file that lists the others, for what no line of it is to blame for.
func (p *problem) whole() source.Span { return source.Span{File: p.file} }

// line is a line of the file that lists the others, without its indentation.
func (p *problem) line(n int) source.Span {
	text := p.file.Line(n)
	indent := len(text) - len(strings.TrimLeft(text, " \t"))
	start := p.file.LineStart(n)
	return source.Span{File: p.file, Start: start + indent, End: start + len(text)}
}

// wrong reports an error.
func (p *problem) wrong(at source.Span, format string, args ...any) *diag.Diagnostic {
	return p.list.Errorf(parser.CodeForeignFile, at, format, args...)
}
