package analysis

import (
	"errors"
	"strings"

	"odes.dev/odes"
	"odes.dev/odes/internal/base/lazy"
)

// ReadAssignment reads "name = value", with a number or a list of them, and a unit behind: "g = 1.62 [m/s^2]".
func ReadAssignment(text string) (odes.Assignment, error) {
	name, value, ok := strings.Cut(text, "=")
	name = strings.TrimSpace(name)
	if !ok || name == "" {
		return odes.Assignment{}, errors.New("write name=value")
	}
	unit := ""
	if m := withUnit().FindStringSubmatch(value); m != nil {
		value, unit = m[1], m[2]
	}
	values, err := Numbers(value)
	if err != nil {
		return odes.Assignment{}, err
	}
	return odes.Assignment{Name: name, Values: values, Unit: unit}, nil
}

// withUnit is a number or a list of them, and a unit behind: 1.62 [m/s^2]. No list of numbers ends like that.
var withUnit = lazy.Regexp(`^(.*[^\s\[,].*?)\s*\[([^\[\],]*)\]\s*$`)
