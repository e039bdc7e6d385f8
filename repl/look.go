package repl

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/plot"
)

// look is what the end of a command that draws says: how to show the picture, and which file to write.
type look struct {
	view plot.View
	path string
}

// draws tells whether a command draws pictures, and so takes options of these.
func draws(command string) bool {
	a := analysis.Named(command)
	return a != nil && a.Pictures != nil || slices.Contains([]string{"plot", "sweep", "compare"}, command)
}

// optionAtEnd is the last option of a command, with its value where there is one.
var optionAtEnd = lazy.Regexp(`(?:^|\s)--([a-z]+)(?:(?:\s*=\s*|\s+)("[^"]*"|[^\s"]\S*))?\s*$`)

// optionAnywhere is what looks like an option.
var optionAnywhere = lazy.Regexp(`(?:^|\s)--([\pL_]+)`)

// lastOption returns where the last word of a command begins that says how to draw, the option and its value; nil where
// there is none.
func lastOption(text string) (at int, o *plot.Option, value string) {
	m := optionAtEnd().FindStringSubmatchIndex(text)
	if m == nil {
		return 0, nil, ""
	}
	if m[4] >= 0 {
		value = text[m[4]:m[5]]
	}
	for _, o := range plot.Options() {
		if o.Name == text[m[2]:m[3]] && (o.Value == "") == (value == "") {
			return m[0], &o, strings.Trim(value, `"`)
		}
	}
	return 0, nil, ""
}

// splitLook returns a command without what its end says of how to draw, and that.
func splitLook(text string) (rest, tail string) {
	rest = text
	for {
		if at, o, _ := lastOption(rest); o != nil {
			rest = strings.TrimRight(text[:at], " \t\n")
		} else if m := outputFlag().FindStringIndex(rest); m != nil {
			rest = strings.TrimRight(text[:m[0]], " \t\n")
		} else {
			return rest, text[len(rest):]
		}
	}
}

// cutLook removes `-o file`, and options such as `--logy`, from the end of a command.
func (s *Session) cutLook(text string) (rest string, l look, err error) {
	rest, tail := splitLook(text)
	for tail = strings.TrimSpace(tail); tail != ""; {
		if at, o, value := lastOption(tail); o != nil {
			if err := o.Set(&l.view, value); err != nil {
				return "", l, err
			}
			tail = strings.TrimSpace(tail[:at])
			continue
		}
		tail, l.path = cutOutput(tail)
	}
	if m := optionAnywhere().FindStringSubmatch(rest); m != nil && !slices.Contains(s.declared(), m[1]) {
		return "", l, misfit(m[1])
	}
	return strings.TrimSpace(rest), l, l.view.Check()
}

// misfit says why a word that looks like an option was not taken as one.
func misfit(name string) error {
	var names []string
	for _, o := range plot.Options() {
		switch {
		case o.Name == name && o.Value == "":
			return fmt.Errorf("--%s takes no value, and stands at the end: plot x --%[1]s", name)
		case o.Name == name:
			return fmt.Errorf("--%s needs a value, and stands at the end: plot x --%[1]s %s", name, o.Value)
		}
		names = append(names, o.Name)
	}
	return fmt.Errorf("there is no option --%s%s; there are --%s", name, diag.DidYouMean(name, names),
		strings.Join(names, ", --"))
}

// completeOption returns the options, or values of one, that the last word of a command may become.
func completeOption(line string) (words []string, replaced int, ok bool) {
	at := strings.LastIndexByte(line, ' ') + 1
	word, before := line[at:], strings.Fields(line[:at])
	if strings.HasPrefix(word, "--") {
		for _, o := range plot.Options() {
			if strings.HasPrefix("--"+o.Name, word) && "--"+o.Name != word {
				words = append(words, "--"+o.Name)
			}
		}
		slices.Sort(words)
		return words, len(word), true
	}
	for _, o := range plot.Options() {
		if o.Words == nil || len(before) == 0 || before[len(before)-1] != "--"+o.Name {
			continue
		}
		for _, w := range o.Words {
			if strings.HasPrefix(w, word) && w != word {
				words = append(words, w)
			}
		}
		return words, len(word), true
	}
	return nil, 0, false
}

// listOptions writes the options of commands that draw.
func (d *display) listOptions(w io.Writer) {
	var rows [][2]string
	width := 0
	for _, o := range plot.Options() {
		head := strings.TrimSpace("--" + o.Name + " " + o.Value)
		rows = append(rows, [2]string{head, o.Doc})
		width = max(width, screen.Width(head))
	}
	for _, r := range rows {
		head, indent := "  "+screen.Pad(r[0], width)+"  ", strings.Repeat(" ", width+4)
		if d.width() < 2*width+30 {
			head, indent = "  "+r[0]+"\n    ", "    "
		}
		text := screen.Fold(r[1], max(12, d.width()-len(indent)-1), "")
		fmt.Fprintln(w, head+strings.ReplaceAll(text, "\n", "\n"+indent))
	}
}
