package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/build"
	"go/doc"
	"go/doc/comment"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A goPackage is a package that Go programs can import.
type goPackage struct {
	folder   string // path in the repository; "." is the module's own package
	doc      *doc.Package
	fset     *token.FileSet
	headings map[string]string // name of a declaration, with its type's before methods: anchor in the page
}

// addPackages adds a page for every package that can be imported from outside,
// those for tests left out, and the list of them.
func (s *site) addPackages() error {
	module, err := s.modulePath()
	if err != nil {
		return err
	}
	packages, err := s.packages(module)
	if err != nil {
		return err
	}
	var index strings.Builder
	index.WriteString("# Go API\n\nThe packages that Go programs can import, from the comments in their sources.\n\n")
	index.WriteString("| package | |\n|---|---|\n")
	var children []string
	for _, p := range packages {
		name := strings.TrimSuffix(strings.TrimPrefix(p.page(module), "api/"), ".md")
		children = append(children, fmt.Sprintf("%s <%s>", name, name))
		synopsis := strings.ReplaceAll(special.Replace(p.doc.Synopsis(p.doc.Doc)), "\n", " ")
		fmt.Fprintf(&index, "| [`%s`](%s.md) | %s |\n", p.doc.ImportPath, name, synopsis)
		text, err := p.markdown(module, packages)
		if err != nil {
			return fmt.Errorf("%s: %w", p.folder, err)
		}
		s.add("", p.page(module), text)
		if p.folder != "." {
			s.target[p.folder] = p.page(module)
		}
	}
	toctree(&index, "", children)
	s.add("", "api/index.md", index.String())
	return nil
}

var modulePattern = regexp.MustCompile(`(?m)^module (\S+)$`)

// modulePath returns the module's path, from go.mod.
func (s *site) modulePath() (string, error) {
	text, err := s.read("go.mod")
	if err != nil {
		return "", err
	}
	m := modulePattern.FindStringSubmatch(text)
	if m == nil {
		return "", fmt.Errorf("go.mod names no module")
	}
	return m[1], nil
}

// packages reads the documentation of all packages, in the order of their
// paths.
func (s *site) packages(module string) ([]*goPackage, error) {
	var list []*goPackage
	err := filepath.WalkDir(s.root, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() {
			return err
		}
		folder, err := filepath.Rel(s.root, file)
		if err != nil {
			return err
		}
		folder = filepath.ToSlash(folder)
		name := entry.Name()
		if folder != "." {
			_, nested := os.Stat(filepath.Join(file, "go.mod"))
			if nested == nil || name == "internal" || name == "testdata" || strings.ContainsAny(name[:1], "._") {
				return filepath.SkipDir
			}
		}
		if strings.HasSuffix(name, "test") {
			return nil
		}
		p, err := readPackage(file, folder, path.Join(module, folder))
		if p != nil {
			list = append(list, p)
		}
		return err
	})
	slices.SortFunc(list, func(a, b *goPackage) int { return strings.Compare(a.doc.ImportPath, b.doc.ImportPath) })
	return list, err
}

// readPackage reads the package of a folder, as it is built for amd64 on Linux.
// It returns nil for a command and for a folder without Go files, or with tests alone.
func readPackage(dir, folder, importPath string) (*goPackage, error) {
	context := build.Default
	context.GOOS, context.GOARCH, context.CgoEnabled = "linux", "amd64", false
	found, err := context.ImportDir(dir, 0)
	if err != nil || found.Name == "main" || len(found.GoFiles) == 0 {
		if _, none := err.(*build.NoGoError); none {
			err = nil
		}
		return nil, err
	}
	p := &goPackage{folder: folder, fset: token.NewFileSet(), headings: map[string]string{}}
	var files []*ast.File
	for _, name := range slices.Concat(found.GoFiles, found.TestGoFiles, found.XTestGoFiles) {
		file := filepath.Join(dir, name)
		f, err := parser.ParseFile(p.fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		files = append(files, f)
	}
	if p.doc, err = doc.NewFromFiles(p.fset, files, importPath); err != nil {
		return nil, err
	}
	for _, f := range p.doc.Funcs {
		p.headings[f.Name] = anchor(functionHeading(f))
	}
	p.noteValues(p.doc.Consts, "constants")
	p.noteValues(p.doc.Vars, "variables")
	for _, t := range p.doc.Types {
		p.headings[t.Name] = anchor("type " + t.Name)
		p.noteValues(t.Consts, p.headings[t.Name])
		p.noteValues(t.Vars, p.headings[t.Name])
		for _, f := range t.Funcs {
			p.headings[f.Name] = anchor(functionHeading(f))
		}
		for _, f := range t.Methods {
			p.headings[t.Name+"."+f.Name] = anchor(functionHeading(f))
		}
	}
	return p, nil
}

func (p *goPackage) noteValues(list []*doc.Value, heading string) {
	for _, v := range list {
		for _, name := range v.Names {
			p.headings[name] = heading
		}
	}
}

// page returns the path of the package's page.
func (p *goPackage) page(module string) string {
	if p.folder == "." {
		return "api/" + path.Base(module) + ".md"
	}
	return "api/" + p.folder + ".md"
}

// functionHeading returns the heading of a function or method.
func functionHeading(f *doc.Func) string {
	if f.Recv == "" {
		return "func " + f.Name
	}
	return "func (" + f.Recv + ") " + f.Name
}

// anchor returns what a heading is called in links, by the rule of forges.
func anchor(heading string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, heading)
}

// markdown returns the package's page.
func (p *goPackage) markdown(module string, all []*goPackage) (string, error) {
	w := &apiWriter{goPackage: p}
	w.text = p.doc.Printer()
	w.text.HeadingID = func(*comment.Heading) string { return "" }
	w.text.HeadingLevel = 4
	w.text.DocLinkURL = func(link *comment.DocLink) string { return p.linkTo(link, module, all) }

	fmt.Fprintf(&w.Buffer, "# %s\n\n```go\nimport %q\n```\n\n", p.doc.Name, p.doc.ImportPath)
	w.comment(p.doc.Doc)
	w.examples(p.doc.Examples)
	w.values("Constants", p.doc.Consts)
	w.values("Variables", p.doc.Vars)
	for _, f := range p.doc.Funcs {
		w.function("##", f)
	}
	for _, t := range p.doc.Types {
		fmt.Fprintf(&w.Buffer, "## type %s\n\n", t.Name)
		w.declaration(t.Decl)
		w.comment(t.Doc)
		w.values("", slices.Concat(t.Consts, t.Vars))
		w.examples(t.Examples)
		for _, f := range slices.Concat(t.Funcs, t.Methods) {
			w.function("###", f)
		}
	}
	return w.String(), w.err
}

// linkTo returns where a link in a comment leads: to a page of this site, or
// to pkg.go.dev.
func (p *goPackage) linkTo(link *comment.DocLink, module string, all []*goPackage) string {
	name := link.Name
	if link.Recv != "" {
		name = link.Recv + "." + name
	}
	to := p
	if link.ImportPath != "" {
		i := slices.IndexFunc(all, func(q *goPackage) bool { return q.doc.ImportPath == link.ImportPath })
		if i < 0 {
			return link.DefaultURL("https://pkg.go.dev/")
		}
		to = all[i]
	}
	relative, err := filepath.Rel(path.Dir(p.page(module)), to.page(module))
	if err != nil {
		return ""
	}
	relative = filepath.ToSlash(relative)
	if at := to.headings[name]; at != "" {
		return relative + "#" + at
	}
	return relative
}

// An apiWriter writes a package's page. It keeps the first error.
type apiWriter struct {
	*goPackage
	bytes.Buffer
	text *comment.Printer
	err  error
}

// comment writes the text of a comment.
func (w *apiWriter) comment(text string) {
	w.Write(w.text.Markdown(w.doc.Parser().Parse(text)))
	w.WriteString("\n")
}

// declaration writes a declaration, without its comment, as Go.
func (w *apiWriter) declaration(node any) {
	fmt.Fprintf(&w.Buffer, "```go\n%s\n```\n\n", w.source(node))
}

// source returns the text of a node.
func (w *apiWriter) source(node any) string {
	var b strings.Builder
	config := printer.Config{Mode: printer.UseSpaces, Tabwidth: 4}
	if err := config.Fprint(&b, w.fset, node); err != nil && w.err == nil {
		w.err = err
	}
	return b.String()
}

func (w *apiWriter) values(heading string, list []*doc.Value) {
	if len(list) > 0 && heading != "" {
		fmt.Fprintf(&w.Buffer, "## %s\n\n", heading)
	}
	for _, v := range list {
		decl := *v.Decl
		decl.Doc = nil
		w.declaration(&decl)
		w.comment(v.Doc)
	}
}

func (w *apiWriter) function(level string, f *doc.Func) {
	fmt.Fprintf(&w.Buffer, "%s %s\n\n", level, special.Replace(functionHeading(f)))
	decl := *f.Decl
	decl.Doc = nil
	w.declaration(&decl)
	w.comment(f.Doc)
	w.examples(f.Examples)
}

// examples writes examples, with what they print.
func (w *apiWriter) examples(list []*doc.Example) {
	for _, e := range list {
		name := "Example"
		if e.Suffix != "" {
			name += " (" + e.Suffix + ")"
		}
		fmt.Fprintf(&w.Buffer, "````{dropdown} %s\n", name)
		code := w.source(&printer.CommentedNode{Node: e.Code, Comments: e.Comments})
		fmt.Fprintf(&w.Buffer, "```go\n%s\n```\n", body(code))
		if e.Output != "" {
			fmt.Fprintf(&w.Buffer, "\nOutput:\n\n```text\n%s```\n", e.Output)
		}
		w.WriteString("````\n\n")
	}
}

var outputPattern = regexp.MustCompile(`(?is)\n *// (unordered )?output:.*`)

// body returns the statements of an example: without braces, their indent, and
// the comment that gives its output.
func body(code string) string {
	if inner, ok := strings.CutPrefix(code, "{\n"); ok {
		code = outputPattern.ReplaceAllString(strings.TrimSuffix(inner, "}"), "")
		code = strings.ReplaceAll("\n"+code, "\n    ", "\n")
	}
	return strings.TrimSpace(code)
}
