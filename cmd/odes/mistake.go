package main

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/alecthomas/kong"
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
	{`^--([\w.-]+): expected a valid \d+ bit u?int but got ("[^"]*")$`, func(m []string, _ string) string {
		return fmt.Sprintf("--%s takes a whole number, not %s", m[1], m[2])
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
		case m[3] == "" && command == "":
			return fmt.Sprintf("there is no command %q", m[1])
		case m[3] == "":
			return fmt.Sprintf("%q is one argument too many", m[1])
		}
		near := strings.TrimSuffix(strings.ReplaceAll(m[3], `"`, ""), "?")
		return fmt.Sprintf("there is no command %q; did you mean %s", m[1], near)
	}},
	{`^unknown flag ([^,]+)(, did you mean (.+))?$`, func(m []string, _ string) string {
		text := "there is no flag " + m[1]
		if m[3] != "" {
			text += "; did you mean " + strings.TrimSuffix(strings.ReplaceAll(m[3], `"`, ""), "?")
		}
		return text
	}},
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
