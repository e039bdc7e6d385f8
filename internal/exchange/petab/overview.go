package petab

import (
	"errors"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// overview is the file that lists the others.
type overview struct {
	Version    version `yaml:"format_version"`
	Sheets     paths   `yaml:"parameter_files"`
	Models     models  `yaml:"model_files"`
	Changes    paths   `yaml:"condition_files"`
	Courses    paths   `yaml:"experiment_files"`
	Data       paths   `yaml:"measurement_files"`
	Observed   paths   `yaml:"observable_files"`
	Mappings   paths   `yaml:"mapping_files"`
	Extensions needs   `yaml:"extensions"`
	Parameters paths   `yaml:"parameter_file"`
	Problems   []struct {
		Models       paths `yaml:"sbml_files"`
		Conditions   paths `yaml:"condition_files"`
		Measurements paths `yaml:"measurement_files"`
		Observables  paths `yaml:"observable_files"`
	} `yaml:"problems"`
}

// version is what stands behind format_version: a number, or a text.
type version string

// UnmarshalYAML takes the version as it is written.
func (v *version) UnmarshalYAML(node ast.Node) error {
	text, err := scalar(node)
	*v = version(text)
	return err
}

// scalar returns a text or a number as it is written. It follows no aliases: these can stand for very long texts.
func scalar(node ast.Node) (string, error) {
	switch n := node.(type) {
	case *ast.NullNode:
		return "", nil
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode:
		return n.GetToken().Value, nil
	}
	return "", &yaml.UnexpectedNodeTypeError{Actual: node.Type(), Expected: ast.StringType, Token: node.GetToken()}
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
		name, err := scalar(n)
		if err != nil {
			return err
		}
		if name != "" {
			*p = append(*p, path{name, n.GetToken().Position.Line})
		}
	}
	return nil
}

// The longest file that lists others, in bytes, and the most brackets in it: the time to read it is proportional to the
// square of these.
const (
	maxOverview = 64 << 10
	maxBrackets = 1000
)

// overview reads the file that lists the others. It returns nil after reporting what is wrong with it.
func (p *problem) overview() *overview {
	o := &overview{}
	text := strings.TrimPrefix(p.file.Text(), "\ufeff")
	if len(text) > maxOverview || strings.Count(text, "[") > maxBrackets {
		p.wrong(p.whole(), "this is longer than lists of files are: more than %d KiB, or %d brackets", maxOverview>>10,
			maxBrackets)
		return nil
	}
	if err := yaml.Unmarshal([]byte(text), o); err != nil {
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
	p.two = o.Version == "2" || strings.HasPrefix(string(o.Version), "2.")
	switch {
	case p.two:
		p.check2(o)
	case o.Version == "":
		p.wrong(p.whole(), "the problem has no format_version: odes reads versions 1 and 2")
	case o.Version != "1" && !strings.HasPrefix(string(o.Version), "1."):
		p.wrong(p.whole(), "this is PEtab of version %v: odes reads versions 1 and 2", o.Version)
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
