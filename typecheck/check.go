// Package typecheck turns the tree of a model file into a checked model.Model: names are resolved,
// functions inlined, shapes, units and indices verified, equations complete, and dependencies
// acyclic. It computes nothing at run time, and knows neither tapes nor solvers.
package typecheck

import (
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"odes.dev/odes/data"
	"odes.dev/odes/internal/base/memory"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/compose"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/inference"
)

// Env is what a model may read besides its own text.
type Env struct {
	// Files is the model's folder, for load and csv. Nil means that there is none.
	Files fs.FS
	// Consts overrides scalar consts by name.
	Consts map[string]float64
	// Experiment makes the model that of one experiment alone: its values, events and rows of data,
	// with the objectives of the file. Then nll is a functional of its run. Others are not checked.
	Experiment string
	// Times are those at which data are to be simulated; nil: those of the tables.
	Times []float64
	// MaxElements limits arrays, loops and compile-time work per expression. Zero means 100
	// million, or fewer where memory is short.
	MaxElements int
	// CheckOnly makes warnings, not errors, of constructs that this version does not solve. A model
	// with Later cannot be compiled.
	CheckOnly bool
	// Settings, when set, reports what is wrong with the values of settings. Only the packages that
	// act on settings know that.
	Settings func(model.Settings, *diag.List)
	// Survey, when set, is filled with what is known of the names. It is filled for a file with
	// errors as well.
	Survey *Survey
}

const (
	maxElements = 100_000_000
	// bytesPerElement is what an element may take, as a part of several expressions, tapes and vectors.
	bytesPerElement = 64

	maxRank    = 3
	maxNodes   = 5_000_000 // expressions after inlining
	maxErrors  = 50
	maxPerCode = 20 // warnings or notes with the same code
)

// checker holds the state of one Check.
type checker struct {
	env     Env
	list    *diag.List
	file    *ast.File
	globals map[string]*entity
	order   []*entity // in file order
	units   map[string]*unitEntity
	modules map[string]*module // by path
	model   *model.Model

	equations  []*ast.Equation
	reactions  []*ast.Reaction
	events     []*ast.Event
	objectives []ast.Item // *ast.Objective, *ast.Constraint
	observes   []*ast.Observe
	asserts    []*ast.Assert
	invariants []*ast.Invariant
	algebraic  []*ast.AlgEq
	reports    []*ast.Report
	masses     []*ast.Mass
	massOf     map[*model.Symbol]*massMatrix
	settings   []*ast.Settings
	drawnOfPass
	observed  []*observation
	asserted  map[model.Expr]bool // knots of which asserts were made
	empty     []string            // the columns that are observed and hold nothing
	nodes     int
	tooMany   bool
	inlining  []*ast.Fn
	recursive map[*ast.Fn]bool // those that were reported as calling themselves
	resolving []*entity
	unitMode  string
	operand   *ast.Binary // whose right operand is a conversion that is being elaborated; nil for none

	sparse map[model.Expr]*sparse        // the values that are sparse matrices
	letOf  map[model.Expr]*entity        // by value: the let that has it and has no unit of its own
	causes map[cause]source.Span         // the places of contradictions that were reported
	alike  map[source.Span][]source.Span // the places of further contradictions with the same cause

	demands  []demand
	assumed  map[string]inferred // of symbols, by this pass
	inferred map[string]inferred // by earlier passes
	refused  []inference.Refusal // by this pass
	mixtures map[[2]string]bool  // pairs of units of one kind that the file writes in one unit
	anyUnits bool                // the file writes some unit

	unparsed  bool            // the parser reported an error
	lost      map[string]bool // first words of items that did not parse; "" for equations and unknown words
	lostNames []string        // names that these items are about

	dosesOfPass
	steadyOfPass
	experiments []*ast.Experiment
	plain       *ast.File          // without experiments, for their passes: each would enter the names of all
	others      map[string]*entity // in a pass for an experiment: the names of experiments
	totals      []*total
	parts       map[model.Expr]part     // the values of nll() and log_prior()
	reads       int                     // terms of objectives that are known without the run: totals and priors
	listed      []*trial                // see trials
	variant     *variant                // the experiment that this pass is for; nil for the model itself
	chosen      *variant                // the experiment that the model was made that of; nil for none
	textOf      map[model.Expr][]string // by node of texts: the texts
	read        map[string]csvFile      // files read so far, which all passes share
	tables      map[*ast.Data]*dataTable
	numbered    map[*model.Table]*model.Table // with the numbers of their rows
}

// csvFile is a file as it was read, or the reason why it was not.
type csvFile struct {
	table *data.Table
	err   error
}

func newChecker(f *ast.File, env Env) *checker {
	return &checker{
		env: env, list: &diag.List{}, file: f, globals: map[string]*entity{}, units: map[string]*unitEntity{},
		modules: map[string]*module{}, mixtures: map[[2]string]bool{}, read: map[string]csvFile{},
		model: &model.Model{Source: f.Source, Called: model.Called{Copies: f.Copies}}, parts: map[model.Expr]part{},
		letOf: map[model.Expr]*entity{}, tables: map[*ast.Data]*dataTable{}, numbered: map[*model.Table]*model.Table{},
	}
}

// Check turns a parsed file into a checked model. It returns nil when l holds an error, the parser's or its own. If a
// part of a file did not parse, the rest is checked for errors, and the missing part is taken to be right. Warnings and
// notes do not matter. Check terminates on any input, and reads no file outside env.Files. Components become part of f.
func Check(f *ast.File, env Env, l *diag.List) *model.Model {
	f, ok := compose.Flatten(f, env.Files, l)
	defer compose.Tell(f, l)
	if !ok {
		return nil
	}
	if env.MaxElements == 0 {
		env.MaxElements = int(min(maxElements, memory.Budget()/bytesPerElement))
	}
	unparsed := l.HasErrors()
	if unparsed && !slices.ContainsFunc(f.Items, func(it ast.Item) bool { _, bad := it.(*ast.Bad); return !bad }) {
		return nil // nothing in the file could be parsed
	}
	pass := func(before *checker, known map[string]inferred) *checker {
		l.Look()
		c := newChecker(f, env)
		c.list.While(l.Done())
		c.inferred, c.unparsed = known, unparsed
		if before != nil {
			c.read = before.read
		}
		c.run()
		return c
	}
	passes := func(c *checker) *checker {
		for range maxInference {
			found := c.infer()
			if !c.anyUnits || len(found) == 0 {
				break
			}
			maps.Copy(found, c.inferred)
			c = pass(c, found)
		}
		return c
	}
	c := passes(pass(nil, nil))
	if pure := c.hiddenByRates(); len(pure) > 0 {
		c = passes(pass(c, pure))
	}
	l.Look()
	if c.anyUnits {
		c.hidden()
	}
	if env.Survey != nil {
		c.survey(env.Survey)
	}
	if c.checkExperiments(); env.Experiment != "" {
		c.alone(env.Experiment)
	}
	if !c.list.HasErrors() {
		c.notes()
	}
	failed := c.list.HasErrors() || unparsed
	type finding struct {
		code    diag.Code
		message string
		span    source.Span
	}
	seen := map[finding]bool{}
	errors, hidden := 0, 0
	perCode := map[diag.Code]int{}
	for _, d := range c.list.All() {
		l.Look()
		c.repeated(&d)
		// An error in a function that is inlined twice is reported once.
		key := finding{d.Code, d.Message, d.Span}
		if seen[key] {
			continue
		}
		seen[key] = true
		if unparsed && d.Level != diag.Error {
			continue // a part of the file is missing, so only errors are certain
		}
		if d.Level == diag.Error {
			if errors++; errors > maxErrors {
				continue
			}
		} else if perCode[d.Code]++; perCode[d.Code] > maxPerCode {
			hidden++
			continue
		}
		d.Complete()
		l.Add(d)
	}
	if errors > maxErrors {
		l.Notef(CodeTooMany, source.Span{}, "%d more errors are not shown", errors-maxErrors)
	}
	if hidden > 0 {
		l.Notef(CodeTooMany, source.Span{}, "%d more warnings and notes of these kinds are not shown", hidden)
	}
	if failed {
		return nil
	}
	return c.model
}

func (c *checker) run() {
	c.collect()
	c.doses = dosesIn(c.file)
	if c.variant != nil {
		c.enterExperiment()
	}
	c.readUnitMode()
	if c.model.Name == "" && c.file.Source != nil {
		c.model.Name = strings.TrimSuffix(path.Base(c.file.Source.Name()), ".ode")
	}
	for _, name := range sortedKeys(c.units) {
		c.unitNamed(name)
	}
	c.checkRecursion()
	c.conditions()
	for _, e := range c.order {
		c.list.Look()
		c.resolve(e)
	}
	c.listSymbols()
	c.readMasses()
	c.checkEquations()
	c.list.Look()
	c.applyMasses()
	c.checkAlgebraic()
	c.checkEquilibration()
	c.checkEvents()
	readDoses(c)
	if c.variant != nil {
		c.chooseRows()
		giveDoses(c)
		switchOccasions(c)
		tiesOfEvents(c)
		if c.variant.alone {
			c.checkPriors()
		}
		checkRandoms(c)
		c.checkObserves()
		if c.variant.alone {
			c.checkObjectives()
		} else {
			c.checkTotals()
		}
		c.checkOutputs()
		c.checkConditions()
		listLags(c)
		c.checkSettings()
		return
	}
	giveDoses(c)
	c.checkPriors()
	checkRandoms(c)
	c.checkObserves()
	c.checkObjectives()
	c.checkOutputs()
	c.checkConditions()
	listLags(c)
	c.checkSettings()
}

// wholeFile is the place of errors about what the file lacks.
func (c *checker) wholeFile() source.Span { return source.Span{File: c.file.Source} }

// readUnitMode reads what `solver { units = … }` asks for.
func (c *checker) readUnitMode() {
	if n, ok := strip(settingOf(c, "solver", "units")).(*ast.Name); ok {
		c.unitMode = n.Name
	}
}

// settingOf returns the value of a setting as the file has it, or nil.
func settingOf(c *checker, block, key string) (v ast.Expr) {
	for _, s := range c.settings {
		for _, k := range s.List {
			if s.Block.Name == block && k.Key.Name == key {
				v = k.Value
			}
		}
	}
	return v
}

// unitErrorf reports a contradiction of units, as an error or a warning, as the model asks.
func (c *checker) unitErrorf(at source.Span, format string, args ...any) *diag.Diagnostic {
	switch c.unitMode {
	case "off":
		return &diag.Diagnostic{}
	case "warn":
		return c.list.Warnf(CodeUnit, at, format, args...)
	}
	return c.list.Errorf(CodeUnit, at, format, args...)
}

func (c *checker) errorf(code diag.Code, at source.Span, format string, args ...any) *diag.Diagnostic {
	return c.list.Errorf(code, at, format, args...)
}

// strip removes parentheses.
func strip(e ast.Expr) ast.Expr {
	for {
		p, ok := e.(*ast.Paren)
		if !ok {
			return e
		}
		e = p.X
	}
}

// unitEntity is a user's unit.
type unitEntity struct {
	decl *ast.UnitDecl
	unit units.Unit
	busy bool
	done bool
}
