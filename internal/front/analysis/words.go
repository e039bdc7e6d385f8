package analysis

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"odes.dev/odes/internal/base/lazy"
)

// List splits the value of a flag at commas outside of brackets.
func List(flag, text string) ([]string, error) {
	if text == "" {
		return nil, nil
	}
	if inner, ok := strings.CutPrefix(text, "["); ok && strings.HasSuffix(inner, "]") {
		text = strings.TrimSuffix(inner, "]") // as the language writes it
	}
	parts := Outside(text, ',')
	for i, p := range parts {
		parts[i] = strings.TrimSpace(p)
		if parts[i] == "" {
			return nil, Wrongf("--%s %s: a name is missing", flag, text)
		}
	}
	return parts, nil
}

// Outside splits text at sep outside of brackets and parentheses.
func Outside(text string, sep byte) []string {
	var parts []string
	depth, from := 0, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '[' || c == '(':
			depth++
		case c == ']' || c == ')':
			depth--
		case c == sep && depth == 0:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	return append(parts, text[from:])
}

// unitless is a number with a unit that lacks its brackets.
var unitless = lazy.Regexp(`^([-+]?[\d.]+(?:[eE][-+]?\d+)?)\s*(\pL[^\s\[\]]*)$`)

// Numbers reads a number, or a list of them in brackets; nested lists are read row by row.
func Numbers(text string) ([]float64, error) {
	text = strings.TrimSpace(text)
	inner, opened := strings.CutPrefix(text, "[")
	if !opened {
		x, err := single(text)
		return []float64{x}, err
	}
	inner, closed := strings.CutSuffix(inner, "]")
	if !closed {
		return nil, fmt.Errorf("the bracket of %q is not closed", text)
	}
	var all []float64
	width := -1
	for _, part := range Outside(inner, ',') {
		x, err := Numbers(part)
		if err != nil {
			return nil, err
		}
		if width >= 0 && len(x) != width {
			return nil, fmt.Errorf("the rows of %q differ in length", text)
		}
		width = len(x)
		all = append(all, x...)
	}
	return all, nil
}

func single(text string) (float64, error) {
	text = strings.TrimSpace(text)
	x, err := strconv.ParseFloat(text, 64)
	if err != nil || strings.ContainsAny(text, "xXpP_") {
		if errors.Is(err, strconv.ErrRange) {
			return 0, fmt.Errorf("%q is too large for double precision (1.8e308)", text)
		}
		hint := ""
		if m := unitless().FindStringSubmatch(text); m != nil {
			hint = fmt.Sprintf("; a unit stands in brackets: %s [%s]", m[1], m[2])
		} else if _, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64); err == nil {
			hint = "; decimals are written with a point"
		}
		return 0, fmt.Errorf("%q is not a number%s", text, hint)
	}
	return x, nil
}

const maxTimes = 10_000_000

// TimesOf reads from:step:to, both ends included, or a list of times.
func TimesOf(text string) ([]float64, error) {
	if text == "" {
		return nil, nil
	}
	if !strings.Contains(text, ":") {
		if !strings.HasPrefix(text, "[") {
			text = "[" + text + "]"
		}
		list, err := Numbers(text)
		if err != nil {
			return nil, Wrongf("--times: %v; write from:step:to, or times with commas between", err)
		}
		for i, t := range list {
			if math.IsNaN(t) || math.IsInf(t, 0) || i > 0 && t < list[i-1] {
				return nil, Wrongf("--times: times must be finite and ascending")
			}
		}
		return list, nil
	}
	parts := strings.Split(text, ":")
	if len(parts) != 3 {
		return nil, Wrongf("--times %s: write from:step:to, or times with commas between", text)
	}
	var x [3]float64
	for i, p := range parts {
		v, err := single(p)
		if err != nil {
			return nil, Wrongf("--times %s: %v", text, err)
		}
		x[i] = v
	}
	from, step, to := x[0], x[1], x[2]
	count := math.Floor((to-from)/step*(1+1e-12)) + 1
	if !(step > 0) || !(to >= from) || !(count <= maxTimes) {
		const say = "--times %s: the step must be positive, the end not before the start, at most %d times"
		return nil, Wrongf(say, text, maxTimes)
	}
	list := make([]float64, int(count))
	for i := range list {
		list[i] = min(from+float64(float64(i)*step), to)
	}
	return list, nil
}
