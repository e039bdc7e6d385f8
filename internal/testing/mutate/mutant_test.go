package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
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

// TestWeave: all changes but that of the length of an array are in one program, and each is made where it is told to
// be.
func TestWeave(t *testing.T) {
	w, err := newWeaver("testdata/small")
	if err != nil {
		t.Fatal(err)
	}
	const path = "testdata/small/small.go"
	all, err := mutants(path, w.texts[path])
	if err != nil {
		t.Fatal(err)
	}
	texts, alone := w.weave(all)
	if len(alone) != 1 || all[alone[0]-1].was != "2" {
		t.Errorf("alone are %v", alone)
	}
	text := string(texts[path])
	for i, m := range all {
		if strings.Contains(text, fmt.Sprintf("mutantIs(%d)", i+1)) == slices.Contains(alone, i+1) {
			t.Errorf("%s is woven: %v", m, !slices.Contains(alone, i+1))
		}
	}
	for _, want := range []string{
		"if mutantIs(17) { break }; continue",
		"func() bool { if mutantIs(11) { return (a) < (b) }; if mutantIs(12) { return (a) > (b) }; return (a) <= (b) }",
		"i += func() int { if mutantIs(6) { return -1 }; return 1 }()",
		"if (yes) != mutantIs(33) {",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
