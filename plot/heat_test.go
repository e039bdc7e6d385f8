package plot

import (
	"slices"
	"strings"
	"testing"
)

// TestHeatUp: rows that are an axis grow upwards, with their names; a matrix has its first row on top.
func TestHeatUp(t *testing.T) {
	h := &Heat{Values: [][]float64{{1, 2}, {3, 4}}, RowNames: []string{"low", "high"}, Up: true}
	turned := h.upright()
	if turned.rowName(0) != "high" || turned.Values[0][0] != 3 || h.Values[0][0] != 1 || h.rowName(0) != "low" {
		t.Errorf("%v %v", turned.RowNames, turned.Values)
	}
	h.Rows = Axis{Label: "k"}
	var b strings.Builder
	if err := Text(&b, h, Terminal{Width: 60}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.Contains(text, "↑ k") || strings.Index(text, "high") > strings.Index(text, "low") {
		t.Error(text)
	}
	matrix := &Heat{Values: h.Values}
	if !slices.Equal(matrix.upright().Values[0], []float64{1, 2}) {
		t.Error("a matrix is turned")
	}
}

// TestBarEnds: the axis reaches as far as intervals do.
func TestBarEnds(t *testing.T) {
	for _, c := range []struct {
		bar    Bar
		lo, hi float64
	}{
		{Bar{Value: 1}, 0, 1},
		{Bar{Value: 0.2, Lo: -0.1, Hi: 0.4}, -0.1, 0.4},
		{Bar{Value: -1, Lo: -2, Hi: -0.5}, -2, 0},
	} {
		if lo, hi := c.bar.ends(); lo != c.lo || hi != c.hi {
			t.Errorf("%+v reaches from %v to %v", c.bar, lo, hi)
		}
	}
}
