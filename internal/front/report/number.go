package report

import (
	"math"
	"strconv"
	"strings"

	"odes.dev/odes"
)

// appendNumber appends the shortest decimal that reads back as x. A value that is no number becomes one of the strings
// "nan", "inf" and "-inf".
func appendNumber(b []byte, x float64) []byte {
	switch {
	case math.IsNaN(x):
		return append(b, `"nan"`...)
	case math.IsInf(x, 1):
		return append(b, `"inf"`...)
	case math.IsInf(x, -1):
		return append(b, `"-inf"`...)
	}
	format := byte('f')
	if a := math.Abs(x); a != 0 && (a < 1e-5 || a >= 1e16) {
		format = 'e'
	}
	b = strconv.AppendFloat(b, x, format, -1, 64)
	if n := len(b); n > 4 && b[n-4] == 'e' && b[n-3] == '-' && b[n-2] == '0' { // 1e-06 is 1e-6
		b[n-2] = b[n-1]
		b = b[:n-1]
	}
	return b
}

// plainNumber is appendNumber without the quotation marks.
func plainNumber(x float64) string {
	b := appendNumber(nil, x)
	if b[0] == '"' {
		b = b[1 : len(b)-1]
	}
	return string(b)
}

// digits returns how many significant digits of a state a relative tolerance justifies: states agree to about 100 times
// the tolerance. Derivatives have one digit less.
func digits(rtol float64) int {
	if !(rtol > 0) {
		return 8
	}
	n := -2
	for ; rtol < 0.99 && n < 12; n++ {
		rtol *= 10
	}
	return max(3, n)
}

// uncertain writes x with its estimated error. It has at most n significant digits, and no more than the error leaves.
func uncertain(x, e float64, n int) string {
	if x == 0 && e == 0 {
		return "0"
	}
	if a := math.Abs(x); e > 0 && a > 0 && !math.IsInf(e, 0) && !math.IsInf(a, 0) {
		n = min(n, max(1, exponent(a)-exponent(e)+1))
	}
	return significant(x, n) + " ± " + significant(e, 1)
}

// marks follow numbers that are not sound.
var marks = map[odes.Trust]string{odes.Loose: "?", odes.Lost: "!"}

// sidedMark follows derivatives that are others on the other side of the variable, and known on both.
const sidedMark = "|"

// graded writes x, whose error is estimated as e, with its mark. It has at most n significant digits, and none that the
// error makes wrong. Errors are not shown. What is zero but for its error is "~0". Where the only digit may be wrong,
// but not the sign, "~" stands before it.
func graded(x, e float64, t odes.Trust, n int) string {
	if sure := sureDigits(x, e); sure < n {
		n = sure
		switch {
		case n >= 1 || t != odes.Sound:
		case math.Abs(x) <= 4*e:
			return "~0"
		default:
			return "~" + significant(x, 1)
		}
	}
	return significant(x, max(n, 1)) + marks[t]
}

// sureDigits returns how many digits of x an error of e leaves: the last place is at least four times the error.
func sureDigits(x, e float64) int {
	if !(e > 0) || x-x != 0 || x == 0 || math.IsInf(e, 0) {
		return math.MaxInt
	}
	return floorExponent(math.Abs(x)) - floorExponent(4*e)
}

// unsure reports whether not even the first digit of x is sure.
func unsure(x, e float64) bool { return sureDigits(x, e) < 1 }

// floorExponent returns the power of ten of x's first digit, x > 0, before x is rounded.
func floorExponent(x float64) int {
	_, text, _ := strings.Cut(strconv.FormatFloat(x, 'e', -1, 64), "e")
	n, _ := strconv.Atoi(text)
	return n
}

// exponent returns the power of ten of x's first digit, x > 0, after x is rounded to it.
func exponent(x float64) int {
	text := strconv.FormatFloat(x, 'e', 0, 64)
	_, text, _ = strings.Cut(text, "e")
	n, _ := strconv.Atoi(text)
	return n
}

// significant writes x with n significant digits. An exact zero is "0": most often it says that one thing does not
// depend on another.
func significant(x float64, n int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 1):
		return "inf"
	case math.IsInf(x, -1):
		return "-inf"
	case x == 0:
		return "0"
	}
	text := strconv.FormatFloat(x, 'e', n-1, 64)
	// The exponent after rounding decides between plain and scientific notation.
	at := len(text) - 1
	for text[at] != 'e' {
		at--
	}
	exp, _ := strconv.Atoi(text[at+1:])
	if exp < -4 || exp >= n {
		return text
	}
	return strconv.FormatFloat(x, 'f', n-1-exp, 64)
}
