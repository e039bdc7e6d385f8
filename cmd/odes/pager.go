package main

import (
	"io"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"odes.dev/odes/internal/base/screen"
)

// page shows a text with the user's pager, or with one of those that systems have; without any it is printed.
func (c *call) page(text string) error {
	for _, name := range []string{os.Getenv("MANPAGER"), os.Getenv("PAGER"), "less -R", "more"} {
		words := strings.Fields(name)
		if len(words) == 0 {
			continue
		}
		path, err := exec.LookPath(words[0])
		if err != nil {
			continue
		}
		show := exec.CommandContext(c.ctx, path, words[1:]...)
		show.Stdin, show.Stdout, show.Stderr = strings.NewReader(text), os.Stdout, os.Stderr
		if show.Run() == nil {
			return nil
		}
		break // it may have shown a part
	}
	_, err := io.WriteString(c.out, text)
	return cannotPrint(err)
}

// fonts are changes of fonts in a manual page, and its escapes.
var fonts = regexp.MustCompile(`\\f[BIRP]`)

var escapes = strings.NewReplacer(
	`\-`, "-", `\(aq`, "'", `\(ga`, "`", `\(ha`, "^", `\(ti`, "~", `\(en`, "–", `\e`, `\`, `\&...`, "…",
	`\&`, "",
)

// plainPage is a manual page as a text of some width, for systems without man.
func plainPage(page string, width int) string {
	const indent = 7
	room := max(30, min(width, 100)-2*indent)
	var b strings.Builder
	var text []string // of the current paragraph
	depth := indent
	flush := func() {
		if len(text) > 0 {
			margin := strings.Repeat(" ", depth)
			folded := screen.Fold(strings.Join(text, " "), room, "")
			b.WriteString(margin + strings.ReplaceAll(folded, "\n", "\n"+margin) + "\n")
		}
		text = nil
	}
	head := false // the next line is what the one behind it explains
	for line := range strings.Lines(page) {
		line = strings.TrimSuffix(line, "\n")
		macro, rest, _ := strings.Cut(line, " ")
		switch macro {
		case ".TH":
			continue
		case ".SH":
			flush()
			depth, head = indent, false
			b.WriteString("\n" + strings.Trim(clean(rest), `"`) + "\n")
			continue
		case ".TP":
			flush()
			depth, head = indent, true
			continue
		case ".BR", ".RI": // fonts by turns, with nothing between
			line = strings.Join(strings.Fields(rest), "")
			if macro == ".RI" {
				line = rest
			}
		case ".B", ".I":
			line = rest
		}
		text = append(text, clean(line))
		if head {
			flush()
			depth, head = 2*indent, false
		}
	}
	flush()
	return strings.TrimPrefix(b.String(), "\n")
}

// clean takes troff's escapes off a text.
func clean(text string) string { return escapes.Replace(fonts.ReplaceAllString(text, "")) }
