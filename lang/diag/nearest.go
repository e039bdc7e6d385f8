package diag

import (
	"strings"
	"unicode/utf8"
)

// Nearest returns the candidate that a misspelt name most likely meant: the one with the same letters, small or large,
// or else the one at the smallest edit distance, when that is at most a third of the name's length (and at least 1).
// Among equals it is the one with the longest common start, then the first. It reports false when none is near.
func Nearest(name string, candidates []string) (string, bool) {
	best, distance := "", max(1, utf8.RuneCountInString(name)/3)+1
	for _, c := range candidates {
		if c != name && strings.EqualFold(c, name) {
			return c, true
		}
		if utf8.RuneCountInString(name) == 1 && !strings.EqualFold(c, name) {
			continue // too different in length to be a misspelling
		}
		d := edits([]rune(name), []rune(c), distance+1)
		if d < distance || d == distance && best != "" && shared(name, c) > shared(name, best) {
			best, distance = c, d
		}
	}
	return best, best != ""
}

// shared returns the length of the common start of a and b.
func shared(a, b string) int {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return n
}

// DidYouMean returns `; did you mean "x"?` for the nearest candidate, or "".
func DidYouMean(name string, candidates []string) string {
	if near, ok := Nearest(name, candidates); ok {
		return `; did you mean "` + near + `"?`
	}
	return ""
}

// edits is the Damerau–Levenshtein distance (optimal string alignment) of a and b, or limit where
// the distance is at least that.
func edits(a, b []rune, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := range a {
		row[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
