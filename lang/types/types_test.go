package types_test

import (
	"fmt"
	"testing"

	"odes.dev/odes/lang/types"
)

func TestShape(t *testing.T) {
	for _, c := range []struct {
		shape types.Shape
		size  int
		text  string
	}{
		{nil, 1, "a scalar"},
		{types.Shape{}, 1, "a scalar"},
		{types.Shape{3}, 3, "[3]"},
		{types.Shape{200, 1}, 200, "[200 1]"},
		{types.Shape{2, 3, 4}, 24, "[2 3 4]"},
		{types.Shape{5, 0}, 0, "[5 0]"},
	} {
		if got := c.shape.Size(); got != c.size {
			t.Errorf("%v has %d elements, want %d", c.shape, got, c.size)
		}
		if got := c.shape.String(); got != c.text {
			t.Errorf("%#v is written %q, want %q", c.shape, got, c.text)
		}
	}
}

func TestEqual(t *testing.T) {
	shapes := []types.Shape{{}, {1}, {3}, {1, 3}, {3, 1}, {3, 3}}
	for i, s := range shapes {
		for j, u := range shapes {
			if got := s.Equal(u); got != (i == j) {
				t.Errorf("%v equals %v: %v", s, u, got)
			}
		}
	}
	if !types.Shape(nil).Equal(types.Shape{}) {
		t.Error("the two scalar shapes differ")
	}
}

// TestKinds checks the words that messages have for the kinds, and that the zero Type is invalid.
func TestKinds(t *testing.T) {
	for kind, want := range map[types.Kind]string{
		types.Invalid: "invalid",
		types.Real:    "number",
		types.Int:     "whole number",
		types.Bool:    "condition",
		types.String:  "text",
	} {
		if got := kind.String(); got != want {
			t.Errorf("kind %d is called %q, want %q", kind, got, want)
		}
	}
	if zero := (types.Type{}); zero.Kind != types.Invalid || zero.Unit.Known() || zero.Shape.Size() != 1 {
		t.Errorf("the zero type is %+v", zero)
	}
}

func ExampleShape() {
	matrix := types.Shape{2, 3}
	fmt.Println(matrix, matrix.Size())
	fmt.Println(matrix.Equal(types.Shape{3, 2}))
	// Output:
	// [2 3] 6
	// false
}
