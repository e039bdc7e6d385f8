package source

import "testing"

func TestPositions(t *testing.T) {
	f := NewFile("f.ode", "ab\r\nμ𝒳c\n\nend")
	for _, c := range []struct {
		off  int
		want Position
	}{
		{-5, Position{1, 1, 0}},
		{0, Position{1, 1, 0}},
		{2, Position{1, 3, 2}},
		{4, Position{2, 1, 0}},
		{6, Position{2, 2, 1}},
		{10, Position{2, 3, 3}},
		{12, Position{3, 1, 0}},
		{13, Position{4, 1, 0}},
		{16, Position{4, 4, 3}},
		{99, Position{4, 4, 3}},
	} {
		if got := f.Position(c.off); got != c.want {
			t.Errorf("Position(%d) = %+v, want %+v", c.off, got, c.want)
		}
		if got := f.LineAt(c.off); got != c.want.Line {
			t.Errorf("LineAt(%d) = %d, want %d", c.off, got, c.want.Line)
		}
	}
	for i, want := range []string{"", "ab", "μ𝒳c", "", "end", ""} {
		if got := f.Line(i); got != want {
			t.Errorf("Line(%d) = %q, want %q", i, got, want)
		}
	}
	for line, want := range map[int]int{0: 0, 1: 0, 2: 4, 3: 12, 4: 13, 9: 13} {
		if got := f.LineStart(line); got != want {
			t.Errorf("LineStart(%d) = %d, want %d", line, got, want)
		}
	}
}

func TestSpans(t *testing.T) {
	f := NewFile("f.ode", "one two")
	a, b := Span{f, 0, 3}, Span{f, 4, 7}
	if got := a.To(b); got != (Span{f, 0, 7}) || got.Text() != "one two" {
		t.Errorf("To = %v", got)
	}
	if got := (Span{}).To(b); got != b {
		t.Errorf("nothing To b = %v", got)
	}
	if got := a.To(Span{}); got != a {
		t.Errorf("a To nothing = %v", got)
	}
	if !(Span{}).IsZero() || (Span{}).Text() != "" || (Span{}).Begin() != (Position{}) {
		t.Error("the zero span is no place")
	}
	if (Span{f, 5, 99}).Text() != "wo" {
		t.Error("spans are clamped to the text")
	}
}
