package main

import (
	"bytes"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestMerged: what takes the place of math.FMA is a file of Go in which both are declared.
func TestMerged(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	was, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(goroot)), "src", "math", "fma.go"))
	if err != nil {
		t.Fatal(err)
	}
	ours, err := os.ReadFile("../../internal/base/elem/muladd.go")
	if err != nil {
		t.Fatal(err)
	}
	text, err := merged(string(was), string(ours))
	if err != nil {
		t.Fatal(err)
	}
	tree, err := parser.ParseFile(token.NewFileSet(), "fma.go", text, 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"FMA", "fmaOfIntegers"} {
		if tree.Scope.Lookup(name) == nil {
			t.Errorf("no %s", name)
		}
	}
	if _, err := merged("package math", string(ours)); err == nil {
		t.Error("a file without FMA is no error")
	}
}

// TestSize holds the file that pages load to what was promised.
func TestSize(t *testing.T) {
	packed, err := os.ReadFile("../.build/playground/static/playground/odes.wasm.gz")
	if err != nil {
		t.Skip("not built: go run ./playground")
	}
	if most := 6_500_000; len(packed) > most || !bytes.HasPrefix(packed, []byte{0x1f, 0x8b}) {
		t.Errorf("%d bytes by gzip, more than %d", len(packed), most)
	}
}
