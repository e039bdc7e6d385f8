package parser

import "odes.dev/odes/lang/diag"

// The codes of everything that the lexer and the parser report.
const (
	CodeEncoding        diag.Code = "invalid-encoding"     // the text is not UTF-8, or holds NUL bytes
	CodeCharacter       diag.Code = "invalid-character"    // a character that is not part of the language
	CodeLookalike       diag.Code = "look-alike-character" // a typographic sign that stands for an ASCII one
	CodeString          diag.Code = "unterminated-string"
	CodeEscape          diag.Code = "unknown-escape"
	CodeQuotedName      diag.Code = "bad-quoted-name"
	CodeNumber          diag.Code = "bad-number"
	CodeSingleQuote     diag.Code = "single-quoted-string"
	CodeMissingExpr     diag.Code = "missing-expression"
	CodeMissingOperator diag.Code = "missing-operator"
	CodeUnclosed        diag.Code = "unclosed-bracket"
	CodeUnexpected      diag.Code = "unexpected-token"
	CodeReserved        diag.Code = "reserved-word"
	CodeChained         diag.Code = "chained-comparison"
	CodeMissingElse     diag.Code = "missing-else"
	CodeForeignOperator diag.Code = "foreign-operator" // an operator of another language
	CodePrime           diag.Code = "misplaced-prime"
	CodeDerivative      diag.Code = "foreign-derivative" // der(x), d/dt(x), dx/dt
	CodeSecondOrder     diag.Code = "second-derivative"
	CodeUnit            diag.Code = "bad-unit"
	CodeNumericUnit     diag.Code = "numeric-unit"
	CodeBareExponent    diag.Code = "bare-exponent"
	CodeRange           diag.Code = "bad-range"
	CodeEnd             diag.Code = "misplaced-end"
	CodeDepth           diag.Code = "nested-too-deeply"
	CodeCondition       diag.Code = "assignment-in-condition"
	CodeBounds          diag.Code = "bad-bounds"
	CodeNewLine         diag.Code = "bracket-on-new-line"
	CodeItem            diag.Code = "unknown-item"
	CodeAssignment      diag.Code = "bare-assignment" // x = 1 outside a body
	CodeCoefficient     diag.Code = "glued-coefficient"
	CodeForeignFile     diag.Code = "foreign-file"
	CodeTooMany         diag.Code = "too-many-errors"
)
