//go:build unix

package repl

import (
	"os"
	"path/filepath"
	"testing"
)

func TestKeeps(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "state", "history")
	for _, what := range []string{"a new file", "an old file"} {
		if !keeps(path) {
			t.Errorf("%s holds no history", what)
		}
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("others may read it: %v %v", info, err)
	}
	for _, p := range []string{"", dir, "/dev/null", filepath.Join(path, "below")} {
		if keeps(p) {
			t.Errorf("%q holds a history", p)
		}
	}
}
