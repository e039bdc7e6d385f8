package export

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	goruntime "runtime"
	"strings"
)

// platforms are the names that FMI has for systems, with the endings of their libraries.
var platforms = map[string][2]string{
	"linux": {"linux", ".so"}, "darwin": {"darwin", ".dylib"}, "windows": {"windows", ".dll"},
}

// Compile returns an FMU with a library for this machine, which the compiler makes that CC names, or cc.
func Compile(ctx context.Context, fmu string) (string, error) {
	on, is := platforms[goruntime.GOOS]
	processor := map[string]string{"amd64": "x86_64", "arm64": "aarch64", "386": "x86"}[goruntime.GOARCH]
	if !is || processor == "" {
		return "", fmt.Errorf("FMI has no name for libraries of %s on %s: leave --binary out", goruntime.GOOS,
			goruntime.GOARCH)
	}
	z, err := zip.NewReader(strings.NewReader(fmu), int64(len(fmu)))
	if err != nil {
		return "", err
	}
	var files [][2]string
	var name, source string
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return "", err
		}
		text, err := io.ReadAll(r)
		if err != nil {
			return "", err
		}
		files = append(files, [2]string{f.Name, string(text)})
		if base, is := strings.CutSuffix(path.Base(f.Name), ".c"); is {
			name, source = base, string(text)
		}
	}
	dir, err := os.MkdirTemp("", "odes-fmu")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	from, to := filepath.Join(dir, "model.c"), filepath.Join(dir, "model"+on[1])
	if err := os.WriteFile(from, []byte(source), 0o600); err != nil {
		return "", err
	}
	words := strings.Fields(cmp.Or(os.Getenv("CC"), "cc"))
	args := append(words[1:], "-std=c99", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-o", to, from, "-lm")
	run := exec.CommandContext(ctx, words[0], args...)
	var said bytes.Buffer
	run.Stderr = &said
	if err := run.Run(); err != nil {
		return "", fmt.Errorf("the FMU cannot be compiled: %w%s; leave --binary out, or set CC to a compiler of C", err,
			strings.TrimRight("\n"+said.String(), "\n"))
	}
	library, err := os.ReadFile(to)
	if err != nil {
		return "", err
	}
	at := "binaries/" + processor + "-" + on[0] + "/" + name + on[1]
	return packed(append(files, [2]string{at, string(library)})), nil
}
