package compose_test

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	odes "odes.dev/odes"
)

// ring returns n cells in a ring, of copies of a component, "copies.ode", and of arrays that are written by hand,
// "arrays.ode".
func ring(n int) fs.FS {
	fill := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: fmt.Appendf(nil, text, n)} }
	return fstest.MapFS{
		"cell.ode": {Data: []byte(`model Cell
time t from 0 to 1
param k = 0.7, eps = 0.08, input = 0
state V = -1, w = -0.5
V' = V - V^3/3 - w + input
w' = eps*(V + k - 0.8*w)
`)},
		"copies.ode": fill(`time t from 0 to 100
import model "cell.ode" as Cell
param kk[%[1]d] = 0.7, d = 0.2
use Cell as c[i] { k = kk[i]  input = coupling[i]  initial(V) = -1 + 0.01*i } for i in 1:%[1]d
let coupling[i] = d*(c[wrap(i+1, %[1]d)].V - c[i].V) + (if i == 1 then 0.5 else 0) for i in 1:%[1]d
objective V3 = final(c[3].V)
objective E = integral(c[2].V^2)
sens { wrt = [kk, d, c.eps] }
`),
		"arrays.ode": fill(`time t from 0 to 100
param kk[%[1]d] = 0.7, d = 0.2, eps[%[1]d] = 0.08
state V[%[1]d] = [-1 + 0.01*i for i in 1:%[1]d], w[%[1]d] = -0.5
let coupling[i] = d*(V[wrap(i+1, %[1]d)] - V[i]) + (if i == 1 then 0.5 else 0) for i in 1:%[1]d
V[i]' = V[i] - V[i]^3/3 - w[i] + coupling[i] for i in 1:%[1]d
w[i]' = eps[i]*(V[i] + kk[i] - 0.8*w[i]) for i in 1:%[1]d
objective V3 = final(V[3])
objective E = integral(V[2]^2)
sens { wrt = [kk, d, eps] }
`),
	}
}

func parsed(t testing.TB, files fs.FS, name string) *odes.Model {
	t.Helper()
	text, err := fs.ReadFile(files, name)
	if err != nil {
		t.Fatal(err)
	}
	m, err := odes.Parse(name, string(text), odes.ParseOptions{Files: files})
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// TestCopiesAreArrays: values and derivatives of ten and a hundred copies have the bits of arrays.
func TestCopiesAreArrays(t *testing.T) {
	for _, n := range []int{10, 100} {
		var results [2]*odes.Sensitivities
		for k, name := range []string{"copies.ode", "arrays.ode"} {
			s, err := parsed(t, ring(n), name).Sensitivities(context.Background(), odes.Options{})
			if err != nil {
				t.Fatal(err)
			}
			results[k] = s
		}
		a, b := results[0], results[1]
		for i := range b.Values {
			if a.Values[i].Value != b.Values[i].Value {
				t.Errorf("%d copies: %s is %v, and %v with arrays", n, b.Values[i].Name, a.Values[i].Value,
					b.Values[i].Value)
			}
		}
		if !slices.Equal(a.Gradient, b.Gradient) {
			t.Errorf("%d copies: other derivatives than those of arrays", n)
		}
		if a.Stats.Steps != b.Stats.Steps || a.Stats.F != b.Stats.F {
			t.Errorf("%d copies: %+v, and %+v with arrays", n, a.Stats, b.Stats)
		}
	}
}

// BenchmarkCopies runs copies and arrays in turn, and reports the ratio of their times: of runs, of gradients and of
// compilation.
func BenchmarkCopies(b *testing.B) {
	for _, n := range []int{10, 100} {
		files := ring(n)
		models := [2]*odes.Model{parsed(b, files, "copies.ode"), parsed(b, files, "arrays.ode")}
		ctx := context.Background()
		opts := odes.Options{Threads: 1}
		kinds := []struct {
			name string
			do   func(k int) error
		}{
			{"run", func(k int) error {
				_, err := models[k].Solve(ctx, odes.Options{Threads: 1, Times: []float64{0, 100}})
				return err
			}},
			{"gradient", func(k int) error {
				_, err := models[k].Sensitivities(ctx, opts)
				return err
			}},
			{"compile", func(k int) error {
				parsed(b, files, []string{"copies.ode", "arrays.ode"}[k])
				return nil
			}},
		}
		for _, kind := range kinds {
			b.Run(fmt.Sprint(kind.name, "/", n), func(b *testing.B) {
				var spent [2]time.Duration
				for i := 0; b.Loop(); i++ {
					for j := range 2 {
						k := (i + j) % 2
						from := cpu()
						if err := kind.do(k); err != nil {
							b.Fatal(err)
						}
						spent[k] += cpu() - from
					}
				}
				b.ReportMetric(float64(spent[0])/float64(spent[1]), "copies/arrays")
				b.ReportMetric(spent[0].Seconds()*1e3/float64(b.N), "ms-copies")
			})
		}
	}
}
