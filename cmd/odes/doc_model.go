package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
)

// settingBlocks are the blocks of settings, in the order of the manual.
var settingBlocks = []string{"solver", "sens", "fit"}

func settingNames(block string) []string {
	var names []string
	for _, r := range odes.SettingRows(block) {
		names = append(names, r.Keys...)
	}
	return names
}

// setting explains a key of a settings block, as rtol or solver.rtol.
func setting(w io.Writer, name string) bool {
	block, key, qualified := strings.Cut(name, ".")
	if !qualified {
		key = name
	}
	found := false
	for _, b := range settingBlocks {
		for _, r := range odes.SettingRows(b) {
			if slices.Contains(r.Keys, key) && (!qualified || block == b) {
				if found {
					fmt.Fprintln(w)
				}
				found = true
				fmt.Fprintf(w, "%s { %s = … }\n\n%s\n", b, strings.Join(r.Keys, " = …  "), wrap(strings.ReplaceAll(sentence(r.Text), "`", ""), ""))
			}
		}
	}
	return found
}

// explainModel lists what a model declares, with its doc comments.
func (c *call) explainModel(path string) error {
	m, err := c.load(path)
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
	var width [2]int
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
		for k := range width {
			width[k] = max(width[k], len([]rune(rows[i][k])))
		}
	}
	for _, r := range rows {
		line := fmt.Sprintf("%-*s  %-*s  %s", width[0], r[0], width[1], r[1], r[2])
		fmt.Fprintln(c.out, strings.TrimRight(line, " "))
	}
	return nil
}
