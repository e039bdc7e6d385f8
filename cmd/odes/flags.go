package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/input"
	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/internal/front/analysis"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/parser"
)

// modelFlags are the flags of commands that run one model.
type modelFlags struct {
	reading
	Model string `arg:"" help:"Model file; - is standard input."`
	setFlag
	solverFlags
	Solver  string     `placeholder:"NAME" help:"Use this solver block. --solver.rtol=1e-9 sets a key of it."`
	Sens    string     `placeholder:"NAME" help:"Use this sens block. --sens.mode=tangent sets a key of it."`
	Threads int        `placeholder:"N" help:"Threads; 0 means one for each core. Results do not depend on it."`
	Lanes   int        `placeholder:"N" help:"Objectives in a sweep; 0 leaves it to odes. Results do not depend on it."`
	Memory  string     `placeholder:"SIZE" help:"The most memory that the process may take, such as 2GB."`
	Format  formatFlag `placeholder:"FORMAT"` // fillHelp adds the help
	Output  string     `short:"o" type:"result" placeholder:"FILE" help:"{output}"`
}

// setFlag sets parameters and initial values.
type setFlag struct {
	Set []string `sep:"none" placeholder:"NAME=VALUE" help:"{set}"`
}

// assignments reads the values of --set.
func (f setFlag) assignments(c *call) (all []odes.Assignment, err error) {
	for _, text := range f.Set {
		var list []odes.Assignment
		err := c.work(func() error { // a pipe that nobody writes to can be left with Ctrl-C
			read, err := assignments(text, &c.seen)
			list = read
			return err
		})
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// inFlag chooses one of the runs that a model stands for.
type inFlag struct {
	In string `placeholder:"NAME" help:"{in}"`
}

// dosesFlag gives another regimen.
type dosesFlag struct {
	Doses string `placeholder:"FILE" help:"{doses}"`
}

// solverFlags are short for keys of the solver block.
type solverFlags struct {
	Method string `placeholder:"NAME" help:"Solve with this method: short for --solver.method."`
	RTol   string `name:"rtol" placeholder:"X" help:"Relative tolerance of the states: short for --solver.rtol."`
	ATol   string `name:"atol" placeholder:"X" help:"Absolute tolerance of the states: short for --solver.atol."`
}

// settings returns the settings of a run: those of --solver.key=value, and the short ones.
func (f solverFlags) settings(c *call) []odes.Setting {
	list := slices.Clone(c.settings)
	for _, short := range []odes.Setting{
		{Key: "solver.method", Value: f.Method},
		{Key: "solver.rtol", Value: f.RTol},
		{Key: "solver.atol", Value: f.ATol},
	} {
		if short.Value != "" {
			list = append(list, short)
		}
	}
	return list
}

// derivativeFlags say what to differentiate, by what, and how.
type derivativeFlags struct {
	Of    string `placeholder:"NAMES" help:"Objectives, separated by commas; without it, those of the sens block."`
	Wrt   string `placeholder:"NAMES" help:"What to differentiate by, separated by commas: k1,A,initial(x)."`
	Mode  string `placeholder:"MODE" help:"How to differentiate: {modes}."`
	Error bool   `help:"Estimate the error of every derivative, at the cost of another, more accurate run."`
}

// derivative writes the flags into options.
func (f derivativeFlags) derivative(o *odes.Options) (err error) {
	if o.Of, err = analysis.List("of", f.Of); err != nil {
		return err
	}
	if o.Wrt, err = analysis.List("wrt", f.Wrt); err != nil {
		return err
	}
	if f.Mode != "" {
		o.Settings = append(o.Settings, odes.Setting{Key: "sens.mode", Value: f.Mode})
	}
	if f.Error {
		o.Settings = append(o.Settings, odes.Setting{Key: "sens.error", Value: "on"})
	}
	return nil
}

// formatFlag is the value of --format; nil where that is not given.
type formatFlag struct{ *report.Format }

// UnmarshalText reads the name of a format.
func (f *formatFlag) UnmarshalText(text []byte) error {
	if f.Format = report.FormatNamed(string(text)); f.Format == nil {
		return fmt.Errorf("there is no format %q, only %s", text, enumerate(report.Names(report.Formats()), "and"))
	}
	return nil
}

// formatted lists the commands that write in formats, each with a test of which formats it writes.
var formatted = map[string]func(*report.Format) bool{
	"sens":   report.HasSensitivities,
	"run":    report.HasSolution,
	"verify": report.HasVerification,
	"bench":  report.HasBench,
	"check":  func(f *report.Format) bool { return f.Messages || f.Name == report.Formats()[0].Name },
}

// formatsOf returns the formats that a command writes.
func formatsOf(command string) (list []*report.Format) {
	has := formatted[command]
	for _, f := range report.Formats() {
		if has != nil && has(f) {
			list = append(list, f)
		}
	}
	return list
}

// formatHelp is the help on --format of a command that writes results.
func formatHelp(command string) string {
	var list []string
	for _, f := range formatsOf(command) {
		list = append(list, f.Name+" "+f.Doc)
	}
	return enumerate(list, "or") + "; without it, the ending of the output file decides."
}

// format returns the format that a command is to write: the one asked for, else that of the output file's name.
func (c *call) format(command string, asked formatFlag, output string) (*report.Format, error) {
	names := report.Names(formatsOf(command))
	f := asked.Format
	switch {
	case f == nil && output == "":
		f = report.Formats()[0]
	case f == nil:
		if f = report.FormatOf(output); f == nil {
			also := ""
			if strings.HasSuffix(output, ".html") {
				also = "; odes report writes pages"
			}
			return nil, usagef("cannot tell the format from %q: add --format %s%s", output, enumerate(names, "or"),
				also)
		}
	}
	if !slices.Contains(names, f.Name) {
		return nil, usagef("odes %s does not write %s: choose %s", command, f.Name, enumerate(names, "or"))
	}
	if f.Binary && output == "" && isTerminal(c.out) {
		return nil, usagef("%s is no text: name a file with -o", f.Name)
	}
	return f, nil
}

// enumerate joins a list with commas, and the last of it with a word.
func enumerate(list []string, word string) string {
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	last := len(list) - 1
	return strings.Join(list[:last], ", ") + " " + word + " " + list[last]
}

// options returns the options of a run.
func (f modelFlags) options(c *call) (odes.Options, error) {
	o := odes.Options{Solver: f.Solver, Sens: f.Sens, Settings: f.settings(c), Threads: f.Threads, Lanes: f.Lanes}
	if f.Threads < 0 || f.Lanes < 0 {
		return o, usagef("--threads and --lanes take whole numbers from 0")
	}
	if f.Memory != "" {
		o.Settings = append(o.Settings, odes.Setting{Key: "solver.memory", Value: strconv.Quote(f.Memory)})
	}
	var err error
	o.Set, err = f.assignments(c)
	return o, err
}

var settingFlag = lazy.Regexp(`^--((?:` + strings.Join(parser.Blocks(), "|") + `)\.[\pL_][\pL\pN_]*)(=(.*))?$`)

var memorySize = lazy.Regexp(`^[\d.]+ ?[kKMGT]?i?B$`)

// splitSettings takes flags such as --solver.key=value out of args. kong wants to know all flags
// beforehand, and the keys of these belong to package odes.
func splitSettings(args []string) (rest []string, settings []odes.Setting, err error) {
	for i := 0; i < len(args); i++ {
		if args[i] == "--" {
			return append(rest, args[i:]...), settings, nil
		}
		var m []string
		if strings.HasPrefix(args[i], "--") && strings.Contains(args[i], ".") {
			m = settingFlag().FindStringSubmatch(args[i])
		}
		switch {
		case m == nil:
			rest = append(rest, args[i])
			continue
		case m[2] == "":
			if i+1 == len(args) {
				return nil, nil, usagef("--%s needs a value: --%s=…", m[1], m[1])
			}
			i++
			m[3] = args[i]
		}
		if m[1] == "solver.memory" && memorySize().MatchString(m[3]) { // a text, whose quotes shells remove
			m[3] = strconv.Quote(m[3])
		}
		settings = append(settings, odes.Setting{Key: m[1], Value: m[3]})
	}
	return rest, settings, nil
}

// assignments reads the value of --set: "name=value", or "@file" for a file with one of these on each line.
func assignments(text string, seen *input.Seen) ([]odes.Assignment, error) {
	path, isFile := strings.CutPrefix(text, "@")
	if !isFile {
		a, err := assignment(text)
		return []odes.Assignment{a}, err
	}
	data, err := input.File(path, seen)
	if err != nil {
		return nil, &odes.FileError{Path: path, Err: err}
	}
	var list []odes.Assignment
	for n, line := range strings.Split(string(data), "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" {
			continue
		}
		a, err := assignment(line)
		if err != nil {
			return nil, usagef("%s:%d: %v", path, n+1, err)
		}
		list = append(list, a)
	}
	return list, nil
}

func assignment(text string) (odes.Assignment, error) {
	a, err := analysis.ReadAssignment(text)
	if err != nil {
		if _, second, two := strings.Cut(text, ","); two && strings.Contains(second, "=") {
			return a, usagef("--set %s: each value has a --set of its own: --set %s", text,
				strings.Join(analysis.Outside(text, ','), " --set "))
		}
		return a, usagef("--set %s: %v", text, err)
	}
	return a, nil
}
