package odes

import (
	"odes.dev/odes/internal/engine/compiled"
	"odes.dev/odes/internal/engine/explain"
	"odes.dev/odes/internal/engine/run"
	"odes.dev/odes/internal/engine/settings"
	"odes.dev/odes/internal/engine/verify"
	"odes.dev/odes/lang/diag"
	"odes.dev/odes/result"
	"odes.dev/odes/typecheck"
)

// The types of results are those of package result, where they are described.
type (
	// Sensitivities is the result of Model.Sensitivities and of Runner.Sensitivities.
	Sensitivities = result.Sensitivities
	// BothSides are derivatives on both sides, where they differ.
	BothSides = result.BothSides
	// SecondSides tells of an element of a Hessian, or of its product with the direction, that has two sides.
	SecondSides = result.SecondSides
	// TimeSides are derivatives of the time of an event on both sides.
	TimeSides = result.TimeSides
	// Leap is a value that leaps where a variable passes the value that it has.
	Leap = result.Leap
	// Coincidence is a time of a run at which several causes come.
	Coincidence = result.Coincidence
	// Piece is an order of causes of a coincidence, with the derivatives of a run in which it holds.
	Piece = result.Piece
	// Solution is the result of Model.Solve.
	Solution = result.Solution
	// Costates is the result of Model.Costates.
	Costates = result.Costates
	// ExperimentCostates are the adjoint states along the run of an experiment.
	ExperimentCostates = result.ExperimentCostates
	// Branch is the result of Model.Continue: the steady states that hang together with the one at the start.
	Branch = result.Branch
	// Place is a steady state on a branch.
	Place = result.Place
	// Verification is what Model.Verify found.
	Verification = result.Verification
	// Verdict is what was found of one scalar objective.
	Verdict = result.Verdict
	// Bench is what Model.Bench measured.
	Bench = result.Bench
	// BenchProgram is the cost of one evaluation.
	BenchProgram = result.BenchProgram
	// BenchTimes are statistics over runs, in seconds.
	BenchTimes = result.BenchTimes

	// Variable is what objectives are differentiated by: a param, or the initial value of a state.
	Variable = result.Variable
	// Value is the value of one scalar objective.
	Value = result.Value
	// Series is one number, or array, over time.
	Series = result.Series
	// EventRecord is an event, or a change of mode, that happened.
	EventRecord = result.Event
	// Compared is one observation in one experiment, compared with a model.
	Compared = result.Compared
	// DataTable is a table of data as a model declares it, and DataColumn a column of it.
	DataTable  = result.DataTable
	DataColumn = result.DataColumn
	// Rows are numbers, one for each row of a table, and their derivatives.
	Rows = result.Rows
	// Trust says how far a number of a result may be relied on.
	Trust = result.Trust

	// RunSettings are the settings that a run used.
	RunSettings = result.Settings
	// RunStats count the work of a run.
	RunStats = result.Stats
	// Rest says of a steady state that it is stable, and how it was found.
	Rest = result.Rest
	// SteadyWork counts searches for steady states over many runs.
	SteadyWork = result.SteadyWork
	// MethodSteps says how many steps a method made.
	MethodSteps = result.MethodSteps
	// Progress tells how far a run is.
	Progress = result.Progress
	// RunError is a run that failed. Its diagnostics name the time, the state and the place in the text.
	RunError = result.RunError
)

// The grades of Trust. Numbers of a result are Sound where nothing else is said of them.
const (
	Sound = result.Sound // right to about three digits or more: as many as a table prints
	Loose = result.Loose // fewer digits are right, or the derivative is one of several, or nothing confirms the number
	Lost  = result.Lost  // not even the first digit is sure, or it is not a finite number
)

// PhaseRuns is the phase of a Progress that tells of many runs, one after the other: Steps counts those that are done.
const PhaseRuns = result.PhaseRuns

// Along is in the place of a column where numbers belong to a move along Sensitivities.Direction.
const Along = result.Along

// Interrupted reports whether err comes from a run that its context ended.
func Interrupted(err error) bool { return explain.Interrupted(err) }

// Codes of diagnostics, each with its text; `odes doc <text>` says more.
const (
	// What was asked for.

	CodeSetting   diag.Code = settings.CodeSetting     // "setting": a value that a setting does not take
	CodeNoSuchRun diag.Code = settings.CodeUnavailable // "unavailable": this version does not do it
	CodeOverride  diag.Code = compiled.CodeOverride    // "override": values that do not fit what they set
	CodeUnchosen  diag.Code = settings.CodeUnchosen    // "unchosen": all settings blocks of a kind have names
	CodeUnknown   diag.Code = typecheck.CodeUnknown    // "unknown-name": the model has no such name
	CodeBounds    diag.Code = typecheck.CodeBounds     // "bad-bounds": a warning where a value is outside its bounds

	// Runs that fail.

	CodeNonFinite   diag.Code = explain.CodeNonFinite   // "non-finite": NaN or infinity, with the expression
	CodeUnderflow   diag.Code = explain.CodeUnderflow   // "step-underflow": no step is short enough
	CodeTooMany     diag.Code = explain.CodeTooMany     // "too-many-steps"
	CodeChattering  diag.Code = explain.CodeChattering  // "chattering": an event fires over and over
	CodeCascade     diag.Code = explain.CodeCascade     // "cascade": events at one time set each other off
	CodeMemory      diag.Code = explain.CodeMemory      // "memory": more than is allowed; a note where less was kept
	CodeInterrupted diag.Code = explain.CodeInterrupted // "interrupted": the context ended
	CodeTime        diag.Code = explain.CodeTime        // "time-span": times that are in no order, or outside
	CodeAssert      diag.Code = explain.CodeAssert      // "assert-failed"
	CodeInvariant   diag.Code = explain.CodeInvariant   // "invariant-violated": an error at the start, else a warning
	CodeBackward    diag.Code = explain.CodeBackward    // "backward": an adjoint equation that cannot be integrated
	CodeIncapable   diag.Code = explain.CodeIncapable   // "incapable": what a step method cannot do

	// Warnings and notes.

	CodeGrazing     diag.Code = explain.CodeGrazing     // "grazing": a condition is hardly met
	CodeTie         diag.Code = explain.CodeTie         // "tie": things happen at one time
	CodeOutside     diag.Code = explain.CodeOutside     // "time-outside": a time that never comes
	CodeRest        diag.Code = explain.CodeRest        // "resting-event": an event turned back within rounding
	CodeUnseen      diag.Code = explain.CodeUnseen      // "unseen-peak": fixed steps pass over a peak in time
	CodeStiff       diag.Code = explain.CodeStiff       // "stiff": stability holds the steps short
	CodeSteady      diag.Code = explain.CodeSteady      // "steady-state": there is none, or none to rely on
	CodeHidden      diag.Code = explain.CodeHidden      // "hidden-event": an event that may have been missed
	CodeUnstable    diag.Code = explain.CodeUnstable    // "unstable": steps of fixed length are not stable
	CodeNoInfluence diag.Code = explain.CodeNoInfluence // "no-influence": a param that nothing reads
	CodeKink        diag.Code = explain.CodeKink        // "kink": a value where a function has no derivative
	CodeAuto        diag.Code = run.CodeAuto            // what auto chose
	CodeUnused      diag.Code = run.CodeUnused          // nothing that is differentiated has a part in the experiments
	CodeChecked     diag.Code = verify.CodeChecked      // what check = fd(…) found
	CodeAccuracy    diag.Code = run.CodeAccuracy        // of derivatives
	CodeTrust       diag.Code = result.CodeTrust        // what an independent run says of the numbers
)
