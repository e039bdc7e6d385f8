package main

import (
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/alecthomas/kong"

	"odes.dev/odes"
)

// shorts says which settings flags are short for. Flags without a value have one here, as do settings that a flag makes
// beside its own. A flag of one command alone stands behind the name of that.
var shorts = map[string][]string{
	"method":  {"solver.method"},
	"rtol":    {"solver.rtol"},
	"atol":    {"solver.atol"},
	"memory":  {"solver.memory"},
	"of":      {"sens.of"},
	"wrt":     {"sens.wrt"},
	"mode":    {"sens.mode"},
	"error":   {"sens.error=on"},
	"trust":   {"sens.trust=on"},
	"quiet":   {"what is told=less"},
	"verbose": {"what is told=more"},
}

// said is one value of a setting, or of a flag that is short for none, as the command line gives it.
type said struct{ key, text, value string }

// contradiction returns an error where a command line gives two values to one thing: by a flag that is given twice, by
// --solver.key=value twice, or by one of each. Flags that may be repeated add up.
func contradiction(asked *kong.Context, settings []odes.Setting) error {
	var all []said
	for _, s := range settings {
		all = append(all, said{s.Key, "--" + s.Key + "=" + s.Value, s.Value})
	}
	for _, at := range asked.Path {
		f := at.Flag
		if f == nil || f.IsCumulative() || f.Target.Kind() == reflect.Slice {
			continue
		}
		text, value := "--"+f.Name, ""
		if len(f.Name) == 1 {
			text = "-" + f.Name
		}
		if !f.IsBool() {
			value = given(asked.Args, at)
			text += " " + value
		}
		keys := shorts[f.Name]
		if own := shorts[commandName(asked)+" "+f.Name]; own != nil {
			keys = own
		}
		for _, key := range append(slices.Clone(keys), "--"+f.Name) {
			if name, made, fixed := strings.Cut(key, "="); fixed {
				all = append(all, said{name, text, made})
			} else {
				all = append(all, said{key, text, value})
			}
		}
	}
	for i, s := range all {
		first := slices.IndexFunc(all[:i], func(o said) bool { return o.key == s.key && !alike(o.value, s.value) })
		if first >= 0 {
			return usagef("%s and %s contradict each other; leave one of them out", all[first].text, s.text)
		}
	}
	return nil
}

// given returns the value that a flag with one has at its place among args.
func given(args []string, at *kong.Path) string {
	text := args[len(args)-len(at.Remainder())-1]
	if value, joined := strings.CutPrefix(text, "--"+at.Flag.Name+"="); joined {
		return value
	}
	if short := at.Flag.Short; short != 0 && strings.HasPrefix(text, "-"+string(short)) {
		return text[2:]
	}
	return text
}

// alike reports whether two texts are one value: the same words, lists or numbers.
func alike(a, b string) bool {
	plain := strings.NewReplacer(" ", "", "[", "", "]", "", `"`, "")
	if a, b = plain.Replace(a), plain.Replace(b); a == b {
		return true
	}
	x, wrong := strconv.ParseFloat(a, 64)
	y, wrongToo := strconv.ParseFloat(b, 64)
	return wrong == nil && wrongToo == nil && x == y
}
