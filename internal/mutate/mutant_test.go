package main

import (
	"bytes"
	"slices"
	"testing"
)

// TestMutants: the changes of a small file, and a sample of them that is the same each time.
func TestMutants(t *testing.T) {
	text := []byte(`package p

import "fmt"

const k = 3

func f(a int) (b int) {
	if a < 2 {
		b += 1
		panic(fmt.Sprint(a + 1))
	}
	return a * b
}

func (x t) String() string { return "a" + "b" }
`)
	all, err := mutants("p.go", text)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, m := range all {
		got = append(got, m.String())
	}
	wanted := []string{
		"p.go:8:5: a < 2 → !(a < 2)",
		"p.go:8:7: < → <=",
		"p.go:8:7: < → >=",
		"p.go:8:9: 2 → 2+1",
		"p.go:9:5: += → -=",
		"p.go:9:3: b += 1 → _ = 0",
		"p.go:9:8: 1 → 1+1",
		"p.go:12:11: * → /",
	}
	if !slices.Equal(got, wanted) {
		t.Errorf("got %q", got)
	}
	want := bytes.Replace(text, []byte("a * b"), []byte("a / b"), 1)
	if got := all[7].apply(text); !bytes.Equal(got, want) {
		t.Errorf("applied: %s", got)
	}
	few := sample(all, 3, 1)
	if len(few) != 3 || !slices.Equal(few, sample(all, 3, 1)) {
		t.Errorf("sample %v", few)
	}
	if slices.Equal(few, sample(all, 3, 2)) && slices.Equal(few, sample(all, 3, 3)) {
		t.Error("the seed changes nothing")
	}
}
