package parser

import (
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
)

// otherLanguage is a language whose files people take for models.
type otherLanguage struct {
	name   string
	advice string // how to write here what its words say
	cues   int    // how many lines must look like it
	cue    func(c *cursor, t, a, b *ast.Token) bool
}

// word reports whether t is one of words, in small or capital letters.
func word(t *ast.Token, words ...string) bool {
	return (t.Kind == ast.IdentToken || t.Kind == ast.KeywordToken) && slices.Contains(words, strings.ToLower(t.Text))
}

// otherLanguages are recognised by how their lines start, which no line of a model does: t is the first token, a and b
// stand behind it.
var otherLanguages = []otherLanguage{
	{"an XPPAUT file", "write par as `param`, init and x(0)= as `state x = …`, aux as `output`, @ total as " +
		"`time`", 1, func(_ *cursor, t, a, b *ast.Token) bool {
		if word(t, "done") {
			return a.Kind == ast.EOF
		}
		return word(t, "init", "par", "p", "number", "aux") && a.Kind == ast.IdentToken && !a.NewLine &&
			isToken(b, "=") && !b.NewLine
	}},
	{
		"a NONMEM or mrgsolve file", "write DADT(1) or dxdt_A as A' = …, THETA and $PARAM as `param`, " +
			"compartments as " +
			"`state`, $ERROR and $TABLE as `observe` or `output`, doses as `event`", 1,
		func(_ *cursor, t, a, _ *ast.Token) bool {
			return isToken(t, "$") && a.Start == t.End && (a.Kind == ast.IdentToken || a.Kind == ast.KeywordToken)
		},
	},
	{"a Stan program", "write parameters as `param k = 1 ~ lognormal(0, 1)`, the system as `state` and x' = …, " +
		"data as `data`, y ~ normal(…) as `observe`", 2, func(_ *cursor, t, a, _ *ast.Token) bool {
		if word(t, "generated", "transformed") {
			return word(a, "quantities", "data", "parameters")
		}
		return word(t, "functions", "data", "parameters", "model") && isToken(a, "{")
	}},
	{
		"a program in Julia", "write @parameters as `param`, @variables as `state`, D(x) ~ … as x' = …", 1,
		func(_ *cursor, t, a, b *ast.Token) bool {
			if isToken(t, "@") && a.Start == t.End {
				return word(a, "parameters", "variables", "species", "constants", "mtkmodel", "named",
					"reaction_network", "independent_variables")
			}
			return word(t, "using") && a.Kind == ast.IdentToken && !a.NewLine &&
				(b.NewLine || isToken(b, ",") || isToken(b, ":"))
		},
	},
	{
		"a program in Julia", "write each du[1] = … as x' = …, u0 as `state x = 1`, p as `param`, tspan as `time`", 1,
		func(c *cursor, t, a, b *ast.Token) bool {
			return !word(&c.tokens[0], "model", "time", "param", "state") && word(t, "function") && isName(a) &&
				!a.NewLine && (isToken(b, "(") || isToken(b, "!")) && strings.Contains(c.file.Text(), "\nend")
		},
	},
	{
		"SBML, CellML or other XML", "odes import translates SBML; of others write variables as `state` and `param`, " +
			"reactions as `reaction r: A -> B rate k*A`, rules as x' = … and `let`", 1,
		func(c *cursor, t, a, _ *ast.Token) bool {
			return isToken(t, "<") && t == &c.tokens[0] && a.Start == t.End &&
				(isToken(a, "?") || isToken(a, "!") || a.Kind == ast.IdentToken)
		},
	},
	{
		"a Matlab function", "write dydt = [y(2); …] as y[1]' = y[2] …, or with a name for each state; y0 as " +
			"`state y[2] = …`, tspan as `time`", 1,
		func(c *cursor, t, a, b *ast.Token) bool {
			return word(t, "function") && (isToken(a, "[") || a.Kind == ast.IdentToken && isToken(b, "=") &&
				isName(c.ahead(3)) && isToken(c.ahead(4), "("))
		},
	},
	{
		"a program in Python", "write each derivative that the function returns as x' = …, y0 as `state x = 1`, " +
			"parameters as `param`", 2,
		func(_ *cursor, t, a, b *ast.Token) bool {
			return word(t, "def") && a.Kind == ast.IdentToken && isToken(b, "(") ||
				word(t, "import", "from") && word(a, "numpy", "scipy", "matplotlib", "pandas", "jax", "tellurium")
		},
	},
	{"JSON", "write each value as an item: param k = 1, state x = 2", 1, func(c *cursor, t, a, b *ast.Token) bool {
		return isToken(t, "{") && t == &c.tokens[0] && a.Kind == ast.StringToken && isToken(b, ":")
	}},
	{
		"a Modelica model", "write Real x(start = 1) as `state x = 1`, der(x) = … as x' = …, and no end", 2,
		func(_ *cursor, t, a, _ *ast.Token) bool {
			if a.NewLine {
				return word(t, "equation")
			}
			return word(t, "end") && a.Kind == ast.IdentToken || word(t, "parameter") && word(a, "real", "integer")
		},
	},
}

// foreignFile reports, once, that a file is in another language. It returns whether it did.
func (r *reporter) foreignFile() bool {
	depth := 0
	seen := make([]int, len(otherLanguages))
	defer func() { r.i = 0 }()
	for i := range r.tokens {
		t := &r.tokens[i]
		starts := depth == 0 && t.NewLine && t.Kind != ast.EOF && (i == 0 || r.breaksAfter(i-1))
		switch {
		case isToken(t, "(") || isToken(t, "[") || isToken(t, "{"):
			depth++
		case isToken(t, ")") || isToken(t, "]") || isToken(t, "}"):
			depth--
		}
		if !starts {
			continue
		}
		r.i = i
		for k := range otherLanguages {
			f := &otherLanguages[k]
			if !f.cue(&r.cursor, t, r.ahead(1), r.ahead(2)) {
				continue
			}
			if seen[k]++; seen[k] == f.cues {
				r.diags.Errorf(CodeForeignFile, r.at(t),
					"this looks like %s, a language of its own: %s; see docs/language.md, From other programs",
					f.name, f.advice)
				return true
			}
		}
	}
	return false
}
