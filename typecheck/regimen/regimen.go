// Package regimen makes the events of records of doses. The rows of a table are such records by `doses D { … }`, an
// item that the checker reads. What an experiment uses of D becomes events at known times:
//
//   - a bolus adds F·AMT to its state at TIME + lag, and II later for each of ADDL;
//   - an infusion adds its rate, at its start, to a hidden discrete that is part of the rate of its state, and takes it
//     away at its end. Both times may depend on params, by the lag, F, the rate and the duration;
//   - a reset (EVID 3 and 4) sets the states back to what they began with, and what infuses to 0. It begins another
//     life; a dose of a life that is over gives nothing, however late it would come;
//   - before a record that stands behind a measurement of the same time, an event keeps the states, for the measurement
//     to read.
//
// Where the order of rows matters, it is that of priorities. So all that runs, repeats and differentiates events knows
// of doses.
package regimen

import (
	"odes.dev/odes/internal/base/records"
	"odes.dev/odes/lang/ast"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/model"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/lang/types"
	"odes.dev/odes/lang/units"
	"odes.dev/odes/typecheck/terms"
)

// Checker is what making events needs of the checker.
type Checker interface {
	terms.Checker
	// Model is the model that gets the events.
	Model() *model.Model
	// Equilibrated reports whether the run begins with an equilibrium already.
	Equilibrated() bool
	// Resumed says by which event the run goes on after its steady state.
	Resumed(e *model.Event)
	// Literals are numbers of a table, by a name for those who read the model.
	Literals(name string, t types.Type, values []float64, declared, at source.Span) model.Expr
	// CoursesAt returns what courses in time of rows of tables, as those of covariates, are at another time.
	CoursesAt(t model.Expr) map[model.Expr]model.Expr
	// Said elaborates the number that a line says by a word of its doses, which messages call what.
	Said(l *Line, d *Rows, word, what string) (model.Expr, bool)
	// Constant returns a number that is known when the model is compiled.
	Constant(v model.Expr) (float64, bool)
	// DataErrorf reports an error of data.
	DataErrorf(at source.Span, format string, args ...any) *diag.Diagnostic
	// SizeErrorf reports something that is too large.
	SizeErrorf(at source.Span, format string, args ...any) *diag.Diagnostic
	// UnitErrorf reports a contradiction of units.
	UnitErrorf(at source.Span, format string, args ...any) *diag.Diagnostic
}

// Table is a table whose rows are records.
type Table struct {
	*model.Table
	In      string      // says the file of the table before what is said of it; "" for a table of the model
	At      source.Span // where messages about the doses point
	Records *records.Table
	Units   map[string]units.Unit // of the columns of records
	Lines   []*Line
	// Occasions are the random effects by entries of a column of the table.
	Occasions []*Occasions
}

// Line is a state that takes doses.
type Line struct {
	Target *ast.LValue
	Sym    *model.Symbol
	Subs   []model.Sub
	Unit   units.Unit
	Rows   []bool
	Says   map[string]ast.Expr // by Words
}

// Names of what is said of a dose.
const (
	Lag    = "lag"
	F      = "f"
	Length = "dur"
	Rate   = "rate"
)

// Words lists them.
var Words = []string{Lag, F, Length, Rate}

// Rows is what an event with an element for each row of a table reads of it.
type Rows struct {
	List  []int              // from 0
	Index *model.Index       // nil for the first row alone
	Read  map[int]model.Expr // by column
}

// Position is the position of the element of an event in what it reads of a table, which is declared there.
func (d *Rows) Position(c terms.Checker, declared source.Span) model.Expr {
	if d.Index == nil {
		return terms.Number(1, units.Unit{}, declared)
	}
	return c.Position(d.Index)
}

// Give makes the events of the records in some rows of a table, which are of one course. It returns what measurements
// before a record of their time read; nil where nothing does.
func Give(c Checker, t *Table, rows []bool) *Early {
	course, err := t.Records.Read(rows)
	if err != nil {
		c.DataErrorf(t.At, "%s%q, %s", t.In, t.Name, err).Relate(t.Span, "declared here")
		return nil
	}
	g := &giver{Checker: c, model: c.Model(), table: t, course: course, rates: map[*model.Symbol]*model.Symbol{}}
	if some := len(course.Doses)+len(course.Resets) > 0; some && !fits(c, t, course) {
		return nil
	} else if some {
		g.give()
	}
	for _, o := range t.Occasions {
		g.occasion(o, rows)
	}
	if len(course.Doses)+len(course.Resets) == 0 {
		return nil
	}
	g.model.Regimens = append(g.model.Regimens, g.tell())
	return g.early
}
