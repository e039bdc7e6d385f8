package typecheck

import (
	"slices"
	"strings"
	"testing"

	"odes.dev/odes/parser"
)

// TestSettingRows: every block has keys, each once and explained, and nothing else has any.
func TestSettingRows(t *testing.T) {
	for _, block := range parser.Blocks() {
		if len(settingRows[block]) == 0 {
			t.Errorf("the block %q has no keys", block)
		}
	}
	for block, rows := range settingRows {
		if !parser.IsBlock(block) {
			t.Errorf("%q is no block", block)
		}
		seen := map[string]bool{}
		for _, r := range rows {
			for _, key := range r.Keys {
				if seen[key] || r.Text == "" {
					t.Errorf("%s.%s: twice: %v, text %q", block, key, seen[key], r.Text)
				}
				seen[key] = true
			}
		}
	}
	for name := range settingNames {
		if block, key, _ := strings.Cut(name, "."); !slices.Contains(SettingKeys(block), key) {
			t.Errorf("there is no setting %s", name)
		}
	}
}
