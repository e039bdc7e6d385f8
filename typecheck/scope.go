package typecheck

import (
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
)

// place says what an expression may refer to, depending on where it stands.
type place struct {
	name  string // "the default of a param"
	knows string // "consts and other params"
	allow model.Uses
	fixed bool // it must be known at compile time
	// instead says what else to write where a param is meant.
	instead string
}

const (
	usesRun = model.UsesTime | model.UsesParam | model.UsesState | model.UsesDiscrete
)

var (
	placeConst  = &place{name: "a const", knows: "consts", fixed: true}
	placeColumn = &place{name: "a column of data", knows: "consts", fixed: true}
	placeMass   = &place{
		name: "a mass matrix", knows: "consts", fixed: true,
		instead: "write the equations out, with an `alg` for each rate that several of them share",
	}
	placeShape   = &place{name: "an index", knows: "consts and loop variables", fixed: true}
	placeParam   = &place{name: "the default of a param", knows: "consts and other params", allow: model.UsesParam}
	placeBound   = &place{name: "a bound of a param", knows: "consts and other params", allow: model.UsesParam}
	placeTime    = &place{name: "a bound of the time", knows: "consts and params", allow: model.UsesParam}
	placePeriod  = &place{name: "the period of a steady state", knows: "consts and params", allow: model.UsesParam}
	placeInitial = &place{
		name: "an initial value", knows: "consts, params, the initial time and other initial values",
		allow: usesRun,
	}
	placeRun   = &place{name: "an equation", knows: "everything but functionals", allow: usesRun}
	placeLet   = &place{name: "a let", knows: "everything but functionals", allow: usesRun}
	placeEvent = &place{name: "an event", knows: "everything but functionals", allow: usesRun}
	placeWhen  = &place{
		name: "the time of an event", knows: "consts, params and discretes",
		allow: model.UsesParam | model.UsesDiscrete,
	}
	placeInterval = &place{name: "a time of an objective", knows: "consts and params", allow: model.UsesParam}
	placeGoal     = &place{
		name: "an objective", knows: "functionals, consts and params",
		allow: model.UsesParam | model.UsesFunctional,
	}
	placeOverride = &place{
		name: "the value of a param in an experiment", knows: "consts and params",
		allow: model.UsesParam,
	}
	placeWhere  = &place{name: "`where`", knows: "the columns of the table and consts", fixed: true}
	placeAssert = &place{name: "an assertion", knows: "consts and params", allow: model.UsesParam}
)

// context is where an expression is elaborated.
type context struct {
	place  *place
	scope  *scope
	module *module    // the module whose names are visible; nil for the model itself
	guards []guard    // conditions on indices under which it is evaluated
	rows   *rowsOf    // in the noise of an observation: the table whose columns are read row by row
	table  *dataTable // in `where`: the table whose columns are names
	group  *group     // in the items of an experiment that is made from rows of a table
	dose   *dose      // in those of an event with an element for each row of a table
	end    int        // value of `end`, 0 outside an index

	sparse   bool // a large sparse matrix may stand here
	looped   bool // in an index on the left of a definition, whose values a loop gives
	compared bool // a side of == or !=
	before   bool // params have the values that they have without the experiment
	course   bool // in the knots and values of interp: columns of tables are whole

	keeper *keeper // in the body of an event with a delay

	body   *model.Event // inside at_event, for the rule on limits; nil elsewhere
	limits bool         // pre and post are allowed
	limit  bool         // inside pre or post
}

// texts reports whether a text may stand here: where rows are chosen, and where the values of an experiment that is
// made from a table compare it.
func (x *context) texts() bool {
	return x.place == placeWhere ||
		x.compared && x.group != nil && (x.place == placeOverride || x.place == placeConst)
}

// scope is a chain of local names: loop variables, function parameters, local lets.
type scope struct {
	outer *scope
	name  string
	value model.Expr
	span  source.Span
}

func (s *scope) find(name string) *scope {
	for ; s != nil; s = s.outer {
		if s.name == name {
			return s
		}
	}
	return nil
}

func (x context) with(name string, value model.Expr, span source.Span) context {
	x.scope = &scope{outer: x.scope, name: name, value: value, span: span}
	return x
}

func (x context) at(p *place) context {
	x.place = p
	return x
}

// guard is a condition on indices that holds (or, negated, does not) where an expression is evaluated.
type guard struct {
	cond   model.Expr
	negate bool
}

func (x context) under(cond model.Expr, negate bool) context {
	x.guards = append(x.guards[:len(x.guards):len(x.guards)], guard{cond, negate})
	return x
}
