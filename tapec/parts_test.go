package tapec

import (
	"errors"
	"fmt"
	"slices"
	"testing"
)

// example returns Parts of distinct texts.
func example() *Parts[string] {
	s := &Parts[string]{}
	for p := range numParts {
		if p < firstList {
			s.Set(p, p.String())
		} else {
			s.SetList(p, []string{p.String() + " 0", p.String() + " 1"})
		}
	}
	return s
}

// All goes through every part once and tells the right places.
func TestAllParts(t *testing.T) {
	s := example()
	seen := map[PartIndex]bool{}
	for at, x := range s.All() {
		want := at.Part.String()
		if at.Part >= firstList {
			want = fmt.Sprint(want, " ", at.Index)
		}
		if x != want || seen[at] {
			t.Errorf("%v is %q, want %q, once", at, x, want)
		}
		seen[at] = true
	}
	if want := int(firstList) + 2*int(numParts-firstList); len(seen) != want {
		t.Errorf("%d places, want %d", len(seen), want)
	}
	var some []string
	for _, x := range s.All(PartRates, PartAffects, PartStart) {
		if some = append(some, x); len(some) == 4 {
			break
		}
	}
	if want := []string{"rates", "affects 0", "affects 1", "start"}; !slices.Equal(some, want) {
		t.Errorf("some parts are %q, want %q", some, want)
	}
	for range s.All() { // stops where its user does
		break
	}
}

func TestPartsWithout(t *testing.T) {
	s := example()
	less := s.Without(PartRates, PartAffects)
	if less.Get(PartRates) != "" || less.List(PartAffects) != nil {
		t.Errorf("left are %q and %q", less.Get(PartRates), less.List(PartAffects))
	}
	if less.Get(PartStart) != "start" || len(less.List(PartAtTimes)) != 2 {
		t.Error("other parts have gone")
	}
	if s.Get(PartRates) != "rates" || len(s.List(PartAffects)) != 2 {
		t.Error("the original has changed")
	}
}

func TestTransformParts(t *testing.T) {
	s := example().Without(PartAtEvents, PartPeaks)
	lengths, err := Transform(s, func(_ PartIndex, x string) (int, error) { return len(x), nil })
	if err != nil {
		t.Fatal(err)
	}
	if got := lengths.Get(PartGuards); got != len("guards") {
		t.Errorf("guards have become %d", got)
	}
	if got := lengths.List(PartAffects); !slices.Equal(got, []int{9, 9}) {
		t.Errorf("affects have become %d", got)
	}
	if got := lengths.List(PartAtEvents); got != nil {
		t.Errorf("an empty list has become %d", got)
	}
	calls := 0
	wrong := errors.New("wrong")
	_, err = Transform(s, func(at PartIndex, _ string) (int, error) {
		calls++
		if at == (PartIndex{PartDefaults, 1}) {
			return 0, wrong
		}
		return 0, nil
	})
	if err != wrong || calls != 2 {
		t.Errorf("error %v after %d calls, want that of the second", err, calls)
	}
}

// A list cannot be used as a single part, nor a single part as a list.
func TestPartsOfTheOtherKind(t *testing.T) {
	s := example()
	for what, f := range map[string]func(){
		"Get of a list":         func() { s.Get(PartAffects) },
		"Set of a list":         func() { s.Set(PartDefaults, "") },
		"List of a single part": func() { s.List(PartRates) },
		"SetList of one":        func() { s.SetList(PartInvariants, nil) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s does not panic", what)
				}
			}()
			f()
		}()
	}
}

// A compiled model's parts are its tapes.
func TestCompiledParts(t *testing.T) {
	c := try(t, golden(t, "array_events"))
	s := c.Parts()
	if s.Get(PartRates) != c.Rates || s.Get(PartInvariants) != c.Invariants || s.Get(PartAsserts) != c.Asserts {
		t.Error("a part is not the tape of its name")
	}
	n := 0
	for at, tp := range c.Tapes() {
		n++
		if at.Part < firstList && tp.Name != at.Part.String() {
			t.Errorf("%v is tape %s", at, tp.Name)
		}
		if at.Part == PartAffects && tp.Name != "affect."+c.Model.Events[at.Index].Name {
			t.Errorf("%v is tape %s", at, tp.Name)
		}
	}
	if n < 5 {
		t.Errorf("%d tapes", n)
	}
}
