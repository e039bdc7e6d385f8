package main

import (
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/internal/front/analysis"

	"github.com/alecthomas/kong"

	"odes.dev/odes"
	"odes.dev/odes/internal/front/report"
	"odes.dev/odes/lang/keys"
)

func TestSplitSettings(t *testing.T) {
	rest, settings, err := splitSettings([]string{
		"sens", "--solver.rtol=1e-9", "m.ode", "--sens.mode", "tangent", "--solver", "fast", "--set", "a=1",
		"--", "--solver.h0=1",
	})
	if err != nil {
		t.Fatal(err)
	}
	left := []string{"sens", "m.ode", "--solver", "fast", "--set", "a=1", "--", "--solver.h0=1"}
	if !reflect.DeepEqual(rest, left) {
		t.Errorf("left %q, want %q", rest, left)
	}
	taken := []odes.Setting{{Key: "solver.rtol", Value: "1e-9"}, {Key: "sens.mode", Value: "tangent"}}
	if !reflect.DeepEqual(settings, taken) {
		t.Errorf("took %v, want %v", settings, taken)
	}
	for _, bad := range [][]string{{"--solver.rtol"}, {"--fit.over"}} {
		if _, _, err := splitSettings(bad); err == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

// TestShorts: what flags are short for are settings that there are, and flags that there are.
func TestShorts(t *testing.T) {
	root, err := newParser(allCommands(), io.Discard, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	for flag, settings := range shorts {
		command, name, own := strings.Cut(flag, " ")
		if !own {
			name = command
		}
		if !slices.ContainsFunc(root.Model.Children, func(n *kong.Node) bool {
			return (!own || n.Name == command) &&
				slices.ContainsFunc(n.Flags, func(f *kong.Flag) bool { return f.Name == name })
		}) {
			t.Errorf("there is no flag %q", flag)
		}
		for _, key := range settings {
			key, _, _ = strings.Cut(key, "=")
			if block, key, ok := strings.Cut(key, "."); ok && keys.Find(block, key) == nil {
				t.Errorf("%s is short for no setting, %s.%s", flag, block, key)
			}
		}
	}
}

func TestAssignment(t *testing.T) {
	for text, want := range map[string]odes.Assignment{
		"k=3":                     {Name: "k", Values: []float64{3}},
		"A[1,2]=-0.5":             {Name: "A[1,2]", Values: []float64{-0.5}},
		"A=[1, 2,3]":              {Name: "A", Values: []float64{1, 2, 3}},
		"A=[[1,2], [3,4]]":        {Name: "A", Values: []float64{1, 2, 3, 4}},
		"initial(x) = 1e-3":       {Name: "initial(x)", Values: []float64{1e-3}},
		"initial(x)[2]=2":         {Name: "initial(x)[2]", Values: []float64{2}},
		"B=[[[1],[2]],[[3],[4]]]": {Name: "B", Values: []float64{1, 2, 3, 4}},
	} {
		got, err := assignment(text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
		}
	}
	wrong := []string{"", "k", "=3", "k=", "k=x", "k=0x10", "k=1_0", "A=[1,2", "A=[1,,2]", "A=[[1,2],[3]]"}
	for _, text := range wrong {
		if got, err := assignment(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
	for _, text := range []string{"k=1e400", "k=-1e400", "A=[1, 1e400]"} {
		if _, err := assignment(text); err == nil || !strings.Contains(err.Error(), "too large for double precision") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestList(t *testing.T) {
	for text, want := range map[string][]string{
		"":                 nil,
		"J":                {"J"},
		"y[1,2], K":        {"y[1,2]", "K"},
		"k1,A,initial(x)":  {"k1", "A", "initial(x)"},
		"[k1, initial(x)]": {"k1", "initial(x)"},
	} {
		got, err := analysis.List("of", text)
		if err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%q is %q, %v; want %q", text, got, err, want)
		}
	}
	if _, err := analysis.List("of", "a,,b"); err == nil {
		t.Error("a missing name was accepted")
	}
}

func TestTimes(t *testing.T) {
	for text, want := range map[string][]float64{
		"":          nil,
		"0:0.5:2":   {0, 0.5, 1, 1.5, 2},
		"0:0.75:2":  {0, 0.75, 1.5},
		"1:1:1":     {1},
		"0, 1,2.5":  {0, 1, 2.5},
		"[0,1]":     {0, 1},
		"0:0.1:0.3": {0, 0.1, 0.2, 0.3},
	} {
		got, err := analysis.TimesOf(text)
		if err != nil || len(got) != len(want) {
			t.Errorf("%q is %v, %v; want %v", text, got, err, want)
			continue
		}
		for i := range want {
			if diff := got[i] - want[i]; diff > 1e-15 || diff < -1e-15 {
				t.Errorf("%q is %v, want %v", text, got, want)
			}
		}
	}
	for _, text := range []string{
		"0:1", "0:0:1", "0:-1:1", "1:1:0", "0:1e-300:1", "nan:1:2", "2,1", "0,inf", "a", "0:1:2:3", "0::1",
	} {
		if got, err := analysis.TimesOf(text); err == nil {
			t.Errorf("%q was read as %v", text, got)
		}
	}
}

func TestFormat(t *testing.T) {
	c := &call{}
	for _, x := range []struct {
		asked  string
		output string
		want   string
	}{
		{"", "", "table"},
		{"json", "", "json"},
		{"", "a.json", "json"},
		{"", "a.CSV", "csv"},
		{"", "dir.d/a", "table"},
		{"", "a.txt", "table"},
		{"npz", "a.json", "npz"},
	} {
		asked := formatFlag{report.FormatNamed(x.asked)}
		got, err := c.format("sens", asked, x.output)
		if err != nil || got.Name != x.want {
			t.Errorf("--format %q -o %q is %v, %v; want %q", x.asked, x.output, got, err, x.want)
		}
	}
	err := new(formatFlag).UnmarshalText([]byte("xml"))
	if want := `there is no format "xml", only table, json, `; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("--format xml says %v, want %s", err, want)
	}
	for _, name := range report.Names(report.Formats()) {
		if !slices.Contains(strings.Fields(strings.ReplaceAll(err.Error(), ",", "")), name) {
			t.Errorf("--format xml says %v, and leaves out %s", err, name)
		}
	}
	for output, want := range map[string]string{
		"a.xlsx": `cannot tell the format from "a.xlsx": add --format table or json`,
		"a.html": `cannot tell the format from "a.html": add --format table or json; odes report writes pages`,
		"a.csv":  "odes bench does not write csv: choose table or json",
	} {
		if _, err := c.format("bench", formatFlag{}, output); err == nil || err.Error() != want {
			t.Errorf("-o %s says %v, want %s", output, err, want)
		}
	}
}
