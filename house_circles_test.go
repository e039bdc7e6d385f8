package odes_test

import (
	"go/ast"
	"go/token"
	"go/types"
)

// circle returns the number of files in the largest circle of a package: files each of which uses what another one of
// them declares, so that none can be understood without all.
func circle(set *token.FileSet, files []*ast.File) (most int) {
	// What is imported is left empty, as in upward.
	info := &types.Info{Uses: map[*ast.Ident]types.Object{}}
	config := types.Config{Error: func(error) {}, Importer: emptyPackages{}}
	p, _ := config.Check("p", set, files, info)
	uses := map[*token.File]map[*token.File]bool{}
	for name, x := range info.Uses {
		v, is := x.(*types.Var)
		f, method := x.(*types.Func)
		inside := x.Parent() == p.Scope() || is && v.IsField() || method && f.Signature().Recv() != nil
		from, to := set.File(name.Pos()), set.File(x.Pos())
		if x.Pkg() == p && inside && from != to {
			if uses[from] == nil {
				uses[from] = map[*token.File]bool{}
			}
			uses[from][to] = true
		}
	}
	// Tarjan's algorithm.
	number, low, open := map[*token.File]int{}, map[*token.File]int{}, map[*token.File]bool{}
	var stack []*token.File
	var visit func(f *token.File)
	visit = func(f *token.File) {
		number[f] = len(number) + 1
		low[f] = number[f]
		stack, open[f] = append(stack, f), true
		for to := range uses[f] {
			if number[to] == 0 {
				visit(to)
				low[f] = min(low[f], low[to])
			} else if open[to] {
				low[f] = min(low[f], number[to])
			}
		}
		if low[f] < number[f] {
			return
		}
		for n := 1; ; n++ {
			last := stack[len(stack)-1]
			stack, open[last] = stack[:len(stack)-1], false
			if last == f {
				most = max(most, n)
				return
			}
		}
	}
	for f := range uses {
		if number[f] == 0 {
			visit(f)
		}
	}
	return most
}
