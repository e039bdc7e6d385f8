package help

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"odes.dev/odes/lang/keys"

	"odes.dev/odes/solvers/methods"
)

// bounds is what the row of a method's setting says: of which method it is, and from where to where it goes.
var bounds = regexp.MustCompile(`^the .* (?:of|in) .(\w+).: ([\d.]+) to ([\d.]+)$`)

// TestMethodSettings requires that settings of method families are explained with those of every run, and that the
// family takes the values that the explanation names, and none beyond them.
func TestMethodSettings(t *testing.T) {
	for _, f := range methods.Families() {
		for _, s := range f.Settings {
			row := keys.Find("solver", s.Name)
			if row == nil {
				t.Errorf("the setting %s of %s methods is not explained", s.Name, f.Name)
				continue
			}
			said := bounds.FindStringSubmatch(row.Doc)
			if said == nil {
				t.Errorf("the row of %s does not read %s: %s", s.Name, bounds, row.Doc)
				continue
			}
			least, _ := strconv.ParseFloat(said[2], 64)
			most, _ := strconv.ParseFloat(said[3], 64)
			for x, good := range map[float64]bool{least: true, most: true, least - 1: false, most + 1: false} {
				if _, err := methods.Choose(said[1], map[string]float64{s.Name: x}); (err == nil) != good {
					t.Errorf("%s is said to go from %g to %g, but with %g: %v", s.Name, least, most, x, err)
				}
			}
		}
	}
}

// TestMethodCan: the help on a method says what it can do besides.
func TestMethodCan(t *testing.T) {
	for _, m := range methods.All() {
		text, _ := On(Method, m.Name)
		if m.Can.String() == "" || !strings.Contains(strings.Join(strings.Fields(text), " "), "has: "+m.Can.String()) {
			t.Errorf("%s can %s, and the help says\n%s", m.Name, m.Can, text)
		}
	}
}
