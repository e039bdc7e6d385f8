// Package records looks at the rows of tables that hold doses and measurements of subjects, in their order.
package records

import (
	"fmt"
	"math"
	"strings"
	"unicode"
)

// Broken says in words why rows, in which a subject is dosed and measured, are not one course in time: they stand in
// separate pieces of the table, or their times go back. It returns "" where they are one. A row without a time counts
// as one at the time before.
func Broken(rows []bool, times []float64) string {
	last := -1
	for i, in := range rows {
		if !in || i >= len(times) {
			continue
		}
		if last >= 0 && last != i-1 {
			return fmt.Sprintf("its rows stand in separate pieces of the table: up to row %d, and from row %d on",
				last+1,
				i+1)
		}
		if last >= 0 && times[i] < times[last] {
			return fmt.Sprintf("its time goes back from %v in row %d to %v in row %d", times[last], last+1, times[i],
				i+1)
		}
		if last = i; math.IsNaN(times[i]) && i > 0 {
			times[i] = times[i-1]
		}
	}
	return ""
}

// Tied lists the rows, from 0, that are measured and that stand before a dosed one of the same time.
func Tied(measured, dosed []bool, times []float64) (list []int) {
	for i, in := range measured {
		if !in {
			continue
		}
		for j := i + 1; j < len(dosed) && j < len(times); j++ {
			if dosed[j] && times[j] == times[i] {
				list = append(list, i)
				break
			}
		}
	}
	return list
}

// List names rows, counted from 1: the first few, and how many more there are.
func List(rows []int) string {
	const most = 5
	var b strings.Builder
	for k, i := range rows[:min(most, len(rows))] {
		if k > 0 {
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%d", i+1)
	}
	if n := len(rows) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	if len(rows) == 1 {
		return "row " + b.String()
	}
	return "rows " + b.String()
}

// Plain makes a text the end of a name.
func Plain(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return r
		}
		return '_'
	}, s)
}
