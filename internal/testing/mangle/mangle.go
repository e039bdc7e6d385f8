// Package mangle makes broken inputs of good ones, and says what must hold of what importers make of them: for tests.
package mangle

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"odes.dev/odes"
)

// Mangle returns a text whose pieces are, in one to three places, lost, doubled or exchanged, or changed by other, that
// may be nil. What it does depends on r alone.
func Mangle(r *rand.Rand, pieces []string, other func(r *rand.Rand, piece string) string) string {
	list := slices.Clone(pieces)
	for range 1 + r.IntN(3) {
		once(r, list, other)
	}
	return strings.Join(list, "")
}

// Once is Mangle in one place.
func Once(r *rand.Rand, pieces []string, other func(r *rand.Rand, piece string) string) string {
	list := slices.Clone(pieces)
	once(r, list, other)
	return strings.Join(list, "")
}

func once(r *rand.Rand, list []string, other func(r *rand.Rand, piece string) string) {
	kinds := 4
	if other == nil {
		kinds = 3
	}
	i, j := r.IntN(len(list)), r.IntN(len(list))
	switch r.IntN(kinds) {
	case 0:
		list[i] = ""
	case 1:
		list[i] += list[j]
	case 2:
		list[i], list[j] = list[j], list[i]
	case 3:
		list[i] = other(r, list[i])
	}
}

// Quoted returns what puts one of these values between quotes of a piece.
func Quoted(values []string) func(r *rand.Rand, piece string) string {
	return func(r *rand.Rand, piece string) string {
		parts := strings.Split(piece, `"`)
		if n := len(parts) / 2; n > 0 { // within the quotes are the odd ones
			value := values[r.IntN(len(values))]
			parts[1+2*r.IntN(n)] = value
		}
		return strings.Join(parts, `"`)
	}
}

// Sound reports whether an importer has kept its word: out is a model that parses, or it is "" and wrong says why. What
// else it finds is an error of the test, which names the input.
func Sound(t *testing.T, input, out, wrong string) bool {
	t.Helper()
	if (out == "") != (wrong != "") || strings.Contains(wrong, "please report") {
		t.Errorf("%q and %q, of\n%s", out, wrong, input)
		return false
	}
	if out == "" {
		return true
	}
	if _, err := odes.Parse("x.ode", out, odes.ParseOptions{}); err != nil &&
		strings.Contains(err.Error(), "internal") {
		t.Errorf("%v, of\n%s\nmade of\n%s", err, out, input)
		return false
	}
	return true
}
