package main

import (
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
)

// addManual makes pages of the manual pages. That of the command as a whole
// lists the others.
func (s *site) addManual() error {
	names, err := fs.Glob(os.DirFS(s.root), "docs/man/*.1")
	if err != nil {
		return err
	}
	var others []string
	main := -1
	for _, name := range names {
		text, err := s.read(name)
		if err != nil {
			return err
		}
		markdown, err := manualPage(text)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		base := strings.TrimSuffix(path.Base(name), ".1")
		if base == "odes" {
			main = len(s.pages)
		} else {
			others = append(others, base)
		}
		s.add("", "docs/man/"+base+".md", markdown)
	}
	if main < 0 {
		return fmt.Errorf("no docs/man/odes.1")
	}
	var b strings.Builder
	toctree(&b, "", others)
	s.pages[main].text += b.String()
	s.target["docs/man"] = s.pages[main].target
	return nil
}

var (
	fontPattern      = regexp.MustCompile(`\\f([BIR])`)
	referencePattern = regexp.MustCompile(`^\.BR (\S+) \(1\)(.*)$`)
	characters       = strings.NewReplacer(
		`\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\(en`, "–", `\e`, `\`, `\&`, "",
	)
	special = strings.NewReplacer(
		`\`, `\\`, "`", "\\`", "*", `\*`, "_", `\_`, "[", `\[`, "]", `\]`,
		"<", `\<`, ">", `\>`, "{", `\{`, "#", `\#`, "|", `\|`,
	)
)

// manualPage makes Markdown of a manual page, as odes man writes them. A macro
// that is not among theirs is an error.
func manualPage(text string) (string, error) {
	var b strings.Builder
	const (
		body       = iota
		term       // the line after .TP
		definition // what follows that
	)
	where := body
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		macro, rest, _ := strings.Cut(line, " ")
		var out string
		switch {
		case macro == ".TH":
			name, _, _ := strings.Cut(rest, " ")
			fmt.Fprintf(&b, "# %s\n", strings.ReplaceAll(strings.ToLower(plain(name)), "odes-", "odes "))
			continue
		case macro == ".SH":
			where = body
			fmt.Fprintf(&b, "\n## %s\n\n", title(plain(rest)))
			continue
		case macro == ".TP":
			where = term
			b.WriteString("\n")
			continue
		case macro == ".BR":
			m := referencePattern.FindStringSubmatch(line)
			if m == nil {
				return "", fmt.Errorf("reference in another form: %s", line)
			}
			out = fmt.Sprintf("[%s](%s.md)(1)%s", markup(m[1]), plain(m[1]), plain(strings.ReplaceAll(m[2], " ", "")))
		case macro == ".B":
			out = markup(`\fB` + rest + `\fR`)
		case macro == ".I":
			out = markup(`\fI` + rest + `\fR`)
		case macro == ".RI":
			for i, word := range strings.Fields(rest) {
				out += markup([]string{`\fR`, `\fI`}[i%2] + word + `\fR`)
			}
		case strings.HasPrefix(line, ".") || strings.HasPrefix(line, "'"):
			return "", fmt.Errorf("macro that has no rule here: %s", line)
		default:
			out = markup(line)
		}
		switch where {
		case term:
			b.WriteString(out + "\n: ")
			where = definition
		default:
			b.WriteString(out + "\n")
		}
	}
	return b.String(), nil
}

// title writes a heading in capitals as a sentence.
func title(capitals string) string {
	return capitals[:1] + strings.ToLower(capitals[1:])
}

// plain undoes roff's escapes of characters.
func plain(text string) string {
	return characters.Replace(text)
}

// markup makes Markdown of a line with changes of font.
func markup(text string) string {
	var b strings.Builder
	mark := ""
	put := func(piece string) {
		if piece = plain(piece); piece == "" {
			return
		}
		// Emphasis begins and ends at a letter, not at a space.
		inner := strings.TrimSpace(piece)
		before, after, _ := strings.Cut(piece, inner)
		b.WriteString(before + mark + special.Replace(inner) + mark + after)
	}
	at := 0
	for _, m := range fontPattern.FindAllStringSubmatchIndex(text, -1) {
		put(text[at:m[0]])
		mark = map[string]string{"B": "**", "I": "*", "R": ""}[text[m[2]:m[3]]]
		at = m[1]
	}
	put(text[at:])
	return b.String()
}
