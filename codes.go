package odes

import (
	"odes.dev/odes/internal/explain"
	"odes.dev/odes/internal/system"
)

// Codes of diagnostics about values that are set from outside.
const (
	CodeOverride = system.CodeOverride
	CodeUnknown  = system.CodeUnknown
)

// Codes of diagnostics about runs. `odes doc <code>` says more on each.
const (
	CodeNonFinite   = explain.CodeNonFinite
	CodeUnderflow   = explain.CodeUnderflow
	CodeTooMany     = explain.CodeTooMany
	CodeChattering  = explain.CodeChattering
	CodeCascade     = explain.CodeCascade
	CodeMemory      = explain.CodeMemory
	CodeInterrupted = explain.CodeInterrupted
	CodeTime        = explain.CodeTime
	CodeAssert      = explain.CodeAssert
	CodeGrazing     = explain.CodeGrazing
	CodeTie         = explain.CodeTie
	CodeOutside     = explain.CodeOutside
	CodeRest        = explain.CodeRest
	CodeStiff       = explain.CodeStiff
	CodeNoInfluence = explain.CodeNoInfluence
	CodeBackward    = explain.CodeBackward
	CodeKink        = explain.CodeKink
	CodeInvariant   = explain.CodeInvariant
)
