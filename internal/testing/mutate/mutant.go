package main

import (
	"crypto/sha256"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// mutant is a change of a text: other takes the place of the bytes from to to.
type mutant struct {
	path     string
	line     int
	column   int
	from, to int
	was      string
	other    string
	within   string // the declaration around it
	nth      int    // of the same changes there
}

func (m mutant) String() string {
	short := func(s string) string {
		s = strings.Join(strings.Fields(s), " ")
		if r := []rune(s); len(r) > 60 {
			s = string(r[:60]) + "…"
		}
		return s
	}
	return fmt.Sprintf("%s:%d:%d: %s → %s", m.path, m.line, m.column, short(m.was), short(m.other))
}

// hash orders mutants in a way that does not depend on other declarations: a sample stays what it is, but for those
// that change.
func (m mutant) hash(seed int) []byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "%d %s %s %s %d %s", seed, m.path, m.within, m.was, m.nth, m.other))
	return sum[:]
}

func (m mutant) apply(text []byte) []byte {
	other := m.other
	if strings.HasSuffix(other, "+1") {
		other = "(" + other + ")"
	}
	return slices.Concat(text[:m.from], []byte(other), text[m.to:])
}

// swaps lists what is written instead of an operator.
var swaps = map[token.Token][]token.Token{
	token.LSS: {token.LEQ, token.GEQ}, token.LEQ: {token.LSS, token.GTR},
	token.GTR: {token.GEQ, token.LEQ}, token.GEQ: {token.GTR, token.LSS},
	token.EQL: {token.NEQ}, token.NEQ: {token.EQL},
	token.ADD: {token.SUB}, token.SUB: {token.ADD}, token.MUL: {token.QUO}, token.QUO: {token.MUL},
	token.LAND: {token.LOR}, token.LOR: {token.LAND},
	token.ADD_ASSIGN: {token.SUB_ASSIGN}, token.SUB_ASSIGN: {token.ADD_ASSIGN},
	token.MUL_ASSIGN: {token.QUO_ASSIGN}, token.QUO_ASSIGN: {token.MUL_ASSIGN},
	token.INC: {token.DEC}, token.DEC: {token.INC},
	token.BREAK: {token.CONTINUE}, token.CONTINUE: {token.BREAK},
}

// mutants lists the changes of a file that are tried. Texts of messages, and what only panics, are left alone.
func mutants(path string, text []byte) ([]mutant, error) {
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var list []mutant
	type change struct{ within, was, other string }
	seen := map[change]int{}
	within := "" // which of the file's declarations
	add := func(from token.Pos, was, other string) {
		place := set.Position(from)
		nth := seen[change{within, was, other}]
		seen[change{within, was, other}]++
		list = append(list, mutant{
			path: path, line: place.Line, column: place.Column, from: place.Offset, to: place.Offset + len(was),
			was: was, other: other, within: within, nth: nth,
		})
	}
	between := func(n ast.Node) string {
		return string(text[set.Position(n.Pos()).Offset:set.Position(n.End()).Offset])
	}
	operator := func(at token.Pos, is token.Token) {
		for _, t := range swaps[is] {
			add(at, is.String(), t.String())
		}
	}
	look := func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncDecl:
			return n.Body != nil && n.Name.Name != "String" && n.Name.Name != "Error"
		case *ast.GenDecl:
			return n.Tok == token.VAR
		case *ast.CallExpr:
			return !speaks(n)
		case *ast.BinaryExpr:
			operator(n.OpPos, n.Op)
		case *ast.IncDecStmt:
			operator(n.TokPos, n.Tok)
		case *ast.BranchStmt:
			if n.Label == nil {
				operator(n.TokPos, n.Tok)
			}
		case *ast.AssignStmt:
			operator(n.TokPos, n.Tok)
			if n.Tok != token.DEFINE { // the variable stays declared
				add(n.Pos(), between(n), "_ = 0")
			}
		case *ast.ExprStmt:
			if call, ok := n.X.(*ast.CallExpr); ok && !speaks(call) {
				add(n.Pos(), between(n), "_ = 0")
			}
		case *ast.IfStmt:
			add(n.Cond.Pos(), between(n.Cond), "!("+between(n.Cond)+")")
		case *ast.BasicLit:
			if n.Kind == token.INT && len(n.Value) < 3 {
				add(n.Pos(), n.Value, n.Value+"+1")
			}
		case *ast.Ident:
			if n.Name == "true" {
				add(n.Pos(), n.Name, "false")
			} else if n.Name == "false" {
				add(n.Pos(), n.Name, "true")
			}
		}
		return true
	}
	for _, d := range file.Decls {
		within = name(d)
		ast.Inspect(d, look)
	}
	return list, nil
}

// name returns that of a declaration: of a function with its receiver, of variables that of the first.
func name(d ast.Decl) string {
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv != nil {
			return types.ExprString(d.Recv.List[0].Type) + "." + d.Name.Name
		}
		return d.Name.Name
	case *ast.GenDecl:
		for _, s := range d.Specs {
			if v, ok := s.(*ast.ValueSpec); ok {
				return v.Names[0].Name
			}
		}
	}
	return ""
}

// speaks tells whether a call writes a message or ends the program.
func speaks(call *ast.CallExpr) bool {
	switch f := call.Fun.(type) {
	case *ast.Ident:
		return f.Name == "panic"
	case *ast.SelectorExpr:
		x, ok := f.X.(*ast.Ident)
		return ok && (x.Name == "fmt" || x.Name == "errors")
	}
	return false
}
