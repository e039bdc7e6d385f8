package main

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes/help"
	"odes.dev/odes/internal/base/screen"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/plot"
)

// docCmd is odes doc.
type docCmd struct {
	global
	Name string `arg:"" optional:"" help:"{subject}"`
}

// Run explains a name, or lists all there are.
func (d *docCmd) Run(c *call) error {
	c.configure(d.global, formatFlag{})
	if !help.Explain(c.out, d.Name, c.screen(c.out), formatEntries()...) {
		if strings.HasSuffix(d.Name, ".ode") {
			return c.explainModel(d.Name)
		}
		near := nearHelp(d.Name, subjectNames())
		if near == "" {
			near = "; odes doc lists all there is"
		}
		return usagef("there is no help on %q%s", d.Name, near)
	}
	return nil
}

// nearHelp is what to say of a name without help, beside some names that have it.
func nearHelp(name string, names []string) string {
	if method := settings.MethodFor(name); method != "" {
		return "; a method like it is " + method
	}
	return help.Near(name, names)
}

// formatEntries explain the formats of results and of pictures.
func formatEntries() (list []help.Entry) {
	for _, f := range report.Formats() {
		var commands []string
		for _, command := range slices.Sorted(maps.Keys(formatted)) {
			if formatted[command](f) {
				commands = append(commands, command)
			}
		}
		file := "-o file." + f.Name
		if f.Ending != "" {
			file += " or -o file." + f.Ending
		}
		list = append(list, help.Entry{
			Name: f.Name, Form: "odes sens model.ode --format " + f.Name,
			Text: fmt.Sprintf("A format %s, which odes %s write. The name of a file asks for it, too: %s.", f.Doc,
				enumerate(commands, "and"), file),
		})
	}
	for _, name := range plot.Formats() {
		list = append(list, help.Entry{
			Name: name, Form: "odes plot model.ode -o picture." + name,
			Text: "A format of pictures: odes plot writes it into files whose names end in ." + name + ".",
		})
	}
	return list
}

// subjectNames are the names that odes doc explains.
func subjectNames() []string {
	names := help.Names()
	for _, e := range formatEntries() {
		names = append(names, e.Name)
	}
	return names
}

// explainModel lists what a model declares, with its doc comments.
func (c *call) explainModel(path string) error {
	m, err := c.load(path, "")
	if err != nil {
		return err
	}
	list, err := m.Symbols(nil)
	if err != nil {
		return err
	}
	info := m.Info()
	fmt.Fprint(c.out, info.Name)
	if info.Title != "" {
		fmt.Fprintf(c.out, ": %s", info.Title)
	}
	fmt.Fprint(c.out, "\n\n")
	rows := make([][3]string, len(list))
	var widths [2]int
	for i, s := range list {
		rows[i] = [3]string{s.Kind, s.Name, s.Doc}
		if len(s.Shape) > 0 {
			dims := make([]string, len(s.Shape))
			for k, n := range s.Shape {
				dims[k] = strconv.Itoa(n)
			}
			rows[i][1] += "[" + strings.Join(dims, ",") + "]"
		}
		if len(s.Values) == 1 && len(s.Shape) == 0 {
			rows[i][1] += " = " + strconv.FormatFloat(s.Values[0], 'g', -1, 64)
		}
		if s.Unit != "" {
			rows[i][1] += " [" + s.Unit + "]"
		}
		for k := range widths {
			widths[k] = max(widths[k], screen.Width(rows[i][k]))
		}
	}
	for _, r := range rows {
		line := screen.Pad(r[0], widths[0]) + "  " + screen.Pad(r[1], widths[1]) + "  " + r[2]
		fmt.Fprintln(c.out, strings.TrimRight(line, " "))
	}
	return nil
}
