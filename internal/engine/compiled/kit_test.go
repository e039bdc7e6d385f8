package compiled

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"time"

	"odes.dev/odes/lang/diag"
	"odes.dev/odes/lang/source"
	"odes.dev/odes/parser"
	"odes.dev/odes/tape"
	"odes.dev/odes/typecheck"
)

// decaying returns a task with one param by which derivatives are wanted.
func decaying(t *testing.T) *Task {
	t.Helper()
	return taskOf(t, "time t from 0 to 1\nparam k = 2\nstate x = 1\nx' = -k*x^2\nobjective J = final(x)\n")
}

// taskOf returns a task of the model with that text, whose derivatives by k are wanted.
func taskOf(t *testing.T, text string) *Task {
	t.Helper()
	var l diag.List
	checked := typecheck.Check(parser.Parse(source.NewFile("m.ode", text), &l), typecheck.Env{}, &l)
	if l.HasErrors() {
		t.Fatal(l.Err())
	}
	p := NewTask(New(checked, &l), nil, nil, nil)
	p.Differentiate([]string{"k"})
	return &p
}

// TestKitsShareValues holds that programs of values are compiled once for each number of lanes, with the Jacobian and
// without it.
func TestKitsShareValues(t *testing.T) {
	p := decaying(t)
	kit := func(lanes int, dir Direction) *Kit {
		k, err := p.Kit(lanes, dir, false)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	run := kit(1, Values)
	if kit(1, Pull).Value != run.Value || kit(1, Push).Value != run.Value {
		t.Error("kits of one lane have values of their own")
	}
	if kit(2, Pull).Value == run.Value {
		t.Error("kits of one and of two lanes have the same values")
	}
	p.Jacobian = true
	stiff := kit(1, Values)
	if stiff.Value == run.Value || kit(1, Pull).Value != stiff.Value {
		t.Error("programs with the Jacobian and without it are not told apart")
	}
}

// TestKitIsGivenUp: programs that nobody waits for are not made, nor parts of them kept. Who asks next gets them.
func TestKitIsGivenUp(t *testing.T) {
	p := decaying(t)
	done := make(chan struct{})
	close(done)
	for _, dir := range []Direction{Values, Pull, Push, PushPull} {
		p.Done = done
		if k, err := p.Kit(1, dir, false); k != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("direction %d: %v, %v", dir, k, err)
		}
		p.Done = nil
		if _, err := p.Kit(1, dir, false); err != nil {
			t.Errorf("direction %d, made after it was given up: %v", dir, err)
		}
	}
}

// TestPanicInKit has the making of transposes panic while programs of values are made beside it. Nothing is written to
// what kits share when the lock is free again. In the goroutine of Begin it does no harm.
//
//odes:goroutines
func TestPanicInKit(t *testing.T) {
	var b strings.Builder
	b.WriteString("time t from 0 to 1\nparam k = 2\n")
	const n = 400
	for i := range n {
		fmt.Fprintf(&b, "state x%d = 1\nx%d' = -k*x%d*x%d + exp(-x%d)/%d\n", i, i, i, (i+7)%n, i, i+1)
	}
	b.WriteString("objective J = final(x1)\n")
	p := taskOf(t, b.String())
	programs := p.Model.Programs
	if got := len(programs.Rates.Instrs); got <= longRates {
		t.Fatalf("%d instructions", got)
	}
	const fault = "a fault"
	p.Model.Mutate(func(*tape.Tape) *tape.Tape { panic(fault) })
	before := runtime.NumGoroutine()
	alone := func() {
		t.Helper()
		for range 10_000 {
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatal("a goroutine does not end")
	}
	func() {
		defer func() {
			if got := recover(); got != fault {
				t.Errorf("the panic is %v", got)
			}
		}()
		_, _ = p.Kit(1, Pull, false)
	}()
	programs.mu.Lock()
	found := len(programs.values)
	alone()
	if len(programs.values) != found {
		t.Error("programs of values are noted without the lock")
	}
	programs.mu.Unlock()
	p.Begin(1, Pull, false)
	alone()
	p.Model.Mutate(nil)
	if k, err := p.Kit(1, Pull, false); err != nil || k.Value == nil || k.Pull == nil {
		t.Errorf("%v, %v", k, err)
	}
}
