package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// home is the home page.
//
//go:embed home.md
var home string

// A page is one Markdown file of the site.
type page struct {
	source string // path in the repository, or "" where none has the text
	target string // path in the site, with .md
	text   string
}

// A site is what is to be written. Paths have slashes and are relative to root
// or out.
type site struct {
	root, out string
	pages     []*page
	target    map[string]string // path of a file or folder in the repository: that of its page in the site
}

// sections is the navigation, in order. An entry may give a page another
// title than its heading. Documents named nowhere join the section "Understand".
var sections = []struct {
	caption string
	entries []string
}{
	{"Learn", []string{
		"Tutorial <docs/tutorial>", "Install <docs/install>", "Gallery <examples/index>", "Playground <playground>",
		"Coming from … <docs/from>",
	}},
	{"Do", []string{
		"How do I …? <docs/how/index>",
		"docs/fit", "docs/sample", "docs/simulate", "docs/ensembles", "docs/populations", "docs/dosing", "docs/control",
		"docs/networks", "docs/steady", "docs/delays", "docs/composition", "docs/repl", "docs/python", "docs/r",
		"docs/go", "docs/import", "docs/export", "docs/editors", "docs/serve", "docs/cluster",
	}},
	{"Look up", []string{
		"docs/language", "docs/events", "Messages <docs/faq>", "docs/glossary", "Manual pages <docs/man/odes>",
		"Go API <api/index>", "docs/limits", "docs/compatibility", "CHANGELOG", "Release 0.2.0 <docs/release-0.2.0>",
		"SECURITY",
	}},
	{understand, []string{
		"docs/why",
		"docs/methods", "docs/methods-implicit", "docs/methods-linear", "docs/methods-steps", "docs/methods-events",
		"docs/methods-derivatives", "docs/methods-trust", "docs/methods-fits", "docs/methods-lanes",
		"docs/methods-measured",
		"docs/precision", "docs/stiff", "docs/families", "docs/benchmarks", "Other programs <bench/peers/README>",
		"docs/papers", "Overview <docs/readme>", "docs/architecture", "CONTRIBUTING",
	}},
}

const understand = "Understand"

// parents are pages whose own pages stand below them in the navigation, by what the names of these begin with.
var parents = map[string]string{
	"docs/how/index": "docs/how/", "docs/from": "docs/from-", "docs/tutorial": "docs/tutorial-",
	"docs/language": "docs/language-", "docs/architecture": "docs/architecture-",
}

// children returns the pages below a page, in order.
func (s *site) children(parent string) (names []string) {
	prefix, ok := parents[parent]
	for _, p := range s.pages {
		if name := strings.TrimSuffix(p.target, ".md"); ok && name != parent && strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	return names
}

func newSite(root, out string) (*site, error) {
	if _, err := os.Stat(filepath.Join(root, "README.md")); err != nil {
		return nil, err
	}
	return &site{root: root, out: out, target: map[string]string{}}, nil
}

// add makes a page of a text. The source, if any, is what links in other
// documents name.
func (s *site) add(source, target, text string) {
	s.pages = append(s.pages, &page{source, target, text})
	if source != "" {
		s.target[source] = target
	}
}

// addFile makes a page of a Markdown file of the repository.
func (s *site) addFile(source, target string) error {
	text, err := s.read(source)
	if err != nil {
		return err
	}
	s.add(source, target, text)
	return nil
}

// addDocuments adds the home page, the documents of the repository's folder and of docs, and what is said of other
// programs.
func (s *site) addDocuments() error {
	s.add("site/home.md", "index.md", home)
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/how/*.md", "bench/peers/README.md"} {
		names, err := fs.Glob(os.DirFS(s.root), pattern)
		if err != nil {
			return err
		}
		for _, name := range names {
			target := name
			if name == "README.md" {
				target = "docs/readme.md"
			}
			if err := s.addFile(name, target); err != nil {
				return err
			}
		}
	}
	return nil
}

// writePages writes all pages, with links that lead to pages of the site, and
// the navigation at the end of the home page.
func (s *site) writePages() error {
	for _, p := range s.pages {
		text := p.text
		if p.source != "" {
			var err error
			if text, err = s.rewrite(p); err != nil {
				return err
			}
		}
		if p.target == "index.md" {
			text += s.navigation()
		}
		if below := s.children(strings.TrimSuffix(p.target, ".md")); len(below) > 0 {
			for i, name := range below {
				below[i] = "/" + name
			}
			var b strings.Builder
			toctree(&b, "", below)
			text += b.String()
		}
		if err := s.write(p.target, text); err != nil {
			return err
		}
	}
	return nil
}

// navigation returns the tables of contents that the sidebar shows.
func (s *site) navigation() string {
	exists := map[string]bool{}
	for _, p := range s.pages {
		exists[strings.TrimSuffix(p.target, ".md")] = true
	}
	named := map[string]bool{"index": true}
	for _, section := range sections {
		for _, e := range section.entries {
			named[entryPage(e)] = true
		}
	}
	for parent := range parents {
		for _, name := range s.children(parent) {
			named[name] = true
		}
	}
	var b strings.Builder
	for _, section := range sections {
		entries := slices.Clone(section.entries)
		entries = slices.DeleteFunc(entries, func(e string) bool { return !exists[entryPage(e)] })
		if section.caption == understand {
			for _, p := range s.pages {
				name := strings.TrimSuffix(p.target, ".md")
				if p.source == p.target && !named[name] && (path.Dir(name) == "docs" || path.Dir(name) == ".") {
					entries = append(entries, name)
				}
			}
		}
		toctree(&b, section.caption, entries)
	}
	return b.String()
}

// entryPage returns the page of an entry "title <page>" or "page".
func entryPage(entry string) string {
	if _, inside, found := strings.Cut(entry, "<"); found {
		return strings.TrimSuffix(inside, ">")
	}
	return entry
}

func toctree(b *strings.Builder, caption string, entries []string) {
	b.WriteString("\n```{toctree}\n:hidden:\n")
	if caption != "" {
		fmt.Fprintf(b, ":caption: %s\n", caption)
	}
	b.WriteString("\n" + strings.Join(entries, "\n") + "\n```\n")
}

var (
	linkPattern = regexp.MustCompile("`+[^`]*`+" + `|(!?)\[((?:[^\[\]]|\[[^\[\]]*\])*)\]\(([^()\s]+)\)`)
	fence       = regexp.MustCompile("^ {0,3}(```+|~~~+)")
	external    = regexp.MustCompile(`^(#|[a-z]+:)`)
)

// rewrite returns the text of a page with its links. A link to a document, a
// folder of examples or a package leads to its page, one to another file to a
// copy of it; a folder that has no page keeps its name alone. A link to what
// is not there is an error.
func (s *site) rewrite(p *page) (string, error) {
	var b strings.Builder
	var failed error
	within := ""
	number := 0
	for line := range strings.Lines(p.text) {
		number++
		if mark := fence.FindStringSubmatch(line); mark != nil {
			switch {
			case within == "":
				within = mark[1]
			case strings.HasPrefix(mark[1], within):
				within = ""
			}
		} else if within == "" && !strings.HasPrefix(line, "    ") {
			line = linkPattern.ReplaceAllStringFunc(line, func(match string) string {
				m := linkPattern.FindStringSubmatch(match)
				if m[3] == "" || external.MatchString(m[3]) {
					return match
				}
				link, err := s.link(p, m[3])
				if err != nil {
					failed = cmp.Or(failed, fmt.Errorf("%s:%d: %w", p.source, number, err))
				}
				if link == "" {
					return m[2]
				}
				return m[1] + "[" + m[2] + "](" + link + ")"
			})
		}
		b.WriteString(line)
	}
	return b.String(), failed
}

// link returns where a link of a page leads in the site, relative to it, or ""
// for a folder without a page.
func (s *site) link(p *page, link string) (string, error) {
	name, fragment, _ := strings.Cut(link, "#")
	source := path.Join(path.Dir(p.source), name)
	target, isPage := s.target[source]
	if !isPage {
		info, err := os.Stat(filepath.Join(s.root, filepath.FromSlash(source)))
		if err != nil || !fs.ValidPath(source) {
			return "", fmt.Errorf("link to %s, which is not there", link)
		}
		if info.IsDir() {
			return "", nil
		}
		if err := s.copy(source); err != nil {
			return "", err
		}
		target = source
	}
	relative, err := filepath.Rel(path.Dir(p.target), target)
	if err != nil {
		return "", err
	}
	relative = filepath.ToSlash(relative)
	if fragment != "" {
		relative += "#" + fragment
	}
	return relative, nil
}

// heading returns the text of the first heading of a document.
func heading(text string) string {
	for line := range strings.Lines(text) {
		if title, ok := strings.CutPrefix(line, "# "); ok {
			return strings.TrimSpace(title)
		}
	}
	return ""
}

func (s *site) read(name string) (string, error) {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	return strings.ReplaceAll(string(text), "\r\n", "\n"), err
}

func (s *site) write(name, text string) error {
	file := filepath.Join(s.out, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return err
	}
	return os.WriteFile(file, []byte(text), 0o666)
}

func (s *site) copy(name string) error {
	text, err := os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	return s.write(name, string(text))
}
