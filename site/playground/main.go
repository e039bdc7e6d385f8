// Command playground builds what the playground of the site runs: language and
// solvers as WebAssembly, compressed, and Go's support for it.
//
//	go run ./playground
//
// WebAssembly has no instruction that multiplies and adds with one rounding,
// which results need at every step. Go's own replacement works on integers;
// elem.MulAdd gives the same bits by floating point, and takes its place here.
package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

func main() {
	root := flag.String("root", "..", "folder of the repository")
	out := flag.String("out", ".build/playground", "folder to write")
	flag.Parse()
	if err := build(*root, *out); err != nil {
		fmt.Fprintln(os.Stderr, "playground:", err)
		os.Exit(1)
	}
}

// quick are packages, and what others of Go there is to them, in which calls are worth expanding. Elsewhere that would
// make the file a quarter larger.
var quick = []string{
	"math", "math/bits", "strconv", "internal/strconv",
	"odes.dev/odes/vm", "odes.dev/odes/vm/internal/kernel",
	"odes.dev/odes/internal/base/elem", "odes.dev/odes/internal/base/simd", "odes.dev/odes/internal/base/sizes",
}

// build writes odes.wasm.gz, wasm_exec.js and the grammar of the language.
func build(root, out string) error {
	goroot, err := output(root, "go", "env", "GOROOT")
	if err != nil {
		return err
	}
	work, err := filepath.Abs(out)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(work, 0o777); err != nil {
		return err
	}
	// What the site publishes lies in a folder of its own.
	shown := filepath.Join(work, "static", "playground")
	if err := os.MkdirAll(shown, 0o777); err != nil {
		return err
	}
	overlay, err := writeOverlay(root, goroot, work)
	if err != nil {
		return err
	}
	wasm := filepath.Join(work, "odes.wasm")
	arguments := []string{
		"build", "-trimpath", "-buildvcs=false", "-tags", "odes_playground", "-overlay", overlay,
		"-ldflags=-s -w -buildid=", "-gcflags=all=-l",
	}
	for _, p := range quick {
		arguments = append(arguments, "-gcflags="+p+"=")
	}
	if _, err := output(root, "go", append(arguments, "-o", wasm, "./cmd/playground")...); err != nil {
		return err
	}
	code, err := os.ReadFile(wasm)
	if err != nil {
		return err
	}
	var packed bytes.Buffer
	z, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if _, err := z.Write(code); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(shown, "odes.wasm.gz"), packed.Bytes(), 0o666); err != nil {
		return err
	}
	for _, name := range []string{
		filepath.Join(goroot, "lib", "wasm", "wasm_exec.js"),
		filepath.Join(root, "editors", "vscode", "syntaxes", "odes.tmLanguage.json"), // colours of the editor
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(shown, filepath.Base(name)), text, 0o666); err != nil {
			return err
		}
	}
	fmt.Printf("playground: %.1f MB, %.2f MB by gzip\n", float64(len(code))/1e6, float64(packed.Len())/1e6)
	return nil
}

// writeOverlay writes Go's math.FMA with elem.MulAdd in its place, and what tells the go command so.
func writeOverlay(root, goroot, work string) (string, error) {
	theirs := filepath.Join(goroot, "src", "math", "fma.go")
	was, err := os.ReadFile(theirs)
	if err != nil {
		return "", err
	}
	ours, err := os.ReadFile(filepath.Join(root, "internal", "base", "elem", "muladd.go"))
	if err != nil {
		return "", err
	}
	text, err := merged(string(was), string(ours))
	if err != nil {
		return "", err
	}
	replacement := filepath.Join(work, "fma.go")
	if err := os.WriteFile(replacement, []byte(text), 0o666); err != nil {
		return "", err
	}
	list, err := json.Marshal(map[string]map[string]string{"Replace": {theirs: replacement}})
	if err != nil {
		return "", err
	}
	overlay := filepath.Join(work, "overlay.json")
	return overlay, os.WriteFile(overlay, list, 0o666)
}

// merged returns the file of math.FMA, which becomes what MulAdd falls back on.
func merged(was, ours string) (string, error) {
	const declared = "func FMA(x, y, z float64) float64 {"
	_, body, found := strings.Cut(ours, "func MulAdd(")
	if strings.Count(was, declared) != 1 || !found {
		return "", fmt.Errorf("math.FMA or elem.MulAdd is not declared as it was")
	}
	body = strings.ReplaceAll(strings.ReplaceAll(body, "math.FMA(", "fmaOfIntegers("), "math.", "")
	was = strings.Replace(was, declared, "func fmaOfIntegers(x, y, z float64) float64 {", 1)
	return was + "\nfunc FMA(" + body, nil
}

// output runs a command and returns what it says.
func output(folder, name string, arguments ...string) (string, error) {
	command := exec.Command(name, arguments...)
	command.Dir = folder
	if name == "go" && arguments[0] == "build" {
		command.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0", "GOFLAGS=")
	}
	var problems bytes.Buffer
	command.Stderr = &problems
	said, err := command.Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w\n%s", name, arguments[0], err, problems.Bytes())
	}
	return strings.TrimSpace(string(said)), nil
}
