package odes_test

import (
	"testing"

	"odes.dev/odes"
)

// TestSettingValues: a word that is offered for a setting is one that it takes.
func TestSettingValues(t *testing.T) {
	n := 0
	for _, block := range []string{"solver", "sens", "fit"} {
		for _, row := range odes.SettingRows(block) {
			for _, key := range row.Keys {
				for _, word := range odes.SettingValues(block, key) {
					n++
					text := "time t : [s] from 0 to 1\nparam k = 1 [1/s]\nstate x : [1] = 1\nx' = -k*x\nobjective J = final(x)\n" + block + " { " + key + " = " + word + " }\n"
					if _, _, err := odes.Check("m.ode", text, odes.ParseOptions{}); err != nil {
						t.Errorf("%s.%s = %s: %v", block, key, word, err)
					}
				}
			}
		}
	}
	if n < 40 {
		t.Fatalf("only %d words are offered", n)
	}
}
