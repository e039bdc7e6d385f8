package emit

import (
	"fmt"
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
)

// Coefficients holds the constants and tables of internal/base/elem, by name.
type Coefficients map[string][]float64

// LoadCoefficients reads the file coef.go of internal/base/elem, so that kernels and specification share
// one source.
func LoadCoefficients(path string) (Coefficients, error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
	if err != nil {
		return nil, err
	}
	all := Coefficients{}
	for _, d := range file.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok {
			continue
		}
		for _, s := range g.Specs {
			v, ok := s.(*ast.ValueSpec)
			if !ok {
				continue
			}
			for i, name := range v.Names {
				x, err := numbers(v.Values[i])
				if err != nil {
					return nil, fmt.Errorf("%s: %w", name.Name, err)
				}
				all[name.Name] = x
			}
		}
	}
	return all, nil
}

// numbers evaluates a literal, or the elements of a composite literal.
func numbers(e ast.Expr) ([]float64, error) {
	switch e := e.(type) {
	case *ast.CompositeLit:
		var out []float64
		for _, x := range e.Elts {
			y, err := numbers(x)
			if err != nil {
				return nil, err
			}
			out = append(out, y...)
		}
		return out, nil
	case *ast.UnaryExpr:
		x, err := numbers(e.X)
		if err != nil || e.Op != token.SUB || len(x) != 1 {
			return nil, fmt.Errorf("not a number: %v", err)
		}
		return []float64{-x[0]}, nil
	case *ast.BasicLit:
		x, _ := constant.Float64Val(constant.ToFloat(constant.MakeFromLiteral(e.Value, e.Kind, 0)))
		return []float64{x}, nil
	}
	return nil, fmt.Errorf("not a literal: %T", e)
}
