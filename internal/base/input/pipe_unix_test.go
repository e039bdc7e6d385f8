//go:build unix

package input

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// TestPipes does not wait for a pipe that a model names, and reads one that a user names.
func TestPipes(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, "p.csv")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	_, err := Read(Folder(dir, nil), "p.csv", MaxData)
	if err == nil || !strings.HasSuffix(err.Error(), "it is a pipe") {
		t.Errorf("a pipe in the model's folder: %v", err)
	}
	go os.WriteFile(pipe, []byte("model M"), 0)
	if text, err := File(pipe, nil); err != nil || string(text) != "model M" {
		t.Errorf("a pipe that is named: %q, %v", text, err)
	}
	if _, err := File("/dev/zero", nil); err == nil || !strings.HasSuffix(err.Error(), "it is a device") {
		t.Errorf("a device: %v", err)
	}
	if _, err := File(dir, nil); err == nil || !strings.HasSuffix(err.Error(), "it is a folder") {
		t.Errorf("a folder: %v", err)
	}
}
