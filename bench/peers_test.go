package main

import (
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestPeersAreHere: every program that is raced has a source in the folder of peers, and its Makefile lists it.
func TestPeersAreHere(t *testing.T) {
	list, err := os.ReadFile("peers/Makefile")
	if err != nil {
		t.Fatal(err)
	}
	asked := regexp.MustCompile(`r\.peer\("[^"]*", "(\w+)"|add\((?:\w+|"[^"]+"), "(\w+)"`)
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range asked.FindAllStringSubmatch(string(text), -1) {
			found[m[1]+m[2]] = true
		}
	}
	if len(found) != 10 {
		t.Errorf("%d programs are asked for, not 10: %v", len(found), found)
	}
	for name := range found {
		if _, err := os.Stat(filepath.Join("peers", name+".c")); err != nil {
			t.Error(err)
		}
		if !strings.Contains(string(list), name) {
			t.Errorf("the Makefile does not build %s", name)
		}
	}
}

// TestPeerAgrees builds the program that needs least, where its library is here, and compares a norm of derivatives.
func TestPeerAgrees(t *testing.T) {
	folder := t.TempDir()
	if out, err := exec.Command("make", "-C", "peers", "B="+folder, "own").CombinedOutput(); err != nil {
		t.Skipf("no compiler or no OpenBLAS here: %s", out)
	}
	out, err := exec.Command(filepath.Join(folder, "glv_limit"), "-n", "10", "-fixed", "200").Output()
	if err != nil {
		t.Fatal(err)
	}
	var s sample
	if err := json.Unmarshal(out, &s); err != nil {
		t.Fatal(err)
	}
	if math.Abs(s.Checksum/2.0924669453-1) > 1e-8 || s.Steps != 200 {
		t.Errorf("%d steps and %.11g, not 200 and 2.0924669453", int(s.Steps), s.Checksum)
	}
}
