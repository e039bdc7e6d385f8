package main

import (
	"bytes"
	"fmt"
	"strings"
)

// network is a mass-action reaction network drawn at random: every reaction
// has one or two reactants and one or two products.
type network struct {
	species   int
	reactions []reaction
	start, k  []float64
}

type reaction struct{ from, to []int }

// networkEnd is how long a network runs.
const networkEnd = 0.5

func newNetwork(species, reactions int) *network {
	s := lcg(7)
	net := &network{species: species}
	draw := func() int { return int(s.next() * float64(species)) }
	some := func() []int {
		if s.next() < 0.4 {
			return []int{draw()}
		}
		return []int{draw(), draw()}
	}
	for range species {
		net.start = append(net.start, 0.5+s.next())
	}
	for range reactions {
		net.reactions = append(net.reactions, reaction{some(), some()})
		net.k = append(net.k, 0.1+0.9*s.next())
	}
	return net
}

func side(list []int) string {
	var names []string
	for _, i := range list {
		names = append(names, fmt.Sprintf("s%d", i))
	}
	return strings.Join(names, " + ")
}

// problem writes the network as a model, scalar by scalar, as a converter from
// another format would: nothing tells that reactions are alike. Objectives are
// eight species and a weighted sum of all.
func (net *network) problem(solver string) problem {
	var b strings.Builder
	fmt.Fprintf(&b, "model Network\ntime t from 0 to %g\n", networkEnd)
	for i, k := range net.k {
		fmt.Fprintf(&b, "param k%d = %.17g\n", i, k)
	}
	for i, x := range net.start {
		fmt.Fprintf(&b, "state s%d = %.17g\n", i, x)
	}
	var names []string
	for i, r := range net.reactions {
		fmt.Fprintf(&b, "reaction r%d: %s -> %s rate k%d*%s\n", i, side(r.from), side(r.to), i,
			strings.ReplaceAll(side(r.from), " + ", "*"))
	}
	for i := range min(8, net.species) {
		fmt.Fprintf(&b, "objective x%d = final(s%d)\n", i, i)
		names = append(names, fmt.Sprintf("x%d", i))
	}
	b.WriteString("objective all = final(s0")
	for i := 1; i < net.species; i++ {
		fmt.Fprintf(&b, " + s%d/%d", i, i+1)
	}
	fmt.Fprintf(&b, ")\nsens { of = [%s]  mode = adjoint }\nsolver { %s }\n", strings.Join(names, ", "), solver)
	return problem{text: b.String()}
}

// program writes the network's right-hand side and its transpose in C, for 1
// and 8 lanes, and a main that times them. Rates are computed once and used by
// all lanes.
func (net *network) program() []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, `#include <stdio.h>
#include <time.h>
enum { S = %d, R = %d };
static double now(void)
{
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}
`, net.species, len(net.reactions))
	table := func(name string, x []float64) {
		fmt.Fprintf(&b, "static double %s[] = {", name)
		for _, v := range x {
			fmt.Fprintf(&b, "%.17g,", v)
		}
		b.WriteString("};\n")
	}
	table("k", net.k)
	table("y", net.start)
	// the terms of each species' equation, and what each reaction's rate gets back
	terms := make([][]string, net.species)
	back := make([]string, len(net.reactions))
	for r, re := range net.reactions {
		for _, i := range re.from {
			terms[i] = append(terms[i], fmt.Sprintf("-v%d", r))
			back[r] += fmt.Sprintf("-F(%d)", i)
		}
		for _, i := range re.to {
			terms[i] = append(terms[i], fmt.Sprintf("+v%d", r))
			back[r] += fmt.Sprintf("+F(%d)", i)
		}
	}
	b.WriteString("__attribute__((noipa)) static void rhs(const double *restrict y, const double *restrict k, double " +
		"*restrict f)\n{\n")
	for r, re := range net.reactions {
		fmt.Fprintf(&b, "  const double v%d = k[%d]", r, r)
		for _, i := range re.from {
			fmt.Fprintf(&b, "*y[%d]", i)
		}
		b.WriteString(";\n")
	}
	for i, t := range terms {
		fmt.Fprintf(&b, "  f[%d] = 0.0%s;\n", i, strings.Join(t, ""))
	}
	b.WriteString("}\n")
	for _, lanes := range []int{1, 8} {
		fmt.Fprintf(&b, `#define L %d
#define F(i) fb[(i)*L + l]
__attribute__((noipa)) static void vjp%d(const double *restrict y, const double *restrict k,
  const double *restrict fb, double *restrict yb, double *restrict kb)
{
  for (int i = 0; i < S*L; i++) yb[i] = 0;
`, lanes, lanes)
		for r, re := range net.reactions {
			rate := func(without int) string {
				s := ""
				for q, i := range re.from {
					if q != without {
						s += fmt.Sprintf("*y[%d]", i)
					}
				}
				return s
			}
			fmt.Fprintf(&b, "  { const double g = 1.0%s", rate(-1))
			for q := range re.from {
				fmt.Fprintf(&b, ", g%d = k[%d]%s", q, r, rate(q))
			}
			fmt.Fprintf(&b, ";\n    for (int l = 0; l < L; l++) { const double w = 0.0%s; kb[%d*L + l] += g*w;",
				back[r], r)
			for q, i := range re.from {
				fmt.Fprintf(&b, " yb[%d*L + l] += g%d*w;", i, q)
			}
			b.WriteString(" } }\n")
		}
		b.WriteString("}\n#undef F\n#undef L\n")
	}
	b.WriteString(`static double f[S], fb[8*S], yb[8*S], kb[8*R];
#define TIME(name, call) do { \
    double best = 1e99; \
    for (int q = 0; q < 7; q++) { \
      const int n = 2000; \
      const double t = now(); \
      for (int i = 0; i < n; i++) { call; __asm__ volatile("" ::: "memory"); } \
      const double ns = (now() - t) / n; \
      if (ns < best) best = ns; \
    } \
    printf("\"" name "\":%.1f,", best); } while (0)
int main(void)
{
  double sum = 0, py = 0, pk = 0;
  printf("{");
  TIME("rhs_ns", rhs(y, k, f));
  for (int i = 0; i < S; i++) { sum += f[i] / (i + 1); for (int l = 0; l < 8; l++) fb[i*8 + l] = 1.0 / (i + 1); }
  TIME("vjp8_ns", vjp8(y, k, fb, yb, kb));
  for (int i = 0; i < S; i++) fb[i] = 1.0 / (i + 1);
  TIME("vjp1_ns", vjp1(y, k, fb, yb, kb));
  for (int i = 0; i < R; i++) kb[i] = 0;
  vjp1(y, k, fb, yb, kb);
  for (int i = 0; i < S; i++) py += yb[i] * (i % 7);
  for (int i = 0; i < R; i++) pk += kb[i] * (i % 5);
  printf("\"f\":%.15g,\"yb\":%.15g,\"kb\":%.15g}\n", sum, py, pk);
  return 0;
}
`)
	return b.Bytes()
}
