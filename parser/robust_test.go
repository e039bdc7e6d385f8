package parser

import (
	"strings"
	"testing"
	"time"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
)

// TestHostile feeds texts that break careless parsers: each ends soon, without
// a panic, and with the error that is expected ("" for none).
func TestHostile(t *testing.T) {
	const n = 100_000
	rep := strings.Repeat
	for name, c := range map[string]struct {
		text string
		code diag.Code
	}{
		"parentheses":      {"let a = " + rep("(", n) + "1" + rep(")", n), CodeDepth},
		"open only":        {"let a = " + rep("(", n), CodeDepth},
		"brackets":         {"let a = " + rep("[", n) + rep("]", n), CodeDepth},
		"subscripts":       {rep("a[", n) + rep("]", n) + "' = 1", CodeItem},
		"index in index":   {"let a = " + rep("a[", n), CodeDepth},
		"calls":            {"let a = " + rep("f(", n), CodeDepth},
		"braces":           {rep("{", n), CodeItem},
		"signs":            {"let a = " + rep("-", n) + "1", CodeDepth},
		"powers":           {"let a = 2" + rep("^2", n), CodeDepth},
		"nots":             {"let a = " + rep("not ", n) + "b", CodeDepth},
		"ifs":              {"let a = " + rep("if b then ", n), CodeDepth},
		"elses":            {"let a = " + rep("if b then c else ", n) + "d", CodeDepth},
		"elseifs":          {"let a = if b then c" + rep(" elseif b then c", n) + " else d", CodeDepth},
		"sum":              {"let a = 1" + rep(" + 1", n), CodeDepth},
		"sum of thousands": {"let a = 1" + rep(" + 1", 10_000), ""},
		"postfix":          {"let a = f" + rep("[1]", n), CodeDepth},
		"unit groups":      {"let a = 1 [" + rep("(", n), CodeDepth},
		"unit factors":     {"let a = 1 [m" + rep("*m", n) + "]", ""},
		"long name":        {"let " + rep("a", 10*n) + " = 1", ""},
		"long number":      {"let a = " + rep("9", 10*n), CodeNumber},
		"long string":      {`let a = "` + rep("x", 10*n) + `"`, ""},
		"long line":        {rep("param a = 1; ", n/10), ""},
		"long bad line":    {rep("param a = ; ", n), CodeMissingExpr},
		"garbage":          {rep("foo ", n), CodeItem},
		"quotes":           {rep(`"`, n) + "\n" + rep("`", n), CodeQuotedName},
		"zeros":            {rep("\x00", 10*n), CodeEncoding},
		"utf-16":           {"\xff\xfet\x00i\x00m\x00e\x00", CodeEncoding},
		"invalid":          {rep("\xff a ", n), CodeEncoding},
		"empty":            {"", ""},
		"blank":            {rep(" \n", n), ""},
		"comments":         {rep("# text\n", n), ""},
		"docs":             {rep("## text\n", n) + "let a = 1", ""},
		"array":            {"let a = [1" + rep(", 1", n/4) + "]", ""},
		"variables":        {"param a = 1" + rep(", a = 1", n/10), ""},
		"body":             {"event when x > 1 {" + rep(" a = 1;", n/10) + " }", ""},
		"settings":         {"data d {" + rep(" a = 1", n/10) + " }", ""},
		"events":           {rep("event when x > 1 { a = 1 }\n", n/10), ""},
		"primes":           {rep("x'", n), CodeUnexpected},
		"unclosed bodies":  {rep("event when x > 1 { a = 1\n", n/10), CodeUnclosed},
	} {
		t.Run(name, func(t *testing.T) {
			start := time.Now()
			var l diag.List
			tree := Parse(source.NewFile("f.ode", c.text), &l)
			all := l.All()
			if len(all) > maxErrors+20 {
				t.Errorf("%d diagnostics", len(all))
			}
			found := diag.Code("")
			if len(all) > 0 {
				found = all[0].Code
			}
			if found != c.code {
				t.Errorf("first code %q, want %q", found, c.code)
			}
			if err := diag.Write(new(strings.Builder), all, diag.Plain); err != nil {
				t.Error(err)
			}
			if c.code == "" {
				if _, err := format(tree); err != nil {
					t.Error(err)
				}
			}
			if d := time.Since(start); d > time.Minute {
				t.Errorf("took %v", d)
			} else if d > 500*time.Millisecond {
				t.Logf("took %v", d)
			}
		})
	}
}

// TestTooMany checks that a file full of mistakes ends in one note.
func TestTooMany(t *testing.T) {
	var l diag.List
	Parse(source.NewFile("f.ode", strings.Repeat("let a =\n", 1000)), &l)
	all := l.All()
	if n := len(all); n != maxErrors+1 || all[n-1].Code != CodeTooMany {
		t.Errorf("%d diagnostics, the last %q", n, all[n-1].Code)
	}
}

// TestExpr checks ParseExpr at its ends.
func TestExpr(t *testing.T) {
	for text, code := range map[string]diag.Code{
		"1 + 2*x[end]":        "",
		"sum(i for i in 1:3)": "",
		"":                    CodeMissingExpr,
		"1 2":                 CodeMissingOperator,
		"1)":                  CodeUnexpected,
		"a = 1":               CodeCondition,
		"a\nb":                CodeUnexpected,
		"param":               CodeMissingExpr,
	} {
		var l diag.List
		x := ParseExpr(source.NewFile("expr", text), &l)
		got := diag.Code("")
		if l.Len() > 0 {
			got = l.All()[0].Code
		}
		if got != code {
			t.Errorf("%q: code %q, want %q", text, got, code)
		}
		if x == nil {
			t.Errorf("%q: no expression", text)
		}
		if code == "" && ast.ExprString(x) != text {
			t.Errorf("%q is written %q", text, ast.ExprString(x))
		}
	}
}
