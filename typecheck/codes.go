package typecheck

import "odes.dev/odes/lang/diag"

// The codes of everything that the checker reports. TestEveryCodeHasAnExample demands a case for
// each.
const (
	CodeUndefined    diag.Code = "undefined-name"
	CodeDuplicate    diag.Code = "duplicate-name"
	CodePredefined   diag.Code = "predefined-name"      // pi, inf, true, false, end
	CodeKind         diag.Code = "wrong-kind"           // a name that cannot stand where it does
	CodePlace        diag.Code = "not-known-here"       // a state in a param, a param in a shape …
	CodeCycle        diag.Code = "cyclic-definition"    // of lets, consts, defaults, initial values
	CodeRecursion    diag.Code = "recursive-function"   // functions are inlined
	CodeUnavailable  diag.Code = "not-available"        // a construct of a later version
	CodeType         diag.Code = "type-mismatch"        // a condition where a number is needed …
	CodeShape        diag.Code = "shape-mismatch"       // operands, assignments, products
	CodeSize         diag.Code = "too-large"            // arrays, loops, expansion
	CodeIndex        diag.Code = "index-out-of-range"   //
	CodeSubscript    diag.Code = "bad-subscript"        // not whole, not known at compile time, wrong count
	CodeRange        diag.Code = "bad-range"            // of binders and subscripts
	CodeArguments    diag.Code = "wrong-arguments"      // count, names, values
	CodeNoEquation   diag.Code = "missing-equation"     //
	CodeEquations    diag.Code = "duplicate-equation"   //
	CodeCoverage     diag.Code = "uncovered-element"    // of a let given element by element
	CodeMissing      diag.Code = "missing-item"         // no time, no states, a param without value
	CodeCondition    diag.Code = "bad-event-condition"  //
	CodeEventOption  diag.Code = "bad-event-option"     //
	CodeTarget       diag.Code = "bad-target"           // what an equation or a body may not change
	CodeTwice        diag.Code = "assigned-twice"       // in one event body
	CodeLimit        diag.Code = "ambiguous-limit"      // v jumps: pre(v) or post(v)
	CodeFunctional   diag.Code = "misplaced-functional" // outside of objectives, or nested
	CodeTrajectory   diag.Code = "value-of-trajectory"  // a bare state in an objective
	CodeSetting      diag.Code = "unknown-setting"      //
	CodeSettingValue diag.Code = "bad-setting"          //
	CodeUnit         diag.Code = "unit-mismatch"        //
	CodeInferred     diag.Code = "inferred-unit"        // note: a name without a unit that its use decides
	CodeUnknownUnit  diag.Code = "unknown-unit"         // no unit of that name
	CodeFile         diag.Code = "unreadable-file"      // load, csv
	CodeData         diag.Code = "bad-data"             //
	CodeBounds       diag.Code = "bad-bounds"           // lo above hi, or a value outside
	CodeAssert       diag.Code = "assertion-failed"     //
	CodeTooMany      diag.Code = "too-many-errors"
	CodeNeverFires   diag.Code = "event-never-fires" // note
	CodeNoInfluence  diag.Code = "no-influence"      // note: a param that nothing uses
)
