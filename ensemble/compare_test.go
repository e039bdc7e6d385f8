package ensemble

import (
	"bytes"
	"context"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// tiny has an event that none of the tolerances sees, so that no comparison confirms a member.
const tiny = `
time t from 0 to 3
param k = 1.5
state x = 1e-12
x' = -k*x
event e when x < 0.5e-12 once { x = x + 0.7e-12 }
objective J = final(x)
solver { atol = 1e-9 }
`

// fading has derivatives that are wrong unless they are under error control.
const fading = `
time t from 0 to 5
param k = 7
state x = 0
x' = -k*x
objective J = integral(x)
objective F = final(x)
`

// smooth is right everywhere, and the derivative of J by w vanishes at w = 1.
const smooth = `
time t from 0 to 1
param w = 1
state x = 1
x' = -x
objective J = final(x)*(1 + (w - 1)^2)
`

func findings(t *testing.T, p *Problem, c Config) (*Findings, *Statistics) {
	t.Helper()
	s := NewStatistics(&p.Table)
	c.Each = func(c *Chunk) error {
		s.Add(c)
		return nil
	}
	f, err := Run(t.Context(), p, c)
	if err != nil {
		t.Fatal(err)
	}
	s.Conclude(f)
	return f, s
}

// Of many members a sample is compared, and of few all. What is asked for holds.
func TestWhatIsCompared(t *testing.T) {
	for _, c := range []struct {
		text, trust          string
		settings             string
		n                    int
		least, most          int
		status               string
		unconfirmed, control bool
	}{
		{text: smooth, n: 31, least: 31, most: 31, status: "ok"},
		{text: smooth, n: 32, least: 16, most: 18, status: "ok"},
		{text: smooth, n: 500, least: 16, most: 18, status: "ok"},
		{text: smooth, n: 500, trust: All, least: 500, most: 500, status: "ok"},
		{text: smooth, n: 500, trust: None, status: "ok"},
		{text: smooth + "sens { trust = off }\n", n: 500, status: "ok"},
		{text: smooth + "sens { trust = off }\n", n: 20, status: "ok"},
		{text: tiny, n: 10, least: 10, most: 10, status: "partial", unconfirmed: true},
		{text: tiny, n: 300, least: 16, most: 18, status: "partial", unconfirmed: true},
		{text: tiny, n: 300, trust: None, status: "ok"},
		{text: fading, n: 10, least: 10, most: 10, status: "ok"},
		{text: fading, n: 60, least: 16, most: 18, status: "ok", control: true},
		{text: fading + "sens { control = off }\n", n: 60, least: 16, most: 18, status: "partial", unconfirmed: true},
	} {
		name, lo, hi := "k", 6.0, 8.0
		switch {
		case strings.HasPrefix(c.text, smooth):
			name, lo, hi = "w", 0.9, 1.2
		case c.text == tiny:
			lo, hi = 1, 2
		}
		j := job(c.text, Design{Points: "random", N: c.n, Seed: 2, Axes: []Axis{span(name, lo, hi)}})
		j.Trust = c.trust
		p := open(t, j)
		f, s := findings(t, p, Config{})
		if f.Compared < c.least || f.Compared > c.most || s.Status() != c.status || f.Controlled != c.control ||
			(f.Unconfirmed == f.Compared && f.Compared > 0) != c.unconfirmed || s.Members() != c.n {
			t.Errorf("%d members, trust %q: %+v, %s%s", c.n, c.trust, f, s.Status(), c.text)
		}
	}
}

// What is found, and what files say of it, does not depend on threads, chunks, or where a run was taken up.
func TestFindingsAreThoseOfTheJob(t *testing.T) {
	for _, text := range []string{tiny, fading} {
		lo, hi := 1.0, 2.0
		if text == fading {
			lo, hi = 6, 8
		}
		design := Design{Points: "random", N: 300, Seed: 2, Axes: []Axis{span("k", lo, hi)}}
		file := func(f *Findings, p *Problem, j *Journal) []byte {
			var b bytes.Buffer
			if err := writeCSV(&b, p, j.Chunks(p, f)); err != nil {
				t.Fatal(err)
			}
			return b.Bytes()
		}
		var want *Findings
		var rows []byte
		for _, c := range []struct{ threads, chunk int }{{1, 0}, {3, 7}, {2, 300}} {
			j := job(text, design)
			j.Chunk = c.chunk
			p := open(t, j)
			path := filepath.Join(t.TempDir(), "part")
			stop := errors.New("enough")
			begun, err := OpenJournal(path, p)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			_, err = Run(context.Background(), p, Config{
				Backend: Local{Threads: 1}, Journal: begun,
				Each: func(*Chunk) error {
					if n++; n > 2 {
						return stop
					}
					return nil
				},
			})
			if c.chunk != 300 && !errors.Is(err, stop) {
				t.Fatal(err)
			}
			begun.Close()
			journal, err := OpenJournal(path, p)
			if err != nil {
				t.Fatal(err)
			}
			f, _ := findings(t, p, Config{Backend: Local{Threads: c.threads}, Journal: journal})
			got := file(f, p, journal)
			journal.Close()
			if want == nil {
				want, rows = f, got
				if n := bytes.Count(rows, []byte("\n")); n != 301 {
					t.Fatalf("%d lines", n)
				}
				if n := bytes.Count(rows, []byte("partial,")); n != f.Unconfirmed {
					t.Errorf("%d rows are partial, and %d not confirmed", n, f.Unconfirmed)
				}
			}
			if !reflect.DeepEqual(f, want) || !bytes.Equal(got, rows) {
				t.Errorf("%+v: %+v, and by one thread %+v", c, f, want)
			}
		}
	}
}

// A number that is not that of the run by itself is found where it is an extreme.
func TestOtherNumbers(t *testing.T) {
	p := open(t, job(smooth, Design{Points: "random", N: 100, Seed: 3, Axes: []Axis{span("w", 0.9, 1.2)}}))
	f, err := Run(t.Context(), p, Config{Backend: tampering{}})
	if err != nil {
		t.Fatal(err)
	}
	if f.Unconfirmed != 1 || f.Doubts[0].Member != 77 || !strings.Contains(f.Doubts[0].Message, "other numbers") {
		t.Errorf("%+v", f)
	}
}

// tampering is a backend that makes J of member 77 larger than it is.
type tampering struct{}

func (tampering) Compute(ctx context.Context, p *Problem, next Next, done func(*Chunk) error) error {
	return Local{Threads: 1}.Compute(ctx, p, next, func(c *Chunk) error {
		if i := 77 - c.First; p.Table.Members == 100 && i >= 0 && i < len(c.Status) {
			c.Rows[i*p.Table.Width()+1] *= 1.5
		}
		return done(c)
	})
}

// A number of which few digits are right is minor where it is small beside those of other members.
func TestMinorDoubts(t *testing.T) {
	f := &Findings{}
	f.measure([]float64{1, 100})
	f.pending = []Doubt{
		{Member: 5, Off: []Off{{1, 1e-3}}, ok: true}, {Member: 6, Off: []Off{{1, 1e-3}, {0, 1e-3}}, ok: true},
	}
	f.conclude()
	if f.Minor != 1 || f.Unconfirmed != 1 || !slices.Equal(f.Partial(), []int{6}) {
		t.Errorf("%+v", f)
	}
	c := &Chunk{First: 4, Status: make([]Status, 4)}
	f.Mark(c)
	if !slices.Equal(c.Status, []Status{OK, OK, Partial, OK}) || len(c.Doubts) != 2 {
		t.Errorf("%+v", c)
	}
}

// A range is evenly spaced unless log is said, whatever its ends, but for one of which nothing is said.
func TestRanges(t *testing.T) {
	p := open(t, job("time t from 0 to 2\nparam k = 1\nparam b = 1 in [1, 100]\nstate x = 0\nx' = k\n"+
		"objective J = final(x)\n", Design{Points: "random", N: 1, Axes: []Axis{span("k", 1, 2)}}))
	for text, want := range map[string]string{
		"k from 0.1 to 3": "evenly spaced", "k from 0.1 to 300": "evenly spaced",
		"k from 0.1 to 3 log":   "by equal ratios",
		"k from 0.1 to 0.2 log": "by equal ratios", "k from 0.1 to 300 linear": "evenly spaced", "k": "by equal ratios",
		"k linear": "evenly spaced", "b": "evenly spaced", "b log": "by equal ratios", "k to 5": "evenly spaced",
		"k ~ normal(1, 2)": "",
	} {
		axes, err := ReadAxes(p.Model, nil, text)
		if err != nil || axes[0].Spacing() != want {
			t.Errorf("%s: %v, %v", text, axes, err)
		}
	}
	for _, text := range []string{"k from 0 to 3 log", "k from 1 to 3 log linear"} {
		if _, err := ReadAxes(p.Model, nil, text); err == nil {
			t.Errorf("%s is no error", text)
		}
	}
}
