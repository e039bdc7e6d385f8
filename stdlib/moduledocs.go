package stdlib

import (
	"strings"
	"sync"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
)

// ModuleName is a function or const of an embedded module, as its text documents it.
type ModuleName struct {
	Module     string // import path
	Name       string
	Head       string   // "hill(x, K, n)"; for a const its value as well
	Doc        string   // prose
	Examples   []string // "hill(2, 1, 2) = 0.8"; a test runs them
	Definition string
}

// ModuleNames returns what the embedded modules declare, module by module.
var ModuleNames = sync.OnceValue(func() []ModuleName {
	var list []ModuleName
	for _, path := range Modules() {
		text, _ := Module(path)
		var l diag.List
		for _, item := range parser.Parse(source.NewFile(path, text), &l).Items {
			switch it := item.(type) {
			case *ast.Fn:
				args := make([]string, len(it.Params))
				for i, p := range it.Params {
					args[i] = p.Name.Name
				}
				n := ModuleName{
					Module: path, Name: it.Name.Name,
					Head: it.Name.Name + "(" + strings.Join(args, ", ") + ")",
				}
				n.Doc, n.Examples = splitExamples(it.Doc)
				n.Definition = strings.Join(strings.Fields(it.Span.Text()), " ")
				list = append(list, n)
			case *ast.Decl:
				for _, v := range it.Vars {
					n := ModuleName{
						Module: path, Name: v.Name.Name, Head: v.Span.Text(),
						Definition: "const " + v.Span.Text(),
					}
					n.Doc, _ = splitExamples(v.Doc)
					list = append(list, n)
				}
			}
		}
	}
	return list
})

// ModuleDoc returns the comment at the top of an embedded module.
func ModuleDoc(path string) string {
	text, _ := Module(path)
	var lines []string
	for line := range strings.Lines(text) {
		comment, ok := strings.CutPrefix(line, "# ")
		if !ok {
			break
		}
		lines = append(lines, strings.TrimSpace(comment))
	}
	return strings.Join(lines, " ")
}

// splitExamples separates the prose of a doc comment from the lines that begin with "example: ".
func splitExamples(doc string) (prose string, examples []string) {
	var lines []string
	for line := range strings.Lines(doc) {
		line = strings.TrimSpace(line)
		if e, ok := strings.CutPrefix(line, "example: "); ok {
			examples = append(examples, e)
		} else {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " "), examples
}
