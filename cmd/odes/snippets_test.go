package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// snippets are small wrong programs and, with an empty want, right ones that a
// careless parser refuses. What is wrong comes as "line:column code".
var snippets = map[string]string{
	"01_missing_rhs":     "2:5 missing-expression",
	"02_missing_close":   "2:13 unclosed-bracket",
	"03_juxtapose":       "2:9 missing-operator",
	"04_chained":         "1:18 chained-comparison",
	"05_noelse":          "1:24 missing-else",
	"06_reserved":        "1:7 reserved-word",
	"07_unit_index":      "1:13 numeric-unit, 2:16 numeric-unit",
	"08_badunit":         "1:16 bad-unit",
	"09_assign_in_when":  "1:16 assignment-in-condition",
	"10_python_pow":      "1:9 undefined-name, 1:10 foreign-operator",
	"12_modelica":        "1:1 foreign-derivative",
	"13_ddt":             "1:1 foreign-derivative",
	"14_missing_brace":   "1:29 unclosed-bracket",
	"15_boundstypo":      "1:16 bad-bounds",
	"16_for_range":       "1:23 bad-range",
	"17_unicode":         "",
	"18_crlf_semis":      "",
	"19_neg_line":        "1:9 undefined-name, 2:3 undefined-name, 3:9 undefined-name, 4:1 bracket-on-new-line",
	"20_event_at":        "",
	"21_amp":             "1:9 undefined-name, 1:11 foreign-operator, 1:13 undefined-name",
	"22_emptyeq":         "1:8 missing-expression",
	"23_prime_transpose": "1:9 undefined-name, 1:10 misplaced-prime, 1:14 undefined-name",
	"24_stringquote":     "1:14 single-quoted-string",
	"25_range_step":      "",
	"26_dotnum":          "",
	"27_minuspow":        "",
	"28_contextual":      "",
	"29_two_errors": "2:11 missing-expression, 3:17 unclosed-bracket, 4:8 foreign-operator, 5:25 " +
		"missing-expression",
	"30_units": "",
}

func TestSnippets(t *testing.T) {
	files, err := filepath.Glob(filepath.Join("testdata", "snippets", "*.ode"))
	if err != nil || len(files) != len(snippets) {
		t.Fatalf("%d files for %d rows: %v", len(files), len(snippets), err)
	}
	for _, path := range files {
		name := strings.TrimSuffix(filepath.Base(path), ".ode")
		t.Run(name, func(t *testing.T) {
			want, ok := snippets[name]
			if !ok {
				t.Fatal("there is no row for this file")
			}
			if want == "" { // right syntax; names may be missing
				if status, errs := command(t, "emit", "--stage", "ast", path); status != exitDone {
					t.Errorf("refused with status %d:\n%s", status, errs)
				}
				return
			}
			status, errs := command(t, "check", "--format", "json", path)
			if status != exitModel {
				t.Errorf("exit status %d, want %d", status, exitModel)
			}
			var got []string
			for line := range strings.Lines(errs) {
				var d struct {
					Code, Level, Message string
					Line, Column         int
				}
				if err := json.Unmarshal([]byte(line), &d); err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if d.Level == "error" {
					got = append(got, fmt.Sprintf("%d:%d %s", d.Line, d.Column, d.Code))
				}
				if d.Message == "" || strings.HasSuffix(d.Message, ".") && !strings.HasSuffix(d.Message, "...") {
					t.Errorf("the message is %q", d.Message)
				}
			}
			if g := strings.Join(got, ", "); g != want {
				t.Errorf("got  %s\nwant %s", g, want)
			}
		})
	}
}

// command runs the command line and returns its exit status and what it wrote to standard error.
func command(t *testing.T, args ...string) (status int, errs string) {
	t.Helper()
	var out, e bytes.Buffer
	status = run(t.Context(), args, bytes.NewReader(nil), &out, &e)
	return status, e.String()
}

// TestAnyBytes feeds the command what no person would write: it must answer, with status 1.
func TestAnyBytes(t *testing.T) {
	dir := t.TempDir()
	for i, text := range []string{
		"\x00\xff\xfe", strings.Repeat("(", 10000), "model", "state x = 1e999\nx'=x", strings.Repeat("-", 10000) + "1",
		"time t from 1 to 0\nstate x=1\nx'=x",
	} {
		path := filepath.Join(dir, fmt.Sprintf("%d.ode", i))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		status, errs := command(t, "sens", path)
		if status != exitModel && status != exitRun || strings.Contains(errs, "internal error") {
			t.Errorf("%.20q: status %d\n%.300s", text, status, errs)
		}
	}
}
