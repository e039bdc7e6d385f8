package parser

import (
	"cmp"
	"strings"

	"odes.dev/odes/internal/base/lazy"
	"odes.dev/odes/lang/policy"
)

// Grammar returns the grammar of the language in EBNF: the items as the parser
// has them, and the parts that are parsed by hand.
func Grammar() string {
	g := &grammar{}
	options := grammarOptions(g)
	var out strings.Builder
	out.WriteString("File = Item* .\nItem = ")
	var names, rules []string
	seen := map[string]bool{}
	add := func(ebnf string) {
		for i, line := range strings.Split(strings.TrimSpace(ebnf), "\n") {
			name, _, _ := strings.Cut(readable(line), " ")
			if i == 0 {
				names = append(names, name)
			}
			if !seen[name] {
				seen[name] = true
				rules = append(rules, readable(line))
			}
		}
	}
	for _, rule := range itemRules() {
		_, ebnf := rule.build(g, options)
		add(ebnf())
	}
	out.WriteString("(" + strings.Join(names, " | ") + ") \";\"? .\n" + strings.Join(rules, "\n") + "\n" + byHand)
	var wrapped strings.Builder
	for line := range strings.Lines(out.String()) {
		wrapped.WriteString(fold(strings.TrimRight(line, "\n")))
	}
	return wrapped.String()
}

// partOfGrammar is how participle names a part that is parsed by hand, by its Go type.
var partOfGrammar = lazy.Regexp(`Part\[[\[\]*]*(?:[\w./]*[./])?(\w+)\]`)

// manualNames are the names of the manual for such parts, where they differ.
var manualNames = map[string]string{
	"optName": "Name", "newName": "Name", "keyName": "Key", "Binder": "For", "LValue": "Target", "bounds": "Bounds",
	"moreTime": `("," Expr)`, "Option": `("," ("` + strings.Join(policy.Names(), `" | "`) + `") "=" Expr)`,
	"doseKey": "Name", "dotName": "Dotted", "chosen": `("where" Expr)`,
	"occasions": `("by" Expr)`,
	"unitValue": "Expr", "useKey": "Expr", "drawn": "Expr", "FnDim": "Dims", "Expr": "Shape",
	"blockWord": `("` + strings.Join(Blocks(), `" | "`) + `")`,
}

var (
	itemOfGrammar = lazy.Regexp(`\b(\w+)Item\b`)
	otherNames    = strings.NewReplacer("UnitItem", "UnitDecl", "<prime>", `"'"`)
)

// readable writes a production with the names of the manual.
func readable(line string) string {
	line = partOfGrammar().ReplaceAllStringFunc(line, func(s string) string {
		name := partOfGrammar().FindStringSubmatch(s)[1]
		return cmp.Or(manualNames[name], name)
	})
	return itemOfGrammar().ReplaceAllString(otherNames.Replace(line), "$1")
}

// byHand is the grammar of the parts that hand-written routines parse. A number in brackets tells how tightly an
// operator binds.
const byHand = `Shape = "[" Expr ("," Expr)* "]" .
Bounds = "in" "[" Expr "," Expr "]" .
Target = Name ("[" Sub ("," Sub)* "]")? ("." Name ("[" Sub ("," Sub)* "]")?)* .
Dotted = Name ("." Name)* .
Sub = ":" | Expr (":" Expr (":" Expr)?)? .
For = "for" Binder ("," Binder)* .
Binder = Name "in" Expr ":" Expr (":" Expr)? .
Specie = Number? Target .
Dims = "[" (Name | Number | ":") ("," (Name | Number | ":"))* "]" .
Expr = "if" Expr "then" Expr ("elseif" Expr "then" Expr)* "else" Expr | Expr "or" Expr [1] | Expr "and" Expr [2] | ` +
	`"not" Expr [3] | Expr ("<" | "<=" | ">" | ">=" | "==" | "!=") Expr [4] | ` +
	`Expr "crosses" Expr ("up" | "down")? [4] | ` +
	`Expr ("+" | "-") Expr [5] | Expr ("*" | "/" | "@") Expr [6] | ("-" | "+") Expr [7] | ` +
	`Expr "^" Expr [8] | Postfix .
Postfix = Atom ("(" Args? ")" | "[" Sub ("," Sub)* "]" | "." Name | "as" Unit)* .
Atom = Number Unit? | String | Name | "(" Expr ")" | "[" Args "]" Unit? .
Args = (Expr | Name "=" Expr) ("," (Expr | Name "=" Expr))* | Expr For .
Unit = "[" Factor (("*" | "/") Factor)* "]" .
Factor = (Name | Number | "(" Factor (("*" | "/") Factor)* ")") ` +
	`("^" ("-"? Integer | "(" "-"? Integer "/" Integer ")"))? .
`

// fold breaks a production into lines of about 110 columns.
func fold(line string) string {
	const width = 110
	var out strings.Builder
	column := 0
	for i, w := range strings.Split(line, " ") {
		switch {
		case i == 0:
		case column+1+len(w) > width:
			out.WriteString("\n   ")
			column = 3
			fallthrough
		default:
			out.WriteByte(' ')
			column++
		}
		out.WriteString(w)
		column += len(w)
	}
	out.WriteByte('\n')
	return out.String()
}
