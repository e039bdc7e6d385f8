//go:build unix

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// TestSlurmScript runs the job script of docs/cluster as two tasks of an array, with a stand-in for scancel.
func TestSlurmScript(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts processes")
	}
	script, err := filepath.Abs(filepath.Join("..", "..", "docs", "cluster", "slurm.sh"))
	if err != nil {
		t.Fatal(err)
	}
	example, err := filepath.Abs(filepath.Join("..", "..", "examples", "sensitivity", "tank.ode"))
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.Executable() // TestMain makes it the command where its name is odes
	if err != nil {
		t.Fatal(err)
	}
	folder := t.TempDir()
	odes := filepath.Join(folder, "odes")
	if err := os.Symlink(program, odes); err != nil {
		t.Fatal(err)
	}
	scancel := []byte("#!/bin/sh\necho $1 > cancelled\n")
	if err := os.WriteFile(filepath.Join(folder, "scancel"), scancel, 0o755); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := free.Addr().(*net.TCPAddr).Port
	free.Close()
	task := func(id int) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), "bash", script, "ensemble", example, "-n", "64", "-q", "-o", "out.csv")
		cmd.Dir, cmd.WaitDelay = folder, time.Second
		cmd.Env = append(os.Environ(), "ODES="+odes, fmt.Sprint("ODES_PORT=", port),
			fmt.Sprint("SLURM_ARRAY_TASK_ID=", id),
			"SLURM_ARRAY_JOB_ID=77", "SLURM_CPUS_PER_TASK=1", "PATH="+folder+":"+os.Getenv("PATH"))
		return cmd
	}
	other := task(1)
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() {
		_ = other.Process.Kill()
		_ = other.Wait()
	}()
	if out, err := task(0).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(filepath.Join(folder, "out.csv"))
	if err != nil || strings.Count(string(text), "\n") != 65 {
		t.Errorf("%v\n%s", err, text)
	}
	if id, err := os.ReadFile(filepath.Join(folder, "cancelled")); err != nil || string(id) != "77\n" {
		t.Errorf("scancel was given %q, %v", id, err)
	}
}

// TestKubernetesArguments parses the command lines of docs/cluster/kubernetes.yaml.
func TestKubernetesArguments(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "cluster", "kubernetes.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	lists := regexp.MustCompile(`args: \[(.*)\]`).FindAllSubmatch(text, -1)
	if len(lists) != 3 {
		t.Fatalf("%d command lines", len(lists))
	}
	for _, l := range lists {
		p, err := newParser(allCommands(), io.Discard, io.Discard)
		if err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, a := range bytes.Split(l[1], []byte(", ")) {
			args = append(args, strings.Trim(string(a), `"`))
		}
		if _, err := parse(p, args); err != nil {
			t.Errorf("%q: %v", args, err)
		}
	}
}
