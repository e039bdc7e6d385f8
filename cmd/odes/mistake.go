package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"odes.dev/odes/internal/engine/compile"
	"odes.dev/odes/lang/keys"
	"odes.dev/odes/parser"
)

// rewordings turn messages of kong's parser into words of ours. A message that none of them matches is shown as it is.
var rewordings = []struct {
	found string // a regular expression
	// as gets what found found, and the command that was typed, if it was one.
	as func(m []string, command string) string
}{
	{`^--([\w.-]+): (?:expected \w+ value but got "EOL"|missing value)`, func(m []string, _ string) string {
		return fmt.Sprintf("--%s needs a value: --%[1]s=…", m[1])
	}},
	{`^--([\w.-]+): expected \w+ value but got "(-[^"]*)" \(`, func(m []string, _ string) string {
		return fmt.Sprintf("a value that begins with a dash stands behind =: --%s=%s", m[1], m[2])
	}},
	{`^missing flags: --stage=STAGE$`, func([]string, string) string {
		return "a stage is missing: --stage=" + strings.Join(compile.Stages(), ", ")
	}},
	{`^--([\w.-]+): expected a valid \d+ bit u?int but got "([^"]*)"$`, func(m []string, _ string) string {
		flag := "--" + m[1]
		if len(m[1]) == 1 {
			flag = "-" + m[1]
			if value, ok := strings.CutPrefix(m[2], "="); ok {
				return fmt.Sprintf("%s takes its number without =: %[1]s %s", flag, value)
			}
		}
		return fmt.Sprintf("%s takes a whole number, not %q", flag, m[2])
	}},
	{`^--([\w.-]+): expected a float but got ("[^"]*").*$`, func(m []string, _ string) string {
		return fmt.Sprintf("--%s takes a number, not %s", m[1], m[2])
	}},
	{`^--([\w.-]+): bool value must be .*$`, func(m []string, _ string) string {
		return fmt.Sprintf("--%s takes no value", m[1])
	}},
	{`^expected one of (.+)$`, func(m []string, _ string) string {
		return "a command is missing: one of " + strings.ReplaceAll(m[1], `"`, "")
	}},
	{`^expected "<([\w-]+)>( \.\.\.)?.*"$`, func(m []string, _ string) string {
		if m[2] != "" { // of <models> one is enough
			m[1] = strings.TrimSuffix(m[1], "s")
		}
		return fmt.Sprintf("the %s is missing", m[1])
	}},
	{`^<([\w-]+)> must be one of (.+) but got ("[^"]*")$`, func(m []string, _ string) string {
		values := strings.NewReplacer(`"`, "", ",", ", ").Replace(m[2])
		return fmt.Sprintf("there is no %s %s, only %s", m[1], m[3], values)
	}},
	{`^unexpected argument ([^,]+)(, did you mean (.+))?$`, func(m []string, command string) string {
		switch {
		case command == "" && strings.HasSuffix(m[1], ".ode"):
			return fmt.Sprintf("a command stands before the model: odes sens %s", m[1])
		case command == "" && otherWords[strings.ToLower(m[1])] != "":
			return fmt.Sprintf("there is no command %q; write odes %s", m[1], otherWords[strings.ToLower(m[1])])
		case m[3] == "" && command == "":
			return fmt.Sprintf("there is no command %q", m[1])
		case m[3] == "":
			return fmt.Sprintf("%q is one argument too many", m[1])
		}
		near := strings.TrimSuffix(strings.ReplaceAll(m[3], `"`, ""), "?")
		return fmt.Sprintf("there is no command %q; did you mean %s", m[1], near)
	}},
	{`^unknown flag ([^,]+)(, did you mean (.+))?$`, func(m []string, _ string) string {
		text, name := "there is no flag "+m[1], strings.TrimLeft(m[1], "-")
		if slices.Contains([]string{"json", "csv", "npz", "table"}, name) {
			return text + "; write --format " + name
		}
		if hint := otherFlags[name]; hint != "" {
			return text + "; " + hint
		}
		if hint := flagOfSetting(name); hint != "" {
			return text + "; " + hint
		}
		if len(m[1]) == 3 && strings.HasPrefix(m[1], "--") {
			return text + "; params are set by --set name=value"
		}
		if m[3] != "" {
			text += "; did you mean " + strings.TrimSuffix(strings.ReplaceAll(m[3], `"`, ""), "?")
		}
		return text
	}},
}

// otherWords are words of other programs for commands.
var otherWords = map[string]string{
	"solve": "run", "integrate": "run", "sim": "run", "ode": "run", "exec": "run", "execute": "run", "evaluate": "run",
	"gradient": "sens", "gradients": "sens", "grad": "sens", "derivative": "sens", "derivatives": "sens",
	"sensitivity": "sens", "sensitivities": "sens", "diff": "sens", "adjoint": "sens", "jacobian": "sens",
	"optimize": "fit", "optimise": "fit", "estimate": "fit", "calibrate": "fit", "minimize": "fit", "minimise": "fit",
	"mcmc": "sample", "posterior": "sample", "draw": "plot", "picture": "plot", "graph": "plot", "show": "plot",
	"scan": "sweep", "montecarlo": "ensemble", "uncertainty": "ensemble", "sobol": "ensemble MODEL … --sobol",
	"validate": "check", "lint": "check", "test": "verify", "format": "fmt", "convert": "import", "init": "new",
	"template": "new", "shell": "repl", "console": "repl", "interactive": "repl", "explain": "doc",
	"benchmark": "bench", "update": "version",
}

// otherFlags are flags of other programs, and what to write.
var otherFlags = map[string]string{
	"output-format": "write --format json, or another format",
	"out":           "write -o FILE",
	"outfile":       "write -o FILE",
	"svg":           "write -o picture.svg: the ending says the kind",
	"png":           "write -o picture.png: the ending says the kind",
	"pdf":           "write -o picture.pdf: the ending says the kind",
	"tol":           "tolerances are --rtol and --atol",
	"tolerance":     "tolerances are --rtol and --atol",
	"param":         "params are set by --set name=value",
	"params":        "params are set by --set name=value",
	"debug":         "write -v for more",
}

// flagOfSetting says how settings with a key are overridden; "" where there are none.
func flagOfSetting(key string) string {
	var flags []string
	for _, block := range parser.Blocks() {
		if keys.Find(block, key) != nil {
			flags = append(flags, fmt.Sprintf("--%s.%s=…", block, key))
		}
	}
	if len(flags) == 0 {
		return ""
	}
	return "the setting is overridden by " + strings.Join(flags, " or ")
}

// reword returns what an error of the command line's parser means.
func reword(err error) string {
	for _, r := range rewordings {
		if m := regexp.MustCompile(r.found).FindStringSubmatch(err.Error()); m != nil {
			return r.as(m, commandOf(err))
		}
	}
	return strings.TrimSuffix(lowerFirst(err.Error()), "?")
}

// helpFor names the help on the command that err is about.
func helpFor(err error) string {
	if c := commandOf(err); c != "" {
		return "odes " + c + " --help"
	}
	return "odes --help"
}

// commandOf returns the command that err is about; "" where there is none yet.
func commandOf(err error) string {
	var wrong *kong.ParseError
	if errors.As(err, &wrong) && wrong.Context != nil && wrong.Context.Selected() != nil {
		return wrong.Context.Selected().Name
	}
	return ""
}
