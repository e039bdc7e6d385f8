// Command mutate asks what the tests of a package notice: it makes one small change after another to the code, such
// as < for <=, and runs the tests on each. A change that they pass is a survivor: a test is missing, or the change
// makes no difference. The tree is not touched. It is run by hand, from the root of the module:
//
//	go run ./internal/testing/mutate -n 60 ./solvers/hybrid guards.go locate.go
//
// The sample depends on the seed and the text of the files alone.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// outcomes of a mutant.
const (
	killed   = "killed"
	survived = "SURVIVED"
	invalid  = "invalid" // the change does not compile
)

func main() {
	n := flag.Int("n", 40, "how many changes to try; 0: all")
	seed := flag.Int("seed", 1, "which sample of them")
	run := flag.String("run", "", "only these tests, as in go test -run")
	long := flag.Bool("long", false, "also the tests that -short leaves out")
	limit := flag.Duration("limit", time.Minute, "how much processor time tests may take; more counts as noticed")
	list := flag.Bool("list", false, "list the sample, and run nothing")
	again := flag.String("again", "", "try only the changes that this `file`, an earlier output, calls survivors")
	flag.Parse()
	if flag.NArg() < 1 {
		fmt.Fprintln(os.Stderr, "usage: go run ./internal/testing/mutate [flags] ./package [file.go …]")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var only []byte
	if *again != "" {
		var err error
		if only, err = os.ReadFile(*again); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	pick := func(all []mutant) []mutant { return sample(all, *n, *seed) }
	if only != nil {
		pick = func(all []mutant) []mutant { return survivors(all, string(only)) }
	}
	if err := mutate(ctx, flag.Arg(0), flag.Args()[1:], pick, *list, tests{*run, *long, *limit}); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// mutate tries what pick takes of the changes to files of a package, or to all of its files where none is named.
func mutate(ctx context.Context, folder string, names []string, pick func([]mutant) []mutant, list bool, t tests,
) error {
	if len(names) == 0 {
		all, err := filepath.Glob(filepath.Join(folder, "*.go"))
		if err != nil {
			return err
		}
		for _, path := range all {
			if !strings.HasSuffix(path, "_test.go") {
				names = append(names, filepath.Base(path))
			}
		}
	}
	texts := map[string][]byte{}
	var found []mutant
	for _, name := range names {
		path := filepath.Join(folder, name)
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		texts[path] = text
		its, err := mutants(path, text)
		if err != nil {
			return err
		}
		found = append(found, its...)
	}
	chosen := pick(found)
	if list {
		for _, m := range chosen {
			fmt.Println(m)
		}
		return nil
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	w, err := newWeaver(folder)
	if err != nil {
		return err
	}
	woven, alone := w.weave(chosen)
	binary := filepath.Join(dir, "woven")
	if out, err := build(ctx, dir, folder, woven, binary); err != nil {
		return fmt.Errorf("the package does not compile:\n%s", out)
	}
	if got, out := t.on(ctx, binary, folder, 0); got != survived {
		return fmt.Errorf("the tests fail without any change:\n%s", out)
	}
	count := map[string]int{}
	for i, m := range chosen {
		of, got := binary, invalid
		if slices.Contains(alone, i+1) {
			of = filepath.Join(dir, "alone")
			if _, err := build(ctx, dir, folder, map[string][]byte{m.path: m.apply(texts[m.path])}, of); err != nil {
				of = ""
			}
		}
		if of != "" {
			got, _ = t.on(ctx, of, folder, i+1)
		}
		if ctx.Err() != nil {
			break
		}
		count[got]++
		fmt.Printf("%-8s %s\n", got, m)
	}
	valid := count[killed] + count[survived]
	fmt.Printf("%s: %d of %d changes; %d killed, %d survived, %d invalid: %.0f %% killed\n", folder, len(chosen),
		len(found), count[killed], count[survived], count[invalid], 100*float64(count[killed])/float64(max(1, valid)))
	return ctx.Err()
}

// sample takes n of the mutants, those with the least hashes.
func sample(all []mutant, n, seed int) []mutant {
	if n <= 0 || n > len(all) {
		n = len(all)
	}
	list := slices.Clone(all)
	slices.SortStableFunc(list, func(a, b mutant) int { return bytes.Compare(a.hash(seed), b.hash(seed)) })
	list = list[:n]
	slices.SortStableFunc(list, func(a, b mutant) int {
		if c := strings.Compare(a.path, b.path); c != 0 {
			return c
		}
		return a.from - b.from
	})
	return list
}

// survivors takes the mutants that an earlier output calls survivors.
func survivors(all []mutant, output string) []mutant {
	return slices.DeleteFunc(all, func(m mutant) bool {
		return !strings.Contains(output, survived+" "+m.String()+"\n")
	})
}

// tests are those that have to notice a change.
type tests struct {
	run   string
	long  bool
	limit time.Duration
}

// memoryLimit bounds the address space of tests, in KiB: a change may make a loop endless that allocates.
const memoryLimit = 8 << 20

// build builds the tests of a package with other texts in place of files.
func build(ctx context.Context, dir, folder string, texts map[string][]byte, binary string) (output []byte, err error) {
	overlay := struct{ Replace map[string]string }{map[string]string{}}
	for path, text := range texts {
		whole, err := filepath.Abs(path)
		if err != nil {
			return nil, err
		}
		other := filepath.Join(dir, filepath.Base(path))
		if err := os.WriteFile(other, text, 0o666); err != nil {
			return nil, err
		}
		overlay.Replace[whole] = other
	}
	table, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(file, table, 0o666); err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", file, "-o", binary,
		folder).CombinedOutput()
}

// on runs the tests of a package that were built with changes, of which the k-th is made.
func (t tests) on(ctx context.Context, binary, folder string, k int) (outcome string, output []byte) {
	script := fmt.Sprintf(`ulimit -v %d; ulimit -t %d
exec "$0" -test.short=%t -test.failfast -test.run "$1" -test.timeout %s`,
		memoryLimit, int(t.limit.Seconds()), !t.long, 20*t.limit)
	cmd := exec.CommandContext(ctx, "sh", "-c", script, binary, t.run)
	cmd.Dir, cmd.Env = folder, append(os.Environ(), fmt.Sprintf("MUTANT=%d", k))
	if out, err := cmd.CombinedOutput(); err != nil {
		return killed, out
	}
	return survived, nil
}
