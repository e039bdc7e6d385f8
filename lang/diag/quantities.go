package diag

import (
	"fmt"
	"strconv"
	"strings"
)

// Number formats a number for a message, to eight digits.
func Number(x float64) string { return strconv.FormatFloat(x, 'g', 8, 64) }

// Bytes formats a size for a message in the units that settings take: "1.5 GB".
func Bytes(bytes float64) string {
	x, unit := bytes, "B"
	for _, u := range []string{"kB", "MB", "GB", "TB"} {
		if x < 1000 {
			break
		}
		x, unit = x/1000, u
	}
	return strconv.FormatFloat(x, 'g', 3, 64) + " " + unit
}

// Count writes "1 step", "2 steps".
func Count(n int, noun string) string { return CountOf(n, noun, noun+"s") }

// CountOf writes "1 entry", "2 entries".
func CountOf(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Some joins names, of which it leaves some out where there are many.
func Some(names []string) string {
	const most = 6
	if n := len(names); n > most+1 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", n-most)
	}
	return strings.Join(names, ", ")
}

// SomeAnd joins names as All does, of many the first few: "a, b, c, d and 3 more".
func SomeAnd(names []string) string {
	const most = 4
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return All(names)
}

// Either joins alternatives: "a, b or c".
func Either(list []string) string { return joined(list, " or ") }

// All joins what belongs together: "a, b and c".
func All(list []string) string { return joined(list, " and ") }

func joined(list []string, last string) string {
	if n := len(list) - 1; n > 0 {
		return strings.Join(list[:n], ", ") + last + list[n]
	}
	return strings.Join(list, "")
}
