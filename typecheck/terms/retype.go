package terms

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/types"
)

// Retype returns e with another type: the same values in another unit.
func Retype(e model.Expr, t types.Type) model.Expr {
	switch e := e.(type) {
	case *model.Const:
		return model.Seal(&model.Const{Base: model.NewBase(t, e.S), Data: e.Data})
	case *model.Ref:
		return model.Seal(&model.Ref{Base: model.NewBase(t, e.S), Sym: e.Sym})
	case *model.LoopVar:
		return model.Seal(&model.LoopVar{Base: model.NewBase(t, e.S), Index: e.Index})
	case *model.Call:
		return model.Seal(&model.Call{
			Base: model.NewBase(t, e.S), Fn: e.Fn, Args: e.Args, Search: e.Search, Table: e.Table, Control: e.Control,
		})
	case *model.Access:
		return model.Seal(&model.Access{Base: model.NewBase(t, e.S), X: e.X, Subs: e.Subs})
	case *model.Assemble:
		return model.Seal(&model.Assemble{Base: model.NewBase(t, e.S), Pieces: e.Pieces})
	case *model.Reduce:
		return model.Seal(&model.Reduce{Base: model.NewBase(t, e.S), Fn: e.Fn, Indices: e.Indices, Body: e.Body})
	case *model.If:
		return model.Seal(&model.If{
			Base: model.NewBase(t, e.S), Cond: e.Cond, Then: e.Then, Else: e.Else,
			Static: e.Static,
		})
	case *model.Stack:
		return model.Seal(&model.Stack{Base: model.NewBase(t, e.S), Elems: e.Elems})
	case *model.NoEvent:
		return model.Seal(&model.NoEvent{Base: model.NewBase(t, e.S), X: e.X})
	case *model.Limit:
		return model.Seal(&model.Limit{Base: model.NewBase(t, e.S), X: e.X, Post: e.Post})
	case *model.Functional:
		f := *e
		f.Base = model.NewBase(t, e.S)
		return model.Seal(&f)
	case *model.Row:
		return model.Seal(&model.Row{Base: model.NewBase(t, e.S), Table: e.Table, Column: e.Column})
	}
	return e
}
