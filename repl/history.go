package repl

import (
	"os"
	"path/filepath"
)

// HistoryFile returns the file in which sessions keep their history: $ODES_HISTORY, or a file in
// the user's folder for such files. It returns "" when there is none.
func HistoryFile() string {
	if path, ok := os.LookupEnv("ODES_HISTORY"); ok {
		return path
	}
	if dir := os.Getenv("XDG_STATE_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "odes", "history")
	}
	if home, err := os.UserHomeDir(); err == nil && filepath.Separator == '/' {
		return filepath.Join(home, ".local", "state", "odes", "history")
	}
	if dir, err := os.UserConfigDir(); err == nil {
		return filepath.Join(dir, "odes", "history")
	}
	return ""
}
