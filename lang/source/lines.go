package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Lines returns " (lines 12, 15)".
func Lines(spans []Span) string {
	var all []string
	for _, s := range spans {
		if s.File != nil {
			if n := strconv.Itoa(s.Begin().Line); !slices.Contains(all, n) {
				all = append(all, n)
			}
		}
	}
	switch len(all) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" (line %s)", all[0])
	}
	return fmt.Sprintf(" (lines %s)", strings.Join(all, ", "))
}
