package main

import (
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// redraw draws the figures of the pages on precision, stiff models, families of methods and growth anew, from the
// tables of numbers that lie beside them or stand on the page: what a change of pictures needs, and no quiet machine.
func redraw(folder string) error {
	if err := redrawGrowth(filepath.Join(folder, "..", "benchmarks.md"), folder); err != nil {
		return err
	}
	list := diagrams(&runner{})
	err := eachCurve(filepath.Join(folder, "precision.csv"), func(problem, n string, c *curve) error {
		at := slices.IndexFunc(list, func(d *diagram) bool { return d.problem == problem && fmt.Sprint(d.n) == n })
		if at < 0 {
			return fmt.Errorf("there is no diagram of %s, n = %s", problem, n)
		}
		for _, own := range list[at].curves {
			if own.name == c.name {
				own.points = c.points
				return nil
			}
		}
		c.way = strings.Contains(c.name, "forward")
		list[at].curves = append(list[at].curves, c)
		return nil
	})
	if err != nil {
		return err
	}
	for _, d := range list {
		d.curves = slices.DeleteFunc(d.curves, func(c *curve) bool { return len(c.points) == 0 })
		if err := d.draw(folder); err != nil {
			return err
		}
	}
	for _, page := range []struct {
		table    string
		problems []*stiffProblem
		figure   func(*stiffDiagram) string
	}{{"stiff.csv", stiffProblems(), (*stiffDiagram).figure}, {"families.csv", familyProblems(), familyFigure}} {
		curves := map[string][]*curve{}
		err := eachCurve(filepath.Join(folder, page.table), func(problem, _ string, c *curve) error {
			curves[problem] = append(curves[problem], c)
			return nil
		})
		if err != nil {
			return err
		}
		for _, p := range page.problems {
			if curves[p.name] == nil {
				continue
			}
			err := drawCurves(filepath.Join(folder, page.figure(&stiffDiagram{problem: p})), p.title, curves[p.name],
				func(c *curve) string { return c.name })
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// redrawGrowth draws how time grows, by the tables of the page.
func redrawGrowth(page, folder string) error {
	text, err := os.ReadFile(page)
	if err != nil {
		return err
	}
	for i := range growths {
		g := &growths[i]
		_, rows, found := strings.Cut(string(text), "\n| "+g.name+" | compile s |")
		if !found {
			return fmt.Errorf("%s has no table of %s", page, g.name)
		}
		var list []grown
		for row := range strings.SplitSeq(rows, "\n") {
			if row == "" {
				break
			}
			var one grown
			if n, _ := fmt.Sscanf(row, "| %d | %g | %g |", &one.N, &one.Compile, &one.Gradient); n == 3 {
				list = append(list, one)
			}
		}
		if len(list) == 0 {
			return fmt.Errorf("%s: the table of %s is empty", page, g.name)
		}
		if err := g.draw(filepath.Join(folder, "growth_"+g.name+".svg"), list); err != nil {
			return err
		}
	}
	return nil
}

// eachCurve reads the curves of a table; n is "" where the table has no such column.
func eachCurve(path string, add func(problem, n string, c *curve) error) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) == 0 {
		return fmt.Errorf("%s: %d rows, %w", path, len(rows), err)
	}
	field := func(row []string, name string) string {
		if at := slices.Index(rows[0], name); at >= 0 {
			return row[at]
		}
		return ""
	}
	var c *curve
	before := ""
	for i, row := range rows[1:] {
		of := field(row, "problem") + " " + field(row, "n") + " " + field(row, "curve")
		if of != before {
			if c != nil {
				last := rows[i]
				if err := add(field(last, "problem"), field(last, "n"), c); err != nil {
					return err
				}
			}
			c, before = &curve{name: field(row, "curve")}, of
		}
		var p point
		for _, x := range []struct {
			name string
			to   *float64
		}{{"tolerance", &p.Tol}, {"error", &p.Error}, {"seconds", &p.Seconds}} {
			if *x.to, err = strconv.ParseFloat(field(row, x.name), 64); err != nil {
				return fmt.Errorf("%s: %w", path, err)
			}
		}
		c.points = append(c.points, p)
	}
	if c == nil {
		return nil
	}
	last := rows[len(rows)-1]
	return add(field(last, "problem"), field(last, "n"), c)
}
