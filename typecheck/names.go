package typecheck

import (
	"fmt"
	"slices"
	"strings"

	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/parser"
	"odes.dev/odes/stdlib"
)

// entityKind says what a global name stands for.
type entityKind uint8

const (
	constName entityKind = iota
	paramName
	stateName
	discreteName
	timeName
	letName
	fnName
	eventName
	dataName
	observeName
	objectiveName
	constraintName
	reactionName
	moduleName
	experimentName
	controlName
	algName
	laterName // declared by a construct that is not available, which is reported once
)

// String returns the kind with its article, as messages name it.
func (k entityKind) String() string {
	return [...]string{
		"a const", "a param", "a state", "a discrete", "the time", "a let", "a function", "an event",
		"a data table", "an observation", "an objective", "a constraint", "a reaction", "a module", "an experiment",
		"a control", "an alg", "unavailable",
	}[k]
}

// entity is a global name. What it means is worked out when it is first needed.
type entity struct {
	name  string
	kind  entityKind
	span  source.Span // of the name
	stage uint8       // 0 untouched, 1 being worked out, 2 done
	doc   string

	variable *ast.Var
	control  *ast.Control
	time     *ast.Time
	lets     []*ast.Let
	fn       *ast.Fn
	data     *ast.Data
	observe  *ast.Observe
	output   bool

	condition bool // a param that `equilibrate` sets

	value  model.Expr    // of consts and lets, and what an experiment gives to a param
	sym    *model.Symbol // of params, states, discretes and the time
	before model.Expr    // for a const that the experiment sets: its value without the experiment
	stand  *model.Symbol // for a param that the experiment sets
	held   *model.Symbol // for a param that `equilibrate` sets: the discrete that holds its value
	event  *model.Event
	table  *dataTable

	module *module // of an `import … as`
	home   *module // the file that declares it; nil for the model itself
}

// entered declares a global name with its doc. Where that was reported, it returns an entity that nobody finds.
func entered(c *checker, id ast.Ident, kind entityKind, doc string) *entity {
	e := c.declare(id, kind)
	if e == nil {
		return &entity{}
	}
	e.doc = doc
	return e
}

// listed is entered for an item that is one of a list, unless its name was reported.
func listed[T any](c *checker, id ast.Ident, kind entityKind, doc string, list *[]T, item T) *entity {
	e := entered(c, id, kind, doc)
	if e.name != "" {
		*list = append(*list, item)
	}
	return e
}

// collect declares the names of the file and sorts its items by kind.
func (c *checker) collect() {
	var imports []*ast.Import
	var lost []*ast.Bad
	for _, item := range c.file.Items {
		switch it := item.(type) {
		case *ast.Model:
			if c.model.Name != "" {
				c.errorf(CodeDuplicate, it.Span, "a file has one model item; remove this one")
				continue
			}
			c.model.Name = it.Name.Name
			if it.Title != nil {
				c.model.Title = it.Title.Value
			}
		case *ast.Import:
			imports = append(imports, it)
		case *ast.UnitDecl:
			c.declareUnit(it)
		case *ast.Time:
			entered(c, it.Name, timeName, it.Doc).time = it
		case *ast.Decl:
			for _, v := range it.Vars {
				kind := [...]entityKind{constName, paramName, stateName, algName, discreteName, paramName}[it.Kind]
				if e := c.declare(v.Name, kind); e != nil {
					e.variable, e.doc = v, v.Doc
					enterRandom(c, e, it.Kind)
				}
			}
		case *ast.Control:
			e := entered(c, it.Var.Name, controlName, it.Var.Doc)
			e.variable, e.control = it.Var, it
		case *ast.Let:
			c.collectLet(it)
		case *ast.Report:
			c.reports = append(c.reports, it)
		case *ast.Fn:
			entered(c, it.Name, fnName, it.Doc).fn = it
		case *ast.Event:
			c.events = append(c.events, it)
			if it.Name != nil {
				entered(c, *it.Name, eventName, it.Doc)
			}
		case *ast.Reaction:
			c.reactions = append(c.reactions, it)
			c.declare(it.Name, reactionName)
		case *ast.Equilibrate:
			c.equilibrate(it)
		case *ast.Experiment:
			listed(c, it.Name, experimentName, it.Doc, &c.experiments, it)
		case *ast.Data:
			entered(c, it.Name, dataName, it.Doc).data = it
		case *ast.Observe:
			listed(c, it.Name, observeName, it.Doc, &c.observes, it).observe = it
		case *ast.Objective:
			listed(c, it.Target.Name, objectiveName, it.Doc, &c.objectives, item)
		case *ast.Constraint:
			listed(c, it.Name, constraintName, it.Doc, &c.objectives, item)
		case *ast.Invariant:
			c.invariants = append(c.invariants, it)
		case *ast.Assert:
			c.asserts = append(c.asserts, it)
		case *ast.Settings:
			c.settings = append(c.settings, it)
		case *ast.Mass:
			c.masses = append(c.masses, it)
		case *ast.AlgEq:
			c.algebraic = append(c.algebraic, it)
		case *ast.Equation:
			c.equations = append(c.equations, it)
		case *ast.Bad:
			lost = append(lost, it)
		}
	}
	c.enterLost(lost)
	for _, it := range imports {
		c.imports(it, c.globals, ".")
	}
}

func (c *checker) collectLet(it *ast.Let) {
	name := it.Target.Name
	if old, ok := c.globals[name.Name]; ok && old.kind == letName && it.Target.Subs != nil &&
		old.lets[0].Target.Subs != nil {
		if old.output != it.Output {
			c.errorf(CodeDuplicate, name.Span, "the pieces of %q are all `let` or all `output`", name.Name).
				Relate(old.span, "first piece")
		}
		old.lets = append(old.lets, it)
		return
	}
	if e := c.declare(name, letName); e != nil {
		e.lets, e.output, e.doc = []*ast.Let{it}, it.Output, it.Doc
	}
}

// enterLost records what did not parse, so that it is not reported as missing as well: names that
// were to be declared, equations of states, the time.
func (c *checker) enterLost(list []*ast.Bad) {
	c.lost = map[string]bool{}
	for _, it := range list {
		c.lost[it.Word] = true
		for _, name := range it.Names {
			c.lostNames = append(c.lostNames, name.Name)
			c.later(name)
		}
	}
}

// later declares a name whose construct was reported, so that its uses are not errors as well.
func (c *checker) later(id ast.Ident) {
	if id.Name == "" {
		return
	}
	if _, ok := c.globals[id.Name]; !ok {
		c.globals[id.Name] = &entity{name: id.Name, kind: laterName, span: id.Span, stage: 2}
	}
}

// declare enters a global name, or reports why not and returns nil.
func (c *checker) declare(id ast.Ident, kind entityKind) *entity {
	if id.Name == "" {
		return nil // the parser reported it
	}
	if predefined(id.Name) && !id.Quoted && !parser.Reserved(id.Name) {
		c.errorf(CodePredefined, id.Span, "%q is predefined; choose another name", id.Name)
		return nil
	}
	if old, ok := c.globals[id.Name]; ok {
		if kind == timeName && old.kind == timeName {
			c.errorf(CodeDuplicate, id.Span, "the time is declared twice; keep one time item").
				Relate(old.span, "declared here")
			return nil
		}
		c.errorf(CodeDuplicate, id.Span, "%q is declared twice; rename one of them", id.Name).
			Relate(old.span, "declared here as %s", old.kind)
		return nil
	}
	if kind == timeName {
		for _, e := range c.order {
			if e.kind == timeName {
				c.errorf(CodeDuplicate, id.Span, "the time is declared twice; keep one time item").
					Relate(e.span, "declared here")
				return nil
			}
		}
	}
	e := &entity{name: id.Name, kind: kind, span: id.Span}
	c.globals[id.Name] = e
	c.order = append(c.order, e)
	return e
}

func predefined(name string) bool {
	switch name {
	case "pi", "inf", "true", "false", "end", "nan":
		return true
	}
	return false
}

func anyBad(es ...model.Expr) bool { return slices.ContainsFunc(es, isBad) }

// noValue reports the name of something that has no value.
func (c *checker) noValue(id ast.Ident, e *entity) {
	c.errorf(CodeKind, id.Span, "%q is %s and has no value in an expression", id.Name, e.kind).
		Relate(e.span, "declared here")
}

// name elaborates a name used as a value.
func (c *checker) name(x context, id ast.Ident) model.Expr {
	if local := x.scope.find(id.Name); local != nil {
		return local.value
	}
	if !id.Quoted {
		switch id.Name {
		case "true":
			return model.Seal(&model.Const{
				Base: model.NewBase(types.Type{Kind: types.Bool}, id.Span),
				Data: []float64{1},
			})
		case "false":
			return model.Seal(&model.Const{
				Base: model.NewBase(types.Type{Kind: types.Bool}, id.Span),
				Data: []float64{0},
			})
		case "end":
			if x.end == 0 {
				c.errorf(CodeSubscript, id.Span, "`end` is the last index and stands only inside an index, as "+
					"in x[end]")
				return bad(id.Span)
			}
			return number(float64(x.end), units.Unit{}, id.Span)
		}
		for _, k := range stdlib.Constants {
			if k.Name == id.Name {
				u := units.One
				if k.Name != "pi" {
					u = units.Unit{} // fits every unit
				}
				return number(k.Value, u, id.Span)
			}
		}
	}
	e, ok := c.namesOf(x)[id.Name]
	if !ok {
		c.undefined(x, id)
		return bad(id.Span)
	}
	if e.kind == laterName {
		return bad(id.Span)
	}
	if need := usesOf(e.kind); need&^x.place.allow != 0 {
		c.notHere(x, id, e)
		return bad(id.Span)
	}
	switch e.kind {
	case constName, letName, paramName, stateName, discreteName, timeName, controlName, algName:
	case observeName:
		c.errorf(CodeKind, id.Span, "%q is an observation and is compared with data by nll; to use the quantity, "+
			"name it with let", id.Name).Relate(e.span, "declared here")
		return bad(id.Span)
	case fnName:
		c.errorf(CodeKind, id.Span, "%q is a function; call it: %s(…)", id.Name, id.Name).
			Relate(e.span, "declared here")
		return bad(id.Span)
	default:
		c.noValue(id, e)
		return bad(id.Span)
	}
	c.resolve(e)
	if x.before {
		if v := c.beforeExperiment(e); v != nil {
			return v
		}
	}
	switch e.kind {
	case constName, letName, controlName:
		if e.value == nil { // part of a cycle, which was reported
			return bad(id.Span)
		}
		if uses := model.Depends(e.value) &^ x.place.allow; uses != 0 {
			c.dependsOn(x, id, e, uses)
			return bad(id.Span)
		}
		c.checkLimit(x, id, e.value)
		return e.value
	}
	if e.held != nil && x.place.allow&model.UsesDiscrete != 0 {
		return model.Seal(&model.Ref{Base: model.NewBase(e.held.Type, id.Span), Sym: e.held})
	}
	if ofOccasion(c, x, id, e) {
		return bad(id.Span)
	}
	r := e.current(id.Span)
	c.checkLimit(x, id, r)
	return r
}

// current returns the value of a variable or of the time: for a param, what the experiment gives to it.
func (e *entity) current(s source.Span) model.Expr {
	switch {
	case e.stand != nil:
		return model.Seal(&model.Ref{Base: model.NewBase(e.stand.Type, s), Sym: e.stand})
	case e.value != nil:
		return e.value
	case e.sym == nil:
		return bad(s)
	}
	return model.Seal(&model.Ref{Base: model.NewBase(e.sym.Type, s), Sym: e.sym})
}

func usesOf(k entityKind) model.Uses {
	switch k {
	case paramName:
		return model.UsesParam
	case stateName, algName:
		return model.UsesState
	case discreteName:
		return model.UsesDiscrete
	case timeName, controlName:
		return model.UsesTime
	}
	return 0
}

// notHere reports a name of a kind that may not stand in its place.
func (c *checker) notHere(x context, id ast.Ident, e *entity) {
	switch {
	case x.place == placeGoal:
		c.errorf(CodeTrajectory, id.Span, "%q changes along the trajectory; say when: final(%s), initial(%s), "+
			"integral(%s), max_over(%s), sum_at(times, %s) …", id.Name, id.Name, id.Name, id.Name, id.Name, id.Name).
			Relate(e.span, "declared here")
	case x.place.fixed:
		d := c.errorf(CodePlace, id.Span, "%s is fixed at compile time and cannot use %s %q", x.place.name,
			kindWord(e.kind), id.Name)
		d.Relate(e.span, "declared here")
		switch {
		case e.kind == paramName:
			d.Message += "; declare it with `const`"
			if x.place.instead != "" {
				d.Message += ", or " + x.place.instead
			}
		case x.place == placeConst:
			d.Message += "; what follows from it is declared with `let`"
		}
	default:
		d := c.errorf(CodePlace, id.Span, "%s cannot use %s %q; it knows %s", x.place.name, kindWord(e.kind), id.Name,
			x.place.knows)
		d.Relate(e.span, "declared here")
		if x.place == placeParam {
			d.Message += "; what changes along a run is declared with `let`"
		}
	}
}

// kindWord returns the kind with "the": `the state`.
func kindWord(k entityKind) string {
	s := k.String()
	s = strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(s, "a "), "an "), "the ")
	return "the " + s
}

// dependsOn reports a let that depends on something that may not stand in its place.
func (c *checker) dependsOn(x context, id ast.Ident, e *entity, uses model.Uses) {
	what := "something that changes"
	if s := model.FindSymbol(e.value, func(s *model.Symbol) bool { return model.UsesOf(s)&uses != 0 }); s != nil {
		what = fmt.Sprintf("%s %q", symbolWord(s), s.Name)
	}
	if x.place == placeGoal {
		c.errorf(CodeTrajectory, id.Span, "%q depends on %s and changes along the trajectory; say when: final(%s), "+
			"integral(%s), max_over(%s), sum_at(times, %s) …", id.Name, what, id.Name, id.Name, id.Name, id.Name).
			Relate(e.span, "declared here")
		return
	}
	c.errorf(CodePlace, id.Span, "%s cannot use %q, which depends on %s; it knows %s", x.place.name, id.Name, what,
		x.place.knows).Relate(e.span, "declared here")
}

func symbolWord(s *model.Symbol) string {
	return [...]string{
		model.TimeSymbol: "the time", model.ParamSymbol: "the param", model.StateSymbol: "the state",
		model.DiscreteSymbol: "the discrete", model.AlgSymbol: "the alg",
	}[s.Kind]
}

// checkLimit demands that in at_event, what the event changes is read as pre(…) or post(…).
func (c *checker) checkLimit(x context, id ast.Ident, value model.Expr) {
	if x.body == nil || x.limit {
		return
	}
	s := model.FindSymbol(value, func(s *model.Symbol) bool {
		return slices.ContainsFunc(x.body.Body, func(a *model.Assign) bool { return a.Target == s })
	})
	switch {
	case s == nil:
	case s.Name == id.Name:
		c.errorf(CodeLimit, id.Span, "%q jumps at %s: write pre(%s) or post(%s)", id.Name, x.body.Name, id.Name,
			id.Name)
	default:
		c.errorf(CodeLimit, id.Span, "%q depends on %q, which jumps at %s: write pre(%s) or post(%s)", id.Name, s.Name,
			x.body.Name, id.Name, id.Name)
	}
}
