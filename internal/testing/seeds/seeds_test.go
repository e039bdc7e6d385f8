package seeds

import "testing"

func TestOf(t *testing.T) {
	t.Setenv(Variable, "")
	if got := Of(t, 5); got != 5 {
		t.Errorf("without the variable a suite begins with %d, not with its usual seed", got)
	}
	begins := map[uint64]string{}
	for _, n := range []string{"0", "1", "2", "4294967295"} {
		t.Setenv(Variable, n)
		got := Of(t, 5)
		if of, is := begins[got]; is {
			t.Errorf("%s=%s begins where %s does", Variable, n, of)
		}
		begins[got] = n
		if int64(got) < 0 {
			t.Errorf("%s=%s: %d is negative as a signed number", Variable, n, got)
		}
	}
}
