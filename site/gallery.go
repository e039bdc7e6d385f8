package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// pictures says what to draw of a model where its outputs over time tell less
// than something else does: the arguments of odes plot.
var pictures = map[string][]string{
	"arenstorf":      {"y", "against", "x", "--set", "T=17.065216560157963"}, // the whole orbit
	"bounce":         {"x"},
	"gray_scott":     {"v"},
	"lorenz":         {"z", "against", "x", "--set", "T=25"}, // long enough for both wings
	"lotka_volterra": {"y", "against", "x"},
	"projectile":     {"y", "against", "x"},
}

// addExamples adds a page for every folder of examples that has a README, with
// its models and a picture, and the gallery of them all.
func (s *site) addExamples(odes string) error {
	names, err := fs.Glob(os.DirFS(s.root), "examples/*/README.md")
	if err != nil {
		return err
	}
	if len(names) == 0 {
		return fmt.Errorf("no examples")
	}
	var gallery strings.Builder
	gallery.WriteString("# Gallery\n\nModels to read, run and change, each with its picture, its equations " +
		"and values to compare with.\n\n")
	gallery.WriteString("::::{grid} 1 2 2 3\n:gutter: 3\n:class-container: gallery\n\n")
	var children []string
	for _, name := range names {
		text, err := s.read(name)
		if err != nil {
			return err
		}
		folder := path.Dir(name)
		base := path.Base(folder)
		if slices.ContainsFunc(groups, func(g group) bool { return g.folder == base }) {
			s.add(name, folder+"/index.md", text)
			s.target[folder] = folder + "/index.md"
			children = append(children, base+"/index")
			continue
		}
		picture, err := s.draw(odes, folder)
		if err != nil {
			return err
		}
		models, err := s.models(folder)
		if err != nil {
			return err
		}
		introduction := firstParagraph(text)
		if !strings.Contains(text, ".svg)") {
			text = strings.Replace(text, introduction, introduction+"\n\n"+picture.figure(base, heading(text)), 1)
		}
		s.add(name, folder+"/index.md", text+models)
		s.target[folder] = folder + "/index.md"
		children = append(children, base+"/index")
		card := ":::{grid-item-card} %s\n:link: %s/index\n:link-type: doc\n:link-alt: %s\n\n" +
			"```{image} %s/%s\n:alt: %s\n```\n\n%s\n:::\n\n"
		title := heading(text)
		fmt.Fprintf(&gallery, card, title, base, title, base, picture.file, title, firstSentence(introduction))
	}
	gallery.WriteString("::::\n")
	for _, g := range groups {
		list, err := s.addGroup(&gallery, g)
		if err != nil {
			return err
		}
		children = append(children, list...)
	}
	toctree(&gallery, "", children)
	s.add("", "examples/index.md", gallery.String())
	s.target["examples"] = "examples/index.md"
	return nil
}

// group is a folder of examples, each in a folder of its own.
type group struct{ folder, title, about string }

var groups = []group{
	{"papers", "Papers", "What papers report, beside what odes computes."},
	{"populations", "Populations", "Patients that differ in a few numbers."},
}

// addGroup adds a page for every folder of a group, with its models, and a list of them to the gallery. It returns the
// pages as the gallery names them.
func (s *site) addGroup(gallery *strings.Builder, g group) (children []string, err error) {
	names, err := fs.Glob(os.DirFS(s.root), "examples/"+g.folder+"/*/README.md")
	if err != nil || len(names) == 0 {
		return nil, err
	}
	fmt.Fprintf(gallery, "\n## %s\n\n%s\n\n", g.title, g.about)
	for _, name := range names {
		text, err := s.read(name)
		if err != nil {
			return nil, err
		}
		folder := path.Dir(name)
		models, err := s.models(folder)
		if err != nil {
			return nil, err
		}
		s.add(name, folder+"/index.md", text+models)
		s.target[folder] = folder + "/index.md"
		child := strings.TrimPrefix(folder, "examples/") + "/index"
		children = append(children, child)
		fmt.Fprintf(gallery, "- [%s](%s.md)\n", heading(text), child)
	}
	return children, nil
}

// A picture is a file in the folder of an example's page, and the command that
// drew it there.
type picture struct{ file, command string }

// figure returns the picture as part of a page.
func (p picture) figure(base, title string) string {
	return fmt.Sprintf("```{figure} %s\n:alt: %s\n\n`%s`\n```", p.file, title, p.command)
}

// draw draws the model that has the name of its folder, or else the first.
func (s *site) draw(odes, folder string) (picture, error) {
	base := path.Base(folder)
	list, err := s.glob(folder, "*.ode")
	if err != nil {
		return picture{}, err
	}
	if len(list) == 0 {
		return picture{}, fmt.Errorf("%s has no model", folder)
	}
	model := list[0]
	if slices.Contains(list, base+".ode") {
		model = base + ".ode"
	}
	arguments := append([]string{"plot", model}, pictures[base]...)
	p := picture{"overview.svg", "odes " + strings.Join(arguments, " ")}
	file, err := filepath.Abs(filepath.Join(s.out, filepath.FromSlash(folder), p.file))
	if err != nil {
		return p, err
	}
	if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
		return p, err
	}
	command := exec.Command(odes, append(arguments, "-o", file)...)
	command.Dir = filepath.Join(s.root, filepath.FromSlash(folder))
	if said, err := command.CombinedOutput(); err != nil {
		return p, fmt.Errorf("%s in %s: %w\n%s", p.command, folder, err, said)
	}
	return p, nil
}

// models returns the section that shows the models of a folder, "" for none, and copies them.
func (s *site) models(folder string) (string, error) {
	list, err := s.glob(folder, "*.ode")
	if err != nil {
		return "", err
	}
	if len(list) == 0 {
		return "", nil
	}
	var b strings.Builder
	b.WriteString("\n## The model\n")
	if err := s.publish(folder); err != nil {
		return "", err
	}
	for _, name := range list {
		if err := s.copy(folder + "/" + name); err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "\n```{literalinclude} %s\n:language: odes\n:caption: \"[%s](%s)\"\n```\n", name, name, name)
	}
	return b.String(), nil
}

// glob returns the names in a folder that match a pattern.
func (s *site) glob(folder, pattern string) ([]string, error) {
	return fs.Glob(os.DirFS(filepath.Join(s.root, filepath.FromSlash(folder))), pattern)
}

// firstParagraph returns the paragraph after the heading, as it stands.
func firstParagraph(text string) string {
	for paragraph := range strings.SplitSeq(text, "\n\n") {
		paragraph = strings.TrimSpace(paragraph)
		if paragraph != "" && !strings.HasPrefix(paragraph, "#") {
			return paragraph
		}
	}
	return ""
}

var sentenceEnd = regexp.MustCompile(`[^\p{Lu}]\.\s+\p{Lu}`)

// firstSentence returns the first sentence of a paragraph, on one line. An initial (R. Bellman) does not end it.
func firstSentence(paragraph string) string {
	sentence := strings.Join(strings.Fields(paragraph), " ")
	if end := sentenceEnd.FindStringIndex(sentence); end != nil {
		sentence = sentence[:strings.Index(sentence[end[0]:], ".")+end[0]+1]
	}
	return sentence
}
