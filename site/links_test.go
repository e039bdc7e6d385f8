package main

import (
	"io/fs"
	"net/url"
	"os"
	"path"
	"strings"
	"testing"

	"golang.org/x/net/html"
)

// public is where the site is built. Tests read it as a reader's browser does.
const public = "public"

// A document is what a page of the built site refers to and can be referred to by.
type document struct {
	ids       map[string]bool
	links     []string // of a, area: where readers may go
	resources []string // what the browser fetches to show the page
}

// readDocument parses a page.
func readDocument(t *testing.T, text string) document {
	t.Helper()
	root, err := html.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	d := document{ids: map[string]bool{}}
	for n := range root.Descendants() {
		for _, a := range n.Attr {
			switch {
			case a.Key == "id" || n.Data == "a" && a.Key == "name":
				d.ids[a.Val] = true
			case a.Key == "href" && (n.Data == "a" || n.Data == "area"):
				d.links = append(d.links, a.Val)
			case a.Key == "src", a.Key == "href" && n.Data == "link":
				d.resources = append(d.resources, a.Val)
			}
		}
	}
	return d
}

// documents reads all pages that were built.
func documents(t *testing.T) map[string]document {
	t.Helper()
	if _, err := os.Stat(path.Join(public, "index.html")); err != nil {
		t.Fatalf("%v: make site builds it", err)
	}
	all := map[string]document{}
	err := fs.WalkDir(os.DirFS(public), ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || path.Ext(name) != ".html" {
			return err
		}
		text, err := os.ReadFile(path.Join(public, name))
		all[name] = readDocument(t, string(text))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// broken says what is wrong with a link of a page, or "".
func broken(all map[string]document, from, link string) string {
	u, err := url.Parse(link)
	if err != nil {
		return err.Error()
	}
	if u.IsAbs() || u.Host != "" {
		return ""
	}
	name := from
	if u.Path != "" {
		name = path.Join(path.Dir(from), u.Path)
	}
	if strings.HasPrefix(u.Path, "/") {
		return "does not work where the site is in a folder"
	}
	if name == "." || strings.HasSuffix(u.Path, "/") {
		name = path.Join(name, "index.html")
	}
	if _, err := os.Stat(path.Join(public, name)); err != nil {
		return "leads nowhere"
	}
	if to, isPage := all[name]; isPage && u.Fragment != "" && !to.ids[u.Fragment] {
		return "leads to no such place in the page"
	}
	return ""
}

// TestLinks: every link within the site leads to a file, and to a place in it;
// and nothing that a page needs comes from elsewhere.
func TestLinks(t *testing.T) {
	all := documents(t)
	links := 0
	for name, d := range all {
		for _, link := range d.links {
			links++
			if wrong := broken(all, name, link); wrong != "" {
				t.Errorf("%s: the link %s %s", name, link, wrong)
			}
		}
		for _, link := range d.resources {
			if u, err := url.Parse(link); err != nil || u.Host != "" {
				t.Errorf("%s fetches %s", name, link)
			} else if wrong := broken(all, name, link); wrong != "" && u.Scheme == "" {
				t.Errorf("%s: %s %s", name, link, wrong)
			}
		}
	}
	if len(all) < 50 || links < 1000 {
		t.Errorf("only %d pages with %d links", len(all), links)
	}
	for link, want := range map[string]bool{
		"docs/tutorial.html": false, "docs/nothing.html": true, "#nowhere": true,
		"docs/tutorial.html#nowhere": true, "/index.html": true,
	} {
		if got := broken(all, "index.html", link) != ""; got != want {
			t.Errorf("broken(%s) is %v", link, got)
		}
	}
}

// TestComplete: every document, example, manual page and package has its page,
// and the home page leads to it.
func TestComplete(t *testing.T) {
	all := documents(t)
	root := os.DirFS("..")
	pages := map[string]string{
		"README.md": "docs/readme.html", "docs/*.md": "docs/*.html", "docs/how/*.md": "docs/how/*.html",
		"docs/man/*.1":         "docs/man/*.html",
		"examples/*/README.md": "examples/*/index.html", "examples/papers/*/README.md": "examples/papers/*/index.html",
		"examples/populations/*/README.md": "examples/populations/*/index.html",
		"sens/sens.go":                     "api/sens.html", "tape/tape.go": "api/tape.html",
	}
	for pattern, page := range pages {
		names, err := fs.Glob(root, pattern)
		if err != nil {
			t.Fatal(err)
		}
		if len(names) == 0 {
			t.Errorf("there is no %s", pattern)
		}
		before, after, _ := strings.Cut(pattern, "*")
		for _, name := range names {
			star := strings.TrimSuffix(strings.TrimPrefix(name, before), after)
			if want := strings.ReplaceAll(page, "*", star); len(all[want].links) == 0 {
				t.Errorf("%s has no page %s", name, want)
			}
		}
	}
	reached := map[string]bool{}
	visit := []string{"index.html"}
	for len(visit) > 0 {
		name := visit[0]
		visit = visit[1:]
		if reached[name] {
			continue
		}
		reached[name] = true
		for _, link := range all[name].links {
			if u, err := url.Parse(link); err == nil && !u.IsAbs() && strings.HasSuffix(u.Path, ".html") {
				visit = append(visit, path.Join(path.Dir(name), u.Path))
			}
		}
	}
	for name := range all {
		if !reached[name] && name != "search.html" { // a form leads to that
			t.Errorf("no link leads to %s", name)
		}
	}
}
